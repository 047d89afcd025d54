"""Thresholds against plain Python: every kind of column, every resolution, every change of clocks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import narwhals as nw
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.visits.plain import moments

from safeside.visits.times.clocks import (
    PER_SECOND,
    Clock,
    Epoch,
    LocalDates,
    LocalStamps,
    Stamps,
    implausible,
    zone_of,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CHANGES = {
    "Europe/Berlin": [datetime(2024, 3, 31, 1, tzinfo=UTC), datetime(2024, 10, 27, 1, tzinfo=UTC)],
    "America/Sao_Paulo": [datetime(2018, 11, 4, 3, tzinfo=UTC), datetime(2018, 2, 18, 2, tzinfo=UTC)],
    "Australia/Lord_Howe": [datetime(2024, 4, 6, 15, tzinfo=UTC), datetime(2024, 10, 5, 15, 30, tzinfo=UTC)],
    "Pacific/Apia": [datetime(2011, 12, 30, 10, tzinfo=UTC), datetime(2011, 9, 24, 14, tzinfo=UTC)],
    "Asia/Pyongyang": [datetime(2015, 8, 14, 15, tzinfo=UTC)],
    # At the end of a day in UTC.
    "Africa/Tripoli": [datetime(2012, 11, 10, tzinfo=UTC), datetime(2013, 3, 29, tzinfo=UTC)],
}
OPERATIONS: dict[str, Callable[[list[datetime], datetime], bool]] = {
    "before": lambda possible, moment: min(possible) < moment,
    "at_or_before": lambda possible, moment: min(possible) <= moment,
    "after": lambda possible, moment: max(possible) > moment,
    "since": lambda possible, moment: max(possible) >= moment,
}


def ask(clock: Clock, series: pl.Series, operation: str, moment: datetime) -> list[bool]:
    frame = nw.from_native(pl.DataFrame({"t": series}).lazy())
    answered = frame.select(getattr(clock, operation)(nw.col("t"), moment).alias("t")).to_native().collect()
    return answered["t"].to_list()


ticks = st.integers(-5, 5)


@given(ticks, ticks, st.sampled_from(["s", "ms", "us", "ns"]), st.sampled_from(sorted(OPERATIONS)))
@settings(max_examples=60)
def test_no_resolution_is_truncated(micros: int, tick: int, unit: str, operation: str) -> None:
    """A column finer or coarser than the window is compared exactly, on either side of the moment."""
    moment = datetime(2024, 3, 3, 12, tzinfo=UTC) + timedelta(microseconds=micros)
    value = int((datetime(2024, 3, 3, 12, tzinfo=UTC) - EPOCH).total_seconds()) * PER_SECOND[unit] + tick
    exact = {
        "before": value * 10**9 < ((moment - EPOCH) // timedelta(microseconds=1)) * 1000 * PER_SECOND[unit],
        "at_or_before": value * 10**9
        <= ((moment - EPOCH) // timedelta(microseconds=1)) * 1000 * PER_SECOND[unit],
    }
    exact |= {"after": not exact["at_or_before"], "since": not exact["before"]}
    column = pl.Series([value], dtype=pl.Int64)
    assert ask(Epoch(unit=unit), column, operation, moment) == [exact[operation]]
    if unit != "s":
        for zone in (None, "UTC", "Asia/Tokyo"):
            stamped = column.cast(pl.Datetime(unit, "UTC"))
            if zone is None:
                stamped = stamped.dt.replace_time_zone(None)
            else:
                stamped = stamped.dt.convert_time_zone(zone)
            clock = Stamps(dtype=nw.Datetime(unit, zone), polars=True)
            at = moment if zone else moment.replace(tzinfo=None)
            assert ask(clock, stamped, operation, at) == [exact[operation]]


@given(st.data())
@settings(max_examples=150)
def test_local_times_around_changes_of_the_clock(data: st.DataObject) -> None:
    """A naive time is taken for every moment it may mean: nobody is lost to an hour that happened twice."""
    zone = data.draw(st.sampled_from(sorted(CHANGES)))
    change = data.draw(st.sampled_from(CHANGES[zone]))
    minutes = st.integers(-200, 200).map(lambda m: timedelta(minutes=m))
    moment = change + data.draw(minutes)
    written = (change + data.draw(minutes)).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    local = LocalStamps(stamps=Stamps(dtype=nw.Datetime("us"), polars=True), local=ZoneInfo(zone))
    possible = moments(written, zone)
    for operation, truth in OPERATIONS.items():
        answer = ask(local, pl.Series([written]), operation, moment)
        assert answer == [truth(possible, moment)], (zone, operation)


@given(st.data())
@settings(max_examples=80)
def test_local_days_around_changes_of_the_clock(data: st.DataObject) -> None:
    """A date stands for each moment that the clock on the wall shows that date."""
    zone = data.draw(st.sampled_from(sorted(CHANGES)))
    change = data.draw(st.sampled_from(CHANGES[zone]))
    moment = change + timedelta(minutes=data.draw(st.integers(-3000, 3000)))
    day = change.astimezone(ZoneInfo(zone)).date() + timedelta(days=data.draw(st.integers(-2, 2)))
    minutes = [change + timedelta(minutes=m) for m in range(-6000, 6000)]
    shown = [at for at in minutes if at.astimezone(ZoneInfo(zone)).date() == day]
    clock = LocalDates(local=ZoneInfo(zone), midnights=None)
    midnights = LocalDates(local=ZoneInfo(zone), midnights=Stamps(dtype=nw.Datetime("ns"), polars=True))
    column = pl.Series([day], dtype=pl.Date)
    truth = {
        "before": any(at < moment for at in shown),
        "at_or_before": any(at <= moment for at in shown),
        "since": any(at >= moment for at in shown),
    }
    for operation, expected in truth.items():
        if shown:
            assert ask(clock, column, operation, moment) == [expected], (zone, operation)
        held = column.cast(pl.Datetime("ns"))
        assert ask(midnights, held, operation, moment) == ask(clock, column, operation, moment)


def test_local_times_that_no_clock_showed() -> None:
    zone = ZoneInfo("Europe/Berlin")
    local = LocalStamps(stamps=Stamps(dtype=nw.Datetime("us"), polars=True), local=zone)
    written = [
        datetime(2024, 3, 31, 1, 59, 59),
        datetime(2024, 3, 31, 2),
        datetime(2024, 3, 31, 2, 59, 59),
        datetime(2024, 3, 31, 3),
    ]
    skipped = local.skipped(nw.col("t"), (datetime(2024, 3, 31, 12, tzinfo=UTC),))
    assert skipped is not None
    frame = nw.from_native(pl.DataFrame({"t": written}))
    assert frame.select(skipped.alias("t"))["t"].to_list() == [False, True, True, False]
    assert local.skipped(nw.col("t"), (datetime(2024, 6, 1, tzinfo=UTC),)) is None


def test_implausible_times() -> None:
    times = pl.Series(
        [datetime(1899, 12, 31), datetime(1900, 1, 1), datetime(2199, 12, 31), datetime(2200, 1, 1)]
    )
    frame = nw.from_native(pl.DataFrame({"t": times.dt.replace_time_zone("UTC")}))
    clock = Stamps(dtype=nw.Datetime("us", "UTC"), polars=True)
    assert frame.select(implausible(clock, nw.col("t")).alias("t"))["t"].to_list() == [
        True,
        False,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("name", "hours"),
    [
        ("+09:00", 9),
        ("UTC+09:00", 9),
        ("-0330", None),
        ("UTC-03:30", None),
        ("Asia/Tokyo", 9),
        ("-05:00", -5),
    ],
)
def test_zones_of_types(name: str, hours: float | None) -> None:
    offset = datetime(2024, 1, 1, tzinfo=zone_of(name)).utcoffset()
    assert offset is not None
    assert offset == (timedelta(hours=hours) if hours is not None else -timedelta(hours=3, minutes=30))


@example(date(2024, 3, 31))
@given(st.dates(date(1990, 1, 1), date(2030, 1, 1)))
@settings(max_examples=30)
def test_dates_of_a_whole_day_are_that_day_alone(day: date) -> None:
    from safeside.visits.times.window import Window

    window = Window.parse(day.isoformat(), "Europe/Berlin")
    clock = LocalDates(local=ZoneInfo("Europe/Berlin"), midnights=None)
    days = pl.Series([day - timedelta(days=1), day, day + timedelta(days=1)], dtype=pl.Date)
    before = ask(clock, days, "before", window.end)
    since = ask(clock, days, "after", window.start)
    assert [a and b for a, b in zip(before, since, strict=True)] == [False, True, False]
