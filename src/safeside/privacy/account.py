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

from msgspec.structs import force_setattr

from safeside import exact
from safeside.errors import BadNumber, PrivacyError
from safeside.exact import Number, show
from safeside.privacy.guarantee import Neighbours, Unit
from safeside.records import Part
from safeside.words import Words

WORDS: Final = Words()
"""English, of visitors."""
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


ZERO: Final = Fraction(0)
ALL_TIME: Final = ""
"""The one period of a dataset whose unit is the person."""


class Budget(Part, frozen=True, kw_only=True):
    """An epsilon and a delta that are spent together, in one currency.

    Example
        >>> from fractions import Fraction
        >>> from safeside import Budget
        >>> half = Budget(epsilon=Fraction(1, 2))
        >>> print((half + half).epsilon, half.fits(Budget(epsilon=Fraction(1))))
        1 True
    """

    epsilon: Fraction = ZERO
    delta: Fraction = ZERO

    def __add__(self, other: Budget) -> Budget:
        # Most have no delta; it is then that very zero (`Part`), and exact sums are slow.
        delta = self.delta if other.delta is ZERO else self.delta + other.delta
        return Budget(epsilon=self.epsilon + other.epsilon, delta=delta)

    def __sub__(self, other: Budget) -> Budget:
        delta = self.delta if other.delta is ZERO else self.delta - other.delta
        return Budget(epsilon=self.epsilon - other.epsilon, delta=delta)

    def fits(self, room: Budget) -> bool:
        """Whether there is room for both."""
        return self.epsilon <= room.epsilon and (self.delta is room.delta or self.delta <= room.delta)

    def least(self, other: Budget) -> Budget:
        """The smaller of each."""
        return Budget(epsilon=min(self.epsilon, other.epsilon), delta=min(self.delta, other.delta))

    def most(self, other: Budget) -> Budget:
        """The larger of each."""
        return Budget(epsilon=max(self.epsilon, other.epsilon), delta=max(self.delta, other.delta))


NONE: Final = Budget()


class Caps(Part, frozen=True, kw_only=True):
    """All that may be spent on one unit of privacy: a person, or a person's day or week in a time zone.

    A cap over a span, every so many consecutive days, would be one more field here, absent where there is
    none.
    """

    unit: Unit = Unit.PERSON
    timezone: str | None = None
    """Where days and weeks begin; none where there is one budget for all time."""
    epsilon: Fraction
    delta: Fraction = ZERO

    @property
    def budget(self) -> Budget:
        """The amounts."""
        return Budget(epsilon=self.epsilon, delta=self.delta)


class Cost(Part, frozen=True, kw_only=True):
    """The price of one release, which is reserved before anything is drawn.

    `epsilon` and `delta` are that of the whole release under its own definition, `kind`; for counts charged
    one by one, `max_conditions` of them are satisfied by one person. `epsilon_each` is set for sparse
    releases alone: the price of one alarm, by which unused budget may come back once the alarms are
    published. `periods` are the days or weeks the release looks at, where the dataset has a budget for each.
    """

    kind: Kind = Kind.ADP
    epsilon: Fraction
    delta: Fraction = ZERO
    max_conditions: int = 1
    periods: tuple[str, ...] = ()
    epsilon_each: Fraction | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "kind", Kind(self.kind))
        force_setattr(self, "epsilon", exact.epsilon(self.epsilon))
        if self.delta is not ZERO:
            force_setattr(self, "delta", exact.delta(self.delta))
        if self.periods != ():
            force_setattr(self, "periods", tuple(sorted(set(self.periods))))
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
        if self.epsilon_each is not None:
            force_setattr(self, "epsilon_each", exact.epsilon(self.epsilon_each, "the price of one alarm"))
            if self.kind is not Kind.ADP or self.epsilon % self.epsilon_each:
                raise BadNumber(
                    f"A sparse release of {show(self.epsilon)} was priced at {show(self.epsilon_each)} for "
                    "each alarm.",
                    "Price it as a whole number of alarms, under the asymmetric definition.",
                )
        super().__post_init__()

    @property
    def accounts(self) -> tuple[str, ...]:
        """The periods that are charged: those it names, or all time."""
        return self.periods or (ALL_TIME,)

    def unused(self, alarms: int) -> Fraction:
        """What a sparse release with so many published alarms did not use (docs/proofs/refunds.md)."""
        return ZERO if self.epsilon_each is None else max(ZERO, self.epsilon - self.epsilon_each * alarms)

    def under_policy(self) -> Budget:
        """The price in the account that carries the policy."""
        if self.kind is Kind.DP_ADD_REMOVE:
            return self._removed_and_added()
        # Of counts charged one by one a step of the policy lowers at most max_conditions, each by one.
        return self._times(self.max_conditions)

    def alone(self, neighbours: Neighbours) -> Budget | None:
        """The charge as ordinary differential privacy, or None where the release has none."""
        replaced = neighbours is Neighbours.REPLACE
        if self.kind is Kind.ADP or (self.kind is Kind.DP_REPLACE and not replaced):
            return None
        if self.kind is Kind.DP_ADD_REMOVE and replaced:
            return self._removed_and_added()
        return self._times((2 if self.kind is Kind.DP_COUNTS and replaced else 1) * self.max_conditions)

    def _removed_and_added(self) -> Budget:
        """One record replaced is one removed and one added: (2 eps, (1 + e^eps) delta), rounded up."""
        if self.delta == 0:
            return self._times(2)
        places = DIGITS + len(str(self.delta.denominator // self.delta.numerator))
        up = exact.round_up(lambda: (1 + exact.exp(self.epsilon)) * exact.ball(self.delta), places)
        return Budget(epsilon=2 * self.epsilon, delta=up)

    def _times(self, many: int) -> Budget:
        if many == 1:
            return Budget(epsilon=self.epsilon, delta=self.delta)
        return Budget(epsilon=many * self.epsilon, delta=many * self.delta)


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """The standing guarantee of a dataset: of everything together, and of the ordinary releases alone."""

    whole: Budget
    alone: Budget | None
    """What the ordinary releases are by themselves; None where there are none."""
    alone_neighbours: Neighbours
    has_adp: bool

    def sentences(self) -> tuple[str, ...]:
        """Both sentences, never one total."""
        if self.whole.epsilon == 0:
            return ("Nothing was published from this dataset.",)
        first = (
            "Everything published from this dataset, taken together, is at most "
            f"{_factor(self.whole.epsilon)} times as probable as it would be had one person's whole "
            "record been any other of which every fact given up by the policy is still true where it was"
            f"{_apart(self.whole.delta)}."
        )
        if self.alone is None:
            return (first,)
        chosen = "provided none of them was chosen because of an answer made under the policy, "
        last = " Together with the others they are not differentially private for any epsilon."
        second = (
            f"The releases under ordinary differential privacy alone, {chosen if self.has_adp else ''}are at "
            f"most {_factor(self.alone.epsilon)} times as probable as they would be with one person's whole "
            f"record {_CHANGED[self.alone_neighbours]}{_apart(self.alone.delta)}."
            f"{last if self.has_adp else ''}"
        )
        return (first, second)


_CHANGED = {Neighbours.ADD_REMOVE: "added or removed", Neighbours.REPLACE: "replaced by any other"}


def standing(charges: Iterable[Cost]) -> Standing:
    """Convert every release into the account that carries the policy, then add.

    The ordinary releases are added a second time by themselves, under adding or removing one person, or
    under replacement if one of them is private in that sense only.
    """
    made = list(charges)
    whole = sum((charge.under_policy() for charge in made), NONE)
    ordinary = [charge for charge in made if charge.kind is not Kind.ADP]
    replace = any(charge.kind is Kind.DP_REPLACE for charge in ordinary)
    neighbours = Neighbours.REPLACE if replace else Neighbours.ADD_REMOVE
    alone = sum((cost for charge in ordinary if (cost := charge.alone(neighbours))), NONE)
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
    )


def _factor(epsilon: Fraction) -> str:
    return f"{exact.exp_up(epsilon)} (e^{show(epsilon)}, rounded up)"


def _apart(delta: Fraction) -> str:
    return f", apart from a probability of at most {show(delta)}" if delta else ""


_PERIOD = {Unit.PERSON: None, Unit.PERSON_DAY: "day", Unit.PERSON_WEEK: "week"}


def promise(
    epsilon: Number, delta: Number = 0, *, unit: Unit = Unit.PERSON, words: Words = WORDS
) -> tuple[str, ...]:
    """What a person in the dataset is told, sentence by sentence; every factor is rounded up.

    `epsilon` and `delta` are the dataset's caps in the ledger, never those of one release and never net of
    refunds: the promise is about everything that may come out under them.
    """
    cap, failing = exact.epsilon(epsilon), exact.delta(delta)
    period = _PERIOD[unit]
    once, twice = str(exact.exp_up(cap)), str(exact.exp_up(2 * cap))
    numbers = {"epsilon": show(cap), "factor": once, "two": twice, "delta": show(failing)}
    odds = "promise.odds" if period is None else f"promise.odds-{period}"
    sentences = [
        words(
            "promise.whole",
            **numbers,
            when="" if period is None else words(f"promise.when-{period}"),
            apart=words("promise.apart", **numbers) if failing else "",
        ),
        *([] if failing else [words(odds, **numbers)]),
        words("promise.together-delta" if failing else "promise.together", **numbers),
    ]
    if period is not None:
        sentences.append(words(f"promise.several-{period}", **numbers, seven=show(7 * cap)))
    return (*sentences, words("promise.certain"), words("promise.in-dataset"))
