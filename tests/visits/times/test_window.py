"""Windows: instants, half-open intervals, local days of 23 and 25 hours, and times that are no moment."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from tests.visits.making import DAY, places, table
from tests.visits.plain import Stay

from safeside.errors import BadFile, BadQuestion
from safeside.visits import Expected, VisitFormat, check_visits, count_visits
from safeside.visits.times.window import When, Window, parse_duration


def test_an_instant() -> None:
    window = Window.parse("2024-03-01T18:00+09:00")
    assert window.instant
    assert window.start == window.end == datetime(2024, 3, 1, 9, tzinfo=UTC)
    assert window.text == "2024-03-01T18:00:00+09:00"


def test_a_naive_instant_on_a_declared_clock() -> None:
    assert Window.parse("2024-03-01T18:00", "Asia/Tokyo").start == datetime(2024, 3, 1, 9, tzinfo=UTC)


def test_an_interval() -> None:
    window = Window.parse("2024-03-01T00:00Z/2024-03-02T12:00Z")
    assert not window.instant
    assert window.end - window.start == timedelta(hours=36)


@pytest.mark.parametrize(
    ("day", "zone", "hours"),
    [
        ("2024-03-31", "Europe/Berlin", 23),
        ("2024-10-27", "Europe/Berlin", 25),
        ("2024-03-15", "Europe/Berlin", 24),
        ("2024-04-07", "Australia/Lord_Howe", 24.5),
        ("2018-11-04", "America/Sao_Paulo", 23),
        ("2024-03-03", "Asia/Kathmandu", 24),
    ],
)
def test_a_date_is_the_whole_local_day(day: str, zone: str, hours: float) -> None:
    window = Window.parse(day, zone)
    assert not window.instant
    assert window.end - window.start == timedelta(hours=hours)
    assert window == Window.parse(f"{day}/P1D", zone)


@pytest.mark.parametrize("day", ["20120405", "2012-W14-4", "2012W144", " 2012-04-05 "])
def test_a_date_is_a_day_however_it_is_written(day: str) -> None:
    whole = Window.parse("2012-04-05", "Asia/Tokyo")
    assert Window.parse(day, "Asia/Tokyo") == whole
    assert Window.parse(f"{day}/P1D", "Asia/Tokyo") == whole
    assert Window.parse(f"{day}/20120406", "Asia/Tokyo") == whole
    assert Window.parse(f"{day}/2012-W14-5", "Asia/Tokyo") == whole


@pytest.mark.parametrize("day", ["2018-11-04", "20181104", "2018-W44-7"])
def test_a_day_begins_where_the_clock_skips_midnight_however_it_is_written(day: str) -> None:
    assert Window.parse(day, "America/Sao_Paulo").start == datetime(2018, 11, 4, 3, tzinfo=UTC)


def test_days_are_of_the_calendar_and_hours_of_the_clock() -> None:
    days = Window.parse("2024-10-26/P2D", "Europe/Berlin")
    hours = Window.parse("2024-10-26/PT48H", "Europe/Berlin")
    assert days.end - days.start == timedelta(hours=49)
    assert hours.end - hours.start == timedelta(hours=48)


def test_dates_of_an_interval_are_where_days_begin() -> None:
    window = Window.parse("2018-11-04/2018-11-05", "America/Sao_Paulo")
    assert window.start == datetime(2018, 11, 4, 3, tzinfo=UTC)
    assert window.end == datetime(2018, 11, 5, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "2024-03-01T00:00Z/",
        "a/b/c",
        "yesterday",
        "2024-02-30",
        "20240230",
        "2024-W60-1",
        "2024-03-01x18:00Z",
        "2024-03-01_18:00Z",
        "2024-03-01T00:00Z/2024-03-01T00:00Z",
        "2024-03-02T00:00Z/2024-03-01T00:00Z",
        "2024-03-01T00:00:00.0000001Z",
        "2024-03-01T18:00",
        "2024-03-01",
        "1850-01-01T00:00Z",
        "2300-01-01T00:00Z",
        "2024-03-01T00:00Z/P0D",
        "2024-03-01T00:00Z/PX",
        "2024-03-01T00:00Z/P99999999999D",
    ],
)
def test_what_is_no_window(text: str) -> None:
    with pytest.raises(BadQuestion):
        Window.parse(text)


@pytest.mark.parametrize(
    "text", ["2024-W09", "2024W09", "2024-W09/P1D", "2024-03-01+09:00", "2024-03-01-05:00"]
)
def test_a_week_is_no_day_and_an_offset_no_time_of_day(text: str) -> None:
    with pytest.raises(BadQuestion):
        Window.parse(text, "Asia/Tokyo")


@pytest.mark.parametrize("text", ["2024-03-31T02:30", "2024-10-27T02:30"])
def test_local_times_that_are_not_one_moment(text: str) -> None:
    with pytest.raises(BadQuestion):
        Window.parse(text, "Europe/Berlin")
    Window.parse(text + "+01:00", "Europe/Berlin")


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("15min", 15),
        ("15 m", 15),
        ("2h", 120),
        ("1d", 1440),
        ("90s", 1.5),
        ("PT1H30M", 90),
        ("P1D", 1440),
        ("0s", 0),
    ],
)
def test_durations(text: str, minutes: float) -> None:
    assert parse_duration(text, "it") == timedelta(minutes=minutes)


@pytest.mark.parametrize("text", ["", "15", "min", "P", "PT", "-5min", "1 year"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(BadQuestion):
        parse_duration(text, "it")
    with pytest.raises(BadQuestion):
        parse_duration(timedelta(seconds=-1), "it")


TOKYO = ZoneInfo("Asia/Tokyo")
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("given", "text", "zone"),
    [
        (datetime(2024, 3, 1, 18, tzinfo=TOKYO), "2024-03-01T18:00+09:00", None),
        (datetime(2024, 3, 1, 18), "2024-03-01T18:00", "Asia/Tokyo"),
        (date(2024, 3, 1), "2024-03-01", "Asia/Tokyo"),
        ((date(2024, 3, 1), date(2024, 3, 8)), "2024-03-01/2024-03-08", "Asia/Tokyo"),
        ((date(2024, 3, 31), timedelta(days=1)), "2024-03-31/P1D", "Europe/Berlin"),
        ((datetime(2024, 3, 1, 18, tzinfo=TOKYO), timedelta(hours=2)), "2024-03-01T18:00+09:00/PT2H", None),
        (("2024-03-01T18:00", timedelta(seconds=90)), "2024-03-01T18:00/PT90S", "Asia/Tokyo"),
        (datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN), "2024-10-27T02:30+02:00", None),
        (datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN, fold=1), "2024-10-27T02:30+01:00", None),
        (Window.parse("2024-03-01", "Asia/Tokyo"), "2024-03-01", "Asia/Tokyo"),
    ],
)
def test_dates_and_times_of_python_are_read_as_their_text(given: When, text: str, zone: str | None) -> None:
    assert Window.parse(given, zone) == Window.parse(text, zone)


def test_what_is_no_time_is_refused() -> None:
    with pytest.raises(BadQuestion, match="A time is given as a int"):
        Window.parse(18)  # type: ignore[arg-type]
    for length in (timedelta(microseconds=1), timedelta(days=-1)):
        with pytest.raises(BadQuestion, match="is not a length of time"):
            Window.parse((date(2024, 3, 1), length), "Asia/Tokyo")


def test_visits_are_counted_and_covered_by_dates_of_python() -> None:
    declared, day = VisitFormat(timezone="Asia/Tokyo"), date(2024, 3, 3)
    visits = table([Stay("ana", "bar", DAY.start, DAY.start + timedelta(hours=1))])
    week = Expected(covers=(date(2024, 3, 1), timedelta(days=7)))
    counted = count_visits(visits, places(), day, declared, expected=week)
    assert counted.window == DAY
    assert counted.values.sum() == 1
    assert check_visits(visits, places(), day, declared, expected=week).fine
    with pytest.raises(BadFile, match="cover"):
        count_visits(visits, places(), day, declared, expected=Expected(covers=date(2024, 3, 1)))
