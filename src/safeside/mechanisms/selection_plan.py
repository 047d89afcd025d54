"""The public plan of a selection: what is tested first, and how the ladder may leave conditions out.

Everything follows from whole numbers that are public before the data are read (a score for each condition,
larger where more visitors are expected; the thresholds; epsilon), and no float decides, so that a verifier
computes the same plan. A plan never affects what is true or what is promised, only how much is certified.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeside import exact
from safeside.errors import BadNumber
from safeside.exact import Number, ball
from safeside.mechanisms.ladder import Component

MOST_SCORE: Final = 1 << 62
_STEEPNESS: Final = (2, 4)
"""How fast the exponent grows as the score falls: one component each."""
_HALVINGS: Final = 24
"""The most often a condition's chance of being left out is halved."""
_SIZES: Final = 14
"""How many places in the order the exponents begin to grow at."""
_BLOCKS: Final = 5
"""The quietest fifth and the second are tested first, each as one block."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SelectionPlan:
    """An order of the conditions, quietest first; the ends of the blocks; components for the rest."""

    order: NDArray[np.int64]
    blocks: tuple[int, ...]
    """The rank at which each block ends; the first begins at 0, each other where the one before it ends."""
    components: tuple[Component, ...]
    """Over the ranks behind the last block, counted from there."""

    @property
    def tested(self) -> int:
        """How many conditions stand in blocks."""
        return self.blocks[-1] if self.blocks else 0


def plan_selection(scores: ArrayLike, at_most: int, epsilon: Number) -> SelectionPlan:
    """The plan for conditions with these scores; `at_most` is the smallest threshold among them."""
    expected = _scores(scores)
    order = np.argsort(expected, kind="stable").astype(np.int64)
    ranked = expected[order]
    size = ranked.size
    steepness = math.floor(Fraction(10, 3) * exact.epsilon(epsilon) * (exact.whole(at_most, "at_most") + 1))
    blocks: tuple[int, ...] = ()
    cuts = _by_prefix(size)
    if ranked[0] != ranked[-1]:
        blocks = tuple(end for end in (size // _BLOCKS, 2 * size // _BLOCKS) if end)
        cuts = _by_score(ranked, blocks[-1] if blocks else 0)
    tested = blocks[-1] if blocks else 0
    components = []
    for some in cuts:
        share = (tested + Component(cuts=some).kept(size - tested)) / size
        if share:
            components.append(Component(cuts=some, halvings=_whole_log2(1 / share, steepness)))
    return SelectionPlan(order=order, blocks=blocks, components=tuple(components))


def _scores(scores: ArrayLike) -> NDArray[np.int64]:
    values = np.asarray(scores)
    if values.ndim != 1 or values.dtype.kind not in "iu" or values.size == 0:
        raise BadNumber(
            "The scores of a forecast are not a list of whole numbers.",
            "Give one whole number for each condition, larger where more people are expected.",
        )
    if int(values.min()) < 0 or int(values.max()) > MOST_SCORE:
        raise BadNumber("A score of a forecast is negative or above 2^62.", "Give scores from 0 to 2^62.")
    return values.astype(np.int64)


def _by_score(ranked: NDArray[np.int64], tested: int) -> Iterator[tuple[int, ...]]:
    """Exponents that grow as the score falls below that of a rank counted from the top.

    A condition with this score has the largest exponent s with score^g 2^s <= theta^g.
    """
    rest, size = ranked[tested:], ranked.size
    for k in range(1, _SIZES + 1):
        theta = int(ranked[size - max(1, math.isqrt(size * size >> k))])
        for power in _STEEPNESS:
            limits = [_root(theta**power >> halvings, power) for halvings in range(1, _HALVINGS + 1)]
            yield tuple(int(one) for one in np.searchsorted(rest, np.array(limits, np.int64), side="right"))


def _by_prefix(size: int) -> Iterator[tuple[int, ...]]:
    """Where nothing is known: the first 1, 2, 4, ... of the list as it stands, and no others."""
    for k in range(size.bit_length()):
        yield (1 << k,) * _HALVINGS


def _root(number: int, power: int) -> int:
    """The largest whole number whose `power` (2 or 4) is at most this."""
    return math.isqrt(number) if power == _STEEPNESS[0] else math.isqrt(math.isqrt(number))


def _whole_log2(ratio: Fraction, times: int) -> int:
    """The whole part of log2(ratio^times), for a ratio of at least 1."""
    if ratio.denominator == 1 and ratio.numerator & (ratio.numerator - 1) == 0:
        return times * (ratio.numerator.bit_length() - 1)
    # Not a power of two, so the logarithm is irrational, and some precision decides.
    return -exact.ceiling(lambda: -(times * ball(ratio).log() / ball(2).log())) if times else 0
