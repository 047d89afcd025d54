"""Counting people in plain Python, row by row: slow, short, and what every engine must agree with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from safeside.visits import Window


@dataclass(frozen=True)
class Stay:
    """One row: who, where, from when, until when (naive times are local)."""

    person: object
    place: str
    start: datetime
    end: datetime


def moments(written: datetime, zone: str | None = None) -> list[datetime]:
    """The moments a written time may mean: one, or two in the hour that a clock repeats."""
    if written.tzinfo is not None:
        return [written.astimezone(UTC)]
    assert zone is not None
    local = ZoneInfo(zone)
    both = [written.replace(tzinfo=local, fold=fold) for fold in (0, 1)]
    return [
        each.astimezone(UTC)
        for each in both
        if each.astimezone(UTC).astimezone(local).replace(tzinfo=None) == written
    ]


def touches(start: list[datetime], end: list[datetime], window: Window) -> bool:
    """Whether a stay from start up to end may touch the window."""
    begun = min(start) <= window.end if window.instant else min(start) < window.end
    return begun and (max(end) > window.start or max(start) >= window.start)


def in_each(windows: Iterable[Window], count: Callable[[Window], list[int]]) -> list[int]:
    """Each window counted by itself, one after the other: what all of them in one pass must agree with."""
    return [people for window in windows for people in count(window)]


def count(stays: Iterable[Stay], places: Sequence[str], window: Window, zone: str | None = None) -> list[int]:
    """Distinct people at each place."""
    people: dict[str, set[object]] = {place: set() for place in places}
    for stay in stays:
        if touches(moments(stay.start, zone), moments(stay.end, zone), window):
            people[stay.place].add(stay.person)
    return [len(people[place]) for place in places]


def count_sightings(
    rows: Iterable[tuple[object, str, datetime]], places: Sequence[str], window: Window, hold: timedelta
) -> list[int]:
    """The same of sightings: at an instant only a person's last one counts."""
    inside = [
        (person, place, at)
        for person, place, at in rows
        if window.start - hold <= at and (at <= window.end if window.instant else at < window.end)
    ]
    if window.instant:
        last = {person: max(at for who, _, at in inside if who == person) for person, _, _ in inside}
        inside = [row for row in inside if row[2] == last[row[0]]]
    return [len({person for person, where, _ in inside if where == place}) for place in places]


def count_dates(
    rows: Iterable[tuple[object, str, date]], places: Sequence[str], window: Window, zone: str
) -> list[int]:
    """The same of dates: each stands for every moment of that day on the local clock, minute by minute."""
    local = ZoneInfo(zone)
    days = set()
    at = window.start
    while at < window.end or (window.instant and at == window.end):
        days.add(at.astimezone(local).date())
        at += timedelta(minutes=1)
    return [len({who for who, where, day in rows if where == place and day in days}) for place in places]


def midnight(day: date, zone: str) -> datetime:
    """Where a local day begins."""
    return datetime.combine(day, time(), tzinfo=ZoneInfo(zone)).astimezone(UTC)
