"""Looking at visits before anything is asked of them: every doubt at once, with counts and places in the
files.
"""

from __future__ import annotations

from typing import Any

import polars as pl
from polars.selectors import datetime

from safeside.progress import Progress, quiet
from safeside.visits import counting
from safeside.visits.covering import require_gaps
from safeside.visits.engines import collect
from safeside.visits.format import Manifest, VisitFormat, When
from safeside.visits.format import Where as Form
from safeside.visits.ids import people as all_people
from safeside.visits.locating import almost_listed, flags, locate, unknown_places
from safeside.visits.places import Places
from safeside.visits.report import Doubt, Finding, Report, amount
from safeside.visits.rowchecks import row_checks, touches
from safeside.visits.saying import describe, exclusions
from safeside.visits.sources import Source, open_paths, open_visits, reading
from safeside.visits.tally import align, most_listed_places, parsed_rows, require_all_rows, run
from safeside.visits.window import Window


def check_visits(
    visits: Any,
    places: Places,
    window: Window | None = None,
    fmt: VisitFormat | None = None,
    *,
    max_places_per_person: int | None = None,
    exclude_unknown_places: bool = False,
    manifest: Manifest | None = None,
    progress: Progress = quiet,
) -> Report:
    """Report everything that would stop a count of these visits, in any window; nothing is counted for
    keeps.

    A question that cannot be asked at all (a column that is not there, a zone that nobody declared) is an
    error.
    """
    declared = fmt if fmt is not None else VisitFormat()
    known = manifest if manifest is not None else Manifest()
    require_gaps(places, declared)
    opened = open_paths(visits, declared, key=None, progress=progress)
    if opened is not None and opened.illegible:
        return Report(findings=opened.findings, files=len(opened.paths), rows=None)
    with reading(opened):
        source = open_visits(visits, opened, declared)
        findings = counting.settle(source, known)
        found, rows, people = _survey(source, places, window, exclude_unknown_places, progress)
        findings += [*found, *counting.disagreements(source, known, rows, people)]
        if opened is None and not rows and known.rows != 0:
            findings.append(counting.no_rows())
        most: int | None = None
        if window is not None and not any(finding.stops for finding in found):
            limit = counting.limit_of(max_places_per_person, window, places)
            in_window, most = _ask(source, places, window, limit, progress)
            findings += in_window
    return Report(
        findings=tuple(findings),
        files=0 if opened is None else len(opened.paths),
        rows=rows,
        people=people,
        most_places_per_person=most,
        exclusions=exclusions(source, exclude_unknown_places=exclude_unknown_places),
        reading=describe(source),
    )


def _survey(
    source: Source, places: Places, window: Window | None, exclude_unknown: bool, progress: Progress
) -> tuple[list[Finding], int, int]:
    """One pass over all rows: every question, the places there are, and how many rows and people."""
    checks = row_checks(source, places, window)
    totals = [parsed_rows(), all_people(source.types["person"]).alias("people")]
    queries = [source.frame.select(*flags(source, checks), *totals)]
    if source.roles.where is Form.PLACES:
        queries.append(source.frame.select("place").unique())
    seen, *visited = collect(queries, progress, "Checking every row")
    require_all_rows(source, int(seen["rows"].item()))
    findings = locate(source, places, window, progress, asked=seen)
    if visited:
        named = visited[0].drop_nulls().with_columns(pl.lit(0).alias("people"))
        _, unknown = align(named, places)
        unknown = [name for name in unknown if name]
        if unknown and not exclude_unknown:
            findings.append(unknown_places(source, places, unknown, progress))
        else:
            findings += almost_listed(source, places, unknown)
    return findings, int(seen["rows"].item()), int(seen["people"].item() or 0)


def _ask(
    source: Source, places: Places, window: Window, limit: int | None, progress: Progress
) -> tuple[list[Finding], int | None]:
    """What only shows once a window is asked about."""
    counting.require_answerable(source, places, window)
    tally = run(source, places, window, per_person=True, progress=progress)
    most = tally.most_places
    if tally.unknown and limit is not None and most is not None and most > limit:
        most = most_listed_places(source, places, window, progress)
    findings = counting.too_many(most, limit, source, window)
    if tally.nobody:
        reason = "no visit touches the window"
        do = "Check the window and its time zone; if nobody was anywhere, all counts are zero."
        findings.append(Finding(doubt=Doubt.NOBODY, reason=reason, do=do, stops=False))
    if not window.instant and source.roles.when is When.STAYS and source.roles.where is Form.PLACES:
        findings += _overlaps(source, window, progress)
    return findings, most


def _overlaps(source: Source, window: Window, progress: Progress) -> list[Finding]:
    """People who are at two places at once in the window: in an interval no error, but a sign of a shared
    identifier.
    """
    stays = source.frame.filter(touches(source, window)).select("person", "place", "start", "end")
    (found,) = collect([stays], progress, "Looking for overlapping stays")
    # Start and end may tell the time of different zones, between which Polars would not compare.
    people = at_two_places(found.with_columns(datetime(time_zone="*").dt.convert_time_zone("UTC")))
    if not people:
        return []
    reason = f"{amount(people, 'person is', 'people are')} at two places at once within the window"
    do = "Make sure that no two people share an identifier: they would be counted as one."
    return [Finding(doubt=Doubt.OVERLAP, reason=reason, do=do, stops=False)]


def at_two_places(stays: pl.DataFrame) -> int:
    """How many people have stays at two places that overlap.

    A person's stays, in the order of their starts, fall into runs in which each one begins before the longest
    of those before it has ended, or together with the last. The first stay of a run that is elsewhere than
    all before it overlaps one of them; and stays that overlap are in one run. So it is enough to know which
    runs name two places. A stay of no length is its one moment.
    """
    stays = stays.sort("person", "start")
    ended = pl.col("end").cum_max().shift(1).over("person")
    began = pl.col("start").shift(1).over("person")
    apart = ((pl.col("start") >= ended) & (pl.col("start") != began)).fill_null(value=True)
    runs = stays.with_columns(apart.cum_sum().alias("run")).group_by("person", "run")
    return runs.agg(pl.col("place").n_unique()).filter(pl.col("place") > 1)["person"].n_unique()
