"""The contestants of `benchmarks.windows`: the hours of a day in one query each, alone in a process.

    python -m benchmarks._window_queries NAME FOLDER

The raw queries are what somebody would type who trusts every row; "day" counts the day once.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks._visit_queries import WINDOWS, Pairs, Query, Reading, digest, peak_memory

START, END = WINDOWS["day"]
HOURS = 24
SECONDS = 3600
RAW = ("polars hours", "polars hours n_unique", "duckdb hours", "duckdb hours distinct", "numpy hours")


def polars_queries(path: Path) -> dict[str, tuple[Query, Reading]]:
    """A row for each hour, then distinct people."""
    import polars as pl

    rows = pl.scan_parquet(path).filter((pl.col("start") < END) & (pl.col("end") > START))
    since = [pl.col(name).dt.epoch("us") - int(START.timestamp()) * 10**6 for name in ("start", "end")]
    first = (since[0] // (SECONDS * 10**6)).clip(0)
    last = ((since[1] - 1) // (SECONDS * 10**6)).clip(None, HOURS - 1)
    each = rows.select("place", "person", hour=pl.int_ranges(first, last + 1)).explode("hour")
    forms = {
        "polars hours": each.unique().group_by("place", "hour").len(),
        "polars hours n_unique": each.group_by("place", "hour").agg(pl.col("person").n_unique()),
    }
    return {name: (lambda form=form: form.collect(engine="streaming"), _rows) for name, form in forms.items()}


def _rows(frame: Any) -> Pairs:
    return ((f"{place} {hour}", people) for place, hour, people in frame.rows())


def duckdb_queries(path: Path) -> dict[str, tuple[Query, Reading]]:
    """The same in SQL."""
    import duckdb

    connection = duckdb.connect()
    hour, begin = SECONDS * 10**6, int(START.timestamp()) * 10**6
    first = f"greatest(0, (epoch_us(start) - {begin}) // {hour})"
    last = f'least({HOURS - 1}, (epoch_us("end") - 1 - {begin}) // {hour})'
    touching = f"start < TIMESTAMPTZ '{END.isoformat()}' AND \"end\" > TIMESTAMPTZ '{START.isoformat()}'"
    each = f"SELECT place, person, unnest(range({first}, {last} + 1)) AS hour FROM '{path}' WHERE {touching}"
    forms = {
        "duckdb hours": f"SELECT place, hour, count(DISTINCT person) AS n FROM ({each}) GROUP BY place, hour",
        "duckdb hours distinct": "SELECT place, hour, count(*) AS n FROM (SELECT DISTINCT * FROM "
        f"({each})) GROUP BY place, hour",
    }
    return {
        name: (lambda form=form: connection.execute(form).fetchnumpy(), _arrays)
        for name, form in forms.items()
    }


def _arrays(columns: Any) -> Pairs:
    values = (columns[name].tolist() for name in ("place", "hour", "n"))
    return ((f"{place} {hour}", people) for place, hour, people in zip(*values, strict=True))


def numpy_queries(path: Path) -> dict[str, tuple[Query, Reading]]:
    """All in memory: a whole number for each person, place and hour, sorted, the first of each counted."""
    import numpy as np
    import pyarrow.parquet as parquet

    begin = int(START.timestamp()) * 10**6

    def count() -> Any:
        table = parquet.read_table(path)
        starts, ends = (
            table[name].to_numpy().astype("datetime64[us]").astype(np.int64) - begin
            for name in ("start", "end")
        )
        touching = (starts < HOURS * SECONDS * 10**6) & (ends > 0)
        first = np.maximum(starts[touching] // (SECONDS * 10**6), 0)
        size = np.minimum((ends[touching] - 1) // (SECONDS * 10**6), HOURS - 1) - first + 1
        keys = table["person"].to_numpy()[touching] << 20 | table["place"].to_numpy()[touching]
        within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        keys = np.repeat(keys << 5 | first, size) + within
        keys.sort()
        fresh = np.ones(len(keys), dtype=bool)
        np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
        return np.bincount(keys[fresh] & 0x1FFFFFF)

    def pairs(counts: Any) -> Pairs:
        return ((f"{cell >> 5} {cell & 31}", n) for cell, n in enumerate(counts.tolist()) if n)

    return {"numpy hours": (count, pairs)}


def safeside_queries(path: Path) -> dict[str, tuple[Query, Reading]]:
    """This project's: every row checked, every place of the list answered in every window."""
    from safeside.visits import Expected, VisitFormat, Window, count_visits, read_places

    day, fmt = Window.parse(f"{START.isoformat()}/{END.isoformat()}"), VisitFormat()
    known, places = Expected(covers=day.text), read_places(path.with_name("places.csv"))
    return {
        name: (lambda asked=asked: count_visits(path, places, asked, fmt, expected=known), answers)
        for name, asked in {"safeside day": day, "safeside hours": hours_of(day)}.items()
    }


def hours_of(day: Any) -> Any:
    """The day cut into hours."""
    from safeside.visits import split

    return split(day, timedelta(seconds=SECONDS))


def answers(counts: Any) -> Pairs:
    """Places with their hour, and counts."""
    hours = (f"{place} {hour}" for hour in range(len(counts.windows)) for place in counts.places.ids)
    return zip(hours, counts.values.tolist(), strict=True)


LIBRARIES = {
    "polars": polars_queries,
    "duckdb": duckdb_queries,
    "numpy": numpy_queries,
    "safeside": safeside_queries,
}


def main() -> int:
    """Run one query and print what it took."""
    name, folder = sys.argv[1:]
    query, reading = LIBRARIES[name.split()[0]](Path(folder) / "visits.parquet")[name]
    begin, work = time.perf_counter(), time.process_time()
    result = query()
    took = {"seconds": time.perf_counter() - begin, "cpu": time.process_time() - work}
    print(json.dumps({**took, "peak": peak_memory(), "counts": digest(reading(result))}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
