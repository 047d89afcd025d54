"""A publication, everything included, against the fastest raw query of the same window.

    python -m benchmarks.publish [--visits 10000000 100000000] [--window day hour] [--turns 7]

A week of visits to the city's 5,835 places, in a Parquet file in no order. Raw is what somebody types who
trusts every row: the fastest of `benchmarks.visits`. safeside is `publish()`, from the list of places to the
signed directory: ledger, key, digest of the file, counts, noise, map, report and all files, with a noisy
count of every place. Both clocks start when the libraries are loaded. Every turn has a new ledger: the
file is new to it. Beside it, the whole command `safeside publish`, from its start to its end.

Each runs alone in a process, in turns; figures are medians over the turns. It ends with an error if one takes
longer than 1.35 times the raw query plus one second.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks._publish_once import AT_MOST, DATASET, EPSILON
from benchmarks._visit_queries import WINDOWS
from benchmarks.visits import RAW, STORE, VISITS_OF_A_PERSON, in_turn, run, take_turns
from safeside.ledger import create_ledger
from safeside.releases.signing import create_key
from safeside_studies.city import generate

TIMES, PLUS = 1.35, 1.0
PLACES = 5_835
MOST_PLACES = 100
"""Of one person in a day, which the dataset declares: more than anybody of the city visits."""
COMMAND = "from safeside.cli.main import main; main()"


def city(visits: int) -> Path:
    """The folder with a city of at least so many visits, made if it is not there."""
    folder = STORE / f"city-{visits}-{PLACES}"
    if not (folder / "visits.parquet").exists():
        generate(folder, people=-(-visits * 100 // int(VISITS_OF_A_PERSON * 100)), places=PLACES)
    return folder


def publish_once(contestant: str, folder: Path, window: str) -> dict[str, float]:
    """Publish into an empty world, as Python does or as the command does; seconds, and the processor's."""
    with TemporaryDirectory() as made:
        world = Path(made)
        create_key(world / "safeside.key")
        ledger = create_ledger(world / "ledger.db")
        ledger.create_dataset(DATASET, "person", EPSILON, max_places_per_person=MOST_PLACES)
        ledger.close()
        command = [sys.executable, "-m", "benchmarks._publish_once", str(folder), made, window]
        if contestant == "command":
            command = [sys.executable, "-c", COMMAND, *_options(folder, world, window)]
        environment = {**os.environ, "XDG_CACHE_HOME": str(world / "cache")}
        before, begin = os.times(), time.perf_counter()
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, cwd=STORE.parents[1], env=environment
        )
        seconds, after = time.perf_counter() - begin, os.times()
        if not (world / "release" / "signature.json").exists():
            raise AssertionError("nothing was published")
    if contestant != "command":
        answer: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        return answer
    work = after.children_user + after.children_system - before.children_user - before.children_system
    return {"seconds": seconds, "cpu": work}


def _options(folder: Path, world: Path, window: str) -> list[str]:
    when = "/".join(moment.isoformat() for moment in WINDOWS[window])
    return [
        *("publish", str(folder / "visits.parquet"), "--places", str(folder / "places.csv"), "--when", when),
        *("--at-most", str(AT_MOST), "--epsilon", str(EPSILON), "--dataset", DATASET, "--yes"),
        *("--ledger", str(world / "ledger.db"), "--key", str(world / "safeside.key")),
        *("--out", str(world / "release")),
    ]


def contest(folder: Path, window: str, turns: int) -> tuple[str, dict[str, list[dict[str, Any]]]]:
    """The fastest raw query, and what it and the publications took in each turn."""
    first = take_turns(RAW["text"], folder, window, 3)
    fastest = min(RAW["text"], key=lambda name: first[name].best)
    taken: dict[str, list[dict[str, Any]]] = {name: [] for name in (fastest, "publish", "command")}
    for turn in range(turns):
        for name in in_turn(tuple(taken), turn):
            took = run(name, folder, window) if name == fastest else publish_once(name, folder, window)
            taken[name].append(took)
    return fastest, taken


def main() -> int:
    """1 if a limit was missed."""
    parser = argparse.ArgumentParser(description="A whole publication against a raw query.")
    parser.add_argument("--visits", type=int, nargs="+", default=[10_000_000])
    parser.add_argument("--window", nargs="+", choices=sorted(WINDOWS), default=["day", "hour"])
    parser.add_argument("--turns", type=int, default=7)
    asked = parser.parse_args()
    missed = 0
    for visits in asked.visits:
        folder = city(visits)
        for window in asked.window:
            fastest, taken = contest(folder, window, asked.turns)
            print(f"{visits:,} visits, {PLACES:,} places, one {window}; raw is {fastest}")
            middle = {
                name: {what: statistics.median(one[what] for one in each) for what in ("seconds", "cpu")}
                for name, each in taken.items()
            }
            for name, took in middle.items():
                limits = {what: TIMES * middle[fastest][what] + PLUS for what in took}
                held = name == "publish"
                met = took["seconds"] <= limits["seconds"]
                missed += held and not met
                said = f" (at most {limits['seconds']:.2f}): {'met' if met else 'MISSED'}" if held else ""
                print(f"  {name:<24}{took['seconds']:>8.2f} s{took['cpu']:>8.2f} s of the processor{said}")
            sys.stdout.flush()
    print(f"load of the machine when this ended: {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
