"""Whatever is changed in the list of events, reading it names the event."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import pytest
from tests.ledger.stores import QUESTION, cost, raw

from safeside.errors import LedgerTampered
from safeside.ledger import Budget, Ledger, open_ledger
from safeside.ledger.events import Action, Reserved, Resumed, digest, make

MANY = {**QUESTION, "targets": [f"place {number}" for number in range(2000)]}


@pytest.fixture
def spent(ledger: Ledger) -> Ledger:
    for name in "ab":
        ledger.commit(ledger.reserve("city", name, MANY, cost()), f"d{name}")
    return ledger


def named(url: str) -> int:
    """The event that a fresh reader blames."""
    with pytest.raises(LedgerTampered) as caught, open_ledger(url) as fresh:
        fresh.remaining("city")
    found = re.search(r"event (\d+) cannot be trusted", str(caught.value))
    assert found is not None
    return int(found[1])


@pytest.mark.parametrize("number", range(1, 7))
def test_a_changed_amount_or_name(spent: Ledger, url: str, number: int) -> None:
    with raw(url) as run:
        ((body,),) = run("SELECT body FROM safeside_events WHERE number = ?", number)
        run("UPDATE safeside_events SET body = ? WHERE number = ?", body.replace("1", "2"), number)
    assert named(url) == number


@pytest.mark.parametrize("number", range(1, 6))
def test_a_change_with_its_digest_made_to_fit(spent: Ledger, url: str, number: int) -> None:
    with raw(url) as run:
        ((body,),) = run("SELECT body FROM safeside_events WHERE number = ?", number)
        forged = json.dumps({**json.loads(body), "time": "2020-01-01T00:00:00.000000Z"})
        run(
            "UPDATE safeside_events SET body = ?, digest = ? WHERE number = ?", forged, digest(forged), number
        )
    # An earlier date is noticed at once where there is an event before, otherwise by the next one.
    assert named(url) in (number, number + 1)


@pytest.mark.parametrize("number", range(1, 7))
def test_a_dropped_event(spent: Ledger, url: str, number: int) -> None:
    with raw(url) as run:
        run("DELETE FROM safeside_events WHERE number = ?", number)
    assert named(url) == number


def test_an_event_that_the_rules_forbid(spent: Ledger, url: str) -> None:
    with raw(url) as run:
        ((body,),) = run("SELECT body FROM safeside_events WHERE number = 6")
        forged = json.loads(body)
        forged["action"] = {
            "kind": "return",
            "request": "b",
            "reservation": forged["action"]["reservation"],
            "epsilon": "1",
        }
        text = json.dumps(forged)
        run("UPDATE safeside_events SET body = ?, digest = ? WHERE number = 6", text, digest(text))
        run("UPDATE safeside_ledger SET digest = ?", digest(text))
    assert named(url) == 6


def test_an_event_that_is_spelled_in_another_way(spent: Ledger, url: str) -> None:
    """The digest fits, so that only a reading of everything notices."""
    with raw(url) as run:
        ((body,),) = run("SELECT body FROM safeside_events WHERE number = 6")
        text = json.dumps(json.loads(body))
        run("UPDATE safeside_events SET body = ?, digest = ? WHERE number = 6", text, digest(text))
        run("UPDATE safeside_ledger SET digest = ?", digest(text))
    with (
        pytest.raises(LedgerTampered, match=r"event 6 cannot be trusted \(it is not canonical JSON"),
        open_ledger(url) as fresh,
    ):
        fresh.chain.check()


TOO_MUCH = Fraction(3, 2)


@pytest.mark.parametrize(
    "what",
    [
        Reserved(
            request="c",
            reference="0" * 32,
            dataset="city",
            question={},
            cost=cost(TOO_MUCH),
            charged=Budget(epsilon=TOO_MUCH),
        ),
        Resumed(request="c", reservation=""),
        Resumed(request="a", reservation=""),
    ],
    ids=["it spends more than was left", "it takes up nothing", "it takes up what is published"],
)
def test_an_event_that_cannot_be(spent: Ledger, url: str, what: Action) -> None:
    """Every digest fits, and every reader adds up for itself."""
    last = spent.history()[-1]
    forged = make(last.head, last.time, what)
    with raw(url) as run:
        run(
            "INSERT INTO safeside_events (number, digest, body) VALUES (?, ?, ?)",
            7,
            forged.digest,
            forged.body,
        )
        run("UPDATE safeside_ledger SET number = 7, digest = ?", forged.digest)
    assert named(url) == 7


def test_a_head_that_lies(spent: Ledger, url: str) -> None:
    with raw(url) as run:
        run("UPDATE safeside_ledger SET number = 5")
    assert named(url) == 6


def test_a_question_whose_list_was_changed(spent: Ledger, url: str) -> None:
    assert spent.verify() == 6
    with raw(url) as run:
        run("UPDATE safeside_documents SET body = '[]'")
    with pytest.raises(LedgerTampered, match="event 3"):
        spent.verify()


def test_a_process_that_had_read_the_ledger_goes_on_from_what_it_read(spent: Ledger, url: str) -> None:
    with raw(url) as run:
        run("UPDATE safeside_events SET body = 'x' WHERE number = 6")
    with pytest.raises(LedgerTampered):
        spent.verify()
