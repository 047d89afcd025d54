"""Exact geometric noise: one-sided, two-sided and truncated.

With r = e^-rate: `geometric` has Pr[k] = (1-r) r^k for k >= 0, `two_sided_geometric` has
Pr[k] = (1-r)/(1+r) r^|k|, `truncated_geometric` has Pr[k] proportional to r^k on 0..size-1.

Where the rate is small one table for all values would leave too much undecided, so the table is one of
blocks of values, and a place in a block is drawn beside it. Tables are built once for each rate.

Proof: docs/proofs/sampler.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from safeside.errors import BadCounts, BadNumber
from safeside.exact import Ball, Number, ball, fraction, show, whole
from safeside.noise.blocks import Blocks
from safeside.noise.entropy import Entropy
from safeside.noise.inversion import CHUNK, Inversion

LEAST_RATE: Final = Fraction(1, 10**6)
MOST_RATE: Final = Fraction(50)
LARGEST: Final = 1 << 62
"""The largest count, either way from zero, that noise is added to: half of what 64 bits hold."""
_ONE_TABLE: Final = Fraction(1, 150)
"""The least rate at which values have a table of their own."""
_ONE_BLOCK: Final = Fraction(1, 100)
"""The least rate of blocks: longer ones are less uniform, shorter ones take more of the table (measured)."""
_LARGEST_TABLE: Final = 4096
"""The most cut points for which a truncated geometric has its own table."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Noise:
    """Whole numbers drawn as a sum of independent parts, each added or subtracted.

    Immutable, so one may be shared and cached. `modulus`, where given, reduces the sum.
    """

    parts: tuple[tuple[int, Inversion | Blocks], ...]
    modulus: int | None = None

    def draw(self, n: int, entropy: Entropy) -> NDArray[np.int64]:
        """n independent draws."""
        drawn = np.zeros(whole(n, "the number of draws"), np.int64)
        self._fill(drawn, drawn, entropy, 1)
        if self.modulus is not None:
            np.remainder(drawn, self.modulus, out=drawn)
        return drawn

    def add_to(self, counts: NDArray[np.int64], entropy: Entropy, sign: int = 1) -> NDArray[np.int64]:
        """A new array: the counts plus (sign 1) or minus (sign -1) one independent draw each."""
        # A 1.0 would turn large counts into floats, which lose their last digits.
        if type(sign) is not int or sign not in (1, -1):
            raise BadNumber(
                "The sign of the noise is neither 1 nor -1.", "Give sign as 1 to add, -1 to subtract."
            )
        flat = _checked(counts).reshape(-1)
        if self.modulus is not None:
            noisy = flat + sign * self.draw(flat.size, entropy)
        else:
            noisy = np.empty_like(flat)
            self._fill(flat, noisy, entropy, sign)
        return noisy.reshape(counts.shape)

    def _fill(
        self, source: NDArray[np.int64], target: NDArray[np.int64], entropy: Entropy, sign: int
    ) -> None:
        """A chunk at a time, all parts of a chunk while it is in cache; a single draw without arrays."""
        if len(source) == 1:
            drawn = sum(part_sign * part.one(entropy) for part_sign, part in self.parts)
            target[0] = source.item() + sign * drawn
            return
        numbers = sum(part.numbers for _, part in self.parts)
        size = CHUNK // numbers
        for start in range(0, len(source), size):
            chunk, out = source[start : start + size], target[start : start + size]
            bits = entropy.uint16(len(out) * numbers)
            for part_sign, part in self.parts:
                taken = len(out) * part.numbers
                own, bits = bits[:taken], bits[taken:]
                accumulate = np.add if sign == part_sign else np.subtract
                accumulate(chunk, part.extend(own, entropy), out=out)
                chunk = out


def geometric(rate: Number) -> Noise:
    """Draws with Pr[k] = (1-r) r^k for k >= 0, r = e^-rate; never negative."""
    return _geometric(require_rate(rate))


def two_sided_geometric(rate: Number) -> Noise:
    """Draws with Pr[k] = (1-r)/(1+r) r^|k| for every whole k: the difference of two one-sided ones."""
    parts = geometric(rate).parts
    return Noise(parts=parts + tuple((-sign, part) for sign, part in parts))


def truncated_geometric(rate: Number, size: int) -> Noise:
    """Draws with Pr[k] proportional to r^k on 0..size-1, r = e^-rate."""
    return _truncated(require_rate(rate), whole(size, "size", least=1))


@lru_cache(maxsize=32)
def _geometric(rate: Fraction) -> Noise:
    if rate >= _ONE_TABLE:
        return Noise(parts=((1, Inversion(lambda k: _tail(rate, k))),))
    digits = 2
    while rate * 2**digits < _ONE_BLOCK:
        digits += 1
    return Noise(parts=((1, Blocks(rate, digits)),))


@lru_cache(maxsize=32)
def _truncated(rate: Fraction, size: int) -> Noise:
    if size <= _LARGEST_TABLE:
        return Noise(parts=((1, Inversion(lambda k: _tail(rate, k) / _tail(rate, size), size)),))
    if size > LARGEST:
        raise BadNumber("size is above 2^62.", "Give size as at most 2^62, or leave the noise untruncated.")
    return Noise(parts=_geometric(rate).parts, modulus=size)


def _tail(rate: Fraction, k: int) -> Ball:
    """1 - e^(-rate k), without loss where that is near 0."""
    return -(ball(-rate) * k).expm1()


def require_rate(value: Number) -> Fraction:
    """The rate, exactly, if it is one that noise can be drawn at."""
    rate = fraction(value, "the rate epsilon/sensitivity")
    if rate < LEAST_RATE:
        raise BadNumber(
            f"The rate epsilon/sensitivity is {show(rate)}.",
            "Give at least 0.000001: raise epsilon, or ask for less at once to lower the sensitivity.",
        )
    if rate > MOST_RATE:
        raise BadNumber(
            f"The rate epsilon/sensitivity is {show(rate)}.",
            "Give at most 50: lower epsilon; beyond that hardly any noise is left to protect anyone.",
        )
    return rate


def ordinary(numbers: NDArray[np.integer]) -> bool:
    """Whether all are at least 0 and below 2^62: one pass, over the bits that any of them has."""
    bits = numbers.item() if numbers.size == 1 else int(np.bitwise_or.reduce(numbers, axis=None))
    return 0 <= bits < LARGEST


def _checked(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The counts, if adding noise to them cannot go wrong. Decided before anything is drawn."""
    if type(counts) is not np.ndarray or counts.dtype != np.int64:
        raise BadCounts(
            "The counts are not a NumPy array of 64-bit whole numbers.",
            "Count with whole numbers and give them as an array of dtype int64.",
        )
    if not ordinary(counts) and (counts.max() > LARGEST or counts.min() < -LARGEST):
        raise BadCounts(
            "A count is beyond 2^62, so that noise might carry it out of 64 bits.",
            "Check how the counts were made: there are not so many people.",
        )
    return counts
