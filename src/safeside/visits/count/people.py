"""Distinct people at each listed place: the count that everything published stands on.

Visited places are compared with the list after grouping, never by a join that could lose rows: a listed place
that nobody visited counts zero, a visited place that is not listed stops the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
from safeside.visits.count.scan import most_places, run
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
from safeside.visits.count.wrong_rows import find_faults, wrong_places
from safeside.visits.findings import Finding, stop_on
from safeside.visits.places.free_ground import require_free_ground
from safeside.visits.places.places import Places
from safeside.visits.read.files import fingerprint_of
from safeside.visits.read.format import Expected, VisitFormat
from safeside.visits.read.source import (
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
    declared, known = fmt or VisitFormat(), expected or Expected()
    windows = Windows.of(window, declared.timezone)
    limit = limit_of(max_places_per_person, windows, places)
    require_free_ground(places, declared)
    opened = open_paths(visits, declared, key=key, progress=progress)
    with reading(opened):
        source = open_visits(visits, opened, declared, progress=progress)
        require_answerable(source, places, windows.whole)
        findings = settle_by_rows(source, known)
        stop_on(findings)
        asked = source
        if remember is not None and key is not None:
            asked = skip_row_groups(source, windows.whole, key, remember)
        tally = run(asked, places, windows, per_person=limit is not None, unlisted=exclude_unknown_places)
        if tally.doubtful or tally.odd_ids:
            stop_on(find_faults(source, places, windows))
        if tally.doubtful:
            raise row_not_found_again()
        if tally.nobody:
            stop_on(why_nobody(source, places, windows, known))
        left_out = tally.left_out(places, trusted=declared.trust_places, most=known.most_unlisted)
        confirmed = left_out is None or confirm(left_out)
        stop_on(wrong_places(source, places, tally.unknown, left_out))
        if left_out is not None and not confirmed:
            stop_on([left_out.finding(source.roles.columns["place"])])
        most = most_places(source, places, windows, tally, limit)
        rows, people = whole_input(source, known)
        stop_on(unmet_expectations(source, known, rows, people))
        stop_on(coverage(source, windows.whole, known, until=until))
        if opened is not None and on_files is not None:
            on_files(opened.fingerprints)
        stop_on(too_many(most, limit, source, windows), LimitBroken)
    return Counts(
        places=places,
        windows=windows.each,
        values=tally.values,
        rows=rows,
        people=people,
        most_places_per_person=most,
        findings=tuple(findings),
        exclusions=exclusions(source, exclude_unknown_places=exclude_unknown_places),
        reading=describe(source),
        fingerprint=fingerprint_of(opened, _lines(places, windows, tally.values), key),
        whole_days=whole_days(source),
        left_out=left_out,
    )


def _lines(places: Places, windows: Windows, values: NDArray[np.int64]) -> Iterator[str]:
    """The counts as lines of text, by which visits that are a dataframe are recognised."""
    for window, part in zip(windows.each, values.reshape(len(windows), -1), strict=True):
        yield f"{window.start.isoformat()}/{window.end.isoformat()}"
        for place, count in zip(places.ids, part.tolist(), strict=True):
            yield f"{len(place.encode())}:{place}={count}"
