"""Which way certifies most on a forecast: computed from public numbers alone, the same every time."""

from __future__ import annotations

import numpy as np
import pytest

from safeside.decisions import compare
from safeside.decisions.compare import Way, scattered
from safeside.decisions.forecast import scores
from safeside.mechanisms import Selection, plan_selection

EXPECTED = 3.0 / np.arange(1, 2001)


def test_counts_at_one_condition_a_person_reach_the_limit() -> None:
    found = compare.compare(EXPECTED, 5, 1, scores=scores(EXPECTED), most_conditions=1)
    assert found.expected[Way.COUNTS] == pytest.approx(found.limit)
    assert found.best is Way.COUNTS
    assert found.conditions == 2000


def test_without_a_limit_on_conditions_there_are_no_counts_and_selection_wins() -> None:
    found = compare.compare(EXPECTED, 5, 1, scores=scores(EXPECTED))
    assert set(found.expected) == {Way.SPARSE, Way.SELECTION}
    assert found.best is Way.SELECTION
    assert found.expected[Way.SPARSE] < found.expected[Way.SELECTION] < found.limit


def test_counts_fall_behind_selection_as_one_person_may_satisfy_more() -> None:
    best = [
        compare.compare(EXPECTED, 5, 1, scores=scores(EXPECTED), most_conditions=k).best for k in (1, 2, 60)
    ]
    assert best == [Way.COUNTS, Way.COUNTS, Way.SELECTION]


def test_what_selection_is_expected_to_certify_is_what_it_certifies_on_such_counts() -> None:
    known = scores(EXPECTED)
    counts = scattered(EXPECTED)
    selection = Selection(epsilon=1, plan=plan_selection(known, 5, 1))
    found = compare.compare(EXPECTED, 5, 1, scores=known).expected[Way.SELECTION]
    assert found == pytest.approx(selection.expected(counts, 5).sum())


def test_counts_scatter_as_poisson_numbers_do_and_the_same_every_time() -> None:
    for mean in (0.3, 4.0, 90.0):
        drawn = scattered(np.full(20_000, mean))
        assert drawn.mean() == pytest.approx(mean, rel=0.01)
        assert drawn.var() == pytest.approx(mean, rel=0.02)
        assert np.array_equal(drawn, scattered(np.full(20_000, mean)))


def test_a_forecast_that_is_off_costs_answers() -> None:
    exact, off = (
        compare.compare(EXPECTED, 2, 1, scores=scores(EXPECTED), off_by=by).expected[Way.SELECTION]
        for by in (0.0, 1.5)
    )
    assert off < exact
