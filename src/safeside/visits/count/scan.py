"""One scan: distinct people for each place in each window, with all row checks, on every engine.

The query is the plain one, distinct pairs of person and place in the window, with one change: the filter also
keeps *doubtful* rows, whatever their time, with a null place. A group with a null place in the result means
that some row is doubtful, and nothing is counted. So no row is dropped for being unreadable, and the checks
cost a few comparisons in a scan that is made anyway. Where there are several windows, a pair comes with the
first and the last of those that the visit touches (`spans.py`).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from typing import Final

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from safeside.errors import BadFile
from safeside.progress import quiet
from safeside.visits.count.odd_ids import any_odd, group_text, looks
from safeside.visits.count.packing import pack
from safeside.visits.count.row_checks import (
    doubtful,
    doubtful_if_counted,
    doubtful_in_window,
    may_be_right,
    near,
    row_checks,
    stayed,
)
from safeside.visits.count.sorted_keys import USUAL, Tuning
from safeside.visits.count.spans import FIRST, LAST, SPAN, WINDOW, Extent, each_window
from safeside.visits.count.stay_detection import detect_stays
from safeside.visits.count.unlisted import LeftOut, read_unlisted, unlisted_query
from safeside.visits.findings import amount
from safeside.visits.places.coordinates import assign
from safeside.visits.places.places import Places
from safeside.visits.read.dataframes import Frame
from safeside.visits.read.engines import collect, count_by, distinct_rows, without_call_sites
from safeside.visits.read.identifiers import faulty, missing
from safeside.visits.read.roles import PlaceForm, TimeForm
from safeside.visits.read.source import Source
from safeside.visits.times.clocks import LocalStamps
from safeside.visits.times.every import Windows
from safeside.visits.times.window import Window

_WIDE: Final = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Tally:
    """The result of a scan: counts in the order of windows and of the list, and what makes them doubtful."""

    values: NDArray[np.int64]
    unknown: list[str]
    """Visited places that are not listed."""
    doubtful: bool
    odd_ids: bool
    most_places: int | None
    """The most places of one person, each once for every window."""
    unlisted: LeftOut | None
    """Rows and people at places that are not listed, where that was asked."""
    packed: bool = False
    """Whether pairs were counted as packed integers."""

    def left_out(self, places: Places, *, trusted: bool, most: Fraction | None) -> LeftOut | None:
        """What is left out of the window, if anything is."""
        if not self.unknown or self.unlisted is None:
            return None
        return self.unlisted.described(self.unknown, places, trusted=trusted, most=most)

    @property
    def nobody(self) -> bool:
        """Whether nobody was anywhere, listed or not."""
        return not self.unknown and not self.values.any()


@without_call_sites()
def pairs(source: Source, places: Places, windows: Windows, *, closely: bool = False) -> Frame:
    """Person and place of every visit in the windows, with SPAN where there are several; a doubtful row comes
    without a place.
    """
    window = windows.whole
    checks = row_checks(source, places, windows, closely=closely)
    doubt, sure = doubtful(checks), ~doubtful_in_window(checks)
    if source.declared.stay_rule is not None:
        used = near(source, window) & stayed(source) if source.roles.movement else near(source, window)
        return _pairs_of_stays(source, places, windows, used | doubt, sure & ~_merged(source))
    movement = source.roles.movement
    last_only = window.instant and source.roles.when is TimeForm.SIGHTINGS and not _shuffled(source, window)
    extent = Extent.of(source)
    inside = extent.touches(window)
    if movement and not last_only:
        inside = inside & stayed(source)
    frame = source.frame
    if source.engine != "polars":
        # As a column: other engines evaluate an expression wherever it is used, which on Spark takes longest.
        frame = frame.with_columns(doubt.alias("doubtful"))
        doubt = nw.col("doubtful")
        sure = ~(doubt | doubtful_if_counted(checks))
    frame = frame.filter(inside | doubt)
    if last_only:
        if source.engine == "pyarrow":
            frame, doubt, sure = _in_order(frame, doubt, sure)
        # Only the last sighting that still holds says where a person is: one place by construction.
        frame = frame.with_columns(nw.col("time").max().over("person").alias("last"))
        kept = nw.col("time") == nw.col("last")
        if movement:
            kept = kept & stayed(source)
        if movement or source.roles.where is PlaceForm.COORDINATES:
            # The last sighting may be at no listed place, and then its identifier would not be checked later.
            merged = _merged(source)
            kept, sure = kept | merged, sure & ~merged
        frame = frame.filter(doubt | kept)
    span: tuple[str, ...] = ()
    if len(windows) > 1:
        frame, span = extent.with_spans(frame, windows), SPAN
        sure = sure & (nw.col(FIRST) <= nw.col(LAST))
    if source.roles.where is PlaceForm.PLACES:
        place = nw.when(sure).then(nw.col("place")).alias("place")
        if source.engine == "pyspark":  # where choosing by name takes a tenth of the calls
            return frame.with_columns(place).select("person", "place", *span)
        return frame.select("person", place, *span)
    chosen = [role for role in ("longitude", "accuracy") if role in source.roles.columns]
    latitude = nw.when(sure).then(nw.col("latitude")).alias("latitude")
    query = frame.select("person", latitude, *chosen, *span).unique()
    return _assigned(collect([query], source.progress, "Reading coordinates")[0], source, places)


def _in_order(frame: Frame, doubt: nw.Expr, sure: nw.Expr) -> tuple[Frame, nw.Expr, nw.Expr]:
    """The rows in Polars, with the checks as PyArrow evaluated them.

    On PyArrow, narwhals computes `over` by a join that keeps no order: with several chunks a maximum may land
    on other rows, and people would be lost.
    """
    marked = frame.with_columns(doubt.alias("doubtful"), sure.alias("sure"))
    (rows,) = collect([marked], quiet, "Reading sightings")
    return nw.from_native(rows.lazy()), nw.col("doubtful"), nw.col("sure")


def _merged(source: Source) -> nw.Expr:
    """Whether the identifier is missing or may stand for several people, whose sightings must not be taken
    for those of one.
    """
    question = missing if source.declared.trust_ids else faulty
    return question(nw.col("person"), source.types["person"])


def _shuffled(source: Source, window: Window) -> bool:
    """Whether naive local times do not tell which sighting was the last, because the clock went back. Then
    all that may be it count, and whoever is at two places stops the work.
    """
    clock = source.clocks["time"]
    held = source.declared.held or timedelta(0)
    return isinstance(clock, LocalStamps) and clock.repeats(window.start - held, window.end)


def _assigned(fixes: pl.DataFrame, source: Source, places: Places) -> Frame:
    """Fixes as pairs; a doubtful fix (null latitude) becomes a pair with a null place."""
    sure = fixes.drop_nulls("latitude")
    found = assign(sure, places, source.declared, source.progress)
    if sure.height < fixes.height:
        lost = pl.DataFrame({name: [None] for name in found.columns}, schema=found.schema)
        found = pl.concat([found, lost])
    return nw.from_native(found.lazy())


def _pairs_of_stays(source: Source, places: Places, windows: Windows, used: nw.Expr, sure: nw.Expr) -> Frame:
    rule = source.declared.stay_rule
    assert rule is not None
    chosen = [role for role in ("longitude", "accuracy", "time") if role in source.roles.columns]
    latitude = nw.when(sure).then(nw.col("latitude")).alias("latitude")
    query = source.frame.filter(used).select("person", latitude, *chosen)
    (fixes,) = collect([query], source.progress, "Reading fixes")
    if fixes["latitude"].null_count():
        return nw.from_native(
            fixes.lazy().select("person", place=pl.lit(None, pl.String), **dict.fromkeys(SPAN, 0))
        )
    extent = Extent.of_detected_stays()
    stays = nw.from_native(detect_stays(fixes, rule).lazy()).filter(extent.touches(windows.whole))
    if len(windows) > 1:
        stays = extent.with_spans(stays, windows)
    return _assigned(stays.drop("start", "end").collect().to_native(), source, places)


def run(
    source: Source,
    places: Places,
    windows: Windows,
    *,
    per_person: bool,
    unlisted: bool = False,
    tuning: Tuning = USUAL,
) -> Tally:
    """Scan the windows: by packed integers where that is possible, else by the engine's distinct."""
    asked = _Asked(
        windows=windows,
        wide=is_wide(windows.whole),
        per_person=per_person,
        unlisted=unlisted and source.roles.where is PlaceForm.PLACES,
        tuning=tuning,
    )
    tally = _count(source, places, asked)
    if tally.doubtful and may_be_right(source):
        tally = _count(source, places, asked, closely=True)
    return tally


def is_wide(window: Window) -> bool:
    """Whether the kept rows take so much memory that saving some is worth the time."""
    return window.end - window.start >= _WIDE


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """The windows and whether they are wide together, and what is wanted beside the counts."""

    windows: Windows
    wide: bool
    per_person: bool
    unlisted: bool
    tuning: Tuning


def _count(source: Source, places: Places, asked: _Asked, *, closely: bool = False) -> Tally:
    frame = pairs(source, places, asked.windows, closely=closely)
    return _in_numbers(source, frame, places, asked) or _in_general(source, frame, places, asked)


def _in_numbers(source: Source, frame: Frame, places: Places, asked: _Asked) -> Tally | None:
    packed = pack(source, frame, places, asked.tuning, len(asked.windows))
    if packed is None:
        return None
    (found,) = _collect_all([nw.from_native(packed.keys)], source)
    keys = found.drop_in_place("key")
    if keys.null_count():
        return None

    def odd() -> bool:
        """Whether some identifier is odd, which none is that was packed as a number."""
        looked = packed.hashed and not source.declared.trust_ids and found.height > 0
        return looked and any_odd(nw.from_native(found.lazy()).select(*looks()))

    with ThreadPoolExecutor(1) as beside:
        odd_ids = beside.submit(odd)
        unlisted = packed.unlisted(keys) if asked.unlisted else None
        counted = packed.count(
            keys,
            found,
            per_person=asked.per_person,
            sparing=asked.wide,
            everywhere=asked.per_person or asked.unlisted,
        )
    if counted is None:
        return None
    values, unknown, most = counted
    return Tally(
        values=values,
        unknown=unknown,
        doubtful=False,
        odd_ids=odd_ids.result(),
        most_places=most if asked.per_person else None,
        unlisted=unlisted,
        packed=True,
    )


def _in_general(source: Source, frame: Frame, places: Places, asked: _Asked) -> Tally:
    text = source.text_persons
    looked = text and not source.declared.trust_ids
    others = [unlisted_query(frame, places)] if asked.unlisted else []
    frame = _light(frame) if asked.wide else frame
    where = ["place"]
    if len(asked.windows) > 1:
        frame, where = each_window(_kept(frame)), ["place", WINDOW]
    if text or asked.per_person or str(frame.implementation) != "polars":
        distinct = distinct_rows(frame)
        queries = [group_text(distinct, where) if looked else count_by(distinct, where, "people")]
    else:
        distinct = frame
        queries = [frame.group_by(where).agg(nw.col("person").n_unique().alias("people"))]
    if asked.per_person:
        placed = distinct.filter(~nw.col("place").is_null())
        each = placed.group_by("person").agg(nw.len().alias("places"))
        queries.append(each.select(nw.col("places").max()))
    counted, *answers = _collect_all([*queries, *others], source, key=where)
    unlisted = read_unlisted(answers.pop()) if asked.unlisted else None
    values, unknown = align(counted.drop_nulls("place"), places, len(asked.windows))
    return Tally(
        values=values,
        unknown=unknown,
        doubtful=bool(counted["place"].null_count()),
        odd_ids=looked and counted.height > 0 and any_odd(nw.from_native(counted.lazy())),
        most_places=int(answers[0]["places"].item() or 0) if asked.per_person else None,
        unlisted=unlisted,
    )


def _kept(frame: Frame) -> Frame:
    """With a doubtful row in the first window: it may be in none, and must not be lost."""
    sure = ~nw.col("place").is_null()
    return frame.with_columns(
        nw.when(sure).then(nw.col(name)).otherwise(nw.lit(0, dtype=nw.Int64())).alias(name) for name in SPAN
    )


def _light(frame: Frame) -> Frame:
    """Places as categories: Polars needs less time and memory for distinct pairs."""
    polars = isinstance(frame.to_native(), pl.LazyFrame)
    if polars and frame.collect_schema()["place"] == nw.String:
        return frame.with_columns(nw.col("place").cast(nw.Categorical))
    return frame


def _collect_all(queries: list[Frame], source: Source, *, key: list[str] | None = None) -> list[pl.DataFrame]:
    """The results, if the parser read as many rows as the files hold."""
    text = source.opened is not None and source.opened.text
    rows = [source.frame.select(parsed_rows())] if text else []
    answers = collect([*queries, *rows], source.progress, "Counting people", key=key)
    if text:
        require_all_rows(source, int(answers.pop()["rows"].item()))
    return answers


def align(counted: pl.DataFrame, places: Places, windows: int = 1) -> tuple[NDArray[np.int64], list[str]]:
    """Counts in the order of the list, every listed place among them in each window; and the places that are
    not listed.
    """
    found, listed = counted["place"].cast(pl.String), places.column
    position = listed.search_sorted(found).clip(0, len(listed) - 1)
    known = listed.gather(position) == found
    position = position.cast(pl.Int64)
    if windows > 1:
        position = counted[WINDOW].cast(pl.Int64) * len(places) + position
    values = np.zeros(windows * len(places), dtype=np.int64)
    # Added, not set: should an engine ever name a place twice, nobody is lost.
    np.add.at(values, position.filter(known).to_numpy(), counted["people"].filter(known).to_numpy())
    return values, found.filter(~known).unique(maintain_order=True).to_list()


def parsed_rows() -> nw.Expr:
    """How many rows were parsed: counted on a column, since Polars would count lines for `len`."""
    gone = nw.col("person").is_null()
    return (nw.when(gone).then(nw.lit(1)).otherwise(nw.lit(1))).sum().alias("rows")


def require_all_rows(source: Source, parsed: int) -> None:
    """Stop if the CSV parser found another number of rows than the bytes hold."""
    if source.opened is not None and source.opened.text and parsed != source.rows:
        raise BadFile(
            f"The files hold {amount(source.rows or 0, 'row', 'rows')}, and {parsed:,} were read.",
            "Export the files again, without line breaks or quotes inside fields.",
        )


def most_places(
    source: Source, places: Places, windows: Windows, tally: Tally, limit: int | None
) -> int | None:
    """The most places of one person; of *listed* ones where others may have exceeded the limit."""
    most = tally.most_places
    if most is None or limit is None or most <= limit or not tally.unknown:
        return most
    frame = pairs(source, places, windows, closely=True)
    if len(windows) > 1:
        frame = each_window(_kept(frame))
    (found,) = collect([frame.unique()], source.progress, "Counting places of people")
    listed = places.table.select("place")
    kept = found.with_columns(pl.col("place").cast(pl.String)).join(listed, on="place", how="semi")
    of_one = kept.group_by("person").len()["len"].max()
    return of_one if isinstance(of_one, int) else 0
