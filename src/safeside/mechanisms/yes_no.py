"""The local model: each person adds noise to the own answer before anybody sees it.

Mangat's response is AGeo for one person, Warner's its two-sided cousin, utility-optimised randomised response
the generalisation to more than two values. Each comes with the unbiased estimate of how frequent an answer
is, and its variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeside import exact
from safeside.errors import BadNumber
from safeside.exact import Ball, Number, Term, ball, evaluate
from safeside.mechanisms.counts import truth_values
from safeside.mechanisms.guarantees import OneEpsilon
from safeside.mechanisms.published import Published, carried
from safeside.noise.entropy import Entropy, system_entropy
from safeside.noise.inversion import bernoulli
from safeside.privacy.guarantee import Guarantee


@dataclass(frozen=True, kw_only=True, eq=False)
class Responses(Published):
    """What each person reported."""

    values: NDArray[np.bool_] | NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class YesNo(OneEpsilon):
    """A randomised answer to a yes-or-no question."""

    name: ClassVar[str] = "yes-no"

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each person."""
        raise NotImplementedError

    def says_yes(self, truth: bool) -> Ball:
        """Pr[Yes | truth] at the working precision."""
        raise NotImplementedError

    def release(self, truths: ArrayLike, *, entropy: Entropy | None = None) -> Responses:
        """One randomised answer for each person's true one."""
        answers = truth_values(truths)
        drawn = entropy or system_entropy()
        reported = np.where(
            answers,
            bernoulli(lambda: self.says_yes(True), answers.size, drawn),
            bernoulli(lambda: self.says_yes(False), answers.size, drawn),
        )
        return Responses(values=reported, **carried(self, drawn))

    def pmf(self, output: bool, truth: bool) -> Ball:
        """Pr[the report is `output` | truth]."""
        return evaluate(lambda: self.says_yes(truth) if output else 1 - self.says_yes(truth))

    def distribution(self, truth: bool) -> dict[bool, Ball]:
        """Both reports with their probabilities."""
        return {report: self.pmf(report, truth) for report in (True, False)}

    @property
    def alpha(self) -> Ball:
        """Pr[No | Yes]: how often a reported No is false."""
        return self.pmf(False, True)

    @property
    def beta(self) -> Ball:
        """Pr[No | No]: how often a true No is reported."""
        return self.pmf(False, False)

    def estimate(self, yes: int, people: int) -> Ball:
        """The unbiased estimate of the share of people whose true answer is Yes."""
        share = Fraction(require_part(yes, people), people)
        return evaluate(
            lambda: (ball(share) - self.says_yes(False)) / (self.says_yes(True) - self.says_yes(False))
        )

    def estimate_variance(self, share: Number, people: int) -> Ball:
        """The variance of the estimate where `share` of these people truly answer Yes; only coins vary."""
        return coin_variance(lambda: self.says_yes(True), lambda: self.says_yes(False), share, people)


def require_part(number: int, people: int) -> int:
    """How many of the people made a report, refused where it is more than all of them."""
    part = exact.whole(number, "the number of reports")
    if part > exact.whole(people, "people", least=1):
        raise BadNumber(
            f"{part} reports came from {people} people.", "Give how many of the people made this report."
        )
    return part


def coin_variance(has: Term, has_not: Term, share: Number, people: int) -> Ball:
    """The variance of an unbiased estimate of a share, from Pr[report] of those who have and have not."""
    truth, number = exact.fraction(share, "share"), exact.whole(people, "people", least=1)
    if not 0 <= truth <= 1:
        raise BadNumber(f"share is {exact.show(truth)}.", "Give a share of people between 0 and 1.")

    def formula() -> Ball:
        yes, no = has(), has_not()
        coins = ball(truth) * yes * (1 - yes) + ball(1 - truth) * no * (1 - no)
        return coins / (number * (yes - no) ** 2)

    return evaluate(formula)
