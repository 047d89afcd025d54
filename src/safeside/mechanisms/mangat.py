"""Mangat's response, the local form of AGeo: those for whom Yes is true always say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from safeside import exact
from safeside.exact import Ball, ball, exp
from safeside.mechanisms.yes_no import YesNo
from safeside.privacy.guarantee import Direction, Guarantee
from safeside.privacy.policy import Policy

NO: Final = Policy(propositions=frozenset({"answers No"}))


@dataclass(frozen=True, kw_only=True)
class Mangat(YesNo):
    """Mangat's response: Yes is always said by those for whom it is true; No is then never false.

    Guarantee
        (epsilon, {answers No})-ADP for each person. The number of Yes is an upper bound of the true number.
    Assumes
        Each person answers once; that somebody's answer is No may leak.
    Proof
        docs/proofs/mangat.md
    Example
        >>> from safeside import Mangat
        >>> response = Mangat(epsilon=1)
        >>> response.release([True, True]).values  # Yes is always said where it is true
        array([ True,  True])
        >>> print(f"{float(response.beta):.3f}")  # a true No is reported
        0.632
    """

    name: ClassVar[str] = "mangat"

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(epsilon=exact.fraction(self.epsilon), policy=NO, direction=Direction.DECREASING)

    def says_yes(self, truth: bool) -> Ball:
        return ball(1) if truth else exp(-exact.fraction(self.epsilon))
