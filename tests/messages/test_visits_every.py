"""What is said where an interval cannot be cut into windows, or windows cannot be counted together."""

from __future__ import annotations

import polars as pl
import pytest
from tests.visits.making import count_visits

from safeside.errors import BadQuestion, LimitBroken
from safeside.visits import Window, read_places
from safeside.visits.times.every import Windows, split

BERLIN = "Europe/Berlin"
DAY = Windows(each=split(Window.parse("2024-03-03", BERLIN), "1h", BERLIN))
CASES = {
    ("2024-03-03T18:00", "1h"): (
        "An instant has no parts.",
        "Ask about an interval, such as one day, or leave `every=` out.",
    ),
    ("2024-03-03", "30s"): (
        "Each window would be shorter than a minute.",
        "Give `every=` as a minute or more, such as 1h.",
    ),
    ("2024-01-01/2024-12-31", "1min"): (
        "The interval has more than 10,000 windows of this length.",
        "Ask about a shorter interval, or longer windows.",
    ),
    ("2024-03-03T06:00/2024-03-05T06:00", "1d"): (
        "Windows of whole days begin at midnight, and the interval does not.",
        "Begin the interval with a date, or give `every=` in hours.",
    ),
}


@pytest.mark.parametrize(("when", "every"), CASES)
def test_refusals(when: str, every: str) -> None:
    with pytest.raises(BadQuestion) as caught:
        split(Window.parse(when, BERLIN), every, BERLIN)
    assert (caught.value.what, caught.value.do) == CASES[when, every]


@pytest.mark.parametrize(
    "asked",
    [
        [],
        [DAY.whole, DAY.whole],
        [DAY.each[0], DAY.each[2]],
        [DAY.each[1], DAY.each[0]],
        [Window.parse("2024-03-03T18:00", BERLIN)] * 2,
    ],
    ids=["none", "overlapping", "with a gap", "out of order", "instants"],
)
def test_windows_that_cannot_be_counted_together(asked: list[Window]) -> None:
    with pytest.raises(BadQuestion) as caught:
        Windows.of(asked)
    assert caught.value.what == "The windows are no intervals of which each begins where the one before ends."
    assert caught.value.do == "Give one window, or an interval and how it is divided (`every=`)."


def test_too_many_windows() -> None:
    minutes = split(Window.parse("2024-01-01/P6D", "UTC"), "1min", "UTC")
    later = split(Window.parse("2024-01-07/P6D", "UTC"), "1min", "UTC")
    with pytest.raises(BadQuestion) as caught:
        Windows.of((*minutes, *later))
    assert caught.value.what == "There are more than 10,000 windows."
    assert caught.value.do == "Ask about a shorter interval, or longer windows."


@pytest.mark.parametrize("windows", [2, 24])
def test_a_limit_counts_a_place_once_for_every_window(windows: int) -> None:
    """Since that many counts change with one person."""
    listed, asked = read_places(["bar", "gym"]), DAY.each[:windows]
    rows = {"person": ["ana"], "place": ["bar"], "start": [DAY.whole.start], "end": [DAY.whole.end]}
    visits = pl.DataFrame(rows)
    assert count_visits(visits, listed, asked, max_places_per_person=windows).values.sum() == windows
    with pytest.raises(LimitBroken) as caught:
        count_visits(visits, listed, asked, max_places_per_person=windows - 1)
    assert caught.value.what == (
        f"Someone visited more places than the declared {windows - 1}, "
        "each of them counted once for every window."
    )
    assert caught.value.do == (
        "Correct rows that are wrong. Sparse answers (`max_alarms=`) need no such number."
    )
