"""Which windows a visit touches: from a first one to a last one, since windows follow one another.

Each question about a window is asked of the clocks, which say what *may* be: a visit counts in every window
it may touch. Moments only go up, and with them the answers of a clock change once; so the first and the last
window are found by bisection, in expressions that every engine evaluates. Polars, which evaluates all
branches of an expression, is given a division instead; so is Spark, in one piece of text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import narwhals as nw
import numpy as np
import polars as pl

from safeside.visits.read.dataframes import Frame
from safeside.visits.read.roles import TimeForm
from safeside.visits.read.source import Source
from safeside.visits.times.clocks import Clock, Cut, Stamps
from safeside.visits.times.every import Windows
from safeside.visits.times.window import Window

FIRST: Final = "first_window"
LAST: Final = "last_window"
WINDOW: Final = "window"
SPAN: Final = (FIRST, LAST)
"""Columns of the first and of the last window that a row touches, where there are several windows."""


@dataclass(frozen=True, kw_only=True)
class Extent:
    """From when to when a row counts: the columns that tell it, and how they tell the time."""

    first: str
    last: str
    begins: Clock
    ends: Clock
    held: timedelta | None = None
    """How long a sighting holds, which has no end of its own."""

    @classmethod
    def of(cls, source: Source) -> Extent:
        """Of the rows of visits."""
        first, last = source.roles.times[0], source.roles.times[-1]
        seen = source.roles.when is TimeForm.SIGHTINGS
        held = source.declared.held or timedelta(0) if seen else None
        return cls(first=first, last=last, begins=source.clocks[first], ends=source.clocks[last], held=held)

    @classmethod
    def of_detected_stays(cls) -> Extent:
        """Of what `detect_stays` makes."""
        clock = Stamps(dtype=nw.Datetime("us", "UTC"), polars=True)
        return cls(first="start", last="end", begins=clock, ends=clock)

    def touches(self, window: Window) -> nw.Expr:
        """Whether a row touches the window: a stay lasts from its start up to, not including, its end."""
        return self._begun(window) & self._lasts(window.start)

    def with_spans(self, frame: Frame, windows: Windows) -> Frame:
        """Rows that touch the whole of the windows, with the first and the last one that each touches."""
        native, each = frame.to_native(), windows.each
        if isinstance(native, pl.LazyFrame) and self.begins.whole and self.ends.whole:
            return nw.from_native(native.with_columns(*self._by_arithmetic(each)))
        if frame.implementation.is_pyspark() and all(map(_in_micros, (self.begins, self.ends))):
            told: Frame = nw.from_native(native.selectExpr("*", *self._in_sql(each)))
            return told
        last = len(each) - 1
        return frame.with_columns(
            _least(0, last, lambda at: self._begun(each[at])).alias(FIRST),
            _least(0, last, lambda at: ~self._lasts(each[at + 1].start)).alias(LAST),
        )

    def _by_arithmetic(self, each: tuple[Window, ...]) -> tuple[pl.Expr, pl.Expr]:
        """The same where times are whole numbers, by dividing them."""
        over, begins, ends = self._cuts(each)
        last = _passed(self.first, begins)
        if ends:
            last = pl.max_horizontal(last, _passed(self.last, ends))
        return _passed(self.first, over).alias(FIRST), last.alias(LAST)

    def _in_sql(self, each: tuple[Window, ...]) -> tuple[str, str]:
        """The same on Spark, where each expression is a call to Java, as text."""
        over, begins, ends = self._cuts(each)
        first, last = (f"unix_micros(`{name}`)" for name in (self.first, self.last))
        passed = _passed_in_sql(first, begins)
        if ends:
            passed = f"greatest({passed}, {_passed_in_sql(last, ends)})"
        return f"{_passed_in_sql(first, over)} AS {FIRST}", f"{passed} AS {LAST}"

    def _cuts(self, each: tuple[Window, ...]) -> tuple[list[Cut], list[Cut], list[Cut]]:
        """Where windows are over before a row begins; begin before it begins; and begin before it ends."""
        starts = [window.start - (self.held or timedelta(0)) for window in each[1:]]
        return (
            [self.begins.end(window.end) for window in each[:-1]],
            [self.begins.start(moment, inclusive=True) for moment in starts],
            [self.ends.start(moment) for moment in starts] if self.held is None else [],
        )

    def _begun(self, window: Window) -> nw.Expr:
        """Whether it begins before the window ends."""
        column = nw.col(self.first)
        if window.instant:
            return self.begins.at_or_before(column, window.end)
        return self.begins.before(column, window.end)

    def _lasts(self, moment: datetime) -> nw.Expr:
        """Whether it is not over at the moment, or begins there or later."""
        column = nw.col(self.first)
        if self.held is not None:
            return self.begins.since(column, moment - self.held)
        return self.ends.after(nw.col(self.last), moment) | self.begins.since(column, moment)


def _in_micros(clock: Clock) -> bool:
    """Whether times are moments to the microsecond, as Spark's own are."""
    return isinstance(clock, Stamps) and clock.dtype.time_zone is not None and clock.dtype.time_unit == "us"


def _runs(cuts: Sequence[Cut]) -> Iterator[tuple[int, int, int]]:
    """The least whole numbers above ascending cuts, in runs of equal steps: first, step, and how many.

    Hours, or days, are one run, and a few where a local clock jumps.
    """
    least = [int(cut.at) + cut.above for cut in cuts]
    begin = 0
    while begin < len(least):
        step = least[begin + 1] - least[begin] if begin + 1 < len(least) else 1
        end = begin + 1
        while end < len(least) and least[end] - least[end - 1] == step:
            end += 1
        yield least[begin], step, end - begin
        begin = end


def _passed(column: str, cuts: Sequence[Cut]) -> pl.Expr:
    """How many of the ascending cuts lie below a time."""
    time, passed = pl.col(column).to_physical().cast(pl.Int64), pl.lit(0, pl.Int64)
    for first, step, size in _runs(cuts):
        # Clipped before anything is subtracted: the farthest times would overflow.
        within = time.clip(first - 1, first + (size - 1) * step) - first
        passed = passed + (within // step + 1 if step else (within + 1) * size)
    return passed


def _passed_in_sql(time: str, cuts: Sequence[Cut]) -> str:
    """The same in Spark's SQL, whose division drops the rest: nothing negative is divided."""
    passed = ["0L"]
    for first, step, size in _runs(cuts):
        within = f"(greatest(least({time}, {first + (size - 1) * step}L), {first - 1}L) - {first}L"
        passed.append(f"{within} + {step}L) div {step}L" if step else f"{within} + 1L) * {size}L")
    return f"({' + '.join(passed)})"


def _least(low: int, high: int, holds: Callable[[int], nw.Expr]) -> nw.Expr:
    """The least number from `low` of which it holds, or else `high`: what holds of one holds of all above."""
    if low == high:
        return nw.lit(low, dtype=nw.Int64())
    middle = (low + high) // 2
    here = _least(low, middle, holds)
    return nw.when(holds(middle)).then(here).otherwise(_least(middle + 1, high, holds))


def each_window(frame: Frame) -> Frame:
    """A row for each window that a row touches: the column WINDOW instead of SPAN."""
    names = [name for name in frame.collect_schema().names() if name not in SPAN]
    native = frame.to_native()
    if isinstance(native, pl.LazyFrame):
        numbers = pl.int_ranges(pl.col(FIRST), pl.col(LAST) + 1).alias(WINDOW)
        return nw.from_native(native.select(*names, numbers).explode(WINDOW))
    if frame.implementation.is_pyspark():
        told = native.selectExpr(*names, f"explode(sequence({FIRST}, {LAST})) AS `{WINDOW}`")
    elif frame.implementation.is_duckdb():
        told = native.project(", ".join([*names, f"unnest(range({FIRST}, {LAST} + 1)) AS {WINDOW}"]))
    else:
        return _repeated(frame.collect(), names).lazy()
    exploded: Frame = nw.from_native(told)
    return exploded


def _repeated(table: nw.DataFrame[Any], names: Sequence[str]) -> nw.DataFrame[Any]:
    """The same of pandas and PyArrow, in whose terms narwhals has no ranges."""
    first, last = (table[name].to_numpy().astype(np.int64) for name in SPAN)
    size = last - first + 1
    row = np.repeat(np.arange(len(size)), size)
    window = np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size) + first[row]
    return table.select(*names)[row].with_columns(nw.new_series(WINDOW, window, backend=table.implementation))
