"""Shares of a public size, exactly and on the safe side."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safeside.errors import BadQuestion
from safeside.groups.shares import at_least_not, at_most, limits, parse_share, tenths_at_most

sizes = st.integers(1, 10**6)
shares = st.fractions(0, 1, max_denominator=10**6).filter(lambda share: share < 1)


@given(sizes, shares)
def test_a_threshold_is_the_most_people_that_are_no_more_than_the_share(size: int, share: Fraction) -> None:
    (limit,) = limits([size], share)  # type: ignore[arg-type]
    assert Fraction(int(limit), size) <= share < Fraction(int(limit) + 1, size)


@given(sizes, st.integers(0, 10**6))
def test_what_is_shown_is_never_below_the_share_and_less_than_a_tenth_above(size: int, count: int) -> None:
    tenths = tenths_at_most(count, size)
    true = min(Fraction(1), Fraction(count, size))
    assert true <= Fraction(tenths, 1000) < true + Fraction(1, 1000)
    shown, other = (
        Fraction(text.removesuffix(" %")) for text in (at_most(count, size), at_least_not(count, size))
    )
    assert shown == Fraction(tenths, 10)
    assert other <= 100 - 100 * true
    assert shown + other == 100


@pytest.mark.parametrize(
    ("text", "share"),
    [("5%", "1/20"), ("2.5 %", "1/40"), (" 0% ", "0"), ("0.1%", "1/1000"), ("99.999999999%", None)],
)
def test_per_cent(text: str, share: str | None) -> None:
    assert parse_share(text) == (Fraction(99999999999, 10**11) if share is None else Fraction(share))


@pytest.mark.parametrize("text", ["5", "100%", "-1%", "five%", "1e1%", "5%%", "", "٥%"])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(BadQuestion, match="not written in per cent, from 0 to below 100") as caught:
        parse_share(text)
    assert caught.value.do == 'Write `at_most="5%"`, or a whole number of people.'
