"""Warner's randomised response, the two-sided cousin of Mangat's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from safeside import exact
from safeside.exact import Ball, exp
from safeside.mechanisms.yes_no import YesNo
from safeside.privacy.guarantee import Guarantee


@dataclass(frozen=True, kw_only=True)
class Warner(YesNo):
    """Warner's response: the truth with probability e^epsilon / (1 + e^epsilon), its opposite otherwise.

    Guarantee
        epsilon-DP for each person.
    Assumes
        Each person answers once.
    Proof
        docs/proofs/warner.md
    Example
        >>> from safeside import Warner
        >>> print(f"{float(Warner(epsilon=1).alpha):.3f}")  # how often a No is false
        0.269
    """

    name: ClassVar[str] = "warner"

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(epsilon=exact.fraction(self.epsilon))

    def says_yes(self, truth: bool) -> Ball:
        rate = exact.fraction(self.epsilon)
        return 1 / (1 + exp(-rate if truth else rate))
