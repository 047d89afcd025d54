"""The definitions as relations on records: DP, OSDP, Blowfish and ADP are one sentence with four relations.

    Pr[M(X) in Z] <= e^eps Pr[M(X') in Z]   whenever one record x of X was replaced by x' and x steps to x'

A relation says which steps count. It lists its ordered neighbours over a finite universe, and the shortest
paths along them: the paper's d_min, and k(X), the distance that limits a one-sided decision.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from safeside.errors import PrivacyError
from safeside.privacy.policy import NOT
from safeside.privacy.records import Universe, Visits

R = TypeVar("R", bound=Hashable)
Predicate = Callable[[R], bool]


class Relation(ABC, Generic[R]):
    """Which replacements of one record by another a definition compares."""

    @abstractmethod
    def step(self, x: R, x2: R) -> bool:
        """Whether the outputs for x may be at most e^eps times as probable as those for x2."""

    def neighbours(self, universe: Universe[R], people: int) -> Iterator[tuple[tuple[R, ...], tuple[R, ...]]]:
        """Every ordered pair of different datasets, the first neighbouring to the second."""
        for dataset in universe.datasets(people):
            for near in self._next(universe, dataset):
                yield dataset, near

    def min_path(self, universe: Universe[R], start: tuple[R, ...], end: tuple[R, ...]) -> int | None:
        """d_min: the fewest steps from one dataset to the other; None where no path leads there."""
        return _breadth_first(start, lambda near: near == end, functools.partial(self._next, universe))

    def distance_to_false(
        self,
        universe: Universe[R],
        dataset: tuple[R, ...],
        decision: Callable[[tuple[R, ...]], bool],
        *,
        as_printed: bool = False,
    ) -> int | None:
        """k(X): the fewest steps to X from a dataset where the decision is false; None where there is none.

        The paper prints the distance from X to such a dataset. Under the policies for which its mechanisms
        exist that is infinite; `as_printed` computes it, so that this can be seen.
        """
        along = functools.partial(self._next, universe, back=not as_printed)
        return _breadth_first(dataset, lambda near: not decision(near), along)

    def is_transitive(self, universe: Universe[R]) -> bool:
        """Whether two steps in a row are always one step or none at all."""
        records = universe.records
        steps = {(x, y) for x in records for y in records if x != y and self.step(x, y)}
        return all((x, z) in steps for x, y in steps for y2, z in steps if y == y2 and x != z)

    def _next(
        self, universe: Universe[R], dataset: tuple[R, ...], *, back: bool = False
    ) -> Iterator[tuple[R, ...]]:
        """Where one step leads; or, back, from where one step leads here."""
        for place, other, near in universe.replacements(dataset):
            if self.step(other, dataset[place]) if back else self.step(dataset[place], other):
                yield near


def _breadth_first(
    start: tuple[R, ...],
    reached: Callable[[tuple[R, ...]], bool],
    further: Callable[[tuple[R, ...]], Iterable[tuple[R, ...]]],
) -> int | None:
    seen = {start}
    waiting = deque([(start, 0)])
    while waiting:
        dataset, steps = waiting.popleft()
        if reached(dataset):
            return steps
        for near in further(dataset):
            if near not in seen:
                seen.add(near)
                waiting.append((near, steps + 1))
    return None


@dataclass(frozen=True)
class DP(Relation[R]):
    """Ordinary differential privacy by replacement: every pair of records."""

    def step(self, x: R, x2: R) -> bool:  # noqa: ARG002
        return True


@dataclass(frozen=True)
class OSDP(Relation[R]):
    """One-sided differential privacy: a record outside the non-sensitive ones may become any other."""

    nonsensitive: frozenset[R]

    def step(self, x: R, x2: R) -> bool:  # noqa: ARG002
        return x not in self.nonsensitive


@dataclass(frozen=True)
class Blowfish(Relation[R]):
    """Blowfish privacy: the two ends of an edge, both ways."""

    edges: frozenset[tuple[R, R]]

    def step(self, x: R, x2: R) -> bool:
        return (x, x2) in self.edges or (x2, x) in self.edges

    @classmethod
    def within(cls, universe: Universe[R], same: Callable[[R], Hashable]) -> Blowfish[R]:
        """An edge between every two records of which `same` says the same."""
        records = universe.records
        return cls(frozenset((x, y) for x in records for y in records if x != y and same(x) == same(y)))


@dataclass(frozen=True, eq=False)
class ADP(Relation[R]):
    """Asymmetric differential privacy: every proposition of the policy that was true stays true."""

    propositions: Mapping[str, Predicate[R]]

    def step(self, x: R, x2: R) -> bool:
        return all(holds(x2) for holds in self.propositions.values() if holds(x))

    def __or__(self, other: ADP[R]) -> ADP[R]:
        """The policies united. A name that both use must mean the same: losing one would hide a leak."""
        both = self.propositions.keys() & other.propositions.keys()
        if any(self.propositions[name] is not other.propositions[name] for name in both):
            raise PrivacyError(
                "Two policies give the same name to different propositions.",
                "Name each proposition once, and use the same predicate wherever the name appears.",
            )
        return ADP({**self.propositions, **other.propositions})

    @staticmethod
    def not_visited(targets: Iterable[str]) -> ADP[Visits]:
        """The product's policy on records that are sets of visited targets."""
        return ADP({NOT + target: _not_at(target) for target in targets})


@functools.cache
def _not_at(target: str) -> Predicate[Visits]:
    return lambda record: target not in record
