"""The vocabulary: one spelling for each event, and digests that depend on every byte."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from typing import get_args

import pytest
from tests.ledger.stores import NOON, QUESTION, cost

from safeside.errors import BadQuestion
from safeside.ledger import Budget, Caps, events
from safeside.ledger.events import NOTHING, Action, AnyAction, canonical, make, parse
from safeside.privacy.guarantee import Unit

EXAMPLES: list[Action] = [
    events.LedgerCreated(ledger="l", key="k", software="s"),
    events.DatasetCreated(
        name="city",
        caps=Caps(unit=Unit.PERSON_DAY, timezone="Asia/Tokyo", epsilon=Fraction(1, 3)),
        people=500,
    ),
    events.Reserved(
        request="r",
        reference="0" * 32,
        dataset="city",
        question=QUESTION,
        cost=cost(1, periods=("2021-03-04",), epsilon_each=Fraction(1, 2)),
        charged=Budget(epsilon=Fraction(1)),
    ),
    events.FilesRead(dataset="city", files=("f1", "f2")),
    events.Committed(request="r", reservation="d", manifest="m", fingerprint=None, alarms=2),
    events.Returned(request="r", reservation="d", epsilon=Fraction(1, 2)),
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
        charged=Budget(epsilon=Fraction(1)),
        manifest="m",
    ),
    events.Found.of(events.make(events.NOTHING, NOON, events.Linked(first="city", second="town"))),
    events.ClockSet(reason="set right"),
    events.Resumed(request="a", reservation="d"),
    events.Checkpoint(snapshot="s"),
]


def test_there_is_an_example_of_each_kind() -> None:
    assert [type(one) for one in EXAMPLES] == list(get_args(AnyAction))


@pytest.mark.parametrize("what", EXAMPLES, ids=lambda what: what.kind)
def test_an_event_reads_back_as_it_was_written(what: Action) -> None:
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


def test_a_question_that_has_no_exact_spelling_is_refused() -> None:
    assert canonical({"b": [1, "é"], "a": None}) == '{"a":null,"b":[1,"é"]}'.encode()
    for value in (0.5, {"a": [float("nan")]}, {1: "a"}, b"x", "\ud800", 1 << 60):
        with pytest.raises(BadQuestion):
            canonical(value)


@pytest.mark.parametrize("change", [{"extra": 1}, {"kind": "gift"}, {"epsilon": 1}, {"request": None}])
def test_a_body_that_is_not_an_event_is_refused(change: dict[str, object]) -> None:
    body = make(NOTHING, NOON, EXAMPLES[4]).fields()
    body["action"] |= change
    with pytest.raises(ValueError):
        parse(canonical(body).decode())


def test_events_cannot_be_changed_in_memory() -> None:
    with pytest.raises(AttributeError):
        EXAMPLES[5].epsilon = Fraction(0)  # type: ignore[attr-defined]
