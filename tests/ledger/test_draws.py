"""The key of a draw: stored with the commit or not at all, in one table, until it is forgotten."""

from __future__ import annotations

import pytest
from tests.ledger.stores import QUESTION, cost

from safeside.errors import RequestConflict
from safeside.ledger import Draw, Ledger, Stage, open_ledger, steps

DRAW = Draw(file=".noon.sealed", size=7, key=bytes(range(32)))


def test_a_commit_stores_the_key_and_forgetting_deletes_it(ledger: Ledger, url: str) -> None:
    made = ledger.reserve("city", "a", QUESTION, cost())
    assert ledger.draws() == {}
    ledger.commit(made, "d1", draw=DRAW)
    with open_ledger(url) as another:
        assert another.draws() == {made.digest: DRAW}
        another.forget_draw(made)
        another.forget_draw(made)
    assert ledger.draws() == {}
    assert ledger.verify() == ledger.head.number, "the chain knows nothing of it"


def test_the_key_and_the_commit_come_together_or_not_at_all(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = ledger.reserve("city", "a", QUESTION, cost())

    def reached(name: str) -> None:
        if name == steps.of("commit", steps.APPENDED):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(steps, "reached", reached)
        with pytest.raises(KeyboardInterrupt):
            ledger.commit(made, "d1", draw=DRAW)
    known = ledger.reservation("a")
    assert known is not None
    assert known.stage is Stage.RESERVED
    assert ledger.draws() == {}


def test_a_second_draw_leaves_the_key_of_the_first_alone(ledger: Ledger) -> None:
    made = ledger.reserve("city", "a", QUESTION, cost())
    ledger.commit(made, "d1", draw=DRAW)
    with pytest.raises(RequestConflict):
        ledger.commit(made, "d2", draw=Draw(file="other", size=1, key=bytes(32)))
    assert ledger.draws() == {made.digest: DRAW}
