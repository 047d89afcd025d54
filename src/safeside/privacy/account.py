"""What everything published from one dataset amounts to, when releases of several kinds are mixed.

Releases that carry a policy and releases under ordinary differential privacy are not in the same currency.
Each is converted into the account that carries the policy, and only then are they added. Two sentences come
out and are never merged: what the whole promises, and what the ordinary releases promise by themselves.
The proofs are in docs/proofs/composition.md, conversions.md and refunds.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Final

from safeside import exact
from safeside.errors import PrivacyError
from safeside.exact import Number, show
from safeside.privacy.guarantee import WHOSE, Neighbours, Unit

DIGITS: Final = 6
"""Significant digits to which what is not rational is rounded up."""


class Kind(StrEnum):
    """How a release enters the account."""

    ADP = "adp"
    """One-sided, under the dataset's policy."""
    DP_COUNTS = "dp counts"
    """PaddedGeo or the optimal decision: (eps, delta) for each count, all negated in the policy."""
    DP_ADD_REMOVE = "dp add/remove"
    """Anything else that is (eps, delta)-DP when one person is added or removed."""
    DP_REPLACE = "dp replace"
    """Anything that is (eps, delta)-DP when one record is replaced."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """An epsilon and a delta in one currency."""

    epsilon: Fraction
    delta: Fraction

    def __add__(self, other: Cost) -> Cost:
        return Cost(epsilon=self.epsilon + other.epsilon, delta=self.delta + other.delta)


NOTHING: Final = Cost(epsilon=Fraction(0), delta=Fraction(0))


@dataclass(frozen=True, kw_only=True, slots=True)
class Charge:
    """One release as it was made: its kind, its parameters, and for counts how many one person satisfies."""

    kind: Kind
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    max_conditions: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", Kind(self.kind))
        object.__setattr__(self, "epsilon", exact.epsilon(self.epsilon))
        object.__setattr__(self, "delta", exact.delta(self.delta))
        exact.whole(self.max_conditions, "max_conditions", least=1)
        if self.kind is Kind.ADP and self.delta:
            raise PrivacyError(
                "A release under a policy was charged with a delta; it has none.",
                "Charge it with delta 0, or as the kind of ordinary differential privacy that it is.",
            )
        if self.kind is not Kind.DP_COUNTS and self.max_conditions != 1:
            raise PrivacyError(
                f"A release of the kind {self.kind} was charged with max_conditions {self.max_conditions}.",
                "Give the epsilon of the whole release; max_conditions belongs to counts charged one by one.",
            )

    def under_policy(self, digits: int = DIGITS) -> Cost:
        """The charge in the account that carries the policy."""
        match self.kind:
            case Kind.DP_COUNTS:
                # A step of the policy lowers at most max_conditions counts, each by one.
                return self._times(self.max_conditions)
            case Kind.DP_ADD_REMOVE:
                return _removed_and_added(self.epsilon, self.delta, digits)
            case _:
                return self._times(1)

    def alone(self, neighbours: Neighbours, digits: int = DIGITS) -> Cost | None:
        """The charge as ordinary differential privacy, or None where the release has none."""
        match self.kind, neighbours:
            case Kind.ADP, _:
                return None
            case Kind.DP_REPLACE, Neighbours.ADD_REMOVE:
                return None
            case Kind.DP_COUNTS, Neighbours.REPLACE:
                return self._times(2 * self.max_conditions)
            case Kind.DP_ADD_REMOVE, Neighbours.REPLACE:
                return _removed_and_added(self.epsilon, self.delta, digits)
            case Kind.DP_COUNTS, _:
                return self._times(self.max_conditions)
            case _:
                return self._times(1)

    def _times(self, many: int) -> Cost:
        return Cost(epsilon=many * self.epsilon, delta=many * self.delta)


def _removed_and_added(epsilon: Fraction, delta: Fraction, digits: int) -> Cost:
    """One record replaced is one removed and one added: (2 eps, (1 + e^eps) delta), the last rounded up."""
    exact.whole(digits, "digits", least=1)
    if delta == 0:
        return Cost(epsilon=2 * epsilon, delta=delta)
    places = digits + len(str(delta.denominator // delta.numerator))
    up = exact.round_up(lambda: (1 + exact.exp(epsilon)) * exact.ball(delta), places)
    return Cost(epsilon=2 * epsilon, delta=up)


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """The standing guarantee of a dataset: of everything together, and of the ordinary releases alone."""

    whole: Cost
    alone: Cost | None
    """What the ordinary releases are by themselves; None where there are none."""
    alone_neighbours: Neighbours
    has_adp: bool
    unit: Unit = Unit.PERSON

    def sentences(self) -> tuple[str, ...]:
        """Both sentences, never one total."""
        if self.whole.epsilon == 0:
            return ("Nothing was published from this dataset.",)
        first = (
            "Everything published from this dataset, taken together, is at most "
            f"{_factor(self.whole.epsilon)} times as probable as it would be had {WHOSE[self.unit]} "
            f"been any other of which every fact given up by the policy is still true where it was"
            f"{_apart(self.whole.delta)}."
        )
        if self.alone is None:
            return (first,)
        chosen = "provided none of them was chosen because of an answer made under the policy, "
        last = " Together with the others they are not differentially private for any epsilon."
        second = (
            f"The releases under ordinary differential privacy alone, {chosen if self.has_adp else ''}are at "
            f"most {_factor(self.alone.epsilon)} times as probable as they would be with {WHOSE[self.unit]} "
            f"{_CHANGED[self.alone_neighbours]}{_apart(self.alone.delta)}.{last if self.has_adp else ''}"
        )
        return (first, second)


_CHANGED = {Neighbours.ADD_REMOVE: "added or removed", Neighbours.REPLACE: "replaced by any other"}


def standing(charges: Iterable[Charge], digits: int = DIGITS, *, unit: Unit = Unit.PERSON) -> Standing:
    """Convert every release into the account that carries the policy, then add.

    The ordinary releases are added a second time by themselves, under adding or removing one person, or
    under replacement if one of them is private in that sense only.
    """
    made = list(charges)
    whole = sum((charge.under_policy(digits) for charge in made), NOTHING)
    ordinary = [charge for charge in made if charge.kind is not Kind.ADP]
    replace = any(charge.kind is Kind.DP_REPLACE for charge in ordinary)
    neighbours = Neighbours.REPLACE if replace else Neighbours.ADD_REMOVE
    alone = sum((cost for charge in ordinary if (cost := charge.alone(neighbours, digits))), NOTHING)
    if whole.delta >= 1 or alone.delta >= 1:
        raise PrivacyError(
            "The probabilities of failure add up to 1 or more, so nothing is promised.",
            "Use smaller deltas, or fewer releases under ordinary differential privacy.",
        )
    return Standing(
        whole=whole,
        alone=alone if ordinary else None,
        alone_neighbours=neighbours,
        has_adp=len(ordinary) < len(made),
        unit=unit,
    )


def _factor(epsilon: Fraction) -> str:
    return f"{exact.exp_up(epsilon)} (e^{show(epsilon)}, rounded up)"


def _apart(delta: Fraction) -> str:
    return f", apart from a probability of at most {show(delta)}" if delta else ""


_PERIOD = {Unit.PERSON: "", Unit.PERSON_DAY: "day", Unit.PERSON_WEEK: "week"}


def promise(epsilon: Number, delta: Number = 0, *, unit: Unit = Unit.PERSON) -> str:
    """What a person in the dataset is told; every factor is rounded up.

    `epsilon` and `delta` are the dataset's caps in the ledger, never those of one release and never net of
    refunds: the promise is about everything that may come out under them.
    """
    cap, failing = exact.epsilon(epsilon), exact.delta(delta)
    period = _PERIOD[unit]
    sentences = [_whole_sentence(cap, failing, period)]
    if not failing:
        sentences.append(_odds_sentence(cap, period))
    sentences.append(_together_sentence(cap, failing))
    if period:
        sentences.append(
            f"This protects one {period} at a time: read the same powers for several {period}s of yours, "
            f"so that 7 {period}s together are protected at 7 times {show(cap)}, that is {show(7 * cap)}."
        )
    sentences.append(
        "It may show for certain that you did not visit some of them, and so, to someone who thinks you were "
        "probably at one of several, point to the one that is left."
    )
    sentences.append("That you are in this dataset is not hidden.")
    return " ".join(sentences)


def _whole_sentence(cap: Fraction, failing: Fraction, period: str) -> str:
    when = f" {'on' if period == 'day' else 'in'} any one {period} you choose" if period else ""
    return (
        "Everything published from this dataset up to now, about the places and times named here, was, "
        f"taken together, at most {_factor(cap)} times as probable as it would have been had you visited "
        f"none of them{when}{_apart(failing)}."
    )


def _odds_sentence(cap: Fraction, period: str) -> str:
    of_that = f"visits of that {period} say nothing about your other {period}s or" if period else ""
    whose = of_that or "visits say nothing about"
    when = f" that {period}" if period else ""
    factor = exact.exp_up(cap)
    return (
        f"So, to someone for whom your {whose} other people's, it raises the odds that you visited at least "
        f"one of them{when}, against none, by a factor of at most {factor}; and, to someone who also knows "
        f"which of the others you visited{when}, the odds that you visited this one too by a factor of at "
        f"most {factor}."
    )


def _together_sentence(cap: Fraction, failing: Fraction) -> str:
    text = (
        f"For h people who go about together read e^(h times {show(cap)}) instead: for two, "
        f"{exact.exp_up(2 * cap)}"
    )
    if not failing:
        return text + "."
    factor = exact.exp_up(cap)
    return (
        f"{text}; and, instead of {show(failing)}, that number times 1 + e^{show(cap)} + ... + "
        f"e^((h - 1) times {show(cap)}): for two, times 1 + {factor}."
    )
