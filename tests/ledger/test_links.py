"""Datasets of the same people: linked, they share one budget and one list of releases."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.ledger.stores import QUESTION, cost

from safeside.errors import LedgerError, LedgerMissing, OverBudget
from safeside.ledger import Budget, Ledger


def test_linked_datasets_share_the_smaller_budget(ledger: Ledger) -> None:
    ledger.create_dataset("town", "person", 2)
    ledger.reserve("city", "a", QUESTION, cost())
    assert ledger.link("city", "town") == ("city", "town")
    assert ledger.link("town", "city") == ("city", "town")
    assert ledger.remaining("town") == Budget(epsilon=Fraction(1), delta=Fraction(0))
    ledger.reserve("town", "b", QUESTION, cost())
    with pytest.raises(OverBudget):
        ledger.reserve("city", "c", QUESTION, cost("1/1000"))
    assert ledger.show("city").standing.epsilon == 2


def test_links_are_transitive(ledger: Ledger) -> None:
    for name in ("b", "c", "d"):
        ledger.create_dataset(name, "person", 3)
    ledger.link("city", "b")
    ledger.link("c", "d")
    assert ledger.link("d", "city") == ("b", "c", "city", "d")
    ledger.reserve("c", "x", QUESTION, cost("2.5"))
    assert ledger.remaining("b").epsilon == Fraction(1, 2)


def test_a_link_is_recorded_even_where_too_much_was_spent(ledger: Ledger) -> None:
    ledger.create_dataset("town", "person", 2)
    ledger.reserve("city", "a", QUESTION, cost(2))
    ledger.reserve("town", "b", QUESTION, cost(1))
    ledger.link("city", "town")
    assert ledger.remaining("city").epsilon == -1
    assert ledger.show("town").standing.epsilon == 3
    with pytest.raises(OverBudget) as caught:
        ledger.reserve("town", "c", QUESTION, cost("1/2"))
    assert caught.value.difference == Fraction(3, 2)


def test_what_came_back_before_a_link_is_counted_as_spent(ledger: Ledger) -> None:
    ledger.create_dataset("town", "person", 3)
    made = ledger.reserve("city", "a", QUESTION, cost(2, epsilon_each=Fraction(1)))
    late = ledger.reserve("town", "b", QUESTION, cost(1, epsilon_each=Fraction(1)))
    ledger.commit(made, "d1", alarms=0)
    ledger.give_back(made)
    ledger.link("city", "town")
    assert ledger.remaining("city").epsilon == 0
    ledger.commit(late, "d2", alarms=0)
    assert ledger.give_back(late) == 0
    assert ledger.remaining("town").epsilon == 0


def test_what_came_back_before_a_link_is_counted_also_where_more_was_charged_since(ledger: Ledger) -> None:
    ledger.create_dataset("town", "person", 3)
    made = ledger.reserve("city", "a", QUESTION, cost(2, epsilon_each=Fraction(1)))
    ledger.commit(made, "d1", alarms=0)
    assert ledger.give_back(made) == 2
    ledger.reserve("city", "b", QUESTION, cost(1))
    assert ledger.remaining("city").epsilon == 2
    ledger.link("city", "town")
    assert ledger.remaining("city").epsilon == 0


def test_the_releases_of_linked_datasets_are_counted_together(ledger: Ledger) -> None:
    ledger.create_dataset("town", "person", 3)
    for number, name in enumerate(("city", "town", "town")):
        ledger.commit(ledger.reserve(name, f"r{number}", QUESTION, cost("0.5")), f"d{number}")
    ledger.link("city", "town")
    assert ledger.show("city").published == ledger.show("town").published
    assert ledger.show("city").published.number == 3


def test_datasets_with_different_units_cannot_be_linked(ledger: Ledger) -> None:
    ledger.create_dataset("daily", "person-day", 1, timezone="Asia/Tokyo")
    ledger.create_dataset("other", "person-day", 1, timezone="UTC")
    for pair in (("city", "daily"), ("daily", "other")):
        with pytest.raises(LedgerError):
            ledger.link(*pair)
    with pytest.raises(LedgerMissing):
        ledger.link("city", "nowhere")
