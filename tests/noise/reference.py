"""Cut points of the geometric distribution by other means than the sampler's; entropy that is written down.

The sampler works with balls; this works with the standard library's decimals, whose exp and ln are rounded
correctly, at far more digits than any comparison here needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import ROUND_FLOOR, Decimal, getcontext, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

MANY, SOME = 400, 60


@contextmanager
def many_digits(digits: int = MANY) -> Iterator[None]:
    with localcontext() as context:
        context.prec = digits
        context.Emin = -(10**6)
        yield


def decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def floor(number: Decimal) -> int:
    """The whole part, refusing a number too near a whole one for its digits to tell."""
    close = Decimal(10) ** -(getcontext().prec * 2 // 5)
    assert number == 0 or abs(number - number.to_integral_value()) > close
    return int(number.to_integral_value(rounding=ROUND_FLOOR))


def cut(rate: Fraction, k: int, size: int | None = None) -> Decimal:
    """Pr[X < k] of the geometric with r = e^-rate, or of the same truncated to 0..size-1."""
    below = 1 - (-decimal(rate) * k).exp()
    return below if size is None else below / (1 - (-decimal(rate) * size).exp())


def scaled_cuts(rate: Fraction, bits: int, size: int | None = None) -> Iterator[int]:
    """floor(2^bits cut(k)) for k = 1, 2, ... up to the first cut point in the last of the 2^bits cells."""
    with many_digits(SOME):
        for k in range(1, size or 10**9):
            scaled = floor(cut(rate, k, size) * 2**bits)
            yield scaled
            if scaled == 2**bits - 1:
                return


def inverted(rate: Fraction, uniform: Fraction) -> int:
    """How many cut points of the geometric lie at or below U: floor(-ln(1 - U) / rate)."""
    with many_digits():
        return floor(-(1 - decimal(uniform)).ln() / decimal(rate))


class Script:
    """Entropy for one draw: the given bits, first to last; it fails if asked for more."""

    simulated = True

    def __init__(self, bits: int, length: int) -> None:
        self._bits = bits
        self._left = length

    def bits(self, n: int) -> int:
        assert n <= self._left, "more bits were drawn than the script holds"
        self._left -= n
        return (self._bits >> self._left) & ((1 << n) - 1)

    def uint16(self, n: int) -> NDArray[np.uint16]:
        if n == 1:
            return np.array([self.bits(16)], np.uint16)
        # The extension of one draw: four numbers read as one word, of which the upper 48 bits are used.
        assert n == 4
        word = self.bits(48) << 16
        return np.frombuffer(word.to_bytes(8, "little"), "<u2").copy()


class Numbers:
    """Entropy that is these 16-bit numbers, in order; it fails if asked for more."""

    simulated = True

    def __init__(self, *numbers: int) -> None:
        self._numbers = list(numbers)

    def bits(self, n: int) -> int:
        high_first = self.uint16(n // 16).astype(">u2").tobytes()
        return int.from_bytes(high_first, "big")

    def uint16(self, n: int) -> NDArray[np.uint16]:
        assert n <= len(self._numbers), "more numbers were drawn than there are"
        taken, self._numbers = self._numbers[:n], self._numbers[n:]
        return np.array(taken, np.uint16)

    @property
    def used(self) -> bool:
        return not self._numbers


class Same:
    """Entropy whose every bit is the same."""

    simulated = True

    def __init__(self, bit: int) -> None:
        self._bit = bit

    def bits(self, n: int) -> int:
        return self._bit * ((1 << n) - 1)

    def uint16(self, n: int) -> NDArray[np.uint16]:
        return np.full(n, self.bits(16), np.uint16)


class Sealed:
    """Entropy that must not be touched."""

    simulated = True

    def bits(self, n: int) -> int:
        raise AssertionError(f"{n} bits were drawn")

    def uint16(self, n: int) -> NDArray[np.uint16]:
        raise AssertionError(f"{n} numbers were drawn")


def words(values: Sequence[int]) -> NDArray[np.uint64]:
    return np.array(values, np.uint64)
