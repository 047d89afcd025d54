"""Shares of a public size: thresholds rounded to the safe side, bounds shown to the safe side. All exact."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from safeside.errors import BadQuestion

Whole = NDArray[np.int64]
_PERCENT: Final = re.compile(r"\s*(?P<number>[0-9]{1,3}(?:\.[0-9]{1,9})?)\s*%\s*")
_TENTHS: Final = 1_000
"""Shares are shown to a tenth of a per cent."""


def parse_share(text: str) -> Fraction:
    """A share that is written in per cent, such as 5% or 2.5 %.

    Example
        >>> from safeside.groups.shares import parse_share
        >>> parse_share("2.5%")
        Fraction(1, 40)
    """
    found = _PERCENT.fullmatch(text)
    share = Fraction(found["number"]) / 100 if found else Fraction(-1)
    if not 0 <= share < 1:
        raise BadQuestion(
            "The share asked about is not written in per cent, from 0 to below 100.",
            'Write `at_most="5%"`, or a whole number of people.',
        )
    return share


def limits(sizes: Whole, share: Fraction) -> Whole:
    """The most people of each group that are no more than the share of it: rounded down, the safe side.

    Example
        >>> from fractions import Fraction
        >>> from safeside.groups.shares import limits
        >>> limits([310, 19, 20], Fraction(5, 100)).tolist()
        [15, 0, 1]
    """
    return np.array([int(size) * share.numerator // share.denominator for size in sizes], dtype=np.int64)


def of_sizes(sizes: Whole, share: Fraction) -> Whole:
    """How many people such a share of each group is, rounded up: no fewer than it."""
    return np.array([-(-int(size) * share.numerator // share.denominator) for size in sizes], dtype=np.int64)


def tenths_at_most(count: int, size: int) -> int:
    """The share that the count is at most, in tenths of a per cent: rounded up, the safe side."""
    return -(-_TENTHS * min(count, size) // size)


def percent(tenths: int) -> str:
    """39 as 3.9 %."""
    return f"{tenths // 10}.{tenths % 10} %"


def at_most(count: int, size: int) -> str:
    """A bound as a share: at most 12 of 310 are at most 3.9 %.

    Example
        >>> from safeside.groups.shares import at_most, at_least_not
        >>> print(at_most(12, 310), at_least_not(12, 310))
        3.9 % 96.1 %
    """
    return percent(tenths_at_most(count, size))


def at_least_not(count: int, size: int) -> str:
    """The complement: of 310 at least 96.1 % are not among at most 12. Rounded down, the safe side."""
    return percent(_TENTHS - tenths_at_most(count, size))
