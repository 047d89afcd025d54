"""docs/proofs/bounds.md: the bounds agree with each other, with corrected numbers and with the definition."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from safeside.decisions.bounds import (
    adp_at_least,
    adp_at_most,
    approximate_dp,
    dp,
    needed_delta,
    needed_epsilon_adp,
    needed_epsilon_dp,
    smallest_epsilon,
)
from safeside.decisions.onesided import sanitizer
from safeside.errors import BadNumber
from safeside.exact import ball
from safeside.mechanisms import AGeo, Mangat, TwoSidedGeometric
from safeside.mechanisms.published import Tail


def test_needed_epsilon_under_dp() -> None:
    """k = 1, alpha = 1e-4, beta = 1/2: 8.52, where the paper says 8.4."""
    assert float(needed_epsilon_dp(steps=1, alpha="1e-4", beta="0.5").mid()) == pytest.approx(8.52, abs=0.005)
    assert needed_epsilon_dp(steps=1, alpha="0.5", beta="0.5") == 0


@pytest.mark.parametrize(("steps", "delta"), [(3, 0.045), (6, 0.0021), (10, 3.9e-5)])
def test_needed_delta(steps: int, delta: float) -> None:
    """beta = 1/2, epsilon = 1: where the paper says 0.12."""
    value = needed_delta(steps=steps, epsilon=1, beta="0.5")
    assert float(value.mid()) == pytest.approx(delta, rel=0.02)


@pytest.mark.parametrize("steps", [1, 3, 6, 10])
def test_the_needed_delta_is_enough_for_a_half(steps: int) -> None:
    """Where the complement's inequality does not bind, the calculator's delta gives exactly that beta."""
    delta = float(needed_delta(steps=steps, epsilon=1, beta="0.5").mid())
    assert float(approximate_dp(steps=steps, epsilon=1, delta=delta).mid()) == pytest.approx(0.5, abs=1e-9)


def test_needed_delta_counts_what_alpha_gives() -> None:
    assert needed_delta(steps=3, epsilon=1, beta="0.5", alpha="0.1") == 0
    assert needed_delta(steps=3, epsilon=1, beta="0.5", alpha="0.001") < needed_delta(
        steps=3, epsilon=1, beta="0.5"
    )


@pytest.mark.parametrize("alpha", ["0", "0.0001", "0.01", "0.4"])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_dp_by_closed_form_and_by_the_climb(alpha: str, epsilon: str) -> None:
    for steps in range(9):
        climbed = approximate_dp(steps=steps, epsilon=epsilon, delta=0, alpha=alpha)
        assert dp(steps=steps, epsilon=epsilon, alpha=alpha).overlaps(climbed)


def test_adp_is_above_dp_on_both_sides() -> None:
    """epsilon = 1, alpha = .01, k = 5: 1 against .833 for "at least"."""
    assert adp_at_least(steps=5, epsilon=1, alpha="0.01") == 1
    assert float(dp(steps=5, epsilon=1, alpha="0.01").mid()) == pytest.approx(0.833, abs=5e-4)
    for steps in range(1, 9):
        assert adp_at_most(steps=steps, epsilon=1, alpha="0.01") > dp(steps=steps, epsilon=1, alpha="0.01")


def test_ageo_reaches_the_adp_bound() -> None:
    for steps in range(1, 7):
        assert AGeo(epsilon="0.3").beta(6, 7 - steps).overlaps(adp_at_most(steps=steps, epsilon="0.3"))


def test_needed_epsilon_under_adp() -> None:
    """ln((1-a)/(1-b))/k, and the bound at that epsilon is beta again."""
    needed = needed_epsilon_adp(steps=3, beta="0.9", alpha="0.01")
    assert float(needed.mid()) == pytest.approx(math.log(0.99 / 0.1) / 3)
    again = adp_at_most(steps=3, epsilon=float(needed.mid()), alpha="0.01")
    assert float(again.mid()) == pytest.approx(0.9)
    assert needed_epsilon_adp(steps=3, beta="0.2", alpha="0.3") == 0


@pytest.mark.parametrize(("at_most", "count", "sensitivity"), [(5, 0, 1), (5, 5, 1), (3, 1, 4)])
@pytest.mark.parametrize("digits", [2, 6])
def test_the_smallest_epsilon_is_enough_and_one_digit_less_is_not(
    at_most: int, count: int, sensitivity: int, digits: int
) -> None:
    least = smallest_epsilon(at_most=at_most, beta="0.9", count=count, sensitivity=sensitivity, digits=digits)
    assert (least * 10**digits).denominator == 1
    wanted = ball(Fraction(9, 10))
    assert AGeo(epsilon=least / sensitivity).beta(at_most, count) >= wanted
    less = (least - Fraction(1, 10**digits)) / sensitivity
    assert AGeo(epsilon=less).beta(at_most, count) < wanted


def test_one_sided_by_definition() -> None:
    """AGeo of up to five people is (at most 2, 0, 1 - e^-(3-f))-one-sided, and not for more."""
    mechanism = AGeo(epsilon=1)
    laws = [mechanism.distribution(f, 5) for f in range(6)]
    for count in range(3):
        beta = 1 - math.exp(-(3 - count))
        says = sanitizer(laws[count], laws[3:], 0, round(beta - 1e-6, 9))
        assert says == frozenset(range(count, 3))
        assert sanitizer(laws[count], laws[3:], 0, round(beta + 1e-6, 9)) is None


def test_no_dp_mechanism_is_never_wrong_and_ever_right() -> None:
    """Under epsilon-DP every output is possible everywhere, so at alpha = 0 only silence is left."""
    mechanism = TwoSidedGeometric(epsilon=1)
    true, false = mechanism.distribution(0, 3), mechanism.distribution(1, 3)
    assert sanitizer(true, [false], 0, "0.000001") is None
    assert sanitizer(true, [false], "0.3", "0.7") is not None


def test_one_sanitizer_serves_every_false_dataset() -> None:
    """A set for each X' does not make one for all: the paper's order of quantifiers is too weak."""
    half = Fraction(1, 2)
    true = {"a": half, "b": half}
    false = [{"a": Fraction(1)}, {"b": Fraction(1)}]
    assert sanitizer(true, false[:1], 0, "0.5") == {"b"}
    assert sanitizer(true, false[1:], 0, "0.5") == {"a"}
    assert sanitizer(true, false, 0, "0.5") is None


def test_the_necessary_condition_holds_at_alpha_0() -> None:
    """Proposition III.1 as printed asks for 0 > beta Pr[...] at alpha = 0; yet Mangat's is one-sided."""
    mechanism = Mangat(epsilon=1)
    no, yes = mechanism.distribution(False), mechanism.distribution(True)
    assert sanitizer(no, [yes], 0, "0.63") == {False}
    assert not any(0 * no[z] > 63 * yes[z] for z in (True, False))


def test_too_many_outputs_are_refused() -> None:
    law = {z: Fraction(1, 30) for z in range(30)}
    with pytest.raises(BadNumber):
        sanitizer(law, [law], "0.1", "0.5")


def test_tails_are_outputs_like_any_other() -> None:
    law = AGeo(epsilon=1).distribution(0, 1)
    assert sanitizer(law, [{Tail(1): Fraction(1)}], 0, "0.6") == {0}
    assert np.isclose(float(law[0].mid()), 1 - math.exp(-1))


def test_outputs_that_no_false_dataset_gives_are_always_taken() -> None:
    half, tenth = Fraction(1, 2), Fraction(1, 10)
    true = {"quiet": half, "quieter": 4 * tenth, "busy": tenth}
    assert sanitizer(true, [{"busy": Fraction(1)}], 0, "0.3") == {"quiet", "quieter"}
