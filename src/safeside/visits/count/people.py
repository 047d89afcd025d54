"""Distinct people at each listed place: the count that everything published stands on.

Places are compared with the public list after grouping, when there is one row a place, and never by a join
that could lose rows: a listed place nobody visited counts zero, a visited place nobody listed stops the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from safeside.errors import BadQuestion, LimitBroken
from safeside.progress import Progress, quiet
from safeside.visits.count.coverage import coverage
from safeside.visits.count.row_groups import narrowed
from safeside.visits.count.scan import Tally, most_listed_places, run
from safeside.visits.count.unlisted import Confirm, LeftOut, unsaid
from safeside.visits.count.wrong_rows import locate, look_listed, no_places, unknown_places
from safeside.visits.findings import SETTLED_BY_ROWS, Doubt, Finding, amount, stop_on
from safeside.visits.places.coordinates import coordinates
from safeside.visits.places.free_ground import require_gaps
from safeside.visits.places.places import Places
from safeside.visits.read.engines import collect
from safeside.visits.read.files import END_IT, Fingerprint
from safeside.visits.read.format import Manifest, VisitFormat, When
from safeside.visits.read.format import Where as Form
from safeside.visits.read.identifiers import people as all_people
from safeside.visits.read.saying import describe, exclusions, whole_days
from safeside.visits.read.source import Source, lost_again, open_paths, open_visits, reading
from safeside.visits.times.window import Window


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Exact numbers of distinct people, for the curator's eyes: nothing of this is published as it stands.

    `rows` and `people` are what the whole input holds, None where nobody asked an engine to count them.
    `reading` says what counts as a visit, `exclusions` what was left out: both belong to every answer made
    from these counts.
    """

    places: Places
    window: Window
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


def count_visits(
    visits: Any,
    places: Places,
    window: Window,
    fmt: VisitFormat | None = None,
    *,
    max_places_per_person: int | None = None,
    exclude_unknown_places: bool = False,
    manifest: Manifest | None = None,
    key: bytes | None = None,
    on_files: Callable[[tuple[str, ...]], object] | None = None,
    until: datetime | None = None,
    confirm: Confirm = unsaid,
    remember: Path | None = None,
    progress: Progress = quiet,
) -> Counts:
    """Count the distinct people at each listed place, or stop and say why that cannot be done for certain.

    `visits` is a path, a glob, a list of paths, or a dataframe of any engine. `max_places_per_person` is the
    declared K; at an instant it is 1 unless declared otherwise, and it is checked. Whatever is left out by
    `exclude_unknown_places` is shown to `confirm`, which says whether to go on where it is more than the
    manifest expects. With a `key`, `on_files` is given the fingerprints of files that can be counted; with a
    folder to `remember` in as well, row groups that hold nothing of the window are read once, and not again
    while the bytes of their file are the same (`row_groups.py`).
    `until` is the moment up to which a window is asked about that was not over.
    """
    declared = fmt if fmt is not None else VisitFormat()
    known = manifest if manifest is not None else Manifest()
    limit = limit_of(max_places_per_person, window, places)
    require_gaps(places, declared)
    opened = open_paths(visits, declared, key=key, progress=progress)
    with reading(opened):
        source = open_visits(visits, opened, declared)
        require_answerable(source, places, window)
        findings = settle(source, known)
        stop_on(findings)
        asked = source
        if remember is not None and key is not None:
            asked = narrowed(source, window, key, remember, progress)
        tally = run(
            asked,
            places,
            window,
            per_person=limit is not None,
            unlisted=exclude_unknown_places,
            progress=progress,
        )
        if tally.doubtful:
            stop_on(locate(source, places, window, progress))
            raise lost_again()
        if tally.odd_ids:
            stop_on(locate(source, places, window, progress))
        if tally.nobody:
            stop_on(why_nobody(source, places, window, known, progress))
        values, unknown = tally.values, tally.unknown
        if unknown and not exclude_unknown_places:
            stop_on([unknown_places(source, places, unknown, progress)])
        left_out = describe_left_out(source, tally, places, known)
        if left_out is not None:
            confirmed = confirm(left_out)
            stop_on([*no_places(source, unknown, progress), *look_listed(source, left_out.resembling)])
            stop_on([] if confirmed else [left_out.finding(source.roles.columns["place"])])
        most = tally.most_places
        if limit is not None and most is not None and most > limit and unknown:
            most = most_listed_places(source, places, window, progress)
        rows, people = whole_input(source, known, progress)
        stop_on(disagreements(source, known, rows, people))
        stop_on(coverage(source, window, known, progress, until=until))
        if opened is not None and on_files is not None:
            on_files(opened.fingerprints)
        stop_on(too_many(most, limit, source, window), LimitBroken)
    return Counts(
        places=places,
        window=window,
        values=values,
        rows=rows,
        people=people,
        most_places_per_person=most,
        findings=tuple(findings),
        exclusions=exclusions(source, exclude_unknown_places=exclude_unknown_places),
        reading=describe(source),
        fingerprint=_fingerprint(source, places, window, values, key),
        whole_days=whole_days(source),
        left_out=left_out,
    )


def describe_left_out(source: Source, tally: Tally, places: Places, known: Manifest) -> LeftOut | None:
    """What is left out of a window, if anything is."""
    if not tally.unknown or tally.unlisted is None:
        return None
    return tally.unlisted.described(
        tally.unknown, places, trusted=source.declared.trust_places, most=known.most_unlisted
    )


def why_nobody(
    source: Source, places: Places, window: Window, known: Manifest, progress: Progress
) -> list[Finding]:
    """Why nobody may be in the window: no rows at all, or times in another unit. Else nobody was there."""
    found = [f for f in locate(source, places, window, progress) if f.doubt is Doubt.IMPLAUSIBLE]
    if source.opened is not None or known.rows == 0:
        return found
    (counted,) = collect([source.frame.select(nw.len().alias("rows"))], progress, "Counting rows")
    return found if counted["rows"].item() else [*found, no_rows()]


def no_rows() -> Finding:
    """A dataframe without rows is more often a mistake than an answer."""
    return Finding(
        doubt=Doubt.NO_ROWS,
        reason="the dataframe has no rows",
        do="Look at how it was made, or declare that there are no rows (`Manifest(rows=0)`).",
    )


def limit_of(declared: int | None, window: Window, places: Places) -> int | None:
    if declared is not None:
        from safeside.exact import whole  # with its arithmetic, for which counting has no other use

        return min(whole(declared, "the most places one person can visit", least=1), len(places))
    return 1 if window.instant else None


def require_answerable(source: Source, places: Places, window: Window) -> None:
    if source.roles.where is Form.COORDINATES:
        coordinates(places)
    if window.instant and source.roles.when is When.SIGHTINGS and source.declared.held == timedelta(0):
        raise BadQuestion(
            "Where a person is at an instant cannot be told from sightings that hold for no time.",
            'Declare how long a sighting holds (`hold="15min"`), or ask about an interval.',
        )


def too_many(most: int | None, limit: int | None, source: Source, window: Window) -> list[Finding]:
    if most is None or limit is None or most <= limit:
        return []
    if window.instant and limit == 1:
        reason = "someone is at two places at the instant asked about"
        do = (
            "Correct overlapping stays. Where places overlap, so that one can be at several, the dataset has "
            "to be made with `max_places_per_person=`."
        )
        if source.roles.when is When.DATES:
            do = "A date is the whole day: ask about days, with `max_alarms=`."
        return [Finding(doubt=Doubt.TWO_PLACES, reason=reason, do=do)]
    reason = f"someone visited more places than the declared {limit}"
    do = "Correct rows that are wrong. Sparse answers (`max_alarms=`) need no such number."
    return [Finding(doubt=Doubt.TOO_MANY_PLACES, reason=reason, do=do)]


def whole_input(source: Source, known: Manifest, progress: Progress) -> tuple[int | None, int | None]:
    """Rows and people of the whole input, where they are known for nothing or somebody declared them."""
    rows, people = source.rows, None
    wanted = []
    if rows is None and known.rows is not None:
        wanted.append(nw.len().alias("rows"))
    if known.people is not None:
        wanted.append(all_people(source.types["person"]).alias("people"))
    if wanted:
        (found,) = collect([source.frame.select(wanted)], progress, "Counting rows and people")
        rows = int(found["rows"].item()) if "rows" in found.columns else rows
        people = int(found["people"].item() or 0) if "people" in found.columns else None
    return rows, people


def settle(source: Source, known: Manifest) -> list[Finding]:
    """What was found in the files, less what the declared number of rows answers."""
    if known.rows is None or known.rows != source.rows:
        return list(source.findings)
    return [_settled(f, source) if f.doubt in SETTLED_BY_ROWS else f for f in source.findings]


def _settled(found: Finding, source: Source) -> Finding:
    """What is left of a doubt once the number of rows is right: the very last field may be cut off."""
    agrees = f"{found.reason}; the declared number of rows agrees"
    if found.doubt is Doubt.CUT_OFF and found.column in source.roles.columns.values():
        return replace(found, reason=f"{agrees}, but its last field may be cut off", do=END_IT)
    return replace(found, column="", reason=agrees, do="Nothing.", stops=False)


def disagreements(source: Source, known: Manifest, rows: int | None, people: int | None) -> list[Finding]:
    """Where the data are not what was declared of them."""
    files = None if source.opened is None else len(source.opened.paths)
    found = []
    for doubt, what, said, there in (
        (Doubt.ROWS, ("file", "files"), known.files, files),
        (Doubt.ROWS, ("row", "rows"), known.rows, rows),
        (Doubt.PEOPLE, ("person", "people"), known.people, people),
    ):
        declared = "" if said is None else f"{amount(said, *what)} {'is' if said == 1 else 'are'} declared"
        if said is not None and there is None:
            reason = f"{declared}, and the visits are a dataframe"
            found.append(Finding(doubt=doubt, reason=reason, do=f"Leave the number of {what[1]} out."))
        elif said is not None and said != there:
            reason = f"{declared}, and there {'is' if there == 1 else 'are'} {there:,}"
            do = f"Find out which {what[1]} are missing or too many, or correct the declaration."
            found.append(Finding(doubt=doubt, reason=reason, do=do))
    return found


def _fingerprint(
    source: Source, places: Places, window: Window, values: NDArray[np.int64], key: bytes | None
) -> str | None:
    """Of the files' bytes; of the counts themselves where the visits were a dataframe."""
    if key is None:
        return None
    if source.opened is not None:
        return source.opened.fingerprint
    digest = Fingerprint(key)
    digest.file(0)
    feed = digest.feed
    assert feed is not None
    feed(f"{window.start.isoformat()}/{window.end.isoformat()}\n".encode())
    for place, value in zip(places.ids, values.tolist(), strict=True):
        feed(f"{len(place.encode())}:{place}={value}\n".encode())
    return digest.text()
