"""Stay detection, by a mobility library: only ever with an answer that reads "stays of at least M minutes".

Fixes outside every stay are left out, and that is the whole of the exclusion: each stay keeps all its
fixes, so it counts at every place any of them may have been at, for the whole time it lasted. Gaps in the
signal do not end a stay, and the last stay of a person, which the library drops unless told otherwise, is
kept.
"""

from __future__ import annotations

import warnings
from typing import Any, Final

import polars as pl

from safeside.errors import BadQuestion, MissingExtra
from safeside.visits.format import StayRule

_MOMENT: Final = pl.Datetime("us", "UTC")
_NO_GAP: Final = 10.0**7
"""Minutes: nineteen years. A silent phone is taken to have stayed where it was."""


def detect_stays(fixes: pl.DataFrame, rule: StayRule) -> pl.DataFrame:
    """Fixes (person, time, latitude, longitude, accuracy if there is one) as rows with the start and end of
    their stay.
    """
    if not isinstance(fixes.schema["time"], pl.Datetime) or fixes.schema["time"].time_zone is None:
        raise BadQuestion(
            "Stay detection needs times with a zone.", "Convert the time column to zoned timestamps first."
        )
    pandas, geopandas, trackintel = _libraries()
    people = fixes.select("person").unique(maintain_order=True).with_row_index("user")
    table = fixes.join(people, on="person", nulls_equal=True).sort("user", "time")
    seen = pandas.to_datetime(table["time"].dt.epoch("us").to_numpy(), unit="us", utc=True)
    points = geopandas.GeoDataFrame(
        {"user_id": table["user"].to_numpy().astype("int64"), "tracked_at": seen},
        geometry=geopandas.points_from_xy(table["longitude"].to_numpy(), table["latitude"].to_numpy()),
        crs="EPSG:4326",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fixed, found = trackintel.Positionfixes(points).generate_staypoints(
            method="sliding",
            dist_threshold=rule.metres,
            time_threshold=float(rule.minutes),
            gap_threshold=_NO_GAP,
            include_last=True,
            exclude_duplicate_pfs=False,
        )
    return _with_stays(table, fixed, found)


def _with_stays(table: pl.DataFrame, fixed: Any, found: Any) -> pl.DataFrame:
    """Each fix of a stay with the stay's start and end; fixes of no stay are gone.

    A stay ends where the next fix elsewhere is. One after which nobody saw the person ends with its own last
    fix, at which the person was still there: it is given a microsecond more.
    """
    stay = [
        None if number != number else int(number) for number in fixed["staypoint_id"].astype(float).tolist()
    ]
    stays = pl.DataFrame(
        {
            "stay": pl.Series([int(number) for number in found.index], dtype=pl.Int64),
            "start": _moments(found["started_at"]) if len(found) else pl.Series([], dtype=_MOMENT),
            "end": _moments(found["finished_at"]) if len(found) else pl.Series([], dtype=_MOMENT),
        }
    )
    numbered = table.with_columns(pl.Series("stay", stay, dtype=pl.Int64))
    last = pl.col("time").dt.epoch("us").max().over("user") == pl.col("end").dt.epoch("us")
    after = pl.col("end") + pl.duration(microseconds=last.cast(pl.Int64))
    return numbered.join(stays, on="stay", how="inner").with_columns(after).drop("stay", "user", "time")


def _moments(column: Any) -> pl.Series:
    micros = column.dt.tz_convert("UTC").dt.as_unit("us").astype("int64").tolist()
    return pl.Series(micros, dtype=pl.Int64).cast(_MOMENT)


def _libraries() -> tuple[Any, Any, Any]:
    try:
        import geopandas
        import pandas
        import trackintel
    except ModuleNotFoundError:
        raise MissingExtra(
            "Stay detection needs the package trackintel.", "Run pip install 'safeside[mobility]'."
        ) from None
    return pandas, geopandas, trackintel
