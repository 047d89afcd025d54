"""Finite universes: few enough records that every claim about neighbours can be enumerated."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from safeside.errors import PrivacyError

R = TypeVar("R", bound=Hashable)
Visits = frozenset[str]
"""A record that knows nothing but which targets were visited."""


@dataclass(frozen=True, kw_only=True)
class Universe(Generic[R]):
    """Every record that is possible; a dataset is a tuple of them, one place for each person."""

    records: tuple[R, ...]

    def __post_init__(self) -> None:
        if not self.records or len(set(self.records)) != len(self.records):
            raise PrivacyError(
                "A universe needs at least one record, and each record once.",
                "List every possible record, without repeats.",
            )

    def datasets(self, people: int) -> Iterator[tuple[R, ...]]:
        """Every dataset of so many people."""
        return itertools.product(self.records, repeat=people)

    def replacements(self, dataset: tuple[R, ...]) -> Iterator[tuple[int, R, tuple[R, ...]]]:
        """Each dataset that differs in one person: who, what their record became, and the dataset."""
        for place, record in enumerate(dataset):
            for other in self.records:
                if other != record:
                    yield place, other, (*dataset[:place], other, *dataset[place + 1 :])


def visits(targets: Iterable[str], *, at_most: int | None = None, least: int = 0) -> Universe[Visits]:
    """The universe of people who visited between `least` and `at_most` of the targets."""
    names = tuple(targets)
    most = len(names) if at_most is None else at_most
    sizes = range(least, most + 1)
    return Universe(
        records=tuple(frozenset(some) for size in sizes for some in itertools.combinations(names, size))
    )
