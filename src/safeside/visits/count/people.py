"""Distinct people at each listed place: the count that everything published stands on.

Visited places are compared with the list after grouping, never by a join that could lose rows: a listed place
that nobody visited counts zero, a visited place that is not listed stops the work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeside.errors import LimitBroken
from safeside.progress import Progress, quiet
from safeside.visits.count.coverage import coverage
from safeside.visits.count.row_groups import skip_row_groups
from safeside.visits.count.scan import most_listed_places, run
from safeside.visits.count.stops import (
    limit_of,
    require_answerable,
    settle_by_rows,
    too_many,
    unmet_expectations,
    whole_input,
    why_nobody,
)
from safeside.visits.count.unlisted import Confirm, LeftOut, never_confirm
from safeside.visits.count.wrong_rows import (
    find_faults,
    lookalike_findings,
    placeholder_places,
    unknown_places,
)
from safeside.visits.findings import Finding, stop_on
from safeside.visits.places.free_ground import require_free_ground
from safeside.visits.places.places import Places
from safeside.visits.read.files import fingerprint_of
from safeside.visits.read.format import Expected, VisitFormat
from safeside.visits.read.source import (
    Source,
    describe,
    exclusions,
    open_paths,
    open_visits,
    reading,
    row_not_found_again,
    whole_days,
)
from safeside.visits.times.every import Windows
from safeside.visits.times.window import When, Window


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Exact numbers of distinct people, for the curator only: nothing of this is published as it is.

    `values` has a number for each place in each window: all places in the first window, in the order of the
    list, then all in the second, and so on.
    `rows` and `people` are what the whole input holds, None where nobody asked an engine to count them.
    `reading` says what counts as a visit, `exclusions` what was left out: both belong to every answer made
    from these counts.

    Example
        >>> import polars as pl
        >>> from safeside import Expected, VisitFormat, Window, count_visits, read_places
        >>> visits = pl.DataFrame({"person": ["ana"], "place": ["museum"], "date": ["2024-03-03"]})
        >>> day = Window.parse("2024-03-03", "UTC")
        >>> utc, known = VisitFormat(timezone="UTC"), Expected(covers="2024-03-03T00Z/P1D")
        >>> counts = count_visits(visits, read_places(["museum"]), day, utc, expected=known)
        >>> print(counts.values, counts.reading)
        [1] A visit is a date on which the person was at the place; it counts for the whole local day.
    """

    places: Places
    windows: tuple[Window, ...]
    values: NDArray[np.int64]
    rows: int | None
    people: int | None
    most_places_per_person: int | None
    findings: tuple[Finding, ...]
    exclusions: tuple[str, ...]
    reading: str
    fingerprint: str | None
    whole_days: bool = False
    """Whether every row stands for whole local days."""
    left_out: LeftOut | None = None
    """What was left out because its place is not listed; None where nothing was."""

    @property
    def window(self) -> Window:
        """All the time asked about: the window, or from the beginning of the first to the end of the last."""
        return Windows(each=self.windows).whole


def count_visits(
    visits: Any,
    places: Places,
    window: When | Sequence[Window],
    fmt: VisitFormat | None = None,
    *,
    max_places_per_person: int | None = None,
    exclude_unknown_places: bool = False,
    expected: Expected | None = None,
    key: bytes | None = None,
    on_files: Callable[[tuple[str, ...]], object] | None = None,
    until: datetime | None = None,
    confirm: Confirm = never_confirm,
    remember: Path | None = None,
    progress: Progress = quiet,
) -> Counts:
    """Count the distinct people at each listed place, or stop and say why that cannot be done for certain.

    `visits` is a path, a glob, a list of paths, or a dataframe of any engine. `window` may be several
    intervals of which each begins where the one before ends: a visit counts in every one that it touches.
    `max_places_per_person` is the declared K, for which each place counts once in every window; at an instant
    it is 1 unless declared otherwise, and it is checked. Whatever is left out by `exclude_unknown_places` is
    shown to `confirm`, which says whether to go on where it is more than the owner expects. With a `key`,
    `on_files` is given the fingerprints of files that can be counted; with a folder to `remember` in as well,
    row groups that hold nothing of the window are read once, and not again while the bytes of their file are
    the same (`row_groups.py`).
    `until` is the moment up to which a window is asked about that was not over.

    Example
        >>> import polars as pl
        >>> from safeside import Expected, Window, count_visits, read_places
        >>> visits = pl.DataFrame({
        ...     "person": ["ana", "ben", "ana"],
        ...     "place": ["museum", "museum", "library"],
        ...     "start": ["2024-03-03T17:00Z", "2024-03-03T17:30Z", "2024-03-03T20:00Z"],
        ...     "end": ["2024-03-03T19:00Z", "2024-03-03T18:30Z", "2024-03-03T21:00Z"],
        ... })
        >>> places = read_places(["library", "museum"])
        >>> at_six = Window.parse("2024-03-03T18:00Z")
        >>> counts = count_visits(visits, places, at_six, expected=Expected(covers="2024-03-03T00Z/P1D"))
        >>> dict(zip(places.ids, counts.values.tolist()))
        {'library': 0, 'museum': 2}
    """
    declared = fmt if fmt is not None else VisitFormat()
    known = expected if expected is not None else Expected()
    windows = Windows.of(window, declared.timezone)
    limit = limit_of(max_places_per_person, windows, places)
    require_free_ground(places, declared)
    opened = open_paths(visits, declared, key=key, progress=progress)
    with reading(opened):
        source = open_visits(visits, opened, declared)
        require_answerable(source, places, windows.whole)
        findings = settle_by_rows(source, known)
        stop_on(findings)
        asked = source
        if remember is not None and key is not None:
            asked = skip_row_groups(source, windows.whole, key, remember, progress)
        tally = run(
            asked,
            places,
            windows,
            per_person=limit is not None,
            unlisted=exclude_unknown_places,
            progress=progress,
        )
        if tally.doubtful:
            stop_on(find_faults(source, places, windows, progress))
            raise row_not_found_again()
        if tally.odd_ids:
            stop_on(find_faults(source, places, windows, progress))
        if tally.nobody:
            stop_on(why_nobody(source, places, windows, known, progress))
        values, unknown = tally.values, tally.unknown
        if unknown and not exclude_unknown_places:
            stop_on([unknown_places(source, places, unknown, progress)])
        left_out = tally.left_out(places, trusted=declared.trust_places, most=known.most_unlisted)
        if left_out is not None:
            confirmed = confirm(left_out)
            stop_on(
                [
                    *placeholder_places(source, unknown, progress),
                    *lookalike_findings(source, left_out.resembling),
                ]
            )
            stop_on([] if confirmed else [left_out.finding(source.roles.columns["place"])])
        most = tally.most_places
        if limit is not None and most is not None and most > limit and unknown:
            most = most_listed_places(source, places, windows, progress)
        rows, people = whole_input(source, known, progress)
        stop_on(unmet_expectations(source, known, rows, people))
        stop_on(coverage(source, windows.whole, known, progress, until=until))
        if opened is not None and on_files is not None:
            on_files(opened.fingerprints)
        stop_on(too_many(most, limit, source, windows), LimitBroken)
    return Counts(
        places=places,
        windows=windows.each,
        values=values,
        rows=rows,
        people=people,
        most_places_per_person=most,
        findings=tuple(findings),
        exclusions=exclusions(source, exclude_unknown_places=exclude_unknown_places),
        reading=describe(source),
        fingerprint=_fingerprint(source, places, windows, values, key),
        whole_days=whole_days(source),
        left_out=left_out,
    )


def _fingerprint(
    source: Source, places: Places, windows: Windows, values: NDArray[np.int64], key: bytes | None
) -> str | None:
    """Of the files' bytes; of the counts themselves where the visits were a dataframe."""
    if key is None:
        return None
    if source.opened is not None:
        return source.opened.fingerprint
    lines: list[str] = []
    for window, part in zip(windows.each, values.reshape(len(windows), -1), strict=True):
        lines.append(f"{window.start.isoformat()}/{window.end.isoformat()}")
        lines += (f"{len(one.encode())}:{one}={n}" for one, n in zip(places.ids, part.tolist(), strict=True))
    return fingerprint_of(lines, key)
