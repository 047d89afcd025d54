"""The exact law of the number of right answers, against plain enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from safeside.studies.orders import alarm_by_popularity, expected, fixed_order, random_order

chances = st.lists(st.floats(0, 1), min_size=1, max_size=5)


@given(chances)
def test_random_order_is_the_mean_over_all_orders(alarm: list[float]) -> None:
    orders = list(itertools.permutations(alarm))
    brute = [
        sum(math.prod(1 - p for p in order[:k]) for order in orders) / len(orders)
        for k in range(len(alarm) + 1)
    ]
    assert np.allclose(random_order(np.array(alarm)), brute)


@given(chances)
def test_fixed_order_is_a_product(alarm: list[float]) -> None:
    survival = fixed_order(np.array(alarm))
    assert np.allclose(survival, [math.prod(1 - p for p in alarm[:k]) for k in range(len(alarm) + 1)])
    assert math.isclose(expected(survival), float(sum(survival[1:])))


def test_the_horizon_cuts_and_nothing_else() -> None:
    alarm = np.linspace(0.05, 0.2, 40)
    assert np.allclose(random_order(alarm, horizon=7), random_order(alarm)[:8])


def test_popularity_puts_the_least_popular_first() -> None:
    assert alarm_by_popularity(np.array([0.3, 0.1, 0.2]), np.array([5.0, 1.0, 2.0])).tolist() == [
        0.1,
        0.2,
        0.3,
    ]
