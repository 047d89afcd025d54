"""Somebody who may write to the database, and to nothing else, does not get a budget back.

Events are taken off the end and others, made to fit, are put in their place. The witnesses still hold what
was there: either a reader says so, or what is left is not more than it was.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from tests.ledger.stores import QUESTION, cost, is_postgres, raw

from safeside.errors import LedgerForked, LedgerTampered
from safeside.ledger import Budget, Caps, Ledger, events, open_ledger
from safeside.ledger.events import Action, Event, Found, Head, canonical, digest, make

SPARSE = cost(2, epsilon_each=Fraction(1, 2))


@pytest.fixture
def history(ledger: Ledger) -> list[Event]:
    """A release of 1/2, a sparse one of 2 with every alarm used, a reservation that is open and taken up."""
    ledger.commit(ledger.reserve("city", "a", QUESTION, cost("1/2")), "d1")
    ledger.commit(ledger.reserve("city", "b", QUESTION, SPARSE), "d2", alarms=4)
    for _ in range(2):
        ledger.reserve("city", "c", QUESTION, cost("1/4"))
    assert ledger.remaining("city").epsilon == Fraction(1, 4)
    return list(ledger.history())


def chained(head: Head, bodies: list[Action | dict[str, object]]) -> list[tuple[int, str, str]]:
    """Events that follow one another, of the ledger's own vocabulary or of none."""
    rows = []
    for what in bodies:
        if isinstance(what, Action):
            event = make(head, datetime.now(UTC), what)
            body = event.body
        else:
            time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            at = {"number": head.number + 1, "previous": head.digest, "time": time}
            body = canonical({"schema": "safeside-event/1", **at, "action": what}).decode()
        head = Head(number=head.number + 1, digest=digest(body))
        rows.append((head.number, head.digest, body))
    return rows


def rewrite(url: str, keep: Head, bodies: list[Action | dict[str, object]]) -> None:
    """Take off everything after `keep`, and put these in its place."""
    rows = chained(keep, bodies)
    last = rows[-1] if rows else (keep.number, keep.digest, "")
    with raw(url) as run:
        run("DELETE FROM safeside_events WHERE number > ?", keep.number)
        for row in rows:
            run("INSERT INTO safeside_events (number, digest, body) VALUES (?, ?, ?)", *row)
        run("UPDATE safeside_ledger SET number = ?, digest = ?", last[0], last[1])


def noticed(url: str) -> bool:
    """Whether a fresh reader finds the events unreadable, or some of them forgotten."""
    try:
        with open_ledger(url) as fresh:
            fresh.verify()
            return False
    except (LedgerTampered, LedgerForked):
        return True


def left(url: str) -> Fraction:
    with open_ledger(url) as fresh:
        return fresh.remaining("city").epsilon


def charge(epsilon: str, request: str = "a", *, price: str | None = None) -> events.Reserved:
    return events.Reserved(
        request=request,
        reference="r",
        dataset="city",
        question=QUESTION,
        cost=cost(price or epsilon),
        charged=Budget(epsilon=Fraction(epsilon)),
    )


def test_an_event_that_says_it_accounts_for_another_does_not(
    history: list[Event], url: str, ledger: Ledger
) -> None:
    """Events of a kind that only named the digests of lost ones once passed."""
    keep = history[1].head
    adopted = [{"kind": "adopt", "lost": event.digest, "what": event.action.kind} for event in history[2:]]
    rewrite(url, keep, adopted)
    assert noticed(url)
    with pytest.raises(LedgerTampered), open_ledger(url) as fresh:
        fresh.recover()


def recharged(gone: list[Event]) -> dict[str, object]:
    """A cheap charge that claims to stand for a lost one."""
    what = json.loads(gone[0].body)["action"] | {"kind": "recharge", "manifest": "d1"}
    cheap = {"cost": {"epsilon": "1/100"}, "charged": {"epsilon": "1/100"}}
    return what | cheap | {"lost": gone[0].digest}


def refused(ends: str | None = None) -> events.Refused:
    return events.Refused(request="a", dataset="city", question="q", reason="BadFile", ends=ends)


def dataset(name: str, epsilon: int) -> events.DatasetCreated:
    return events.DatasetCreated(
        name=name,
        caps=Caps(epsilon=Fraction(epsilon)),
    )


def after(event: Event, what: Action) -> Found:
    """Words that nobody ever wrote, as if they had been found."""
    return Found.of(make(event.head, event.time, what))


def forged(name: str, gone: list[Event]) -> list[Action | dict[str, object]]:
    """What is put in the place of the events that were taken off."""
    cheap = json.loads(gone[0].body)
    cheap["action"] |= {"charged": {"epsilon": "1/100"}, "cost": {"epsilon": "1/100"}}
    ways: dict[str, list[Action | dict[str, object]]] = {
        "nothing": [],
        "a cheaper charge": [charge("1/100")],
        "a cheaper charge for the whole": [charge("1/100", one) for one in "abc"],
        "another dataset": [dataset("city 2", 3)],
        "a clock": [events.ClockSet(reason="forged")],
        "a refusal": [refused()],
        "a found return": [
            after(gone[1], events.Returned(request="a", reservation=gone[0].digest, epsilon=Fraction(1, 2)))
        ],
        "a found refusal": [Found.of(gone[0]), after(gone[0], refused(gone[0].digest))],
        "a found charge of less": [Found(event=cheap)],
        "a charge of less than its price": [charge("1/100", price="1/2")],
        "a charge in the name of another": [recharged(gone)],
    }
    return ways[name]


RECOVERABLE = (
    "nothing",
    "a cheaper charge",
    "a cheaper charge for the whole",
    "another dataset",
    "a clock",
    "a refusal",
    "a found return",
    "a found refusal",
    "a found charge of less",
)
IMPOSSIBLE = ("a charge of less than its price", "a charge in the name of another")


@pytest.mark.parametrize("name", RECOVERABLE + IMPOSSIBLE)
def test_a_rolled_back_ledger_is_noticed_whatever_is_put_in_its_place(
    history: list[Event], url: str, name: str
) -> None:
    rewrite(url, history[1].head, forged(name, history[2:]))
    assert noticed(url)


@pytest.mark.parametrize("name", RECOVERABLE)
def test_recovering_it_leaves_no_more_than_there_was(history: list[Event], url: str, name: str) -> None:
    before = left(url)
    rewrite(url, history[1].head, forged(name, history[2:]))
    with open_ledger(url) as fresh:
        with pytest.raises(LedgerForked):
            fresh.reserve("city", "x", QUESTION, cost("1/100"))
        fresh.recover()
        assert fresh.forgotten() == 0
        assert fresh.remaining("city").epsilon <= before
        assert fresh.verify() == fresh.head.number


@pytest.mark.parametrize("keep", range(2, 9))
def test_answering_every_event_by_its_own_words_gives_nothing_back(
    history: list[Event], url: str, keep: int
) -> None:
    """The one thing that a reader accepts: what is left is then what it was, or less."""
    before = left(url)
    rewrite(url, history[keep - 1].head, [Found.of(event) for event in history[keep:]])
    assert not noticed(url)
    assert left(url) <= before


def refund(history: list[Event], manifest: str, alarms: int) -> list[Action]:
    """The sparse release again, with fewer alarms, and what it then did not use."""
    paid = next(event for event in history if getattr(event.action, "request", "") == "b")
    return [
        events.Committed(
            request="b", reservation=paid.digest, manifest=manifest, fingerprint=None, alarms=alarms
        ),
        events.Returned(request="b", reservation=paid.digest, epsilon=Fraction(4 - alarms, 2)),
    ]


@pytest.mark.parametrize("manifest", ["d2", "another"])
@pytest.mark.parametrize("alarms", [0, 3])
def test_fewer_alarms_than_were_witnessed_are_paid_again(
    history: list[Event], url: str, manifest: str, alarms: int
) -> None:
    before = left(url)
    forged = [*refund(history, manifest, alarms), *(Found.of(event) for event in history[5:])]
    rewrite(url, history[4].head, forged)
    assert left(url) <= before


@pytest.mark.parametrize("kind", ["commit", "resume"])
def test_a_reservation_that_was_taken_up_does_not_go_back(history: list[Event], url: str, kind: str) -> None:
    """Its commit, or the second run that took it up, is taken off, and the reservation refused."""
    before = left(url)
    at = next(number for number, event in enumerate(history) if event.action.kind == kind)
    paid = history[at - 1]
    assert isinstance(paid.action, events.Reserved)
    ends = events.Refused(
        request=paid.action.request, dataset="city", question="q", reason="BadFile", ends=paid.digest
    )
    rewrite(url, paid.head, [ends, *(Found.of(event) for event in history[at:])])
    assert not noticed(url)
    assert left(url) <= before


def test_a_larger_budget_under_the_same_name_is_the_smaller_one(history: list[Event], url: str) -> None:
    before = left(url)
    made = history[1].action
    assert isinstance(made, events.DatasetCreated)
    rewrite(url, history[0].head, [dataset("city", 100)])
    assert noticed(url)
    with open_ledger(url) as fresh:
        fresh.recover()
        assert fresh.dataset("city").cap.epsilon == made.caps.epsilon
    assert left(url) <= before


def test_a_return_of_more_than_the_alarms_leave_is_noticed(history: list[Event], url: str) -> None:
    last, paid = history[-1].head, history[4].digest
    for epsilon in (Fraction(1, 100), Fraction(-1)):
        rewrite(url, last, [events.Returned(request="b", reservation=paid, epsilon=epsilon)])
        assert noticed(url)


@pytest.mark.parametrize("beside", [True, False])
def test_either_witness_alone_notices(history: list[Event], url: str, state: Path, beside: bool) -> None:
    if is_postgres(url):
        rewrite(url, history[1].head, [])
    else:
        gone = Path(url + ".witness") if beside else next(state.glob("*.witness"))
        rewrite(url, history[1].head, [])
        lines = gone.read_text().splitlines(keepends=True)
        gone.write_text("".join(lines[: len(lines) // 3]))
    assert noticed(url)
