"""A publication, everything included, against the fastest raw query of the same window.

    python -m benchmarks.publish [--visits 10000000 100000000] [--layout people sorted] [--window day hour]

A week of visits to the city's 5,835 places in one Parquet file, in the order of people (which for time is
none) or sorted by their start. Raw is what somebody types who trusts every row: the fastest of
`benchmarks.visits`, which may skip row groups by their statistics. safeside is `publish()`, from the list of
places to the signed directory: ledger, key, digest of the file, counts, noise, map, report and all files, by
the method that is chosen where none is named. Both clocks start when the libraries are loaded. *First*: with
a new ledger, to which the file is new. *Again*: another window was published before. Beside them *command*:
all of `safeside publish`, from the start of Python to its end, with compiled modules as an installed package
has them, a first question; and *raw command*, the raw query as a program that somebody starts.

Each runs alone in a process, in turns; figures are medians over the turns, on the clock and of the processor,
whose time other work on the machine disturbs less. It ends with an error if one takes longer than 1.35 times
the raw query plus one second on the clock; the command is held against the raw command.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import polars as pl

from benchmarks._publish_once import AT_MOST, DATASET, EPSILON
from benchmarks._visit_queries import WINDOWS
from benchmarks.repeated import GROUP
from benchmarks.visits import RAW, STORE, VISITS_OF_A_PERSON, fastest_of, in_turn, raw_queries, run
from safeside.ledger import create_ledger
from safeside.releases.signing import create_key
from safeside_studies.city import generate

T = TypeVar("T")
TIMES, PLUS = 1.35, 1.0
LAYOUTS = ("people", "sorted")
CONTESTANTS = ("first", "again", "command")
STARTED = "raw command"
BEFORE = {"hour": "day", "day": "hour"}
"""Which window was published before one asks again."""
PLACES = 5_835
MOST_PLACES = 100
"""Of one person in a day, which the dataset declares: more than anybody of the city visits."""
COMMAND = "from safeside.cli.main import main; main()"


def city(visits: int, layout: str) -> Path:
    """The folder with a city of at least so many visits, made if it is not there."""
    folder = STORE / f"city-{visits}-{PLACES}"
    if not (folder / "visits.parquet").exists():
        generate(folder, people=-(-visits * 100 // int(VISITS_OF_A_PERSON * 100)), places=PLACES)
    if layout == "people":
        return folder
    ordered = folder.with_name(f"{folder.name}-{layout}")
    if not (ordered / "visits.parquet").exists():
        ordered.mkdir(exist_ok=True)
        for name in ("places.csv", "covers.toml"):
            shutil.copy(folder / name, ordered)
        rows = pl.scan_parquet(folder / "visits.parquet").sort("start")
        rows.sink_parquet(ordered / "visits.part", row_group_size=GROUP)
        (ordered / "visits.part").rename(ordered / "visits.parquet")
    return ordered


def publish_once(contestant: str, folder: Path, window: str) -> dict[str, float]:
    """Publish with a new ledger, as Python does or as the command does; seconds, and the processor's."""
    with TemporaryDirectory() as made:
        world = Path(made)
        create_key(world / "safeside.key")
        ledger = create_ledger(world / "ledger.db")
        ledger.create_dataset(DATASET, "person", 2 * EPSILON, max_places_per_person=MOST_PLACES)
        ledger.close()
        if contestant == "again":
            _run(_alone(folder, world, BEFORE[window]), world)
        command = _alone(folder, world, window)
        if contestant == "command":
            command = [sys.executable, "-c", COMMAND, *_options(folder, world, window)]
        whole, printed = from_start_to_end(lambda: _run(command, world))
        if not (world / f"release-{window}" / "signature.json").exists():
            raise AssertionError("nothing was published")
    if contestant != "command":
        answer: dict[str, float] = json.loads(printed.splitlines()[-1])
        return answer
    return whole


def from_start_to_end(work: Callable[[], T]) -> tuple[dict[str, float], T]:
    """What the programs took that this starts, and what it returns."""
    before, begin = os.times(), time.perf_counter()
    answer = work()
    seconds, after = time.perf_counter() - begin, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {"seconds": seconds, "cpu": cpu}, answer


def _alone(folder: Path, world: Path, window: str) -> list[str]:
    return [sys.executable, "-m", "benchmarks._publish_once", str(folder), str(world), window]


def _run(command: list[str], world: Path) -> str:
    """What the command printed; it keeps its notes in this world, and compiled modules where all do."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(world / "cache")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=STORE.parents[1], env=environment
    )
    return done.stdout


def _options(folder: Path, world: Path, window: str) -> list[str]:
    when = "/".join(moment.isoformat() for moment in WINDOWS[window])
    return [
        *("publish", str(folder / "visits.parquet"), "--places", str(folder / "places.csv"), "--when", when),
        *("--at-most", str(AT_MOST), "--epsilon", str(EPSILON), "--dataset", DATASET, "--yes"),
        *("--ledger", str(world / "ledger.db"), "--key", str(world / "safeside.key")),
        *("--out", str(world / f"release-{window}")),
    ]


def contest(
    folder: Path, window: str, raw: Sequence[str], contestants: Sequence[str], turns: int
) -> tuple[str, dict[str, list[dict[str, Any]]]]:
    """The fastest raw query, and what it and the publications took in each turn."""
    fastest = raw[0] if len(raw) == 1 else fastest_of(raw, folder, window)[0]
    publish_once("command", folder, window)  # by which its modules are compiled
    names = (fastest, *contestants)
    taken: dict[str, list[dict[str, Any]]] = {name: [] for name in (fastest, STARTED, *contestants)}
    for turn in range(turns):
        for name in in_turn(names, turn):
            if name == fastest:
                whole, took = from_start_to_end(lambda: run(fastest, folder, window))
                taken[STARTED].append(whole)
            else:
                took = publish_once(name, folder, window)
            taken[name].append(took)
    return fastest, taken


def report(fastest: str, taken: dict[str, list[dict[str, Any]]]) -> int:
    """Print the medians and what would be allowed; how many take longer."""
    middle = {
        name: {what: statistics.median(one[what] for one in each) for what in ("seconds", "cpu")}
        for name, each in taken.items()
    }
    missed = 0
    for name, took in middle.items():
        said = f"  {name:<24}{took['seconds']:>8.2f} s{took['cpu']:>8.2f} s of the processor"
        if name not in (fastest, STARTED):
            base = middle[STARTED if name == "command" else fastest]
            limits = {what: TIMES * raw + PLUS for what, raw in base.items()}
            met = {what: took[what] <= limits[what] for what in took}
            missed += not met["seconds"]
            said += f"; limit {limits['seconds']:.2f}: {'met' if met['seconds'] else 'MISSED'}"
            said += f" ({limits['cpu']:.2f} of the processor: {'met' if met['cpu'] else 'MISSED'})"
        print(said)
    sys.stdout.flush()
    return missed


def main() -> int:
    """1 if a limit was missed."""
    parser = argparse.ArgumentParser(description="A whole publication against a raw query.")
    parser.add_argument("--visits", type=int, nargs="+", default=[10_000_000])
    parser.add_argument("--layout", nargs="+", choices=LAYOUTS, default=list(LAYOUTS))
    parser.add_argument("--window", nargs="+", choices=["day", "hour"], default=["day", "hour"])
    parser.add_argument("--contestant", nargs="+", choices=CONTESTANTS, default=list(CONTESTANTS))
    parser.add_argument("--raw", nargs="+", choices=RAW["text"], help="raw queries that take part; all")
    parser.add_argument("--turns", type=int, default=7)
    asked = parser.parse_args()
    raw = raw_queries("text", asked.raw)
    missed = 0
    for visits, layout in product(asked.visits, asked.layout):
        folder = city(visits, layout)
        for window in asked.window:
            fastest, taken = contest(folder, window, raw, asked.contestant, asked.turns)
            order = "sorted by time" if layout == "sorted" else "in the order of people"
            print(f"{visits:,} visits {order}, {PLACES:,} places, one {window}; raw is {fastest}")
            missed += report(fastest, taken)
    print(f"load of the machine when this ended: {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
