"""Risk: how far an output can raise somebody's odds that a thing is true of one person, exactly.

    Risk(M, A) = max over outputs z of  (posterior odds of A given z) / (prior odds of A)

The person is one record; everybody else is known or independent of it. By convention Risk is 0 where A was
certain or impossible beforehand, and a/0 is infinite for a > 0. `worst.py` asks the same of a definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic

from safeside import exact
from safeside.errors import BadNumber, PrivacyError
from safeside.exact import Number
from safeside.privacy.channels import (
    Channel,
    Probability,
    R,
    Value,
    Z,
    chance,
    is_zero,
    least,
    most,
    outputs,
    over,
    quotient,
    require_channel,
    times,
    total,
)
from safeside.privacy.relations import Predicate


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
        return least(self.value) <= most(bound)


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
    require_channel(channel)
    weights = prior_weights(prior)
    if any(x not in channel for x in weights):
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
    for output in outputs(channel):
        true = total(times(p, chance(channel, x, output)) for x, p in inside.items())
        false = total(times(p, chance(channel, x, output)) for x, p in outside.items())
        if is_zero(true):
            continue
        rise = over(times(true, (1 - before) / before), false)
        if best.witness is None or most(rise) > most(best.value):
            best = Risk(value=rise, witness=output, before=before, after=quotient(true, total((true, false))))
    return best


def prior_weights(prior: Mapping[R, Number]) -> dict[R, Fraction]:
    """The prior in exact fractions; refused unless it is a distribution."""
    weights = {x: exact.fraction(p, "a prior probability") for x, p in prior.items()}
    if any(p < 0 for p in weights.values()) or sum(weights.values()) != 1:
        raise BadNumber(
            "The prior probabilities are negative somewhere or do not add up to 1.",
            "Give them as fractions or decimals that add up to exactly 1.",
        )
    return {x: p for x, p in weights.items() if p}
