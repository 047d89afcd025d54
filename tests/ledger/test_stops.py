"""A stop at a limit: what it closes, for whom, and that no copy of the ledger forgets it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.ledger.stores import QUESTION, backup, cost, forget_witnesses, restore

from safeside.errors import BadNumber, BadQuestion, LedgerError
from safeside.ledger import Ledger, Stage, open_ledger


def about(start: str, end: str) -> dict[str, object]:
    """A question that looks from one hour of a day to another."""
    return {**QUESTION, "looked_at": [f"2021-06-03T{hour}:00:00.000000Z" for hour in (start, end)]}


def test_no_question_that_looks_at_that_time_is_accepted_and_the_next_hour_is(ledger: Ledger) -> None:
    ledger.stop(ledger.reserve("city", "a", about("10", "12"), cost("0.1")))
    for start, end in (("11", "12"), ("09", "11"), ("10", "12"), ("00", "23")):
        with pytest.raises(LedgerError, match="stays closed"):
            ledger.reserve("city", "b", about(start, end), cost("0.1"))
        with pytest.raises(LedgerError, match="stays closed"):
            ledger.require_open("city", "b", about(start, end))
    with pytest.raises(LedgerError, match="stays closed"):
        ledger.reserve("city", "b", QUESTION, cost("0.1"))
    ledger.reserve("city", "b", about("12", "13"), cost("0.1"))
    ledger.reserve("city", "c", about("09", "10"), cost("0.1"))


def test_what_was_paid_before_the_stop_is_neither_taken_up_nor_committed_until_it_is_answered(
    ledger: Ledger,
) -> None:
    early = ledger.reserve("city", "b", about("11", "13"), cost("0.1"))
    done = ledger.reserve("city", "c", about("11", "13"), cost("0.1"))
    ledger.commit(done, "d0")
    stopped = ledger.reserve("city", "a", about("10", "12"), cost("0.1"))
    ledger.stop(stopped)
    with pytest.raises(LedgerError, match="stays closed"):
        ledger.commit(early, "d1")
    with pytest.raises(LedgerError, match="stays closed"):
        ledger.reserve("city", "b", about("11", "13"), cost("0.1"))
    assert ledger.reserve("city", "c", about("11", "13"), cost("0.1")).stage is Stage.COMMITTED
    ledger.commit(stopped, "d2")
    assert ledger.commit(early, "d1").stage is Stage.COMMITTED
    assert ledger.verify()


def test_it_is_recorded_once_stays_charged_and_opens_when_the_same_request_is_answered(
    ledger: Ledger,
) -> None:
    made = ledger.reserve("city", "a", about("10", "12"), cost(1))
    ledger.stop(made)
    ledger.stop(made)
    assert [event.action.kind for event in ledger.history()].count("stop") == 1
    assert not ledger.refuse("city", "a", about("10", "12"), "BadFile", unused=made), "nothing goes back"
    again = ledger.reserve("city", "a", about("10", "12"), cost(1))
    assert again.stopped
    assert ledger.commit(again, "d1").stage is Stage.COMMITTED
    ledger.reserve("city", "b", about("10", "12"), cost("0.1"))
    assert ledger.verify()


def test_a_copy_of_the_ledger_does_not_forget_it(ledger: Ledger, url: str, state: Path) -> None:
    made = ledger.reserve("city", "a", about("10", "12"), cost("0.1"))
    copy = backup(url)
    ledger.stop(made)
    witness = {path: path.read_bytes() for path in state.glob("*.witness")}
    restore(url, copy)
    forget_witnesses(url, state)
    with open_ledger(url) as other:
        other.reserve("city", "b", about("13", "14"), cost("0.1"))
    for path, content in witness.items():
        path.write_bytes(content + path.read_bytes())
    with open_ledger(url) as mended:
        mended.recover()
        assert mended.verify()
        with pytest.raises(LedgerError, match="stays closed"):
            mended.reserve("city", "c", about("10", "12"), cost("0.1"))


def test_limits_are_numbers_that_can_be_one(ledger: Ledger) -> None:
    with pytest.raises(BadNumber):
        ledger.create_dataset("town", "person", 1, max_places_per_person=0)
    with pytest.raises(BadQuestion, match="below the floor of 20"):
        ledger.create_dataset("town", "person", 1, people=19)
    made = ledger.create_dataset("town", "person", 1, max_places_per_person=4, people=20)
    assert (made.max_places_per_person, made.people) == (4, 20)
