"""Row checks, each as one expression that any engine can evaluate.

The counting scan evaluates whether *any* check fails for a row. Only if some row is doubtful, a second pass
evaluates each check and locates the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from safeside.visits.findings import Doubt, article
from safeside.visits.places.places import Places
from safeside.visits.read.identifiers import missing, placeholder, rounded
from safeside.visits.read.roles import PlaceForm, TimeForm
from safeside.visits.read.source import Source
from safeside.visits.read.text_values import NAIVE_LOOK, text_of
from safeside.visits.times.clocks import AFTER_1970, LocalStamps, implausible, unit_mistaken
from safeside.visits.times.every import Windows
from safeside.visits.times.window import Window

_TRUST: Final = (
    "Correct the rows or the mapping, or declare that they are right as they are (`trust_coordinates=True`)."
)
_REAL: Final = "or declare that they are right as they are (`trust_times=True`)."
_BOX_MARGIN: Final = 2.0
"""Degrees around the listed places within which a fix is not suspected of being swapped."""


@dataclass(frozen=True, kw_only=True)
class RowCheck:
    """One check of a row, and what the counting scan evaluates for it.

    What decides whether a row is in the window (its times) is checked `everywhere`, because a row with an
    unreadable time might be in it. What decides who is counted where is checked `in_window` only: elsewhere
    it cannot change the count, and every identifier would have to be read.
    """

    doubt: Doubt
    role: str
    wrong: nw.Expr
    reason: str
    do: str
    everywhere: nw.Expr | None = None
    in_window: nw.Expr | None = None


def row_checks(
    source: Source, places: Places | None, windows: Windows | None, *, closely: bool = False
) -> list[RowCheck]:
    """All checks for these visits. `closely`: slower ones, with fewer false alarms."""
    checks = [*person_checks(source), *_when(source, windows, closely=closely)]
    where = [*_coordinates(source, places)]
    if source.roles.where is PlaceForm.PLACES:
        where = [_missing("place", missing(nw.col("place"), source.types["place"]))]
    if source.roles.movement:
        checks.append(_state(source))
        where = [_only_where_stayed(check, source) for check in where]
    return checks + where


def doubtful(checks: list[RowCheck]) -> nw.Expr:
    """Whether a row is doubtful whatever its time."""
    return any_of(check.everywhere for check in checks)


def doubtful_in_window(checks: list[RowCheck]) -> nw.Expr:
    """Whether a row in the window is doubtful."""
    return any_of(expr for check in checks for expr in (check.everywhere, check.in_window))


def doubtful_if_counted(checks: list[RowCheck]) -> nw.Expr:
    """What `doubtful_in_window` checks and `doubtful` does not."""
    return any_of(check.in_window for check in checks if check.in_window is not check.everywhere)


def any_of(questions: Iterable[nw.Expr | None]) -> nw.Expr:
    """Whether one of the questions that are asked is true of a row."""
    return reduce(lambda left, right: left | right, (each for each in questions if each is not None))


def stayed(source: Source) -> nw.Expr:
    """Whether the row says that the person stayed."""
    return nw.col("state").is_in(source.declared.stay_states)


def near(source: Source, window: Window) -> nw.Expr:
    """Whether a fix is near enough to the window to belong to a stay in it."""
    before, after = source.declared.reach
    clock, time = source.clocks["time"], nw.col("time")
    return clock.since(time, window.start - before) & clock.at_or_before(time, window.end + after)


def person_checks(source: Source) -> Iterator[RowCheck]:
    person, dtype = nw.col("person"), source.types["person"]
    gone = missing(person, dtype)
    yield RowCheck(
        doubt=Doubt.MISSING,
        role="person",
        wrong=gone,
        reason="no person",
        do="Give every row the identifier of a person; people without one would be counted as one.",
        in_window=gone,
    )
    if source.declared.trust_ids:
        return
    if source.text_persons:
        yield RowCheck(
            doubt=Doubt.ROUNDED_ID,
            role="person",
            wrong=rounded(person),
            reason="identifiers in scientific notation or with decimals, as if rounded",
            do="Export the identifiers as text from the original, or declare that they are right"
            " (`trust_ids=True`).",
        )
    word = placeholder(person, dtype)
    if word is None:
        return
    yield RowCheck(
        doubt=Doubt.NOT_AN_ID,
        role="person",
        wrong=word,
        reason="a word or a number for a missing value instead of an identifier",
        do="Give every row the identifier of a person, or declare that these are identifiers "
        "(`trust_ids=True`).",
        # Text is checked later, on distinct pairs.
        in_window=None if source.text_persons else word,
    )


def may_be_right(source: Source) -> bool:
    """Whether `closely` may clear doubtful rows."""
    clock = source.clocks.get("start")
    return isinstance(clock, LocalStamps) and clock.goes_back


def _reversed(source: Source, *, closely: bool) -> nw.Expr:
    """Whether a stay ends before it starts; if `closely`, not where the clock went back in between."""
    start, end, clock = nw.col("start"), nw.col("end"), source.clocks["start"]
    if closely and isinstance(clock, LocalStamps) and clock.goes_back:
        return (end < start) & ~clock.within_one_repeat(start, end)
    return end < start


def _when(source: Source, windows: Windows | None, *, closely: bool) -> Iterator[RowCheck]:
    for role in source.roles.times:
        column = nw.col(role)
        clock = source.clocks[role]
        if role in source.texts:
            yield from _text_times(source, role)
        else:
            gone = column.is_null()
            if source.types[role].is_float():
                gone = gone | ~column.is_finite()
            yield _missing(role, gone, everywhere=True)
        if role != "end" and not source.declared.trust_times:
            odd = implausible(clock, column)
            yield RowCheck(
                doubt=Doubt.IMPLAUSIBLE,
                role=role,
                wrong=odd & ~column.is_null(),
                reason="a time before 1900 or after 2199",
                do=f"Check the format and the unit of the times, {_REAL}",
                everywhere=odd,
            )
        later = windows is None or windows.whole.start >= AFTER_1970
        if role == source.roles.times[-1] and later and not source.declared.trust_times:
            mistaken = unit_mistaken(clock, column)
            yield RowCheck(
                doubt=Doubt.IMPLAUSIBLE,
                role=role,
                wrong=mistaken,
                reason="a time in 1970, as numbers become whose unit was mistaken",
                do=f'Check the unit (`time_format="epoch-s"`), {_REAL}',
                everywhere=mistaken,
            )
        moments = () if windows is None else windows.edges
        skipped = clock.skipped(column, moments) if isinstance(clock, LocalStamps) else None
        if skipped is not None:
            yield RowCheck(
                doubt=Doubt.SKIPPED,
                role=role,
                wrong=skipped,
                reason="a local time that the clock skipped",
                do="Check the declared time zone, or give the times with their offset.",
                everywhere=skipped,
            )
    if source.roles.when is TimeForm.STAYS:
        reversed_ = _reversed(source, closely=closely)
        yield RowCheck(
            doubt=Doubt.REVERSED,
            role="end",
            wrong=reversed_,
            reason="a stay that ends before it starts",
            do="Correct the rows; in the hour that a clock repeats, give times with their offset.",
            everywhere=reversed_,
        )


def _missing(role: str, gone: nw.Expr, *, everywhere: bool = False) -> RowCheck:
    return RowCheck(
        doubt=Doubt.MISSING,
        role=role,
        wrong=gone,
        reason=f"no {role}",
        do=f"Give every row {article(role)}; a row without one cannot be placed in or out of the count.",
        everywhere=gone if everywhere else None,
        in_window=gone,
    )


def _text_times(source: Source, role: str) -> Iterator[RowCheck]:
    """A time written as text: not there, without the zone that others have, or not readable."""
    text, unread = nw.col(text_of(role)), nw.col(role).is_null()
    absent = text.is_null() | (text == "")
    yield replace(_missing(role, absent), everywhere=unread)
    unread = unread & ~absent
    if getattr(source.types[role], "time_zone", None) is not None:
        naive = text.str.contains(NAIVE_LOOK)
        yield RowCheck(
            doubt=Doubt.NAIVE,
            role=role,
            wrong=unread & naive,
            reason="a time without a zone among times with one",
            do="Write every time with its offset from UTC.",
        )
        unread = unread & ~naive
    as_said = "in the declared format" if source.declared.time_format else "as the first one is written"
    yield RowCheck(
        doubt=Doubt.TIME,
        role=role,
        wrong=unread,
        reason=f"a time that cannot be read {as_said}",
        do="Correct the rows, or declare the format of the column (`time_format=`).",
    )


def _state(source: Source) -> RowCheck:
    known = (*source.declared.stay_states, *source.declared.move_states)
    wrong = nw.col("state").is_null() | ~nw.col("state").is_in(known)
    return RowCheck(
        doubt=Doubt.STATE,
        role="state",
        wrong=wrong,
        reason=f"a state other than {' and '.join(known)}",
        do="Declare every state that means staying or moving; or, if the column is something else, that there"
        ' is none (`columns={"state": ""}`).',
        everywhere=wrong,
    )


def _only_where_stayed(check: RowCheck, source: Source) -> RowCheck:
    """A record of movement need not name a place."""
    here = stayed(source)
    return replace(
        check,
        wrong=check.wrong & here,
        everywhere=None if check.everywhere is None else check.everywhere & here,
        in_window=None if check.in_window is None else check.in_window & here,
    )


def _coordinates(source: Source, places: Places | None) -> Iterator[RowCheck]:
    if source.roles.where is not PlaceForm.COORDINATES:
        return
    for role in ("latitude", "longitude", "accuracy"):
        if role not in source.roles.columns:
            continue
        column = nw.col(role)
        unread = column.is_null() | ~column.is_finite()
        if role in source.texts:
            text = nw.col(text_of(role))
            absent = text.is_null() | (text == "")
            yield RowCheck(
                doubt=Doubt.COORDINATE,
                role=role,
                wrong=unread & ~absent,
                reason="a number that cannot be read",
                do="Write coordinates as decimal degrees with a point.",
                in_window=unread,
            )
            unread = absent
        yield _missing(role, unread)
    latitude, longitude = nw.col("latitude"), nw.col("longitude")
    for role, most in (("latitude", 90), ("longitude", 180)):
        # Some engines take NaN for larger than any number; it is reported above.
        outside = (nw.col(role).abs() > most) & nw.col(role).is_finite()
        yield _coordinate(
            Doubt.RANGE, outside, "degrees that no place on Earth has", "Check which column is which.", role
        )
    if "accuracy" in source.roles.columns:
        below = (nw.col("accuracy") < 0) & nw.col("accuracy").is_finite()
        do = "Give every fix an accuracy in metres, large enough where it is not known."
        yield _coordinate(Doubt.RANGE, below, "an accuracy below 0 m", do, "accuracy")
    if source.declared.trust_coordinates:
        return
    origin = (latitude == 0) & (longitude == 0)
    yield _coordinate(Doubt.ORIGIN, origin, "latitude 0 and longitude 0, which usually means unknown", _TRUST)
    if places is not None and places.latitude is not None and places.longitude is not None:
        swapped = _swapped(latitude, longitude, (places.latitude, places.longitude))
        yield _coordinate(Doubt.SWAPPED, swapped, "latitude and longitude that look exchanged", _TRUST)


def _coordinate(doubt: Doubt, wrong: nw.Expr, reason: str, do: str, role: str = "latitude") -> RowCheck:
    return RowCheck(doubt=doubt, role=role, wrong=wrong, reason=reason, do=do, in_window=wrong)


def _swapped(latitude: nw.Expr, longitude: nw.Expr, listed: tuple[NDArray[np.float64], ...]) -> nw.Expr:
    """Outside the box of listed places as written, inside it when exchanged."""
    box = ((float(each.min()) - _BOX_MARGIN, float(each.max()) + _BOX_MARGIN) for each in listed)
    (low, high), (left, right) = box
    here = (latitude >= low) & (latitude <= high) & (longitude >= left) & (longitude <= right)
    exchanged = (longitude >= low) & (longitude <= high) & (latitude >= left) & (latitude <= right)
    return exchanged & ~here
