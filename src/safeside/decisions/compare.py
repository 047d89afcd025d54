"""Which way of answering certifies most, on a public forecast; decided before any data are read.

Expected counts are public (a list of places with `expected`, or popularity with a declared total). True
counts scatter around them as Poisson numbers do, taken here at evenly spread quantiles: the same every time,
and no random draw that somebody could repeat until it pleases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeside import exact
from safeside.exact import Number
from safeside.mechanisms.counts import thresholds_for

Whole = NDArray[np.int64]
Floats = NDArray[np.float64]
_GOLDEN: Final = (math.sqrt(5) - 1) / 2
_MOST_COUNT: Final = 1 << 40


@dataclass(frozen=True, kw_only=True, eq=False)
class Outlook:
    """What is asked of every condition, and its count as it may well be: from public knowledge alone."""

    counts: Whole
    limits: Whole
    epsilon: Fraction
    scores: Whole
    """The forecast that a plan, or an order, is made from."""
    most_conditions: int | None = None
    """How many conditions one person can satisfy, where a rule says so."""

    @classmethod
    def of(
        cls,
        expected: ArrayLike,
        at_most: ArrayLike,
        epsilon: Number,
        *,
        scores: Whole,
        most_conditions: int | None = None,
        off_by: float = 0.0,
    ) -> Outlook:
        """On expected counts; `off_by` moves them by a lognormal factor of this deviation, to see what a
        forecast that is wrong by that much costs.
        """
        counts = scattered(expected, off_by)
        return cls(
            counts=counts,
            limits=thresholds_for(counts.size, at_most),
            epsilon=exact.epsilon(epsilon),
            scores=scores,
            most_conditions=most_conditions,
        )


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How many conditions each way is expected to certify, by its name, and what no way can exceed."""

    conditions: int
    expected: dict[str, float]
    """The way that tells most comes first."""
    limit: float

    def share(self, way: str) -> float:
        """What this way certifies, as a share of what none can exceed."""
        return self.expected[way] / self.limit if self.limit else 0.0

    @property
    def best(self) -> str:
        """The one that certifies most; of equals the one that tells most."""
        return max(self.expected, key=self.expected.__getitem__)


def certified_by_counts(counts: Whole, limits: Whole, rate: Fraction) -> float:
    """What noisy counts at this rate certify: the sum of 1 - e^(-rate k). At epsilon, none exceeds it."""
    return float(chances(counts, limits, rate).sum())


def chances(counts: Whole, limits: Whole, rate: Fraction) -> Floats:
    """The chance that a noisy count at this rate is within the limit, for each condition."""
    within: Floats = -np.expm1(-float(rate) * np.maximum(0, limits + 1 - counts))
    return within


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
