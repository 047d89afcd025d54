"""Planning before anything is spent: how often will "at most t" be said, and under which definition?

Everything here is computed at a *declared* true count or on public counts, never on the private ones: a plan
that looked at the data would be an output nobody paid for.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Final

from safeside import exact
from safeside.decisions.bounds import approximate_dp, smallest_epsilon
from safeside.errors import BadQuestion
from safeside.exact import Ball, Number, lower, show
from safeside.mechanisms.ageo import AGeo
from safeside.noise.geometric import LEAST_RATE, MOST_RATE, require_rate

_MOST_ROWS: Final = 41


class Definition(StrEnum):
    """Privacy definitions, the strongest first."""

    DP = "dp"
    APPROXIMATE_DP = "approximate_dp"
    ADP = "adp"


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """The best beta of "at most t" at one true count, under each definition."""

    count: int
    adp: Ball
    dp: Ball
    approximate_dp: Ball

    def beta(self, definition: Definition) -> Ball:
        """The beta under this definition."""
        beta: Ball = getattr(self, definition)
        return beta


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A table of beta by true count, and the strongest definition that reaches what is wanted."""

    at_most: int
    epsilon: Fraction
    delta: Fraction
    alpha: Fraction
    want_beta: Fraction
    count: int
    sensitivity: int
    rows: tuple[Row, ...]
    recommended: Definition | None
    """None where no definition reaches the wanted beta at the declared count."""
    enough_epsilon: Fraction | None
    """The least epsilon (rounded up) with which ADP does; None where no noise that can be drawn does."""

    @property
    def declared(self) -> Row:
        """The row of the declared count."""
        return next(row for row in self.rows if row.count == self.count)

    def sentence(self) -> str:
        """The recommendation in one sentence."""
        what, where = f'"at most {self.at_most}"', f"where the true count is {self.count}"
        if self.recommended is None:
            more = ""
            if self.enough_epsilon is not None:
                more = f"; asymmetric differential privacy would from epsilon {show(self.enough_epsilon)} on"
            return (
                f"With epsilon {show(self.epsilon)} no definition says {what} with probability "
                f"{show(self.want_beta)} {where}{more}."
            )
        says = f"says {what} with probability {rounded_down(self.declared.beta(self.recommended))} {where}"
        wrong = "never wrong" if self.alpha == 0 else f"wrong with probability at most {show(self.alpha)}"
        pure, approximate = f"{show(self.epsilon)}-DP", f"({show(self.epsilon)}, {show(self.delta)})-DP"
        if self.recommended is Definition.ADP:
            return (
                f"Use asymmetric differential privacy (AGeo) at epsilon {show(self.epsilon)}: it {says}, and "
                f"is never wrong; decisions that are {wrong} reach less: {approximate} reaches "
                f"{rounded_down(self.declared.approximate_dp)} and {pure} {rounded_down(self.declared.dp)}."
            )
        strongest = self.recommended is Definition.DP
        return (
            f"Use {pure if strongest else approximate} (the optimal decision, with one person added or "
            f"removed): it is the strongest definition{'' if strongest else ' that is enough'}, {says}, and "
            f"is {wrong}."
        )


def plan(
    *,
    at_most: int,
    epsilon: Number,
    delta: Number = 0,
    alpha: Number = 0,
    want_beta: Number = Fraction(9, 10),
    count: int = 0,
    sensitivity: int = 1,
) -> Plan:
    """The best beta of "at most t" under DP, (epsilon, delta)-DP and ADP, and which of them is enough.

    `count` is the true count at which the wanted beta must be reached; it is declared. `sensitivity` is how
    many counts one person can change: each count then gets that part of epsilon and delta. ADP's decision is
    AGeo's, which is never wrong; `alpha` is what the other two may be wrong with.

    Example
        >>> from safeside import plan
        >>> made = plan(at_most=2, epsilon=1)
        >>> print(made.recommended, f"{float(made.rows[0].adp):.3f}", float(made.rows[0].dp))
        adp 0.950 0.0
    """
    limit, truth = exact.whole(at_most, "`at_most=`"), exact.whole(count, "`count=`")
    if truth > limit:
        raise BadQuestion(
            f'The declared count {truth} is above {limit}: there "at most {limit}" is false and must not be '
            "said.",
            "Declare a count of at most the threshold; 0 is the usual choice.",
        )
    budget, slack = exact.epsilon(epsilon), exact.delta(delta)
    wrong, wanted = exact.alpha(alpha), exact.beta(want_beta)
    parts = exact.whole(sensitivity, "`sensitivity=`", least=1)
    # What no release could draw is not planned.
    each = require_rate(budget / parts)

    def best(count: int, delta: Fraction) -> Ball:
        return approximate_dp(steps=limit + 1 - count, epsilon=each, delta=delta, alpha=wrong)

    rows = tuple(
        Row(
            count=count,
            adp=AGeo(epsilon=each).beta(limit, count),
            dp=best(count, Fraction(0)),
            approximate_dp=best(count, slack / parts),
        )
        for count in _spread(limit, truth)
    )
    declared = next(row for row in rows if row.count == truth)
    enough = [one for one in Definition if lower(declared.beta(one)) >= wanted]
    return Plan(
        at_most=limit,
        epsilon=budget,
        delta=slack,
        alpha=wrong,
        want_beta=wanted,
        count=truth,
        sensitivity=parts,
        rows=rows,
        recommended=enough[0] if enough else None,
        enough_epsilon=_enough_epsilon(limit, wanted, truth, parts),
    )


def _enough_epsilon(limit: int, wanted: Fraction, truth: int, parts: int) -> Fraction | None:
    if wanted == 1:
        return None
    least = smallest_epsilon(at_most=limit, beta=wanted, count=truth, sensitivity=parts)
    return None if least > MOST_RATE * parts else max(least, LEAST_RATE * parts)


def _spread(limit: int, declared: int) -> list[int]:
    """Counts from 0 to the threshold, thinned evenly where there are many, the declared one among them."""
    if limit < _MOST_ROWS:
        return list(range(limit + 1))
    picked = {round(i * limit / (_MOST_ROWS - 1)) for i in range(_MOST_ROWS)}
    return sorted(picked | {declared})


def rounded_down(beta: Ball) -> str:
    """A few digits, rounded down: a plan never promises more than it keeps."""
    value = lower(beta)
    if value >= Fraction(1, 10**4) or value <= 0:
        return f"{int(max(value, Fraction(0)) * 10**4) / 10**4:.4f}"
    power = 0
    while value < 1:
        value *= 10
        power += 1
    return f"{int(value * 10) / 10}e-{power}"
