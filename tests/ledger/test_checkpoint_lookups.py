"""What one who began at a checkpoint looks up of the time before it: proved, together, and once."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from tests.ledger.stores import about, begun_at, cost, raw

from safeside.errors import LedgerTampered
from safeside.ledger import Ledger, open_ledger
from safeside.ledger.account import same_question
from safeside.ledger.store import Rows


def test_an_altered_event_before_the_checkpoint_is_found_when_it_is_used_or_everything_is_read(
    long: Ledger, url: str
) -> None:
    paid = long.reservation("r5")
    assert paid is not None
    with raw(url) as run:
        ((body,),) = run("SELECT body FROM safeside_events WHERE number = ?", paid.number)
        run(
            "UPDATE safeside_events SET body = ? WHERE number = ?",
            *(body.replace('"epsilon":"1"', '"epsilon":"2"'), paid.number),
        )
    with open_ledger(url) as fresh:
        with pytest.raises(LedgerTampered, match=f"event {paid.number} "):
            fresh.reservation("r5")
        with pytest.raises(LedgerTampered, match=f"event {paid.number} "):
            fresh.verify()


def test_an_event_that_does_not_lead_to_the_checkpoint_is_no_event_of_the_chain(
    long: Ledger, url: str
) -> None:
    known = [event.head for event in long.history()][:5]
    with raw(url) as run:
        run("UPDATE safeside_events SET digest = ? WHERE number = ?", "0" * 64, known[3].number)
    with (
        open_ledger(url) as fresh,
        fresh.chain.reading() as (state, _),
        pytest.raises(LedgerTampered, match="it does not lead to the checkpoint after it"),
    ):
        state.passes(known[1])


def test_what_others_added_is_looked_up_together(
    long: Ledger, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is behind by many requests asks for the nodes of a level at once."""
    long.close()
    asked: list[Iterable[str]] = []
    nodes = Rows.nodes

    def counted(rows: Rows, names: Iterable[str]) -> dict[str, str]:
        asked.append(names)
        return nodes(rows, names)

    with open_ledger(url) as other, open_ledger(url) as behind:
        assert begun_at(behind) > 0
        for number in range(14, 23):
            other.reserve("city", f"s{number}", about(number), cost(1))
        monkeypatch.setattr(Rows, "nodes", counted)
        assert behind.head == other.head
        assert len(asked) <= 3
        assert begun_at(behind) > 0
        # Who is behind by many will be so again: the top of the index is in memory now.
        for number in range(14, 23):
            other.reserve("city", f"t{number}", about(number, day=4), cost(1))
        asked.clear()
        assert behind.head == other.head
        assert not asked


def test_a_request_that_went_back_and_was_asked_again_stands_once_under_what_it_asks(
    long: Ledger, url: str
) -> None:
    for _ in range(2):
        made = long.reserve("city", "again", about(15), cost(1))
        assert long.refuse("city", "again", about(15), "BadFile", unused=made)
        long.refuse("city", "again", about(15), "another reason")
    made = long.reserve("city", "again", about(15), cost(1))
    same = same_question(made.question)
    assert same is not None
    with open_ledger(url) as fresh:
        for ledger in (long, fresh):
            found = ledger.asked("city", about(15))
            assert found is not None
            assert found.digest == made.digest
            with ledger.chain.reading() as (state, _):
                assert state.asked(same) == ["again"]
            assert ledger.verify() == ledger.head.number
