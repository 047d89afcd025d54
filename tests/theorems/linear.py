"""Every mechanism of a definition at once: the best one for a decision or a loss, by linear programming.

A sanitizer is post-processing, so for a decision only Pr[True] on each dataset matters, and a definition is a
set of linear inequalities between these probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import linprog

Pair = tuple[Hashable, Hashable]
Decision = Callable[[Any], bool]


def _inequalities(
    pairs: Iterable[Pair], place: dict[Hashable, int], epsilon: float, delta: float
) -> tuple[list[np.ndarray], list[float]]:
    """b(X) <= e^eps b(X') + delta, and the same of the complements."""
    factor = math.exp(epsilon)
    rows, limits = [], []
    for left, right in pairs:
        row = np.zeros(len(place))
        row[place[left]] += 1
        row[place[right]] -= factor
        other = np.zeros(len(place))
        other[place[left]] -= 1
        other[place[right]] += factor
        rows += [row, other]
        limits += [delta, factor - 1 + delta]
    return rows, limits


def best_beta(
    datasets: Sequence[Hashable],
    pairs: Iterable[Pair],
    decision: Decision,
    epsilon: float,
    *,
    alpha: float,
    delta: float = 0.0,
    at: Hashable | None = None,
) -> float:
    """The largest Pr[True] at one dataset, or (without `at`) the largest that all true datasets can have."""
    place = {dataset: i for i, dataset in enumerate(datasets)}
    rows, limits = _inequalities(pairs, place, epsilon, delta)
    size = len(place)
    rows = [np.append(row, 0.0) for row in rows]
    for dataset in datasets if at is None else [at]:
        if decision(dataset):
            row = np.zeros(size + 1)
            row[place[dataset]], row[size] = -1, 1
            rows.append(row)
            limits.append(0.0)
    bounds = [(0.0, 1.0 if decision(dataset) else alpha) for dataset in datasets]
    goal = np.zeros(size + 1)
    goal[size] = -1
    found = linprog(goal, A_ub=np.array(rows), b_ub=limits, bounds=[*bounds, (0.0, 1.0)], method="highs")
    assert found.success
    return float(-found.fun)


def chain_beta(
    steps: int, epsilon: float, *, alpha: float, delta: float = 0.0, ways: Sequence[int] = (-1, 1)
) -> float:
    """The largest Pr[True] so many steps from the nearest false count, on counts 0, 1, ..., steps.

    `ways` are the changes of a count that the definition compares: (-1, 1) is DP; under ADP a decreasing
    count steps down only, so (-1,) is "at most t" and (1,), the same chain mirrored, "at least t+1".
    """
    chain = range(steps + 1)
    pairs = [(count, count + way) for count in chain for way in ways if count + way in chain]
    return best_beta(chain, pairs, lambda count: count < steps, epsilon, alpha=alpha, delta=delta, at=0)


def least_loss(
    ratio: float,
    prior: Sequence[float],
    loss: Callable[[int, int], float],
    *,
    upper_triangular: bool = False,
    lemma_equalities: bool = False,
) -> float:
    """The least expected loss of an ADP mechanism 0..n -> 0..n on one decreasing count; ratio is e^-eps.

    The options add what the appendix's two lemmas say of the optimum.
    """
    size = len(prior)
    cost = np.array([prior[i] * loss(j, i) for i in range(size) for j in range(size)])
    smaller, equal, limits = [], [], []
    for i in range(size):
        row = np.zeros(size * size)
        row[i * size : (i + 1) * size] = 1
        equal.append(row)
        limits.append(1.0)
    for i in range(size - 1):
        for j in range(size):
            row = np.zeros(size * size)
            row[(i + 1) * size + j], row[i * size + j] = ratio, -1
            smaller.append(row)
            if lemma_equalities and i < j:
                equal.append(row)
                limits.append(0.0)
    bounds = [(0.0, 0.0 if upper_triangular and i > j else 1.0) for i in range(size) for j in range(size)]
    found = linprog(
        cost,
        A_ub=np.array(smaller),
        b_ub=np.zeros(len(smaller)),
        A_eq=np.array(equal),
        b_eq=limits,
        bounds=bounds,
        method="highs",
    )
    assert found.success
    return float(found.fun)
