"""Exact inversion: a uniform number, known bit by bit, against cut points that are certified.

A distribution on 0, 1, 2, ... is its cut points `cut(k) = Pr[X < k]`. With U uniform on [0, 1), the number of
k >= 1 with `cut(k) <= U` has exactly that distribution. U is never rounded: its first 16 bits say in which
of 65,536 cells it lies, and a table holds the value for each cell that no cut point enters. In the others 48
more bits are drawn and compared with integer bounds on the cut points; where even those meet, bits are added
64 at a time and compared with balls, until the balls decide. Bits once drawn are kept. No float decides
anything.

Proof: docs/proofs/sampler.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from safeside.errors import BadNumber
from safeside.exact import Ball, Term, precision, whole
from safeside.noise.entropy import Entropy
from safeside.noise.once import once

CHUNK: Final = 1 << 17
"""Draws made at a time: few enough for the caches, enough to pay for each step's fixed cost."""
CELLS: Final = 1 << 16
UNDECIDED: Final = -1
_WORD: Final = 64
_REFINE: Final = np.uint64(_WORD - 16)
_TOP: Final = (1 << _WORD) - 1
_GUARD: Final = 64
"""Bits of precision beyond those compared, so that balls are far narrower than cells."""

Cut = Callable[[int], Ball]


class Inversion:
    """Draws from the distribution on 0..size-1 (without end where `size` is None) that has these cut points.

    `cut(k)` is Pr[X < k] as a ball at the working precision, for k >= 1. It must not decrease and, without
    end, must tend to 1.
    """

    numbers: Final = 1
    """How many 16-bit numbers a draw begins with."""

    def __init__(self, cut: Cut, size: int | None = None) -> None:
        self._cut = cut
        self._size = None if size is None else whole(size, "size", least=1)

    def draw(self, n: int, entropy: Entropy) -> NDArray[np.int64]:
        """n independent draws."""
        drawn = np.empty(whole(n, "the number of draws"), np.int64)
        for start in range(0, len(drawn), CHUNK):
            chunk = drawn[start : start + CHUNK]
            chunk[:] = self.extend(entropy.uint16(len(chunk)), entropy)
        return drawn

    def extend(self, prefixes: NDArray[np.uint16], entropy: Entropy) -> NDArray[np.int64]:
        """The value for each U that begins with these 16 bits, drawing more where needed."""
        # Every 16-bit number is an index of the table: "clip" only spares a check.
        found = self.table.take(prefixes, mode="clip")
        (undecided,) = (found == UNDECIDED).nonzero()
        # Widened: NumPy is slower at adding unlike types.
        drawn = found.astype(np.int64)
        if undecided.size:
            words = _words(prefixes[undecided], entropy)
            drawn[undecided] = self.values(words, entropy)
        return drawn

    def one(self, entropy: Entropy) -> int:
        """One draw: what `extend` does, without arrays where the table decides."""
        prefix = entropy.bits(16)
        found = self.table.item(prefix)
        if found == UNDECIDED:
            return int(self.extend(np.array([prefix], np.uint16), entropy)[0])
        return found

    def values(self, words: NDArray[np.uint64], entropy: Entropy) -> NDArray[np.int64]:
        """The value for each U that begins with these 64 bits."""
        floors, ceilings = self.bounds
        found = ceilings.searchsorted(words, side="right").astype(np.int64, copy=False)
        for i in (words >= floors[found]).nonzero()[0]:
            found[i] = self._settle(int(words[i]), entropy)
        return found

    @once
    def table(self) -> NDArray[np.signedinteger]:
        """The value of each cell [u, u+1)/2^16 that lies between two cut points."""
        floors, ceilings = self.bounds
        begin = np.arange(CELLS, dtype=np.uint64) << _REFINE
        value = np.searchsorted(ceilings, begin, side="right").astype(np.int64)
        end = begin + ((np.uint64(1) << _REFINE) - np.uint64(1))
        decided = (end < floors[value]) | (value + 1 == (self._size or 0))
        table = np.where(decided, value, UNDECIDED)
        # A small table stays in the fast caches.
        small = table.astype(np.min_scalar_type(-int(table.max()) - 2))
        small.flags.writeable = False
        return small

    @once
    def bounds(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Integers below and above 2^64 cut(k), for k = 1, 2, ... while they fit in 64 bits.

        `floors` has one entry more: the bound below the first cut point that does not fit, or, where there is
        none, the largest word; a word that reaches it is settled by balls.
        """
        floors: list[int] = []
        ceilings: list[int] = []
        with precision(_WORD + _GUARD):
            k = 1
            while self._size is None or k < self._size:
                scaled = _probability(self._cut(k)) * (1 << _WORD)
                below = _floor(scaled.lower())
                above = _floor(scaled.upper()) + 1
                floors.append(min(max(below, 0), _TOP))
                if above > _TOP:
                    break
                ceilings.append(above)
                k += 1
            else:
                floors.append(_TOP)
        # Balls of cut points that (almost) coincide may overlap: widened until they are in order.
        ordered = np.minimum.accumulate(np.array(floors[::-1], np.uint64))[::-1]
        return ordered, np.maximum.accumulate(np.array(ceilings, np.uint64))

    def _settle(self, prefix: int, entropy: Entropy) -> int:
        """The value for a U that begins with these 64 bits, drawing as many more as it takes."""
        bits = _WORD
        while True:
            prefix = (prefix << _WORD) | entropy.bits(_WORD)
            bits += _WORD
            with precision(bits + _GUARD):
                value = self._certain(prefix, 1 << bits)
            if value is not None:
                return value

    def _certain(self, prefix: int, scale: int) -> int | None:
        """The value if it is the same for every U in [prefix, prefix + 1) / scale, for certain."""
        low, high = 0, 1
        while (self._size is None or high < self._size) and self._passed(high, prefix, scale):
            low, high = high, 2 * high
        if self._size is not None:
            high = min(high, self._size)
        while high - low > 1:
            middle = (low + high) // 2
            if self._passed(middle, prefix, scale):
                low = middle
            else:
                high = middle
        # `low` was passed for certain, or is 0. It remains that the next is not, whatever bits follow.
        if high == self._size or self._cut(high) * scale >= prefix + 1:
            return low
        return None

    def _passed(self, k: int, prefix: int, scale: int) -> bool:
        return bool(self._cut(k) * scale <= prefix)


def bernoulli(p: Term, n: int, entropy: Entropy) -> NDArray[np.bool_]:
    """n independent truth values, each True with probability exactly p.

    Proof: docs/proofs/sampler.md.
    """
    coin = Inversion(lambda _: 1 - _probability(p()), 2)
    # One word each and no table: a probability is seldom used often enough to pay for one.
    words = entropy.uint16(4 * whole(n, "the number of draws")).view("<u8")
    return coin.values(words, entropy).astype(np.bool_)


def _words(prefixes: NDArray[np.uint16], entropy: Entropy) -> NDArray[np.uint64]:
    """Words that begin with these 16 bits, followed by 48 that are drawn: three numbers of every four."""
    drawn = entropy.uint16(4 * prefixes.size)
    limbs = np.empty_like(drawn)
    limbs[:-1] = drawn[1:]
    limbs[3::4] = prefixes
    return limbs.view("<u8")


def _probability(value: Ball) -> Ball:
    """The ball, unless it is certain to hold no probability."""
    if not value.is_finite() or value < 0 or value > 1:
        raise BadNumber(
            "A cut point or probability is not between 0 and 1.",
            "Give cut points Pr[X < k], and probabilities, as balls that lie in [0, 1].",
        )
    return value


def _floor(number: Ball) -> int:
    """The greatest whole number not above an exact number."""
    mantissa, exponent = (int(part) for part in number.man_exp())
    return mantissa << exponent if exponent >= 0 else mantissa >> -exponent
