"""Support at zero tolerance, and exact inversion, for rates and bits that hypothesis chooses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.noise.reference import Script, cut, inverted, many_digits

from safeside.noise.entropy import system_entropy
from safeside.noise.geometric import geometric, truncated_geometric, two_sided_geometric

DRAWS = 50_000
EXTRA = 512
ZEROS = 128
"""U has 512 bits here and zeros after them; a draw that asks for more than a few of those is lost."""

rates = st.one_of(
    st.fractions(min_value=Fraction(1, 10**6), max_value=50, max_denominator=10**6),
    st.builds(
        lambda digits, places: Fraction(digits, 10**places), st.integers(1, 50), st.integers(0, 6)
    ).filter(lambda rate: Fraction(1, 10**6) <= rate <= 50),
    st.sampled_from([Fraction(1, 10**6), Fraction(50), Fraction(1, 150), Fraction(1, 151)]),
)
counts = st.integers(-(2**40), 2**40)
slow = settings(max_examples=60)


@slow
@given(rate=rates, count=counts)
def test_noise_is_never_negative_and_goes_the_way_it_was_told(rate: Fraction, count: int) -> None:
    noise = geometric(rate)
    truth = np.full(DRAWS, count)
    assert (noise.draw(DRAWS, system_entropy()) >= 0).all()
    assert (noise.add_to(truth, system_entropy()) >= count).all()
    assert (noise.add_to(truth, system_entropy(), -1) <= count).all()


@slow
@given(rate=rates, size=st.one_of(st.integers(1, 300), st.integers(4000, 5000), st.integers(1, 2**62)))
def test_truncated_noise_stays_in_its_range(rate: Fraction, size: int) -> None:
    drawn = truncated_geometric(rate, size).draw(1000, system_entropy())
    assert drawn.min() >= 0
    assert drawn.max() < size


@slow
@given(rate=rates)
def test_two_sided_noise_goes_both_ways_wherever_that_is_likely(rate: Fraction) -> None:
    drawn = two_sided_geometric(rate).draw(DRAWS, system_entropy())
    if rate <= 5:  # else 50,000 draws may all be 0
        assert drawn.min() < 0 < drawn.max()


@settings(max_examples=300)
@given(
    rate=st.fractions(min_value=Fraction(1, 150), max_value=50, max_denominator=1000),
    bits=st.integers(0, 2**EXTRA - 1),
)
def test_a_draw_is_the_exact_inversion_of_its_bits(rate: Fraction, bits: int) -> None:
    check_inversion(rate, bits)


@settings(max_examples=300)
@given(
    rate=st.sampled_from([Fraction(1, 100), Fraction(1, 10), Fraction(1), Fraction(7, 2)]),
    k=st.integers(1, 40),
    agree=st.integers(0, 300),
    noise=st.integers(1, 2**64),
    above=st.booleans(),
)
def test_so_is_a_draw_whose_bits_begin_as_a_cut_point_does(
    rate: Fraction, k: int, agree: int, noise: int, above: bool
) -> None:
    near = cut_bits(rate, k)
    offset = (noise << (EXTRA - 64)) >> agree
    bits = near + offset if above else near - offset
    check_inversion(rate, min(max(bits, 0), 2**EXTRA - 1))


def cut_bits(rate: Fraction, k: int) -> int:
    """The first bits of 1 - e^(-rate k), by decimals."""
    with many_digits():
        return int(cut(rate, k) * 2**EXTRA)


def check_inversion(rate: Fraction, bits: int) -> None:
    drawn = geometric(rate).draw(1, Script(bits << ZEROS, EXTRA + ZEROS))
    assert drawn.tolist() == [inverted(rate, Fraction(bits, 2**EXTRA))]
