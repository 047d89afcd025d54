"""Worlds small enough that every dataset in them can be compared with every neighbour.

Two people, three places, one region of two of them, two windows: 64 possible records, 4,096 datasets, and in
them every way in which regions, windows and repeats can make one person count more than once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final

from safeside.privacy.direction import max_conditions
from safeside.privacy.records import Universe, Visits, visits
from safeside.privacy.relations import ADP, DP

Dataset = tuple[Visits, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """How many distinct people visited any of these targets."""

    name: str
    targets: frozenset[str]

    def holds(self, record: Visits) -> bool:
        """Whether this person is counted."""
        return not self.targets.isdisjoint(record)

    def count(self, dataset: Dataset) -> int:
        """The true answer."""
        return sum(self.holds(record) for record in dataset)


class Within:
    """A relation and the universe it is looked at in; neighbours are listed once."""

    def __init__(self, relation: Any, universe: Universe[Any]) -> None:
        self._relation = relation
        self.universe = universe

    @cache  # noqa: B019  (there are a few of these, and they are kept)
    def neighbours(self, universe: Universe[Any], people: int) -> list[tuple[Any, Any]]:
        """As the relation itself would list them."""
        return list(self._relation.neighbours(universe, people))


@dataclass(frozen=True)
class AddRemove:
    """Ordinary differential privacy where one person is added or removed: up to `people` of them."""

    def neighbours(self, universe: Universe[Any], people: int) -> Iterator[tuple[Dataset, Dataset]]:
        """Every ordered pair of datasets one of which has one person more."""
        for size in range(people):
            for dataset in universe.datasets(size):
                for record in universe.records:
                    larger = (*dataset, record)
                    yield dataset, larger
                    yield larger, dataset


@dataclass(frozen=True, kw_only=True)
class World:
    """Places and regions in one or more windows; a record is the set of targets (place in window) visited."""

    places: tuple[str, ...]
    windows: tuple[str, ...] = ("now",)
    regions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    most: int | None = None
    """The most places one person can be at in one window, by construction; None: any number."""

    def target(self, place: str, window: str) -> str:
        """The name of "visited this place in this window"."""
        return place if len(self.windows) == 1 else f"{place} {window}"

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """Every place in every window."""
        return tuple(self.target(place, window) for window in self.windows for place in self.places)

    @cached_property
    def universe(self) -> Universe[Visits]:
        """Every possible record."""
        within = [
            visits((self.target(place, window) for place in self.places), at_most=self.most).records
            for window in self.windows
        ]
        return Universe(records=tuple(frozenset().union(*parts) for parts in itertools.product(*within)))

    @cached_property
    def asymmetric(self) -> Within:
        """The product's policy: "you were not there" may leak, for every target."""
        return Within(ADP.not_visited(self.targets), self.universe)

    @cached_property
    def ordinary(self) -> Within:
        """Ordinary differential privacy by replacement."""
        return Within(DP(), self.universe)

    @cached_property
    def add_remove(self) -> Within:
        """Ordinary differential privacy by adding or removing a person."""
        return Within(AddRemove(), self.universe)

    def question(self, name: str, window: str | None = None) -> Question:
        """A place or a region in one window."""
        when = self.windows[0] if window is None else window
        places = dict(self.regions).get(name, (name,))
        return Question(self.target(name, when), frozenset(self.target(place, when) for place in places))

    @cached_property
    def place_questions(self) -> tuple[Question, ...]:
        """Each place in each window."""
        return tuple(self.question(place, window) for window in self.windows for place in self.places)

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """Each region and place in each window, the region first."""
        names = (*(name for name, _ in self.regions), *self.places)
        return tuple(self.question(name, window) for window in self.windows for name in names)

    @cached_property
    def counts(self) -> Callable[[Dataset], tuple[int, ...]]:
        """The true answers for each place in each window."""
        return counts_of(self.place_questions)

    def max_conditions(self, questions: Iterable[Question]) -> int:
        """The most of these questions, repeats counted, that one possible record satisfies."""
        return max_conditions([question.holds for question in questions], self.universe.records)


def counts_of(questions: Iterable[Question]) -> Callable[[Dataset], tuple[int, ...]]:
    """All true answers as one tuple."""
    asked = tuple(questions)
    return lambda dataset: tuple(question.count(dataset) for question in asked)


INSTANT: Final = World(places=("A", "B", "C"), most=1)
"""Everybody is at one place at most."""
DAY: Final = World(places=("A", "B", "C"))
"""Everybody can be anywhere."""
TWO_OF_THREE: Final = World(places=("A", "B", "C"), most=2)
PAIR: Final = World(places=("A", "B"))
TWO_WINDOWS: Final = World(
    places=("A", "B", "C"), windows=("monday", "tuesday"), regions=(("AB", ("A", "B")),), most=None
)
REGION: Final = World(places=("A", "B", "C"), regions=(("AB", ("A", "B")),), most=1)
