"""Small worlds, written out in full and independently of the library's own audit."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

from safeside.exact import PMF_BITS, Ball, ball, precision

Record = frozenset[int]
Dataset = tuple[Record, ...]


def records(targets: int, most: int | None = None) -> list[Record]:
    """Every set of at most `most` targets."""
    sizes = range((targets if most is None else most) + 1)
    return [frozenset(some) for size in sizes for some in itertools.combinations(range(targets), size)]


def erasing(possible: Sequence[Record], people: int) -> Iterator[tuple[Dataset, Dataset]]:
    """Every ordered pair X -> X' of the product's policy: one record loses some (or none) of its visits."""
    for dataset in itertools.product(possible, repeat=people):
        for i, smaller in itertools.product(range(people), possible):
            if smaller <= dataset[i]:
                yield dataset, (*dataset[:i], smaller, *dataset[i + 1 :])


def replacing(possible: Sequence[Record], people: int) -> Iterator[tuple[Dataset, Dataset]]:
    """Every ordered pair that differs in one record, whatever it becomes."""
    for dataset in itertools.product(possible, repeat=people):
        for i, other in itertools.product(range(people), possible):
            yield dataset, (*dataset[:i], other, *dataset[i + 1 :])


def visits(dataset: Dataset, targets: int) -> tuple[int, ...]:
    """Distinct people at each target."""
    return tuple(sum(target in record for record in dataset) for target in range(targets))


def together(parts: Sequence[Mapping[Hashable, Ball]]) -> dict[tuple[Hashable, ...], Ball]:
    """The joint law of independent outputs."""
    with precision(PMF_BITS):
        joint: dict[tuple[Hashable, ...], Ball] = {(): ball(1)}
        for part in parts:
            joint = {(*key, z): mass * p for key, mass in joint.items() for z, p in part.items()}
    return joint


def needed(
    pairs: Iterable[tuple[Dataset, Dataset]], law: Callable[[Dataset], Mapping[Hashable, Ball]]
) -> float:
    """The least epsilon for which Pr[z | X] <= e^epsilon Pr[z | X'] over all these pairs and outputs."""
    laws: dict[Dataset, Mapping[Hashable, Ball]] = {}
    worst = 0.0
    for pair in pairs:
        for one in pair:
            if one not in laws:
                laws[one] = law(one)
        worst = max(worst, log_ratio(laws[pair[0]], laws[pair[1]]))
    return worst


def log_ratio(first: Mapping[Hashable, Ball], second: Mapping[Hashable, Ball]) -> float:
    """The largest log of Pr[z | first] / Pr[z | second]."""
    worst = 0.0
    for output, mass in first.items():
        other = second.get(output)
        if other is None or not other > 0:
            return math.inf
        with precision(PMF_BITS):
            worst = max(worst, float((mass / other).log().mid()))
    return worst


def needed_delta(first: Mapping[Hashable, Ball], second: Mapping[Hashable, Ball], epsilon: float) -> float:
    """The least delta with Pr[first in Z] <= e^epsilon Pr[second in Z] + delta for every Z."""
    outputs = first.keys() | second.keys()
    return sum(
        max(0.0, float(first.get(z, ball(0)).mid()) - math.exp(epsilon) * float(second.get(z, ball(0)).mid()))
        for z in outputs
    )
