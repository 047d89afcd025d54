"""Which way certifies most on a forecast: each method says what it would, from public numbers alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from safeside.decisions.compare import Comparison, Outlook, scattered
from safeside.decisions.forecast import scores
from safeside.mechanisms import Selection, plan_selection
from safeside.releases.choosing import compare

EXPECTED = 3.0 / np.arange(1, 2001)


def compared(*asked: Any, **more: Any) -> Comparison:
    return compare(Outlook.of(*asked, **more))


def test_counts_at_one_condition_a_person_reach_the_limit() -> None:
    found = compared(EXPECTED, 5, 1, scores=scores(EXPECTED), most_conditions=1)
    assert found.expected["counts"] == pytest.approx(found.limit)
    assert found.best == "counts"
    assert found.conditions == 2000


def test_without_a_limit_on_conditions_there_are_no_counts_and_selection_wins() -> None:
    found = compared(EXPECTED, 5, 1, scores=scores(EXPECTED))
    assert set(found.expected) == {"sparse", "selection"}
    assert found.best == "selection"
    assert found.expected["sparse"] < found.expected["selection"] < found.limit


def test_counts_fall_behind_selection_as_one_person_may_satisfy_more() -> None:
    best = [compared(EXPECTED, 5, 1, scores=scores(EXPECTED), most_conditions=k).best for k in (1, 2, 60)]
    assert best == ["counts", "counts", "selection"]


def test_what_selection_is_expected_to_certify_is_what_it_certifies_on_such_counts() -> None:
    known = scores(EXPECTED)
    counts = scattered(EXPECTED)
    selection = Selection(epsilon=1, plan=plan_selection(known, 5, 1))
    found = compared(EXPECTED, 5, 1, scores=known).expected["selection"]
    assert found == pytest.approx(selection.expected(counts, 5).sum())


def test_a_forecast_that_is_off_costs_answers() -> None:
    exact, off = (
        compared(EXPECTED, 2, 1, scores=scores(EXPECTED), off_by=by).expected["selection"]
        for by in (0.0, 1.5)
    )
    assert off < exact
