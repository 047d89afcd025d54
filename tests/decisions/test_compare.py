"""Counts as they may well be on a forecast: computed from public numbers alone, the same every time."""

from __future__ import annotations

import numpy as np
import pytest

from safeside.decisions.compare import Comparison, scattered


def test_counts_scatter_as_poisson_numbers_do_and_the_same_every_time() -> None:
    for mean in (0.3, 4.0, 90.0):
        drawn = scattered(np.full(20_000, mean))
        assert drawn.mean() == pytest.approx(mean, rel=0.01)
        assert drawn.var() == pytest.approx(mean, rel=0.02)
        assert np.array_equal(drawn, scattered(np.full(20_000, mean)))


def test_of_ways_that_certify_as_much_the_one_that_tells_most_is_best() -> None:
    found = Comparison(conditions=9, expected={"counts": 4.0, "sparse": 2.0, "selection": 4.0}, limit=8.0)
    assert (found.best, found.share("sparse")) == ("counts", 0.25)
