"""The paper's own data, where a reader has them: Peopleflow records, one row for each moment of a person.

Columns: uid, latitude, longitude, placeID (a category), state (STAY or MOVE), timestamp in local time. As in
the paper, somebody visited a location when a row there says STAY with a category of 3 to 7, and the locations
are those that occur. (A release would never take its targets from the data; a study of the paper has to.)
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from safeside.errors import BadFile
from safeside_studies.movements import DAY, Movements

CATEGORIES: Final = (3, 4, 5, 6, 7)
"""Shops, restaurants, entertainment, groceries, schools and other buildings."""
PAPERS_DAY: Final = date(2013, 12, 22)
_COLUMNS: Final = {
    "uid": ("uid", "userid", "user_id", "pid"),
    "latitude": ("latitude", "lat"),
    "longitude": ("longitude", "lon", "lng"),
    "category": ("placeid", "place_id", "category"),
    "state": ("state",),
    "time": ("timestamp", "time", "datetime"),
}


def read_peopleflow(directory: Path) -> Movements:
    """Every CSV file of the directory as one data set."""
    files = sorted(directory.glob("*.csv")) if directory.is_dir() else []
    if not files:
        raise BadFile(
            f"{directory} holds no CSV file.",
            "Give the directory with the Peopleflow files (uid, latitude, longitude, placeID, state, "
            "timestamp).",
        )
    rows = pl.concat([_read(path) for path in files]).sort("uid", "time")
    if rows.is_empty():
        raise BadFile(f"The files in {directory} hold no rows.", "Check that the download is complete.")
    first = rows["time"].dt.date().min()
    stays = _stays(rows)
    if stays.is_empty() or not isinstance(first, date):
        raise BadFile(
            f"No row in {directory} is a STAY at a place of category 3 to 7.",
            "Check the columns placeID and state: the paper counts STAY rows of those categories.",
        )
    places = (
        stays.select("latitude", "longitude").unique().sort("latitude", "longitude").with_row_index("place")
    )
    stays = stays.join(places, on=["latitude", "longitude"])
    midnight = pl.lit(first).cast(pl.Datetime("us"))
    stays = stays.with_columns((pl.col("start", "end") - midnight).dt.total_minutes())
    shown = (PAPERS_DAY - first).days
    days = int(stays["start"].to_numpy().max()) // DAY + 1
    people = rows["uid"].n_unique()
    return Movements(
        person=stays["uid"].rank("dense").to_numpy().astype(np.int64) - 1,
        place=stays["place"].to_numpy().astype(np.int64),
        start=stays["start"].to_numpy().astype(np.int64),
        end=stays["end"].to_numpy().astype(np.int64),
        people=people,
        latitude=places["latitude"].cast(pl.Float64).to_numpy(),
        longitude=places["longitude"].cast(pl.Float64).to_numpy(),
        popularity=_popularity(stays, len(places), days, people),
        shown_day=shown if 0 <= shown < days else 0,
        source="Peopleflow",
    )


def _read(path: Path) -> pl.DataFrame:
    frame = pl.read_csv(path, infer_schema=False)
    found = {}
    for name, aliases in _COLUMNS.items():
        match = [column for column in frame.columns if column.strip().lower() in aliases]
        if not match:
            raise BadFile(
                f"{path} has no column for {name}.",
                f"Name it {aliases[0]}; the first line names the columns.",
            )
        found[name] = pl.col(match[0]).str.strip_chars()
    columns = frame.select(**found)
    try:
        return columns.with_columns(
            pl.col("time").str.to_datetime("%Y-%m-%d %H:%M:%S", time_unit="us"),
            # Categories are whole numbers, blank where a location has none.
            pl.col("category").replace("", None).cast(pl.Float64).cast(pl.Int64),
        )
    except pl.exceptions.InvalidOperationError:
        raise BadFile(
            f"{path} has a timestamp or placeID that cannot be read.",
            "Write timestamps as 2013-12-22 18:00:00 and placeID as a whole number or nothing.",
        ) from None


def _stays(rows: pl.DataFrame) -> pl.DataFrame:
    """Runs of rows of one person at one place; a run lasts until the person's next row."""
    here = pl.struct("latitude", "longitude", "category", "state")
    runs = rows.with_columns(
        until=pl.col("time").shift(-1).over("uid").fill_null(pl.col("time") + pl.duration(minutes=1)),
        run=here.rle_id().over("uid"),
    )
    return (
        runs.filter((pl.col("state").str.to_uppercase() == "STAY") & pl.col("category").is_in(CATEGORIES))
        .group_by("uid", "run", maintain_order=True)
        .agg(
            pl.col("latitude", "longitude").first(),
            start=pl.col("time").min(),
            end=pl.col("until").max(),
        )
        .select("uid", "latitude", "longitude", "start", "end")
    )


def _popularity(
    stays: pl.DataFrame, places: int, days: int, people: int
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Visits in a week for each thousand people, times the same error as in the city.

    Public popularity of these locations is not part of the data; this stands in for it.
    """
    visits = np.bincount(stays["place"].to_numpy(), minlength=places) * 7 / days * 1000 / people
    error = np.exp(np.random.default_rng(7).normal(0.0, np.log(2.0), places))
    popularity: np.ndarray[tuple[int], np.dtype[np.float64]] = visits * error
    return popularity
