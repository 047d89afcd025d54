"""What a ledger costs when it is long, when many write at once, and beyond what the disk costs.

    python -m benchmarks.ledger [--events 1000 100000] [--processes 32] [--seconds 5]

In both stores, each ledger with its witnesses, everything flushed to the disk:

- `ledger show` and the admission of a publication (is the request known, was it asked before, is its time
  open, what is left, reserve, commit), each from opening the ledger to closing it, at both lengths, in turns;
- spends a second (a reservation and its commit) of one process, and of many at once, each time in a new
  ledger of the shorter length;
- the same rows in a bare transaction with the same lines appended to files and flushed, by one process.

One process, many and the bare transactions take turns, so that what else the machine does meets all of them.
Times are medians. It ends with an error if a ratio is missed. Needs PostgreSQL, as `make test` installs it.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final

from safeside.ledger import Caps, Cost, Ledger, Reservation, events, open_ledger
from safeside.ledger.opening import store_at
from safeside.ledger.store import Identity
from safeside.ledger.witness import STATE_VARIABLE

DATASET: Final = "city"
PRICE: Final = Cost(epsilon=Fraction(1, 10**6))
BEGIN: Final = datetime(2024, 1, 1, tzinfo=UTC)
PLACES: Final = [f"place {number:05}" for number in range(5000)]
TURNS: Final = 9
ROUNDS: Final = 3
"""So often one process, many processes and bare transactions take turns."""
LONGER: Final = 2
"""A long ledger may take so many times what a short one takes."""
HALF: Final = 0.5
"""Many processes together, and one beside a bare transaction, are at least half as fast."""


def question(number: int) -> dict[str, Any]:
    """An hour that nobody asked about yet, of the same places."""
    start = BEGIN + timedelta(hours=number)
    times = [at.strftime("%Y-%m-%dT%H:%M:%S.%fZ") for at in (start, start + timedelta(hours=1))]
    return {
        "targets": PLACES,
        "window": f"{start:%Y-%m-%dT%H:%M}",
        "looked_at": times,
        "asks": "at most 2",
        "out": f"/srv/releases/{number:06}",
        "supersedes": None,
    }


def chain(length: int) -> tuple[Identity, list[events.Event], dict[str, str]]:
    """So many events: releases one hour after another, a new file every day."""
    identity = Identity(ledger_id="0" * 32, fingerprint_key="1" * 64)
    first = events.LedgerCreated(
        ledger=identity.ledger_id, key=events.digest(identity.fingerprint_key), software="benchmark"
    )
    made: list[events.Event] = []

    def add(action: events.Action) -> events.Event:
        made.append(events.make(made[-1].head if made else events.NOTHING, BEGIN, action))
        return made[-1]

    add(first)
    add(events.DatasetCreated(name=DATASET, caps=Caps(epsilon=Fraction(10))))
    documents: dict[str, str] = {}
    for number in range(length):
        stored, long = events.shorten(question(number))
        documents |= long
        request = f"r-{number}"
        paid = add(
            events.Reserved(
                request=request,
                reference=f"{number:032x}",
                dataset=DATASET,
                question=stored,
                cost=PRICE,
                charged=PRICE.under_policy(),
            )
        )
        if number % 24 == 0:
            add(events.FilesRead(dataset=DATASET, files=(events.digest(request),)))
        add(events.Committed(request=request, reservation=paid.digest, manifest=events.digest(paid.body)))
        if len(made) >= length:
            break
    return identity, made, documents


def make_ledger(url: str, length: int, state: Path) -> str:
    """A ledger of that length, with a state directory of its own; it has written its first checkpoint.

    Made in another process: those that are measured are forked from one that never held so many events.
    """
    os.environ[STATE_VARIABLE] = str(state)
    maker = multiprocessing.get_context("fork").Process(target=_make, args=(url, length))
    maker.start()
    maker.join()
    assert maker.exitcode == 0
    return url


def _make(url: str, length: int) -> None:
    identity, made, documents = chain(length)
    store_at(url).create(identity, made, documents)
    with open_ledger(url) as ledger:
        ledger.chain.testify()
        spend(ledger, 10_000_000)


def spend(ledger: Ledger, number: int) -> Reservation:
    """A release, as far as the ledger is concerned."""
    paid = ledger.reserve(DATASET, f"r-{number}", question(number), PRICE)
    return ledger.commit(paid, events.digest(paid.digest))


def show(ledger: Ledger, _number: int) -> None:
    """What `safeside ledger show` asks for."""
    ledger.show(DATASET)


def admit(ledger: Ledger, number: int) -> None:
    """What `publish` asks for until its release is committed."""
    asked = question(number)
    assert ledger.reservation(f"r-{number}") is None
    assert ledger.asked(DATASET, asked) is None
    assert not ledger.committed_of([events.digest(str(number))])
    ledger.require_open(DATASET, f"r-{number}", asked)
    ledger.preview(DATASET, PRICE)
    ledger.show(DATASET)
    spend(ledger, number)


def timed(url: str, state: Path, run: Callable[[Ledger, int], None], number: int) -> float:
    """Seconds from opening the ledger to closing it."""
    os.environ[STATE_VARIABLE] = str(state)
    began = time.perf_counter()
    with open_ledger(url) as ledger:
        run(ledger, number)
    return time.perf_counter() - began


def spends(url: str, first: int, seconds: float, together: Any) -> tuple[int, float, float]:
    """How many releases one process makes, and in how many seconds on the clock and of the processor.

    It has made one already when all begin together: neither opening nor the first reading is measured.
    """
    with open_ledger(url) as ledger:
        spend(ledger, first)
        together.wait()
        began, taken, made = time.monotonic(), time.process_time(), 0
        while time.monotonic() < began + seconds:
            made += 1
            spend(ledger, first + made)
    return made, time.monotonic() - began, time.process_time() - taken


def together(url: str, processes: int, seconds: float, first: int) -> tuple[float, float]:
    """Releases a second of so many processes at once; seconds of the processor for each release."""
    context = multiprocessing.get_context("fork")
    with (
        context.Manager() as manager,
        ProcessPoolExecutor(processes, mp_context=context) as pool,
    ):
        begin = manager.Barrier(processes)
        running = [pool.submit(spends, url, first + 10_000 * one, seconds, begin) for one in range(processes)]
        each = [one.result() for one in running]
    made = sum(number for number, _, _ in each)
    return made / max(clock for _, clock, _ in each), sum(taken for _, _, taken in each) / made


def bare(url: str, home: Path, seconds: float, first: int) -> float:
    """Releases a second of nothing but their rows in transactions and their lines in flushed files.

    The database is no ledger afterwards.
    """
    store = store_at(url)
    files = [home / "bare-1"] if store.beside is None else [home / "bare-1", home / "bare-2"]
    opened = [os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600) for path in files]
    body = chain(3)[1][2].body
    began, made, number = time.monotonic(), 0, first
    while time.monotonic() < began + seconds:
        for _ in range(2):
            number += 1
            event = events.Event(
                number=number,
                previous="",
                time=BEGIN,
                action=events.ClockSet(reason=""),
                body=body,
                digest=f"{number:064}",
            )
            with store.write() as rows:
                rows.append(event)
            for handle in opened:
                os.write(handle, f"event {number} {event.digest} {body}\n".encode())
                os.fsync(handle)
        made += 1
    taken = time.monotonic() - began
    for handle in opened:
        os.close(handle)
    store.close()
    return made / taken


def measure(
    name: str, urls: dict[int, str], another: Callable[[], str], home: Path, processes: int, seconds: float
) -> list[str]:
    """Every ratio of one store, as lines that end in met or missed; `another` is a new, short ledger."""
    short, long = sorted(urls)
    lines = []
    for label, run in (("ledger show", show), ("admission of a publication", admit)):
        taken: dict[int, list[float]] = {short: [], long: []}
        for turn in range(TURNS):
            for length, url in urls.items():
                taken[length].append(timed(url, home / f"state-{length}", run, 1_000_000 + turn))
        one, other = (statistics.median(taken[length]) for length in (short, long))
        both = f"{long:,} events {other * 1000:.1f} ms, {short:,} events {one * 1000:.1f} ms"
        lines.append(said(f"{name}: {label}, {both}", other / one, most=LONGER))
    rounds: list[tuple[float, ...]] = []
    for number in range(ROUNDS):
        first = 2_000_000 * (1 + number)
        one_process = together(another(), 1, seconds, first)
        all_of_them = together(another(), processes, seconds, first + 1_000_000)
        rows = bare(urls[long], home, seconds, 50_000_000 + first)
        rounds.append((*one_process, *all_of_them, rows))
    alone, of_one, many, of_many, nothing_else = (
        statistics.median(each) for each in zip(*rounds, strict=True)
    )
    cost = f"{of_many * 1000:.1f} and {of_one * 1000:.1f} ms of the processor each"
    lines.append(
        said(
            f"{name}: {many:.1f} spends a second by {processes} processes, {alone:.1f} by one, {cost}",
            many / alone,
            least=HALF,
        )
    )
    lines.append(
        said(
            f"{name}: {alone:.1f} spends a second by one process, {nothing_else:.1f} bare transactions",
            alone / nothing_else,
            least=HALF,
        )
    )
    return lines


def said(what: str, ratio: float, *, most: float | None = None, least: float | None = None) -> str:
    """A line with its ratio, and whether it is what it has to be."""
    met = ratio <= most if most is not None else ratio >= (least or 0)
    goal = f"at most {most:g}" if most is not None else f"at least {least:g}"
    return f"{what}: {ratio:.2f} times ({goal}), {'met' if met else 'MISSED'}"


def both(
    home: Path, lengths: list[int], fresh: Callable[[], str]
) -> tuple[dict[int, str], Callable[[], str]]:
    """A ledger of each length, and how to make another of the shorter one; `fresh` is an unused address."""
    names = (home / f"state-of-another-{number}" for number in itertools.count())
    urls = {length: make_ledger(fresh(), length, home / f"state-{length}") for length in lengths}
    return urls, lambda: make_ledger(fresh(), min(lengths), next(names))


def main(words: list[str]) -> int:
    """Both stores, one after the other."""
    from tests.postgres import Server

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--events", type=int, nargs=2, default=[1_000, 100_000])
    options.add_argument("--processes", type=int, default=32)
    options.add_argument("--seconds", type=float, default=5)
    given = options.parse_args(words)
    server, missed = Server(safe=True), False
    try:
        for name in ("SQLite", "PostgreSQL"):
            with tempfile.TemporaryDirectory() as made:
                home = Path(made)
                files = (str(home / f"{number}.db") for number in itertools.count())
                fresh = partial(next, files) if name == "SQLite" else server.fresh
                urls, another = both(home, given.events, fresh)
                for line in measure(name, urls, another, home, given.processes, given.seconds):
                    sys.stdout.write(line + "\n")
                    sys.stdout.flush()
                    missed = missed or line.endswith("MISSED")
    finally:
        server.remove()
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
