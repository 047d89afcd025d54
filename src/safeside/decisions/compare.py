"""Which way of answering certifies most, on a public forecast; decided before any data are read.

Expected counts are public (a list of places with `expected`, or popularity with a declared total). True
counts scatter around them as Poisson numbers do, taken here at evenly spread quantiles: the same every time,
and no random draw that somebody could repeat until it pleases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeside import exact
from safeside.exact import Number
from safeside.mechanisms import SAGeo, Selection, plan_selection
from safeside.mechanisms.counts import thresholds_for

Whole = NDArray[np.int64]
Floats = NDArray[np.float64]
_GOLDEN: Final = (math.sqrt(5) - 1) / 2
_MOST_COUNT: Final = 1 << 40
_MOST_IN_TURN: Final = 50_000


class Way(StrEnum):
    """A way of answering, by its public name."""

    COUNTS = "counts"
    SPARSE = "sparse"
    SELECTION = "selection"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How many conditions each way is expected to certify, and what no way can exceed."""

    conditions: int
    expected: dict[Way, float]
    limit: float

    def share(self, way: Way) -> float:
        """What this way certifies, as a share of what none can exceed."""
        return self.expected[way] / self.limit if self.limit else 0.0

    @property
    def best(self) -> Way:
        """The one that certifies most; of equals the one that tells most."""
        return max(self.expected, key=lambda way: (self.expected[way], -list(Way).index(way)))


def compare(
    expected: ArrayLike,
    at_most: ArrayLike,
    epsilon: Number,
    *,
    scores: Whole,
    most_conditions: int | None = None,
    alarms: int = 1,
    off_by: float = 0.0,
) -> Comparison:
    """Compare on expected counts; `scores` is the forecast the plan and the order are made from.

    `most_conditions` is how many conditions one person can satisfy, where a rule says so: without one there
    is no noisy count of every condition. `off_by` moves expectations by a lognormal factor of this deviation,
    to see what a forecast that is wrong by that much costs.
    """
    budget = exact.epsilon(epsilon)
    counts = scattered(expected, off_by)
    limits = thresholds_for(counts.size, at_most)
    found: dict[Way, float] = {}
    if most_conditions is not None:
        found[Way.COUNTS] = certified_by_counts(counts, limits, budget / most_conditions)
    # Quietest first; an expected alarm ends it long before so many.
    order = np.argsort(scores, kind="stable")[:_MOST_IN_TURN]
    sparse = SAGeo(epsilon_each=budget / alarms, alarms=alarms)
    asked = sparse.reached(counts[order], limits[order])
    found[Way.SPARSE] = float((asked * _chances(counts[order], limits[order], budget / alarms)).sum())
    plan = plan_selection(scores, int(limits.min()), budget)
    found[Way.SELECTION] = float(Selection(epsilon=budget, plan=plan).moments(counts, limits)[0])
    return Comparison(
        conditions=counts.size, expected=found, limit=certified_by_counts(counts, limits, budget)
    )


def certified_by_counts(counts: Whole, limits: Whole, rate: Fraction) -> float:
    """What noisy counts at this rate certify: the sum of 1 - e^(-rate k). At epsilon, none exceeds it."""
    return float(_chances(counts, limits, rate).sum())


def _chances(counts: Whole, limits: Whole, rate: Fraction) -> Floats:
    chances: Floats = -np.expm1(-float(rate) * np.maximum(0, limits + 1 - counts))
    return chances


def scattered(expected: ArrayLike, off_by: float = 0.0) -> Whole:
    """A whole number for each expectation, as far from it as Poisson numbers are, the same every time."""
    means = np.asarray(expected, dtype=np.float64)
    places = np.arange(1, means.size + 1, dtype=np.float64)
    if off_by:
        means = means * np.exp(off_by * _normal((places * math.sqrt(2)) % 1.0))
    return np.minimum(_poisson((places * _GOLDEN) % 1.0, means), _MOST_COUNT).astype(np.int64)


def _poisson(shares: Floats, means: Floats) -> Floats:
    """The smallest number whose distribution function reaches the share; near-normal where many are meant."""
    found = np.zeros(means.size)
    large = means > 50
    found[large] = np.maximum(0, np.rint(means[large] + np.sqrt(means[large]) * _normal(shares[large])))
    small = ~large
    mean, share = means[small], shares[small]
    term = np.exp(-mean)
    total, count = term.copy(), np.zeros(mean.size)
    for number in range(1, 200):
        short = total < share
        if not short.any():
            break
        term = term * mean / number
        total = total + term
        count[short] = number
    found[small] = count
    return found


def _normal(shares: Floats) -> Floats:
    """Quantiles of the normal distribution."""
    quantile = NormalDist().inv_cdf
    return np.array([quantile(share) for share in np.clip(shares, 1e-9, 1 - 1e-9).tolist()])
