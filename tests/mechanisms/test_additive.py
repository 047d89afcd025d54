"""AGeo and the two-sided geometric mechanism: privacy by enumeration, every formula by summation."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.mechanisms.worlds import erasing, needed, records, replacing, together, visits

from safeside.errors import PrivacyError
from safeside.exact import PMF_BITS, ball, precision
from safeside.mechanisms import AGeo, TwoSidedGeometric
from safeside.mechanisms.additive import Additive
from safeside.mechanisms.published import Tail
from safeside.noise.entropy import simulated_entropy
from safeside.privacy.guarantee import Direction, Neighbours
from safeside.privacy.policy import Policy

DIRECTIONS = list(Direction)
HORIZON = 5


def mass_where(mechanism: Additive, count: int, holds, reach: int = 400) -> float:
    """Pr[holds(z)] by summation over every z within reach."""
    return sum(float(mechanism.pmf(z, count).mid()) for z in range(count - reach, count + reach) if holds(z))


@pytest.mark.parametrize(("targets", "most"), [(1, 1), (2, 1), (2, 2), (3, 1)])
def test_ageo_enumerated(targets: int, most: int) -> None:
    """Every ordered neighbour of two people: exactly epsilon is needed, and no more."""
    mechanism = AGeo(epsilon="0.7", sensitivity=most)
    measured = needed(
        erasing(records(targets, most), 2),
        lambda X: together([mechanism.distribution(f, HORIZON) for f in visits(X, targets)]),
    )
    assert measured == pytest.approx(0.7, abs=1e-9)


def test_ageo_enumerated_increasing() -> None:
    """ "Visited none" is increasing: noise goes down, and up it would show everything."""
    law = AGeo(epsilon=1, direction=Direction.INCREASING)
    wrong = AGeo(epsilon=1, direction=Direction.DECREASING)
    pairs = list(erasing(records(2), 2))
    none = {X: sum(not record for record in X) for pair in pairs for X in pair}
    assert needed(pairs, lambda X: law.distribution(none[X], HORIZON)) == pytest.approx(1, abs=1e-9)
    assert needed(pairs, lambda X: wrong.distribution(none[X], HORIZON)) == math.inf


def test_ageo_enumerated_neither() -> None:
    """ "Exactly one" moves both ways: two-sided noise holds, one-sided noise does not."""
    pairs = list(erasing(records(2), 2))
    one = {X: sum(len(record) == 1 for record in X) for pair in pairs for X in pair}
    both = AGeo(epsilon=1, direction=Direction.NEITHER)
    assert needed(pairs, lambda X: both.distribution(one[X], HORIZON)) == pytest.approx(1, abs=1e-9)
    for direction in (Direction.DECREASING, Direction.INCREASING):
        law = AGeo(epsilon=1, direction=direction)
        assert needed(pairs, lambda X, law=law: law.distribution(one[X], HORIZON)) == math.inf


def test_geometric_enumerated() -> None:
    """A move changes two counts: under replacement the sensitivity of disjoint places is 2."""
    pairs = list(replacing(records(2, 1), 2))
    for sensitivity, expected in ((2, 1), (1, 2)):
        mechanism = TwoSidedGeometric(epsilon=1, sensitivity=sensitivity)
        measured = needed(
            pairs, lambda X, m=mechanism: together([m.distribution(f, HORIZON) for f in visits(X, 2)])
        )
        assert measured == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("count", [0, 2, 5])
def test_distribution_sums_to_one(direction: Direction, count: int) -> None:
    mechanism = AGeo(epsilon="0.3", direction=direction)
    law = mechanism.distribution(count, 5)
    with precision(PMF_BITS):
        total = sum(law.values(), start=ball(0))
    assert total.contains(1)
    assert total.rad() < 1e-60
    for output, mass in law.items():
        if not isinstance(output, Tail):
            assert mass.overlaps(mechanism.pmf(output, count))


def test_the_pmf_is_that_of_the_proof_page() -> None:
    r = math.exp(-0.5)
    up = AGeo(epsilon=1, sensitivity=2)
    down = AGeo(epsilon=1, sensitivity=2, direction=Direction.INCREASING)
    both = TwoSidedGeometric(epsilon=1, sensitivity=2)
    for k in range(5):
        assert float(up.pmf(3 + k, 3).mid()) == pytest.approx((1 - r) * r**k)
        assert float(down.pmf(3 - k, 3).mid()) == pytest.approx((1 - r) * r**k)
        assert float(both.pmf(3 + k, 3).mid()) == pytest.approx((1 - r) / (1 + r) * r**k)
    assert up.pmf(2, 3) == 0
    assert down.pmf(4, 3) == 0


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_bias_and_variance(direction: Direction) -> None:
    mechanism = AGeo(epsilon="0.4", direction=direction)
    outputs = range(-300, 320)
    masses = [float(mechanism.pmf(z, 10).mid()) for z in outputs]
    mean = sum(z * p for z, p in zip(outputs, masses, strict=True))
    spread = sum((z - mean) ** 2 * p for z, p in zip(outputs, masses, strict=True))
    assert float(mechanism.bias.mid()) == pytest.approx(mean - 10, abs=1e-9)
    assert float(mechanism.variance.mid()) == pytest.approx(spread, rel=1e-9)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("people", [None, 3, 12])
def test_estimate_is_unbiased(direction: Direction, people: int | None) -> None:
    """Also where z passes a public bound and the estimate is the bound itself."""
    mechanism = AGeo(epsilon="0.4", direction=direction, people=people)
    outputs = np.arange(-400, 420)
    for count in (0, 1, 3):
        masses = np.array([float(mechanism.pmf(int(z), count).mid()) for z in outputs])
        assert masses @ mechanism.estimate(outputs) == pytest.approx(count, abs=1e-9)


def test_estimate_at_the_public_bounds() -> None:
    assert AGeo(epsilon=1, people=7).estimate([6, 7, 9])[1:].tolist() == [7.0, 7.0]
    down = AGeo(epsilon=1, direction=Direction.INCREASING)
    assert down.estimate([-3, 0]).tolist() == [0.0, 0.0]
    r = math.exp(-1)
    assert float(down.estimate(2)) == pytest.approx(2 + r / (1 - r))
    assert float(AGeo(epsilon=1).estimate(2)) == pytest.approx(2 - r / (1 - r))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("people", [None, 6])
@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.999"])
def test_interval_covers(direction: Direction, people: int | None, confidence: str) -> None:
    mechanism = AGeo(epsilon="0.8", direction=direction, people=people)

    def covers(z: int, count: int) -> bool:
        low, high = mechanism.interval(z, confidence)
        return bool(0 <= low <= count <= high) and (people is None or bool(high <= people))

    for count in (0, 1, 6):
        assert mass_where(mechanism, count, lambda z, f=count: covers(z, f), reach=60) >= float(confidence)


def test_bounds_are_those_of_the_proof_page() -> None:
    """m = 3 at epsilon = 1 and 95 %: e^-3 = 0.0498."""
    up = AGeo(epsilon=1)
    assert [side.tolist() for side in up.interval([0, 2, 9], "0.95")] == [[0, 0, 7], [0, 2, 9]]
    assert up.upper_bound([0, 4]).tolist() == [0, 4]
    assert up.lower_bound(3) is None
    known = AGeo(epsilon=1, people=5)
    assert [side.tolist() for side in known.interval([4, 9], "0.95")] == [[2, 3], [4, 5]]
    assert known.upper_bound([4, 9]).tolist() == [4, 5]
    down = AGeo(epsilon=1, direction=Direction.INCREASING, people=8)
    assert down.lower_bound([-4, 3]).tolist() == [0, 3]
    assert [side.tolist() for side in down.interval([-4, 3, 7], "0.95")] == [[0, 3, 7], [2, 5, 8]]
    assert down.upper_bound(3) is None
    both = TwoSidedGeometric(epsilon=1)
    assert both.upper_bound(3) is None
    assert both.lower_bound(3) is None


def test_beta_at_most() -> None:
    """1 - r^(t+1-f) for AGeo; 0 where it would be wrong; 1 where a public number makes it true."""
    mechanism = AGeo(epsilon=1, sensitivity=2)
    for count in range(6):
        expected = 1 - math.exp(-(6 - count) / 2)
        assert float(mechanism.beta(5, count).mid()) == pytest.approx(expected)
    assert mechanism.beta(5, 6) == 0
    assert AGeo(epsilon=1, people=5).beta(5, 5) == 1
    assert AGeo(epsilon=1, people=5).beta_at_least(5, 5) == 0
    assert float(AGeo(epsilon=1, people=6).beta(5, 5).mid()) == pytest.approx(1 - math.exp(-1))
    assert mechanism.alpha == 0
    assert TwoSidedGeometric(epsilon=1).alpha is None


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("alpha", ["0.3", "0.01"])
def test_wrong_answers_are_at_most_alpha_and_beta_is_exact(direction: Direction, alpha: str) -> None:
    """Both answers of every direction, summed over z by the rule of docs/proofs/ageo.md."""
    mechanism = AGeo(epsilon="0.9", direction=direction)
    t = 3
    for count in range(8):
        most, least = (
            float(mechanism.beta(t, count, alpha).mid()),
            float(mechanism.beta_at_least(t, count, alpha).mid()),
        )
        assert 0 <= most <= 1
        assert 0 <= least <= 1
        if count > t:
            assert most <= float(alpha)
        else:
            assert least <= float(alpha)
    margin = 1 if direction is Direction.DECREASING else mechanism.law.margin_down(Fraction(alpha))
    summed = mass_where(mechanism, 2, lambda z: z <= t + 1 - margin)
    assert float(mechanism.beta(t, 2, alpha).mid()) == pytest.approx(summed, abs=1e-9)


def test_increasing_counts_are_spelled_out() -> None:
    """AT_LEAST t+1 is certain where z >= t+1; AT_MOST t needs z <= t+1-m and errs with at most alpha."""
    mechanism = AGeo(epsilon=1, direction=Direction.INCREASING)
    assert float(mechanism.beta_at_least(4, 7).mid()) == pytest.approx(1 - math.exp(-3))
    assert mechanism.beta_at_least(4, 4) == 0
    assert mechanism.beta(4, 0) == 0
    assert float(mechanism.beta(4, 5, "0.05").mid()) == pytest.approx(math.exp(-3))
    assert float(mechanism.beta(4, 3, "0.05").mid()) == pytest.approx(math.exp(-1))


def test_release_marks_what_it_is() -> None:
    mechanism = AGeo(epsilon=1, policy=Policy.not_visited(["a"], "May"))
    seeded = mechanism.release([0, 5], entropy=simulated_entropy(3))
    assert seeded.simulated
    assert seeded.values.tolist() == mechanism.release([0, 5], entropy=simulated_entropy(3)).values.tolist()
    real = mechanism.release(np.array([0, 5], dtype=np.uint8))
    assert not real.simulated
    assert real.values.dtype == np.int64
    assert real.guarantee.policy == Policy.not_visited(["a"], "May")
    assert real.guarantee.direction is Direction.DECREASING
    assert real.exact() == tuple(Fraction(int(value)) for value in real.values)
    plain = TwoSidedGeometric(epsilon=1, neighbours=Neighbours.ADD_REMOVE).guarantee
    assert len(plain.policy) == 0
    assert plain.neighbours is Neighbours.ADD_REMOVE


def test_counts_are_published_untruncated() -> None:
    """A public number bounds what is said, never what is published."""
    values = AGeo(epsilon="0.01", people=3).release([3] * 1000).values
    assert values.max() > 3


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_draws_follow_the_law(direction: Direction) -> None:
    """Shares of a million seeded draws lie within six deviations of the law."""
    mechanism = AGeo(epsilon=1, direction=direction)
    number = 1_000_000
    values = mechanism.release(np.full(number, 4), entropy=simulated_entropy(11)).values
    for z in range(1, 8):
        p = float(mechanism.pmf(z, 4).mid())
        deviation = math.sqrt(p * (1 - p) / number)
        assert abs(np.count_nonzero(values == z) / number - p) <= 6 * deviation


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_direction_may_be_given_by_its_text(direction: Direction) -> None:
    """Read as two-sided, "decreasing" would let z fall below the truth while nobody is told."""
    assert AGeo(epsilon=1, direction=str(direction)).law == AGeo(epsilon=1, direction=direction).law
    with pytest.raises(PrivacyError, match="direction is 'Decreasing'"):
        AGeo(epsilon=1, direction="Decreasing").release([1])


def test_noise_on_both_sides_is_never_certain() -> None:
    mechanism = TwoSidedGeometric(epsilon=1)
    assert mechanism.beta(5, 0, alpha=0) == 0
    assert mechanism.beta_at_least(5, 90, alpha=0) == 0


def test_ageo_says_at_least_only_with_an_error_rate() -> None:
    assert AGeo(epsilon=1).beta_at_least(5, 90, alpha=0) == 0
    assert AGeo(epsilon=1).beta_at_least(5, 90, alpha="0.01") == 1
