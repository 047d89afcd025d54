"""What is promised to people who are counted in groups, by enumeration of small universes.

The records are made from the declared domains: every group, every value of every column, and not being in the
table at all. The mechanism is the one that the question itself would be answered by.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any

import pytest
from tests.mechanisms.worlds import Record, erasing, needed, together, visits

from safeside import ask
from safeside.exact import Ball, ball
from safeside.groups import Measures
from safeside.mechanisms.ageo import AGeo
from safeside.privacy.risk import risk
from safeside.releases.asking import Inquiry

GROUPS = ("a", "b")
HORIZON = 6
AGES = {"age": range(3)}
DOSES = {"dose": range(3)}
ASKED: dict[str, tuple[dict[str, Any], int]] = {
    "one condition": ({"where": "dose=0", "domains": DOSES}, 1),
    "conditions that exclude each other": (
        {"measures": {"none": "dose=0", "one": "dose=1"}, "domains": DOSES},
        1,
    ),
    "conditions that hold together": (
        {"measures": {"none": "dose=0", "few": "dose<2"}, "domains": DOSES},
        2,
    ),
    "bands of those counted": (
        {"measures": {"young": "age<1", "old": "age>=1"}, "domains": AGES, "only_counted": True},
        1,
    ),
    "two columns": (
        {"measures": {"none": "dose=0", "young": "age=0"}, "domains": {**AGES, **DOSES}},
        2,
    ),
}


def asked(name: str, **more: Any) -> Inquiry:
    return ask(
        groups=list(GROUPS), as_of="2026-09-01", at_most=1, **{"epsilon": "0.7", **ASKED[name][0], **more}
    )


def conditions(counted: Measures, group: str, held: Mapping[str, int]) -> Record:
    """The numbers of the conditions that are true of a row, in the order of the answers."""
    met = [
        all(term.allows(str(held[term.column])) for term in measure.where.terms) for measure in counted.all
    ]
    return frozenset(i * len(GROUPS) + GROUPS.index(group) for i, yes in enumerate(met) if yes)


def possible(inquiry: Inquiry) -> list[Record]:
    """Every record that the domains allow, by the conditions that are true of it."""
    assert inquiry.question.groups is not None
    counted = inquiry.question.groups.counted
    values = itertools.product(*(map(int, domain.values) for domain in counted.domains))
    columns = [domain.column for domain in counted.domains]
    rows = [dict(zip(columns, some, strict=True)) for some in values]
    found = {conditions(counted, group, held) for group in GROUPS for held in rows}
    return sorted(found | {frozenset()}, key=sorted)


def law(mechanism: Any, counts: tuple[int, ...]) -> dict[tuple[Hashable, ...], Ball]:
    return together([mechanism.distribution(count, HORIZON) for count in counts])


@pytest.mark.parametrize("name", ASKED)
def test_the_policy_of_groups_enumerated(name: str) -> None:
    """Every ordered neighbour of two people: exactly epsilon is needed, and no more."""
    inquiry, most = asked(name), ASKED[name][1]
    assert inquiry.question.max_conditions == most
    mechanism, number = inquiry.question.method.mechanism(inquiry.conditions), len(inquiry.conditions)
    measured = needed(erasing(possible(inquiry), 2), lambda X: law(mechanism, visits(X, number)))
    assert measured == pytest.approx(0.7, abs=1e-9)


def test_noise_for_one_condition_is_too_little_where_two_hold_together() -> None:
    inquiry = asked("conditions that hold together")
    wrong = AGeo(epsilon="0.7", sensitivity=1)
    pairs = erasing(possible(inquiry), 2)
    assert needed(pairs, lambda X: law(wrong, visits(X, 4))) == pytest.approx(1.4, abs=1e-9)


def test_a_policy_that_negates_something_else_than_what_is_counted_protects_nothing() -> None:
    """Under {not dose=0} the count of "dose=0 and young" can rise where somebody only grows younger."""
    rows = [(dose, age) for dose in range(2) for age in range(2)]
    mechanism = AGeo(epsilon=1)
    worst = 0.0
    for first, second in itertools.product(rows, rows):
        if (first[0] != 0) <= (second[0] != 0):
            counts = [int(dose == 0 and age == 0) for dose, age in (first, second)]
            one, other = (mechanism.distribution(count, HORIZON) for count in counts)
            worst = max(
                worst,
                max((math.inf for z, p in one.items() if p > 0 and not other.get(z, ball(0)) > 0), default=0),
            )
    assert worst == math.inf


@pytest.mark.parametrize("name", ASKED)
def test_the_sentences_of_the_promise_hold_for_every_record(name: str) -> None:
    """That you are one of them, against none; one more for whoever knows the others; and what may leak."""
    inquiry = asked(name, epsilon=1)
    mechanism, number = inquiry.question.method.mechanism(inquiry.conditions), len(inquiry.conditions)
    records = possible(inquiry)
    channel = {record: law(mechanism, visits((record, frozenset({0})), number)) for record in records}
    most = ball(1).exp()
    none: Record = frozenset()
    for record in records:
        # "at most e^E times as probable as it would have been had you been one of those counted in none"
        for z, mass in channel[record].items():
            assert not mass > most * channel[none][z]
    some = [record for record in records if record]
    for weight in (Fraction(1, 100), Fraction(1, 2), Fraction(99, 100)):
        prior = {none: 1 - weight} | {record: weight / len(some) for record in some}
        found = risk(channel, prior, bool)
        assert found.at_most(most), (name, weight)
    for record, condition in ((one, c) for one in some for c in one):
        others = record - {condition}
        if others in channel:
            known = {record: Fraction(1, 3), others: Fraction(2, 3)}
            assert risk(channel, known, lambda one, c=condition: c in one).at_most(most)
    uniform = {record: Fraction(1, len(records)) for record in records}
    # It may show for certain that somebody is not one of those counted in a group.
    assert risk(channel, uniform, lambda one: 1 not in one).value == math.inf


def test_where_everybody_is_counted_exact_counts_would_pass_for_private() -> None:
    """Why such a question is refused: no record steps to another, and so nothing is compared."""
    everybody = [frozenset({0}), frozenset({1})]
    exact = needed(erasing(everybody, 2), lambda X: {visits(X, 2): ball(1)})
    assert exact == 0
