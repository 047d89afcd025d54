"""The short question that rows are dropped by: never of a row that counts, never of one that is doubtful."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.visits.making import DAY, NOON, places

from safeside.errors import BadFile
from safeside.visits import VisitFormat, Window, count_visits, tally
from safeside.visits.rowchecks import doubtful, elsewhere, row_checks, touches
from safeside.visits.sources import open_visits

WINDOWS = {
    "day": DAY,
    "instant": NOON,
    "between two seconds": Window.parse("2024-03-03T12:00:00.25Z/2024-03-03T12:00:07.75Z"),
    "within 1970": Window.parse("1970-03-01T00:00Z/1970-03-01T01:00Z"),
    "over the end of 1970": Window.parse("1970-12-31T00:00Z/1971-01-03T00:00Z"),
    "before 1970": Window.parse("1950-03-01T00:00Z/1950-03-02T00:00Z"),
}
KINDS = ["us", "ms", "ns", "epoch-s", "epoch-ms", "epoch-us"]


def _moments(window: Window) -> list[datetime | None]:
    """All at which an answer changes, one step before and after each, and none."""
    years = [datetime(year, 1, day, tzinfo=UTC) for year in (1900, 1970, 1971, 2200) for day in (1, 2)]
    middle = window.start + (window.end - window.start) / 2
    steps = [timedelta(seconds=by) for by in (-1, 0, 1)]
    return [None, *(at + by for at in (*years, window.start, middle, window.end) for by in steps)]


def _rows(kind: str, window: Window) -> tuple[pl.DataFrame, VisitFormat]:
    """A row for every two moments, in any order."""
    return _frame(kind, list(product(_moments(window), repeat=2)))


def _frame(
    kind: str, times: Sequence[tuple[datetime | None, datetime | None]]
) -> tuple[pl.DataFrame, VisitFormat]:
    """Stays at the bar, and how their times are to be read."""
    zoned = dict.fromkeys(("start", "end"), pl.Datetime("us", "UTC"))
    frame = pl.DataFrame(times, schema=zoned, orient="row").with_columns(person=1, place=pl.lit("bar"))
    columns = pl.col("start", "end")
    if kind.startswith("epoch-"):
        numbers = columns.dt.epoch(kind.removeprefix("epoch-"))
        return frame.with_columns(numbers), VisitFormat(time_format=kind)
    stamps = columns.dt.cast_time_unit(kind).dt.convert_time_zone("Asia/Tokyo")
    return frame.with_columns(stamps), VisitFormat()


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS.keys())
@pytest.mark.parametrize("kind", KINDS)
def test_no_row_that_matters_is_elsewhere(kind: str, window: Window) -> None:
    frame, declared = _rows(kind, window)
    source = open_visits(frame, None, declared)
    told = elsewhere(source, window)
    assert told is not None
    matters = touches(source, window) | doubtful(row_checks(source, places(), window))
    asked = source.frame.with_columns(told.alias("elsewhere"), matters.alias("matters")).collect().to_native()
    dropped = asked.filter("elsewhere")
    assert not dropped["matters"].any()
    assert not dropped["matters"].null_count()
    assert dropped.height


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_rows_are_left_while_a_file_is_read(kind: str, tmp_path: Path) -> None:
    frame, declared = _rows(kind, DAY)
    frame = frame.with_columns(person=pl.int_range(pl.len()))
    frame.write_parquet(tmp_path / "visits.parquet", row_group_size=100)
    left = []
    for visits in (frame, pl.scan_parquet(tmp_path / "visits.parquet")):
        source = open_visits(visits, None, declared)
        told = elsewhere(source, DAY)
        assert told is not None
        left.append(source.frame.filter(~told).select("person").collect()["person"].to_list())
    assert left[0] == left[1]
    assert 0 < len(left[0]) < frame.height


@pytest.mark.parametrize("kind", KINDS)
def test_ordinary_rows_of_other_days_are_elsewhere(kind: str) -> None:
    """So that asking is worth it."""
    hour = timedelta(hours=1)
    before = (DAY.start - hour, DAY.start - timedelta(seconds=1))
    after = (DAY.end, DAY.end + hour)
    frame, declared = _frame(kind, [before, after])
    source = open_visits(frame, None, declared)
    told = elsewhere(source, DAY)
    assert told is not None
    assert source.frame.select(told.alias("told")).collect()["told"].to_list() == [True, True]


@given(st.data())
def test_counts_and_complaints_are_the_same_without_it(data: st.DataObject) -> None:
    window = data.draw(st.sampled_from(list(WINDOWS.values())))
    moments = st.sampled_from(_moments(window))
    times = data.draw(st.lists(st.tuples(moments, moments), min_size=1, max_size=3))
    frame, declared = _frame(data.draw(st.sampled_from(KINDS)), times)
    frame = frame.with_columns(person=pl.int_range(pl.len()))
    declared = replace(declared, trust_times=data.draw(st.booleans()))
    said = _said(frame, window, declared)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tally, "elsewhere", lambda *_: None)
        assert _said(frame, window, declared) == said


def _said(frame: pl.DataFrame, window: Window, declared: VisitFormat) -> list[int] | str:
    try:
        return count_visits(frame, places(), window, declared).values.tolist()
    except BadFile as error:
        return str(error)


@pytest.mark.parametrize("end", [pl.Datetime("ms", "Asia/Tokyo"), pl.Datetime("ns", "Asia/Tokyo")])
def test_times_of_two_types_have_no_short_question(end: pl.DataType) -> None:
    frame, declared = _rows("us", DAY)
    source = open_visits(frame.with_columns(pl.col("end").cast(end)), None, declared)
    assert elsewhere(source, DAY) is None


@pytest.mark.parametrize("bent", ["before", "since"])
def test_a_clock_that_is_off_by_a_second_is_noticed(bent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the short question only a little too wide, the first of these tests would fail."""
    frame, declared = _rows("us", DAY)
    source = open_visits(frame, None, declared)
    matters = touches(source, DAY) | doubtful(row_checks(source, places(), DAY))
    by = timedelta(seconds=1 if bent == "before" else -1)
    kind = type(source.clocks["start"])
    true = getattr(kind, bent)
    monkeypatch.setattr(kind, bent, lambda self, column, moment: true(self, column, moment - by))
    told = elsewhere(source, DAY)
    assert told is not None
    asked = source.frame.filter(told).select(matters.alias("matters")).collect().to_native()
    assert asked["matters"].any()


def test_the_clock_of_a_place_has_no_short_question() -> None:
    frame = pl.DataFrame({"person": [1], "place": ["bar"], "start": [DAY.start], "end": [DAY.end]})
    naive = frame.with_columns(pl.col("start", "end").dt.replace_time_zone(None))
    source = open_visits(naive, None, VisitFormat(timezone="Asia/Tokyo"))
    assert elsewhere(source, DAY) is None
