"""Interrupted in the middle of anything, a process forgets what it half knows: nothing is spent twice.

A signal handler may raise between any two steps: Ctrl-C, or a timer of the caller's.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg._preparing import PrepareManager
from tests.ledger.stores import QUESTION, about, backup, cost, is_postgres, restore, witnesses

from safeside.errors import LedgerForked, OverBudget
from safeside.ledger import Ledger, Reservation, create_ledger, events, open_ledger, queue, steps
from safeside.ledger.account import Group, Tally


@contextmanager
def interrupted(
    owner: type, name: str, error: type[BaseException] = KeyboardInterrupt, also: Callable[[], Any] = bool
) -> Iterator[None]:
    """The first call of this method ends with an interruption, when it has done its work."""
    real = getattr(owner, name)

    def once(*given: Any, **more: Any) -> None:
        setattr(owner, name, real)
        real(*given, **more)
        also()
        raise error

    setattr(owner, name, once)
    try:
        with pytest.raises(error):
            yield
    finally:
        setattr(owner, name, real)


def test_what_an_interrupted_run_recorded_is_with_the_witnesses_before_anybody_is_told(
    ledger: Ledger, url: str, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is told that it is paid publishes: no backup may then forget the commit."""
    paid = ledger.reserve("city", "r", QUESTION, cost())
    copy = backup(url)

    def stop(name: str) -> None:
        if name == steps.of("commit", steps.STORED):
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "reached", stop)
        with pytest.raises(KeyboardInterrupt):
            ledger.commit(paid, "first")
    told = f"event {paid.number + 1} ".encode()
    assert not any(told in one.read_bytes() for one in witnesses(url, state))
    real, flushed = os.fsync, set()

    def fsync(handle: int) -> None:
        real(handle)
        flushed.add(Path(f"/proc/self/fd/{handle}").readlink())

    monkeypatch.setattr(os, "fsync", fsync)
    with open_ledger(url) as again:
        assert again.reserve("city", "r", QUESTION, cost()).manifest == "first"
    assert all(told in one.read_bytes() for one in witnesses(url, state))
    assert {one.resolve() for one in witnesses(url, state)} <= flushed
    restore(url, copy)
    with open_ledger(url) as restored, pytest.raises(LedgerForked):
        restored.commit(paid, "second")


def sparse(ledger: Ledger) -> Reservation:
    """A committed release of which 2 of 3 may come back."""
    paid = ledger.reserve("city", "sparse", QUESTION, cost(3, epsilon_each=Fraction(1)))
    return ledger.commit(paid, "m", alarms=1)


def test_a_refund_that_was_interrupted_is_credited_once(ledger: Ledger, url: str) -> None:
    paid = sparse(ledger)
    with interrupted(Group, "credit"):
        ledger.give_back(paid)
    assert ledger.remaining("city").epsilon == 0
    assert ledger.give_back(paid) == 2
    assert ledger.remaining("city").epsilon == 2
    with pytest.raises(OverBudget):
        ledger.reserve("city", "more", about(3), cost(3))
    with open_ledger(url) as other:
        assert other.remaining("city").epsilon == 2


@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize("where", [(Group, "charge"), (Tally, "add")])
def test_a_reservation_that_was_interrupted_is_made_or_not(
    url: str, public: bool, where: tuple[type, str]
) -> None:
    with create_ledger(url) as ledger, open_ledger(url) as other:
        ledger.create_dataset("city", "person", 3, public_balance=public)
        with interrupted(*where):
            ledger.reserve("city", "r", {**QUESTION, "asks": "at most 2"}, cost())
        assert other.reservation("r") is None
        paid = ledger.reserve("city", "r", {**QUESTION, "asks": "at most 2"}, cost())
        assert other.remaining("city").epsilon == 2
        ledger.commit(paid, "m")
        known = other.reservation("r")
        assert known is not None
        assert known.manifest == "m"
        assert [event.action.kind for event in other.history()][-2:] == ["reserve", "commit"]


def test_a_lost_event_that_was_being_put_back_is_put_back_once(ledger: Ledger, url: str, state: Path) -> None:
    paid = sparse(ledger)
    last = ledger.chain._state.time
    assert last is not None
    given = events.Returned(request="sparse", reservation=paid.digest, epsilon=Fraction(2))
    lost = events.make(ledger.head, last, given)
    for path in witnesses(url, state):
        with path.open("a") as file:
            file.write(f"event {lost.number} {lost.digest} {lost.body}\n")
    with open_ledger(url) as here:
        with interrupted(Group, "credit"):
            here.recover()
        here.recover()
        assert here.remaining("city").epsilon == 2
    with open_ledger(url) as other:
        assert other.remaining("city").epsilon == 2


def test_a_timer_that_rings_while_somebody_prepares_is_heard(ledger: Ledger, url: str) -> None:
    """What others added is then folded anew; a system's error in the queue is none of the caller's."""
    paid = sparse(ledger)
    go, held = threading.Event(), threading.Event()

    def hold(file: Path) -> None:
        with queue.in_turn(file, 60):
            held.set()
            go.wait()

    with open_ledger(url) as waiting:
        assert waiting.remaining("city").epsilon == 0
        ledger.give_back(paid)
        file = waiting.chain.store.queue
        assert file is not None
        holder = threading.Thread(target=hold, args=(file,))
        holder.start()
        held.wait()
        with interrupted(Group, "credit", TimeoutError, also=go.set):
            waiting.reserve("city", "more", about(3), cost(3))
        holder.join()
        with pytest.raises(OverBudget):
            waiting.reserve("city", "more", about(3), cost(3))
        assert waiting.remaining("city").epsilon == 2


def test_a_timer_that_rings_while_an_event_is_stored_is_heard(
    ledger: Ledger, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no fault of the witness, which is open meanwhile."""

    def ring(name: str) -> None:
        if name == steps.of("reserve", steps.STORED):
            raise TimeoutError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "reached", ring)
        with pytest.raises(TimeoutError):
            ledger.reserve("city", "r", QUESTION, cost())
    assert ledger.reserve("city", "r", QUESTION, cost()).number == 3
    with open_ledger(url) as other:
        assert other.remaining("city").epsilon == 2


def test_after_an_interruption_the_server_is_asked_as_before(ledger: Ledger, url: str) -> None:
    """The driver would count several statements as one that is often used, and prepare it."""

    def stop(driver: Any, *given: Any) -> None:
        if len(given[-1]) > 1:
            raise KeyboardInterrupt

    if is_postgres(url):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(PrepareManager, "validate", stop)
            with suppress(KeyboardInterrupt):
                ledger.refuse("city", "r", QUESTION, "no")
    for number in range(8):
        ledger.refuse("city", f"r{number}", QUESTION, "no")
    assert [one.action.kind for one in ledger.history()[-8:]] == ["refuse"] * 8


WAITS = """
import sys
from fractions import Fraction
from safeside.ledger import Cost, open_ledger
ledger = open_ledger(sys.argv[1])
ledger.remaining("city")
try:
    print("waits", flush=True)
    ledger.reserve("city", "r", {"window": "noon"}, Cost(epsilon=Fraction(1)))
except KeyboardInterrupt:
    print("interrupted", flush=True)
sys.stdin.readline()
print(ledger.reserve("city", "r", {"window": "noon"}, Cost(epsilon=Fraction(1))).number, flush=True)
"""


@contextmanager
def locked(url: str) -> Iterator[None]:
    """Somebody who does not stand in the queue has the database to itself."""
    if is_postgres(url):
        with psycopg.connect(url) as server:
            server.execute("LOCK TABLE safeside_ledger IN SHARE ROW EXCLUSIVE MODE")
            yield
    else:
        file = sqlite3.connect(url, isolation_level=None)
        file.execute("BEGIN IMMEDIATE")
        yield
        file.execute("ROLLBACK")
        file.close()


def test_ctrl_c_while_the_database_is_waited_for_leaves_it_to_others(
    ledger: Ledger, url: str, state: Path
) -> None:
    file = ledger.chain.store.queue
    assert file is not None
    served = file.read_bytes()[8:16]
    with locked(url):
        process = subprocess.Popen(
            [sys.executable, "-c", WAITS, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "waits\n"
        while file.read_bytes()[8:16] == served:
            os.sched_yield()  # until it is served, and waits for the database
        process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    # It is idle now, and holds nothing.
    ledger.chain.store.busy_seconds = 20
    ledger.reserve("city", "mine", about(1), cost())
    said, _ = process.communicate("go on\n")
    assert int(said) == ledger.head.number
    assert process.returncode == 0


def test_a_witness_that_was_cut_is_read_anew_although_it_has_grown_again(
    ledger: Ledger, url: str, state: Path
) -> None:
    with open_ledger(url) as waiting:
        waiting.head  # noqa: B018  it has read that
        cut = witnesses(url, state)[0]
        whole = cut.read_bytes()
        cut.write_bytes(b"")
        waiting.chain._prepare()
        cut.write_bytes(b"x" * len(whole) + b"\n")
        waiting.reserve("city", "r", QUESTION, cost())
    assert cut.read_bytes().count(b"event ") == ledger.head.number


def test_a_witness_exchanged_for_a_longer_file_is_read_anew(ledger: Ledger, url: str, state: Path) -> None:
    """It holds an event that this ledger has lost, in the part that the other file had as well."""
    first = witnesses(url, state)[0]
    with open_ledger(url) as waiting:
        waiting.head  # noqa: B018  it has read that
        time = ledger.chain._state.time
        assert time is not None
        lost = events.make(events.NOTHING, time, events.ClockSet(reason="another branch"))
        other = first.with_name("another")
        line = f"event {lost.number} {lost.digest} {lost.body}\n"
        other.write_text(line + first.read_text())
        other.replace(first)
        with pytest.raises(LedgerForked):
            waiting.reserve("city", "r", QUESTION, cost())


def test_a_line_too_deep_to_be_read_stops_nobody_who_prepares(ledger: Ledger, url: str, state: Path) -> None:
    """It is found again in the turn, where it is said."""
    head = ledger.head
    for depth in range(900, 1001, 4):
        nested = "[" * depth + '"a"' + "]" * depth
        body = (
            '{"action":{"charged":{"epsilon":"1"},"cost":{"epsilon":"1"},"dataset":"city","kind":"reserve",'
            f'"question":{{"targets":{nested}}},"reference":"r","request":"q"}},"number":{head.number + 1},'
            f'"previous":"{head.digest}","schema":"safeside-event/1","time":"2030-01-01T00:00:00.000000Z"}}'
        )
        with open_ledger(url) as waiting:
            waiting.head  # noqa: B018  it has read that
            path = witnesses(url, state)[0]
            whole = path.read_bytes()
            with path.open("a") as file:
                file.write(f"event {head.number + 1} {events.digest(body)} {body}\n")
            waiting.chain._prepare()
            assert waiting.chain._state.head in (
                head,
                events.Head(number=head.number + 1, digest=events.digest(body)),
            )
            path.write_bytes(whole)


def test_no_other_thread_reads_until_what_was_recorded_was_looked_at(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that waits for its turn folds what a witness alone says into the same account."""
    real, entered = ledger.chain.record, []

    def recorded(*given: Any, **more: Any) -> Any:
        state = real(*given, **more)
        other = threading.Thread(target=lambda: entered.append(ledger.chain.held.acquire(blocking=False)))
        other.start()
        other.join()
        return state

    monkeypatch.setattr(ledger.chain, "record", recorded)
    ledger.create_dataset("town", "person", 3)
    ledger.give_back(sparse(ledger))
    ledger.withdraw("sparse", "software")
    ledger.refuse("city", "no", about(4), "BadFile")
    ledger.link("city", "town")
    ledger.recover()
    assert len(entered) > 7
    assert not any(entered)
