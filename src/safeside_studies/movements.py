"""Counts of people per place for the studies: many windows of one data set, held as plain arrays.

A study asks for hundreds of windows, so the stays are read once and kept. For a release, and for anything
whose rows are not known to be clean, `safeside.visits` counts, with every check; a test holds the two equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from safeside.errors import BadFile

Whole = NDArray[np.int64]
DAY: Final = 1440


@dataclass(frozen=True, kw_only=True)
class Movements:
    """Stays of people at listed places; minutes are local and counted from the first midnight."""

    person: Whole
    place: Whole
    start: Whole
    end: Whole
    people: int
    latitude: NDArray[np.float64]
    longitude: NDArray[np.float64]
    popularity: NDArray[np.float64]
    shown_day: int
    """The day the figures show."""
    source: str

    @property
    def places(self) -> int:
        """How many places are listed."""
        return len(self.latitude)

    @property
    def visits(self) -> int:
        """How many stays there are."""
        return len(self.person)

    @property
    def days(self) -> int:
        """How many days have a stay that starts on them."""
        return int(self.start.max()) // DAY + 1 if len(self.start) else 0

    @property
    def evening(self) -> int:
        """6 p.m. of the day shown."""
        return self.shown_day * DAY + 18 * 60

    def day(self, number: int) -> Whole:
        """Distinct people at each place on one day."""
        return self.between(number * DAY, (number + 1) * DAY)

    def at(self, minute: int) -> Whole:
        """Distinct people at each place at one minute."""
        return self.between(minute, minute + 1)

    def between(self, begin: int, end: int) -> Whole:
        """Distinct people at each place in [begin, end)."""
        return self.in_groups(begin, end, np.arange(self.places))

    def in_groups(self, begin: int, end: int, group: Whole) -> Whole:
        """Distinct people in each group of places in [begin, end); `group` has a number for each place."""
        size = int(group.max()) + 1
        here = (self.start < end) & (self.end > begin)
        pairs = np.unique(self.person[here] * size + group[self.place[here]])
        return np.bincount(pairs % size, minlength=size).astype(np.int64)


def read_city(directory: Path) -> Movements:
    """A city that `safeside generate` wrote."""
    visits, listed = directory / "visits.parquet", directory / "places.csv"
    for path in (visits, listed):
        if not path.exists():
            raise BadFile(f"{path} does not exist.", "Write a city there first: safeside generate DIR.")
    places = pl.read_csv(listed, schema_overrides={"place": pl.String})
    rows = pl.read_parquet(visits).with_columns(pl.col("person", "place").cast(pl.String))
    first = rows["start"].min()
    numbered = rows.join(places.select("place").with_row_index("number"), on="place", how="inner")
    person = numbered["person"].rank("dense").to_numpy().astype(np.int64) - 1
    return Movements(
        person=person,
        place=numbered["number"].to_numpy().astype(np.int64),
        start=_minutes(numbered["start"], first),
        end=_minutes(numbered["end"], first),
        people=rows["person"].n_unique(),
        latitude=places["latitude"].to_numpy(),
        longitude=places["longitude"].to_numpy(),
        popularity=places["popularity"].to_numpy(),
        shown_day=2,
        source="the synthetic city",
    )


def _minutes(moments: pl.Series, first: object) -> Whole:
    """Local minutes since the midnight before the first stay."""
    origin = pl.Series([first], dtype=moments.dtype).dt.truncate("1d")[0]
    minutes: Whole = (moments - origin).dt.total_minutes().to_numpy().astype(np.int64)
    return minutes
