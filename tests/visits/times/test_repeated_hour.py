"""The hour that a clock shows twice: a time is counted wherever it may have been, to its last microsecond."""

from __future__ import annotations

from datetime import datetime, timedelta

import polars as pl
import pytest
from tests.visits.making import count_visits

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
