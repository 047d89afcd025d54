"""Why a count cannot be given: what `people` raises and `check` reports.

Limits on the places of one person, questions that the rows cannot answer, and declarations that the input
does not meet.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import narwhals as nw

from safeside.errors import BadQuestion
from safeside.visits.count.wrong_rows import find_faults
from safeside.visits.findings import LEGIBLE, Doubt, Finding, amount
from safeside.visits.places.coordinates import coordinates
from safeside.visits.places.places import Places
from safeside.visits.read.engines import collect
from safeside.visits.read.files import END_IT
from safeside.visits.read.format import Expected
from safeside.visits.read.identifiers import count_people
from safeside.visits.read.roles import PlaceForm, TimeForm
from safeside.visits.read.source import Source
from safeside.visits.times.every import Windows
from safeside.visits.times.window import Window


def limit_of(declared: int | None, windows: Windows, places: Places) -> int | None:
    """The most places of one person, each once for every window; None where nothing limits it."""
    if declared is not None:
        from safeside.exact import whole  # with its arithmetic, for which counting has no other use

        most = whole(declared, "the most places one person can visit", least=1)
        return min(most, len(windows) * len(places))
    return 1 if windows.whole.instant else None


def require_answerable(source: Source, places: Places, window: Window) -> None:
    if source.roles.where is PlaceForm.COORDINATES:
        coordinates(places)
    if window.instant and source.roles.when is TimeForm.SIGHTINGS and source.declared.held == timedelta(0):
        raise BadQuestion(
            "Where a person is at an instant cannot be told from sightings that hold for no time.",
            'Declare how long a sighting holds (`hold="15min"`), or ask about an interval.',
        )


def too_many(most: int | None, limit: int | None, source: Source, windows: Windows) -> list[Finding]:
    if most is None or limit is None or most <= limit:
        return []
    if windows.whole.instant and limit == 1:
        reason = "someone is at two places at the instant asked about"
        do = (
            "Correct overlapping stays. Where places overlap, so that one can be at several, the dataset has "
            "to be made with `max_places_per_person=`."
        )
        if source.roles.when is TimeForm.DATES:
            do = "A date is the whole day: ask about days, with `max_alarms=`."
        return [Finding(doubt=Doubt.TWO_PLACES, reason=reason, do=do)]
    every = ", each of them counted once for every window" if len(windows) > 1 else ""
    reason = f"someone visited more places than the declared {limit}{every}"
    do = "Correct rows that are wrong. Sparse answers (`max_alarms=`) need no such number."
    return [Finding(doubt=Doubt.TOO_MANY_PLACES, reason=reason, do=do)]


def why_nobody(source: Source, places: Places, windows: Windows, known: Expected) -> list[Finding]:
    """Why nobody may be in the window: no rows at all, or times in another unit. Else nobody was there."""
    found = [f for f in find_faults(source, places, windows) if f.doubt is Doubt.IMPLAUSIBLE]
    if source.opened is not None or known.rows == 0:
        return found
    (counted,) = collect([source.frame.select(nw.len().alias("rows"))], source.progress, "Counting rows")
    return [*found, *no_rows(source, known, counted["rows"].item())]


def no_rows(source: Source, known: Expected, rows: int) -> list[Finding]:
    """A dataframe without rows is more often a mistake than an answer."""
    if rows or source.opened is not None or known.rows == 0:
        return []
    do = "Look at how it was made, or declare that there are no rows (`Expected(rows=0)`)."
    return [Finding(doubt=Doubt.NO_ROWS, reason="the dataframe has no rows", do=do)]


def whole_input(source: Source, known: Expected) -> tuple[int | None, int | None]:
    """Rows and people of the whole input, where they are known for nothing or somebody declared them."""
    rows, people = source.rows, None
    wanted = []
    if rows is None and known.rows is not None:
        wanted.append(nw.len().alias("rows"))
    if known.people is not None:
        wanted.append(count_people(source.types["person"]).alias("people"))
    if wanted:
        (found,) = collect([source.frame.select(wanted)], source.progress, "Counting rows and people")
        rows = int(found["rows"].item()) if "rows" in found.columns else rows
        people = int(found["people"].item() or 0) if "people" in found.columns else None
    return rows, people


def settle_by_rows(source: Source, known: Expected) -> list[Finding]:
    """What was found in the files, less what the declared number of rows answers."""
    if known.rows is None or known.rows != source.rows:
        return list(source.findings)
    return [_settled(f, source) if f.doubt in LEGIBLE else f for f in source.findings]


def _settled(found: Finding, source: Source) -> Finding:
    """What is left of a doubt once the number of rows is right: the very last field may be cut off."""
    agrees = f"{found.reason}; the declared number of rows agrees"
    if found.doubt is Doubt.CUT_OFF and found.column in source.roles.columns.values():
        return replace(found, reason=f"{agrees}, but its last field may be cut off", do=END_IT)
    return replace(found, column="", reason=agrees, do="Nothing.", stops=False)


def unmet_expectations(
    source: Source, known: Expected, rows: int | None, people: int | None
) -> list[Finding]:
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
