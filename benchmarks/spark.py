"""People per place on Spark, every row checked, against raw Spark's distinct count of the same data.

    python -m benchmarks.spark [--visits 10000000 100000000] [--window day week] [--json]

The data are those of `benchmarks.visits`, the window is one day unless others are named. A small cluster,
two workers with an executor each, is started for it; all queries are built anew each time and take turns in
one session, after turns that are not counted, because a Java machine becomes faster as it goes. All bring
their counts to the driver as Arrow batches.

Compared are the *best* turns, with the faster of two raw queries. Whatever else the machine does can only
make a turn slower, and slow spells hit everybody, since turns alternate: the best of several is what the work
itself takes. Medians are printed beside. It ends with an error if a ratio is missed.

Where the time goes: the same is asked of a thousand rows, which is building the query, planning it and
bringing the answer home.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
from tests.spark import Cluster

from benchmarks._visit_queries import WINDOWS, Pairs, digest
from benchmarks.visits import PLACES, city, in_turn
from safeside.visits import Expected, VisitFormat, Window, count_visits, read_places

LIMIT = 1.1
EXECUTOR_MEGABYTES = 4096
FEW = 1000
WARM_UP, COUNTED = (1, 4, 30.0), (5, 40, 120.0)
"""At least so many turns, at most so many, and no more once so many seconds have passed."""

Query = Callable[[], Any]


def queries(session: Any, folder: Path, window: str, visits: str = "visits.parquet") -> dict[str, Query]:
    """The contestants; building the query is part of the work."""
    from pyspark.sql import functions as sql

    start, end = WINDOWS[window]
    path = folder / visits
    places = read_places(folder / "places.csv")
    asked, fmt = Window.parse(f"{start.isoformat()}/{end.isoformat()}"), VisitFormat()

    def touching() -> Any:
        inside = (sql.col("start") < sql.lit(end)) & (sql.col("end") > sql.lit(start))
        return session.read.parquet(str(path)).filter(inside)

    return {
        "raw count distinct": lambda: touching().groupBy("place").agg(sql.countDistinct("person")).toArrow(),
        "raw distinct": lambda: (
            touching().select("place", "person").distinct().groupBy("place").count().toArrow()
        ),
        "safeside": lambda: count_visits(
            session.read.parquet(str(path)), places, asked, fmt, expected=Expected(covers=asked.text)
        ),
    }


def pairs(result: Any) -> Pairs:
    """Places and counts, however they came."""
    if hasattr(result, "values"):
        return zip(result.places.ids, result.values.tolist(), strict=True)
    return zip(*(column.to_pylist() for column in result.columns), strict=True)


def rounds(least: int, most: int, seconds: float) -> Iterator[int]:
    """Numbers of turns: short queries take more, long ones fewer."""
    begin = time.perf_counter()
    for turn in range(most):
        if turn >= least and time.perf_counter() - begin > seconds:
            return
        yield turn


def take_turns(contestants: dict[str, Query], turns: int | None) -> dict[str, list[float]]:
    """The seconds of each turn of everybody."""
    seconds: dict[str, list[float]] = {}
    for counted in (WARM_UP, COUNTED if turns is None else (turns, turns, 0.0)):
        seconds = {name: [] for name in contestants}
        for turn in rounds(*counted):
            counts = set()
            for name in in_turn(list(contestants), turn):
                begin = time.perf_counter()
                result = contestants[name]()
                seconds[name].append(time.perf_counter() - begin)
                counts.add(digest(pairs(result)))
            if len(counts) != 1:
                raise AssertionError("the contestants do not agree on the counts")
    return seconds


def contest(session: Any, folder: Path, window: str, turns: int | None) -> dict[str, Any]:
    """Everybody in turns; the ratio of the best."""
    seconds = take_turns(queries(session, folder, window), turns)
    best = {name: min(taken) for name, taken in seconds.items()}
    raw = min((name for name in best if name != "safeside"), key=best.__getitem__)
    ratio = best["safeside"] / best[raw]
    few = folder / f"{FEW}.parquet"
    if not few.exists():
        pl.scan_parquet(folder / "visits.parquet").head(FEW).sink_parquet(few)
    fixed = take_turns(queries(session, folder, window, few.name), turns)
    return {
        "window": window,
        "turns": len(seconds[raw]),
        "against": raw,
        "ratio": ratio,
        "met": ratio <= LIMIT,
        "seconds": {
            name: {"best": best[name], "median": statistics.median(seconds[name]), "few": min(fixed[name])}
            for name in best
        },
    }


def show(result: dict[str, Any]) -> str:
    """A contest as lines of text."""
    lines = [f"{result['visits']:,} visits, {PLACES:,} places, one {result['window']}, Spark"]
    for name, taken in result["seconds"].items():
        lines.append(
            f"  {name:<20}{taken['best']:>7.2f} s best of {result['turns']},{taken['median']:>7.2f} s median;"
            f" of {FEW:,} visits {taken['few']:.2f} s"
        )
    met = "met" if result["met"] else "MISSED"
    lines.append(f"  time {result['ratio']:.2f} times {result['against']} (at most {LIMIT}): {met}")
    return "\n".join(lines)


def main() -> int:
    """1 if the ratio was missed."""
    parser = argparse.ArgumentParser(description="Counting people per place on Spark.")
    parser.add_argument("--visits", type=int, nargs="+", default=[10_000_000, 100_000_000])
    parser.add_argument("--window", nargs="+", choices=sorted(WINDOWS), default=["day"])
    parser.add_argument("--turns", type=int, help="counted turns of each; else 5 to 40")
    parser.add_argument("--json", action="store_true", help="print the measurements as JSON")
    asked = parser.parse_args()
    results = []
    cluster = Cluster(executor_megabytes=EXECUTOR_MEGABYTES, java_options="")
    try:
        for visits in asked.visits:
            for window in asked.window:
                folder = city(visits, "integer")
                results.append({"visits": visits} | contest(cluster.session, folder, window, asked.turns))
                if not asked.json:
                    print(show(results[-1]), flush=True)
    finally:
        cluster.remove()
    if asked.json:
        print(json.dumps(results, indent=2))
    return 0 if all(result["met"] for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
