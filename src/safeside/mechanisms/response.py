"""The local model: each person adds noise to the own answer before anybody sees it.

Mangat's response is AGeo for one person, Warner's its two-sided cousin, utility-optimised randomised response
the generalisation to more than two values. Each comes with the unbiased estimate of how frequent an answer
is, and its variance.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeside import exact
from safeside.errors import BadCounts, BadNumber
from safeside.exact import Ball, Number, ball, evaluate, exp
from safeside.mechanisms.counts import truth_values
from safeside.mechanisms.noisy import source
from safeside.noise.entropy import Entropy
from safeside.noise.inversion import Inversion, bernoulli
from safeside.privacy.guarantee import Direction, Guarantee
from safeside.privacy.policy import Policy

NO: Final = Policy(propositions=frozenset({"answers No"}))


@dataclass(frozen=True, kw_only=True, eq=False)
class Responses:
    """What each person reported."""

    values: NDArray[np.bool_] | NDArray[np.int64]
    guarantee: Guarantee
    mechanism: str
    simulated: bool


@dataclass(frozen=True, kw_only=True)
class YesNo:
    """A randomised answer to a yes-or-no question."""

    name: ClassVar[str] = "yes-no"
    epsilon: Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact.epsilon(self.epsilon))

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each person."""
        raise NotImplementedError

    def says_yes(self, truth: bool) -> Ball:
        """Pr[Yes | truth] at the working precision."""
        raise NotImplementedError

    def respond(self, truths: ArrayLike, *, entropy: Entropy | None = None) -> Responses:
        """One randomised answer for each person's true one."""
        answers = truth_values(truths)
        drawn = source(entropy)
        reported = np.where(
            answers,
            bernoulli(lambda: self.says_yes(True), answers.size, drawn),
            bernoulli(lambda: self.says_yes(False), answers.size, drawn),
        )
        return Responses(
            values=reported, guarantee=self.guarantee, mechanism=self.name, simulated=drawn.simulated
        )

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
        share = Fraction(_part(yes, people), people)
        return evaluate(
            lambda: (ball(share) - self.says_yes(False)) / (self.says_yes(True) - self.says_yes(False))
        )

    def estimate_variance(self, share: Number, people: int) -> Ball:
        """The variance of the estimate where `share` of these people truly answer Yes; only coins vary."""
        truth, number = _share(share), exact.whole(people, "people", least=1)

        def formula() -> Ball:
            yes, no = self.says_yes(True), self.says_yes(False)
            coins = ball(truth) * yes * (1 - yes) + ball(1 - truth) * no * (1 - no)
            return coins / (number * (yes - no) ** 2)

        return evaluate(formula)


@dataclass(frozen=True, kw_only=True)
class Mangat(YesNo):
    """Mangat's response: Yes is always said by those for whom it is true; No is then never false.

    Guarantee
        (epsilon, {answers No})-ADP for each person. The number of Yes is an upper bound of the true number.
    Assumes
        Each person answers once; that somebody's answer is No may leak.
    Proof
        docs/proofs/mangat.md
    """

    name: ClassVar[str] = "mangat"

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(epsilon=exact.exact(self.epsilon), policy=NO, direction=Direction.DECREASING)

    def says_yes(self, truth: bool) -> Ball:
        return ball(1) if truth else exp(-exact.exact(self.epsilon))


@dataclass(frozen=True, kw_only=True)
class Warner(YesNo):
    """Warner's response: the truth with probability e^epsilon / (1 + e^epsilon), its opposite otherwise.

    Guarantee
        epsilon-DP for each person.
    Assumes
        Each person answers once.
    Proof
        docs/proofs/warner.md
    """

    name: ClassVar[str] = "warner"

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(epsilon=exact.exact(self.epsilon), policy=Policy.none())

    def says_yes(self, truth: bool) -> Ball:
        rate = exact.exact(self.epsilon)
        return 1 / (1 + exp(-rate if truth else rate))


@dataclass(frozen=True, kw_only=True)
class UtilityOptimised:
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
    """

    name: ClassVar[str] = "urr"
    epsilon: Number
    sensitive: tuple[Hashable, ...]
    other: tuple[Hashable, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact.epsilon(self.epsilon))
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
        return Guarantee(epsilon=exact.exact(self.epsilon), policy=policy, direction=direction)

    def respond(self, truths: Sequence[Hashable], *, entropy: Entropy | None = None) -> Responses:
        """One report for each person, as positions in `values`."""
        place = {value: i for i, value in enumerate(self.values)}
        if not len(truths) or any(value not in place for value in truths):
            raise BadCounts(
                "There are no answers, or one is neither a sensitive value nor one of the others.",
                "List every value a person can have, sensitive or not, before asking.",
            )
        true = np.array([place[value] for value in truths], dtype=np.int64)
        drawn = source(entropy)
        hidden = len(self.sensitive)
        lot = Inversion(lambda k: k / self._weight(), hidden + 1).draw(true.size, drawn)
        return Responses(
            values=np.where(lot == hidden, true, lot),
            guarantee=self.guarantee,
            mechanism=self.name,
            simulated=drawn.simulated,
        )

    def pmf(self, output: Hashable, truth: Hashable) -> Ball:
        """Pr[the report is `output` | truth]."""
        return evaluate(lambda: self._reports(output, truth))

    def distribution(self, truth: Hashable) -> dict[Hashable, Ball]:
        """Every report that is possible, with its probability."""
        return {
            value: self.pmf(value, truth)
            for value in self.values
            if value in self.sensitive or value == truth
        }

    @property
    def alpha(self) -> Fraction:
        """How often a reported value that is not sensitive is false: never."""
        return Fraction(0)

    @property
    def beta(self) -> Ball:
        """How often a true value that is not sensitive is reported."""
        return evaluate(self._keeps)

    def estimate(self, value: Hashable, reports: int, people: int) -> Ball:
        """The unbiased estimate of the share of people whose true value this is, from how many report it."""
        share = Fraction(_part(reports, people), people)
        return evaluate(lambda: (ball(share) - self._floor(value)) / self._keeps())

    def estimate_variance(self, value: Hashable, share: Number, people: int) -> Ball:
        """The variance of the estimate where `share` of these people have the value; only coins vary."""
        truth, number = _share(share), exact.whole(people, "people", least=1)

        def formula() -> Ball:
            yes, no = self._floor(value) + self._keeps(), self._floor(value)
            coins = ball(truth) * yes * (1 - yes) + ball(1 - truth) * no * (1 - no)
            return coins / (number * self._keeps() ** 2)

        return evaluate(formula)

    def _weight(self) -> Ball:
        return len(self.sensitive) + ball(exact.exact(self.epsilon)).expm1()

    def _keeps(self) -> Ball:
        return ball(exact.exact(self.epsilon)).expm1() / self._weight()

    def _floor(self, value: Hashable) -> Ball:
        """How often the value is reported by those who do not have it."""
        return 1 / self._weight() if value in self.sensitive else ball(0)

    def _reports(self, output: Hashable, truth: Hashable) -> Ball:
        return self._floor(output) + (self._keeps() if output == truth else 0)


def _part(number: int, people: int) -> int:
    part = exact.whole(number, "the number of reports")
    if part > exact.whole(people, "people", least=1):
        raise BadNumber(
            f"{part} reports came from {people} people.", "Give how many of the people made this report."
        )
    return part


def _share(share: Number) -> Fraction:
    value = exact.exact(share, "share")
    if not 0 <= value <= 1:
        raise BadNumber(f"share is {exact.show(value)}.", "Give a share of people between 0 and 1.")
    return value
