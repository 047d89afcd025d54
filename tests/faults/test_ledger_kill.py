"""kill -9 at every named step of every kind of event: the event is there whole, or it never was.

Each test forks; the child opens the ledger for itself and is killed at the step, while it holds whatever it
then holds: a lock, an open transaction, a stored event that nobody was told of.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from tests.ledger.stores import NOON, QUESTION, backup, cost, restore

from safeside.ledger import Ledger, open_ledger, steps

SPARSE = cost(2, epsilon_each=Fraction(1, 2))
Act = Callable[[Ledger], object]


def _nothing(ledger: Ledger) -> None:
    """No preparation."""


def _reserved(ledger: Ledger) -> None:
    ledger.reserve("city", "a", QUESTION, SPARSE)


def _committed(ledger: Ledger) -> None:
    _reserved(ledger)
    ledger.commit(ledger.reserve("city", "a", QUESTION, SPARSE), "d1", alarms=1)


def _two(ledger: Ledger) -> None:
    ledger.create_dataset("town", "person", 2)


ACTS: dict[str, tuple[Act, Act]] = {
    "reserve": (_nothing, lambda it: it.reserve("city", "a", QUESTION, SPARSE)),
    "commit": (_reserved, lambda it: it.commit(it.reservation("a"), "d1", alarms=1)),
    "return": (_committed, lambda it: it.give_back(it.reservation("a"))),
    "withdraw": (_committed, lambda it: it.withdraw("a", "software-fault")),
    "refuse": (_nothing, lambda it: it.refuse("city", "b", QUESTION, "no room")),
    "link": (_two, lambda it: it.link("city", "town")),
    "clock": (_nothing, lambda it: it.recover(accept_clock=True, now=NOON)),
}


def killed_at(url: str, step: str, act: Act) -> None:
    """Do it in another process, which dies at the step."""
    child = os.fork()
    if child == 0:
        steps.reached = lambda name: os.kill(os.getpid(), signal.SIGKILL) if name == step else None
        try:
            act(open_ledger(url))
        finally:
            os._exit(3)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status), f"the step {step!r} was never reached"
    assert os.WTERMSIG(status) == signal.SIGKILL


@pytest.mark.parametrize("step", steps.OF_AN_EVENT)
@pytest.mark.parametrize("kind", ACTS)
def test_an_event_is_there_whole_or_not_at_all(ledger: Ledger, url: str, kind: str, step: str) -> None:
    prepare, act = ACTS[kind]
    prepare(ledger)
    before = ledger.head
    killed_at(url, steps.of(kind, step), act)
    stored = step in (steps.STORED, steps.WITNESSED)
    with open_ledger(url) as fresh:
        assert fresh.verify() == before.number + stored
        assert fresh.show("city").forgotten == 0
        act(fresh)
        act(fresh)
        fresh.verify()
        # A reservation that is asked for again is marked, once, as taken up by a second run.
        added = [event.action.kind for event in fresh.history()[before.number :]]
        assert added == ([kind, "resume"] if kind == "reserve" else [kind])
    assert ledger.head.number == before.number + len(added)


@pytest.mark.parametrize("step", steps.OF_AN_EVENT)
def test_a_killed_publication_is_paid_once_however_often_it_is_repeated(
    ledger: Ledger, url: str, step: str
) -> None:
    def publish(it: Ledger) -> None:
        made = it.reserve("city", "a", QUESTION, SPARSE)
        it.give_back(it.commit(made, "d1", alarms=1))

    for kind in ("reserve", "commit", "return"):
        if ledger.reservation("a") is None or kind != "reserve" or step in (steps.BEGUN, steps.APPENDED):
            killed_at(url, steps.of(kind, step), publish)
    publish(ledger)
    assert ledger.remaining("city").epsilon == Fraction(5, 2)
    kinds = [event.action.kind for event in ledger.history()[2:]]
    assert [kind for kind in kinds if kind != "resume"] == ["reserve", "commit", "return"]
    assert kinds.count("resume") == 1


@pytest.mark.parametrize("step", steps.OF_AN_EVENT)
def test_a_recovery_that_is_killed_is_finished_by_the_next(
    ledger: Ledger, url: str, state: Path, step: str
) -> None:
    copy = backup(url)
    _committed(ledger)
    elsewhere = {path: path.read_bytes() for path in state.iterdir()}
    restore(url, copy)
    for path in [*state.iterdir(), Path(url + ".witness")]:
        path.unlink(missing_ok=True)
    with open_ledger(url) as other:
        other.reserve("city", "b", QUESTION, cost("1/4"))
    for path, content in elsewhere.items():
        path.write_bytes(content + path.read_bytes())
    killed_at(url, steps.of("found", step), lambda it: it.recover())
    with open_ledger(url) as fresh:
        fresh.recover()
        assert fresh.remaining("city").epsilon == 3 - 2 - Fraction(1, 4)
        assert fresh.reservation("a").manifest == "d1"
        assert fresh.show("city").forgotten == 0
