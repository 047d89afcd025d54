"""Declarations of the owner of the visits: how to read them, and what to expect of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta, tzinfo
from fractions import Fraction
from typing import Final

from safeside.errors import BadQuestion, NowhereElse
from safeside.names import did_you_mean
from safeside.visits.times.window import PER_SECOND, When, parse_duration
from safeside.words import length, said
from safeside.zones import find_zone

_WIDEST_RADIUS: Final = 1_000.0
_WIDEST_STAY: Final = 10_000.0
_LONGEST_HOLD: Final = timedelta(days=36_525)
LONGEST_GAP: Final = timedelta(hours=12)
"""Well below the shortest local day, so that no stay spans a whole day without fixes."""
_TABS: Final = {r"\t": "\t", "tab": "\t"}
"""What people type for a tab, which a shell does not."""
_PERCENT: Final = re.compile(r"\s*(?P<number>\d{1,3}(?:\.\d{1,9})?)\s*%\s*")
_MOST_RINGS: Final = {8: 0, 9: 2, 10: 8}
"""With more rings one place alone covers the ground within a kilometre; for smaller cells at most 10."""
_PLACED: Final = ("person", "place", "latitude", "longitude", "accuracy")
ROLES: Final = (*_PLACED, "start", "end", "time", "date", "state")
GROUP: Final = "group"
"""The role that takes the place's in tables of people and their groups (`safeside.groups`)."""
_NEXT_ROLE: Final = re.compile(r",(?=\s*[A-Za-z_]+\s*=)")
"""Only a comma before ROLE= separates roles: other commas belong to column names."""
_OPTIONAL: Final = ("accuracy", "state")
"""A column of that name may mean something else: `state=` without a column says so."""
_EPOCHS: Final = {f"epoch-{unit}": unit for unit in PER_SECOND}


@dataclass(frozen=True, kw_only=True)
class StayRule:
    """Stay detection: whose fixes are within `metres` of one another for `minutes` is taken to have stayed.

    A silence longer than `longest_gap` ends a stay.

    Example
        >>> from safeside import StayRule
        >>> print(StayRule(minutes=10, longest_gap="30 min").sentence())
        Only stays of at least 10 minutes are counted: ...
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
        return said(
            "counted.stays",
            minutes=str(self.minutes),
            metres=f"{self.metres:g}",
            silence=length(self.silence),
            reach=length(self.reach),
        )


@dataclass(frozen=True, kw_only=True)
class VisitFormat:
    """How to read the visits. Whatever is not declared is not assumed.

    `columns` maps roles (person, place, latitude, longitude, accuracy, start, end, time, date, state) to the
    names the columns have; a role that is not mapped is looked for under its own name.

    Example
        >>> from safeside import VisitFormat
        >>> sightings = VisitFormat(columns={"person": "patient"}, timezone="Asia/Tokyo", hold="30 min")
        >>> sightings.hold
        datetime.timedelta(seconds=1800)
    """

    columns: Mapping[str, str] | str = field(default_factory=dict)
    time_format: str | None = None
    timezone: str | None = None
    hold: timedelta | str | None = None
    radius: float | None = None
    h3_resolution: int | None = None
    h3_rings: int = 1
    stay_rule: StayRule | None = None
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
        object.__setattr__(self, "hold", self.held)
        if self.held is not None and self.held > _LONGEST_HOLD:
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
            raise NowhereElse(
                f"A radius of {self.radius:g} m around every place does not describe venues.",
                f"Declare a radius above 0 and up to {_WIDEST_RADIUS:g} m.",
            )
        if self.h3_resolution is None:
            return
        most = _MOST_RINGS.get(self.h3_resolution, 10)
        if not (8 <= self.h3_resolution <= 15 and 0 <= self.h3_rings <= most):
            raise NowhereElse(
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
        if self.stay_rule is not None:
            return self.stay_rule.reach, self.stay_rule.reach
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
class Expected:
    """What the owner expects of the export; any disagreement stops the work.

    Compared for the owner's eyes only: neither published nor written to a release or the ledger.

    Example
        >>> from safeside import Expected
        >>> Expected(rows=1_000, covers="2024-03-03/2024-03-04").rows
        1000
    """

    files: int | None = None
    rows: int | None = None
    people: int | None = None
    covers: When | None = None
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


def _share(text: str) -> Fraction:
    percent = _PERCENT.fullmatch(text)
    share = Fraction(percent["number"]) / 100 if percent else Fraction(-1)
    if not 0 <= share <= 1:
        raise BadQuestion(
            "The share of rows that may be left out is not written in per cent.",
            'Write it as 60% (`Expected(unlisted="60%")`).',
        )
    return share


def read_columns(columns: Mapping[str, str] | str) -> dict[str, str]:
    if isinstance(columns, str):
        pairs = [part.partition("=") for part in _NEXT_ROLE.split(columns) if part.strip()]
        if any(not sign or not role.strip() for role, sign, _ in pairs):
            raise BadQuestion(
                "The columns are not written as ROLE=COLUMN.",
                'Write `columns={"person": "patient_id", "time": "seen_at"}`.',
            )
        columns = {role.strip(): column.strip() for role, _, column in pairs}
    for role in columns:
        if role not in (*ROLES, GROUP):
            raise BadQuestion(
                f"A visit has no role {role!r}.", f"Use one of {', '.join(ROLES)}.{did_you_mean(role, ROLES)}"
            )
        if not columns[role] and role not in _OPTIONAL:
            raise BadQuestion(
                f"The role {role} is given no column.",
                f"Write {role}=COLUMN; {' and '.join(_OPTIONAL)} may be left without one.",
            )
    return dict(columns)
