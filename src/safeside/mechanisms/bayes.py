"""What a reader with a prior should make of a noisy count: the posterior and the guess of least loss.

Nothing here is private: it is post-processing of z. For one decreasing count of sensitivity 1, AGeo followed
by this guess has the least expected loss of *every* ADP mechanism, whatever the prior and the loss
(docs/proofs/ageo.md); without it, it has not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Literal

from safeside import exact
from safeside.errors import BadNumber
from safeside.exact import Ball, Number, ball, evaluate, is_at_most
from safeside.mechanisms.laws import Law

Loss = Literal["absolute", "squared", "zero-one"] | Sequence[Sequence[Number]]
"""A named loss, or a table: `table[guess][truth]`."""


def posterior(law: Law, z: int, prior: Sequence[Number]) -> tuple[Ball, ...]:
    """Pr[f = i | z] for i = 0..n, where z = f + K."""
    with exact.precision(exact.PMF_BITS):
        masses = [ball(weight) * law.exactly(z - i) for i, weight in enumerate(_prior(prior))]
        total = sum(masses, start=ball(0))
        _require_possible(any(one > 0 for one in masses))
        return tuple(one / total for one in masses)


def best_guess(law: Law, z: int, prior: Sequence[Number], loss: Loss) -> int:
    """The guess in 0..n of least expected loss given z, for certain; the least such where several tie."""
    weights = _prior(prior)
    table = loss_table(loss, len(weights))
    possible = [i for i, weight in enumerate(weights) if weight and _possible(law, z - i)]
    _require_possible(bool(possible))
    best = 0
    for guess in range(1, len(weights)):
        gain = {i: weights[i] * (table[best][i] - table[guess][i]) for i in possible}
        if _is_positive(law, z, gain):
            best = guess
    return best


def _is_positive(law: Law, z: int, gain: dict[int, Fraction]) -> bool:
    """Whether the sum of gain(i) Pr[z | i] is above zero.

    Pr[z | i] is one constant times r^|z-i|, and r, a power of e, is the root of no polynomial: so the sum is
    zero where every power's coefficient is, and nowhere else, and the comparison ends.
    """
    powers: dict[int, Fraction] = {}
    for i, value in gain.items():
        powers[abs(z - i)] = powers.get(abs(z - i), Fraction(0)) + value
    return any(powers.values()) and not is_at_most(lambda: _total(law, z, gain), lambda: ball(0))


def expected_loss(law: Law, z: int, prior: Sequence[Number], guess: int, loss: Loss) -> Ball:
    """Sum over f of prior(f) Pr[z | f] loss(guess, f): its sum over z is the expected loss of a remap."""
    weights = _prior(prior)
    row = loss_table(loss, len(weights))[guess]
    return evaluate(lambda: _total(law, z, {i: weights[i] * row[i] for i in range(len(weights))}))


def loss_table(loss: Loss, size: int) -> list[list[Fraction]]:
    """The loss as a table of exact numbers, one row for each guess."""
    named: dict[str, Callable[[int, int], int]] = {
        "absolute": lambda guess, truth: abs(guess - truth),
        "squared": lambda guess, truth: (guess - truth) ** 2,
        "zero-one": lambda guess, truth: int(guess != truth),
    }
    if isinstance(loss, str):
        if loss not in named:
            raise BadNumber(
                f"There is no loss called {loss!r}.", f"Use one of {', '.join(named)}, or give a table."
            )
        return [[Fraction(named[loss](guess, truth)) for truth in range(size)] for guess in range(size)]
    table = [[exact.fraction(one, "a loss") for one in row] for row in loss]
    if len(table) != size or any(len(row) != size for row in table):
        raise BadNumber(
            f"The table of losses is not {size} by {size}, as the prior needs.",
            "Give table[guess][truth] for every guess and every truth of the prior.",
        )
    if any(one < 0 for row in table for one in row):
        raise BadNumber("A loss is negative.", "Give losses of 0 or more.")
    return table


def _total(law: Law, z: int, weights: dict[int, Fraction]) -> Ball:
    return sum((ball(w) * law.exactly(z - i) for i, w in weights.items() if w), start=ball(0))


def _prior(prior: Sequence[Number]) -> list[Fraction]:
    weights = [exact.fraction(one, "a prior probability") for one in prior]
    if not weights or any(one < 0 for one in weights) or sum(weights) != 1:
        raise BadNumber(
            "The prior is not a list of probabilities that add up to exactly 1.",
            "Give one probability for each count from 0 to n, as fractions or decimals.",
        )
    return weights


def _possible(law: Law, k: int) -> bool:
    return (law.least is None or k >= law.least) and (law.most is None or k <= law.most)


def _require_possible(possible: bool) -> None:
    if not possible:
        raise BadNumber(
            "No count of the prior can have given this value.",
            "Give a prior that covers every count the mechanism may have been applied to.",
        )
