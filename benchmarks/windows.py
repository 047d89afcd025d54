"""The hours of a day in one pass, against the day counted once and against raw queries for place-hours.

    python -m benchmarks.windows [--visits 10000000] [--layout shuffled sorted] [--ids integer words]
    python -m benchmarks.windows --spark [--visits 2000000]

The data are those of `benchmarks.repeated`: the synthetic city in no order, or sorted by start. Everybody
runs alone in a process, in turns; the ratio is the median over the turns of what the hours took against the
day counted in the same turn. On Spark all take turns in one session, and the best turns are compared. It ends
with an error if the hours took more than twice the time of the day.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks._visit_queries import WINDOWS
from benchmarks._window_queries import HOURS, RAW, SECONDS, hours_of
from benchmarks.repeated import laid_out
from benchmarks.visits import city, in_turn

LIMIT = 2.0
DAY, HOUR = "safeside day", "safeside hours"


def run(name: str, folder: Path) -> dict[str, Any]:
    """One turn of one contestant."""
    command = [sys.executable, "-m", "benchmarks._window_queries", name, str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def take_turns(names: tuple[str, ...], folder: Path, turns: int) -> dict[str, list[dict[str, Any]]]:
    """Each contestant once, then each again, in another order."""
    taken: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for turn in range(turns):
        for name in in_turn(names, turn):
            taken[name].append(run(name, folder))
    return taken


def ratio(taken: dict[str, list[dict[str, Any]]], other: str, what: str) -> float:
    """What the hours took against another, in the middle turn."""
    return statistics.median(
        ours[what] / theirs[what] for ours, theirs in zip(taken[HOUR], taken[other], strict=True)
    )


def contest(folder: Path, ids: str, turns: int) -> tuple[str, float]:
    """The fastest raw query of a first round, the day and the hours in turns."""
    raw = [name for name in RAW if ids == "integer" or not name.startswith("numpy")]
    run(DAY, folder)  # so that the file is in memory before the first clock starts
    first = {name: run(name, folder) for name in raw}
    fastest = min(raw, key=lambda name: first[name]["cpu"])
    taken = take_turns((DAY, HOUR, fastest), folder, turns)
    if len({first[name]["counts"] for name in raw} | {taken[HOUR][0]["counts"]}) != 1:
        raise AssertionError("the contestants do not agree on the counts")
    best = {name: min(each["seconds"] for each in of) for name, of in taken.items()}
    memory = {name: statistics.median(each["peak"] for each in of) / 1e6 for name, of in taken.items()}
    lines = [f"    {name:<24}{best[name]:>8.3f} s best{memory[name]:>9,.0f} MB" for name in taken]
    met = ratio(taken, DAY, "seconds")
    lines.append(
        f"  hours took {met:.2f} times the day (processor {ratio(taken, DAY, 'cpu'):.2f}), and "
        f"{ratio(taken, fastest, 'seconds'):.2f} times {fastest} (processor "
        f"{ratio(taken, fastest, 'cpu'):.2f})"
    )
    return "\n".join(lines), met


def on_spark(visits: int, turns: int) -> tuple[str, float]:
    """The day and its hours in one session, with Spark's own distinct count of place-hours beside them."""
    from pyspark.sql import functions as sql
    from tests.spark import Cluster

    from safeside.visits import Expected, VisitFormat, Window, count_visits, read_places

    folder = city(visits, "integer")
    places = read_places(folder / "places.csv")
    start, end = WINDOWS["day"]
    day, fmt = Window.parse(f"{start.isoformat()}/{end.isoformat()}"), VisitFormat()
    cluster = Cluster(executor_megabytes=4096, java_options="")
    begin = int(start.timestamp())

    def rows() -> Any:
        return cluster.session.read.parquet(str(folder / "visits.parquet"))

    def raw() -> Any:
        inside = (sql.col("start") < sql.lit(end)) & (sql.col("end") > sql.lit(start))
        hours = (
            f"explode(sequence(greatest(0, (unix_seconds(start) - {begin}) div {SECONDS}), "
            f"least({HOURS - 1}, (unix_seconds(end) - 1 - {begin}) div {SECONDS}))) as hour"
        )
        each = rows().filter(inside).selectExpr("place", "person", hours)
        return each.distinct().groupBy("place", "hour").count().toArrow()

    queries = {
        name: lambda asked=asked: count_visits(rows(), places, asked, fmt, expected=Expected(covers=day.text))
        for name, asked in {DAY: day, HOUR: hours_of(day)}.items()
    } | {"raw distinct": raw}
    seconds: dict[str, list[float]] = {name: [] for name in queries}
    try:
        for turn in range(turns + 2):  # of which two warm up
            for name in in_turn(list(queries), turn):
                clock = time.perf_counter()
                result = queries[name]()
                seconds[name].append(time.perf_counter() - clock)
                if name == "raw distinct":
                    total = sum(result["count"].to_pylist())
                elif name == HOUR:
                    counted = int(result.values.sum())
        if total != counted:
            raise AssertionError("the contestants do not agree on the counts")
    finally:
        cluster.remove()
    best = {name: min(taken[2:]) for name, taken in seconds.items()}
    middle = {name: statistics.median(taken[2:]) for name, taken in seconds.items()}
    lines = [f"    {name:<24}{best[name]:>8.2f} s best{middle[name]:>8.2f} s median" for name in queries]
    met = best[HOUR] / best[DAY]
    lines.append(
        f"  hours took {met:.2f} times the day, {best[HOUR] / best['raw distinct']:.2f} times raw distinct"
    )
    return "\n".join(lines), met


def main() -> int:
    """1 if the hours took more than twice the time of the day."""
    parser = argparse.ArgumentParser(description="The hours of a day against the day, in one pass.")
    parser.add_argument("--visits", type=int)
    parser.add_argument("--layout", nargs="+", choices=("shuffled", "sorted"), default=["shuffled", "sorted"])
    parser.add_argument(
        "--ids", nargs="+", choices=("integer", "text", "words"), default=["integer", "words"]
    )
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--spark", action="store_true", help="on Spark instead")
    asked = parser.parse_args()
    worst = 0.0
    if asked.spark:
        visits = asked.visits or 2_000_000
        print(f"{visits:,} visits, {HOURS} hours, Spark", flush=True)
        text, worst = on_spark(visits, asked.turns)
        print(f"{text}; limit {LIMIT:g}: {'met' if worst <= LIMIT else 'MISSED'}")
    else:
        visits = asked.visits or 10_000_000
        for layout in asked.layout:
            for ids in asked.ids:
                print(f"{visits:,} visits, {HOURS} hours, {layout}, {ids} ids", flush=True)
                text, met = contest(laid_out(visits, ids, layout), ids, asked.turns)
                print(f"{text}; limit {LIMIT:g}: {'met' if met <= LIMIT else 'MISSED'}", flush=True)
                worst = max(worst, met)
    print(f"at most {LIMIT:g} times the day: {'met' if worst <= LIMIT else 'MISSED'} ({worst:.2f})")
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
