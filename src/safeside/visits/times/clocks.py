"""How a column tells the time, and the ends of windows as thresholds of the column's own type.

No column is converted: the ends of a window are, once and exactly, into instants, numbers since 1970, naive
local times or local dates, and engines only compare. Where a local clock goes back, a naive time may be
either of two instants and counts at both.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final

import narwhals as nw

from safeside.visits.times.window import EARLIEST, LATEST, PER_SECOND
from safeside.zones import find_zone

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
AFTER_1970: Final = datetime(1971, 1, 2, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_LOOK_AROUND: Final = timedelta(hours=50)
"""Wider than twice any UTC offset: no clock change beyond it can reorder times near a moment."""
_STEP: Final = timedelta(minutes=15)
_DAY: Final = timedelta(days=1)
_WEEK: Final = timedelta(days=7)
_LAST_WEEK: Final = datetime(2060, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Cut:
    """A place in the order of a column's values: just below one of them, or just above it."""

    at: int | float
    above: bool = False


class Clock(ABC):
    """How a column tells the time: every moment is a cut in the order of its values.

    Comparisons say what *may* be: they are true wherever it is not certain that they are false.
    """

    whole: ClassVar[bool] = True
    """Whether a cut is at a whole number: the column's own, as Polars holds it."""

    @abstractmethod
    def end(self, moment: datetime, *, inclusive: bool = False) -> Cut:
        """Below it are the values that may be before the moment, or at it if `inclusive`."""

    @abstractmethod
    def start(self, moment: datetime, *, inclusive: bool = False) -> Cut:
        """Above it are the values that may be after the moment, or at it if `inclusive`."""

    def literal(self, at: int | float) -> nw.Expr | int | float:
        """The value at which a cut is, of exactly the column's type, so that nothing is truncated."""
        return at

    def before(self, column: nw.Expr, moment: datetime) -> nw.Expr:
        """Whether it may be before the moment."""
        return self._below(column, self.end(moment))

    def at_or_before(self, column: nw.Expr, moment: datetime) -> nw.Expr:
        """Whether it may be at or before the moment."""
        return self._below(column, self.end(moment, inclusive=True))

    def after(self, column: nw.Expr, moment: datetime) -> nw.Expr:
        """Whether it may be after the moment."""
        return self._above(column, self.start(moment))

    def since(self, column: nw.Expr, moment: datetime) -> nw.Expr:
        """Whether it may be at or after the moment."""
        return self._above(column, self.start(moment, inclusive=True))

    def _below(self, column: nw.Expr, cut: Cut) -> nw.Expr:
        return column <= self.literal(cut.at) if cut.above else column < self.literal(cut.at)

    def _above(self, column: nw.Expr, cut: Cut) -> nw.Expr:
        return column > self.literal(cut.at) if cut.above else column >= self.literal(cut.at)


class _Ticks(Clock):
    """Whole units since 1970, of which one ends at a moment, or two lie around it."""

    def end(self, moment: datetime, *, inclusive: bool = False) -> Cut:
        return self._cut(moment, above=inclusive)

    def start(self, moment: datetime, *, inclusive: bool = False) -> Cut:
        return self._cut(moment, above=not inclusive)

    @abstractmethod
    def _cut(self, moment: datetime, *, above: bool) -> Cut: ...


def _cut(moment: datetime, unit: str, *, above: bool) -> Cut:
    """At the moment if a whole unit ends there, else between the two around it."""
    micros = (moment - _EPOCH) // _MICROSECOND
    whole, rest = divmod(micros * PER_SECOND[unit], PER_SECOND["us"])
    return Cut(at=whole, above=True) if above else Cut(at=whole + bool(rest))


@dataclass(frozen=True, kw_only=True)
class Epoch(_Ticks):
    """Whole numbers since 1970, in seconds, milli-, micro- or nanoseconds."""

    unit: str

    def _cut(self, moment: datetime, *, above: bool) -> Cut:
        return _cut(moment, self.unit, above=above)


@dataclass(frozen=True, kw_only=True)
class FloatEpoch(Clock):
    """Floating-point numbers since 1970. A moment without an exact float lies between two of them; a time
    written as that moment may have been rounded to either, so both count as before and as after it.
    """

    whole = False
    unit: str

    def _around(self, moment: datetime) -> tuple[float, float]:
        exact = Fraction((moment - _EPOCH) // _MICROSECOND * PER_SECOND[self.unit], PER_SECOND["us"])
        nearest = float(exact)
        if Fraction(nearest) == exact:
            return nearest, nearest
        below = nearest if Fraction(nearest) < exact else math.nextafter(nearest, -math.inf)
        return below, math.nextafter(below, math.inf)

    def end(self, moment: datetime, *, inclusive: bool = False) -> Cut:
        below, above = self._around(moment)
        return Cut(at=above, above=inclusive or below < above)

    def start(self, moment: datetime, *, inclusive: bool = False) -> Cut:
        below, above = self._around(moment)
        return Cut(at=below, above=not inclusive and below == above)


@dataclass(frozen=True, kw_only=True)
class Stamps(_Ticks):
    """Timestamps, zoned or naive."""

    dtype: nw.Datetime
    polars: bool
    """Polars has a tz database of its own, which may differ from Python's: it is given epoch numbers."""
    spark: bool = False
    """PySpark shifts naive literals from the zone of the process to that of its session: it is given text."""

    def _cut(self, moment: datetime, *, above: bool) -> Cut:
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
        return _cut(moment, str(self.dtype.time_unit), above=above)

    def literal(self, at: int | float) -> nw.Expr:
        if self.polars:
            return nw.lit(at, dtype=self.dtype)
        micros = int(at) * PER_SECOND["us"] // PER_SECOND[str(self.dtype.time_unit)]
        moment, zone = _EPOCH + micros * _MICROSECOND, self.dtype.time_zone
        if self.spark:
            naive = moment.replace(tzinfo=None).isoformat(" ")
            return nw.lit(naive).cast(self.dtype) if zone is None else nw.lit(moment)
        if zone is None:
            return nw.lit(moment.replace(tzinfo=None), dtype=self.dtype)
        return nw.lit(moment.astimezone(zone_of(zone)), dtype=self.dtype)


@dataclass(frozen=True, kw_only=True)
class LocalStamps(Clock):
    """Naive timestamps read on the clock of one declared place."""

    stamps: Stamps
    local: tzinfo

    def end(self, moment: datetime, *, inclusive: bool = False) -> Cut:
        shown = _shown(moment, self.local)
        peak = max(_peaks(moment, self.local), default=shown)
        return self.stamps.end(peak) if peak > shown else self.stamps.end(shown, inclusive=inclusive)

    def start(self, moment: datetime, *, inclusive: bool = False) -> Cut:
        shown = _shown(moment, self.local)
        trough = min(_troughs(moment, self.local), default=None)
        if trough is not None and trough <= shown:
            return self.stamps.start(trough, inclusive=True)
        return self.stamps.start(shown, inclusive=inclusive)

    def literal(self, at: int | float) -> nw.Expr | int | float:
        return self.stamps.literal(at)

    def repeats(self, first: datetime, last: datetime) -> bool:
        """Whether the order of naive times between the two moments may not be their true order."""
        for change in _changes(first - _LOOK_AROUND, last + _LOOK_AROUND, self.local):
            reached, instead = _shown_around(change, self.local)
            back = reached - instead
            if back > timedelta(0) and first - back <= change <= last + back:
                return True
        return False

    @property
    def goes_back(self) -> bool:
        """Whether there are hours that this clock showed twice."""
        return bool(_repeated(self.local))

    def within_one_repeat(self, first: nw.Expr, last: nw.Expr) -> nw.Expr:
        """Whether both naive times lie in one repeated hour, where their order says nothing."""
        day = _day_number(first)
        within: nw.Expr | None = None
        for (begin, end), days in _repeated(self.local).items():
            inside = day.is_in(days)
            for column in (first, last):
                minute = column.dt.hour().cast(nw.Int64) * 60 + column.dt.minute().cast(nw.Int64)
                inside = inside & (minute >= begin) & (minute < end)
            within = inside if within is None else within | inside
        assert within is not None
        return within & (day == _day_number(last))

    def skipped(self, column: nw.Expr, moments: tuple[datetime, ...]) -> nw.Expr | None:
        """Whether it is a time that the clock skipped, near enough to one of the moments to matter."""
        found: nw.Expr | None = None
        for change in sorted(
            {c for m in moments for c in _changes(m - _LOOK_AROUND, m + _LOOK_AROUND, self.local)}
        ):
            first, last = _shown_around(change, self.local)
            if last > first:
                gap = self.stamps.since(column, first) & self.stamps.before(column, last)
                found = gap if found is None else found | gap
        return found


@dataclass(frozen=True, kw_only=True)
class LocalDates(Clock):
    """Dates: each stands for the whole of that day on the clock of one declared place."""

    local: tzinfo
    midnights: Stamps | None
    """Set where the dates are held as naive midnights, as pandas does; None where they are true dates."""

    def end(self, moment: datetime, *, inclusive: bool = False) -> Cut:
        moment = moment if inclusive else moment - _MICROSECOND
        shown = max([_shown(moment, self.local), *(p - _MICROSECOND for p in _peaks(moment, self.local))])
        return self._cut(shown.date() + _DAY)

    def start(self, moment: datetime, *, inclusive: bool = False) -> Cut:
        del inclusive  # a day that begins before a moment and is not over is after it, too
        return self._cut(min([_shown(moment, self.local), *_troughs(moment, self.local)]).date())

    def _cut(self, day: date) -> Cut:
        if self.midnights is None:
            return Cut(at=(day - _EPOCH.date()).days)
        return self.midnights.start(datetime(day.year, day.month, day.day), inclusive=True)

    def literal(self, at: int | float) -> nw.Expr:
        if self.midnights is None:
            return nw.lit(_EPOCH.date() + int(at) * _DAY, dtype=nw.Date())
        return self.midnights.literal(at)


def _day_number(column: nw.Expr) -> nw.Expr:
    """20241027: a number on every engine, where dates are objects to some."""
    year, month = column.dt.year().cast(nw.Int64), column.dt.month().cast(nw.Int64)
    return year * 10_000 + month * 100 + column.dt.day().cast(nw.Int64)


@lru_cache(maxsize=16)
def _repeated(zone: tzinfo) -> dict[tuple[int, int], list[int]]:
    """Repeated hours: (first minute of the day, end minute) to the days on which it happened (20241027).

    Changes are looked for week by week. A repeated hour over midnight, or two changes in one week, are not
    found: stays in them remain doubtful.
    """
    found: dict[tuple[int, int], list[int]] = {}
    at = _EPOCH
    while at < _LAST_WEEK:
        step = at + _WEEK
        before, after = at.astimezone(zone).utcoffset(), step.astimezone(zone).utcoffset()
        if before is not None and after is not None and after < before:
            change = _change_between(at, step, zone)
            reached, instead = _shown_around(change, zone)
            begin = instead.hour * 60 + instead.minute
            stretch = (begin, begin + (reached - instead) // timedelta(minutes=1))
            if (reached - _MICROSECOND).date() == instead.date():
                found.setdefault(stretch, []).append(int(f"{instead:%Y%m%d}"))
        at = step
    return found


def implausible(clock: Clock, column: nw.Expr) -> nw.Expr:
    """Before 1900 or after 2199: a wrong unit, or a number that overflowed."""
    return ~clock.since(column, EARLIEST) | ~clock.before(column, LATEST)


def unit_mistaken(clock: Clock, column: nw.Expr) -> nw.Expr:
    """Times in 1970: what seconds become when read as a finer unit."""
    return clock.since(column, _EPOCH) & clock.before(column, AFTER_1970)


def zone_of(name: str) -> tzinfo:
    """The zone of a timestamp type, by name or as a fixed offset: +09:00, or UTC+09:00 as in pandas."""
    offset = name.removeprefix("UTC")
    if offset and offset[0] in "+-":
        sign = -1 if offset[0] == "-" else 1
        digits = offset[1:].replace(":", "")
        return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0)))
    return find_zone(name)


def _shown(moment: datetime, zone: tzinfo) -> datetime:
    """What the clock on the wall shows at the moment."""
    return moment.astimezone(zone).replace(tzinfo=None)


def _changes(first: datetime, last: datetime, zone: tzinfo) -> Iterator[datetime]:
    """The moments after first and up to last at which the offset from UTC changes, to the microsecond."""
    for day in range(first.astimezone(UTC).toordinal(), last.astimezone(UTC).toordinal() + 1):
        yield from (change for change in _changes_of_a_day(day, zone) if first < change <= last)


@lru_cache(maxsize=1 << 14)
def _changes_of_a_day(day: int, zone: tzinfo) -> tuple[datetime, ...]:
    """The same of a day in UTC, after its beginning and up to its end."""
    begin = datetime.fromordinal(day).replace(tzinfo=UTC)
    steps = [begin + number * _STEP for number in range(_DAY // _STEP + 1)]
    offsets = [at.astimezone(zone).utcoffset() for at in steps]
    return tuple(
        _change_between(steps[number], steps[number + 1], zone)
        for number in range(len(steps) - 1)
        if offsets[number] != offsets[number + 1]
    )


def _change_between(low: datetime, high: datetime, zone: tzinfo) -> datetime:
    """The moment, to the microsecond, at which the offset changes from what it is at first."""
    offset = low.astimezone(zone).utcoffset()
    while high - low > _MICROSECOND:
        middle = low + (high - low) / 2
        low, high = (middle, high) if middle.astimezone(zone).utcoffset() == offset else (low, middle)
    return high


def _shown_around(change: datetime, zone: tzinfo) -> tuple[datetime, datetime]:
    """What the clock was about to show, and what it showed instead."""
    return _shown(change - _MICROSECOND, zone) + _MICROSECOND, _shown(change, zone)


def _peaks(moment: datetime, zone: tzinfo) -> list[datetime]:
    """Local times up to which the clock had come when it was put back, before the moment."""
    around = (_shown_around(c, zone) for c in _changes(moment - _LOOK_AROUND, moment, zone))
    return [reached for reached, instead in around if instead < reached]


def _troughs(moment: datetime, zone: tzinfo) -> list[datetime]:
    """Local times to which the clock goes back after the moment."""
    around = (_shown_around(c, zone) for c in _changes(moment, moment + _LOOK_AROUND, zone))
    return [instead for reached, instead in around if instead < reached]
