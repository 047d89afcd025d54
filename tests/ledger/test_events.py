"""The vocabulary: one spelling for each event, and digests that depend on every byte."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction

import pytest
from tests.ledger.stores import NOON, QUESTION, cost

from safeside.errors import BadNumber, BadQuestion
from safeside.ledger import events, money
from safeside.ledger.events import KINDS, NOTHING, Happening, canonical, make, parse

EXAMPLES: list[Happening] = [
    events.LedgerCreated(ledger="l", key="k", software="s"),
    events.DatasetCreated(
        name="city",
        unit="person-day",
        timezone="Asia/Tokyo",
        epsilon=Fraction(1, 3),
        delta=Fraction(0),
        balance="private",
        max_places_per_person=None,
        people=500,
    ),
    events.Reserved(
        request="r",
        reference="0" * 32,
        dataset="city",
        question=QUESTION,
        cost=cost(1, periods=("2021-03-04",), each=Fraction(1, 2)),
        epsilon=Fraction(1),
        delta=Fraction(0),
    ),
    events.FilesRead(dataset="city", files=("f1", "f2")),
    events.Committed(request="r", reservation="d", manifest="m", fingerprint=None, alarms=2),
    events.Returned(request="r", epsilon=Fraction(1, 2)),
    events.Withdrawn(request="r", reservation="d", reason="software-fault"),
    events.Refused(request="q", dataset="city", question="digest", reason="no room", ends=None),
    events.Stopped(request="r", reservation="d"),
    events.Linked(first="city", second="town"),
    events.Recharged(
        request="r",
        reference="0" * 32,
        dataset="city",
        question={},
        cost=cost(),
        epsilon=Fraction(1),
        delta=Fraction(0),
        manifest="m",
    ),
    events.Found.of(events.make(events.NOTHING, NOON, events.Linked(first="city", second="town"))),
    events.ClockSet(reason="set right"),
    events.Resumed(request="a", reservation="d"),
]


def test_there_is_an_example_of_each_kind() -> None:
    assert [type(one) for one in EXAMPLES] == list(KINDS.values())


@pytest.mark.parametrize("what", EXAMPLES, ids=lambda what: what.kind)
def test_an_event_reads_back_as_it_was_written(what: Happening) -> None:
    event = make(NOTHING, NOON, what)
    assert parse(event.body) == event
    assert make(NOTHING, NOON, what).digest == event.digest
    assert make(event.head, NOON, what).digest != event.digest
    assert make(NOTHING, NOON + timedelta(microseconds=1), what).digest != event.digest
    assert event.to_json()["digest"] == event.digest


def test_the_same_moment_has_one_spelling() -> None:
    tokyo = NOON.astimezone(timezone(timedelta(hours=9)))
    assert make(NOTHING, tokyo, EXAMPLES[0]).body == make(NOTHING, NOON, EXAMPLES[0]).body
    assert parse(make(NOTHING, tokyo, EXAMPLES[0]).body).time == datetime(2021, 3, 4, 12, tzinfo=UTC)


def test_canonical_json_has_one_spelling() -> None:
    assert canonical({"b": [1, "é"], "a": None}) == '{"a":null,"b":[1,"é"]}'
    for value in (0.5, {"a": [float("nan")]}, {1: "a"}, {"a": Fraction(1)}, b"x", "\ud800"):
        with pytest.raises(BadQuestion):
            canonical(value)


@pytest.mark.parametrize("text", ["2/4", "1", " 1/2", "1/2 ", "0.5", "+1/2", "1/0"])
def test_an_amount_has_one_spelling(text: str) -> None:
    with pytest.raises((ValueError, ZeroDivisionError)):
        money.read(text)
    assert money.read(money.written(Fraction(-7, 3))) == Fraction(-7, 3)
    with pytest.raises(BadNumber):
        # A file of somebody else's may hold it, and a hundred times as many digits would take hours to read.
        money.read("1e9999")


@pytest.mark.parametrize("change", [{"extra": 1}, {"kind": "gift"}, {"epsilon": 1}, {"request": None}])
def test_a_body_that_is_not_an_event_is_refused(change: dict[str, object]) -> None:
    body = make(NOTHING, NOON, EXAMPLES[4]).to_json()
    del body["digest"]
    with pytest.raises((ValueError, KeyError, TypeError)):
        parse(canonical({**body, **change}))


def test_events_cannot_be_changed_in_memory() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        EXAMPLES[5].epsilon = Fraction(0)  # type: ignore[attr-defined]
