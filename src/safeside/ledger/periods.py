"""Days and weeks: which budgets a release touches, where every day or week has one of its own.

A day is a calendar day, a week an ISO week, in the time zone the dataset was created with: were it any other,
two releases about the same hour could be charged to two different budgets.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final

from safeside.errors import BadQuestion
from safeside.privacy.account import ALL_TIME
from safeside.privacy.guarantee import Unit
from safeside.zones import find_zone

WORD: Final = {Unit.PERSON: "period", Unit.PERSON_DAY: "day", Unit.PERSON_WEEK: "week"}
"""What one period of a unit is called."""
_MOST_PERIODS: Final = 3660


def periods_of(unit: Unit, timezone: str | None, start: datetime, end: datetime) -> tuple[str, ...]:
    """Every day or week that [start, end) touches; the instant `start` where the two are equal.

    Give the whole time the counting rule looks at: a sighting that is held for an hour before the window
    belongs to the window.
    """
    if unit is Unit.PERSON:
        return ()
    if start.tzinfo is None or end.tzinfo is None or end < start:
        raise BadQuestion(
            "The window has no time zone, or ends before it starts.",
            "Give the start and the end of the window as moments with a time zone, in order.",
        )
    local = find_zone(timezone or "")
    last = end - timedelta(microseconds=1) if end > start else start
    first = start.astimezone(local).date()
    days = (last.astimezone(local).date() - first).days
    if days > _MOST_PERIODS:
        raise BadQuestion(f"The window is longer than {_MOST_PERIODS} days.", "Ask about a shorter window.")
    return tuple(dict.fromkeys(_name(unit, first + timedelta(days=day)) for day in range(days + 1)))


def check_periods(unit: Unit, periods: tuple[str, ...]) -> tuple[str, ...]:
    """The periods to charge: refused unless they are of the dataset's unit."""
    if unit is Unit.PERSON:
        if periods:
            raise BadQuestion(
                "Days or weeks were given for a dataset with one budget for all time.",
                "Leave the periods out: the unit of privacy of this dataset is the person.",
            )
        return (ALL_TIME,)
    if not periods:
        raise BadQuestion(
            f"The dataset has a budget for each {unit}, and the release names none.",
            "Name every day or week the release looks at; each is charged in full.",
        )
    for period in periods:
        if not _is_name(unit, period):
            raise BadQuestion(
                f'"{period}" is not a {WORD[unit]} the ledger knows.',
                'Write days as "2021-03-04" and ISO weeks as "2021-W09".',
            )
    return periods


def _name(unit: Unit, day: date) -> str:
    if unit is Unit.PERSON_DAY:
        return day.isoformat()
    year, week, _ = day.isocalendar()
    return f"{year:04}-W{week:02}"


def _is_name(unit: Unit, period: str) -> bool:
    try:
        return _name(unit, date.fromisoformat(period)) == period
    except ValueError:
        return False
