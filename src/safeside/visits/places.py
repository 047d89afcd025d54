"""The public list of targets. It comes from outside the private data, and every target on it is answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from safeside.errors import BadFile, BadQuestion
from safeside.progress import quiet
from safeside.visits.files import Fingerprint, open_files
from safeside.visits.ids import place_ids
from safeside.visits.nearby import did_you_mean
from safeside.visits.report import of_a_list, stop_on
from safeside.visits.room import require_room

KNOWN: Final = ("place", "latitude", "longitude", "name", "region", "popularity", "at_most")
KINDS: Final = ("kind", "category", "type")


@dataclass(frozen=True, kw_only=True)
class Places:
    """Targets in the order of their identifiers; what was not given is None."""

    ids: tuple[str, ...]
    latitude: NDArray[np.float64] | None = None
    longitude: NDArray[np.float64] | None = None
    name: tuple[str, ...] | None = None
    region: tuple[str, ...] | None = None
    popularity: NDArray[np.float64] | None = None
    at_most: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        if not self.ids or list(self.ids) != sorted(set(self.ids)):
            raise BadQuestion("The places are not in order, or one is there twice.", "Use read_places.")

    def __len__(self) -> int:
        return len(self.ids)


def read_places(source: Any, *, columns: dict[str, str] | None = None, separator: str = ",") -> Places:
    """Read the list of targets from a CSV or Parquet file, a dataframe, or plain identifiers."""
    table = _table(source, separator)
    names = dict(columns or {})
    for role, column in names.items():
        if role not in KNOWN or column not in table.columns:
            known, kind = (KNOWN, "role") if role not in KNOWN else (tuple(table.columns), "column")
            wrong = role if role not in KNOWN else column
            raise BadQuestion(
                f"The list of places has no {kind} {wrong!r}.",
                f"There are: {', '.join(known)}.{did_you_mean(wrong, known)}",
            )
    found = {role: names.get(role, role) for role in KNOWN if names.get(role, role) in table.columns}
    if "place" not in found:
        raise BadQuestion(
            f"The list of places has no column place. There are: {', '.join(table.columns)}.",
            f"Name the column of identifiers place.{did_you_mean('place', table.columns)}",
        )
    kinds: dict[str, pl.Series] = {
        kind: table[kind].cast(pl.String) for kind in KINDS if kind in table.columns
    }
    table = table.select(pl.col(column).alias(role) for role, column in found.items())
    return _places(table, kinds)


def _table(source: Any, separator: str) -> pl.DataFrame:
    if isinstance(source, str | Path):
        opened = open_files(source, separator, Fingerprint(None), quiet)
        stop_on(of_a_list(opened.findings))
        try:
            return opened.scan().collect()
        except pl.exceptions.PolarsError:
            raise BadFile(
                "The list of places cannot be read.", "Export it again as CSV or Parquet."
            ) from None
    if isinstance(source, list | tuple) and all(isinstance(each, str) for each in source):
        return pl.DataFrame({"place": pl.Series(source, dtype=pl.String)})
    try:
        frame = nw.from_native(source)
    except TypeError:
        raise BadQuestion(
            f"Places cannot be read from a {type(source).__name__}.",
            "Give a path, a dataframe or a list of text.",
        ) from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect("polars")
    table: pl.DataFrame = frame.to_polars()
    return table


def _places(table: pl.DataFrame, kinds: dict[str, pl.Series]) -> Places:
    schema = nw.from_native(table).collect_schema()
    ids = (
        nw.from_native(table).select(place_ids("place", schema["place"]).cast(nw.String)).to_native()["place"]
    )
    if not len(ids):
        raise BadQuestion("The list of places is empty.", "List the places that are to be answered.")
    _require(ids.is_not_null() & (ids.str.strip_chars() != ""), "place", "is missing")
    _require(ids == ids.str.strip_chars(), "place", "has blanks around it")
    _require(ids.is_first_distinct(), "place", "is there twice")
    order = ids.arg_sort()
    table = table.with_columns(ids.alias("place"))[order]
    read = {role: table[role] for role in table.columns}
    latitude = _numbers(read, "latitude", lambda v: v.abs() <= 90, "is not between -90 and 90")
    longitude = _numbers(read, "longitude", lambda v: v.abs() <= 180, "is not between -180 and 180")
    if (latitude is None) != (longitude is None):
        raise BadQuestion("The list of places has one of latitude and longitude.", "Give both or neither.")
    thresholds = _numbers(
        read, "at_most", lambda v: (v >= 0) & (v == v.floor()) & (v < 2**53), "is not a whole number from 0"
    )
    places = Places(
        ids=tuple(table["place"].to_list()),
        latitude=latitude,
        longitude=longitude,
        name=_words(read, "name"),
        region=_words(read, "region"),
        popularity=_numbers(read, "popularity", lambda v: v >= 0, "is not a number from 0"),
        at_most=None if thresholds is None else thresholds.astype(np.int64),
    )
    require_room(
        ids=table["place"],
        names=read["name"].cast(pl.String) if "name" in read else None,
        kinds=kinds,
        latitude=latitude,
        longitude=longitude,
    )
    return places


def _words(read: dict[str, pl.Series], role: str) -> tuple[str, ...] | None:
    if role not in read:
        return None
    return tuple(read[role].cast(pl.String).fill_null("").to_list())


def _numbers(
    read: dict[str, pl.Series], role: str, allowed: Callable[[pl.Series], pl.Series], complaint: str
) -> NDArray[np.float64] | None:
    """A column of numbers, all of them there and allowed; None where there is no such column."""
    if role not in read:
        return None
    column = read[role]
    values = (column.str.strip_chars() if column.dtype == pl.String else column).cast(
        pl.Float64, strict=False
    )
    wrong = (~(values.is_finite() & allowed(values)).fill_null(value=False)).arg_true()
    if len(wrong):
        raise BadFile(
            f"In the list of places, {role} of {read['place'][wrong[0]]!r} {complaint}, or is missing"
            f" ({len(wrong):,} {'place' if len(wrong) == 1 else 'places'}).",
            f"Give every place a {role}, or leave the column out.",
        )
    return values.to_numpy()


def _require(fine: pl.Series, role: str, complaint: str) -> None:
    wrong: Sequence[int] = (~fine.fill_null(False)).arg_true().to_list()
    if wrong:
        rows = "1 row" if len(wrong) == 1 else f"{len(wrong):,} rows"
        raise BadFile(
            f"In the list of places, {role} {complaint} ({rows}; first in row {wrong[0] + 1}).",
            "Correct the list: every place once, each with its identifier.",
        )
