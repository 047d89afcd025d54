"""From z to a state: certain where it says so, wrong with at most alpha elsewhere, optimal with the coin."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from safeside.decisions.sanitizers import (
    beta_at_least,
    boundary,
    boundary_coins,
    decide,
    decide_by_law,
    decide_sparse,
    margin,
)
from safeside.decisions.states import State
from safeside.exact import PMF_BITS, ball, evaluate, exp, precision
from safeside.mechanisms import AGeo, OptimalDecision, PaddedGeo, SAGeo, SALap, SparseVector
from safeside.noise.entropy import simulated_entropy, system_entropy
from safeside.privacy.guarantee import Direction


@pytest.mark.parametrize("rate", ["1", "0.1", "1/3", "7"])
@pytest.mark.parametrize("alpha", ["0.5", "0.001", "1e-9"])
def test_the_margin_is_the_least(rate: str, alpha: str) -> None:
    m = margin(rate, alpha)
    assert m is not None
    pace, error = Fraction(rate), ball(Fraction(alpha))
    assert evaluate(lambda: exp(-pace * m)) <= error
    assert m == 1 or evaluate(lambda: exp(-pace * (m - 1))) > error


def test_no_margin_without_an_error() -> None:
    assert margin(1, 0) is None
    assert margin(1, None) is None
    assert margin(1, "0.99") == 1


def test_three_states_from_one_release() -> None:
    """m = 7 at epsilon = 1 and alpha = 0.001."""
    z = np.arange(0, 20)
    states = decide(z, 5, 1, "0.001")
    assert (states[z <= 5] == State.AT_MOST).all()
    assert (states[(z > 5) & (z < 12)] == State.UNCLEAR).all()
    assert (states[z >= 12] == State.AT_LEAST).all()
    assert (decide(z, 5, 1)[z > 5] == State.UNCLEAR).all()


def test_thresholds_for_each_place() -> None:
    assert decide([3, 3, 3], [2, 3, 9], 1, "0.5").tolist() == ["at_least", "at_most", "at_most"]


def test_a_public_number_of_people_decides_by_itself() -> None:
    assert decide([90, 90], [7, 6], 1, "0.001", people=7).tolist() == ["at_most", "at_least"]


def test_increasing_counts_turn_round() -> None:
    """AT_LEAST where z >= t+1, certain; AT_MOST where z <= t+1-m."""
    z = np.arange(-9, 9)
    states = decide(z, 3, 1, "0.05", direction=Direction.INCREASING)
    assert (states[z >= 4] == State.AT_LEAST).all()
    assert (states[z <= 1] == State.AT_MOST).all()
    assert (states[(z > 1) & (z < 4)] == State.UNCLEAR).all()


@pytest.mark.parametrize("alpha", ["0.2", "0.01"])
def test_states_are_as_often_as_the_betas_say(alpha: str) -> None:
    """Summed over z for every true count, with and without the coin."""
    mechanism, t, reach = AGeo(epsilon="0.8"), 3, 80
    heads = boundary("0.8", alpha)
    assert heads is not None
    p = float(evaluate(heads).mid())
    for count in range(9):
        z = np.arange(count, count + reach)
        masses = np.array([float(mechanism.pmf(int(one), count).mid()) for one in z])
        plain = decide(z, t, "0.8", alpha)
        coined = decide(z, t, "0.8", alpha, coins=np.ones(reach, dtype=bool))
        most = masses[plain == State.AT_MOST].sum()
        least = masses[plain == State.AT_LEAST].sum()
        mixed = (1 - p) * least + p * masses[coined == State.AT_LEAST].sum()
        assert most == pytest.approx(float(mechanism.beta(t, count).mid()), abs=1e-9)
        assert least == pytest.approx(float(beta_at_least(t, count, "0.8", alpha).mid()), abs=1e-9)
        assert mixed == pytest.approx(float(beta_at_least(t, count, "0.8", alpha, coin=True).mid()), abs=1e-9)
        if count <= t:
            assert mixed <= float(alpha) + 1e-12
        else:
            assert most == 0


@pytest.mark.parametrize(("epsilon", "alpha"), [(0.8, 0.2), (0.8, 0.01), (2.0, 0.05), (0.1, 0.001)])
def test_the_coin_makes_at_least_optimal(epsilon: float, alpha: float) -> None:
    """min(1, alpha e^(k epsilon)) is the linear program's optimum, and with the coin AGeo is there."""
    people, t = 9, 4
    for count in range(t + 1, people + 1):
        rows, limits = [], []
        for f in range(people):
            row = np.zeros(people + 1)
            row[f + 1], row[f] = 1, -math.exp(epsilon)
            rows += [row, -row]
            limits += [0.0, math.exp(epsilon) - 1]
        goal = np.zeros(people + 1)
        goal[count] = -1
        box = [(0, 1) if f > t else (0, alpha) for f in range(people + 1)]
        best = -linprog(goal, np.array(rows), limits, bounds=box).fun
        assert best == pytest.approx(min(1, alpha * math.exp(epsilon * (count - t))), abs=1e-8)
        assert float(beta_at_least(t, count, epsilon, alpha, coin=True).mid()) == pytest.approx(
            best, abs=1e-8
        )
        assert float(beta_at_least(t, count, epsilon, alpha).mid()) <= best + 1e-12


def test_the_coin_is_drawn_once_and_has_its_probability() -> None:
    coins = boundary_coins(40_000, "0.8", "0.01", simulated_entropy(3))
    heads = boundary("0.8", "0.01")
    assert heads is not None
    assert coins.mean() == pytest.approx(float(evaluate(heads).mid()), abs=0.02)
    assert boundary(3, "0.5") is None
    assert not boundary_coins(10, 3, "0.5", system_entropy()).any()


def test_padded_counts_use_their_own_law() -> None:
    mechanism = PaddedGeo(epsilon=1, delta="0.001")
    m = mechanism.law.margin_up(Fraction(1, 20))
    z = np.arange(0, 40)
    states = decide_by_law(z, 5, mechanism.law, "0.05")
    assert (states[z <= 5] == State.AT_MOST).all()
    assert (states[z >= 5 + m] == State.AT_LEAST).all()
    certain = decide_by_law(z, 5, mechanism.law)
    assert (certain[z >= 6 + 2 * mechanism.pad] == State.AT_LEAST).all()
    assert (certain[(z > 5) & (z < 6 + 2 * mechanism.pad)] == State.UNCLEAR).all()


@pytest.mark.parametrize("mechanism", [SAGeo(epsilon_each=1, alarms=2), SALap(epsilon_each=1, alarms=2)])
def test_sparse_answers_become_states(mechanism: SAGeo | SALap) -> None:
    """Quiet, an alarm far above, an alarm, and what was not reached."""
    sparse = mechanism.release([0, 900, 45, 7], [40, 20, 44, 3])
    states = decide_sparse(sparse, 1, "0.001").tolist()
    assert states[:2] == [State.AT_MOST, State.AT_LEAST]
    assert states[2] in {State.UNCLEAR, State.AT_LEAST}
    assert states[3] == State.NOT_ASKED
    assert decide_sparse(sparse, 1).tolist()[1] == State.UNCLEAR


@pytest.mark.parametrize("grid", ["1", "1/16"])
def test_sparse_at_least_errs_with_at_most_alpha_for_each_query_asked(grid: str) -> None:
    """Pr[AT_LEAST | asked] at f = t, by enumeration of one query."""
    mechanism = SALap(epsilon_each=1, grid=grid)
    steps = mechanism.steps
    m = margin(Fraction(1, steps), "0.05")
    law = mechanism.distribution([2], [2], 30)
    wrong = 0.0
    with precision(PMF_BITS):
        for (said,), mass in law.items():
            alarm = said.alarm
            if alarm is not None and (not hasattr(alarm, "numerator") or alarm * steps >= 2 * steps + m):
                wrong += float(mass.mid())
    assert 0.02 < wrong <= 0.05


def test_quiet_is_read_at_the_threshold_it_was_released_with() -> None:
    """A release carries its thresholds: there is no way to read "at most 1" from a quiet "at most 40"."""
    sparse = SAGeo(epsilon_each=1).release([3, 3], [40, 50])
    assert sparse.at_most.tolist() == [40, 50]
    assert decide_sparse(sparse, 1).tolist() == [State.AT_MOST, State.AT_MOST]


def test_a_release_keeps_its_thresholds_when_the_callers_change() -> None:
    limits = np.array([40, 50])
    released = [
        SAGeo(epsilon_each=1).release([3, 3], limits),
        SparseVector(epsilon=1).release([3, 3], limits),
        OptimalDecision(epsilon=1, delta="0.01").release([3, 3], limits),
    ]
    limits[:] = 1
    assert all(one.at_most.tolist() == [40, 50] for one in released)


def test_coins_do_nothing_where_the_margin_is_1() -> None:
    assert margin(3, "0.5") == 1
    assert decide([6, 5], 5, 3, "0.5", coins=np.ones(2, dtype=np.bool_)).tolist() == ["at_least", "at_most"]


@pytest.mark.parametrize("grid", ["1", "1/16"])
def test_a_sparse_alarm_is_at_least_from_the_margin_on(grid: str) -> None:
    """The margin is counted in steps of the grid: m least with e^(-m rate / steps) <= alpha."""
    steps = SALap(epsilon_each=1, grid=grid).steps
    m = math.ceil(math.log(20) * steps)
    alarms = SALap(epsilon_each=1, alarms=9, grid=grid).release([3, 3], 2)
    at = replace(alarms, values=np.array([2 * steps + m - 1, 2 * steps + m]))
    far = SALap(epsilon_each=1, alarms=9, grid="1/1024").release([300, 300], [200, 255])
    assert decide_sparse(far, 1, "0.05").tolist() == [State.AT_LEAST, State.AT_LEAST]
    assert decide_sparse(at, 1, "0.05").tolist() == [State.UNCLEAR, State.AT_LEAST]
