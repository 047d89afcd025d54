"""People per place on Spark, every row checked, against raw Spark's distinct count of the same data.

    python -m benchmarks.spark [--visits 10000000 100000000] [--json]

The data are those of `benchmarks.visits`. A small cluster, two workers with an executor each, is started for
it; both queries are built anew each time and take turns in one session, after turns that are not counted,
because a Java machine becomes faster as it goes. Both bring their counts to the driver in the same way. It
ends with an error if the ratio of the medians is missed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.spark import Cluster

from benchmarks._visit_queries import WINDOWS, Pairs, digest
from benchmarks.visits import PLACES, city
from safeside.visits import VisitFormat, Window, count_visits, read_places

LIMIT = 1.1
EXECUTOR_MEGABYTES = 4096
WARM_UP = 4

Query = Callable[[], Any]


def queries(session: Any, folder: Path, window: str) -> dict[str, Query]:
    """The contestants; building the query is part of the work."""
    from pyspark.sql import functions as sql

    start, end = WINDOWS[window]
    path = folder / "visits.parquet"
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
        "safeside": lambda: count_visits(session.read.parquet(str(path)), places, asked, fmt),
    }


def pairs(result: Any) -> Pairs:
    """Places and counts, however they came."""
    if hasattr(result, "values"):
        return zip(result.places.ids, result.values.tolist(), strict=True)
    return zip(*(column.to_pylist() for column in result.columns), strict=True)


def contest(session: Any, folder: Path, window: str, turns: int) -> dict[str, Any]:
    """Everybody in turns; the ratio of the medians."""
    contestants = queries(session, folder, window)
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    counts: dict[str, str] = {}
    for turn in range(WARM_UP + turns):
        for name, query in contestants.items():
            begin = time.perf_counter()
            result = query()
            if turn >= WARM_UP:
                seconds[name].append(time.perf_counter() - begin)
            counts[name] = digest(pairs(result))
    if len(set(counts.values())) != 1:
        raise AssertionError("the contestants do not agree on the counts")
    medians = {name: statistics.median(taken) for name, taken in seconds.items()}
    raw = min((name for name in medians if name != "safeside"), key=medians.__getitem__)
    ratio = medians["safeside"] / medians[raw]
    return {
        "window": window,
        "against": raw,
        "ratio": ratio,
        "met": ratio <= LIMIT,
        "seconds": {name: {"median": medians[name], "best": min(taken)} for name, taken in seconds.items()},
    }


def show(result: dict[str, Any]) -> str:
    """A contest as lines of text."""
    lines = [f"{result['visits']:,} visits, {PLACES:,} places, one {result['window']}, Spark"]
    for name, taken in result["seconds"].items():
        lines.append(f"  {name:<24}{taken['median']:>8.2f} s median{taken['best']:>8.2f} best")
    met = "met" if result["met"] else "MISSED"
    lines.append(f"  time {result['ratio']:.2f} times {result['against']} (at most {LIMIT}): {met}")
    return "\n".join(lines)


def main() -> int:
    """1 if the ratio was missed."""
    parser = argparse.ArgumentParser(description="Counting people per place on Spark.")
    parser.add_argument("--visits", type=int, nargs="+", default=[10_000_000, 100_000_000])
    parser.add_argument("--window", nargs="+", choices=sorted(WINDOWS), default=["day", "week"])
    parser.add_argument("--turns", type=int, default=5)
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
