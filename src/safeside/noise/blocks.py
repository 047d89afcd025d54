"""Exact geometric numbers of a small rate, drawn as a block of values and a place in it.

Where r = e^-rate is near 1, the values of a block, 2^digits in a row, are almost equally probable, and what
difference there is falls almost along a straight line. So a block is split into three parts:

flat    a uniform place: random bits as they come
linear  the smaller of two uniform places
curved  what is left, of the same shape in every block

A table of 65,536 cells gives each block as many as fit in its flat part, and a random cell decides nearly
every draw. The others, one or two in a hundred, get a block and a part by inversion, from what the table
leaves. A curved part comes up once in twenty thousand draws or less; its places have cut points too.

Proof: docs/proofs/sampler.md, section 3.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, count, takewhile
from typing import Final, NamedTuple

import numpy as np
from flint import ctx
from numpy.typing import NDArray

from safeside.exact import Ball, ball, lower, precision
from safeside.noise.entropy import Entropy
from safeside.noise.inversion import CELLS, Inversion
from safeside.noise.once import once

_PRECISION: Final = 128
_PARTS: Final = 3
_LINEAR: Final = 1
_CURVED: Final = 2


class _First(NamedTuple):
    """The first block at one precision; each later one is a constant times it."""

    rate: Ball
    last: Ball
    """The probability of its last value."""
    step: Ball
    """By how much the value before is more probable."""
    held: tuple[Ball, Ball, Ball]
    """The probability of the parts before each part."""


class Blocks:
    """Draws with Pr[k] = (1-r) r^k for k >= 0, from blocks of 2^digits values, 2 <= digits <= 16."""

    numbers: Final = 2
    """How many 16-bit numbers a draw begins with."""

    def __init__(self, rate: Fraction, digits: int) -> None:
        self._rate = rate
        self._size = 1 << digits
        self._shift = np.uint16(16 - digits)
        self.left = Inversion(self._left_below)
        """3 block + part, of what the table leaves."""
        self.curve = Inversion(self._curve_below, self._size)
        """The place in a curved part."""
        self._firsts: dict[int, _First] = {}

    def extend(self, numbers: NDArray[np.uint16], entropy: Entropy) -> NDArray[np.int64]:
        """The value for each cell (the first half of the numbers) and place (the second half)."""
        cells, places = numbers.reshape(2, -1)
        places = places >> self._shift
        (left,) = (cells >= self.decided).nonzero()
        # Like types are added, then widened: NumPy is slower at adding unlike ones.
        drawn = (self.table.take(cells, mode="clip") + places.astype(self.table.dtype)).astype(np.int64)
        if left.size:
            drawn[left] = self._left_over(places[left], entropy)
        return drawn

    def one(self, entropy: Entropy) -> int:
        """One draw: what `extend` does, without arrays where the table decides."""
        cell, place = divmod(entropy.bits(32), 1 << 16)
        if cell >= self.decided:
            return int(self.extend(np.array([cell, place], np.uint16), entropy)[0])
        return self.table.item(cell) + (place >> int(self._shift))

    def _left_over(self, places: NDArray[np.uint16], entropy: Entropy) -> NDArray[np.int64]:
        """Draws from what the table leaves, with uniform places for those in a flat part."""
        numbers = entropy.uint16(5 * places.size)
        words, others = numbers[: 4 * places.size].view("<u8"), numbers[4 * places.size :] >> self._shift
        block, part = np.divmod(self.left.values(words, entropy), _PARTS)
        np.minimum(places, others, out=places, where=part == _LINEAR)
        drawn = block * self._size
        drawn += places
        (curved,) = (part == _CURVED).nonzero()
        if curved.size:
            words = entropy.uint16(4 * curved.size).view("<u8")
            drawn[curved] = block[curved] * self._size + self.curve.values(words, entropy)
        return drawn

    @once
    def ends(self) -> list[int]:
        """The cells before each block's, and all: each has as many as fit in its flat part, for certain."""
        with precision(_PRECISION):
            flat = (self._beyond(block) * self._first().held[_LINEAR] for block in count())
            cells = takewhile(bool, (int(lower(part * CELLS)) for part in flat))
            return list(accumulate(cells, initial=0))

    @once
    def decided(self) -> int:
        """How many cells decide."""
        return self.ends[-1]

    @once
    def table(self) -> NDArray[np.signedinteger]:
        """The first value of the block that each cell belongs to."""
        cells = np.diff(self.ends)
        # A small table stays in the fast caches. Its type holds every value of its blocks.
        table = np.zeros(CELLS, np.min_scalar_type(-cells.size * self._size))
        table[: self.decided] = np.repeat(np.arange(cells.size) * self._size, cells)
        table.flags.writeable = False
        return table

    def _left_below(self, k: int) -> Ball:
        """Pr[3 block + part < k] of what the table leaves."""
        block, part = divmod(k, _PARTS)
        cells = self.ends[min(block + (part > 0), len(self.ends) - 1)]
        below = 1 - self._beyond(block) * (1 - self._first().held[part])
        return (below * CELLS - cells) / (CELLS - self.decided)

    def _curve_below(self, k: int) -> Ball:
        """Pr[place < k] of a curved part."""
        return self._above_line(k) / self._above_line(self._size)

    def _above_line(self, k: int) -> Ball:
        """What the first k values of the first block have above the line through its last two."""
        rate, last, step, _ = self._first()
        return -(rate * -k).expm1() - k * last - k * (2 * self._size - 1 - k) // 2 * step

    def _beyond(self, block: int) -> Ball:
        """The probability of this block and all later ones."""
        return (self._first().rate * -(self._size * block)).exp()

    def _first(self) -> _First:
        """Computed once for each precision."""
        if ctx.prec not in self._firsts:
            rate, size = ball(self._rate), self._size
            last = (-rate * (size - 1)).exp() * -(-rate).expm1()
            step = last * rate.expm1()
            linear = step * (size * size // 2)
            flat = (last - step / 2) * size
            self._firsts[ctx.prec] = _First(rate, last, step, (ball(0), flat, flat + linear))
        return self._firsts[ctx.prec]
