"""Peopleflow records, written here from a small city, counted as the city is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from safeside.errors import BadFile
from safeside_studies import city
from safeside_studies.movements import DAY, Movements, read_city
from safeside_studies.peopleflow import read_peopleflow
from safeside_studies.reproduce import reproduce


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("town")
    city.generate(directory, people=300, places=80, days=3)
    return directory


@pytest.fixture(scope="module")
def records(town: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each stay as a row at its start, one in the middle, and a MOVE when it ends."""
    places = pl.read_csv(
        town / "places.csv", schema_overrides={"latitude": pl.String, "longitude": pl.String}
    )
    stays = pl.read_parquet(town / "visits.parquet").join(places, on="place")
    lines = []
    for row in stays.iter_rows(named=True):
        middle = row["start"] + (row["end"] - row["start"]) / 2
        for moment, state, category in (
            (row["start"], "STAY", "3"),
            (middle, "STAY", "3"),
            (row["end"], "MOVE", ""),
        ):
            text = moment.strftime("%Y-%m-%d %H:%M:%S")
            lines.append((row["person"], row["latitude"], row["longitude"], category, state, text))
    directory = tmp_path_factory.mktemp("peopleflow")
    half = len(lines) // 2
    for name, part in (("a.csv", lines[:half]), ("b.csv", lines[half:])):
        table = pl.DataFrame(
            part, schema=["uid", "lat", "lon", "placeID", "state", "timestamp"], orient="row"
        )
        table.write_csv(directory / name)
    return directory


def _by_position(data: Movements, counts: np.ndarray) -> dict[tuple[float, float], int]:
    return {
        (lat, lon): int(count)
        for lat, lon, count in zip(data.latitude, data.longitude, counts, strict=True)
        if count
    }


def test_the_same_people_at_the_same_places(town: Path, records: Path) -> None:
    expected, found = read_city(town), read_peopleflow(records)
    assert found.people == expected.people
    for minute in (13 * 60, DAY + 18 * 60, 2 * DAY + 18 * 60):
        assert _by_position(found, found.at(minute)) == _by_position(expected, expected.at(minute))
    assert _by_position(found, found.day(2)) == _by_position(expected, expected.day(2))
    assert found.shown_day == 2
    assert found.source == "Peopleflow"


def test_a_study_runs_on_it(records: Path, tmp_path: Path) -> None:
    done = reproduce(tmp_path, figures=["figure2", "figure5"], quick=True, peopleflow=records)
    # In so small a town one lucky answer is many standard errors where a twentieth of one is expected.
    found = [one for outcome in done.outcomes for one in outcome.findings if (one.theory or 0.0) > 1]
    assert len(found) > 5
    assert not [one for one in found if one.deviation >= 4.5]
    assert "Peopleflow" in done.report.read_text(encoding="utf-8")


def test_other_categories_and_moves_do_not_count(tmp_path: Path) -> None:
    rows = ["uid,lat,lon,placeID,state,timestamp"]
    rows += [
        "1,35.1,139.1,3,STAY,2013-12-22 18:00:00",
        "1,35.1,139.1,3,STAY,2013-12-22 18:05:00",
        "2,35.1,139.1,1,STAY,2013-12-22 18:00:00",
        "3,35.1,139.1,3,MOVE,2013-12-22 18:00:00",
    ]
    (tmp_path / "day.csv").write_text("\n".join(rows) + "\n")
    data = read_peopleflow(tmp_path)
    assert data.people == 3
    assert data.at(18 * 60).tolist() == [1]
    assert data.at(18 * 60 + 5).tolist() == [1]
    assert data.at(18 * 60 + 6).tolist() == [0]


@pytest.mark.parametrize(
    ("content", "what", "do"),
    [
        (None, "holds no CSV file.", "Give the directory with the Peopleflow files"),
        ("uid,lat,lon,placeID,state\n", "has no column for time.", "Name it timestamp"),
        ("uid,lat,lon,placeID,state,timestamp\n", "hold no rows.", "Check that the download is complete."),
        (
            "uid,lat,lon,placeID,state,timestamp\n1,35,139,3,STAY,yesterday\n",
            "has a timestamp or placeID that cannot be read.",
            "Write timestamps as 2013-12-22 18:00:00",
        ),
        (
            "uid,lat,lon,placeID,state,timestamp\n1,35,139,1,STAY,2013-12-22 18:00:00\n",
            "is a STAY at a place of category 3 to 7.",
            "Check the columns placeID and state",
        ),
    ],
)
def test_what_cannot_be_read_says_so(tmp_path: Path, content: str | None, what: str, do: str) -> None:
    if content is not None:
        (tmp_path / "day.csv").write_text(content)
    with pytest.raises(BadFile) as caught:
        read_peopleflow(tmp_path)
    assert what in caught.value.what
    assert caught.value.do.startswith(do)
