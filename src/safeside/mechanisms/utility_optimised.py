"""Utility-optimised randomised response: Mangat's for more than two values."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np

from safeside import exact
from safeside.errors import BadCounts, BadNumber
from safeside.exact import Ball, Number, ball, evaluate
from safeside.mechanisms.guarantees import OneEpsilon
from safeside.mechanisms.published import carried
from safeside.mechanisms.yes_no import Responses, coin_variance, require_part
from safeside.noise.entropy import Entropy, system_entropy
from safeside.noise.inversion import Inversion
from safeside.privacy.guarantee import Direction, Guarantee
from safeside.privacy.policy import Policy


@dataclass(frozen=True, kw_only=True)
class UtilityOptimised(OneEpsilon):
    """Utility-optimised randomised response: of two kinds of values only the sensitive ones are hidden.

    Everybody keeps the true value with probability (e^epsilon - 1)/w, w = s + e^epsilon - 1, and otherwise
    reports one of the s sensitive values, each with probability 1/w: so a reported value that is not
    sensitive is always true.

    Guarantee
        (epsilon, {"is v" : v not sensitive})-ADP for each person.
    Assumes
        Each person answers once; which values are sensitive is public.
    Proof
        docs/proofs/urr.md
    Example
        >>> from safeside import UtilityOptimised
        >>> response = UtilityOptimised(epsilon=1, sensitive=("clinic",), other=("park", "bar"))
        >>> {value: f"{float(chance):.3f}" for value, chance in response.distribution("park").items()}
        {'clinic': '0.368', 'park': '0.632'}
    """

    name: ClassVar[str] = "urr"
    sensitive: tuple[Hashable, ...]
    other: tuple[Hashable, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "sensitive", tuple(self.sensitive))
        object.__setattr__(self, "other", tuple(self.other))
        # By name, since the policy holds its propositions by name: 1 and "1" would be taken for one.
        if not self.sensitive or len({str(value) for value in self.values}) != len(self.values):
            raise BadNumber(
                "No value is sensitive, or a value is listed twice.",
                "List at least one sensitive value, and each value once, under a name of its own.",
            )

    @property
    def values(self) -> tuple[Hashable, ...]:
        """Every value a person can have or report; the sensitive ones first."""
        return self.sensitive + self.other

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each person."""
        policy = Policy(propositions=frozenset(f"is {value}" for value in self.other))
        direction = Direction.DECREASING if self.other else Direction.NEITHER
        return Guarantee(epsilon=exact.fraction(self.epsilon), policy=policy, direction=direction)

    def release(self, truths: Sequence[Hashable], *, entropy: Entropy | None = None) -> Responses:
        """One report for each person, as positions in `values`."""
        place = {value: i for i, value in enumerate(self.values)}
        if not len(truths) or any(value not in place for value in truths):
            raise BadCounts(
                "There are no answers, or one is neither a sensitive value nor one of the others.",
                "List every value a person can have, sensitive or not, before asking.",
            )
        true = np.array([place[value] for value in truths], dtype=np.int64)
        drawn = entropy or system_entropy()
        hidden = len(self.sensitive)
        lot = Inversion(lambda k: k / self._weight(), hidden + 1).draw(true.size, drawn)
        return Responses(values=np.where(lot == hidden, true, lot), **carried(self, drawn))

    def pmf(self, output: Hashable, truth: Hashable) -> Ball:
        """Pr[the report is `output` | truth]."""
        return evaluate(lambda: self._floor(output) + (self._keeps() if output == truth else 0))

    def distribution(self, truth: Hashable) -> dict[Hashable, Ball]:
        """Every report that is possible, with its probability."""
        return {
            value: self.pmf(value, truth)
            for value in self.values
            if value in self.sensitive or value == truth
        }

    alpha: ClassVar[Fraction] = Fraction(0)
    """How often a reported value that is not sensitive is false: never."""

    @property
    def beta(self) -> Ball:
        """How often a true value that is not sensitive is reported."""
        return evaluate(self._keeps)

    def estimate(self, value: Hashable, reports: int, people: int) -> Ball:
        """The unbiased estimate of the share of people whose true value this is, from how many report it."""
        share = Fraction(require_part(reports, people), people)
        return evaluate(lambda: (ball(share) - self._floor(value)) / self._keeps())

    def estimate_variance(self, value: Hashable, share: Number, people: int) -> Ball:
        """The variance of the estimate where `share` of these people have the value; only coins vary."""
        floor = partial(self._floor, value)
        return coin_variance(lambda: floor() + self._keeps(), floor, share, people)

    def _weight(self) -> Ball:
        return len(self.sensitive) + ball(exact.fraction(self.epsilon)).expm1()

    def _keeps(self) -> Ball:
        return ball(exact.fraction(self.epsilon)).expm1() / self._weight()

    def _floor(self, value: Hashable) -> Ball:
        """How often the value is reported by those who do not have it."""
        return 1 / self._weight() if value in self.sensitive else ball(0)
