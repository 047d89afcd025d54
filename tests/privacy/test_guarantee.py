"""Guarantees compose: budgets add, policies unite, and nothing else is added to anything else."""

from __future__ import annotations

from fractions import Fraction

import pytest

from safeside.errors import BadNumber, PrivacyError
from safeside.privacy.guarantee import Direction, Guarantee, Neighbours, Unit
from safeside.privacy.policy import Policy

HERE = Policy.not_visited(["here"], "noon")
THERE = Policy.not_visited(["there"], "noon")


def one(**changes: object) -> Guarantee:
    fields = {"epsilon": Fraction(1, 2), "policy": HERE, "direction": Direction.DECREASING, **changes}
    return Guarantee(**fields)


def test_budgets_add_and_policies_unite() -> None:
    both = one().then(one(epsilon=Fraction(1, 3), policy=THERE))
    assert both.epsilon == Fraction(5, 6)
    assert both.policy == HERE | THERE
    assert both.direction is Direction.DECREASING


def test_two_directions_make_neither() -> None:
    assert one().then(one(direction=Direction.INCREASING)).direction is Direction.NEITHER


def test_numbers_come_through_the_gate() -> None:
    assert one(epsilon="0.1").epsilon == Fraction(1, 10)
    for bad in (0, -1, float("nan"), True):
        with pytest.raises(BadNumber):
            one(epsilon=bad)
    with pytest.raises(BadNumber):
        one(delta=1)


def test_only_the_same_neighbours_and_unit_add_up() -> None:
    padded = Guarantee(epsilon=Fraction(1), delta=Fraction(1, 10**6), neighbours=Neighbours.ADD_REMOVE)
    with pytest.raises(PrivacyError, match=r"account\.standing"):
        one().then(padded)
    with pytest.raises(PrivacyError, match="same unit"):
        one().then(one(unit=Unit.PERSON_DAY))
    assert padded.then(padded).delta == Fraction(2, 10**6)


def test_a_policy_does_not_speak_of_adding_a_person() -> None:
    with pytest.raises(PrivacyError, match="replacing"):
        one(neighbours=Neighbours.ADD_REMOVE)


def test_failures_that_add_up_to_one_promise_nothing() -> None:
    half = Guarantee(epsilon=Fraction(1), delta=Fraction(1, 2))
    with pytest.raises(PrivacyError, match="nothing would be promised"):
        half.then(half)


def test_one_plain_sentence() -> None:
    assert Guarantee(epsilon=Fraction(1)).sentence() == (
        "This release by itself is at most 2.7183 (e^1, rounded up) times as probable as it would be had "
        "one person's whole record been any other."
    )
    assert one(unit=Unit.PERSON_DAY).sentence() == (
        "This release by itself is at most 1.6488 (e^0.5, rounded up) times as probable as it would be had "
        "one person's record of one day been any other of which every fact given up by the policy is still "
        'true where it was; 1 fact about a person may become known where it is true: not "here" in noon.'
    )
    padded = Guarantee(epsilon=Fraction(1), delta=Fraction(1, 10**6), neighbours=Neighbours.ADD_REMOVE)
    assert padded.sentence() == (
        "This release by itself is at most 2.7183 (e^1, rounded up) times as probable as it would be with "
        "one person added or removed, apart from a probability of at most 0.000001."
    )


def test_the_sentence_stays_short() -> None:
    many = Policy.not_visited((str(i) for i in range(100_000)), "noon")
    assert len(one(policy=many).sentence()) < 600


def test_the_text_of_a_member_is_the_member() -> None:
    """Members are compared by identity: the text "add or remove" must not be read as replacement."""
    plain = Guarantee(
        epsilon=Fraction(1), neighbours="add or remove", unit="person-day", direction="decreasing"
    )
    assert plain.neighbours is Neighbours.ADD_REMOVE
    assert plain.unit is Unit.PERSON_DAY
    assert plain.direction is Direction.DECREASING
    assert "added or removed" in plain.sentence()
