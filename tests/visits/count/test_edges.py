"""Undercounts at the edges: spellings of times, names that are patterns, promises of an order, cut lines."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.visits.count.test_attacks import MORNING, PLACES, at, bar, visits_in, written
from tests.visits.making import count_visits

from safeside.errors import BadFile, BadQuestion
from safeside.visits import Expected, VisitFormat, Window


@pytest.mark.parametrize("second", ["60", "60.5"])
def test_a_leap_second_is_not_moved_into_the_next_day(tmp_path: Path, second: str) -> None:
    """Polars reads it as the first second of the next minute."""
    day = Window.parse("2016-12-31", "UTC")
    path = written(tmp_path, f"2016-12-31T23:59:{second}Z", "2017-01-01T00:30:00Z")
    for layout in (None, "%Y-%m-%dT%H:%M:%S%.fZ"):
        with pytest.raises(BadFile, match="Column start: a time that cannot be read"):
            count_visits(path, PLACES, day, VisitFormat(time_format=layout, timezone="UTC"))


@pytest.mark.parametrize(
    ("layout", "start", "end"),
    [
        ("%Y-%m-%d %T", "2016-12-31 23:59:60", "2017-01-01 00:30:00"),
        ("%Y%m%d%H%M%S", "20161231235960", "20170101003000"),
        ("%Y%m%d%H%M%S%3f", "20161231235960160", "20170101003000160"),
        ("%d.%m.%Y %I:%M:%S %p", "31.12.2016 11:59:60 PM", "01.01.2017 12:30:00 AM"),
        ("%Y-%m-%d %H:%M:%S.%f", "2016-12-31 23:59:60.60", "2017-01-01 00:30:00.60"),
    ],
)
def test_nor_in_a_declared_format(tmp_path: Path, layout: str, start: str, end: str) -> None:
    path = written(tmp_path, start, end)
    fmt = VisitFormat(time_format=layout, timezone="UTC")
    with pytest.raises(BadFile, match="Column start: a time that cannot be read"):
        count_visits(path, PLACES, Window.parse("2016-12-31", "UTC"), fmt)


@pytest.mark.parametrize(
    ("layout", "start", "end"),
    [
        ("%Y-%m-%d %H:%M:%S.%f", "2024-03-01 09:00:00.60", "2024-03-01 11:00:59.160"),
        ("%Y-%m-%d %H:%M:%S%.f %z", "2024-03-01 09:00:00.60 +0000", "2024-03-01 11:06:00 +0000"),
    ],
)
def test_sixty_elsewhere_is_no_leap_second(tmp_path: Path, layout: str, start: str, end: str) -> None:
    fmt = VisitFormat(time_format=layout, timezone="UTC")
    assert count_visits(written(tmp_path, start, end), PLACES, MORNING, fmt).values.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("zone", "clock"),
    [
        ("+09:00", "UTC"),
        ("+0900", "Asia/Tokyo"),
        (" JST", "UTC"),
        (" CET", "Europe/Berlin"),
        (" EST", "UTC"),
        ("[Asia/Tokyo]", "UTC"),
        (" UTC", "Asia/Tokyo"),
        (" GMT+9", "UTC"),
        ("z", "Asia/Tokyo"),
        (" MEZ", "UTC"),
    ],
)
def test_a_zone_spelled_in_the_format_is_the_declared_one(tmp_path: Path, zone: str, clock: str) -> None:
    path = written(tmp_path, f"2024-03-01 09:00{zone}", f"2024-03-01 11:00{zone}")
    fmt = VisitFormat(time_format=f"%Y-%m-%d %H:%M{zone}", timezone=clock)
    with pytest.raises(BadQuestion, match="has a zone in it"):
        count_visits(path, PLACES, MORNING, fmt)


def test_a_zone_in_front_of_the_time_is_found_too(tmp_path: Path) -> None:
    path = written(tmp_path, "JST 2024-03-01 18:00", "JST 2024-03-01 20:00")
    with pytest.raises(BadQuestion, match="has a zone in it"):
        count_visits(path, PLACES, MORNING, VisitFormat(time_format="JST %Y-%m-%d %H:%M", timezone="UTC"))
    tokyo = VisitFormat(time_format="JST %Y-%m-%d %H:%M", timezone="Asia/Tokyo")
    assert count_visits(path, PLACES, MORNING, tokyo).values.tolist() == [1, 0]


def test_a_name_that_is_also_a_pattern_leaves_no_file_out(tmp_path: Path) -> None:
    visits_in(tmp_path / "v*.csv", "ana")
    alone = str(tmp_path / "v*.csv")
    assert bar(alone) == 1
    visits_in(tmp_path / "v2.csv", "ben")
    with pytest.raises(BadQuestion, match="a pattern that others match") as refused:
        bar(alone)
    assert "v[*].csv" in refused.value.do
    assert bar(str(tmp_path / "v[*].csv")) == 1
    assert bar(tmp_path) == 2
    assert bar([str(tmp_path / "v[*].csv"), tmp_path / "v2.csv"]) == 2


def promised(frame: pl.DataFrame, folder: Path, column: str) -> dict[str, pl.LazyFrame]:
    """The same visits in plans that read a file, each with a promise of an order that is not there."""
    frame.write_parquet(folder / "visits.parquet")
    scan = pl.scan_parquet(folder / "visits.parquet")
    sworn = pl.col(column).set_sorted()
    return {
        "hint": scan.set_sorted(column),
        "column": scan.with_columns(sworn),
        "function": scan.map_batches(lambda rows: rows.with_columns(sworn)),
        "memory": pl.concat([scan.head(0), frame.with_columns(sworn).lazy()]),
    }


@pytest.mark.parametrize("column", ["person", "place", "start", "end"])
def test_no_promise_of_an_order_is_believed_of_a_lazy_scan(tmp_path: Path, column: str) -> None:
    hours = [11, 9, 12, 8, 9, 13, 9]
    frame = pl.DataFrame(
        {
            "person": [4, 1, 5, 3, 2, 7, 6],
            "place": ["bar", "gym", "bar", "bar", "gym", "bar", "bar"],
            "start": [at(hour) for hour in hours],
            "end": [at(hour + 2) for hour in hours],
        }
    )
    truth = count_visits(frame, PLACES, MORNING).values.tolist()
    assert truth == [1, 2]
    for name, visits in promised(frame, tmp_path, column).items():
        assert count_visits(visits, PLACES, MORNING).values.tolist() == truth, name


CUT = "start,end,place,person\n2024-03-01T09:00:00Z,2024-03-01T11:00:00Z,bar,"


def counted(path: Path, content: str, rows: int) -> list[int]:
    path.write_text(content)
    return count_visits(path, PLACES, MORNING, expected=Expected(rows=rows)).values.tolist()


def test_the_number_of_rows_does_not_show_whether_the_last_field_was_cut(tmp_path: Path) -> None:
    """Of ana and anabel, cut to ana, one would be left."""
    path = tmp_path / "visits.csv"
    both = f"{CUT}ana\n{CUT.splitlines()[1]}anabel"
    with pytest.raises(
        BadFile, match="the declared number of rows agrees, but its last field may be cut off"
    ):
        counted(path, both[:-3], 2)
    assert counted(path, f"{both}\n", 2) == [2, 0]
    assert counted(path, f'{CUT}ana\n{CUT.splitlines()[1]}"anabel"', 2) == [2, 0]


def test_a_last_field_that_nobody_uses_may_be_cut(tmp_path: Path) -> None:
    content = "person,place,start,end,note\nana,bar,2024-03-01T09:00:00Z,2024-03-01T11:00:00Z,fi"
    assert counted(tmp_path / "visits.csv", content, 1) == [1, 0]
