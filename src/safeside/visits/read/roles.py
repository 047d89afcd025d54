"""Which columns are meant: names that are declared, names that are there, and what is said of others."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from safeside.errors import BadQuestion
from safeside.visits.nearby import did_you_mean

ROLES: Final = (
    "person",
    "place",
    "latitude",
    "longitude",
    "accuracy",
    "start",
    "end",
    "time",
    "date",
    "state",
)
A_VALUE: Final = re.compile(r"\s*[+-]?[0-9][0-9.,:/ T+Z-]*$")
_NEXT_ROLE: Final = re.compile(r",(?=\s*[A-Za-z_]+\s*=)")
"""Only such commas separate roles: others belong to the name of a column."""
_OPTIONAL: Final = ("accuracy", "state")
"""Columns of these names may be something else: state=, without a column, says that none is one."""

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
"""Names that others give to the same things: offered when a column is not found, never taken."""


_JOINED: Final = ("start", "end", "time")
"""What may be told by two columns, a date and a time of day."""


def join(role: str, column: str, available: Collection[str]) -> tuple[str, str] | None:
    """The two columns meant by day+hour; None where there are no such columns, or the role takes none."""
    first, plus, second = (part.strip() for part in column.partition("+"))
    both = plus and first in available and second in available
    return (first, second) if both and role in _JOINED else None


def no_column(role: str, column: str, available: Collection[str]) -> BadQuestion:
    if any(A_VALUE.match(name) for name in available):
        return no_names()
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


def no_names() -> BadQuestion:
    """Where names should stand there may be somebody's row, so nothing of it is repeated."""
    return BadQuestion(
        "A column is called by a number or a time, as if a row stood where the names should.",
        "Write the names of the columns into the first line: person,place,start,end.",
    )


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
        if role not in ROLES:
            raise BadQuestion(
                f"A visit has no role {role!r}.", f"Use one of {', '.join(ROLES)}.{did_you_mean(role, ROLES)}"
            )
        if not columns[role] and role not in _OPTIONAL:
            raise BadQuestion(
                f"The role {role} is given no column.",
                f"Write {role}=COLUMN; {' and '.join(_OPTIONAL)} may be left without one.",
            )
    return dict(columns)
