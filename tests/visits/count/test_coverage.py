"""What the input covers: a window that nobody exported whole is not counted, on any engine."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.visits.making import DAY, ENGINES, NOON, places, table, write_csv, write_parquet
from tests.visits.plain import Stay

from safeside.errors import BadFile, BadQuestion
from safeside.visits import Doubt, Expected, VisitFormat, Window, check_visits, count_visits

TOKYO = VisitFormat(timezone="Asia/Tokyo")
HOUR = timedelta(hours=1)
READERS: dict[str, Any] = {
    **{name: lambda frame, _, make=make: make(frame) for name, make in ENGINES.items()},
    "CSV": lambda frame, folder: write_csv(frame, folder / "visits.csv"),
    "Parquet": lambda frame, folder: write_parquet(frame, folder / "visits.parquet"),
}


def stays(*starts: datetime) -> pl.DataFrame:
    return table([Stay(f"p{n}", "bar", at, at + HOUR) for n, at in enumerate(starts)])


BEFORE, AFTER = DAY.start - 2 * HOUR, DAY.end
WHOLE = (BEFORE, *(DAY.start + hour * HOUR for hour in range(24)), AFTER)


def stopped(visits: Any, window: Window = DAY, *more: Any, **also: Any) -> str:
    """What is said, by the count as by the check."""
    with pytest.raises(BadFile) as caught:
        count_visits(visits, places(), window, *more, **also)
    report = check_visits(visits, places(), window, *more, **also)
    assert [finding.doubt for finding in report.errors] == [Doubt.COVERAGE]
    return caught.value.what


def fine(visits: Any, window: Window = DAY, *more: Any, **also: Any) -> None:
    count_visits(visits, places(), window, *more, **also)
    assert check_visits(visits, places(), window, *more, **also).fine


@pytest.mark.parametrize("reader", READERS)
def test_an_export_that_was_cut_at_noon_is_not_the_whole_day(tmp_path: Path, reader: str) -> None:
    fine(READERS[reader](stays(*WHOLE), tmp_path))
    cut = READERS[reader](stays(*(at for at in WHOLE if at < DAY.start + 12 * HOUR)), tmp_path)
    said = stopped(cut)
    assert "no row lies wholly after it within a day" in said
    assert "11:" not in said.replace("T", " "), "the last moment seen is not named"
    late = READERS[reader](stays(*(at for at in WHOLE if at > DAY.start + 12 * HOUR)), tmp_path)
    assert "no row lies wholly before it within a day" in stopped(late)
    only = READERS[reader](stays(*WHOLE[1:-1]), tmp_path)
    assert "no row lies wholly before or after it within a day" in stopped(only)
    fine(only, expected=Expected(covers=DAY.text))


@pytest.mark.parametrize("reader", READERS)
def test_a_window_outside_what_was_declared_stops_whatever_the_rows_show(tmp_path: Path, reader: str) -> None:
    visits = READERS[reader](stays(*WHOLE), tmp_path)
    for covers in (
        "2024-03-03T00:00+09:00/PT12H",
        "2024-03-03T00:00:00.000001+09:00/P1D",
        "2024-03-04T00:00Z/P1D",
    ):
        assert "are declared to cover less" in stopped(visits, expected=Expected(covers=covers))
    fine(visits, expected=Expected(covers="2024-03-02T15:00Z/2024-03-03T15:00Z"))


@pytest.mark.parametrize(("far", "shown"), [(0, True), (1, True), (24, False), (30, False)])
def test_rows_show_what_is_covered_within_a_day_and_no_further(far: int, shown: bool) -> None:
    """Two days later may be another export, with the end of this one missing."""
    frame = stays(BEFORE, DAY.start + 3 * HOUR, DAY.end + far * HOUR)
    if shown:
        fine(frame)
    else:
        stopped(frame)
    frame = stays(DAY.start - HOUR - far * HOUR, DAY.start + 3 * HOUR, AFTER)
    if shown:
        fine(frame)
    elif far > 24:
        stopped(frame)


def test_stays_that_reach_over_a_border_show_nothing() -> None:
    """An export of all that touches the afternoon holds a night that began the day before."""
    night = Stay("p1", "bar", DAY.start - 9 * HOUR, DAY.start + 13 * HOUR)
    evening = Stay("p2", "bar", DAY.end - HOUR, DAY.end + 9 * HOUR)
    assert "before or after" in stopped(table([night, evening]))


def test_all_files_together_show_what_is_covered(tmp_path: Path) -> None:
    first = write_csv(stays(BEFORE, DAY.start + HOUR), tmp_path / "a.csv")
    second = write_csv(stays(DAY.start + 2 * HOUR, AFTER), tmp_path / "b.csv")
    stopped(first)
    stopped(second)
    fine([first, second])


@pytest.mark.parametrize("engine", ENGINES)
def test_at_an_instant_rows_lie_on_both_sides_of_the_time_a_sighting_holds(engine: str) -> None:
    at = NOON.start
    held = VisitFormat(hold="15min")

    def seen(*minutes: int) -> Any:
        times = [at + timedelta(minutes=minute) for minute in minutes]
        people = [f"p{n}" for n in range(len(minutes))]
        return ENGINES[engine](pl.DataFrame({"person": people, "place": "bar", "time": times}))

    fine(seen(-16, -2, 1), NOON, held)
    for minutes in ((-16, -2, 0), (-15, -2, 1), (-2,)):
        stopped(seen(*minutes), NOON, held)
    fine(seen(-2), NOON, held, expected=Expected(covers="2024-03-03T11:45+09:00/2024-03-03T12:01+09:00"))
    for covers in ("2024-03-03T11:46+09:00/PT1H", "2024-03-03T11:00+09:00/2024-03-03T12:00+09:00"):
        stopped(seen(-2), NOON, held, expected=Expected(covers=covers))


@pytest.mark.parametrize("engine", ENGINES)
def test_dates_show_what_is_covered_by_the_days_beside_it(engine: str) -> None:
    def on(*days: int) -> Any:
        people = [f"p{n}" for n in range(len(days))]
        dates = [date(2024, 3, day) for day in days]
        return ENGINES[engine](pl.DataFrame({"person": people, "place": "bar", "date": dates}))

    for window in (DAY, Window.parse("2024-03-03T12:00+09:00")):
        fine(on(2, 3, 4), window, TOKYO)
        for days in ((3, 4), (2, 3), (1, 3, 4), (2, 3, 5)):
            stopped(on(*days), window, TOKYO)


@settings(max_examples=30)
@given(st.lists(st.integers(-60, 60), min_size=1, max_size=6))
def test_every_engine_sees_the_same(hours: list[int]) -> None:
    starts = [DAY.start + hour * HOUR for hour in hours]
    before = any(-25 <= hour <= -1 for hour in hours)
    after = any(24 <= hour < 48 for hour in hours)
    for name, make in ENGINES.items():
        report = check_visits(make(stays(*starts)), places(), DAY)
        found = [each.reason for each in report.errors if each.doubt is Doubt.COVERAGE]
        assert bool(found) is not (before and after), name
        for side, there in (("before", before), ("after", after)):
            assert any(side in each.partition("wholly")[2] for each in found) is not (there or not found)


def files(folder: Path, *days: int) -> list[Path]:
    """One file a day, named by its date, each with rows of its own day alone."""
    made = []
    for day in days:
        at = DAY.start + (day - 3) * timedelta(days=1) + 5 * HOUR
        made.append(write_csv(stays(at), folder / f"visits-2024-03-{day:02}.csv"))
    return made


NAMED = Expected(covers="visits-%Y-%m-%d.csv")


def test_one_file_a_day_needs_one_declaration_once(tmp_path: Path) -> None:
    for day in (3, 4, 5):
        window = Window.parse(f"2024-03-{day:02}", "Asia/Tokyo")
        (today,) = files(tmp_path, day)
        stopped(today, window, TOKYO)
        fine(today, window, TOKYO, expected=NAMED)
    week = Window.parse("2024-03-03/P3D", "Asia/Tokyo")
    fine(tmp_path, week, TOKYO, expected=NAMED)
    (tmp_path / "visits-2024-03-04.csv").unlink()
    assert "declared to cover less" in stopped(tmp_path, week, TOKYO, expected=NAMED)
    (yesterday,) = files(tmp_path, 2)
    stopped(yesterday, DAY, TOKYO, expected=NAMED)


def test_names_tell_hours_parts_and_folders(tmp_path: Path) -> None:
    folder = tmp_path / "date=2024-03-03"
    folder.mkdir()
    for part in (1, 2):
        write_parquet(stays(DAY.start + part * HOUR), folder / f"part-{part}.parquet")
    fine(tmp_path, DAY, TOKYO, expected=Expected(covers="date=%Y-%m-%d/*.parquet"))
    morning = Window.parse("2024-03-03T09:00+09:00/PT2H")
    hours = tmp_path / "hours"
    hours.mkdir()
    for hour in (9, 10):
        write_csv(stays(morning.start), hours / f"20240303{hour:02}.csv")
    hourly = Expected(covers="%Y%m%d%H.csv")
    fine(hours, morning, TOKYO, expected=hourly)
    stopped(hours, Window.parse("2024-03-03T09:00+09:00/PT3H"), TOKYO, expected=hourly)


def test_days_in_names_are_days_of_the_declared_clock(tmp_path: Path) -> None:
    (today,) = files(tmp_path, 3)
    stopped(today, DAY, VisitFormat(timezone="Europe/Berlin"), expected=NAMED)
    with pytest.raises(BadQuestion, match="no time zone is declared"):
        count_visits(today, places(), DAY, expected=NAMED)


@pytest.mark.parametrize(
    "name", ["visits.csv", "visits-2024-03-3.csv", "visits-2024-02-30.csv", "my-visits-2024-03-03.csv"]
)
def test_a_file_that_is_named_otherwise_stops_the_work(tmp_path: Path, name: str) -> None:
    path = write_csv(stays(*WHOLE), tmp_path / name)
    with pytest.raises(BadFile, match="is not as it was declared to be"):
        count_visits(path, places(), DAY, TOKYO, expected=NAMED)


@pytest.mark.parametrize(
    "covers", ["visits-%Y.csv", "%Y-%m-%d-%d.csv", "%Y-%m-%d-%M.csv", "%y-%m-%d.csv", "100%"]
)
def test_names_that_tell_no_date(tmp_path: Path, covers: str) -> None:
    path = write_csv(stays(*WHOLE), tmp_path / "visits.csv")
    with pytest.raises(BadQuestion, match="do not tell a date"):
        count_visits(path, places(), DAY, TOKYO, expected=Expected(covers=covers))


def test_a_manifest_beside_the_files_declares_what_they_cover(tmp_path: Path) -> None:
    files(tmp_path, 3)
    (tmp_path / "covers.toml").write_text('covers = "2024-03-03"\n')
    fine(tmp_path, DAY, TOKYO)
    fine(tmp_path / "visits-2024-03-03.csv", DAY, TOKYO)
    (tmp_path / "covers.toml").write_text('covers = "visits-%Y-%m-%d.csv"\n')
    fine(tmp_path, DAY, TOKYO)
    stopped(tmp_path, Window.parse("2024-03-03/P2D", "Asia/Tokyo"), TOKYO)
    fine(
        tmp_path,
        Window.parse("2024-03-03/P2D", "Asia/Tokyo"),
        TOKYO,
        expected=Expected(covers="2024-03-01/P9D"),
    )


def test_folders_that_each_declare_something_must_each_cover_the_window(tmp_path: Path) -> None:
    """Of two hospitals one whole day and one morning are not one whole day."""
    for name, covers in (("north", "2024-03-03"), ("south", "2024-03-03T00:00/PT12H")):
        (tmp_path / name).mkdir()
        files(tmp_path / name, 3)
        (tmp_path / name / "covers.toml").write_text(f'covers = "{covers}"\n')
    fine(tmp_path / "north", DAY, TOKYO)
    stopped(tmp_path, DAY, TOKYO)
    (tmp_path / "south" / "covers.toml").unlink()
    with pytest.raises(BadFile, match="beside some of the visits, and none beside others"):
        count_visits(tmp_path, places(), DAY, TOKYO)
    (tmp_path / "north" / "covers.toml").rename(tmp_path / "covers.toml")
    fine(tmp_path, DAY, TOKYO)


@pytest.mark.parametrize(
    "content", ["", "covers = 3", "cover = '2024-03-03'", "covers = '2024-03-03'\nrows = 3", "covers ="]
)
def test_a_manifest_that_says_nothing(tmp_path: Path, content: str) -> None:
    (today,) = files(tmp_path, 3)
    (tmp_path / "covers.toml").write_text(content)
    with pytest.raises(BadFile, match="does not say what they cover"):
        count_visits(today, places(), DAY, TOKYO)


def test_what_is_declared_must_be_a_time_and_names_need_files() -> None:
    with pytest.raises(BadQuestion, match="as one moment"):
        count_visits(stays(*WHOLE), places(), DAY, expected=Expected(covers="2024-03-03T00:00Z"))
    with pytest.raises(BadQuestion, match="by the names of files, and there are none"):
        count_visits(stays(*WHOLE), places(), DAY, TOKYO, expected=NAMED)


def test_up_to_a_moment_only_that_part_must_be_covered() -> None:
    half = Expected(covers="2024-03-03T00:00+09:00/PT12H")
    frame = stays(DAY.start + HOUR)
    count_visits(frame, places(), DAY, expected=half, until=NOON.start)
    with pytest.raises(BadFile, match="declared to cover less") as caught:
        count_visits(frame, places(), DAY, expected=half, until=NOON.start + HOUR)
    assert "`known_on=`" in caught.value.do


def test_a_manifest_that_cannot_be_followed_is_no_missing_one(tmp_path: Path) -> None:
    write_csv(stays(*WHOLE), tmp_path / "visits.csv")
    (tmp_path / "covers.toml").symlink_to(tmp_path / "gone.toml")
    with pytest.raises(BadFile, match="does not say what they cover"):
        count_visits(tmp_path, places(), DAY)


def test_folders_that_a_star_stands_for_must_each_cover_the_window(tmp_path: Path) -> None:
    """One file a day of each of two hospitals, and one of them sent none today."""
    for name, days in (("north", (3, 4)), ("south", (4,))):
        (tmp_path / name).mkdir()
        files(tmp_path / name, *days)
    folders = Expected(covers="*/visits-%Y-%m-%d.csv")
    assert "declared to cover less" in stopped(tmp_path, DAY, TOKYO, expected=folders)
    files(tmp_path / "south", 3)
    fine(tmp_path, DAY, TOKYO, expected=folders)
    fine(tmp_path, DAY, TOKYO, expected=Expected(covers="*visits-%Y-%m-%d*"))
