"""Conditions, their grammar, and what follows from the declared domains alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.groups import plain
from tests.groups.making import DOMAINS, conditions, written
from tests.groups.plain import Test

from safeside.errors import BadQuestion, NowhereElse
from safeside.groups import Domain, Measure, Measures, Term, Where, measures

DOSES: dict[str, Any] = {"mmr": [0, 1, 2]}


@given(conditions)
def test_a_condition_is_read_as_it_is_written(tests: list[Test]) -> None:
    where = Where.parse(written(tests))
    assert [(term.column, term.sign, list(term.values)) for term in where.terms] == [
        (column, sign, list(values)) for column, sign, values in tests
    ]
    assert Where.parse(str(where)) == where


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("mmr=no", ("mmr", "=", ("no",))),
        ("  mmr = no ", ("mmr", "=", ("no",))),
        ("mmr=not known", ("mmr", "=", ("not known",))),
        ("dose in 0, 1", ("dose", "in", ("0", "1"))),
        ("date of dose=in time", ("date of dose", "=", ("in time",))),
        ("age>=12", ("age", ">=", ("12",))),
        ("temperature<-3", ("temperature", "<", ("-3",))),
    ],
)
def test_a_term(text: str, term: tuple[str, str, tuple[str, ...]]) -> None:
    (read,) = Where.parse(text).terms
    assert (read.column, read.sign, read.values) == term


@pytest.mark.parametrize(
    "text",
    [
        *("", "mmr", "mmr=", "=no", "mmr==no", "mmr!=no", "a<b<c", "age<twelve", "age<1.5", "age<012"),
        *("dose in 0,,1", "dose in ", "a=1 and", "__import__('os')"),
    ],
)
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(BadQuestion):
        Where.parse(text)


@given(st.lists(conditions, min_size=1, max_size=4))
@settings(max_examples=150)
def test_the_most_measures_of_a_record_are_those_of_an_enumeration(asked: list[list[Test]]) -> None:
    used = {column: DOMAINS[column] for tests in asked for column, _, _ in tests}
    fewest, most = plain.fewest_and_most(asked, used)
    made = Measures(
        all=tuple(Measure(name=f"m{i}", where=Where.parse(written(tests))) for i, tests in enumerate(asked)),
        domains=tuple(Domain.of(column, values) for column, values in used.items()),
    )
    assert made.most_of_a_person == most
    empty = any(plain.fewest_and_most([tests], used)[1] == 0 for tests in asked)
    if fewest and not empty:
        with pytest.raises(NowhereElse, match="everybody is counted"):
            made.check()
    elif empty:
        with pytest.raises(BadQuestion):
            made.check()
    else:
        made.check()


def test_bands_exclude_each_other_and_thresholds_do_not() -> None:
    ages = {"age": range(5, 19)}
    bands = measures(measures={"5 to 7": "age<8", "8 to 11": "age>=8 and age<12"}, domains=ages)
    assert bands.most_of_a_person == 1
    nested = measures(measures={"below 8": "age<8", "below 12": "age<12"}, domains=ages)
    assert nested.most_of_a_person == 2
    crossed = measures(measures={"young": "age<8", "no dose": "mmr=0"}, domains={**ages, **DOSES})
    assert crossed.most_of_a_person == 2


def test_conditions_that_are_true_of_everybody_are_refused() -> None:
    doses = {"none": "mmr=0", "one": "mmr=1", "two": "mmr=2"}
    with pytest.raises(NowhereElse, match="everybody is counted"):
        measures(measures=doses, domains=DOSES)
    with pytest.raises(NowhereElse, match="everybody is counted"):
        measures(where="mmr>=0", domains=DOSES)
    assert measures(measures={"none": "mmr=0", "one": "mmr=1"}, domains=DOSES).most_of_a_person == 1
    # Of a table of those counted, bands may cover every age: whoever is not in it is in no count.
    assert measures(measures=doses, domains=DOSES, only_counted=True).most_of_a_person == 1


def test_a_common_condition_is_part_of_every_measure() -> None:
    made = measures(
        where="mmr=0", measures={"young": "age<8", "all": "mmr=0"}, domains={**DOSES, "age": range(5, 9)}
    )
    assert [str(one.where) for one in made.all] == ["mmr=0 and age<8", "mmr=0"]


def test_texts_of_the_command_line_say_the_same() -> None:
    by_hand = measures(measures={"none": "mmr=0", "one": "mmr=1"}, domains={"mmr": range(3)})
    assert measures(measures=["none: mmr=0", "one:mmr=1"], domains=["mmr=0..2"]) == by_hand
    assert measures(measures=["none: mmr=0", "one:mmr=1"], domains=["mmr=0, 1,2"]) == by_hand


def test_the_rule_in_words() -> None:
    assert measures().rule().endswith("where the table of those counted names both.")
    assert measures(where="mmr=0", domains=DOSES).rule().endswith("where their row says mmr=0.")
    two = measures(measures=["none: mmr=0", "one: mmr=1"], domains=DOSES)
    assert two.rule().endswith("where their row says so: none: mmr=0; one: mmr=1.")
    assert str(Term(column="a", sign="in", values=("x", "y"))) == "a in x, y"
