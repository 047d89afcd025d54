"""The contestants of `benchmarks.visits`: one query each, run alone in a process that reports on itself.

    python -m benchmarks._visit_queries NAME FOLDER WINDOW

The raw queries are what somebody would type who trusts every row: no check, no list of places. The clock
starts when the libraries are loaded and stops when the counts are there; memory is the most the process had.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from zoneinfo import ZoneInfo

THIRD_DAY = datetime(2013, 12, 22, tzinfo=ZoneInfo("Asia/Tokyo"))
WINDOWS = {
    "hour": (THIRD_DAY + timedelta(hours=18), THIRD_DAY + timedelta(hours=19)),
    "day": (THIRD_DAY, THIRD_DAY + timedelta(days=1)),
    "week": (THIRD_DAY - timedelta(days=2), THIRD_DAY + timedelta(days=5)),
}
COLUMNS = ("person", "place", "start", "end")
KEY = b"of the benchmark"
APART = {"seconds": 0.0, "cpu": 0.0}
"""What a query spent on something that is measured apart."""

Pairs = Iterable[tuple[object, int]]
Query = Callable[[], Any]
"""Does the work; the clock runs while it does."""
Reading = Callable[[Any], Pairs]
"""Turns what a query returned into places and counts, when the clock has stopped."""


def polars_queries(path: Path, start: datetime, end: datetime) -> dict[str, tuple[Query, Reading]]:
    """Out of core: distinct pairs, then a count; or distinct people within each place."""
    import polars as pl

    rows = pl.scan_parquet(path).filter((pl.col("start") < end) & (pl.col("end") > start))
    pairs = rows.select("place", "person")
    forms = {
        "polars distinct": pairs.unique().group_by("place").len(),
        "polars n_unique": pairs.group_by("place").agg(pl.col("person").n_unique()),
        "polars scan": pl.scan_parquet(path).select(pl.col(*COLUMNS).max()),
    }
    return {name: (lambda form=form: form.collect(engine="streaming"), _rows) for name, form in forms.items()}


def _rows(frame: Any) -> Pairs:
    return frame.rows() if frame.width == 2 else ()


def duckdb_queries(path: Path, start: datetime, end: datetime) -> dict[str, tuple[Query, Reading]]:
    """The same two forms in SQL, on as many threads as there are cores."""
    import duckdb

    connection = duckdb.connect()
    touching = f"start < TIMESTAMPTZ '{end.isoformat()}' AND \"end\" > TIMESTAMPTZ '{start.isoformat()}'"
    rows = f"'{path}' WHERE {touching}"
    distinct = f"SELECT DISTINCT place, person FROM {rows}"
    forms = {
        "duckdb count distinct": f"SELECT place, count(DISTINCT person) FROM {rows} GROUP BY place",
        "duckdb distinct": f"SELECT place, count(*) FROM ({distinct}) GROUP BY place",
        "duckdb scan": f"SELECT max(person), max(place), max(start), max(\"end\") FROM '{path}'",
    }
    return {
        name: (lambda form=form: connection.execute(form).fetchnumpy(), _arrays)
        for name, form in forms.items()
    }


def _arrays(columns: Any) -> Pairs:
    values = list(columns.values())
    return zip(*(value.tolist() for value in values), strict=True) if len(values) == 2 else ()


def numpy_queries(path: Path, start: datetime, end: datetime) -> dict[str, tuple[Query, Reading]]:
    """All in memory: pairs packed into one whole number, sorted, the first of each counted."""
    import numpy as np
    import pyarrow.parquet as parquet

    files = sorted(map(str, path.parent.glob(path.name)))

    def moments(column: Any) -> Any:
        return column.to_numpy().astype("datetime64[us]").astype(np.int64)

    def count() -> Any:
        table = parquet.ParquetDataset(files, filters=None).read(columns=list(COLUMNS))
        begins, ends = moments(table["start"]), moments(table["end"])
        touching = (begins < int(end.timestamp()) * 10**6) & (ends > int(start.timestamp()) * 10**6)
        del begins, ends
        keys = table["person"].to_numpy()[touching] << 20 | table["place"].to_numpy()[touching]
        keys.sort()
        first = np.ones(len(keys), dtype=bool)
        np.not_equal(keys[1:], keys[:-1], out=first[1:])
        return np.bincount(keys[first] & 0xFFFFF)

    def pairs(counts: Any) -> Pairs:
        return enumerate(counts.tolist())

    return {"numpy sort": (count, pairs)}


def _time_digests_apart() -> None:
    """Note apart what counting spends on the digest of its files."""
    from safeside.visits.read.fingerprint import Fingerprint

    real = Fingerprint.read

    def timed(fingerprint: Fingerprint, *given: Any) -> None:
        begin, work = time.perf_counter(), time.process_time()
        real(fingerprint, *given)
        len(fingerprint.digests)  # which waits until all pieces were read
        APART["seconds"] += time.perf_counter() - begin
        APART["cpu"] += time.process_time() - work

    Fingerprint.read = timed  # type: ignore[method-assign]


def safeside_queries(path: Path, start: datetime, end: datetime) -> dict[str, tuple[Query, Reading]]:
    """This project's: every row checked, people counted, every place of the list answered."""
    import cryptography.hazmat.primitives.ciphers.aead  # noqa: F401  (which a publication has loaded)

    from safeside.visits import Expected, VisitFormat, Window, check_visits, count_visits, read_places
    from safeside.words import Words

    Words()("length.none")  # the catalogue of sentences is part of the library that is loaded

    window, fmt = Window.parse(f"{start.isoformat()}/{end.isoformat()}"), VisitFormat()
    known = Expected(covers=window.text)
    listed = path.with_name("places.csv")
    places = read_places(listed)

    def pairs(counts: Any) -> Pairs:
        return zip(counts.places.ids, counts.values.tolist(), strict=True)

    _time_digests_apart()

    def remembering(notes: Path) -> Any:
        return count_visits(path, places, window, fmt, expected=known, key=KEY, remember=notes)

    return {
        "safeside": (lambda: count_visits(path, places, window, fmt, expected=known), pairs),
        "safeside first": (lambda: remembering(Path(mkdtemp())), pairs),
        "safeside repeated": (lambda: remembering(path.with_name("notes")), pairs),
        "safeside check": (lambda: check_visits(path, places, window, fmt, expected=known), lambda _: ()),
        "safeside places": (lambda: read_places(listed), lambda _: ()),
    }


LIBRARIES = {
    "polars": polars_queries,
    "duckdb": duckdb_queries,
    "numpy": numpy_queries,
    "safeside": safeside_queries,
}


def digest(pairs: Pairs) -> str:
    """One text for equal counts, whatever the order and the type of the ids; empty places left out."""
    lines = sorted(f"{place}:{count}" for place, count in pairs if count)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def peak_memory() -> int:
    """Bytes: the most this process ever had in memory."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM"))


def main() -> int:
    """Run one query and print what it took."""
    name, folder, window = sys.argv[1:]
    start, end = WINDOWS[window]
    query, reading = LIBRARIES[name.split()[0]](Path(folder) / "visits*.parquet", start, end)[name]
    begin, work = time.perf_counter(), time.process_time()
    result = query()
    seconds, work = time.perf_counter() - begin, time.process_time() - work
    took = {"seconds": seconds - APART["seconds"], "cpu": work - APART["cpu"], "peak": peak_memory()}
    print(json.dumps({**took, "apart": APART["seconds"], "counts": digest(reading(result))}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
