"""Which column plays which role: declared names, names that are there, suggestions for the rest."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from safeside.errors import BadQuestion
from safeside.names import did_you_mean
from safeside.visits.read.format import ROLES, VisitFormat

_A_VALUE: Final = re.compile(r"\s*[+-]?[0-9][0-9.,:/ T+Z-]*$")
_ALSO_CALLED: Final = {
    "person": ("patient", "user", "uid", "subject", "device", "pid"),
    "place": ("venue", "location", "poi", "site", "shop"),
    "latitude": ("lat", "y"),
    "longitude": ("lon", "lng", "long", "x"),
    "start": ("begin", "arrival", "arrived", "entry", "checkin", "from"),
    "end": ("finish", "departure", "left", "exit", "checkout", "until", "to"),
    "time": ("timestamp", "datetime", "seen", "tracked_at"),
    "date": ("day",),
}
"""Other names for the roles: suggested when a column is not found, never used without being declared."""
_JOINED: Final = ("start", "end", "time")
"""Roles that two columns together may play, a date and a time of day."""


class TimeForm(StrEnum):
    """How a row tells when."""

    STAYS = "stays"
    SIGHTINGS = "sightings"
    DATES = "dates"
    NEVER = "people"
    """Rows of people and their groups, which tell no time."""


class PlaceForm(StrEnum):
    """How a row tells where."""

    PLACES = "places"
    COORDINATES = "coordinates"


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Which column plays which role, once the columns are known."""

    columns: Mapping[str, str]
    when: TimeForm
    where: PlaceForm
    unused: tuple[str, ...]
    joined: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Times that two columns tell, a date and a time of day; in `columns` they stand as day+hour."""

    def read(self, role: str) -> tuple[str, ...]:
        """The column or columns that are read for a role."""
        return self.joined.get(role, (self.columns[role],))

    @property
    def always(self) -> str:
        """A column that is read of every row, for whatever question: of a time, or else of people."""
        return self.read((*self.times, "person")[0])[0]

    @property
    def movement(self) -> bool:
        """Whether rows say STAY or MOVE."""
        return "state" in self.columns

    @property
    def times(self) -> tuple[str, ...]:
        """The roles that tell the time."""
        return _WHEN_ROLES[self.when]


def assign_roles(available: Collection[str], declared: VisitFormat) -> Roles:
    """Match declared roles with the columns; whatever is ambiguous is refused."""
    names = declared.names
    none = [role for role, column in names.items() if not column]
    names = {role: column for role, column in names.items() if column}
    joined = {}
    for role, column in names.items():
        both = None if column in available else _join(role, column, available)
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


_WHEN_ROLES: Final = {
    TimeForm.STAYS: ("start", "end"),
    TimeForm.SIGHTINGS: ("time",),
    TimeForm.DATES: ("date",),
    TimeForm.NEVER: (),
}
_WHERE_ROLES: Final = {
    PlaceForm.PLACES: ("place",),
    PlaceForm.COORDINATES: ("latitude", "longitude", "accuracy"),
}


def _when(found: Mapping[str, str], declared: VisitFormat, available: Collection[str]) -> TimeForm:
    mapped = {role: form for form, roles in _WHEN_ROLES.items() for role in roles}
    forms = {mapped[role] for role in declared.names if role in mapped}
    forms = forms or {mapped[role] for role in found if role in mapped}
    if len(forms) > 1:
        raise BadQuestion(
            f"The visits could be read as {' or as '.join(sorted(forms))}.",
            "Say which columns tell the time: start and end, or time, or date "
            '(`columns={"time": "COLUMN"}`); or, where one is the date and one the time of day, both '
            'together (`columns={"time": "DATE+TIME"}`).',
        )
    if not forms and any(_A_VALUE.match(name) for name in available):
        raise _no_names()
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
    if form is TimeForm.SIGHTINGS and declared.hold is None and declared.stay_rule is None:
        raise BadQuestion(
            "Sightings tell when a person was seen, not how long they stayed.",
            'Declare how long a sighting holds (`hold="15min"`), or map start and end.',
        )
    if form is not TimeForm.SIGHTINGS and declared.hold is not None:
        raise BadQuestion(
            f"A holding time is declared, but the visits are {form}.", "Leave the holding time out."
        )
    if declared.stay_rule is not None and (form is not TimeForm.SIGHTINGS or declared.hold is not None):
        raise BadQuestion(
            "Stays can be detected only in sightings without a holding time.",
            "Map time, latitude and longitude, declare a radius, and leave the holding time out.",
        )
    return form


def _where(found: Mapping[str, str], declared: VisitFormat, available: Collection[str]) -> PlaceForm:
    by_coordinates = declared.radius is not None or declared.h3_resolution is not None
    if by_coordinates:
        for role in ("latitude", "longitude"):
            if role not in found:
                raise no_column(role, role, available)
        return PlaceForm.COORDINATES
    if declared.stay_rule is not None:
        raise BadQuestion(
            "Stays are detected from coordinates.",
            "Declare a radius (`radius=50`) or H3 cells (`h3_resolution=11`).",
        )
    if "place" in found:
        return PlaceForm.PLACES
    if "latitude" in found and "longitude" in found:
        raise BadQuestion(
            "The visits have coordinates and no place.",
            "Declare how coordinates become places: a radius in metres (`radius=50`) or H3 cells "
            "(`h3_resolution=11`).",
        )
    raise no_column("place", "place", available)


def _join(role: str, column: str, available: Collection[str]) -> tuple[str, str] | None:
    """The two columns meant by day+hour; None where there are no such columns, or the role takes none."""
    first, plus, second = (part.strip() for part in column.partition("+"))
    both = plus and first in available and second in available
    return (first, second) if both and role in _JOINED else None


def no_column(role: str, column: str, available: Collection[str]) -> BadQuestion:
    if any(_A_VALUE.match(name) for name in available):
        return _no_names()
    wanted = f"{role} ({column})" if role != column else role
    if column in (name.strip() for name in available):
        return BadQuestion(
            f"There is no column {wanted}, only one with blanks around its name.",
            "Export the file without blanks around names and values.",
        )
    hint = did_you_mean(column, available, _ALSO_CALLED.get(role, ()))
    return BadQuestion(
        f"There is no column {wanted}. There are: {', '.join(available)}.",
        f'Map it to a column (`columns={{"{role}": "COLUMN"}}`).{hint}',
    )


def _no_names() -> BadQuestion:
    """The header may be a row of data, so nothing of it is quoted."""
    return BadQuestion(
        "A column is called by a number or a time, as if a row stood where the names should.",
        "Write the names of the columns into the first line: person,place,start,end.",
    )
