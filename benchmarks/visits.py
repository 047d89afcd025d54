"""People per place in a window, every row checked, against the fastest raw query in the same run.

    python -m benchmarks.visits [--visits 10000000] [--ids integer text words] [--window day hour] [--json]

The data are the synthetic city (100,000 places, a week), made once and kept below build/bench, with people
called by whole numbers, by text as the city has it (p000001), or by text that is no number (`words`). Every
contestant runs alone in a process of its own. A first round finds the fastest raw query; then that one, a raw
scan of the same columns and safeside take turns, so that a slow moment of the machine falls on all of them.
Times are the best of the turns, memory is the median of the peaks; for one hour only time is held to a limit.
It ends with an error if a ratio is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice, permutations
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks._visit_queries import WINDOWS
from safeside_studies.city import generate

STORE = Path(__file__).parents[1] / "build" / "bench"
LIMIT, WORDS = 1.25, 1.35
"""How many times what the fastest raw query takes; the second where people are called by no number."""
PLACES = 100_000
VISITS_OF_A_PERSON = 10.45
"""In the city's week; a little fewer, so that a city has at least as many visits as was asked for."""
SCANS = ("polars scan", "duckdb scan")
RAW = {
    "integer": (
        "polars distinct",
        "polars n_unique",
        "duckdb count distinct",
        "duckdb distinct",
        "numpy sort",
    ),
    "text": ("polars distinct", "polars n_unique", "duckdb count distinct", "duckdb distinct"),
}
RAW["words"] = RAW["text"]


@dataclass(frozen=True, kw_only=True)
class Turns:
    """What one contestant took in its turns."""

    name: str
    seconds: tuple[float, ...]
    cpu: tuple[float, ...]
    peaks: tuple[int, ...]
    counts: str

    @property
    def best(self) -> float:
        """Seconds of the fastest turn."""
        return min(self.seconds)

    @property
    def peak(self) -> float:
        """Bytes, the middle one of the turns."""
        return statistics.median(self.peaks)


def city(visits: int, ids: str) -> Path:
    """The folder with a city of at least so many visits, made if it is not there."""
    folder = STORE / f"city-{visits}-{ids}"
    if (folder / "visits.parquet").exists():
        return folder
    if ids == "words":
        _in_words(city(visits, "text"), folder)
    else:
        people = -(-visits * 100 // int(VISITS_OF_A_PERSON * 100))
        generate(folder, people=people, places=PLACES, integer_ids=ids == "integer")
    return folder


def _in_words(numbered: Path, folder: Path) -> None:
    """The same city, its file cut like the others, with people called by text that is no number."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(numbered / "places.csv", folder)
    named = pl.scan_parquet(numbered / "visits.parquet").with_columns(pl.col("person") + "x")
    named.sink_parquet(folder / "visits.part", row_group_size=500_000)
    (folder / "visits.part").rename(folder / "visits.parquet")


def run(name: str, folder: Path, window: str) -> dict[str, Any]:
    """One turn of one contestant."""
    command = [sys.executable, "-m", "benchmarks._visit_queries", name, str(folder), window]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=STORE.parents[1])
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def in_turn(names: Sequence[str], turn: int) -> Sequence[str]:
    """Another order each time: whoever follows another finds the machine as that one left it."""
    return next(islice(cycle(permutations(names)), turn, None))


def take_turns(names: tuple[str, ...], folder: Path, window: str, turns: int) -> dict[str, Turns]:
    """Each contestant once, then each again, in another order."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for turn in range(turns):
        for name in in_turn(names, turn):
            runs[name].append(run(name, folder, window))
    return {
        name: Turns(
            name=name,
            seconds=tuple(each["seconds"] for each in taken),
            cpu=tuple(each["cpu"] for each in taken),
            peaks=tuple(each["peak"] for each in taken),
            counts=taken[0]["counts"],
        )
        for name, taken in runs.items()
    }


def fastest_of(names: Sequence[str], folder: Path, window: str) -> tuple[str, dict[str, Turns]]:
    """The fastest in two rounds by the processor's time, which other work on the machine disturbs less."""
    found = take_turns(tuple(names), folder, window, 2)
    return min(names, key=lambda name: min(found[name].cpu)), found


def raw_queries(ids: str, chosen: Sequence[str] | None) -> list[str]:
    """The raw queries that take part: all for these identifiers, or those that somebody chose."""
    return [name for name in RAW[ids] if chosen is None or name in chosen]


def contest(folder: Path, raw: Sequence[str], ids: str, window: str, turns: int) -> dict[str, Any]:
    """A first round of everybody, then the fastest ones and safeside in turns; the ratios."""
    run(SCANS[0], folder, window)  # so that the file is in memory before the first clock starts
    fastest, first = fastest_of(raw, folder, window)
    scan, scans = fastest_of(SCANS, folder, window)
    first |= scans
    final = take_turns((fastest, "safeside", scan), folder, window, turns)
    places = take_turns(("safeside places",), folder, window, 3)["safeside places"]
    shown = {**first, **final}
    if len({shown[name].counts for name in (*raw, "safeside")}) != 1:
        raise AssertionError("the contestants do not agree on the counts")
    ours, base = final["safeside"], final[fastest]
    ratio, memory = ours.best / base.best, ours.peak / base.peak
    limit = WORDS if ids == "words" else LIMIT
    return {
        "ids": ids,
        "window": window,
        "against": base.name,
        "limit": limit,
        "ratio": ratio,
        "cpu_ratio": min(ours.cpu) / min(base.cpu),
        "memory_ratio": memory,
        "memory_of_the_list": places.peak,
        "met": ratio <= limit and (memory <= limit or window == "hour"),
        "contestants": {
            name: {"best": t.best, "median": statistics.median(t.seconds), "cpu": min(t.cpu), "peak": t.peak}
            for name, t in shown.items()
        },
        "where": {
            f"reading the four columns ({scan})": final[scan].best,
            f"people per place, beyond reading ({fastest})": final[fastest].best - final[scan].best,
            "checks and the list of places, beyond that": ours.best - final[fastest].best,
            "beside the clock: reading the list of places": places.best,
        },
    }


def _verdict(ratio: float, limit: float, held: bool) -> str:
    said = "met" if ratio <= limit else "MISSED"
    return f"; limit {limit}: {said}" if held else f" (held to no limit; {limit} would be {said.lower()})"


def show(result: dict[str, Any]) -> str:
    """A contest as lines of text."""
    lines = [f"{result['visits']:,} visits, {result['ids']} ids, {PLACES:,} places, one {result['window']}"]
    for name, taken in sorted(result["contestants"].items(), key=lambda item: item[1]["best"]):
        times = "".join(f"{taken[key]:>10.3f} s {key}" for key in ("best", "median", "cpu"))
        lines.append(f"  {name:<24}{times}{taken['peak'] / 1e6:>9,.0f} MB")
    limit, against = result["limit"], result["against"]
    lines += [
        f"  {what} {result[key]:.2f} times {against}{_verdict(result[key], limit, held)}"
        for what, key, held in (
            ("time", "ratio", True),
            ("processor's time", "cpu_ratio", False),
            ("memory", "memory_ratio", result["window"] != "hour"),
        )
    ]
    lines += [f"    {what:<60}{seconds:>8.3f} s" for what, seconds in result["where"].items()]
    lines.append(
        f"    {'a process that reads the list of places and no visits':<60}"
        f"{result['memory_of_the_list'] / 1e6:>8,.0f} MB"
    )
    return "\n".join(lines)


def main() -> int:
    """1 if a ratio was missed."""
    parser = argparse.ArgumentParser(description="Counting people per place against raw queries.")
    parser.add_argument("--visits", type=int, nargs="+", default=[10_000_000])
    parser.add_argument("--ids", nargs="+", choices=sorted(RAW), default=["integer", "text", "words"])
    parser.add_argument("--window", nargs="+", choices=sorted(WINDOWS), default=["day", "hour"])
    parser.add_argument("--raw", nargs="+", choices=RAW["integer"], help="raw queries that take part; all")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--json", action="store_true", help="print the measurements as JSON")
    asked = parser.parse_args()
    results = []
    for visits in asked.visits:
        for ids in asked.ids:
            folder = city(visits, ids)
            for window in asked.window:
                raw = raw_queries(ids, asked.raw)
                results.append({"visits": visits} | contest(folder, raw, ids, window, asked.turns))
                if not asked.json:
                    print(show(results[-1]), flush=True)
    if not asked.json:
        print(f"load of the machine when this ended: {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores")
    else:
        print(json.dumps({"cores": os.cpu_count(), "results": results}, indent=2))
    return 0 if all(result["met"] for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
