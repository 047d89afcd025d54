"""Names of datasets: two that cannot be told apart would be two budgets for the same people."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safeside.errors import BadQuestion, LedgerError, LedgerMissing
from safeside.ledger import Ledger
from safeside.ledger.rules import skeleton


@pytest.mark.parametrize(
    "name", ["City", "CITY", "c1ty", "clty", "c|ty", "city.", "city_", "-city", "_City-", "(city)"]
)
def test_a_name_that_looks_like_one_that_exists_is_refused(ledger: Ledger, name: str) -> None:
    with pytest.raises(LedgerError, match="which exists"):
        ledger.create_dataset(name, "person", 1)
    with pytest.raises(LedgerMissing, match='Did you mean "city"'):
        ledger.dataset(name)
    assert [one.name for one in ledger.datasets()] == ["city"]


@pytest.mark.parametrize(
    "name",
    [
        "сity",
        "citу",
        "ｃｉｔｙ",
        "cıty",
        "ci\u0301ty",
        unicodedata.normalize("NFC", "ci\u0301ty"),
        "сіту",
        "𝖼𝗂𝗍𝗒",
    ],
)
def test_letters_of_other_scripts_are_refused(ledger: Ledger, name: str) -> None:
    with pytest.raises(BadQuestion, match="not plain ASCII"):
        ledger.create_dataset(name, "person", 1)


def test_names_that_differ_to_the_eye_are_several(ledger: Ledger) -> None:
    for name in ("town", "city 2", "city-3", "cities", "inner city"):
        ledger.create_dataset(name, "person", 1)
    with pytest.raises(LedgerError, match="cannot be told"):
        ledger.create_dataset("city_2", "person", 1)


def test_the_same_name_again_exists_already(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match='"city" exists already'):
        ledger.create_dataset("city", "person", 1)


@given(st.text(st.characters(max_codepoint=126, min_codepoint=33), min_size=1, max_size=12))
def test_capitals_and_what_stands_between_words_make_no_other_name(name: str) -> None:
    assert skeleton(name.upper()) == skeleton(name.lower()) == skeleton(f" {name}.")
    assert skeleton(name.replace("-", "_")) == skeleton(name)
