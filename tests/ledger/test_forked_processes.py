"""A process that is forked has nothing of what its parent holds, and undoes nothing that its parent does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.ledger.stores import QUESTION, cost, is_postgres

from safeside.ledger import Ledger, open_ledger, steps


def test_other_threads_and_forked_processes_use_connections_of_their_own(ledger: Ledger) -> None:
    child = os.fork()
    if child == 0:
        ledger.reserve("city", "child", QUESTION, cost())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    ledger.reserve("city", "parent", QUESTION, cost())
    assert ledger.remaining("city").epsilon == 1


BUSY = """
import os
import sys
import threading
from fractions import Fraction
from safeside.ledger import Cost, open_ledger
from safeside.ledger.store import Store
Store.busy_seconds = 5
ledger = open_ledger(sys.argv[1])
inside, go = threading.Event(), threading.Event()


def hold():
    with ledger.chain.store.alone():
        inside.set()
        go.wait()


os.register_at_fork(before=go.set)
thread = threading.Thread(target=hold)
thread.start()
inside.wait()
child = os.fork()
if child == 0:
    try:
        with open_ledger(sys.argv[1]) as mine:
            mine.reserve("city", "child", {"window": "noon"}, Cost(epsilon=Fraction(1)))
        os._exit(0)
    finally:
        os._exit(1)
thread.join()
ledger.reserve("city", "parent", {"window": "noon"}, Cost(epsilon=Fraction(1)))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_process_forked_while_a_thread_is_in_the_database_opens_the_ledger(
    ledger: Ledger, url: str
) -> None:
    """SQLite would believe in the lock of that thread for as long as the process lives."""
    subprocess.run([sys.executable, "-c", BUSY, url], check=True)
    assert {one.request for one in ledger.reservations()} == {"child", "parent"}


def test_a_forked_process_that_closes_the_ledger_undoes_nothing(
    ledger: Ledger, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal of what the parent is writing is the parent's."""
    sizes = []

    def fork(name: str) -> None:
        if name == steps.of("reserve", steps.APPENDED):
            sizes.append(size())
            child = os.fork()
            if child == 0:
                ledger.close()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            sizes.append(size())

    def size() -> int:
        return 0 if is_postgres(url) else Path(f"{url}-journal").stat().st_size

    monkeypatch.setattr(steps, "reached", fork)
    ledger.reserve("city", "r", QUESTION, cost())
    assert sizes[0] == sizes[1]
    assert is_postgres(url) or sizes[0] > 0
    with open_ledger(url) as other:
        assert other.verify() == 3


KILLED = """
import os
import signal
import sys
from safeside.ledger import open_ledger
ledger = open_ledger(sys.argv[1])
ledger.head
if os.fork() == 0:
    sys.stdin.readline()
    os._exit(0)
with ledger.chain.store.write():
    print("holds", flush=True)
    signal.pause()
"""


def test_a_process_that_is_killed_in_its_turn_holds_nothing_although_others_were_forked_from_it(
    ledger: Ledger, url: str
) -> None:
    """The server would not hear that it is gone while somebody has its connection open."""
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "holds\n"
    process.kill()
    process.wait()
    ledger.chain.store.busy_seconds = 20
    ledger.reserve("city", "r", QUESTION, cost())
    process.communicate("go on\n")
