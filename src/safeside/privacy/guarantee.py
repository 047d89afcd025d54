"""A guarantee: what is promised of one release, how two of them add up, and the sentence that says so."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import TypeVar

from safeside import exact
from safeside.errors import PrivacyError
from safeside.privacy.policy import Policy
from safeside.words import Words


class Neighbours(StrEnum):
    """Which pairs of datasets are compared.

    Example
        >>> from safeside import Neighbours, TwoSidedGeometric
        >>> TwoSidedGeometric(epsilon=1, neighbours=Neighbours.ADD_REMOVE).guarantee.neighbours
        <Neighbours.ADD_REMOVE: 'add or remove'>
    """

    REPLACE = "replace"
    """One record is replaced by another; where there is a policy, only in the direction it allows."""
    ADD_REMOVE = "add or remove"
    """One person is added or removed."""


class Direction(StrEnum):
    """Where a query can move along an allowed step of the policy, and so which side noise must take.

    Example
        >>> from safeside import AGeo, Direction
        >>> absent = AGeo(epsilon=1, direction=Direction.INCREASING)  # "visited none of them"
        >>> bool(absent.release([40]).values[0] <= 40)
        True
    """

    DECREASING = "decreasing"
    INCREASING = "increasing"
    NEITHER = "neither"


class Unit(StrEnum):
    """Whose data one step of the neighbour relation changes.

    Example
        >>> from safeside import Guarantee, Unit
        >>> Guarantee(epsilon=1, unit=Unit.PERSON_DAY).unit
        <Unit.PERSON_DAY: 'person-day'>
    """

    PERSON = "person"
    PERSON_DAY = "person-day"
    PERSON_WEEK = "person-week"


K = TypeVar("K", bound=StrEnum)


def one_of(kind: type[K], value: K | str, name: str) -> K:
    """The member of `kind` that is meant; its text will do, and what is neither is refused.

    Members are told apart by identity, so a text that only looks like one would be taken for another.
    """
    if isinstance(value, kind):
        return value
    try:
        return kind(value)
    except ValueError:
        raise PrivacyError(
            f"{name} is {value!r}.", f"Give {name} as one of {', '.join(repr(str(one)) for one in kind)}."
        ) from None


@dataclass(frozen=True, kw_only=True, slots=True)
class Guarantee:
    """(epsilon, policy)-ADP; with the empty policy (epsilon, delta)-DP.

    `direction` is not part of the promise to the person: it tells the reader on which side the answer may
    err, and is carried along so that a decision can refuse to be called certain.

    Example
        >>> from safeside import Guarantee, Policy
        >>> morning = Guarantee(epsilon="0.5", policy=Policy.not_visited(["museum"], "9:00"))
        >>> evening = Guarantee(epsilon="0.25", policy=Policy.not_visited(["museum"], "18:00"))
        >>> both = morning.then(evening)  # budgets add, policies unite
        >>> print(both.epsilon, len(both.policy))
        3/4 2
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    policy: Policy = field(default_factory=Policy.none)
    neighbours: Neighbours = Neighbours.REPLACE
    unit: Unit = Unit.PERSON
    direction: Direction = Direction.NEITHER

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact.epsilon(self.epsilon))
        object.__setattr__(self, "delta", exact.delta(self.delta))
        object.__setattr__(self, "neighbours", one_of(Neighbours, self.neighbours, "neighbours"))
        object.__setattr__(self, "unit", one_of(Unit, self.unit, "unit"))
        object.__setattr__(self, "direction", one_of(Direction, self.direction, "direction"))
        if self.neighbours is Neighbours.ADD_REMOVE and len(self.policy):
            raise PrivacyError(
                "A policy speaks of replacing a record, and was given together with adding or removing one.",
                "Use Neighbours.REPLACE with the policy, or Policy.none() with Neighbours.ADD_REMOVE.",
            )

    def then(self, other: Guarantee) -> Guarantee:
        """Both releases together: budgets add, policies unite.

        The second may be chosen from the first one's output, provided its policy is united over every choice
        that could have been made: fix the policy before the first question.
        """
        if self.neighbours is not other.neighbours:
            raise PrivacyError(
                f"One guarantee compares datasets by {self.neighbours}, the other by {other.neighbours}: "
                "their budgets are not in the same currency.",
                "Use safeside.privacy.account.standing, which converts each release before it adds them.",
            )
        if self.unit is not other.unit:
            raise PrivacyError(
                f"One guarantee protects a {self.unit}, the other a {other.unit}: they do not add up.",
                "State both for the same unit, or keep a ledger for each unit.",
            )
        if self.delta + other.delta >= 1:
            raise PrivacyError(
                "The probabilities of failure add up to 1 or more, so nothing would be promised.",
                "Use smaller deltas, or fewer releases.",
            )
        same = self.direction is other.direction
        return Guarantee(
            epsilon=self.epsilon + other.epsilon,
            delta=self.delta + other.delta,
            policy=self.policy | other.policy,
            neighbours=self.neighbours,
            unit=self.unit,
            direction=self.direction if same else Direction.NEITHER,
        )

    def sentence(self, words: Words | None = None) -> str:
        """The promise in one plain sentence; e^epsilon is rounded up."""
        words = words or Words()
        said = {
            "factor": str(exact.exp_up(self.epsilon)),
            "epsilon": exact.show(self.epsilon),
            "apart": words("guarantee.apart", delta=exact.show(self.delta)) if self.delta else "",
        }
        if self.neighbours is Neighbours.ADD_REMOVE:
            return words("guarantee.added", **said, who=words(f"guarantee.who.{self.unit}"))
        whose = words(f"guarantee.whose.{self.unit}")
        if not len(self.policy):
            return words("guarantee.replaced", **said, whose=whose)
        return words("guarantee.policy", **said, whose=whose, facts=self.policy.sentence(words))
