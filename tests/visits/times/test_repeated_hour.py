"""The hour that a clock shows twice: a time is counted wherever it may have been, to its last microsecond."""

from __future__ import annotations

from datetime import datetime, timedelta

import polars as pl
import pytest
from tests.visits.making import count_visits

from safeside.errors import LimitBroken
from safeside.visits import VisitFormat, Window, read_places

BERLIN = VisitFormat(timezone="Europe/Berlin", hold="0s")
PLACES = read_places(["bar"])
LAST = datetime(2024, 10, 27, 2, 59, 59, 999_999)
"""The clock went from here, at 01:00 UTC, back to two o'clock."""


@pytest.mark.parametrize(
    ("window", "counted"),
    [
        ("2024-10-27T00:30Z/2024-10-27T01:30Z", 1),  # shown first at 00:59:59.999999 UTC
        ("2024-10-27T00:59:59.999999Z/2024-10-27T01:00Z", 1),
        ("2024-10-27T01:30Z/2024-10-27T02:00Z", 1),  # and again at 01:59:59.999999 UTC
        ("2024-10-27T02:00Z/2024-10-27T03:00Z", 0),
        ("2024-10-27T00:00Z/2024-10-27T00:59:59.999999Z", 0),
    ],
)
def test_a_sighting_at_its_end_counts_in_both_hours(window: str, counted: int) -> None:
    seen = pl.DataFrame({"person": ["ana"], "place": ["bar"], "time": [LAST]})
    assert count_visits(seen, PLACES, Window.parse(window), BERLIN).values.tolist() == [counted]


def test_a_sighting_at_its_beginning_counts_in_both_hours() -> None:
    first = LAST + timedelta(microseconds=1) - timedelta(hours=1)
    seen = pl.DataFrame({"person": ["ana"], "place": ["bar"], "time": [first]})
    for window in ("2024-10-27T00:00Z/2024-10-27T00:30Z", "2024-10-27T01:00Z/2024-10-27T01:30Z"):
        assert count_visits(seen, PLACES, Window.parse(window), BERLIN).values.tolist() == [1]


@pytest.mark.parametrize("hold", ["90min", "3h"])
def test_where_it_lies_within_the_holding_time_nobody_says_which_sighting_was_the_last(hold: str) -> None:
    """The second place may have been shown first: at 01:45 UTC they were at the gym, at 00:50 in the bar."""
    times = [datetime(2024, 10, 27, 2, 50), datetime(2024, 10, 27, 2, 45)]
    seen = pl.DataFrame({"person": ["ana", "ana"], "place": ["bar", "gym"], "time": times})
    held, later = VisitFormat(timezone="Europe/Berlin", hold=hold), Window.parse("2024-10-27T02:10Z")
    with pytest.raises(LimitBroken, match="two places"):
        count_visits(seen, read_places(["bar", "gym"]), later, held)
