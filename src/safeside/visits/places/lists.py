"""A public list, of places or of groups: read from a file, a dataframe or plain identifiers, and checked.

It does not come from the data, and everything on it is answered. The identifiers stand in a column `place`
of the result, whatever the list is of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import narwhals as nw
import polars as pl
from narwhals.exceptions import NarwhalsError

from safeside.errors import BadFile, BadQuestion
from safeside.names import did_you_mean
from safeside.progress import quiet
from safeside.untrusted import CONTROL
from safeside.visits.findings import Doubt, Finding, amount, article, raise_all, stop_on
from safeside.visits.read.files import Opened, detect_separator, open_files
from safeside.visits.read.fingerprint import Fingerprint
from safeside.visits.read.identifiers import PLACEHOLDER, canonical, polars_bytes_as_text

_BLANK: Final = r"^\s|\s$|^$"
_EXACT: Final = 2**53
"""Below it floating point holds every whole number."""
Numbers = Mapping[str, tuple[Callable[[pl.Series], pl.Series], str]]
COORDINATES: Final[Numbers] = {
    "latitude": (lambda v: v.abs() <= 90, "is not between -90 and 90"),
    "longitude": (lambda v: v.abs() <= 180, "is not between -180 and 180"),
}


def whole_from(least: int) -> tuple[Callable[[pl.Series], pl.Series], str]:
    """A column of whole numbers."""
    return (lambda v: (v >= least) & (v == v.floor()) & (v < _EXACT)), f"is not a whole number from {least}"


@dataclass(frozen=True, kw_only=True)
class ListOf:
    """What a list is of, and the columns it may have."""

    one: str
    many: str
    columns: tuple[str, ...]
    """The names of the columns by role; the first holds the identifiers."""
    numbers: Numbers
    whole: tuple[str, ...] = ("at_most",)
    kinds: tuple[str, ...] = ()
    """Columns that say what kind each is, kept for the checks of the list and for nothing else."""


def read_list(
    source: Any, of: ListOf, *, columns: Mapping[str, str] | None = None, separator: str | None = None
) -> pl.DataFrame:
    """The list sorted by identifier, with its columns named by role; refused where anything is wrong."""
    opened: Opened | None = None
    if isinstance(source, str | Path):
        mark = separator if separator is not None else detect_separator(source)
        opened = open_files(source, mark, Fingerprint(None), quiet)
        stop_on(_of_a_list(opened.findings, of))
    table = _table(source, of) if opened is None else opened.scan()
    there = table.collect_schema().names()
    names = dict(columns or {})
    for role, column in names.items():
        if role not in of.columns or column not in there:
            known, kind = (of.columns, "role") if role not in of.columns else (tuple(there), "column")
            wrong = role if role not in of.columns else column
            raise BadQuestion(
                f"The list of {of.many} has no {kind} {wrong!r}.",
                f"There are: {', '.join(known)}.{did_you_mean(wrong, known)}",
            )
    found = {role: names.get(role, role) for role in of.columns if names.get(role, role) in there}
    if of.one not in found:
        raise BadQuestion(
            f"The list of {of.many} has no column {of.one}. There are: {', '.join(there)}.",
            f"Name the column of identifiers {of.one}.{did_you_mean(of.one, there)}",
        )
    if ("latitude" in found) != ("longitude" in found):
        raise BadQuestion(
            f"The list of {of.many} has one of latitude and longitude.", "Give both or neither."
        )
    read = _read(table, of, found)
    if opened is not None:
        opened.require_unchanged()
    return _checked(read, of)


def _of_a_list(findings: Iterable[Finding], of: ListOf) -> Iterator[Finding]:
    """Findings about the file of a list, whose number of rows nobody declares.

    A list that was cut off is noticed in the count, as unknown identifiers; so a missing last line end is
    allowed.
    """
    instead = {
        Doubt.NO_ROWS: f"List the {of.many} that are to be answered.",
        Doubt.QUOTES: "Export the list again with every quote inside a field doubled.",
        Doubt.LINE_BREAK: f"Take the line breaks out of the list of {of.many}, or look for a stray quote.",
    }
    for finding in findings:
        if finding.doubt is not Doubt.CUT_OFF:
            yield replace(finding, do=instead.get(finding.doubt, finding.do))


def _table(source: Any, of: ListOf) -> pl.LazyFrame:
    if isinstance(source, list | tuple) and all(isinstance(each, str) for each in source):
        try:
            return pl.LazyFrame({of.one: pl.Series(source, dtype=pl.String)})
        except UnicodeEncodeError:
            raise BadQuestion(
                f"An identifier in the list of {of.many} is not text that can be written as UTF-8.",
                "Decode the identifiers in the encoding they were written in.",
            ) from None
    try:
        frame = nw.from_native(source)
    except TypeError:
        raise BadQuestion(
            f"{of.many.capitalize()} cannot be read from a {type(source).__name__}.",
            "Give a path, a dataframe or a list of text.",
        ) from None
    except NarwhalsError:
        raise _no_table(of) from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect("polars")
    try:
        table: pl.DataFrame = frame.to_polars()
    except (TypeError, ValueError, NarwhalsError):  # as PyArrow refuses columns that hold text and numbers
        raise _no_table(of) from None
    return table.lazy()


def _no_table(of: ListOf) -> BadQuestion:
    return BadQuestion(
        f"The dataframe of {of.many} has two columns of one name, or text and numbers in one column.",
        "Give every column a name of its own, and one type.",
    )


def _read(table: pl.LazyFrame, of: ListOf, found: Mapping[str, str]) -> pl.DataFrame:
    """The columns by role and those with the kind of place; text that is no number becomes null."""
    types = table.collect_schema()
    ids = found[of.one]
    if types[ids] == pl.Binary:
        chosen = [polars_bytes_as_text(pl.col(ids)).alias("place")]
    else:
        canonical(ids, nw.from_native(table).collect_schema()[ids])
        chosen = [pl.col(ids).cast(pl.String).alias("place")]
    for role, column in found.items():
        if role in of.numbers:
            chosen.append(_number(column, types[column]).alias(role))
        elif role != of.one:
            chosen.append(pl.col(column).cast(pl.String).fill_null("").alias(role))
    kinds = [pl.col(kind).cast(pl.String) for kind in of.kinds if kind in types and kind != ids]
    # In one select: a column named like one role may play another.
    read = table.select(*chosen, *kinds)
    try:
        return read.collect()
    except pl.exceptions.PolarsError:
        raise BadFile(
            f"The list of {of.many} cannot be read.", "Export it again as CSV or Parquet."
        ) from None


def _number(column: str, dtype: pl.DataType) -> pl.Expr:
    """The column as numbers; text is the same where it is kept as categories."""
    text = isinstance(dtype, pl.String | pl.Categorical | pl.Enum)
    bare = pl.col(column).cast(pl.String).str.strip_chars() if text else pl.col(column)
    return bare.cast(pl.Float64, strict=False)


def _checked(read: pl.DataFrame, of: ListOf) -> pl.DataFrame:
    ids = read["place"]
    if not len(ids):
        raise BadQuestion(f"The list of {of.many} is empty.", f"List the {of.many} that are to be answered.")
    wrong = [*_wrong_ids(ids, of), *_wrong_numbers(read, of)]
    raise_all(wrong, f"In the list of {of.many}, ", f"The list of {of.many} cannot be used")
    if not ids.is_sorted():
        read = read[ids.arg_sort()]
    return read.with_columns(pl.col(role).cast(pl.Int64) for role in of.whole if role in read.columns)


def _wrong_ids(ids: pl.Series, of: ListOf) -> Iterator[tuple[str, str]]:
    """What is wrong with identifiers, each in the row in which it stands, and what to do."""
    odd = ids.null_count() or ids.str.contains(f"{_BLANK}|{PLACEHOLDER}").any()
    bare = ids.str.strip_chars()
    there = bare.is_not_null() & (bare != "")
    if odd:
        yield from _fault(of, there, "is missing")
        yield from _fault(of, ~there | (ids == bare), "has blanks around it")
        yield from _fault(
            of, ~there | ~ids.str.contains(PLACEHOLDER), "is a word or a number for a missing value"
        )
    if ids.str.contains(CONTROL.pattern).any():
        yield from _fault(of, ~ids.str.contains(CONTROL.pattern), "holds a control character")
    ordered = ids if ids.is_sorted() else ids.sort()
    if (ordered.head(-1) == ordered.tail(-1)).any():
        yield from _fault(of, ~there | ids.is_first_distinct(), "is there twice")


def _fault(of: ListOf, fine: pl.Series, complaint: str) -> Iterator[tuple[str, str]]:
    wrong = (~fine.fill_null(True)).arg_true()
    if len(wrong):
        first = f"{amount(len(wrong), 'row', 'rows')}; first in row {wrong[0] + 1}"
        do = f"Correct the list: every {of.one} once, each with its identifier."
        yield f"{of.one} {complaint} ({first}).", do


def _wrong_numbers(read: pl.DataFrame, of: ListOf) -> Iterator[tuple[str, str]]:
    """Columns of numbers in which one is missing, or not allowed."""
    for role in (role for role in of.numbers if role in read.columns):
        allowed, complaint = of.numbers[role]
        values = read[role]
        wrong = (~(values.is_finite() & allowed(values)).fill_null(value=False)).arg_true()
        if len(wrong):
            first, many = repr(read["place"][wrong[0]]), amount(len(wrong), of.one, of.many)
            do = f"Give every {of.one} {article(role)}, or leave the column out."
            yield f"{role} of {first} {complaint}, or is missing ({many}).", do
