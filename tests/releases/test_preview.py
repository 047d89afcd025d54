"""What is said before anything is spent errs on the safe side."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.releases.making import INSTANT, places

from safeside.releases.preview import _expect, at_least
from safeside.releases.question import Terms, ask
from safeside.visits import Window


@given(st.floats(0, 1))
def test_percentages_are_never_larger_than_what_they_stand_for(share: float) -> None:
    shown = Fraction(at_least(share).removesuffix(" %")) / 100
    assert 0 <= shown <= Fraction(share)
    assert Fraction(share) - shown <= Fraction(11, 10_000)


@pytest.mark.parametrize("epsilon", ["1", "10", "50"])
def test_no_preview_calls_certain_what_is_not(epsilon: str) -> None:
    listed = places(6)
    asked = ask(
        listed, Window.parse(INSTANT), Terms(epsilon=epsilon, at_most=9), timezone=None, counted=("x",)
    )
    said = " ".join(_expect(asked))
    assert "100.0" not in said
    assert "probability of at least" in said
