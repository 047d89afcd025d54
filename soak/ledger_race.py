"""64 processes race for the budget of one dataset, in each store: 10,000 spends, to the last digit.

Every process reserves odd amounts under request ids of its own, repeats some requests, commits, and returns
part of what was sparse. Afterwards a fresh reader must find exactly what the processes say they did.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from safeside.errors import OverBudget
from safeside.ledger import Cost, Ledger, create_ledger, open_ledger
from safeside.ledger.events import Refused
from safeside.ledger.witness import STATE_VARIABLE

PROCESSES: Final = 64
SPENDS: Final = 10_000
SMALL_SPENDS: Final = 640
EXACT: Final = "exact total, no overdraft, no lost event"
DATASET: Final = "city"
_QUESTION: Final = {"targets": ["park"], "window": "now"}
_LARGEST: Final = 1000


@dataclass(frozen=True, kw_only=True)
class Report:
    """What one process says it did."""

    done: list[str]
    refused: int
    net: str


@dataclass(frozen=True, kw_only=True)
class Result:
    """What the race came to."""

    spends: int
    refused: int
    events: int
    spent: Fraction
    seconds: float
    problems: tuple[str, ...]


def race(url: str, *, processes: int, spends: int, room: int = 2) -> Result:
    """Let the processes loose; `room` halves of what they will ask for can be had."""
    share = -(-spends // processes)
    asked = sum(_price(one, turn).epsilon for one in range(processes) for turn in range(share))
    with create_ledger(url) as made:
        made.create_dataset(DATASET, "person", asked * Fraction(room, 2))
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        children = [_start(url, number, share, Path(directory)) for number in range(processes)]
        crashed = sum(os.waitpid(child, 0)[1] != 0 for child in children)
        reports = [Report(**json.loads(path.read_text())) for path in Path(directory).iterdir()]
    seconds = time.monotonic() - began
    return _judge(url, reports, crashed, processes * share, seconds)


def _price(number: int, turn: int) -> Cost:
    """An amount nobody would choose, so that a rounding anywhere would show; every third is sparse."""
    draw = random.Random(f"{number} {turn}")
    each = Fraction(draw.randint(1, _LARGEST), draw.randint(1, _LARGEST))
    return Cost(epsilon=3 * each, epsilon_each=each) if turn % 3 == 0 else Cost(epsilon=each)


def _start(url: str, number: int, share: int, directory: Path) -> int:
    child = os.fork()
    if child:
        return child
    try:
        report = _spend(url, number, share)
        (directory / f"{number:04}").write_text(json.dumps(asdict(report)))
        os._exit(0)
    finally:
        os._exit(1)


def _spend(url: str, number: int, share: int) -> Report:
    done, refused, net = [], 0, Fraction(0)
    with open_ledger(url) as ledger:
        for turn in range(share):
            request = f"{number}-{turn}"
            try:
                net += _publish(ledger, request, _price(number, turn), again=turn % 5 == 0)
                done.append(request)
            except OverBudget:
                refused += 1
    return Report(done=done, refused=refused, net=str(net))


def _publish(ledger: Ledger, request: str, cost: Cost, *, again: bool) -> Fraction:
    reservation = ledger.reserve(DATASET, request, _QUESTION, cost)
    if again:
        ledger.reserve(DATASET, request, _QUESTION, cost)
    ledger.commit(reservation, f"manifest of {request}", alarms=None if cost.epsilon_each is None else 1)
    return cost.epsilon - ledger.give_back(reservation)


def _judge(url: str, reports: list[Report], crashed: int, spends: int, seconds: float) -> Result:
    done = {request for report in reports for request in report.done}
    net = sum((Fraction(report.net) for report in reports), Fraction(0))
    refused = sum(report.refused for report in reports)
    with open_ledger(url) as ledger:
        number, shown, history = ledger.verify(), ledger.show(DATASET), ledger.history()
        known = {one.request for one in ledger.reservations() if one.manifest == f"manifest of {one.request}"}
    refusals = sum(isinstance(event.action, Refused) for event in history)
    spent = shown.periods[0].spent.epsilon
    checks = {
        f"{crashed} processes failed": crashed == 0,
        f"{spends - len(done) - refused} spends have no outcome": len(done) + refused == spends,
        "the ledger knows other releases than were made": known == done,
        f"spent {spent}, but the processes say {net}": spent == net,
        f"spent {spent} of {shown.cap.epsilon}": spent <= shown.cap.epsilon,
        f"{refused} were refused, {refusals} recorded": refused == refusals,
        f"{number} events, {len(history)} read": number == len(history),
        "the ledger has forgotten events": shown.forgotten == 0,
    }
    problems = tuple(problem for problem, holds in checks.items() if not holds)
    return Result(
        spends=len(done), refused=refused, events=number, spent=spent, seconds=seconds, problems=problems
    )


def main(words: list[str]) -> int:
    """Both stores at the same time, with all the room that is asked for and then with half of it."""
    from tests.postgres import Server

    spends = SMALL_SPENDS if "--small" in words else SPENDS
    server = Server(safe=True)
    try:
        with tempfile.TemporaryDirectory() as directory:
            os.environ[STATE_VARIABLE] = f"{directory}/state"
            lines = [
                line
                for room in (2, 1)
                for line in _at_once(
                    {"SQLite": f"{directory}/{room}.db", "PostgreSQL": server.fresh()}, spends, room
                )
            ]
    finally:
        server.remove()
    return int(not all(line.endswith(EXACT) for line in lines))


def _at_once(urls: dict[str, str], spends: int, room: int) -> Iterator[str]:
    """One race in each store, begun by a process of its own: while one waits, the other works."""
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(len(urls), mp_context=context) as pool:
        races = {
            name: pool.submit(race, url, processes=PROCESSES, spends=spends, room=room)
            for name, url in urls.items()
        }
        for name, running in races.items():
            line = _line(name, running.result())
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
            yield line


def _line(name: str, result: Result) -> str:
    verdict = EXACT if not result.problems else str(result.problems)
    return (
        f"{name}: {PROCESSES} processes, {result.spends:,} spends, {result.refused:,} refused, "
        f"{result.events:,} events in {result.seconds:.0f} s: {verdict}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
