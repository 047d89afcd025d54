"""Risk: how far an output can raise somebody's odds that a thing is true of one person, exactly.

    Risk(M, A) = max over outputs z of  (posterior odds of A given z) / (prior odds of A)

The person is one record; everybody else is known or independent of it. By convention Risk is 0 where A was
certain or impossible beforehand, and a/0 is infinite for a > 0. `worst.py` asks the same of a definition.

A mechanism, seen from the one person whose privacy is at stake, is a channel: a distribution over outputs for
each record. Fractions stay fractions; as soon as one probability is a ball, the arithmetic is done in balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Generic, TypeVar

from safeside import exact
from safeside.errors import BadNumber, PrivacyError
from safeside.exact import Ball, Number
from safeside.privacy.relations import Predicate, R

Z = TypeVar("Z", bound=Hashable)
Probability = Fraction | Ball
Channel = Mapping[R, Mapping[Z, Probability]]
Value = Fraction | Ball | float
"""An exact ratio, a ball that holds it, or `math.inf`; no other float."""
_BITS: Final = 2 * exact.PMF_BITS


@dataclass(frozen=True, kw_only=True)
class Risk(Generic[Z]):
    """The greatest rise of the odds, and the output that attains it (None where nothing can rise)."""

    value: Value
    witness: Z | None
    before: Fraction
    """The probability of the event before."""
    after: Probability
    """The probability of the event once the witness has been seen."""

    @property
    def infinite(self) -> bool:
        """Whether the witness makes certain what was not."""
        return isinstance(self.value, float)

    def at_most(self, bound: Value) -> bool:
        """Whether the risk does not exceed the bound; equal balls cannot be told apart and pass."""
        return _least(self.value) <= _most(bound)


def risk(channel: Channel[R, Z], prior: Mapping[R, Number], event: Predicate[R]) -> Risk[Z]:
    """Risk of `event` for an adversary with this prior over the one person's record.

    Example
        >>> from fractions import Fraction
        >>> from safeside import risk
        >>> coin = {"was there": {"yes": Fraction(3, 4), "no": Fraction(1, 4)},
        ...         "was not": {"yes": Fraction(1, 4), "no": Fraction(3, 4)}}
        >>> found = risk(coin, {"was there": "0.1", "was not": "0.9"}, lambda who: who == "was there")
        >>> print(found.value, found.witness)  # "yes" makes it three times as likely
        3 yes
    """
    in_balls = any(isinstance(p, Ball) for row in channel.values() for p in row.values())
    number: Callable[[Fraction | int], Any] = exact.ball if in_balls else Fraction
    with exact.precision(_BITS):
        rows = {
            x: {z: p if isinstance(p, Ball) else number(p) for z, p in row.items()}
            for x, row in channel.items()
        }
        _require_distributions(sum(row.values(), number(0)) for row in rows.values())
    weights = prior_weights(prior)
    if any(x not in rows for x in weights):
        raise PrivacyError(
            "The prior speaks of a record for which the mechanism has no distribution.",
            "Give a distribution over outputs for every record of the prior.",
        )
    inside = {x: p for x, p in weights.items() if event(x)}
    outside = {x: p for x, p in weights.items() if x not in inside}
    before = sum(inside.values(), Fraction(0))
    best = Risk[Z](value=Fraction(0), witness=None, before=before, after=before)
    if before in (0, 1):
        return best
    with exact.precision(_BITS):
        for output in dict.fromkeys(z for row in rows.values() for z in row):
            true, false = (
                sum((number(p) * rows[x].get(output, number(0)) for x, p in some.items()), number(0))
                for some in (inside, outside)
            )
            if _is_zero(true):
                continue
            rise = math.inf if _is_zero(false) else true * number((1 - before) / before) / false
            if best.witness is None or _most(rise) > _most(best.value):
                best = Risk(value=rise, witness=output, before=before, after=true / (true + false))
    return best


def _require_distributions(totals: Iterable[Probability]) -> None:
    for total in totals:
        if not (total.contains(1) if isinstance(total, Ball) else total == 1):
            raise BadNumber(
                "The probabilities of the outputs of one record do not add up to 1.",
                "Give every output of every record; aggregate a tail into one event.",
            )


def _is_zero(number: Probability) -> bool:
    """Whether a probability is zero; a ball that holds zero among others cannot say."""
    if isinstance(number, Fraction) or number == 0:
        return number == 0
    if number.contains(0):
        raise BadNumber(
            "A probability is too uncertain to tell whether its output is possible at all.",
            "Give impossible outputs the probability 0 exactly, or leave them out of the row.",
        )
    return False


def _most(value: Value) -> Fraction | float:
    return value if isinstance(value, float) else exact.upper(value)


def _least(value: Value) -> Fraction | float:
    return value if isinstance(value, float) else exact.lower(value)


def prior_weights(prior: Mapping[R, Number]) -> dict[R, Fraction]:
    """The prior in exact fractions; refused unless it is a distribution."""
    weights = {x: exact.fraction(p, "a prior probability") for x, p in prior.items()}
    if any(p < 0 for p in weights.values()) or sum(weights.values()) != 1:
        raise BadNumber(
            "The prior probabilities are negative somewhere or do not add up to 1.",
            "Give them as fractions or decimals that add up to exactly 1.",
        )
    return {x: p for x, p in weights.items() if p}
