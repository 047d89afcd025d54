"""Values in whole steps of a grid: many at a time and one by one are the same, exactly."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from safeside.errors import BadCounts, BadNumber
from safeside.mechanisms import ALap, Laplace
from safeside.mechanisms.exact_values import Fractions, Rounding, Wholes, exact_values, rounded
from safeside.noise.entropy import simulated_entropy
from safeside.privacy.guarantee import Direction

ROUNDINGS: tuple[Rounding, ...] = ("up", "down", "nearest")
EDGES = [2**60, 2**60 + 1, -(2**60), 2**62, 2**63 - 1, -(2**63), 2**64]
GRIDS = [Fraction(1, 1024), Fraction(1, 2), Fraction(1), Fraction(4), Fraction(2**70), Fraction(1, 2**70)]

whole = st.one_of(st.integers(-1000, 1000), st.sampled_from(EDGES))
parts = st.sampled_from([1, 2, 3, 7, 100, 1024, 2**31 - 1, 2**61 - 1])
fractions = st.builds(Fraction, whole, parts)
decimals = st.decimals(-(10**6), 10**6, places=3)
values = st.one_of(
    st.lists(whole, min_size=1, max_size=6),
    st.lists(fractions, min_size=1, max_size=6),
    st.lists(st.one_of(whole, fractions, decimals), min_size=1, max_size=6),
)


def steps_or_refusal(found: Wholes | Fractions, step: Fraction, rounding: Rounding) -> list[int] | str:
    try:
        return found.in_steps(step, rounding).tolist()
    except BadCounts as refusal:
        return refusal.what


@given(values, st.sampled_from(GRIDS), st.sampled_from(ROUNDINGS))
def test_together_and_one_by_one_are_the_same(
    given_values: list[Any], step: Fraction, rounding: Rounding
) -> None:
    one_by_one = Fractions([Fraction(one) for one in given_values])
    together = exact_values(given_values)
    assert steps_or_refusal(together, step, rounding) == steps_or_refusal(one_by_one, step, rounding)
    assert together.multiples_of(step) == one_by_one.multiples_of(step)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6), st.sampled_from(GRIDS))
def test_an_array_is_the_same_as_its_list(numbers: list[int], step: Fraction) -> None:
    for rounding in ROUNDINGS:
        found = exact_values(np.array(numbers, dtype=np.int64))
        assert steps_or_refusal(found, step, rounding) == steps_or_refusal(
            exact_values(numbers), step, rounding
        )


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_halves_and_their_neighbours(rounding: Rounding) -> None:
    quarters = [Fraction(i, 4) for i in range(-9, 10)]
    expected = [rounded(one, rounding) for one in quarters]
    assert isinstance(exact_values(quarters), Wholes)
    assert exact_values(quarters).in_steps(Fraction(1), rounding).tolist() == expected
    assert expected[quarters.index(Fraction(1, 2))] == {"up": 1, "down": 0, "nearest": 1}[rounding]


@pytest.mark.parametrize(
    "held",
    [
        np.arange(5),
        np.arange(5, dtype=np.int8),
        np.arange(5, dtype=np.uint64),
        [1, 2, 3],
        [Fraction(1, 3), Fraction(1, 100), 7],
        [Decimal("0.01"), Decimal("-12.5"), 3, Fraction(1, 7)],
    ],
    ids=str,
)
def test_what_64_bits_hold_is_handled_together(held: Any) -> None:
    assert isinstance(exact_values(held), Wholes)


@pytest.mark.parametrize(
    "long",
    [
        [2**63],
        [Fraction(1, 2**61 - 1), Fraction(1, 3)],
        [Decimal("1e-300")],
        [Decimal("1e300")],
        np.array([2**64 - 1], np.uint64),
        np.array([2**70], object),
        [np.int64(3)],
    ],
    ids=str,
)
def test_what_64_bits_do_not_hold_is_handled_one_by_one(long: Any) -> None:
    assert isinstance(exact_values(long), Fractions)


@pytest.mark.parametrize(
    "given_values",
    [
        [1, 2.0],
        [1, True],
        [Fraction(1, 2), None],
        [Decimal("NaN")],
        [Decimal("-Infinity")],
        ["1"],
        np.array([True]),
        np.array([0.5]),
        np.array(["1"]),
        np.ma.masked_array([1, 2], [True, False]),
        [],
        np.array([], np.int64),
        np.array([[1]]),
    ],
    ids=str,
)
def test_what_is_not_exact_is_refused_whichever_way_it_comes(given_values: Any) -> None:
    with pytest.raises((BadCounts, BadNumber)):
        exact_values(given_values)


def test_an_array_is_never_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """One count at a time is a hundred times slower."""

    def looped(*_given: object) -> None:
        raise AssertionError("the values were handled one by one")

    monkeypatch.setattr(Fractions, "__init__", looped)
    counts = np.arange(-1000, 1000)
    for direction in Direction:
        ALap(epsilon=1, grid="1/1024", multiple_of=1, direction=direction).release(counts)
    Laplace(epsilon=1, grid="1/64").release(counts)
    Laplace(epsilon=1, grid=4).release([Fraction(int(count), 100) for count in counts])


@pytest.mark.parametrize("direction", list(Direction))
def test_a_release_adds_the_noise_to_the_rounded_values(direction: Direction) -> None:
    cents = [Fraction(i, 100) for i in range(-500, 500)]
    mechanism = ALap(epsilon=1, grid="1/8", direction=direction)
    noisy = mechanism.release(cents, entropy=simulated_entropy(5)).values
    noise = mechanism.law.add_to(np.zeros(len(cents), np.int64), simulated_entropy(5))
    assert np.array_equal(noisy - noise, [mechanism.rounded(one) for one in cents])
    if direction is Direction.DECREASING:
        assert all(Fraction(int(z), 8) >= one for z, one in zip(noisy, cents, strict=True))


def test_the_given_array_is_left_as_it_is() -> None:
    counts = np.arange(1000)
    noisy = ALap(epsilon=1).release(counts).values
    assert not np.shares_memory(noisy, counts)
    assert np.array_equal(counts, np.arange(1000))
