"""What mechanisms have in common that cost one epsilon whatever one person visits, and are never wrong."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from safeside import exact
from safeside.exact import Number
from safeside.mechanisms.additive import NOT_COUNTED
from safeside.privacy.guarantee import Direction, Guarantee
from safeside.privacy.policy import Policy


@dataclass(frozen=True, kw_only=True)
class OneEpsilon:
    """A guarantee of epsilon under the policy for everything that is published together."""

    epsilon: Number
    policy: Policy = NOT_COUNTED

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact.epsilon(self.epsilon))

    @property
    def guarantee(self) -> Guarantee:
        """What is promised of all that is published together."""
        return Guarantee(
            epsilon=exact.exact(self.epsilon), policy=self.policy, direction=Direction.DECREASING
        )

    @property
    def alpha(self) -> Fraction:
        """How often what is certified is wrong: never."""
        return Fraction(0)
