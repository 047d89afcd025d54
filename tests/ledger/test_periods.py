"""Which days and weeks a window touches."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from safeside.errors import BadQuestion
from safeside.ledger.periods import check_periods, periods_of
from safeside.privacy.guarantee import Unit
from safeside.zones import find_zone

DAY, WEEK = Unit.PERSON_DAY, Unit.PERSON_WEEK


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("unit", "timezone", "start", "end", "periods"),
    [
        (DAY, "UTC", "2021-03-04T00:00", "2021-03-05T00:00", ("2021-03-04",)),
        (DAY, "UTC", "2021-03-04T00:00", "2021-03-05T00:00:00.000001", ("2021-03-04", "2021-03-05")),
        (DAY, "UTC", "2021-03-05T00:00", "2021-03-05T00:00", ("2021-03-05",)),
        (DAY, "Asia/Tokyo", "2021-03-04T14:59", "2021-03-04T15:01", ("2021-03-04", "2021-03-05")),
        (DAY, "Asia/Tokyo", "2021-03-04T15:00", "2021-03-04T15:00", ("2021-03-05",)),
        # The day on which clocks in Paris skip an hour, and the one that has two.
        (DAY, "Europe/Paris", "2021-03-27T23:00", "2021-03-28T22:00", ("2021-03-28",)),
        (DAY, "Europe/Paris", "2021-10-30T22:00", "2021-10-31T23:00", ("2021-10-31",)),
        (WEEK, "UTC", "2021-01-01T12:00", "2021-01-01T12:00", ("2020-W53",)),
        (WEEK, "UTC", "2021-01-03T23:00", "2021-01-04T01:00", ("2020-W53", "2021-W01")),
        (WEEK, "UTC", "2021-03-01T00:00", "2021-03-15T00:00", ("2021-W09", "2021-W10")),
        (Unit.PERSON, None, "2021-03-01T00:00", "2029-03-15T00:00", ()),
    ],
)
def test_every_period_that_is_touched_pays(
    unit: Unit, timezone: str, start: str, end: str, periods: tuple[str, ...]
) -> None:
    found = periods_of(unit, timezone, at(start), at(end))
    assert found == periods
    if unit is not Unit.PERSON:
        assert check_periods(unit, found) == periods


def test_windows_that_make_no_sense() -> None:
    start = at("2021-03-04T00:00")
    for end in (start - timedelta(seconds=1), start.replace(tzinfo=None), start + timedelta(days=10_000)):
        with pytest.raises(BadQuestion):
            periods_of(DAY, "UTC", start, end)
    with pytest.raises(BadQuestion):
        find_zone("Mars/Olympus")


@pytest.mark.parametrize(
    ("unit", "period"),
    [
        (DAY, "2021-3-4"),
        (DAY, "20210304"),
        (DAY, "2021-W09"),
        (WEEK, "2021-W54"),
        (WEEK, "2021-W9"),
        (DAY, ""),
    ],
)
def test_a_period_has_one_name(unit: Unit, period: str) -> None:
    with pytest.raises(BadQuestion):
        check_periods(unit, (period,))
