"""Attempts to make a count smaller than the truth: each must stop, or count everybody."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from safeside.errors import BadFile, BadQuestion
from safeside.visits import VisitFormat, Window, count_visits, read_places

PLACES = read_places(["bar", "gym"])
MORNING = Window.parse("2024-03-01T10:00Z/2024-03-01T10:30Z")


def at(hour: int, minute: int = 0) -> datetime:
    return datetime(2024, 3, 1, hour, minute, tzinfo=UTC)


def stays(persons: Any) -> pl.DataFrame:
    """Everybody at the bar all morning."""
    people = pl.Series("person", persons)
    return pl.DataFrame(
        {
            "person": people,
            "place": ["bar"] * len(people),
            "start": [at(9)] * len(people),
            "end": [at(11)] * len(people),
        }
    )


def written(folder: Path, start: str, end: str) -> Path:
    """One stay at the bar, its times written so."""
    path = folder / "visits.csv"
    path.write_text(f"person,place,start,end\nana,bar,{start},{end}\n")
    return path


# Berlin's clock went from 03:00 back to 02:00 at 01:00 UTC.
FIRST_HALF_PAST, SECOND_HALF_PAST = "2024-10-27T02:30+02:00", "2024-10-27T02:30+01:00"


@pytest.mark.parametrize("instant", [FIRST_HALF_PAST, SECOND_HALF_PAST])
def test_the_last_of_two_sightings_is_not_guessed_where_the_clock_went_back(instant: str) -> None:
    seen = pl.DataFrame(
        {
            "person": ["ana", "ana"],
            "place": ["bar", "gym"],
            "time": [datetime(2024, 10, 27, 2, 25), datetime(2024, 10, 27, 2, 10)],
        }
    )
    fmt = VisitFormat(hold="2h", timezone="Europe/Berlin")
    with pytest.raises(BadFile, match="two places"):
        count_visits(seen, PLACES, Window.parse(instant), fmt)
    both = count_visits(seen, PLACES, Window.parse(instant), fmt, max_places_per_person=2)
    assert both.values.tolist() == [1, 1]


def test_the_last_sighting_is_known_again_once_the_hold_is_past_the_change() -> None:
    seen = pl.DataFrame(
        {
            "person": ["ana", "ana"],
            "place": ["bar", "gym"],
            "time": [datetime(2024, 10, 27, 8, 10), datetime(2024, 10, 27, 8, 25)],
        }
    )
    fmt = VisitFormat(hold="2h", timezone="Europe/Berlin")
    counts = count_visits(seen, PLACES, Window.parse("2024-10-27T08:30+01:00"), fmt)
    assert counts.values.tolist() == [0, 1]


def test_empty_bytes_are_no_person() -> None:
    with pytest.raises(BadFile, match=r"no person \(2 rows\)"):
        count_visits(stays([b"", b"", b"\x01"]), PLACES, MORNING)


@pytest.mark.parametrize("zone", ["Z", " UTC", " GMT", "+00:00", "+0000", "+00"])
def test_a_zone_written_in_the_format_is_not_skipped(tmp_path: Path, zone: str) -> None:
    path = written(tmp_path, f"2024-03-01 09:00:00{zone}", f"2024-03-01 11:00:00{zone}")
    layout = f"%Y-%m-%d %H:%M:%S{zone}"
    for clock in ("Asia/Tokyo", None):
        with pytest.raises(BadQuestion, match="ends in a zone") as refused:
            count_visits(path, PLACES, MORNING, VisitFormat(time_format=layout, timezone=clock))
        assert "%z" in refused.value.do
    counts = count_visits(path, PLACES, MORNING, VisitFormat(time_format=layout, timezone="UTC"))
    assert counts.values.tolist() == [1, 0]


@pytest.mark.parametrize("layout", ["%H:%M:%S.%9f", "%H:%M:%S%.9f", "%H:%M:%S%.f"])
def test_an_end_is_not_cut_to_microseconds(tmp_path: Path, layout: str) -> None:
    path = written(tmp_path, "2024-03-01 09:00:00.000000000", "2024-03-01 10:00:00.000000500")
    fmt = VisitFormat(time_format=f"%Y-%m-%d {layout}", timezone="UTC")
    assert count_visits(path, PLACES, MORNING, fmt).values.tolist() == [1, 0]


def visits_in(path: Path, person: str) -> Path:
    """A file with one stay at the bar."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"person,place,start,end\n{person},bar,2024-03-01T09:00:00Z,2024-03-01T11:00:00Z\n",
    )
    return path


def bar(visits: Any) -> int:
    return int(count_visits(visits, PLACES, MORNING).values[0])


@pytest.mark.parametrize("name", ["part-00001", "b.csv.gz", "b.txt.bak", "README"])
def test_no_file_in_a_folder_is_passed_over(tmp_path: Path, name: str) -> None:
    visits_in(tmp_path / "a.csv", "ana")
    visits_in(tmp_path / "deep" / name, "ben")
    with pytest.raises(BadFile, match=f"also holds {name}, which is neither CSV nor Parquet") as refused:
        bar(tmp_path)
    assert "pattern" in refused.value.do


def test_markers_of_an_export_are_passed_over(tmp_path: Path) -> None:
    visits_in(tmp_path / "a.csv", "ana")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".a.csv.crc").touch()
    assert bar(tmp_path) == 1


def test_hidden_files_of_visits_are_read(tmp_path: Path) -> None:
    visits_in(tmp_path / "a.csv", "ana")
    visits_in(tmp_path / "_b.csv", "ben")
    visits_in(tmp_path / ".c.CSV", "chi")
    assert bar(tmp_path) == 3


def test_linked_folders_are_entered_once(tmp_path: Path) -> None:
    visits_in(tmp_path / "in" / "a.csv", "ana")
    visits_in(tmp_path / "out" / "b.csv", "ben")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "out")
    (tmp_path / "in" / "back").symlink_to(tmp_path / "in")
    assert bar(tmp_path / "in") == 2


@pytest.mark.parametrize("pattern", ["*", "**", "[av]*"])
def test_folders_that_a_pattern_matches_are_opened(tmp_path: Path, pattern: str) -> None:
    visits_in(tmp_path / "a.csv", "ana")
    visits_in(tmp_path / "visits.csv" / "part-0.csv", "ben")
    assert bar(str(tmp_path / pattern)) == 2
    assert bar(tmp_path) == 2
