"""Forecasts: a whole number for each condition, larger where more people are expected, from public knowledge.

A condition is a place in a window. Its score comes from how popular the place is, times how busy the hours of
the window usually are, and may be moved by what earlier releases *published*. Everything is whole-number
arithmetic, or one rounding that every machine does alike, so that a verifier computes the same plan. A bad
forecast costs answers, never truth or privacy; one made from the private data would be an output unpaid for.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeside import untrusted
from safeside.errors import BadFile, BadQuestion, UnsafeFile

Whole = NDArray[np.int64]
STEPS: Final = 64
"""Moves of a forecast are kept in this part of a doubling."""
MOST_MOVE: Final = 8 * STEPS
"""No condition is moved further than this, up or down."""
_CERTIFIED: Final = STEPS // 2
"""What is certified is expected half a doubling lower afterwards."""
_LEFT_OUT: Final = STEPS // 4
"""What was left out is expected a quarter of a doubling higher for each halving of its chance, up to 8."""
_MOST_HALVINGS: Final = 8
_BITS: Final = 44
"""Scores begin below 2^44: moved by 8 doublings they are below 2^53."""
_FINE: Final = 16
"""Fractional bits of the powers of two that a score is multiplied with."""
_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_HOURS: Final = 24
_FRACTION: Final = 10**6
"""Weights of a profile are written with up to six decimals."""
_WEIGHT: Final = re.compile(r"[0-9]{1,7}(\.[0-9]{1,6})?")


@dataclass(frozen=True, kw_only=True)
class Profile:
    """How busy each hour of each day of the week usually is: seven days of 24 whole numbers."""

    weights: tuple[tuple[int, ...], ...]

    def of_window(self, start: datetime, end: datetime, zone: tzinfo) -> int:
        """The weight of a window: of the hour an instant lies in, or seconds times weight over an interval.

        Hours are those of the local clock; where it jumps, a window has fewer or more of them.
        """
        if start == end:
            return self._at(start.astimezone(zone))
        # Elapsed time is counted in UTC: Python subtracts moments of one zone by their clock faces.
        total, moment, end = 0, start.astimezone(UTC), end.astimezone(UTC)
        while moment < end:
            local = moment.astimezone(zone)
            into = timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
            after = min(end, moment + timedelta(hours=1) - into)
            # Rounded up: a window shorter than a second is still a window.
            total += self._at(local) * -((moment - after) // timedelta(seconds=1))
            moment = after
        return total

    def _at(self, local: datetime) -> int:
        return self.weights[local.weekday()][local.hour]


def read_profile(path: str | Path) -> Profile:
    """Read a profile from a small CSV with the columns `hour` and `weight` and, if days differ, `day`.

    Hours are 0 to 23, days mon to sun, weights numbers from 0 with up to six decimals; every hour (of every
    day) once.
    """
    try:
        text = untrusted.read(path, untrusted.KEY_BYTES, follow=True).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError, UnsafeFile):
        raise BadFile(
            "The profile of the hours cannot be read.", "Give a small CSV file in UTF-8 that you may read."
        ) from None
    rows = csv.DictReader(io.StringIO(text))
    names = [name.strip() for name in rows.fieldnames or ()]
    if sorted(names) not in (["hour", "weight"], ["day", "hour", "weight"]):
        raise BadFile(
            "The profile of the hours has other columns than hour and weight, and day where days differ.",
            "Name the columns day, hour and weight, separated by commas.",
        )
    rows.fieldnames = names
    found: dict[tuple[int, int], int] = {}
    for row in rows:
        for day in _days(row, rows.line_num):
            hour = _hour(row, rows.line_num)
            if (day, hour) in found:
                raise _bad_row(rows.line_num, "hour", "is there twice")
            found[day, hour] = _weight(row, rows.line_num)
    if len(found) != len(_DAYS) * _HOURS:
        raise BadFile(
            "The profile of the hours does not have every hour.",
            "Give every hour from 0 to 23 once (of every day, mon to sun, where there is a column day).",
        )
    if not any(found.values()):
        raise BadFile("Every weight of the profile is 0.", "Give the hours that are busy a larger weight.")
    return Profile(
        weights=tuple(tuple(found[day, hour] for hour in range(_HOURS)) for day in range(len(_DAYS)))
    )


def _days(row: dict[str, str], line: int) -> Iterable[int]:
    if "day" not in row:
        return range(len(_DAYS))
    day = (row["day"] or "").strip().lower()[:3]
    if day not in _DAYS:
        raise _bad_row(line, "day", "is none of mon, tue, wed, thu, fri, sat, sun")
    return (_DAYS.index(day),)


def _hour(row: dict[str, str], line: int) -> int:
    text = (row["hour"] or "").strip()
    if not (text.isascii() and text.isdecimal() and int(text) < _HOURS):
        raise _bad_row(line, "hour", "is no whole number from 0 to 23")
    return int(text)


def _weight(row: dict[str, str], line: int) -> int:
    text = (row["weight"] or "").strip()
    if not _WEIGHT.fullmatch(text):
        raise _bad_row(line, "weight", "is no number from 0 below ten million with up to six decimals")
    return int(Fraction(text) * _FRACTION)


def _bad_row(line: int, column: str, why: str) -> BadFile:
    return BadFile(f"The profile of the hours, line {line}: {column} {why}.", "Correct the row.")


def scores(popularity: ArrayLike, weights: ArrayLike = (1,)) -> Whole:
    """The scores of every place in every window, window by window; only ratios matter.

    Popularity is any number from 0 for each place, `weights` one whole number for each window. A product is
    one multiplication of two numbers, scaled by a power of two and cut: the same on every machine.
    """
    known = np.asarray(popularity, dtype=np.float64)
    busy = np.asarray(weights, dtype=np.float64)
    if known.ndim != 1 or not known.size or not np.isfinite(known).all() or known.min() < 0:
        raise BadQuestion(
            "The popularity of the places is not a list of numbers from 0.",
            "Give every place a number from 0, larger where more people come.",
        )
    products = np.multiply.outer(busy, known).ravel()
    largest = float(products.max())
    if not largest:
        return np.ones(products.size, np.int64)
    _, exponent = math.frexp(largest)
    # From 1, so that a place that was thought empty can still be moved up.
    cut: Whole = np.floor(np.ldexp(products, _BITS - exponent)).astype(np.int64)
    return cut + 1


def after_release(moves: Whole, certified: NDArray[np.bool_], halvings: Whole) -> Whole:
    """The moves after a release, from what it published alone.

    `halvings` is, for each condition that the drawn component left out, how often its chance to be left out
    was halved, and 0 for every other.
    """
    up = _LEFT_OUT * np.minimum(halvings, _MOST_HALVINGS)
    after: Whole = np.clip(moves - _CERTIFIED * certified + up, -MOST_MOVE, MOST_MOVE)
    return after


def after_days(moves: Whole, days: int) -> Whole:
    """The moves some days later: each day a tenth goes back, rounded half up.

    The rounding ends it at a few parts of 64, of which a tenth is less than a half.
    """
    for _ in range(days):
        before = moves
        moves = np.floor_divide(18 * moves + 10, 20, dtype=np.int64)
        if np.array_equal(moves, before):
            break
    return moves


def moved(first: Whole, moves: Whole) -> Whole:
    """The scores times 2^(move/64), cut to whole numbers, and at least 1."""
    doublings, fine = np.divmod(moves, STEPS)
    lifted = (first * _POWERS[fine]) >> (_FINE + np.maximum(-doublings, 0))
    found: Whole = np.maximum(1, lifted << np.maximum(doublings, 0))
    return found


def _power(part: int) -> int:
    """2^(part/64) in sixteenths of a bit, cut: six square roots, each exact when cut."""
    value = 1 << (part + _FINE * STEPS)
    for _ in range(STEPS.bit_length() - 1):
        value = math.isqrt(value)
    return value


_POWERS: Final = np.array([_power(part) for part in range(STEPS)], dtype=np.int64)
