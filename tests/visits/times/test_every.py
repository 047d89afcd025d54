"""One interval as many windows: no gap, no overlap, true to the local clock."""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safeside.errors import BadQuestion
from safeside.visits.times.every import split
from safeside.visits.times.window import Window


def hours(day: str, zone: str) -> tuple[Window, ...]:
    return split(Window.parse(day, zone), "1h", zone)


@pytest.mark.parametrize(
    ("day", "number"),
    [("2024-06-03", 24), ("2024-03-31", 23), ("2024-10-27", 25)],
    ids=["usual", "short", "long"],
)
def test_a_day_has_as_many_hours_as_its_clock_shows(day: str, number: int) -> None:
    found = hours(day, "Europe/Berlin")
    assert len(found) == number
    assert all(one.end - one.start == timedelta(hours=1) for one in found)


def test_windows_carry_the_offset_of_their_own_moment() -> None:
    found = hours("2024-10-27", "Europe/Berlin")
    assert found[2].text == "2024-10-27T02:00:00+02:00/2024-10-27T02:00:00+01:00"
    assert found[3].text == "2024-10-27T02:00:00+01:00/2024-10-27T03:00:00+01:00"
    assert len({one.text for one in found}) == 25
    asked = split(Window.parse("2024-03-01T00:00+09:00/PT2H"), timedelta(hours=1))
    assert [one.text for one in asked] == [
        "2024-03-01T00:00:00+09:00/2024-03-01T01:00:00+09:00",
        "2024-03-01T01:00:00+09:00/2024-03-01T02:00:00+09:00",
    ]


def test_each_window_is_read_back_as_it_is_written() -> None:
    for one in hours("2024-03-31", "Europe/Berlin"):
        assert Window.parse(one.text) == one


def test_days_are_days_of_the_local_calendar() -> None:
    week = split(Window.parse("2024-03-29/P1W", "Europe/Berlin"), "1d", "Europe/Berlin")
    assert [one.end - one.start for one in week] == [timedelta(hours=24)] * 2 + [timedelta(hours=23)] + [
        timedelta(hours=24)
    ] * 4


@given(st.integers(1, 3000), st.integers(1, 400))
def test_the_windows_are_the_interval_without_gap_or_overlap(minutes: int, length: int) -> None:
    whole = Window.parse(f"2024-10-26T22:30+00:00/PT{minutes}M")
    parts = split(whole, timedelta(minutes=length), "Europe/Berlin")
    assert (parts[0].start, parts[-1].end) == (whole.start, whole.end)
    assert all(one.end == two.start for one, two in itertools.pairwise(parts))
    assert all(one.start < one.end <= one.start + timedelta(minutes=length) for one in parts)


@pytest.mark.parametrize(
    ("when", "every", "why"),
    [
        ("2024-03-01T10:00+01:00", "1h", "An instant has no parts"),
        ("2024-03-01", "30s", "shorter than a minute"),
        ("2024-03-01/P30D", "1min", "more than 10,000 windows"),
        ("2024-03-01", "often", "is not a length of time"),
        ("2024-03-01T10:00/P2D", "1d", "begin at midnight"),
    ],
)
def test_what_makes_no_windows_is_refused(when: str, every: str, why: str) -> None:
    with pytest.raises(BadQuestion, match=why):
        split(Window.parse(when, "Europe/Berlin"), every, "Europe/Berlin")
