"""All findings about visits at once, with counts and row numbers, before anything is published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from safeside.progress import Progress, quiet
from safeside.visits.count.coverage import coverage
from safeside.visits.count.row_checks import row_checks
from safeside.visits.count.scan import align, most_places, parsed_rows, require_all_rows, run
from safeside.visits.count.stops import (
    limit_of,
    no_rows,
    require_answerable,
    settle_by_rows,
    too_many,
    unmet_expectations,
    whole_input,
    why_nobody,
)
from safeside.visits.count.unlisted import LeftOut, read_unlisted, unlisted_query
from safeside.visits.count.wrong_rows import failing, flags, wrong_places
from safeside.visits.findings import Doubt, Finding
from safeside.visits.places.free_ground import require_free_ground
from safeside.visits.places.places import Places
from safeside.visits.read.engines import collect
from safeside.visits.read.format import Expected, VisitFormat
from safeside.visits.read.identifiers import count_people
from safeside.visits.read.roles import PlaceForm
from safeside.visits.read.source import (
    Source,
    describe,
    exclusions,
    open_paths,
    open_visits,
    reading,
    row_not_found_again,
)
from safeside.visits.times.every import Windows
from safeside.visits.times.window import When, Window


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything a check found. `fine` when nothing in it stops the work.

    Example
        >>> import polars as pl
        >>> from safeside import VisitFormat, check_visits, read_places
        >>> visits = pl.DataFrame({"person": ["ana"], "place": ["museum"], "date": ["2024-03-03"]})
        >>> check_visits(visits, read_places(["museum"]), fmt=VisitFormat(timezone="UTC")).fine
        True
    """

    findings: tuple[Finding, ...]
    files: int
    rows: int | None
    people: int | None = None
    exclusions: tuple[str, ...] = ()
    reading: str = ""
    left_out: LeftOut | None = None
    """What is left out because its place is not listed: of the window, or else of the whole input."""

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that stop the work."""
        return tuple(finding for finding in self.findings if finding.stops)

    @property
    def notes(self) -> tuple[Finding, ...]:
        """The findings that do not stop it, but are not passed over in silence."""
        return tuple(finding for finding in self.findings if not finding.stops)

    @property
    def fine(self) -> bool:
        """Whether people can be counted for certain."""
        return not self.errors


def check_visits(
    visits: Any,
    places: Places,
    window: When | Sequence[Window] | None = None,
    fmt: VisitFormat | None = None,
    *,
    exclude_unknown_places: bool = False,
    expected: Expected | None = None,
    progress: Progress = quiet,
) -> Report:
    """Report everything that would stop a count of these visits.

    Without a window every check is made of every row. With one, the scan of its count is made, and every row
    is checked only if that finds something doubtful: what cannot change this count is not reported. A
    question that cannot be asked at all (a missing column, an undeclared zone) is an error.

    Example
        >>> import polars as pl
        >>> from safeside import check_visits, read_places
        >>> visits = pl.DataFrame({
        ...     "person": ["ana"],
        ...     "place": ["museum"],
        ...     "start": ["2024-03-03T17:00Z"],
        ...     "end": ["2024-03-03T16:00Z"],
        ... })
        >>> report = check_visits(visits, read_places(["museum"]))
        >>> print(report.fine, report.findings[0].reason)
        False a stay that ends before it starts
    """
    declared, known = fmt or VisitFormat(), expected or Expected()
    windows = None if window is None else Windows.of(window, declared.timezone)
    require_free_ground(places, declared)
    opened = open_paths(visits, declared, key=None, progress=progress)
    if opened is not None and opened.illegible:
        return Report(findings=opened.findings, files=len(opened.paths), rows=None)
    with reading(opened):
        source = open_visits(visits, opened, declared, progress=progress)
        findings = settle_by_rows(source, known)
        rows: int | None
        people: int | None
        if windows is None:
            found, left_out, rows, people = _survey(source, places, windows, exclude_unknown_places)
            found += no_rows(source, known, rows)
        else:
            found, left_out = _ask(source, places, windows, exclude_unknown_places, known)
            rows, people = whole_input(source, known)
            if not any(finding.stops for finding in found):
                found += coverage(source, windows.whole, known)
        findings += [*found, *unmet_expectations(source, known, rows, people)]
        if left_out is not None:
            findings.append(left_out.finding(source.roles.columns["place"], whole_input=windows is None))
    return Report(
        findings=tuple(findings),
        files=0 if opened is None else len(opened.paths),
        rows=rows,
        people=people,
        exclusions=exclusions(source, exclude_unknown_places=exclude_unknown_places),
        reading=describe(source),
        left_out=left_out,
    )


def _survey(
    source: Source, places: Places, windows: Windows | None, exclude_unknown: bool
) -> tuple[list[Finding], LeftOut | None, int, int]:
    """One pass over all rows: every check, the visited places, and the numbers of rows and people."""
    checks = row_checks(source, places, windows, closely=True)
    totals = [parsed_rows(), count_people(source.types["person"]).alias("people")]
    queries = [source.frame.select(*flags(source, checks), *totals)]
    if source.roles.where is PlaceForm.PLACES:
        queries.append(source.frame.select("place").unique())
        queries += [unlisted_query(source.frame, places)] if exclude_unknown else []
    seen, *visited = collect(queries, source.progress, "Checking every row")
    require_all_rows(source, int(seen["rows"].item()))
    findings = failing(source, checks, seen)
    left_out: LeftOut | None = None
    if visited:
        named = visited[0].drop_nulls().with_columns(pl.lit(0).alias("people"))
        unknown = [name for name in align(named, places)[1] if name]
        if unknown and exclude_unknown:
            others, trusted = read_unlisted(visited[1]), source.declared.trust_places
            left_out = others.described(unknown, places, trusted=trusted)
        findings += wrong_places(source, places, unknown, left_out)
    return findings, left_out, int(seen["rows"].item()), int(seen["people"].item() or 0)


def _ask(
    source: Source, places: Places, windows: Windows, exclude_unknown: bool, known: Expected
) -> tuple[list[Finding], LeftOut | None]:
    """What would stop the count of these windows, by the scan that the count makes.

    The most places of one person over an interval is not computed: a limit chosen by it would be published.
    """
    require_answerable(source, places, windows.whole)
    limit = limit_of(None, windows, places)
    tally = run(source, places, windows, per_person=limit is not None, unlisted=exclude_unknown)
    if tally.doubtful or tally.odd_ids:
        found, _, _, _ = _survey(source, places, windows, exclude_unknown)
        if any(finding.stops for finding in found):
            return found, None
        if tally.doubtful:
            raise row_not_found_again()
    left_out = tally.left_out(places, trusted=source.declared.trust_places, most=known.most_unlisted)
    findings = wrong_places(source, places, tally.unknown, left_out)
    findings += too_many(most_places(source, places, windows, tally, limit), limit, source, windows)
    if tally.nobody:
        findings += why_nobody(source, places, windows, known)
        reason = "no visit touches the window"
        do = "Check the window and its time zone; if nobody was anywhere, all counts are zero."
        findings.append(Finding(doubt=Doubt.NOBODY, reason=reason, do=do, stops=False))
    return findings, left_out
