"""The people: a home, a role, and stays on the city's clock, made a block of people at a time.

A day is a row of slots. In each slot a person goes out or not, to a kind of place that fits the hour, to the
nearer to home of two places drawn by their popularity; a slot begins no earlier than the last stay's end plus
the way. So nobody is ever in two places. Time away from listed places (home, unlisted work) is no visit.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np

from safeside_studies.city.dice import Dice, Whole
from safeside_studies.city.venues import (
    NEARBY,
    OFFICE,
    RESTAURANT,
    SCHOOL,
    Venues,
)

ZONE: Final = ZoneInfo("Asia/Tokyo")
FIRST_DAY: Final = date(2013, 12, 20)
"""A Friday, so that the third day is the Sunday the paper shows."""
BLOCK: Final = 16_384
"""People made at a time. Part of what a seed means: changing it changes every city."""
DAY: Final = 1440
_WAY: Final = 8

EMPLOYED, PUPIL, OTHER = range(3)
_ROLES: Final = np.cumsum([190, 110, 700])
"""Of a thousand: works in a listed office, goes to a listed school, neither."""


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A part of the day in which people may go out."""

    opens: int
    """Minute of the day of the usual start; people differ by up to `spread`."""
    spread: int
    weekday: tuple[int, int, int]
    """How many of a thousand go out, by role."""
    weekend: int
    kinds: tuple[int, int, int, int]
    """Weights of shop, grocery, restaurant, entertainment."""


SLOTS: Final = (
    Slot(opens=10 * 60 + 30, spread=60, weekday=(0, 0, 260), weekend=160, kinds=(45, 35, 5, 15)),
    Slot(opens=12 * 60 + 20, spread=25, weekday=(0, 0, 300), weekend=180, kinds=(0, 0, 100, 0)),
    Slot(opens=14 * 60 + 15, spread=60, weekday=(0, 150, 360), weekend=260, kinds=(48, 17, 10, 25)),
    Slot(opens=17 * 60 + 10, spread=40, weekday=(300, 300, 360), weekend=580, kinds=(25, 15, 37, 23)),
    Slot(opens=19 * 60 + 50, spread=45, weekday=(200, 60, 200), weekend=130, kinds=(12, 25, 50, 13)),
)
_STAY: Final = np.array([[35, 95], [20, 40], [45, 70], [90, 90]])
"""Shortest stay, and how much longer it may be, in minutes, by kind."""


@dataclass(frozen=True, kw_only=True)
class Stays:
    """Stays in the order of person and start; minutes are counted from midnight before the first day."""

    person: Whole
    place: Whole
    start: Whole
    end: Whole

    def __len__(self) -> int:
        return len(self.person)


@dataclass(frozen=True, kw_only=True)
class City:
    """Who lives here, for how long, and where they may go."""

    people: int
    days: int
    seed: int
    venues: Venues

    @property
    def blocks(self) -> int:
        """How many blocks of people there are."""
        return -(-self.people // BLOCK)

    def stays(self, block: int) -> Stays:
        """Every stay of one block of people."""
        first = block * BLOCK
        return _Block(self, min(BLOCK, self.people - first), Dice(self.seed, 2, block)).live(first)


class _Block:
    """One block while it lives through its days."""

    def __init__(self, city: City, people: int, dice: Dice) -> None:
        self._n, self._days, self._dice, self._venues = people, city.days, dice, city.venues
        self._by_kind = _markets(city.venues)
        self._home = dice.weighted(city.venues.ground.pull, people)
        self._role = np.searchsorted(_ROLES, dice.below(1000, people), side="right")
        everyone = np.arange(people)
        self._base = np.where(
            self._role == EMPLOYED,
            self._choose(everyone, np.full(people, OFFICE)),
            self._choose(everyone, np.full(people, SCHOOL)),
        )
        self._clock = np.zeros(people, dtype=np.int64)
        self._made: list[tuple[Whole, Whole, Whole, Whole]] = []

    def live(self, first: int) -> Stays:
        """All days, then the stays in order."""
        for day in range(self._days):
            weekend = date.fromordinal(FIRST_DAY.toordinal() + day).weekday() >= 5
            midnight = day * DAY
            if not weekend:
                self._work(midnight)
            for slot in SLOTS:
                rate = np.full(self._n, slot.weekend) if weekend else np.array(slot.weekday)[self._role]
                self._outing(midnight, slot, rate)
        person, place, start, end = (np.concatenate(part) for part in zip(*self._made, strict=True))
        order = np.lexsort((start, person))
        return Stays(person=person[order] + first, place=place[order], start=start[order], end=end[order])

    def _work(self, midnight: int) -> None:
        """A working or school day, with the lunch hour out for some."""
        who = np.flatnonzero(self._role != OTHER)
        who = who[self._dice.chance(920, len(who))]
        dice, n, pupil = self._dice, len(who), self._role[who] == PUPIL
        arrive = midnight + np.where(pupil, 8 * 60 + 20 + dice.around(15, n), 9 * 60 + dice.around(45, n))
        leave = midnight + np.where(
            pupil, 15 * 60 + 20 + dice.around(40, n), 17 * 60 + 45 + dice.around(90, n)
        )
        lunch = ~pupil & dice.chance(350, n)
        out = midnight + 12 * 60 + dice.below(25, n)
        back = out + 45 + dice.below(20, n)
        self._add(who, self._base[who], arrive, np.where(lunch, out, leave))
        who, out, back, leave = who[lunch], out[lunch], back[lunch], leave[lunch]
        self._add(who, self._choose(who, np.full(len(who), RESTAURANT)), out + 4, back - 4)
        self._add(who, self._base[who], back, leave)

    def _outing(self, midnight: int, slot: Slot, rate: Whole) -> None:
        who = np.flatnonzero(self._dice.chance(rate, self._n))
        dice, n = self._dice, len(who)
        kind = dice.weighted(np.cumsum(slot.kinds), n)
        start = midnight + slot.opens + dice.around(slot.spread, n)
        start = np.maximum(start, self._clock[who] + _WAY + dice.below(25, n))
        longer = _STAY[kind, 1]
        stay = _STAY[kind, 0] + (dice.below(longer, n) + dice.below(longer, n)) // 2
        # Whoever is back too late for this slot leaves it out.
        timely = start < midnight + slot.opens + 100
        who, kind, start, stay = who[timely], kind[timely], start[timely], stay[timely]
        self._add(who, self._choose(who, kind), start, start + stay)

    def _choose(self, who: Whole, kind: Whole) -> Whole:
        """A place of the kind for each person: by popularity, or the nearer to home of two."""
        chosen = self._draw(kind)
        pairs = np.flatnonzero(self._dice.chance(NEARBY, len(who)))
        other = self._draw(kind[pairs])
        home, area, rank = self._home[who[pairs]], self._venues.area, self._venues.ground.further
        nearer = rank[home, area[other]] < rank[home, area[chosen[pairs]]]
        chosen[pairs[nearer]] = other[nearer]
        return chosen

    def _draw(self, kind: Whole) -> Whole:
        order, cumulative, ends = self._by_kind
        low = np.where(kind > 0, ends[kind - 1], 0)
        drawn = low + self._dice.below(ends[kind] - low, len(kind))
        chosen: Whole = order[np.searchsorted(cumulative, drawn, side="right")]
        return chosen

    def _add(self, who: Whole, place: Whole, start: Whole, end: Whole) -> None:
        fits = (start > self._clock[who]) & (end > start)
        who, end = who[fits], end[fits]
        self._made.append((who, place[fits], start[fits], end))
        self._clock[who] = end


def _markets(venues: Venues) -> tuple[Whole, Whole, Whole]:
    """Places sorted by kind, the running sum of their draws, and where each kind ends in it."""
    order = np.argsort(venues.kind, kind="stable")
    cumulative = np.cumsum(venues.draw[order])
    last = np.searchsorted(venues.kind[order], np.arange(int(venues.kind.max()) + 1), side="right") - 1
    return order, cumulative, cumulative[last]
