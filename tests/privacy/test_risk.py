"""Risk of one channel: the ratio, its conventions, and the output that attains it."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from safeside import exact
from safeside.errors import BadNumber, PrivacyError
from safeside.privacy.risk import Channel, risk

HALF = {"yes": "0.5", "no": "0.5"}


def mangat(no_as_yes: Fraction | exact.Ball) -> Channel[str, str]:
    """Yes stays Yes; No becomes Yes with probability e^-eps."""
    return {"yes": {"Y": Fraction(1)}, "no": {"Y": no_as_yes, "N": 1 - no_as_yes}}


def yes(record: str) -> bool:
    return record == "yes"


def no(record: str) -> bool:
    return record == "no"


def test_the_ratio_of_odds_and_its_witness() -> None:
    found = risk(mangat(Fraction(1, 3)), {"yes": "0.1", "no": "0.9"}, yes)
    assert found.value == 3
    assert found.witness == "Y"
    assert found.before == Fraction(1, 10)
    assert found.after == Fraction(1, 4)
    assert not found.infinite


def test_certainty_is_infinite() -> None:
    found = risk(mangat(Fraction(1, 3)), HALF, no)
    assert found.value == math.inf
    assert found.infinite
    assert found.witness == "N"
    assert found.after == 1
    assert not found.at_most(Fraction(10**9))


def test_nothing_rises_where_it_was_certain_or_impossible() -> None:
    for prior in ({"yes": 1}, {"no": 1}, {"yes": 1, "no": 0}):
        found = risk(mangat(Fraction(1, 3)), prior, yes)
        assert found.value == 0
        assert found.witness is None
        assert found.before == found.after


def test_powers_of_e_are_balls_that_hold_the_truth() -> None:
    rate = exact.evaluate(lambda: exact.exp(-1))
    found = risk(mangat(rate), HALF, yes)
    e = exact.evaluate(lambda: exact.exp(1))
    assert isinstance(found.value, exact.Ball)
    assert found.value.overlaps(e)
    assert found.at_most(e)
    assert not found.at_most(exact.lower(e) - Fraction(1, 10**30))
    assert risk(mangat(rate), HALF, no).infinite


def test_channels_and_priors_are_distributions() -> None:
    with pytest.raises(BadNumber, match="add up to 1"):
        risk({"yes": {"Y": Fraction(1, 2)}}, {"yes": 1}, yes)
    with pytest.raises(BadNumber, match="prior"):
        risk(mangat(Fraction(1, 3)), {"yes": "0.5", "no": "0.4"}, yes)
    with pytest.raises(BadNumber, match="prior"):
        risk(mangat(Fraction(1, 3)), {"yes": "1.5", "no": "-0.5"}, yes)
    with pytest.raises(PrivacyError, match="no distribution"):
        risk(mangat(Fraction(1, 3)), {"maybe": 1}, yes)


def test_a_ball_that_may_be_zero_is_not_guessed_at() -> None:
    doubtful = exact.Ball(0, 1e-9)
    with pytest.raises(BadNumber, match="too uncertain"):
        risk({"yes": {"Y": 1 - doubtful, "N": doubtful}, "no": {"Y": Fraction(1)}}, HALF, yes)
