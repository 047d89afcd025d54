"""What tests of visits share: rows to choose from, and the same rows on every engine."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
from hypothesis import strategies as st
from tests.visits.plain import Stay

from safeside import visits as real
from safeside.progress import quiet
from safeside.visits import Counts, Expected, Places, Report, VisitFormat, Window, read_places
from safeside.visits.count.scan import Tally, run
from safeside.visits.count.sorted_keys import USUAL, Tuning
from safeside.visits.read.source import open_paths, open_visits
from safeside.visits.times.every import Windows

PLACES = ("bar", "café", "gym", "museum", "school")
DAY = Window.parse("2024-03-03", "Asia/Tokyo")
NOON = Window.parse("2024-03-03T12:00+09:00")
AROUND = [DAY.start, DAY.end, NOON.start]
"""Moments at which something changes: times are drawn near them, on them and just beside them."""


def places() -> Places:
    return read_places(list(PLACES))


people = st.one_of(
    st.sampled_from(["ana", "ben", "chi", "dev", "ève", "f f"]),
    st.text(st.characters(categories=["Lu", "Ll", "Lo"]), min_size=1, max_size=4).map("x".__add__),
)
offsets = st.one_of(
    st.sampled_from([-1, 0, 1]).map(lambda us: timedelta(microseconds=us)),
    st.integers(-90_000, 90_000).map(lambda s: timedelta(seconds=s)),
)
times = st.builds(lambda at, by: at + by, st.sampled_from(AROUND), offsets)
lengths = st.one_of(st.just(timedelta(0)), st.integers(1, 200_000).map(lambda s: timedelta(seconds=s)))
stays = st.lists(
    st.builds(
        lambda person, place, start, length: Stay(person, place, start, start + length),
        people,
        st.sampled_from(PLACES),
        times,
        lengths,
    ),
    min_size=1,
    max_size=25,
)
sightings = st.lists(st.tuples(people, st.sampled_from(PLACES), times), min_size=1, max_size=25)


def table(rows: list[Stay], *, zone: str | None = "UTC", unit: str = "us") -> pl.DataFrame:
    """Stays as a dataframe with zoned times."""
    frame = pl.DataFrame(
        {
            "person": [row.person for row in rows],
            "place": [row.place for row in rows],
            "start": [row.start for row in rows],
            "end": [row.end for row in rows],
        }
    )
    times = [pl.col("start", "end").dt.cast_time_unit(unit)]
    if zone is not None and rows and rows[0].start.tzinfo is not None:
        times = [each.dt.convert_time_zone(zone) for each in times]
    return frame.with_columns(times)


def duck(frame: pl.DataFrame) -> Any:
    import duckdb

    connection = duckdb.connect()
    connection.register("visits", frame.to_arrow())
    return connection.sql("select * from visits")


def everywhere(frame: pl.DataFrame, *, files: bool = True) -> Iterator[tuple[str, Any]]:
    """The same rows in every dataframe, and as files."""
    for name, make in ENGINES.items():
        yield name, make(frame)
    if files:
        with tempfile.TemporaryDirectory() as directory:
            yield "csv", write_csv(frame, Path(directory) / "visits.csv")
            yield "parquet", write_parquet(frame, Path(directory) / "visits.parquet")


ENGINES: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda frame: frame,
    "polars lazy": lambda frame: frame.lazy(),
    "pandas": lambda frame: frame.to_pandas(),
    "pandas on arrow": lambda frame: frame.to_pandas(use_pyarrow_extension_array=True),
    "pyarrow": lambda frame: frame.to_arrow(),
    "duckdb": duck,
}


def write_csv(frame: pl.DataFrame, path: Path) -> Path:
    """Text as exporters write it: ISO times in UTC."""
    written = [
        pl.col(name).dt.convert_time_zone("UTC").dt.to_string("%Y-%m-%dT%H:%M:%S%.6fZ")
        for name, kind in frame.schema.items()
        if isinstance(kind, pl.Datetime)
    ]
    frame.with_columns(written).write_csv(path)
    return path


def write_parquet(frame: pl.DataFrame, path: Path) -> Path:
    frame.write_parquet(path)
    return path


def at(text: str) -> datetime:
    """A moment, written shortly."""
    return datetime.fromisoformat(text).astimezone(UTC)


def scanned(
    visits: Any,
    listed: Places,
    window: Window | Sequence[Window],
    tuning: Tuning = USUAL,
    *,
    per_person: bool = True,
) -> Tally:
    """What the scan of a count brings back, before anything stops on it."""
    opened = open_paths(visits, VisitFormat(), key=None, progress=quiet)
    source = open_visits(visits, opened, VisitFormat())
    return run(source, listed, Windows.of(window), per_person=per_person, tuning=tuning)


EVER = "1900-01-02T00:00Z/2199-12-30T00:00Z"
"""What a few rows cover that are all there are."""


def count_visits(
    visits: Any, places: Places, window: Window | Sequence[Window], *more: Any, **also: Any
) -> Counts:
    """Count visits that are declared to cover every window, unless the test declares what they cover."""
    return real.count_visits(visits, places, window, *more, **covering(also))


def check_visits(visits: Any, places: Places, *more: Any, **also: Any) -> Report:
    """Check them, declared in the same way."""
    return real.check_visits(visits, places, *more, **covering(also))


def covering(also: dict[str, Any]) -> dict[str, Any]:
    known = also.get("expected") or Expected()
    return {**also, "expected": replace(known, covers=known.covers or EVER)}
