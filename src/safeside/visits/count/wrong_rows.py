"""The second pass, once a scan found something doubtful: which checks fail, and on which rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import narwhals as nw
import polars as pl

from safeside.progress import Progress
from safeside.visits.count.row_checks import RowCheck, row_checks
from safeside.visits.findings import Doubt, Finding, RowLocation, amount
from safeside.visits.places.lookalikes import resembling
from safeside.visits.places.places import Places
from safeside.visits.read.dataframes import ROW
from safeside.visits.read.engines import collect
from safeside.visits.read.identifiers import ALL_DIGITS, Fault, fault, mixed_zeros
from safeside.visits.read.source import Source
from safeside.visits.times.every import Windows

SHOWN: Final = 3
WRITTEN: Final = "written in another way (capitals, blanks, zeros, something before or after it)"


def flags(source: Source, checks: list[RowCheck]) -> list[nw.Expr]:
    """For each check how many rows fail it, and the lengths by which lost leading zeros are noticed."""
    counted = [_count(check.wrong).alias(str(i)) for i, check in enumerate(checks)]
    if not source.text_persons or source.declared.trust_ids:
        return counted
    number, padded, length = _numbers()
    shortest = nw.when(number).then(length).min().alias("shortest")
    return [*counted, shortest, nw.when(padded).then(length).max().alias("longest")]


def find_faults(
    source: Source,
    places: Places | None,
    windows: Windows | None,
    progress: Progress,
    *,
    asked: pl.DataFrame | None = None,
) -> list[Finding]:
    """All failing checks with their numbers of rows and the first rows. `asked` is a result of `flags`."""
    return failing(source, row_checks(source, places, windows, closely=True), progress, asked=asked)


def failing(
    source: Source, checks: list[RowCheck], progress: Progress, *, asked: pl.DataFrame | None = None
) -> list[Finding]:
    """Those of these checks that fail, with the rows; and lost leading zeros."""
    if asked is None:
        (asked,) = collect(
            [source.frame.select(flags(source, checks))], progress, "Looking for what is wrong"
        )
    findings = []
    for i, check in enumerate(checks):
        rows = int(asked[str(i)].item() or 0)
        if rows:
            first = find_rows(source, check.wrong, progress)
            column = source.roles.columns[check.role]
            findings.append(
                Finding(
                    doubt=check.doubt, reason=check.reason, do=check.do, column=column, rows=rows, first=first
                )
            )
    return findings + _mixed_zeros(source, asked, progress)


def _count(wrong: nw.Expr) -> nw.Expr:
    return nw.when(wrong).then(nw.lit(1)).otherwise(nw.lit(0)).sum()


def _numbers() -> tuple[nw.Expr, nw.Expr, nw.Expr]:
    """Whether an identifier is a number, whether it has leading zeros, and its length."""
    person = nw.col("person")
    number = person.str.contains(ALL_DIGITS)
    return number, number & person.str.starts_with("0"), person.str.len_chars()


def find_rows(source: Source, wrong: nw.Expr, progress: Progress) -> tuple[RowLocation, ...]:
    """The first of these rows, in the order of the files; none where the engine keeps no order."""
    first = tuple[RowLocation, ...]()
    for frame, path in source.parts():
        if ROW not in frame.collect_schema().names():
            break
        query = frame.filter(wrong).select(ROW).sort(ROW).head(SHOWN)
        (found,) = collect([query], progress, "Looking for the rows")
        first = (*first, *source.where(path, [int(row) for row in found[ROW].to_list()]))[:SHOWN]
        if len(first) == SHOWN:
            break
    return first


def _mixed_zeros(source: Source, asked: pl.DataFrame, progress: Progress) -> list[Finding]:
    """Whether numbers with leading zeros stand beside shorter numbers."""
    if "longest" not in asked.columns:
        return []
    longest = asked["longest"].item()
    if not mixed_zeros(asked["shortest"].item(), longest):
        return []
    number, _, length = _numbers()
    return [
        Finding(
            doubt=Doubt.MIXED_ZEROS,
            column=source.roles.columns["person"],
            first=find_rows(source, number & (length < longest), progress),
            reason="identifiers with leading zeros, and shorter numbers that may have lost theirs",
            do="Export identifiers as text from the original, or declare that they are right "
            "(`trust_ids=True`).",
        )
    ]


def placeholder_places(source: Source, unknown: Iterable[str], progress: Progress) -> list[Finding]:
    """Placeholders and rounded numbers among unlisted places, which may stand for any place."""
    if source.declared.trust_places:
        return []
    faults = {name: fault(name) for name in unknown}
    findings = []
    for doubt, kind, reason, do in (
        (
            Doubt.NOT_AN_ID,
            Fault.PLACEHOLDER,
            "a word or a number for a missing value instead of a place",
            "Give every row the identifier of a place, or declare that these are places "
            "(`trust_places=True`).",
        ),
        (
            Doubt.ROUNDED_ID,
            Fault.ROUNDED,
            "places in scientific notation or with decimals, as if rounded",
            "Export the places as text from the original, or declare that they are right "
            "(`trust_places=True`).",
        ),
    ):
        names = [name for name in faults if faults[name] is kind]
        if names:
            here = nw.col("place").cast(nw.String).is_in(names)
            first = find_rows(source, here, progress)
            column = source.roles.columns["place"]
            findings.append(Finding(doubt=doubt, reason=reason, do=do, column=column, first=first))
    return findings


def unknown_places(source: Source, places: Places, unknown: Iterable[str], progress: Progress) -> Finding:
    """Places that are visited and not listed."""
    names = sorted(unknown)
    first = tuple[RowLocation, ...]()
    if source.engine == "polars":
        first = find_rows(source, nw.col("place").cast(nw.String).is_in(names), progress)
    alike = resembling(pl.Series(names, dtype=pl.String), places.column).height
    are = "place is" if len(names) == 1 else "places are"
    those = f"{alike:,} of them {'looks' if alike == 1 else 'look'}" if len(names) > 1 else "it looks"
    hint = f"; {those} like a listed one {WRITTEN}" if alike else ""
    return Finding(
        doubt=Doubt.UNKNOWN_PLACE,
        column=source.roles.columns["place"],
        first=first,
        reason=f"{len(names):,} {are} visited and not listed{hint}",
        do="List every place that may be visited, or leave visits to others out "
        "(`exclude_unknown_places=True`).",
    )


def find_lookalikes(source: Source, places: Places, unknown: Iterable[str]) -> list[Finding]:
    """Places that would be left out, although they look like listed ones."""
    if source.declared.trust_places:
        return []
    return lookalike_findings(
        source, resembling(pl.Series(list(unknown), dtype=pl.String), places.column).height
    )


def lookalike_findings(source: Source, places: int) -> list[Finding]:
    """So many places look like listed ones."""
    if not places:
        return []
    return [
        Finding(
            doubt=Doubt.UNKNOWN_PLACE,
            column=source.roles.columns["place"],
            reason=f"{amount(places, 'place looks', 'places look')} like a listed place {WRITTEN}",
            do="Write them as the list does, or declare that they are other places (`trust_places=True`).",
        )
    ]
