"""Counts and thresholds up to 2^62 are taken, and none beyond."""

from __future__ import annotations

import numpy as np
import pytest

from safeside.errors import BadCounts, BadNumber
from safeside.mechanisms.counts import MOST_PEOPLE, people_counts, thresholds_for


def test_the_largest_count_and_threshold_are_taken() -> None:
    assert MOST_PEOPLE == 2**62
    assert people_counts([MOST_PEOPLE, 0]).tolist() == [MOST_PEOPLE, 0]
    assert thresholds_for(2, [MOST_PEOPLE, 0]).tolist() == [MOST_PEOPLE, 0]


@pytest.mark.parametrize("value", [MOST_PEOPLE + 1, -1])
def test_one_more_and_one_less_than_nothing_are_refused(value: int) -> None:
    with pytest.raises(BadCounts):
        people_counts(np.array([0, value]))
    with pytest.raises(BadNumber):
        thresholds_for(2, np.array([0, value]))
