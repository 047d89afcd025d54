"""The public list of places. It does not come from the visits, and every place on it is answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import narwhals as nw
import numpy as np
import polars as pl
from narwhals.exceptions import NarwhalsError
from numpy.typing import NDArray

from safeside.errors import BadFile, BadQuestion
from safeside.names import did_you_mean
from safeside.progress import quiet
from safeside.untrusted import CONTROL
from safeside.visits.findings import Doubt, Finding, article, stop_on
from safeside.visits.places.venues import require_venues
from safeside.visits.read.files import Fingerprint, Opened, detect_separator, open_files
from safeside.visits.read.identifiers import PLACEHOLDER, canonical, polars_bytes_as_text

KNOWN: Final = ("place", "latitude", "longitude", "name", "region", "popularity", "expected", "at_most")
KINDS: Final = ("kind", "category", "type")
_BLANK: Final = r"^\s|\s$|^$"
_NUMBERS: Final[dict[str, tuple[Callable[[pl.Series], pl.Series], str]]] = {
    "latitude": (lambda v: v.abs() <= 90, "is not between -90 and 90"),
    "longitude": (lambda v: v.abs() <= 180, "is not between -180 and 180"),
    "popularity": (lambda v: v >= 0, "is not a number from 0"),
    "expected": (lambda v: v >= 0, "is not a number from 0"),
    "at_most": (lambda v: (v >= 0) & (v == v.floor()) & (v < 2**53), "is not a whole number from 0"),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Places:
    """Places sorted by identifier; columns that were not given are None.

    Kept in the columns of `table`, a tenth of the memory of Python strings.

    Example
        >>> from safeside import Places
        >>> places = Places.of(["library", "museum"])
        >>> print(len(places), places.ids[0])
        2 library
    """

    table: pl.DataFrame = field(repr=False)

    def __post_init__(self) -> None:
        ids = self.column
        if not len(ids) or ids.null_count() or not (ids.head(-1) < ids.tail(-1)).all():
            raise BadQuestion("The places are not in order, or one is there twice.", "Use read_places.")

    @classmethod
    def of(cls, ids: Sequence[str], **columns: Any) -> Places:
        """Places from identifiers in order, and columns by the names in `KNOWN`; those that are None are left
        out.
        """
        given = {role: pl.Series(role, values) for role, values in columns.items() if values is not None}
        return cls(table=pl.DataFrame([pl.Series("place", ids, dtype=pl.String), *given.values()]))

    def __len__(self) -> int:
        return self.table.height

    @property
    def column(self) -> pl.Series:
        """The identifiers as a series."""
        return self.table["place"]

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The identifiers."""
        return tuple(self.column)

    @cached_property
    def name(self) -> tuple[str, ...] | None:
        """What people call each place."""
        return self._words("name")

    @cached_property
    def region(self) -> tuple[str, ...] | None:
        """The part of the world each place lies in."""
        return self._words("region")

    @cached_property
    def latitude(self) -> NDArray[np.float64] | None:
        """Degrees north."""
        return self._numbers("latitude")

    @cached_property
    def longitude(self) -> NDArray[np.float64] | None:
        """Degrees east."""
        return self._numbers("longitude")

    @cached_property
    def popularity(self) -> NDArray[np.float64] | None:
        """Public knowledge of how many people come, on any scale."""
        return self._numbers("popularity")

    @cached_property
    def expected(self) -> NDArray[np.float64] | None:
        """Public knowledge of how many counted people are expected at each place in one window."""
        return self._numbers("expected")

    @property
    def at_most(self) -> NDArray[np.int64] | None:
        """A threshold of each place's own."""
        return self.table["at_most"].to_numpy() if "at_most" in self.table.columns else None

    def _words(self, role: str) -> tuple[str, ...] | None:
        return tuple(self.table[role]) if role in self.table.columns else None

    def _numbers(self, role: str) -> NDArray[np.float64] | None:
        return self.table[role].to_numpy() if role in self.table.columns else None


def read_places(
    source: Any, *, columns: dict[str, str] | None = None, separator: str | None = None
) -> Places:
    """Read the list of targets from a CSV or Parquet file, a dataframe, or plain identifiers.

    Example
        >>> from safeside import read_places
        >>> len(read_places(["museum", "library"]))
        2
    """
    opened = _open(source, separator) if isinstance(source, str | Path) else None
    table = _table(source) if opened is None else opened.scan()
    there = table.collect_schema().names()
    names = dict(columns or {})
    for role, column in names.items():
        if role not in KNOWN or column not in there:
            known, kind = (KNOWN, "role") if role not in KNOWN else (tuple(there), "column")
            wrong = role if role not in KNOWN else column
            raise BadQuestion(
                f"The list of places has no {kind} {wrong!r}.",
                f"There are: {', '.join(known)}.{did_you_mean(wrong, known)}",
            )
    found = {role: names.get(role, role) for role in KNOWN if names.get(role, role) in there}
    if "place" not in found:
        raise BadQuestion(
            f"The list of places has no column place. There are: {', '.join(there)}.",
            f"Name the column of identifiers place.{did_you_mean('place', there)}",
        )
    if ("latitude" in found) != ("longitude" in found):
        raise BadQuestion("The list of places has one of latitude and longitude.", "Give both or neither.")
    read = _read(table, found)
    if opened is not None:
        opened.require_unchanged()
    return _places(read)


def _open(source: str | Path, separator: str | None) -> Opened:
    mark = separator if separator is not None else detect_separator(source)
    opened = open_files(source, mark, Fingerprint(None), quiet)
    stop_on(_of_a_list(opened.findings))
    return opened


def _of_a_list(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings about the file of a list, whose number of rows nobody declares.

    A list that was cut off is noticed in the count, as unknown places; so a missing last line end is allowed.
    """
    instead = {
        Doubt.NO_ROWS: "List the places that are to be answered.",
        Doubt.QUOTES: "Export the list again with every quote inside a field doubled.",
        Doubt.LINE_BREAK: "Take the line breaks out of the list of places, or look for a stray quote.",
    }
    for finding in findings:
        if finding.doubt is not Doubt.CUT_OFF:
            yield replace(finding, do=instead.get(finding.doubt, finding.do))


def _table(source: Any) -> pl.LazyFrame:
    if isinstance(source, list | tuple) and all(isinstance(each, str) for each in source):
        try:
            return pl.LazyFrame({"place": pl.Series(source, dtype=pl.String)})
        except UnicodeEncodeError:
            raise BadQuestion(
                "An identifier in the list of places is not text that can be written as UTF-8.",
                "Decode the identifiers in the encoding they were written in.",
            ) from None
    try:
        frame = nw.from_native(source)
    except TypeError:
        raise BadQuestion(
            f"Places cannot be read from a {type(source).__name__}.",
            "Give a path, a dataframe or a list of text.",
        ) from None
    except NarwhalsError:
        raise _no_table() from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect("polars")
    try:
        table: pl.DataFrame = frame.to_polars()
    except (TypeError, ValueError, NarwhalsError):  # as PyArrow refuses columns that hold text and numbers
        raise _no_table() from None
    return table.lazy()


def _no_table() -> BadQuestion:
    return BadQuestion(
        "The dataframe of places has two columns of one name, or text and numbers in one column.",
        "Give every column a name of its own, and one type.",
    )


def _read(table: pl.LazyFrame, found: Mapping[str, str]) -> pl.DataFrame:
    """The columns by role and those with the kind of place; text that is no number becomes null."""
    types = table.collect_schema()
    place = found["place"]
    if types[place] == pl.Binary:
        chosen = [polars_bytes_as_text(pl.col(place)).alias("place")]
    else:
        canonical(place, nw.from_native(table).collect_schema()[place])
        chosen = [pl.col(place).cast(pl.String).alias("place")]
    for role, column in found.items():
        if role in _NUMBERS:
            chosen.append(_number(column, types[column]).alias(role))
        elif role != "place":
            chosen.append(pl.col(column).cast(pl.String).fill_null("").alias(role))
    kinds = [pl.col(kind).cast(pl.String) for kind in KINDS if kind in types and kind != place]
    # In one select: a column named like one role may play another.
    read = table.select(*chosen, *kinds)
    try:
        return read.collect()
    except pl.exceptions.PolarsError:
        raise BadFile("The list of places cannot be read.", "Export it again as CSV or Parquet.") from None


def _number(column: str, dtype: pl.DataType) -> pl.Expr:
    """The column as numbers; text is the same where it is kept as categories."""
    text = isinstance(dtype, pl.String | pl.Categorical | pl.Enum)
    bare = pl.col(column).cast(pl.String).str.strip_chars() if text else pl.col(column)
    return bare.cast(pl.Float64, strict=False)


def _places(read: pl.DataFrame) -> Places:
    ids = read["place"]
    if not len(ids):
        raise BadQuestion("The list of places is empty.", "List the places that are to be answered.")
    _require_no_faults([*_wrong_ids(ids), *_wrong_numbers(read)])
    kinds: dict[str, pl.Series] = {
        kind: read.drop_in_place(kind).unique() for kind in KINDS if kind in read.columns
    }
    if not ids.is_sorted():
        read = read[ids.arg_sort()]
    if "at_most" in read.columns:
        read = read.with_columns(pl.col("at_most").cast(pl.Int64))
    places = Places(table=read)
    require_venues(
        ids=places.column,
        names=places.table["name"] if "name" in places.table.columns else None,
        kinds=kinds,
        latitude=places.latitude,
        longitude=places.longitude,
    )
    return places


def _require_no_faults(faults: list[BadFile]) -> None:
    """Raise all of them as one."""
    if len(faults) == 1:
        raise faults[0]
    if faults:
        listed = "\n".join(f"  - {fault.what.removeprefix(_IN_THE_LIST)}" for fault in faults)
        advice = "\n".join(f"  - {do}" for do in dict.fromkeys(fault.do for fault in faults))
        raise BadFile(f"The list of places cannot be used:\n{listed}", f"\n{advice}")


_IN_THE_LIST: Final = "In the list of places, "


def _wrong_ids(ids: pl.Series) -> Iterator[BadFile]:
    """What is wrong with identifiers, each in the row in which it stands."""
    odd = ids.null_count() or ids.str.contains(f"{_BLANK}|{PLACEHOLDER}").any()
    bare = ids.str.strip_chars()
    there = bare.is_not_null() & (bare != "")
    if odd:
        yield from _fault(there, "is missing")
        yield from _fault(~there | (ids == bare), "has blanks around it")
        yield from _fault(
            ~there | ~ids.str.contains(PLACEHOLDER), "is a word or a number for a missing value"
        )
    if ids.str.contains(CONTROL.pattern).any():
        yield from _fault(~ids.str.contains(CONTROL.pattern), "holds a control character")
    ordered = ids if ids.is_sorted() else ids.sort()
    if (ordered.head(-1) == ordered.tail(-1)).any():
        yield from _fault(~there | ids.is_first_distinct(), "is there twice")


def _fault(fine: pl.Series, complaint: str) -> Iterator[BadFile]:
    wrong: Sequence[int] = (~fine.fill_null(True)).arg_true().to_list()
    if wrong:
        rows = "1 row" if len(wrong) == 1 else f"{len(wrong):,} rows"
        yield BadFile(
            f"In the list of places, place {complaint} ({rows}; first in row {wrong[0] + 1}).",
            "Correct the list: every place once, each with its identifier.",
        )


def _wrong_numbers(read: pl.DataFrame) -> Iterator[BadFile]:
    """Columns of numbers in which one is missing, or not allowed."""
    for role in (role for role in _NUMBERS if role in read.columns):
        allowed, complaint = _NUMBERS[role]
        values = read[role]
        wrong = (~(values.is_finite() & allowed(values)).fill_null(value=False)).arg_true()
        if len(wrong):
            yield BadFile(
                f"In the list of places, {role} of {read['place'][wrong[0]]!r} {complaint}, or is missing"
                f" ({len(wrong):,} {'place' if len(wrong) == 1 else 'places'}).",
                f"Give every place {article(role)}, or leave the column out.",
            )
