"""The account: convert, then add; two sentences, never one total; every rounding goes up."""

from __future__ import annotations

from fractions import Fraction

import pytest

from safeside import exact
from safeside.errors import BadNumber, PrivacyError
from safeside.privacy.account import DIGITS, Budget, Cost, Kind, promise, standing
from safeside.privacy.guarantee import Neighbours, Unit

MICRO = Fraction(1, 10**6)
ADP = Cost(kind=Kind.ADP, epsilon=Fraction(1, 2))
COUNTS = Cost(kind=Kind.DP_COUNTS, epsilon=Fraction(1), delta=MICRO, max_conditions=3)
ADD_REMOVE = Cost(kind=Kind.DP_ADD_REMOVE, epsilon=Fraction(1), delta=MICRO)
REPLACE = Cost(kind=Kind.DP_REPLACE, epsilon=Fraction(1), delta=MICRO)


def test_each_kind_enters_the_account_as_it_should() -> None:
    assert ADP.under_policy() == Budget(epsilon=Fraction(1, 2), delta=Fraction(0))
    assert COUNTS.under_policy() == Budget(epsilon=Fraction(3), delta=3 * MICRO)
    assert REPLACE.under_policy() == Budget(epsilon=Fraction(1), delta=MICRO)
    assert ADD_REMOVE.under_policy().epsilon == 2
    pure = Cost(kind=Kind.DP_ADD_REMOVE, epsilon=Fraction(1))
    assert pure.under_policy() == Budget(epsilon=Fraction(2), delta=Fraction(0))


@pytest.mark.parametrize("epsilon", ["1e-6", "0.1", "1", "7.5"])
@pytest.mark.parametrize("delta", ["1e-30", "1e-6", "0.0003", "1/7000"])
def test_what_is_not_rational_is_rounded_up_and_hardly(epsilon: str, delta: str) -> None:
    charge = Cost(kind=Kind.DP_ADD_REMOVE, epsilon=Fraction(epsilon), delta=Fraction(delta))
    found = charge.under_policy().delta
    true = exact.evaluate(lambda: (1 + exact.exp(charge.epsilon)) * exact.ball(charge.delta), 1024)
    assert found >= exact.upper(true)
    assert found <= exact.lower(true) * (1 + Fraction(1, 10**DIGITS))


def test_the_standing_guarantee_of_a_mixture() -> None:
    whole = standing([ADP, ADP, COUNTS, ADD_REMOVE])
    assert whole.whole.epsilon == 1 + 3 + 2
    assert whole.whole.delta == 3 * MICRO + ADD_REMOVE.under_policy().delta
    assert whole.alone == Budget(epsilon=Fraction(4), delta=4 * MICRO)
    assert whole.alone_neighbours is Neighbours.ADD_REMOVE


def test_replacement_alone_is_not_turned_into_adding_and_removing() -> None:
    """What is private under replacement only is counted there, with the others converted to it."""
    found = standing([REPLACE, ADD_REMOVE, COUNTS])
    assert found.alone_neighbours is Neighbours.REPLACE
    assert found.alone is not None
    assert found.alone.epsilon == 1 + 2 + 6
    assert found.alone.delta == MICRO + ADD_REMOVE.under_policy().delta + 6 * MICRO


def test_both_sentences_and_never_one_total() -> None:
    first, second = standing([ADP, COUNTS]).sentences()
    assert first == (
        "Everything published from this dataset, taken together, is at most 33.116 (e^3.5, rounded up) times "
        "as probable as it would be had one person's whole record been any other of which every fact given "
        "up by the policy is still true where it was, apart from a probability of at most 0.000003."
    )
    assert second == (
        "The releases under ordinary differential privacy alone, provided none of them was chosen "
        "because of an answer made under the policy, are at most 20.086 (e^3, rounded up) times as "
        "probable as they would be with one person's whole record added or removed, apart from a "
        "probability of at most 0.000003. Together with the others they are not differentially "
        "private for any epsilon."
    )
    assert len(standing([ADP]).sentences()) == 1
    assert "provided" not in standing([COUNTS]).sentences()[1]
    assert "replaced by any other" in standing([REPLACE]).sentences()[1]
    assert standing([]).sentences() == ("Nothing was published from this dataset.",)


def test_charges_that_make_no_sense() -> None:
    with pytest.raises(PrivacyError, match="it has none"):
        Cost(kind=Kind.ADP, epsilon=Fraction(1), delta=MICRO)
    with pytest.raises(PrivacyError, match="max_conditions 2"):
        Cost(kind=Kind.DP_REPLACE, epsilon=Fraction(1), max_conditions=2)
    with pytest.raises(BadNumber):
        Cost(kind=Kind.DP_COUNTS, epsilon=Fraction(1), max_conditions=0)
    half = Cost(kind=Kind.DP_REPLACE, epsilon=Fraction(1), delta=Fraction(1, 2))
    with pytest.raises(PrivacyError, match="nothing is promised"):
        standing([half, half])


CERTAIN = (
    "Everything published from this dataset up to now, about the places and times named here, was, "
    "taken together, at most 7.3891 (e^2, rounded up) times as probable as it would have been had you"
    " visited none of them. So, to someone for whom your visits say nothing about other people's, it "
    "raises the odds that you visited at least one of them, against none, by a factor of at most "
    "7.3891; and, to someone who also knows which of the others you visited, the odds that you "
    "visited this one too by a factor of at most 7.3891. For h people who go about together read e^(h"
    " times 2) instead: for two, 54.599. It may show for certain that you did not visit some of them,"
    " and so, to someone who thinks you were probably at one of several, point to the one that is "
    "left. That you are in this dataset is not hidden."
)


def test_the_promise_in_full() -> None:
    assert " ".join(promise(2)) == CERTAIN


def test_the_promise_with_a_delta_says_nothing_about_odds() -> None:
    text = " ".join(promise(2, "1e-6"))
    assert "none of them, apart from a probability of at most 0.000001. For h people" in text
    assert "odds" not in text
    assert "instead of 0.000001, that number times 1 + e^2 + ... + e^((h - 1) times 2)" in text
    assert text.endswith("That you are in this dataset is not hidden.")


def test_the_promise_for_a_budget_of_each_day() -> None:
    text = " ".join(promise("0.5", unit=Unit.PERSON_DAY))
    assert "had you visited none of them on any one day you choose." in text
    assert "7 days together are protected at 7 times 0.5, that is 3.5." in text
    whole, *_ = promise("0.5", unit=Unit.PERSON_WEEK)
    assert "had you visited none of them in any one week you choose." in whole


def test_the_promise_takes_exact_caps_only() -> None:
    for bad in (0, -1, float("inf")):
        with pytest.raises(BadNumber):
            promise(bad)
    with pytest.raises(BadNumber):
        promise(1, 1)
