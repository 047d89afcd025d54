"""What is said before anything is spent errs on the safe side."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.releases.making import asked

from safeside.releases.preview import to_expect
from safeside.releases.wording import rounded_down


@given(st.floats(0, 1))
def test_percentages_are_never_larger_than_what_they_stand_for(share: float) -> None:
    shown = Fraction(rounded_down(share).removesuffix(" %")) / 100
    assert 0 <= shown <= Fraction(share)
    assert Fraction(share) - shown <= Fraction(11, 10_000)


@pytest.mark.parametrize("epsilon", ["1", "10", "50"])
def test_no_preview_calls_certain_what_is_not(epsilon: str) -> None:
    said = " ".join(to_expect(asked(6, {"epsilon": epsilon, "at_most": 9})))
    assert "100.0" not in said
    assert "probability of at least" in said
