"""The exact law of the number of right answers, against plain enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from safeside_studies.orders import (
    alarm_by_popularity,
    expected,
    fixed_order,
    random_order,
    with_replacement,
)

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


def reaches(alarm: list[float], seen: frozenset[int], k: int) -> float:
    """P(k different places are asked | these were, without an alarm), by the next question's outcomes."""
    if len(seen) >= k:
        return 1.0
    places = range(len(alarm))
    again = sum(1 - alarm[i] for i in seen)
    # A new place that makes k counts, alarm or not.
    new = sum(
        1.0 if len(seen) + 1 == k else (1 - alarm[i]) * reaches(alarm, seen | {i}, k)
        for i in places
        if i not in seen
    )
    return new / (len(alarm) - again)


@given(chances)
def test_with_replacement_is_the_chain_of_questions(alarm: list[float]) -> None:
    brute = [reaches(alarm, frozenset(), k) for k in range(len(alarm) + 1)]
    assert np.allclose(with_replacement(np.array(alarm)), brute, rtol=0, atol=1e-9)


def test_with_replacement_many_alike_places_lose_nothing() -> None:
    """Without alarms every place is asked in the end; with certain ones the first question is the last."""
    assert np.allclose(with_replacement(np.zeros(300)), 1.0)
    assert np.allclose(with_replacement(np.ones(300))[:3], [1.0, 1.0, 0.0])
    assert np.allclose(
        with_replacement(np.full(300, 0.1), horizon=9), with_replacement(np.full(300, 0.1))[:10]
    )


def test_ten_asked_with_replacement_are_nine_quiet_and_an_alarm_at_most() -> None:
    """Among many places a repetition is rare: the code's "at least 10" is the text's "at least 9"."""
    alarm = np.where(np.arange(5000) % 12, 0.007, 1.0)
    code, text = with_replacement(alarm), random_order(alarm)
    assert math.isclose(code[10], text[9], abs_tol=5e-4)
    assert code[10] > text[10] + 0.03


def test_the_horizon_cuts_and_nothing_else() -> None:
    alarm = np.linspace(0.05, 0.2, 40)
    assert np.allclose(random_order(alarm, horizon=7), random_order(alarm)[:8])


def test_popularity_puts_the_least_popular_first() -> None:
    assert alarm_by_popularity(np.array([0.3, 0.1, 0.2]), np.array([5.0, 1.0, 2.0])).tolist() == [
        0.1,
        0.2,
        0.3,
    ]
