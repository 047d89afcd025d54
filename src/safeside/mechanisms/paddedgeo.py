"""PaddedGeo: a count that is never too small, under *ordinary* (epsilon, delta)-DP.

For those who must have the standard definition. The noise is bounded on both sides, so both bounds are
certain; the price is delta, and a pad that only a generous threshold can bear.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from safeside import exact
from safeside.errors import BadNumber
from safeside.exact import Number, ball, is_at_most
from safeside.mechanisms.additive import Additive
from safeside.mechanisms.guarantees import of_each_count
from safeside.mechanisms.laws import Law, Padded, first_where
from safeside.privacy.guarantee import Direction, Guarantee


@dataclass(frozen=True, kw_only=True)
class PaddedGeo(Additive):
    """z = f + H with H on 0..2 pad, most probable at pad; the pad is least with Pr[H = 0] <= delta.

    `epsilon` and `delta` are those of each count.

    Guarantee
        (max_conditions * epsilon, max_conditions * delta)-DP for the whole vector when one person is added or
        removed; under replacement both double. z - 2 pad <= f <= z is certain.
    Assumes
        One person changes at most `max_conditions` of the counts, each by 1. Nothing computed from the number
        of records is published.
    Proof
        docs/proofs/padded.md
    Example
        >>> from safeside import PaddedGeo
        >>> noise = PaddedGeo(epsilon=1, delta="1e-4")
        >>> print(noise.pad, noise.lower_bound([20]), noise.upper_bound([20]))  # both certain
        9 [2] [20]
    """

    name: ClassVar[str] = "padded"
    delta: Number
    max_conditions: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "delta", exact.delta(self.delta))
        object.__setattr__(
            self, "max_conditions", exact.whole(self.max_conditions, "max_conditions", least=1)
        )
        if self.delta == 0:
            raise BadNumber(
                "delta is 0, and then no pad is wide enough.",
                "Give delta above 0, or use AGeo, which needs none.",
            )
        if self.sensitivity != 1:
            raise BadNumber(
                f"sensitivity is {self.sensitivity}, and this mechanism moves each count by one person.",
                "Leave sensitivity at 1 and give max_conditions: the most counts one person can change.",
            )

    @property
    def pad(self) -> int:
        """The least pad for these parameters, for certain."""
        return _least_pad(self.rate, exact.fraction(self.delta))

    @property
    def law(self) -> Law:
        return Padded(self.rate, self.pad)

    @property
    def guarantee(self) -> Guarantee:
        return of_each_count(self.epsilon, self.delta, self.max_conditions, Direction.DECREASING)


@lru_cache(maxsize=256)
def _least_pad(rate: Fraction, delta: Fraction) -> int:
    return first_where(lambda pad: is_at_most(lambda: Padded(rate, pad).exactly(0), lambda: ball(delta)))
