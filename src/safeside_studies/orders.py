"""How many answers a sparse mechanism gives before its first alarm: exact, for a fixed and a random order.

Answer i is an alarm with probability `alarm[i]`, independently; the work stops at the first one.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

Probabilities = NDArray[np.float64]
_HORIZON: Final = 400
_POINTS: Final = 24
"""Points in each interval: enough for a peak a twelfth as wide, which 400 places in a row make."""
_LAST: Final = 6
"""The integral ends at time 2^6: nothing is left there that was not asked long before."""
_NOTHING: Final = -1e6
"""A logarithm so small that its power of e is 0."""


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


def with_replacement(alarm: Probabilities, horizon: int = _HORIZON) -> Probabilities:
    """P(at least k places asked) for k = 0 to `horizon`, each question drawn from all places alike.

    This is how the paper's released code asks: a place may come again, with fresh noise, and counts once; the
    place with the alarm, where the work stops, counts too. Let each place be asked at the ticks of a clock of
    its own, one a unit of time (Poisson): the order of the questions is the same, and the places have nothing
    to do with each other. At time s a place was not asked with probability e^-s, and asked without an alarm
    with e^(-alarm s) - e^-s. While k - 1 places were asked without an alarm, a k-th comes at rate d - k + 1,
    so P(at least k) is that rate times the time expected there, an integral over s.
    """
    horizon = min(horizon, len(alarm))
    moments, weights = _moments(len(alarm))
    asked = np.zeros((horizon, len(moments)))
    asked[0] = 1.0
    for chance, places in zip(*np.unique(alarm, return_counts=True), strict=True):
        alike = _asked_of(int(places), float(chance), moments, horizon)
        before, asked = asked, np.zeros_like(asked)
        for number, share in enumerate(alike):
            asked[number:] += share * before[: horizon - number]
    left = len(alarm) - np.arange(horizon)
    return np.concatenate([[1.0], left * (asked @ weights)])


def _asked_of(places: int, chance: float, moments: Probabilities, horizon: int) -> Probabilities:
    """P(0, 1, ... of so many like places were asked, none with an alarm), a column for each moment."""
    number = np.arange(min(places + 1, horizon))
    ways = np.concatenate([[0.0], np.cumsum(np.log((places - number[:-1]) / (number[:-1] + 1.0)))])
    with np.errstate(divide="ignore"):
        # The logarithm of e^(-chance s) - e^-s; where every question is an alarm, of next to nothing.
        quiet = np.maximum(np.log(-np.expm1((chance - 1.0) * moments)) - chance * moments, _NOTHING)
    return np.exp(ways[:, None] - (places - number)[:, None] * moments + number[:, None] * quiet)


def _moments(places: int) -> tuple[Probabilities, Probabilities]:
    """Points and weights of an integral over time, in intervals that double from a fraction of 1/places."""
    points, weights = np.polynomial.legendre.leggauss(_POINTS)
    ends = np.concatenate([[0.0], 2.0 ** np.arange(-math.ceil(math.log2(places)) - 1, _LAST + 1)])
    half = np.diff(ends) / 2
    return ((points + 1) * half[:, None] + ends[:-1, None]).ravel(), (weights * half[:, None]).ravel()


def expected(survival: Probabilities) -> float:
    """The mean number of right answers."""
    return float(survival[1:].sum())
