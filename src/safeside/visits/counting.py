"""Distinct people per place in a window: one scan, every check on the way, the same integers on every
engine.

The plan is the raw query any engine would run, distinct pairs of person and place within the window, with
one change. The filter lets *doubtful* rows through as well, wherever in time they lie, and strips them of
their place: if a group without a place comes out at the other end, something is wrong, and nothing is
counted. So no row is ever dropped for being unreadable, and checking costs a few comparisons in a scan that
happens anyway. Places are compared with the public list after grouping, when there is one row a place, and
never by a join that could lose rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from safeside.errors import BadFile, BadQuestion
from safeside.exact import whole
from safeside.progress import Progress, quiet
from safeside.visits.engines import collect
from safeside.visits.files import Fingerprint
from safeside.visits.format import Manifest, VisitFormat, When
from safeside.visits.format import Where as Form
from safeside.visits.geography import assign, coordinates
from safeside.visits.ids import NOT_AN_ID, ROUNDED, mixed_zeros
from safeside.visits.locating import locate, unknown_places
from safeside.visits.places import Places
from safeside.visits.report import Doubt, Finding, stop_on
from safeside.visits.rowchecks import doubtful, row_checks, stayed, touches
from safeside.visits.sources import Frame, Source, lost_again, open_visits, reading
from safeside.visits.stays import detect_stays
from safeside.visits.window import Window

_ODD: Final = f"{ROUNDED}|{NOT_AN_ID}"


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


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What one scan brought back."""

    by_place: pl.DataFrame
    doubtful: bool
    odd_ids: bool
    most_places: int | None


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
    progress: Progress = quiet,
) -> Counts:
    """Count the distinct people at each listed place, or stop and say why that cannot be done for certain.

    `visits` is a path, a glob, a list of paths, or a dataframe of any engine. `max_places_per_person` is the
    declared K; at an instant it is 1 unless declared otherwise, and it is checked.
    """
    declared = fmt if fmt is not None else VisitFormat()
    known = manifest if manifest is not None else Manifest()
    limit = limit_of(max_places_per_person, window, places)
    with reading():
        source = open_visits(visits, declared, key=key, progress=progress)
        require_answerable(source, places, window)
        findings = settle(source, known)
        stop_on(findings)
        tally = run(source, places, window, per_person=limit is not None, progress=progress)
        if tally.doubtful:
            stop_on(locate(source, places, window, progress))
            raise lost_again()
        if tally.odd_ids:
            stop_on(locate(source, places, window, progress))
        values, unknown = align(tally.by_place, places)
        if unknown and not exclude_unknown_places:
            stop_on([unknown_places(source, places, unknown, progress)])
        most = tally.most_places
        if limit is not None and most is not None and most > limit and unknown:
            most = most_listed_places(source, places, window, progress)
        rows, people = _whole_input(source, known, progress)
        stop_on([*too_many(most, limit, window), *disagreements(source, known, rows, people)])
    if source.opened is not None:
        source.opened.require_unchanged()
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
    )


def limit_of(declared: int | None, window: Window, places: Places) -> int | None:
    if declared is not None:
        return min(whole(declared, "the most places one person can visit", least=1), len(places))
    return 1 if window.instant else None


def require_answerable(source: Source, places: Places, window: Window) -> None:
    if source.roles.where is Form.COORDINATES:
        coordinates(places)
    if window.instant and source.roles.when is When.SIGHTINGS and source.declared.held == timedelta(0):
        raise BadQuestion(
            "Where a person is at an instant cannot be told from sightings that hold for no time.",
            "Declare how long a sighting holds (--hold 15min), or ask about an interval.",
        )


def pairs(source: Source, places: Places, window: Window, progress: Progress) -> Frame:
    """Person and place of every visit in the window; a doubtful row comes without a place."""
    checks = row_checks(source, places, window)
    doubt = doubtful(checks)
    if source.declared.at_least is not None:
        return _pairs_of_stays(source, places, window, doubt, progress)
    movement = source.roles.movement
    last_only = window.instant and source.roles.when is When.SIGHTINGS
    inside = touches(source, window)
    if movement and not last_only:
        inside = inside & stayed(source)
    frame = source.frame.filter(inside | doubt)
    if last_only:
        # The last sighting that still holds, and no other, says where a person is: one place by construction.
        frame = frame.with_columns(nw.col("time").max().over("person").alias("last"))
        at_last = nw.col("time") == nw.col("last")
        frame = frame.filter(doubt | (at_last & stayed(source) if movement else at_last))
    if source.roles.where is Form.PLACES:
        return frame.select("person", nw.when(~doubt).then(nw.col("place")).alias("place"))
    chosen = [role for role in ("longitude", "accuracy") if role in source.roles.columns]
    sure = nw.when(~doubt).then(nw.col("latitude")).alias("latitude")
    fixes = collect([frame.select("person", sure, *chosen).unique()], progress, "Reading coordinates")[0]
    return _assigned(fixes, source, places, progress)


def _assigned(fixes: pl.DataFrame, source: Source, places: Places, progress: Progress) -> Frame:
    """Fixes as pairs; a doubtful fix, which has no latitude, becomes a pair without a place."""
    sure = fixes.drop_nulls("latitude")
    found = assign(sure, places, source.declared, progress)
    if sure.height < fixes.height:
        lost = pl.DataFrame({"person": [None], "place": [None]}, schema=found.schema)
        found = pl.concat([found, lost])
    return nw.from_native(found.lazy())


def _pairs_of_stays(
    source: Source, places: Places, window: Window, doubt: nw.Expr, progress: Progress
) -> Frame:
    rule = source.declared.at_least
    assert rule is not None
    chosen = [role for role in ("longitude", "accuracy", "time") if role in source.roles.columns]
    sure = nw.when(~doubt).then(nw.col("latitude")).alias("latitude")
    fixes = collect([source.frame.select("person", sure, *chosen)], progress, "Reading fixes")[0]
    if fixes["latitude"].null_count():
        return _assigned(fixes.filter(pl.col("latitude").is_null()), source, places, progress)
    begins = pl.col("start") <= window.end if window.instant else pl.col("start") < window.end
    inside = begins & ((pl.col("end") > window.start) | (pl.col("start") >= window.start))
    return _assigned(detect_stays(fixes, rule).filter(inside), source, places, progress)


def run(source: Source, places: Places, window: Window, *, per_person: bool, progress: Progress) -> Tally:
    """Run the plan."""
    frame = pairs(source, places, window, progress)
    text = source.text_persons
    if text or per_person or str(frame.implementation) != "polars":
        distinct = frame.unique()
        queries = [_group_text(distinct, source) if text else _group(distinct)]
    else:
        distinct = frame
        queries = [frame.group_by("place").agg(nw.col("person").n_unique().alias("people"))]
    if per_person:
        placed = distinct.filter(~nw.col("place").is_null())
        each = placed.group_by("person").agg(nw.len().alias("places"))
        queries.append(each.select(nw.col("places").max()))
    if source.opened is not None and source.opened.text:
        queries.append(source.frame.select(parsed_rows()))
    results = collect(queries, progress, "Counting people")
    by_place = results[0]
    most = None if not per_person else int(results[1]["places"].item() or 0)
    if "rows" in results[-1].columns:
        require_all_rows(source, int(results[-1]["rows"].item()))
    return Tally(
        by_place=by_place.filter(pl.col("place").is_not_null()).select("place", "people"),
        doubtful=bool(by_place["place"].null_count()),
        odd_ids=text and _odd(by_place, source),
        most_places=most,
    )


def parsed_rows() -> nw.Expr:
    """How many rows the parser itself brought forth: counted on a column, so that lines are not counted instead."""
    gone = nw.col("person").is_null()
    return (nw.when(gone).then(nw.lit(1)).otherwise(nw.lit(1))).sum().alias("rows")


def require_all_rows(source: Source, parsed: int) -> None:
    """Stop if a parser of text found other than as many rows as the bytes hold."""
    if source.opened is not None and source.opened.text and parsed != source.rows:
        raise BadFile(
            f"The files hold {source.rows:,} rows, and {parsed:,} were read.",
            "Export the files again, without line breaks or quotes inside fields.",
        )


def _group(distinct: Frame) -> Frame:
    return distinct.group_by("place").agg(nw.len().alias("people"))


def _group_text(distinct: Frame, source: Source) -> Frame:
    """The same, and on the way what identifiers look like: enough to know whether to look closer."""
    if source.declared.trust_ids:
        return _group(distinct)
    person = nw.col("person")
    length = person.str.len_chars().cast(nw.Int64)
    looks = distinct.with_columns(
        nw.when(person.str.contains(_ODD)).then(nw.lit(1)).otherwise(nw.lit(0)).alias("odd"),
        length.alias("shortest"),
        nw.when(person.str.starts_with("0")).then(length).otherwise(nw.lit(0)).alias("padded"),
    )
    return looks.group_by("place").agg(
        nw.len().alias("people"),
        nw.col("odd").max(),
        nw.col("shortest").min(),
        nw.col("padded").max(),
    )


def _odd(by_place: pl.DataFrame, source: Source) -> bool:
    if source.declared.trust_ids or not by_place.height:
        return False
    odd, shortest, padded = by_place.select(
        pl.col("odd").max(), pl.col("shortest").min(), pl.col("padded").max()
    ).row(0)
    return bool(odd) or mixed_zeros(shortest, padded or None)


def align(by_place: pl.DataFrame, places: Places) -> tuple[NDArray[np.int64], list[str]]:
    """Counts in the order of the list, every listed place among them; and the places that are not listed."""
    found = by_place.with_columns(pl.col("place").cast(pl.String))
    listed = pl.DataFrame({"place": pl.Series(places.ids, dtype=pl.String)}).with_row_index("position")
    joined = found.join(listed, on="place", how="left")
    unknown = joined.filter(pl.col("position").is_null())["place"].to_list()
    known = joined.filter(pl.col("position").is_not_null())
    values = np.zeros(len(places), dtype=np.int64)
    values[known["position"].to_numpy()] = known["people"].to_numpy()
    return values, unknown


def most_listed_places(source: Source, places: Places, window: Window, progress: Progress) -> int:
    """The most *listed* places of one person, where excluded ones made it look like too many."""
    (found,) = collect(
        [pairs(source, places, window, progress).unique()], progress, "Counting places of people"
    )
    listed = pl.DataFrame({"place": pl.Series(places.ids, dtype=pl.String)})
    kept = found.with_columns(pl.col("place").cast(pl.String)).join(listed, on="place", how="semi")
    most = kept.group_by("person").len()["len"].max()
    return most if isinstance(most, int) else 0


def too_many(most: int | None, limit: int | None, window: Window) -> list[Finding]:
    if most is None or limit is None or most <= limit:
        return []
    if window.instant and limit == 1:
        reason = "someone is at two places at the instant asked about"
        do = "Correct overlapping stays, or declare in how many places one can be (--max-places-per-person)."
        return [Finding(doubt=Doubt.TWO_PLACES, reason=reason, do=do)]
    reason = f"someone visited more places than the declared {limit}"
    do = "Declare a larger number, not taken from the data, or ask for sparse answers, which need none."
    return [Finding(doubt=Doubt.TOO_MANY_PLACES, reason=reason, do=do)]


def _whole_input(source: Source, known: Manifest, progress: Progress) -> tuple[int | None, int | None]:
    """Rows and people of the whole input, where they are known for nothing or somebody declared them."""
    rows, people = source.rows, None
    wanted = []
    if rows is None and known.rows is not None:
        wanted.append(nw.len().alias("rows"))
    if known.people is not None:
        wanted.append(nw.col("person").n_unique().alias("people"))
    if wanted:
        (found,) = collect([source.frame.select(wanted)], progress, "Counting rows and people")
        rows = int(found["rows"].item()) if "rows" in found.columns else rows
        people = int(found["people"].item()) if "people" in found.columns else None
    return rows, people


def settle(source: Source, known: Manifest) -> list[Finding]:
    """What was found in the files, less what the declared number of rows answers."""
    if known.rows is None:
        return list(source.findings)
    answered = {Doubt.CUT_OFF} | ({Doubt.EMPTY} if known.rows == 0 else set())
    return [
        Finding(doubt=f.doubt, reason=f"{f.reason}; the declared number of rows agrees", do=f.do, stops=False)
        if f.doubt in answered and source.rows == known.rows
        else f
        for f in source.findings
    ]


def disagreements(source: Source, known: Manifest, rows: int | None, people: int | None) -> list[Finding]:
    """Where the data are not what was declared of them."""
    files = None if source.opened is None else len(source.opened.paths)
    found = []
    for doubt, what, said, there in (
        (Doubt.ROWS, "files", known.files, files),
        (Doubt.ROWS, "rows", known.rows, rows),
        (Doubt.PEOPLE, "people", known.people, people),
    ):
        if said is not None and there is not None and said != there:
            reason = f"{said:,} {what} are declared, and there are {there:,}"
            do = f"Find out which {what} are missing or too many, or correct the declaration."
            found.append(Finding(doubt=doubt, reason=reason, do=do))
    return found


def exclusions(source: Source, *, exclude_unknown_places: bool) -> tuple[str, ...]:
    """Sentences that every answer must carry."""
    declared = source.declared
    said = []
    if exclude_unknown_places and source.roles.where is Form.PLACES:
        said.append("Visits to places that are not on the list are not counted.")
    if declared.at_least is not None:
        said.append(declared.at_least.sentence())
    if source.roles.movement:
        said.append(f"Only records in state {' or '.join(declared.stay_states)} are counted.")
    if declared.trust_ids and source.text_persons:
        said.append("Identifiers that look rounded or shortened are taken as they are written.")
    if declared.trust_coordinates and source.roles.where is Form.COORDINATES:
        said.append("Coordinates that look unknown or exchanged are taken as they are written.")
    return tuple(said)


def describe(source: Source) -> str:
    """What counts as a visit, in one sentence."""
    declared = source.declared
    at = "the place"
    if declared.radius is not None:
        wider = " and the accuracy of the fix" if "accuracy" in source.roles.columns else ""
        at = f"a point within {declared.radius:g} m{wider} of the place"
    elif declared.h3_resolution is not None:
        cells = f"resolution {declared.h3_resolution}, {declared.h3_rings} rings"
        at = f"a point in one of the H3 cells ({cells}) of the place"
    if source.roles.when is When.DATES:
        return f"A visit is a date on which the person was at {at}; it counts for the whole local day."
    if source.roles.when is When.STAYS or declared.at_least is not None:
        return f"A visit is a stay at {at}, from its start up to its end."
    held = declared.held
    return f"A visit is a sighting at {at}, which holds for {held} after it."


def _fingerprint(
    source: Source, places: Places, window: Window, values: NDArray[np.int64], key: bytes | None
) -> str | None:
    """Of the files' bytes; of the counts themselves where the visits were a dataframe."""
    if key is None:
        return None
    if source.opened is not None:
        return source.opened.fingerprint
    digest = Fingerprint(key)
    feed = digest.feed
    assert feed is not None
    feed(f"{window.start.isoformat()}/{window.end.isoformat()}\n".encode())
    for place, value in zip(places.ids, values.tolist(), strict=True):
        feed(f"{len(place.encode())}:{place}={value}\n".encode())
    return digest.text()
