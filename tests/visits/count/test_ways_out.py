"""Stops that may be wrong: each has a declaration that lifts it, and every answer then says so."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.visits.making import ENGINES, check_visits, count_visits

from safeside.errors import BadFile
from safeside.visits import Expected, VisitFormat, Window, read_places

PLACES = read_places(["Bar", "gym"])
LATER = Window.parse("2024-03-01T10:00Z/2024-03-01T11:00Z")
TIMES = "Times in 1970, before 1900 or after 2199 are taken as they are written."
SPELLING = "A place that is written almost like a listed one is another place."
HALF = Expected(unlisted="50%")


def stays(*rows: tuple[str, str, datetime, datetime]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=["person", "place", "start", "end"], orient="row")
    return frame.with_columns(pl.col("start", "end").cast(pl.Datetime("us", "UTC")))


def at(year: int, hour: int = 10) -> datetime:
    return datetime(year, 3, 1, hour, tzinfo=UTC)


def as_text(frame: pl.DataFrame, folder: Path) -> Path:
    moments = pl.col("start", "end").dt.to_string("%Y-%m-%dT%H:%M:%SZ")
    frame.with_columns(moments).write_csv(folder / "visits.csv")
    return folder / "visits.csv"


def numbers(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col("start", "end").dt.epoch("s"))


@pytest.mark.parametrize("kind", ["timestamps", "text", "numbers"])
@pytest.mark.parametrize("year", [1970, 1850, 2230])
def test_old_and_future_visits_beside_those_asked_about(tmp_path: Path, kind: str, year: int) -> None:
    frame = stays(("ana", "gym", at(year), at(year, 12)), ("ben", "gym", at(2024), at(2024, 12)))
    visits: Any = {"timestamps": frame, "text": as_text(frame, tmp_path), "numbers": numbers(frame)}[kind]
    layout = "epoch-s" if kind == "numbers" else None
    report = check_visits(visits, PLACES, LATER, VisitFormat(time_format=layout))
    assert [finding.rows for finding in report.errors] == [1]
    assert "`trust_times=True`" in report.errors[0].do
    declared = VisitFormat(time_format=layout, trust_times=True)
    counts = count_visits(visits, PLACES, LATER, declared)
    assert counts.values.tolist() == [0, 1]
    assert TIMES in counts.exclusions
    trusted = check_visits(visits, PLACES, LATER, declared)
    assert trusted.fine
    assert TIMES in trusted.exclusions


def test_a_stay_since_ever_is_not_lost() -> None:
    """A beginning before all times, as some write it who do not know it."""
    frame = stays(("ana", "gym", at(1), at(2024, 12)))
    assert count_visits(frame, PLACES, LATER, VisitFormat(trust_times=True)).values.tolist() == [0, 1]


def test_missing_times_are_trusted_by_nobody(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("person,place,start,end\nana,gym,,2024-03-01T12:00:00Z\n")
    with pytest.raises(BadFile, match="no start"):
        count_visits(path, PLACES, LATER, VisitFormat(trust_times=True))


@pytest.mark.parametrize("other", ["bar", "BAR", " Bar", "0Bar"])
def test_another_place_of_almost_the_same_name(other: str) -> None:
    frame = stays(("ana", other, at(2024), at(2024, 12)), ("ben", "Bar", at(2024), at(2024, 12)))
    with pytest.raises(BadFile, match="1 place looks like a listed place written in another way") as refused:
        count_visits(frame, PLACES, LATER, exclude_unknown_places=True)
    assert "`trust_places=True`" in refused.value.do
    declared = VisitFormat(trust_places=True)
    counts = count_visits(frame, PLACES, LATER, declared, exclude_unknown_places=True, expected=HALF)
    assert counts.values.tolist() == [1, 0]
    assert SPELLING in counts.exclusions
    report = check_visits(frame, PLACES, LATER, declared, exclude_unknown_places=True, expected=HALF)
    assert report.fine
    assert SPELLING in report.exclusions
    # What is not listed stops the work all the same, unless that was declared too.
    with pytest.raises(BadFile, match="1 place is visited and not listed"):
        count_visits(frame, PLACES, LATER, declared)


def test_two_listed_places_of_almost_the_same_name() -> None:
    frame = stays(("ana", "bar", at(2024), at(2024, 12)), ("ben", "Bar", at(2024), at(2024, 12)))
    counts = count_visits(frame, read_places(["Bar", "bar"]), LATER)
    assert counts.values.tolist() == [1, 1]


def visits_in(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return as_text(stays((path.stem, "gym", at(2024), at(2024, 12))), path.parent).rename(path)


@pytest.mark.parametrize(
    ("names", "pattern"),
    [
        (["a.csv", "b.csv", "README.md"], "*.csv"),
        (["a.csv", "deep/b.csv", "deep/notes.docx"], "**/*.csv"),
        (["a.CSV", "README"], "*.CSV"),
    ],
)
@pytest.mark.parametrize("folder", ["visits", "May [1] 'x'"])
def test_the_pattern_for_all_but_the_odd_file(
    tmp_path: Path, names: list[str], pattern: str, folder: str
) -> None:
    """What is advised, pasted into a shell, is exactly the rest of the folder."""
    import shlex

    given = [visits_in(tmp_path / folder / name) for name in names]
    odd = given[-1].name
    with pytest.raises(BadFile, match=f"also holds {odd}, which is neither CSV nor Parquet") as refused:
        count_visits(tmp_path / folder, PLACES, LATER)
    advised = shlex.split(refused.value.do.partition("give ")[2].partition(" instead of")[0])
    assert [word.endswith(pattern) for word in advised] == [True]
    assert count_visits(advised[0], PLACES, LATER).values.tolist() == [0, len(given) - 1]


@pytest.mark.parametrize("names", [["a.csv", "b.txt", "x.docx"], ["a.csv", ".b.csv", "x.docx", "y.docx"]])
def test_no_pattern_that_would_lose_a_file(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        visits_in(tmp_path / name)
    odd = [name for name in names if name.endswith("docx")]
    more = " and 1 more, which are neither" if len(odd) > 1 else ", which is neither"
    with pytest.raises(BadFile, match=rf"also holds x.docx{more} CSV nor Parquet") as refused:
        count_visits(tmp_path, PLACES, LATER)
    assert "give the files by their names instead of the folder" in refused.value.do


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize("year", [1, 1899, 1970, 2200, 9999])
def test_a_time_that_stands_for_none_stops_wherever_it_lies(engine: str, year: int) -> None:
    """Zoned timestamps too: zeros, first and last days are what others write for a time they do not know."""
    frame = stays(("ana", "Bar", at(2024), at(2024, 11)), ("ben", "Bar", at(year), at(year)))
    visits = ENGINES[engine](frame)
    with pytest.raises(BadFile, match=r"a time (in 1970|before 1900 or after 2199)"):
        count_visits(visits, PLACES, LATER)
    trusted = count_visits(visits, PLACES, LATER, VisitFormat(trust_times=True))
    assert trusted.values.tolist() == [1, 0]
    assert TIMES in trusted.exclusions
