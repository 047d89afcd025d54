"""The gate every exact value passes before noise on a grid, and its way into whole steps of that grid.

Values that are whole numbers of one unit, as sums of cents are, are rounded many at a time in 64-bit
integers; where those could overflow, one by one as fractions. Both are exact and give the same steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from safeside import exact
from safeside.errors import BadCounts
from safeside.mechanisms.counts import MOST_PEOPLE
from safeside.mechanisms.laws import Integers
from safeside.noise.geometric import ordinary

Values = Sequence[int | Fraction | Decimal] | NDArray[np.signedinteger]
Rounding = Literal["up", "down", "nearest"]
Whole = TypeVar("Whole", int, Integers)
_MOST: Final = 1 << 60
"""Numbers up to this can be doubled and added up without leaving 64 bits."""
_MOST_DIGITS: Final = 18
"""A decimal with more digits before or after the point would not fit 64 bits."""


@dataclass(frozen=True, slots=True)
class Fractions:
    """Any exact values, handled one by one."""

    values: Sequence[Fraction]

    def in_steps(self, step: Fraction, rounding: Rounding) -> Integers:
        """Each value in steps, rounded."""
        steps = [rounded(one / step, rounding) for one in self.values]
        if max(steps) > MOST_PEOPLE or min(steps) < -MOST_PEOPLE:
            raise _too_many_steps()
        return np.array(steps, dtype=np.int64)

    def multiples_of(self, unit: Fraction) -> bool:
        """Whether every value is a whole number of units."""
        return all((one / unit).denominator == 1 for one in self.values)


@dataclass(frozen=True, slots=True)
class Wholes:
    """Whole numbers of 1/denominator, handled together."""

    numbers: Integers
    denominator: int

    def in_steps(self, step: Fraction, rounding: Rounding) -> Integers:
        """Each value in steps, rounded."""
        quotient = self._over(step)
        if quotient is None:
            return self._one_by_one().in_steps(step, rounding)
        steps = _divided(*quotient, rounding)
        if not ordinary(steps) and (steps.max() > MOST_PEOPLE or steps.min() < -MOST_PEOPLE):
            raise _too_many_steps()
        return steps

    def multiples_of(self, unit: Fraction) -> bool:
        """Whether every value is a whole number of units."""
        quotient = self._over(unit)
        if quotient is None:
            return self._one_by_one().multiples_of(unit)
        numbers, divisor = quotient
        return divisor == 1 or not (numbers % divisor).any()

    def _over(self, unit: Fraction) -> tuple[Integers, int] | None:
        """Whole numbers and a divisor that give values / unit, or None where 64 bits may not hold them."""
        factor = 1 / (self.denominator * unit)
        if _farthest(self.numbers) * factor.numerator > _MOST or factor.denominator > _MOST:
            return None
        numbers = self.numbers if factor.numerator == 1 else self.numbers * factor.numerator
        return numbers, factor.denominator

    def _one_by_one(self) -> Fractions:
        return Fractions([Fraction(number, self.denominator) for number in self.numbers.tolist()])


def rounded(steps: Fraction, rounding: Rounding) -> int:
    """A whole number of steps; a half goes up where the nearest is wanted."""
    return _divided(steps.numerator, steps.denominator, rounding)


def _divided(numbers: Whole, divisor: int, rounding: Rounding) -> Whole:
    """The same of numbers / divisor, one or many: Python's integer division goes down, as NumPy's does."""
    if divisor == 1:
        return numbers
    match rounding:
        case "up":
            return -(-numbers // divisor)
        case "down":
            return numbers // divisor
        case "nearest":
            return (2 * numbers + divisor) // (2 * divisor)


def exact_values(values: Values) -> Wholes | Fractions:
    """The values, exactly. Floats are refused: what they are the sum of is already lost."""
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise BadCounts(
            f"The values have {values.ndim} dimensions.", "Give one list of values, one for each question."
        )
    # A masked array is an array too, and some of it may be missing: it is looked at one by one.
    if type(values) is np.ndarray and values.size and values.dtype.kind in "iu" and _in_int64(values):
        return Wholes(values.astype(np.int64, copy=False), 1)
    found = list(values.tolist() if isinstance(values, np.ndarray) else values)
    if not found:
        raise BadCounts("There are no values.", "Give at least one value.")
    return _together(found) or Fractions([_exactly(one) for one in found])


def _together(found: list[int | Fraction | Decimal]) -> Wholes | None:
    """The values over one denominator, or None where 64 bits do not hold them or one is not exact."""
    # By type, not by isinstance: a truth value is an int as well.
    kinds = set(map(type, found))
    if not kinds <= {int, Fraction, Decimal} or (Decimal in kinds and not all(map(_short, found))):
        return None
    try:
        if kinds == {int}:
            return Wholes(np.array(found, dtype=np.int64), 1)
        above, below = np.array([one.as_integer_ratio() for one in found], dtype=np.int64).T
    except OverflowError:
        return None
    denominator = 1
    for one in np.unique(below).tolist():
        denominator = math.lcm(denominator, one)
        if denominator > _MOST:
            return None
    if denominator * _farthest(above) > _MOST:
        return None
    return Wholes(above * (denominator // below), denominator)


def _short(value: int | Fraction | Decimal) -> bool:
    """Whether a decimal is a number and not too long to be written out; anything else is."""
    if not isinstance(value, Decimal):
        return True
    exponent = value.as_tuple().exponent
    return isinstance(exponent, int) and exponent >= -_MOST_DIGITS and value.adjusted() <= _MOST_DIGITS


def _farthest(numbers: Integers) -> int:
    """The largest distance from zero."""
    return max(int(numbers.max()), -int(numbers.min()))


def _in_int64(numbers: NDArray[np.integer]) -> bool:
    return numbers.dtype.kind == "i" or ordinary(numbers)


def _exactly(value: int | Fraction | Decimal) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | np.integer | Fraction | Decimal):
        raise BadCounts(
            "A value is not exact: floats, blanks, text and truth values are refused.",
            "Give ints, Fractions or Decimals, for instance by adding up cents instead of euros.",
        )
    return exact.fraction(value, "a value")


def _too_many_steps() -> BadCounts:
    return BadCounts(
        "A value is more than 2^62 steps of the grid, where noise could overflow a 64-bit integer.",
        "Use a coarser grid.",
    )
