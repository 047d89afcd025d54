"""ALap and Laplace on a grid: privacy by enumeration over exact values, bounds and betas by summation."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from tests.mechanisms.worlds import log_ratio, together

from safeside.mechanisms import ALap, Laplace
from safeside.mechanisms.published import Tail
from safeside.noise.entropy import simulated_entropy
from safeside.privacy.guarantee import Direction

THIRDS = [Fraction(i, 3) for i in range(7)]
HORIZON = 24


@pytest.mark.parametrize("grid", ["1", "1/2", "1/4"])
def test_alap_enumerated(grid: str) -> None:
    """Values off the grid, two coordinates: never more than epsilon, whatever rounding adds."""
    mechanism = ALap(epsilon="0.8", sensitivity=1, grid=grid, coordinates=2)
    laws = {f: mechanism.distribution(f, HORIZON) for f in THIRDS}
    worst = 0.0
    for first, second in itertools.product(itertools.product(THIRDS, repeat=2), repeat=2):
        drops = [a - b for a, b in zip(first, second, strict=True)]
        if min(drops) >= 0 and sum(drops) <= 1:
            worst = max(worst, sum(log_ratio(laws[a], laws[b]) for a, b in zip(first, second, strict=True)))
    assert worst <= 0.8 + 1e-9
    assert worst > 0.4


def test_alap_enumerated_attains_the_widened_sensitivity() -> None:
    """Three coordinates that move by 1/3 each can cross three steps of the grid: D = 1 + 3 - 1."""
    mechanism = ALap(epsilon=1, sensitivity=1, grid=1, coordinates=3)
    one, zero = mechanism.distribution(Fraction(1, 3), 4), mechanism.distribution(0, 4)
    assert log_ratio(together([one] * 3), together([zero] * 3)) == pytest.approx(1, abs=1e-9)
    assert mechanism.rate == Fraction(1, 3)


def test_on_the_grid_nothing_is_widened() -> None:
    assert ALap(epsilon=1, grid="1/4", coordinates=5, multiple_of=1).rate == Fraction(1, 4)
    assert ALap(epsilon=1, grid=2, coordinates=5, multiple_of=1).rate == Fraction(1, 5)
    assert ALap(epsilon=1, grid="1/4", coordinates=5).rate == Fraction(1, 8)
    assert Laplace(epsilon=1, sensitivity="1/2", grid="1/4", multiple_of="1/4").rate == Fraction(1, 2)


def test_alap_with_the_papers_sign_is_not_private() -> None:
    """Noise that goes down for a decreasing query shows the larger dataset."""
    paper = ALap(epsilon=1, direction=Direction.INCREASING)
    assert log_ratio(paper.distribution(1, 4), paper.distribution(0, 4)) == math.inf


def test_laplace_enumerated() -> None:
    mechanism = Laplace(epsilon="0.6", sensitivity=1, grid="1/2")
    laws = {f: mechanism.distribution(f, HORIZON) for f in THIRDS}
    pairs = [(a, b) for a, b in itertools.product(THIRDS, repeat=2) if abs(a - b) <= 1]
    assert max(log_ratio(laws[a], laws[b]) for a, b in pairs) <= 0.6 + 1e-9
    whole = Laplace(epsilon="0.6", sensitivity=1, grid="1/2", multiple_of=1)
    assert log_ratio(whole.distribution(2, 9), whole.distribution(1, 9)) == pytest.approx(0.6, abs=1e-9)


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize("value", [Fraction(7, 3), Fraction(-5, 3), 2])
def test_intervals_hold_the_value(direction: Direction, value: Fraction) -> None:
    mechanism = ALap(epsilon=1, grid="1/2", direction=direction)
    held = 0.0
    for z, mass in mechanism.distribution(value, 60).items():
        if isinstance(z, Tail):
            continue
        low, high = mechanism.interval(z, "0.9")
        if direction is Direction.DECREASING:
            assert value <= z
            assert mechanism.upper_bound(z) == z
        if direction is Direction.INCREASING:
            assert value >= z
        held += float(mass.mid()) if low <= value <= high else 0.0
    assert held >= 0.9


@pytest.mark.parametrize("value", [Fraction(4, 3), Fraction(5, 3), Fraction(-4, 3)])
def test_two_sided_intervals_reach_what_rounding_moved(value: Fraction) -> None:
    """Without noise to speak of the interval is half a step to either side of the value rounded."""
    mechanism = Laplace(epsilon=100, sensitivity=1, grid="1/2")
    low, high = mechanism.interval(mechanism.rounded(value) * mechanism.step, "0.9")
    assert low <= value <= high
    assert high - low == mechanism.step


def test_a_count_on_a_fine_grid_decides_below_the_next_person() -> None:
    """z < t+1 gives 1 - e^(-eps (t+1-f)); z <= t would give one step of noise more than t - f."""
    mechanism = ALap(epsilon=1, grid="1/8", multiple_of=1)
    assert float(mechanism.beta(3, 1).mid()) == pytest.approx(1 - math.exp(-3))
    assert mechanism.says_at_most(Fraction(31, 8), 3)
    assert not mechanism.says_at_most(4, 3)
    assert mechanism.beta(3, 4) == 0
    summed = sum(
        float(mass.mid())
        for z, mass in mechanism.distribution(1, 200).items()
        if not isinstance(z, Tail) and mechanism.says_at_most(z, 3)
    )
    assert float(mechanism.beta(3, 1).mid()) == pytest.approx(summed)


def test_a_value_that_is_no_count_decides_at_t() -> None:
    mechanism = ALap(epsilon=1, grid="1/4")
    assert mechanism.says_at_most(3, 3)
    assert not mechanism.says_at_most(Fraction(13, 4), 3)
    assert mechanism.alpha == 0
    assert Laplace(epsilon=1).alpha is None
    assert Laplace(epsilon=1).beta(5, 0) == 0
    assert Laplace(epsilon=1).upper_bound(5) is None


def test_release_is_on_the_grid_and_never_below() -> None:
    mechanism = ALap(epsilon=1, grid="1/4")
    values = [Fraction(1, 3), Decimal("2.5"), 7, -Fraction(22, 7)]
    noisy = mechanism.release(values, entropy=simulated_entropy(2))
    assert noisy.step == Fraction(1, 4)
    assert noisy.simulated
    for true, shown in zip(values, noisy.exact(), strict=True):
        assert shown >= Fraction(true)
        assert (4 * shown).denominator == 1
    assert mechanism.release(np.array([1, 2])).values.size == 2


def test_moments_and_pmf() -> None:
    mechanism = ALap(epsilon=1, grid="1/2", multiple_of=1)
    law = {z: float(m.mid()) for z, m in mechanism.distribution(0, 200).items() if not isinstance(z, Tail)}
    mean = sum(float(z) * p for z, p in law.items())
    assert float(mechanism.bias.mid()) == pytest.approx(mean)
    spread = sum(float(z) ** 2 * p for z, p in law.items()) - mean**2
    assert float(mechanism.variance.mid()) == pytest.approx(spread)
    assert mechanism.pmf(Fraction(1, 3), 0) == 0
    assert float(mechanism.pmf(1, 0).mid()) == pytest.approx(law[Fraction(1)])
