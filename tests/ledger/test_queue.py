"""Those who wait for the ledger are served in the order in which they came."""

from __future__ import annotations

import fcntl
import os
import resource
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

import psycopg
import pytest
from tests.ledger.stores import QUESTION, cost, is_postgres

from safeside.errors import StoreUnavailable
from safeside.ledger import Ledger, open_ledger, queue
from safeside.ledger.store import Store

WAITERS = 12


def waiting(file: Path) -> int:
    """How many numbers were given out and not served."""
    last, served = struct.unpack_from("<qq", file.read_bytes())
    return int(last - served)


def standing(ledger: Ledger, url: str) -> int:
    """How many wait for their turn now: in the queue of this machine, and at the server."""
    file = ledger.chain.store.queue
    assert file is not None
    if not is_postgres(url):
        return waiting(file)
    with psycopg.connect(url, autocommit=True) as server:
        query = b"SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'safeside_ledger'::regclass"
        ((number,),) = server.execute(query).fetchall()
        return int(number) + (waiting(file) if file.exists() else 0)


def until(done: Callable[[], bool]) -> None:
    pause = threading.Event()
    while not done():
        pause.wait(0.002)


def test_waiters_are_served_in_the_order_of_arrival(ledger: Ledger, url: str) -> None:
    """Each arrives once the one before it stands in the queue; nobody is overtaken."""

    def spend(number: int) -> None:
        with open_ledger(url) as mine:
            mine.reserve("city", f"r{number}", QUESTION, cost("1/100"))

    threads = [threading.Thread(target=spend, args=(number,)) for number in range(WAITERS)]
    with ledger.chain.store.write():
        for number, thread in enumerate(threads):
            thread.start()
            until(lambda number=number: standing(ledger, url) == number + 1)
    for thread in threads:
        thread.join()
    served = [one.request for one in ledger.reservations("city")]
    assert served == [f"r{number}" for number in range(WAITERS)]


def test_those_whose_turn_is_near_prepare_while_somebody_is_served(tmp_path: Path) -> None:
    """Whoever is next, and the one after: else each would wait for the preparation of another. More at once
    would take the processor from whoever is served."""
    file, prepared, served = tmp_path / "queue", [], []

    def wait(number: int) -> None:
        with queue.in_turn(file, 60, lambda: prepared.append(number)):
            served.append(number)
            # While the first of them is served the turn of the third is near.
            until(lambda: number != 0 or 2 in prepared)

    threads = [threading.Thread(target=wait, args=(number,)) for number in range(3)]
    with queue.in_turn(file, 60):
        for number, thread in enumerate(threads):
            thread.start()
            until(lambda number=number: waiting(file) == number + 1)
        until(lambda: len(prepared) >= 2)
        assert sorted(prepared) == [0, 1]
    for thread in threads:
        thread.join()
    assert served == [0, 1, 2]
    assert sorted(prepared) == [0, 1, 2]


SPEND = """
import sys
from tests.ledger.stores import QUESTION, cost
from safeside.ledger import open_ledger
with open_ledger(sys.argv[1]) as mine:
    mine.reserve("city", sys.argv[2], QUESTION, cost("1/100"))
"""


def test_a_waiter_that_is_killed_holds_nobody_up(ledger: Ledger, url: str) -> None:
    children = []
    with ledger.chain.store.write():
        for number in range(3):
            children.append(subprocess.Popen([sys.executable, "-c", SPEND, url, f"r{number}"]))
            until(lambda number=number: standing(ledger, url) == number + 1)
        children[1].kill()
        children[1].wait()
    assert (children[0].wait(), children[2].wait()) == (0, 0)
    served = [one.request for one in ledger.reservations("city")]
    # A server may only notice when it comes to the turn of the dead one.
    assert [one for one in served if one != "r1"] == ["r0", "r2"]


def test_whoever_waits_too_long_is_told_so(ledger: Ledger, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if is_postgres(url):
        return
    other = open_ledger(url)
    monkeypatch.setattr(Store, "busy_seconds", 0.01)
    with ledger.chain.store.write(), pytest.raises(StoreUnavailable, match=r"for 0\.01 seconds"):
        other.reserve("city", "a", QUESTION, cost())
    other.reserve("city", "a", QUESTION, cost())


@pytest.mark.parametrize("spoil", ["", "not numbers at all", "\x00" * 7 + "\x7f" * 9])
def test_a_queue_that_was_spoilt_stops_nobody(ledger: Ledger, url: str, spoil: str) -> None:
    if not is_postgres(url):
        Path(url + ".queue").write_text(spoil)
    ledger.reserve("city", "a", QUESTION, cost())
    if not is_postgres(url):
        Path(url + ".queue").unlink()
        os.mkfifo(url + ".queue")
    with open_ledger(url) as other:
        other.reserve("city", "b", QUESTION, cost())
    assert ledger.remaining("city").epsilon == 1


def test_an_interruption_at_the_end_of_a_turn_leaves_the_queue(tmp_path: Path) -> None:
    """Else everybody on the machine would wait for a process that does nothing."""
    file, leaving = tmp_path / "queue", ExitStack.__exit__.__code__

    def interrupt(frame: FrameType, _event: str, _argument: object) -> None:
        if frame.f_code is leaving:
            sys.settrace(None)
            raise KeyboardInterrupt

    before = sys.gettrace()
    with pytest.raises(KeyboardInterrupt), queue.in_turn(file, 60):
        sys.settrace(interrupt)
    sys.settrace(before)
    with queue.in_turn(file, 0):
        pass


def test_a_process_with_many_open_files_waits_as_others_do(tmp_path: Path) -> None:
    """`select` takes no number of a file above 1023."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limits[0], 4096), max(limits[1], 4096)))
    open_files = [os.dup(0) for _ in range(1100)]
    try:
        with (
            queue.in_turn(tmp_path / "queue", 60),
            pytest.raises(queue.Late),
            queue.in_turn(tmp_path / "queue", 0.01),
        ):
            pass
    finally:
        for one in open_files:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.parametrize("held", [(0, 1), (16, 1 << 40)])
def test_whoever_gets_no_number_is_told_so_in_time(tmp_path: Path, held: tuple[int, int]) -> None:
    """Somebody was stopped while it took its own, or has locked all there are."""
    file = tmp_path / "queue"
    with queue.in_turn(file, 60):
        pass
    with file.open("r+b") as other:
        lock = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, *held, 0)
        fcntl.fcntl(other, fcntl.F_OFD_SETLK, lock)
        with pytest.raises(queue.Late), queue.in_turn(file, 0.01):
            pass
    with queue.in_turn(file, 60):
        pass
