"""The second pass, once a scan found something doubtful: which checks fail, and on which rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import narwhals as nw
import polars as pl

from safeside.visits.count.row_checks import RowCheck, row_checks
from safeside.visits.count.unlisted import LeftOut
from safeside.visits.findings import Doubt, Finding, RowLocation, amount
from safeside.visits.places.lookalikes import resembling
from safeside.visits.places.places import Places
from safeside.visits.read.dataframes import ROW
from safeside.visits.read.engines import collect
from safeside.visits.read.identifiers import ALL_DIGITS, Fault, fault, mixed_zeros
from safeside.visits.read.source import Source
from safeside.visits.times.every import Windows

SHOWN: Final = 3
_WRITTEN: Final = "written in another way (capitals, blanks, zeros, something before or after it)"


def flags(source: Source, checks: list[RowCheck]) -> list[nw.Expr]:
    """For each check how many rows fail it, and the lengths by which lost leading zeros are noticed."""
    counted = [_count(check.wrong).alias(str(i)) for i, check in enumerate(checks)]
    if not source.text_persons or source.declared.trust_ids:
        return counted
    number, padded, length = _numbers()
    shortest = nw.when(number).then(length).min().alias("shortest")
    return [*counted, shortest, nw.when(padded).then(length).max().alias("longest")]


def find_faults(source: Source, places: Places, windows: Windows) -> list[Finding]:
    """All failing checks with their numbers of rows and the first rows."""
    return failing(source, row_checks(source, places, windows, closely=True))


def failing(source: Source, checks: list[RowCheck], asked: pl.DataFrame | None = None) -> list[Finding]:
    """The checks that fail, with the rows; and lost leading zeros. `asked` is a result of `flags`."""
    if asked is None:
        query = source.frame.select(flags(source, checks))
        (asked,) = collect([query], source.progress, "Looking for what is wrong")
    failed = {i: int(asked[str(i)].item() or 0) for i in range(len(checks))}
    findings = [_located(source, checks[i], rows) for i, rows in failed.items() if rows]
    if "longest" not in asked.columns or not mixed_zeros(asked["shortest"].item(), asked["longest"].item()):
        return findings
    number, _, length = _numbers()
    shorter = RowCheck(
        doubt=Doubt.MIXED_ZEROS,
        role="person",
        wrong=number & (length < asked["longest"].item()),
        reason="identifiers with leading zeros, and shorter numbers that may have lost theirs",
        do="Export identifiers as text from the original, or declare that they are right (`trust_ids=True`).",
    )
    return [*findings, _located(source, shorter)]


def _count(wrong: nw.Expr) -> nw.Expr:
    return nw.when(wrong).then(nw.lit(1)).otherwise(nw.lit(0)).sum()


def _numbers() -> tuple[nw.Expr, nw.Expr, nw.Expr]:
    """Whether an identifier is a number, whether it has leading zeros, and its length."""
    person = nw.col("person")
    number = person.str.contains(ALL_DIGITS)
    return number, number & person.str.starts_with("0"), person.str.len_chars()


def _located(source: Source, failed: RowCheck, rows: int = 0) -> Finding:
    return Finding(
        doubt=failed.doubt,
        reason=failed.reason,
        do=failed.do,
        column=source.roles.columns[failed.role],
        rows=rows,
        first=find_rows(source, failed.wrong),
    )


def find_rows(source: Source, wrong: nw.Expr) -> tuple[RowLocation, ...]:
    """The first of these rows, in the order of the files; none where the engine keeps no order."""
    first = tuple[RowLocation, ...]()
    for frame, path in source.parts():
        if ROW not in frame.collect_schema().names():
            break
        query = frame.filter(wrong).select(ROW).sort(ROW).head(SHOWN)
        (found,) = collect([query], source.progress, "Looking for the rows")
        first = (*first, *source.where(path, [int(row) for row in found[ROW].to_list()]))[:SHOWN]
        if len(first) == SHOWN:
            break
    return first


def wrong_places(
    source: Source, places: Places, unknown: list[str], left_out: LeftOut | None
) -> list[Finding]:
    """Why visited places that are not listed stop the work; if they are `left_out`, those that may be listed
    ones.
    """
    if left_out is None:
        said = "visited and not listed"
        do = (
            "List every place that may be visited, or leave visits to others out "
            "(`exclude_unknown_places=True`)."
        )
        return [unlisted(source, places, unknown, Doubt.UNKNOWN_PLACE, "place", said, do)] if unknown else []
    findings = [] if source.declared.trust_places else _placeholders(source, unknown)
    if left_out.resembling:
        looks = amount(left_out.resembling, "place looks", "places look")
        reason = f"{looks} like a listed place {_WRITTEN}"
        do = "Write them as the list does, or declare that they are other places (`trust_places=True`)."
        column = source.roles.columns["place"]
        findings.append(Finding(doubt=Doubt.UNKNOWN_PLACE, column=column, reason=reason, do=do))
    return findings


def _placeholders(source: Source, unknown: Iterable[str]) -> list[Finding]:
    """Placeholders and rounded numbers among unlisted places, which may stand for any place."""
    faults = {name: fault(name) for name in unknown}
    findings = []
    for kind, (doubt, reason, do) in _NO_PLACES.items():
        names = [name for name in faults if faults[name] is kind]
        if names:
            here = nw.col("place").cast(nw.String).is_in(names)
            check = RowCheck(doubt=doubt, role="place", wrong=here, reason=reason, do=do)
            findings.append(_located(source, check))
    return findings


_NO_PLACES: Final = {
    Fault.PLACEHOLDER: (
        Doubt.NOT_AN_ID,
        "a word or a number for a missing value instead of a place",
        "Give every row the identifier of a place, or declare that these are places (`trust_places=True`).",
    ),
    Fault.ROUNDED: (
        Doubt.ROUNDED_ID,
        "places in scientific notation or with decimals, as if rounded",
        "Export the places as text from the original, or declare that they are right (`trust_places=True`).",
    ),
}


def unlisted(
    source: Source, listed: Places, unknown: Iterable[str], doubt: Doubt, one: str, said: str, do: str
) -> Finding:
    """Places, or groups, that are in the data and not on the list."""
    names = sorted(unknown)
    here = nw.col("place").cast(nw.String).is_in(names)
    alike = resembling(pl.Series(names, dtype=pl.String), listed.column).height
    those = f"{alike:,} of them {'looks' if alike == 1 else 'look'}" if len(names) > 1 else "it looks"
    hint = f"; {those} like a listed one {_WRITTEN}" if alike else ""
    return Finding(
        doubt=doubt,
        column=source.roles.columns["place"],
        first=find_rows(source, here) if source.engine == "polars" else (),
        reason=f"{amount(len(names), f'{one} is', f'{one}s are')} {said}{hint}",
        do=do,
    )
