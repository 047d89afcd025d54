"""PaddedGeo: (epsilon, delta)-DP by enumeration, the pad least, both bounds certain."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.mechanisms.worlds import needed_delta, together

from safeside.exact import PMF_BITS, Ball, ball, precision
from safeside.mechanisms import PaddedGeo
from safeside.mechanisms.laws import Padded
from safeside.noise.entropy import simulated_entropy
from safeside.privacy.guarantee import Neighbours


def law(mechanism: PaddedGeo, count: int) -> dict[int, Ball]:
    return {count + j: mechanism.pmf(count + j, count) for j in range(2 * mechanism.pad + 1)}


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("1", "0.01"), ("0.5", "0.001"), ("2", "1e-6"), ("0.1", "0.2")]
)
def test_padded_enumerated(epsilon: str, delta: str) -> None:
    """One person added or removed: delta is enough, and one unit of pad less would not be."""
    mechanism = PaddedGeo(epsilon=epsilon, delta=delta)
    for first, second in [(3, 4), (4, 3)]:
        assert (
            needed_delta(law(mechanism, first), law(mechanism, second), float(epsilon))
            <= float(delta) + 1e-15
        )
    less = Padded(mechanism.rate, mechanism.pad - 1)
    with precision(PMF_BITS):
        assert less.exactly(0) > ball(Fraction(delta))


def test_padded_enumerated_for_two_counts() -> None:
    """max_conditions = 2: both double."""
    mechanism = PaddedGeo(epsilon=1, delta="0.05", max_conditions=2)
    laws = [together([law(mechanism, f)] * 2) for f in (1, 2)]
    needed = max(needed_delta(laws[0], laws[1], 2), needed_delta(laws[1], laws[0], 2))
    single = float(mechanism.pmf(1, 1).mid())
    assert single < needed <= 0.1
    guarantee = mechanism.guarantee
    assert (guarantee.epsilon, guarantee.delta) == (2, Fraction(1, 10))
    assert guarantee.neighbours is Neighbours.ADD_REMOVE


def test_the_law_is_that_of_the_proof_page() -> None:
    mechanism = PaddedGeo(epsilon=1, delta="1e-4")
    pad = mechanism.pad
    weights = [math.exp(-abs(j - pad)) for j in range(2 * pad + 1)]
    for j, weight in enumerate(weights):
        assert float(mechanism.pmf(5 + j, 5).mid()) == pytest.approx(weight / sum(weights))
    assert mechanism.pmf(4, 5) == 0
    assert mechanism.pmf(5 + 2 * pad + 1, 5) == 0


@pytest.mark.parametrize(("rate", "pad"), [(Fraction(1, 3), 4), (Fraction(2), 1), (Fraction(1, 100), 50)])
def test_closed_forms(rate: Fraction, pad: int) -> None:
    noise = Padded(rate, pad)
    masses = [float(noise.exactly(j).mid()) for j in range(2 * pad + 1)]
    assert sum(masses) == pytest.approx(1)
    for k in range(-1, 2 * pad + 3):
        assert float(noise.at_most(k).mid()) == pytest.approx(sum(masses[: max(0, k + 1)]), abs=1e-12)
        assert float(noise.at_least(k).mid()) == pytest.approx(sum(masses[max(0, k) :]), abs=1e-12)
    spread = sum((j - pad) ** 2 * p for j, p in enumerate(masses))
    assert float(noise.variance().mid()) == pytest.approx(spread)
    assert noise.mean() == pad


def test_both_bounds_are_certain_and_the_estimate_unbiased() -> None:
    mechanism = PaddedGeo(epsilon=1, delta="0.001")
    for count in (0, 1):
        around = np.array(list(law(mechanism, count)))
        weights = np.array([float(mechanism.pmf(int(z), count).mid()) for z in around])
        assert weights @ mechanism.estimate(around) == pytest.approx(count, abs=1e-12)
    outputs = np.array(list(law(mechanism, 7)))
    assert (mechanism.upper_bound(outputs) >= 7).all()
    assert (mechanism.lower_bound(outputs) <= 7).all()
    assert mechanism.lower_bound(2 * mechanism.pad + 3) == 3
    masses = np.array([float(mechanism.pmf(int(z), 7).mid()) for z in outputs])
    assert masses @ mechanism.estimate(outputs) == pytest.approx(7)
    low, high = mechanism.interval(outputs, "0.9")
    assert masses[(low <= 7) & (high >= 7)].sum() >= 0.9


def test_at_least_has_its_own_margin() -> None:
    """m is least with Pr[H >= m] <= alpha; at alpha = 0 it is 2 pad + 1, and then certain."""
    mechanism = PaddedGeo(epsilon=1, delta="0.001")
    noise = mechanism.law
    m = noise.margin_up(Fraction(1, 20))
    assert noise.at_least(m) <= ball(Fraction(1, 20)) < noise.at_least(m - 1)
    assert noise.margin_up(Fraction(0)) == 2 * mechanism.pad + 1
    assert mechanism.beta_at_least(4, 4) == 0
    assert mechanism.beta_at_least(4, 5 + 2 * mechanism.pad) == 1


def test_beta_needs_a_generous_threshold() -> None:
    mechanism = PaddedGeo(epsilon=1, delta="1e-4")
    assert mechanism.beta(4, 5) == 0
    assert mechanism.beta(0, 0) <= ball(Fraction(1, 10_000))
    assert mechanism.beta(2 * mechanism.pad, 0) == 1
    assert 0.5 < mechanism.beta(mechanism.pad, 0) < 1


def test_draws_follow_the_law() -> None:
    mechanism = PaddedGeo(epsilon="0.5", delta="0.01")
    number = 200_000
    noisy = mechanism.release(np.full(number, 3), entropy=simulated_entropy(7)).values
    assert noisy.min() >= 3
    assert noisy.max() <= 3 + 2 * mechanism.pad
    for z in range(3, 4 + 2 * mechanism.pad):
        p = float(mechanism.pmf(z, 3).mid())
        assert abs((noisy == z).mean() - p) <= 6 * math.sqrt(p / number)


def test_small_epsilon_and_delta_are_within_reach() -> None:
    """A pad of millions is found by bisection and drawn without a table of its size."""
    mechanism = PaddedGeo(epsilon="0.00001", delta="1e-9")
    assert mechanism.pad > 500_000
    assert (mechanism.release([0] * 100).values >= 0).all()
