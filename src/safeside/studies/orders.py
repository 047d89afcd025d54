"""How many answers a sparse mechanism gives before its first alarm: exact, for a fixed and a random order.

Answer i is an alarm with probability `alarm[i]`, independently; the work stops at the first one.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Probabilities = NDArray[np.float64]
_HORIZON: Final = 400


def alarm_by_popularity(alarm: Probabilities, popularity: Probabilities) -> Probabilities:
    """The alarms in the order of public popularity, the least popular first."""
    return alarm[np.argsort(popularity, kind="stable")]


def fixed_order(alarm: Probabilities) -> Probabilities:
    """P(at least k right answers) for k = 0 to the number of questions, asked as they stand."""
    return np.concatenate([[1.0], np.cumprod(1.0 - alarm)])


def random_order(alarm: Probabilities, horizon: int = _HORIZON) -> Probabilities:
    """P(at least k right answers) for k = 0 to `horizon`, over all orders equally likely.

    The first k questions are a random set of k, so this is the mean, over sets of k, of the product of
    `1 - alarm`. With one more question, a set of k holds it in k of j cases: all terms are positive, so the
    recursion loses nothing.
    """
    horizon = min(horizon, len(alarm))
    size = np.arange(horizon + 1)
    mean = np.zeros(horizon + 1)
    mean[0] = 1.0
    for asked, calm in enumerate(1.0 - alarm, 1):
        share = np.minimum(size / asked, 1.0)
        mean[1:] = (1.0 - share[1:]) * mean[1:] + share[1:] * calm * mean[:-1]
    return mean


def expected(survival: Probabilities) -> float:
    """The mean number of right answers."""
    return float(survival[1:].sum())
