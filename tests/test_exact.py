"""Exact numbers: one gate in, certified rounding out."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safeside import exact as ex
from safeside.errors import BadNumber

rationals = st.fractions(min_value=Fraction(1, 10**6), max_value=50, max_denominator=10**6)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, Fraction(1)),
        (0.1, Fraction(1, 10)),
        (1e-6, Fraction(1, 10**6)),
        ("0.1", Fraction(1, 10)),
        ("1e-6", Fraction(1, 10**6)),
        (" 1/3 ", Fraction(1, 3)),
        (Decimal("0.30"), Fraction(3, 10)),
        (Fraction(2, 7), Fraction(2, 7)),
    ],
)
def test_numbers_are_taken_as_written(value: ex.Number, expected: Fraction) -> None:
    assert ex.fraction(value) == expected


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_its_shortest_decimal(value: float) -> None:
    assert ex.fraction(value) == Fraction(Decimal(repr(value)))


def test_numpy_integers_are_whole_numbers() -> None:
    import numpy as np

    assert ex.fraction(np.int64(3)) == 3
    assert ex.whole(np.int32(3), "t") == 3


@given(st.fractions(max_denominator=10**9))
def test_shown_numbers_are_the_numbers(number: Fraction) -> None:
    assert Fraction(ex.show(number)) == number


@given(rationals, st.fractions(min_value=Fraction(1, 10**9), max_value=1))
def test_least_power_is_the_least(rate: Fraction, bound: Fraction) -> None:
    m = ex.least_power(rate, bound)
    assert m >= 0
    assert ex.is_at_most(lambda: ex.exp(-rate * m), lambda: ex.ball(bound))
    if m > 0:
        assert not ex.is_at_most(lambda: ex.exp(-rate * (m - 1)), lambda: ex.ball(bound))


@pytest.mark.parametrize("m", [1, 5, 40, 300])
def test_least_power_next_to_a_power(m: int) -> None:
    """Bounds a hundred digits from e^-m, closer than any float: the margin is never one too small."""
    power = ex.evaluate(lambda: ex.exp(-m), bits=400)
    assert ex.least_power(Fraction(1), ex.upper(power)) == m
    assert ex.least_power(Fraction(1), ex.lower(power) * (1 - Fraction(1, 10**100))) == m + 1


@given(rationals)
def test_floats_round_to_the_side_that_was_asked_for(rate: Fraction) -> None:
    value = ex.evaluate(lambda: ex.exp(-rate))
    up, down = ex.float_up(value), ex.float_down(value)
    assert Fraction(down) <= ex.lower(value) <= ex.upper(value) <= Fraction(up)
    assert up <= down * (1 + 2**-51)


def test_precision_is_raised_until_the_order_is_certain() -> None:
    # e^-1 and its best rational of 400 bits agree far beyond the first precision tried.
    near = ex.lower(ex.evaluate(lambda: ex.exp(-1), bits=600))
    assert ex.is_at_most(lambda: ex.ball(near), lambda: ex.exp(-1))
    assert not ex.is_at_most(lambda: ex.exp(-1), lambda: ex.ball(near))


def test_what_cannot_be_ordered_is_refused() -> None:
    def undecided() -> ex.Ball:
        return ex.exp(1) - ex.exp(1)

    with pytest.raises(BadNumber, match="cannot be put in order"):
        ex.is_at_most(undecided, lambda: -undecided())
