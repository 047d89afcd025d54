"""The optimal (epsilon, delta)-DP decision: the optimum of the linear program, drawn exactly."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.mechanisms.worlds import needed_delta

from safeside import exact
from safeside.exact import ball, exp, precision
from safeside.mechanisms import OptimalDecision
from safeside.mechanisms.optimal_decision import climb
from safeside.noise.entropy import simulated_entropy
from safeside.privacy.guarantee import Direction, Neighbours
from safeside_studies.competitor import virtual_beta

SETTINGS = [(1.0, 1e-3, 0.0), (0.5, 0.01, 0.0), (1.0, 0.0, 0.01), (0.3, 0.02, 0.05), (2.0, 1e-6, 0.001)]


def best_decision(people: int, t: int, count: int, epsilon: float, delta: float, alpha: float) -> float:
    """The most any (epsilon, delta)-DP decision says "at most t" at this count, erring with at most alpha."""
    rows, limits = [], []
    for f in range(people):
        for a, b in ((f, f + 1), (f + 1, f)):
            row = np.zeros(people + 1)
            row[a], row[b] = 1, -math.exp(epsilon)
            rows += [row, -row]
            limits += [delta, math.exp(epsilon) - 1 + delta]
    goal = np.zeros(people + 1)
    goal[count] = -1
    box = [(0, 1) if f <= t else (0, alpha) for f in range(people + 1)]
    found = linprog(goal, np.array(rows), limits, bounds=box)
    assert found.success
    return -found.fun


@pytest.mark.parametrize(("epsilon", "delta", "alpha"), SETTINGS)
def test_the_climb_is_the_optimum(epsilon: float, delta: float, alpha: float) -> None:
    mechanism = OptimalDecision(epsilon=epsilon, delta=delta, alpha=alpha)
    for count in range(8):
        best = best_decision(9, 7, count, epsilon, delta, alpha)
        assert float(mechanism.beta(7, count).mid()) == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize(("epsilon", "delta", "alpha"), SETTINGS)
def test_decision_enumerated(epsilon: float, delta: float, alpha: float) -> None:
    """Every added or removed person, both answers: delta is enough."""
    mechanism = OptimalDecision(epsilon=epsilon, delta=delta, alpha=alpha)
    laws = [mechanism.distribution(count, 7) for count in range(12)]
    for one, two in itertools.pairwise(laws):
        assert needed_delta(one, two, epsilon) <= delta + 1e-12
        assert needed_delta(two, one, epsilon) <= delta + 1e-12


def test_known_numbers() -> None:
    """epsilon = 1, delta = 1e-4: b_9 = 0.47, b_10 = 0.81."""
    mechanism = OptimalDecision(epsilon=1, delta="1e-4")
    assert float(mechanism.beta(9, 1).mid()) == pytest.approx(0.47, abs=0.005)
    assert float(mechanism.beta(9, 0).mid()) == pytest.approx(0.81, abs=0.005)
    assert mechanism.beta(9, 10) == 0
    assert OptimalDecision(epsilon=1, delta="0.3").beta(30, 0) == 1


def test_guarantee() -> None:
    guarantee = OptimalDecision(epsilon="0.5", delta="0.01", max_conditions=3).guarantee
    assert (guarantee.epsilon, guarantee.delta) == (Fraction(3, 2), Fraction(3, 100))
    assert guarantee.neighbours is Neighbours.ADD_REMOVE
    assert guarantee.direction is Direction.DECREASING
    assert OptimalDecision(epsilon=1, delta=0, alpha="0.1").guarantee.direction is Direction.NEITHER


def test_draws_follow_the_climb_and_are_never_wrong() -> None:
    mechanism = OptimalDecision(epsilon=1, delta="0.01")
    counts = np.tile(np.arange(6), 20_000)
    decided = mechanism.release(counts, 4, entropy=simulated_entropy(9))
    assert decided.simulated
    assert not decided.values[counts > 4].any()
    for count in range(5):
        share = decided.values[counts == count].mean()
        assert share == pytest.approx(float(mechanism.beta(4, count).mid()), abs=0.02)


def test_thresholds_for_each_place() -> None:
    decided = OptimalDecision(epsilon=5, delta="0.5").release([0, 5, 9], [9, 4, 30])
    assert decided.values.tolist() == [True, False, True]


def test_the_papers_competitor_is_above_what_is_possible() -> None:
    """epsilon = 1, alpha = .01, k = 5: the formula gives 1, the optimum .833."""
    assert virtual_beta(steps=5, epsilon=1, alpha="0.01") == 1
    tight = OptimalDecision(epsilon=1, delta=0, alpha="0.01").beta(4, 0)
    assert float(tight.mid()) == pytest.approx(0.833, abs=5e-4)


def test_the_papers_competitor_is_its_inequality() -> None:
    """alpha e^(k eps) + delta (1 + e^eps + ... )."""
    value = 0.001 * math.exp(1.5) + 0.0001 * (1 + math.exp(0.5) + math.exp(1))
    assert float(virtual_beta(steps=3, epsilon="0.5", delta="1e-4", alpha="1e-3").mid()) == pytest.approx(
        value
    )
    assert virtual_beta(steps=0, epsilon=1, delta="0.1") == 0


@pytest.mark.parametrize(("epsilon", "delta", "alpha"), [*SETTINGS, (0.01, 0.3, 0.0), (3.0, 1e-100, 0.0)])
def test_the_closed_form_is_the_recursion(epsilon: float, delta: float, alpha: float) -> None:
    rate, slack, wrong = (exact.fraction(one) for one in (epsilon, delta, alpha))
    with precision(512):
        b = ball(wrong)
        for k in range(60):
            closed = climb(k, rate, slack, wrong)
            assert closed.overlaps(b)
            assert closed.rad() <= ball(Fraction(1, 2**300)) * closed.mid()
            b = (exp(rate) * b + ball(slack)).min(1 - exp(-rate) * (1 - b - ball(slack))).min(ball(1))


def test_a_threshold_may_be_as_large_as_it_likes() -> None:
    assert OptimalDecision(epsilon=1, delta="1e-6").beta(2**62, 0) == 1
    assert OptimalDecision(epsilon=1, delta=0, alpha="0.01").beta(2**62, 0) > ball(Fraction(999, 1000))
    assert OptimalDecision(epsilon=1, delta=0).beta(2**62, 0) == 0
    assert OptimalDecision(epsilon=1, delta="0.01").release([0, 5], [10**9, 4]).values.tolist() == [
        True,
        False,
    ]
