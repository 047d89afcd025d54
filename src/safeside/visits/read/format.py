"""What the visits look like, as their owner declares it: columns, times, places, and nothing guessed."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta, tzinfo
from enum import StrEnum
from fractions import Fraction
from typing import Final

from safeside.errors import BadQuestion, NoRoom
from safeside.visits.read.roles import A_VALUE, ROLES, join, no_column, no_names, read_columns
from safeside.visits.times.clocks import PER_SECOND
from safeside.visits.times.window import find_zone, in_words, parse_duration

_WIDEST_RADIUS: Final = 1_000.0
_WIDEST_STAY: Final = 10_000.0
_LONGEST_HOLD: Final = timedelta(days=36_525)
LONGEST_GAP: Final = timedelta(hours=12)
"""Well below the shortest day of any clock, so that no stay spans a day of which nothing is left."""
_TABS: Final = {r"\t": "\t", "tab": "\t"}
"""What people type for a tab, which a shell does not."""
_PERCENT: Final = re.compile(r"\s*(?P<number>\d{1,3}(?:\.\d{1,9})?)\s*%\s*")
_MOST_RINGS: Final = {8: 0, 9: 2, 10: 8}
"""With more rings around it, one place alone covers the ground within a kilometre; 10 of smaller cells."""
_EPOCHS: Final = {f"epoch-{unit}": unit for unit in PER_SECOND}


class When(StrEnum):
    """How a row tells when."""

    STAYS = "stays"
    SIGHTINGS = "sightings"
    DATES = "dates"


class Where(StrEnum):
    """How a row tells where."""

    PLACES = "places"
    COORDINATES = "coordinates"


@dataclass(frozen=True, kw_only=True)
class StayRule:
    """Stay detection: whose fixes are within `metres` of one another for `minutes` is taken to have stayed.

    A silence longer than `longest_gap` ends a stay.
    """

    minutes: int
    longest_gap: timedelta | str
    metres: float = 200.0

    def __post_init__(self) -> None:
        if self.minutes < 1 or not 0 < self.metres <= _WIDEST_STAY:
            raise BadQuestion(
                "Stay detection needs at least 1 minute and a distance above 0 m.",
                "Give the minutes a stay must last and the metres within which it happens.",
            )
        object.__setattr__(self, "longest_gap", self.silence)
        if not timedelta(0) < self.silence <= LONGEST_GAP:
            raise BadQuestion(
                "The longest gap between two fixes of a stay is nothing, or longer than 12 hours.",
                "Declare how long a phone may be silent during a stay, as 30min or 2h: after a longer "
                "silence nobody knows where the person was.",
            )

    @property
    def silence(self) -> timedelta:
        """How long a phone may be silent during a stay."""
        return parse_duration(self.longest_gap, "the longest gap")

    @property
    def reach(self) -> timedelta:
        """How far before and after a window fixes are looked at (why: `stay_detection.py`)."""
        return timedelta(minutes=self.minutes) + self.silence

    def sentence(self) -> str:
        """What the answer must say."""
        return (
            f"Only stays of at least {self.minutes} minutes are counted: fixes at most {self.metres:g} m "
            f"from one another, without a silence of more than {in_words(self.silence)}; of a longer stay, "
            f"the fixes up to {in_words(self.reach)} before and after the time asked about."
        )


@dataclass(frozen=True, kw_only=True)
class VisitFormat:
    """How to read the visits. Whatever is not declared is not assumed.

    `columns` maps roles (person, place, latitude, longitude, accuracy, start, end, time, date, state) to the
    names the columns have; a role that is not mapped is looked for under its own name.
    """

    columns: Mapping[str, str] | str = field(default_factory=dict)
    time_format: str | None = None
    timezone: str | None = None
    hold: timedelta | str | None = None
    radius: float | None = None
    h3_resolution: int | None = None
    h3_rings: int = 1
    at_least: StayRule | None = None
    stay_states: tuple[str, ...] = ("STAY",)
    move_states: tuple[str, ...] = ("MOVE",)
    separator: str = ","
    no_quotes: bool = False
    trust_ids: bool = False
    trust_times: bool = False
    trust_places: bool = False
    trust_coordinates: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", read_columns(self.columns))
        if self.hold is not None:
            object.__setattr__(self, "hold", parse_duration(self.hold, "the holding time"))
            if parse_duration(self.hold, "the holding time") > _LONGEST_HOLD:
                raise BadQuestion("The holding time is longer than a century.", "Give it as 15min, 2h or 1d.")
        if self.timezone is not None:
            find_zone(self.timezone)
        self._check_geography()
        object.__setattr__(self, "separator", _TABS.get(self.separator, self.separator))
        if len(self.separator) != 1 or not self.separator.isascii() or self.separator in '"\r\n\0':
            raise BadQuestion(
                "The separator is not one plain character.", "Give one, such as ; or |, or the word tab."
            )

    def _check_geography(self) -> None:
        if self.radius is not None and self.h3_resolution is not None:
            raise BadQuestion("Both a radius and H3 cells are declared.", "Declare one of the two.")
        if self.radius is not None and not 0 < self.radius <= _WIDEST_RADIUS:
            raise NoRoom(
                f"A radius of {self.radius:g} m around every place does not describe venues.",
                f"Declare a radius above 0 and up to {_WIDEST_RADIUS:g} m.",
            )
        if self.h3_resolution is None:
            return
        most = _MOST_RINGS.get(self.h3_resolution, 10)
        if not (8 <= self.h3_resolution <= 15 and 0 <= self.h3_rings <= most):
            raise NoRoom(
                f"H3 cells of resolution {self.h3_resolution} with rings around them ({self.h3_rings}) are no"
                " venues.",
                "Declare a resolution from 9 to 15 (`h3_resolution=11`); rings: 2 at most around cells of "
                "resolution 9, 8 of 10, 10 of smaller ones, and none of 8.",
            )

    @property
    def held(self) -> timedelta | None:
        """The declared holding time of a sighting."""
        return None if self.hold is None else parse_duration(self.hold, "the holding time")

    @property
    def reach(self) -> tuple[timedelta, timedelta]:
        """How far before and after a window the counting rule looks."""
        if self.at_least is not None:
            return self.at_least.reach, self.at_least.reach
        return self.held or timedelta(0), timedelta(0)

    @property
    def local(self) -> tzinfo | None:
        """The declared time zone."""
        return None if self.timezone is None else find_zone(self.timezone)

    @property
    def epoch(self) -> str | None:
        """The unit of numbers since 1970, where the format says that times are such numbers."""
        return None if self.time_format is None else _EPOCHS.get(self.time_format)

    @property
    def names(self) -> Mapping[str, str]:
        """Role to column, as declared."""
        return read_columns(self.columns)


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What the owner knows beforehand of the data; any disagreement stops the work.

    It is compared, for the owner's own eyes, and never published nor written down: not in a release, not in
    the ledger.
    """

    files: int | None = None
    rows: int | None = None
    people: int | None = None
    covers: str | None = None
    """What the input covers: an interval A/B, or how files are named (visits-%Y-%m-%d.csv)."""
    unlisted: str | None = None
    """How much of a window's rows may be at places that are not listed, and so left out: 60%."""

    def __post_init__(self) -> None:
        if self.unlisted is not None:
            _share(self.unlisted)

    @property
    def most_unlisted(self) -> Fraction | None:
        """The declared share, from 0 to 1."""
        return None if self.unlisted is None else _share(self.unlisted)


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Which column plays which role, once the columns are known."""

    columns: Mapping[str, str]
    when: When
    where: Where
    unused: tuple[str, ...]
    joined: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Times that two columns tell, a date and a time of day; in `columns` they stand as day+hour."""

    def read(self, role: str) -> tuple[str, ...]:
        """The column or columns that are read for a role."""
        return self.joined.get(role, (self.columns[role],))

    @property
    def movement(self) -> bool:
        """Whether rows say STAY or MOVE."""
        return "state" in self.columns

    @property
    def times(self) -> tuple[str, ...]:
        """The roles that tell the time."""
        return {When.STAYS: ("start", "end"), When.SIGHTINGS: ("time",), When.DATES: ("date",)}[self.when]


def assign_roles(available: Collection[str], declared: VisitFormat) -> Roles:
    """Match declared roles with the columns there are; every doubt is a question back to the owner."""
    names = declared.names
    none = [role for role, column in names.items() if not column]
    names = {role: column for role, column in names.items() if column}
    joined = {}
    for role, column in names.items():
        both = None if column in available else join(role, column, available)
        if both is not None:
            joined[role] = both
        elif column not in available:
            raise no_column(role, column, available)
    found = {
        role: names.get(role, role)
        for role in ROLES
        if role in joined or (names.get(role, role) in available and role not in none)
    }
    if "person" not in found:
        raise no_column("person", "person", available)
    when = _when(found, declared, available)
    where = _where(found, declared, available)
    wanted = ["person", *_WHEN_ROLES[when], *_WHERE_ROLES[where], *(["state"] if "state" in found else [])]
    used = {role: found[role] for role in wanted if role in found}
    twice = {column for column in used.values() if list(used.values()).count(column) > 1}
    if twice:
        raise BadQuestion(
            f"Column {min(twice)} is used for two things.", "Map each of the roles to a column of its own."
        )
    left_over = [role for role in names if role not in used]
    if left_over:
        raise BadQuestion(
            f"A column is mapped to {left_over[0]}, which {when} at {where} do not use.",
            "Map start and end, or time, or date; and place, or latitude and longitude with a radius.",
        )
    read = {*used.values(), *(column for both in joined.values() for column in both)}
    unused = tuple(column for column in available if column not in read)
    return Roles(columns=used, when=when, where=where, unused=unused, joined=joined)


_WHEN_ROLES: Final = {When.STAYS: ("start", "end"), When.SIGHTINGS: ("time",), When.DATES: ("date",)}
_WHERE_ROLES: Final = {Where.PLACES: ("place",), Where.COORDINATES: ("latitude", "longitude", "accuracy")}


def _when(found: Mapping[str, str], declared: VisitFormat, available: Collection[str]) -> When:
    mapped = {"start": When.STAYS, "end": When.STAYS, "time": When.SIGHTINGS, "date": When.DATES}
    forms = {mapped[role] for role in declared.names if role in mapped}
    forms = forms or {mapped[role] for role in found if role in mapped}
    if len(forms) > 1:
        raise BadQuestion(
            f"The visits could be read as {' or as '.join(sorted(forms))}.",
            "Say which columns tell the time: start and end, or time, or date "
            '(`columns={"time": "COLUMN"}`); or, where one is the date and one the time of day, both '
            'together (`columns={"time": "DATE+TIME"}`).',
        )
    if not forms and any(A_VALUE.match(name) for name in available):
        raise no_names()
    if not forms and "start" in {name.strip() for name in available}:
        raise no_column("start", "start", available)
    if not forms:
        raise BadQuestion(
            f"No column tells the time. There are: {', '.join(available)}.",
            'Map start and end, or time, or date to columns (`columns={"time": "COLUMN"}`).',
        )
    (form,) = forms
    for role in _WHEN_ROLES[form]:
        if role not in found:
            raise no_column(role, role, available)
    if form is When.SIGHTINGS and declared.hold is None and declared.at_least is None:
        raise BadQuestion(
            "Sightings tell when a person was seen, not how long they stayed.",
            'Declare how long a sighting holds (`hold="15min"`), or map start and end.',
        )
    if form is not When.SIGHTINGS and declared.hold is not None:
        raise BadQuestion(
            f"A holding time is declared, but the visits are {form}.", "Leave the holding time out."
        )
    if declared.at_least is not None and (form is not When.SIGHTINGS or declared.hold is not None):
        raise BadQuestion(
            "Stays can be detected only in sightings without a holding time.",
            "Map time, latitude and longitude, declare a radius, and leave the holding time out.",
        )
    return form


def _where(found: Mapping[str, str], declared: VisitFormat, available: Collection[str]) -> Where:
    by_coordinates = declared.radius is not None or declared.h3_resolution is not None
    if by_coordinates:
        for role in ("latitude", "longitude"):
            if role not in found:
                raise no_column(role, role, available)
        return Where.COORDINATES
    if declared.at_least is not None:
        raise BadQuestion(
            "Stays are detected from coordinates.",
            "Declare a radius (`radius=50`) or H3 cells (`h3_resolution=11`).",
        )
    if "place" in found:
        return Where.PLACES
    if "latitude" in found and "longitude" in found:
        raise BadQuestion(
            "The visits have coordinates and no place.",
            "Declare how coordinates become places: a radius in metres (`radius=50`) or H3 cells "
            "(`h3_resolution=11`).",
        )
    raise no_column("place", "place", available)


def _share(text: str) -> Fraction:
    percent = _PERCENT.fullmatch(text)
    share = Fraction(percent["number"]) / 100 if percent else Fraction(-1)
    if not 0 <= share <= 1:
        raise BadQuestion(
            "The share of rows that may be left out is not written in per cent.",
            'Write it as 60% (`Manifest(unlisted="60%")`).',
        )
    return share
