"""What is said where an interval cannot be cut into windows of one length."""

from __future__ import annotations

import pytest

from safeside.errors import BadQuestion
from safeside.visits import Window
from safeside.visits.times.every import split

BERLIN = "Europe/Berlin"
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
