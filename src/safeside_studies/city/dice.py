"""Random whole numbers that are the same on every machine.

Only the raw output of the bit generator is used, whose stream is fixed for good, and only whole-number
arithmetic after it: a distribution of NumPy's may change between versions, and the last bit of a logarithm
between machines. These numbers make a city, never noise.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
_HIGH: Final = np.uint64(32)


class Dice:
    """One stream for each (seed, path); streams of different paths are independent."""

    def __init__(self, seed: int, *path: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=path))

    def below(self, bound: int | Whole, size: int) -> Whole:
        """Whole numbers from 0 to bound - 1 (bound below 2^32)."""
        high = self._bits.random_raw(size) >> _HIGH
        scaled: Whole = ((high * np.asarray(bound).astype(np.uint64)) >> _HIGH).astype(np.int64)
        return scaled

    def around(self, spread: int | Whole, size: int) -> Whole:
        """Whole numbers between -spread and spread, the middle more often than the ends."""
        return self.below(spread + 1, size) - self.below(spread + 1, size)

    def chance(self, per_mille: int | Whole, size: int) -> NDArray[np.bool_]:
        """True so many times in a thousand."""
        return self.below(1000, size) < per_mille

    def weighted(self, cumulative: Whole, size: int) -> Whole:
        """Positions chosen in proportion to the weights whose running sum is given."""
        drawn = self.below(int(cumulative[-1]), size)
        return np.searchsorted(cumulative, drawn, side="right").astype(np.int64)

    def shuffled(self, size: int) -> Whole:
        """The numbers 0 to size - 1 in random order."""
        return np.argsort(self._bits.random_raw(size), kind="stable").astype(np.int64)
