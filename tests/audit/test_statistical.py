"""The statistical audit: passes what is right, fails what is 5 % wrong, and says how sure that is."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from safeside import exact
from safeside.audit import statistical
from safeside.audit.statistical import FALSE_ALARM, SamplerTest
from safeside.mechanisms.laws import Both, Down, Law, Padded, Up
from safeside.noise.entropy import simulated_entropy

RATES = [Fraction(1), Fraction(1, 10), Fraction(1, 100)]
LAWS = [Up, Down, Both]


def draws(law: Law, number: int, seed: int) -> np.ndarray:
    return law.add_to(np.zeros(number, dtype=np.int64), simulated_entropy(seed))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("kind", LAWS)
def test_a_right_sampler_passes_and_one_off_by_five_percent_fails(kind: type[Up], rate: Fraction) -> None:
    test = SamplerTest.of(kind(rate))
    assert test.check(draws(kind(rate), test.draws, 7)).passed
    for spoilt in (rate * Fraction(105, 100), rate / Fraction(105, 100)):
        found = test.check(draws(kind(spoilt), test.draws, 7))
        assert not found.passed
        assert found.standing > 1
        wrong = SamplerTest.of(kind(spoilt))
        assert test.power(wrong.pmf, wrong.below) > 1 - 1e-6


def test_a_right_padded_sampler_passes_and_a_shorter_pad_fails() -> None:
    test = SamplerTest.of(Padded(Fraction(1), 5))
    assert test.check(draws(Padded(Fraction(1), 5), test.draws, 3)).passed
    found = test.check(draws(Padded(Fraction(1), 6), test.draws, 3))
    assert not found.passed
    assert found.worst == "impossible values"


def test_the_range_of_each_cut_holds_the_stated_error() -> None:
    """The bound is Chernoff's: compared with the binomial added up term by term."""
    test = SamplerTest.of(Up(Fraction(1)), draws=400)
    share = float(FALSE_ALARM) / (2 * len(test.cuts))
    for cut in test.cuts:
        outside = sum(
            math.comb(cut.of, k) * cut.probability**k * (1 - cut.probability) ** (cut.of - k)
            for k in range(cut.of + 1)
            if not cut.least <= k <= cut.most
        )
        assert outside <= 2 * share


def test_power_is_a_lower_bound() -> None:
    law, wrong = Up(Fraction(1)), Up(Fraction(11, 10))
    test = SamplerTest.of(law, draws=30_000)
    other = SamplerTest.of(wrong)
    promised = test.power(other.pmf, other.below)
    failed = np.mean([not test.check(draws(wrong, 30_000, seed)).passed for seed in range(40)])
    assert 0.5 < promised <= failed + 0.25
    assert test.power(test.pmf, test.below) == 0.0


def test_noise_used_twice_fails_though_each_draw_is_right() -> None:
    test = SamplerTest.of(Up(Fraction(1)))
    twice = np.repeat(draws(Up(Fraction(1)), test.draws // 2, 5), 2)
    found = test.check(twice)
    assert not found.passed
    assert found.worst.startswith("two in a row")


@pytest.mark.parametrize("block", [1 << 16, 1 << 17])
def test_blocks_of_noise_used_twice_fail_though_neighbours_are_independent(block: int) -> None:
    test = SamplerTest.of(Up(Fraction(1)))
    found = test.check(np.resize(draws(Up(Fraction(1)), block, 5), test.draws))
    assert not found.passed
    assert found.worst.startswith(f"two {block:,} apart")


def test_pairs_are_disjoint_and_as_many_as_there_can_be() -> None:
    values = np.arange(10)
    for apart, pairs in ((1, 5), (2, 4), (3, 4), (4, 4), (5, 5), (7, 3), (10, 0)):
        test = SamplerTest(pmf={0: exact.ball(Fraction(1, 2)), 1: exact.ball(Fraction(1, 2))}, draws=10)
        assert statistical._pairs(10, apart) == pairs
        cut = replace(test.cuts[0], apart=apart, at=9)
        assert statistical._count(cut, values) == pairs


def test_one_impossible_value_fails_whatever_the_sample_size() -> None:
    test = SamplerTest.of(Up(Fraction(1)))
    values = draws(Up(Fraction(1)), test.draws, 1)
    values[0] = -1
    assert test.check(values).standing == math.inf


def test_a_value_listed_with_probability_zero_is_impossible() -> None:
    half = exact.ball(Fraction(1, 2))
    test = SamplerTest(pmf={0: half, 1: exact.ball(0), 2: half}, draws=1000)
    values = np.tile(np.array([0, 2], dtype=np.int64), 500)
    assert test.check(np.random.default_rng(3).permutation(values)).passed
    values[10] = 1
    assert not test.check(values).passed
    values[10] = 3
    assert not test.check(values).passed


def test_a_constant_passes_only_as_itself() -> None:
    test = SamplerTest(pmf={4: exact.ball(1)}, draws=10)
    assert test.check(np.full(10, 4, dtype=np.int64)).passed
    assert not test.check(np.full(10, 5, dtype=np.int64)).passed
