"""A question asked first and again, on the layouts that logs have, against the fastest raw query.

    python -m benchmarks.repeated [--visits 10000000] [--layout sorted daily] [--ids integer words]

Layouts: *shuffled* (no order), *sorted* (by start, one file), *daily* (a file for each day, named by it). The
raw queries are those of `benchmarks.visits`, and may skip row groups by their statistics; the fastest of two
rounds, by the processor's time, is the one compared with. safeside counts with a key and a folder for its
notes, as a publication does. The digest of the files, which a publication takes anyway, is timed apart. Each
runs alone in a process, in turns; ratios are medians over the turns. It ends with an error if one is missed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
from pathlib import Path

import polars as pl

from benchmarks.visits import RAW, STORE, city, fastest_of, raw_queries, run, take_turns

LIMITS = {"day": 1.25, "hour": 1.5}
WORDS = 1.35
LAYOUTS = ("shuffled", "sorted", "daily")
GROUP = 250_000
ZONE = "Asia/Tokyo"


def laid_out(visits: int, ids: str, layout: str) -> Path:
    """The folder with the city in that layout, made if it is not there."""
    folder = STORE / f"city-{visits}-{ids}-{layout}-{GROUP}"
    if (folder / "places.csv").exists():
        return folder
    source = city(visits, ids)
    folder.mkdir(parents=True, exist_ok=True)
    rows = pl.read_parquet(source / "visits.parquet")
    rows = rows.sample(fraction=1, shuffle=True, seed=7) if layout == "shuffled" else rows.sort("start")
    if layout == "daily":
        for (day,), part in rows.group_by(pl.col("start").dt.convert_time_zone(ZONE).dt.date()):
            part.sort("start").write_parquet(folder / f"visits-{day}.parquet", row_group_size=GROUP)
    else:
        rows.write_parquet(folder / "visits.parquet", row_group_size=GROUP)
    shutil.copy(source / "places.csv", folder)
    return folder


def contest(folder: Path, raw: list[str], window: str, turns: int) -> tuple[str, list[float], float]:
    """The fastest raw query; how many times its time, and its processor's, a repeated and a first question
    take; and the seconds of the digest.
    """
    fastest = raw[0] if len(raw) == 1 else fastest_of(raw, folder, window)[0]
    run("safeside repeated", folder, window)  # which makes the notes
    names = (fastest, "safeside repeated", "safeside first")
    taken = take_turns(names, folder, window, turns)
    if len({each.counts for each in taken.values()}) != 1:
        raise AssertionError("the contestants do not agree on the counts")

    def ratio(name: str, what: str) -> float:
        pairs = zip(getattr(taken[name], what), getattr(taken[fastest], what), strict=True)
        return statistics.median(ours / theirs for ours, theirs in pairs)

    return (
        f"{fastest} {taken[fastest].best:.3f} s, again {taken[names[1]].best:.3f} s",
        [ratio(name, what) for name in names[1:] for what in ("seconds", "cpu")],
        run("safeside repeated", folder, window)["apart"],
    )


def main() -> int:
    """1 if a ratio was missed."""
    parser = argparse.ArgumentParser(description="Repeated questions against raw queries.")
    parser.add_argument("--visits", type=int, default=10_000_000)
    parser.add_argument("--ids", nargs="+", choices=sorted(RAW), default=["integer", "words"])
    parser.add_argument("--layout", nargs="+", choices=LAYOUTS, default=list(LAYOUTS))
    parser.add_argument("--window", nargs="+", choices=sorted(LIMITS), default=["day", "hour"])
    parser.add_argument("--raw", nargs="+", choices=RAW["integer"], help="raw queries that take part; all")
    parser.add_argument("--turns", type=int, default=9)
    asked = parser.parse_args()
    missed = 0
    for ids in asked.ids:
        for layout in asked.layout:
            folder = laid_out(asked.visits, ids, layout)
            raw = [name for name in raw_queries(ids, asked.raw) if not name.startswith("numpy")]
            for window in asked.window:
                text, (again, cpu, first, first_cpu), apart = contest(folder, raw, window, asked.turns)
                limit = max(WORDS, LIMITS[window]) if ids == "words" else LIMITS[window]
                verdict = "met" if again <= limit else "MISSED"
                missed += again > limit
                print(
                    f"{asked.visits:,} visits, {ids} ids, {layout}, one {window}: {text}; again {again:.2f}"
                    f" times ({cpu:.2f} of the processor's time), first {first:.2f} times"
                    f" ({first_cpu:.2f} of the processor's), digest {apart:.3f} s; limit {limit}: {verdict}",
                    flush=True,
                )
    print(f"load of the machine when this ended: {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
