"""Running queries on the engine that holds the data, with progress, and fetching their small results.

Spark reruns failed and slow tasks and recomputes what a lost executor had made; none of that may change a
count. So results come in batches sorted by key, and the driver checks the order, that no key repeats, and
that as many rows arrived as the executors counted. The driver holds one row for each visited place.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import narwhals as nw
import polars as pl

from safeside.errors import BadFile
from safeside.progress import Progress, quiet

_TICK: Final = 0.2
_AHEAD: Final = "POLARS_ROW_GROUP_PREFETCH_SIZE"
_COUNTED: Final = "rows that left the executors"
_NOTED: Final = "_enable_debugging_cache"


def collect(
    queries: list[nw.LazyFrame[Any]],
    progress: Progress,
    what: str,
    *,
    key: list[str] | None = None,
    apart: bool = False,
) -> list[pl.DataFrame]:
    """The results of queries on one input, which Polars reads once for all of them.

    `key` are columns of the first result of which no two rows may have the same values. `apart`: queries
    about different rows, of which each reads only its own; reading once for all would read everything.
    """
    progress(None, what)
    natives = [query.to_native() for query in queries]
    if all(isinstance(native, pl.LazyFrame) for native in natives):
        with _few_row_groups_ahead():
            if len(natives) == 1:
                return with_progress(lambda: [natives[0].collect(engine="streaming")], progress, what)
            flags = pl.QueryOptFlags(comm_subplan_elim=not apart)
            return with_progress(
                lambda: pl.collect_all(natives, engine="streaming", optimizations=flags), progress, what
            )
    first, *others = queries
    return with_progress(lambda: [_answer(first, key), *map(_answer, others)], progress, what)


@contextmanager
def _few_row_groups_ahead() -> Iterator[None]:
    """Prefetch one row group for each thread, unless the user set the variable.

    By default Polars prefetches at least eight, which suits object stores; of local files they only take
    memory.
    """
    said = os.environ.get(_AHEAD)
    os.environ.setdefault(_AHEAD, str(pl.thread_pool_size()))
    try:
        yield
    finally:
        if said is None:
            os.environ.pop(_AHEAD, None)


def _answer(query: nw.LazyFrame[Any], key: list[str] | None = None) -> pl.DataFrame:
    if query.implementation.is_pyspark():
        return fetch_from_spark(query.to_native(), key)
    answer = query.collect("polars").to_polars()
    if key is not None and not strictly_increasing(answer.select(key).sort(key)):
        raise wrong_delivery()
    return answer


def distinct_rows(frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """SELECT DISTINCT."""
    native = frame.to_native()
    # narwhals' `unique` makes SQL engines sort and number all rows.
    return nw.from_native(native.distinct()) if hasattr(native, "distinct") else frame.unique()


def count_by(frame: nw.LazyFrame[Any], key: list[str], name: str) -> nw.LazyFrame[Any]:
    """How many rows there are for each value of the key."""
    if not frame.implementation.is_pyspark():
        return frame.group_by(key).agg(nw.len().alias(name))
    from pyspark.sql import functions

    with without_call_sites():
        # As one SQL expression: every part of it is a call to Java.
        rows = frame.to_native().groupBy(*key).agg(functions.expr(f"count(1) AS {name}"))
    counted: nw.LazyFrame[Any] = nw.from_native(rows)
    return counted


def with_progress(
    work: Callable[[], list[pl.DataFrame]], progress: Progress, what: str
) -> list[pl.DataFrame]:
    """Do the work in a thread, and report progress meanwhile."""
    if progress is quiet:
        return work()
    done: list[list[pl.DataFrame]] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:  # noqa: BLE001  (carried, whatever it is, to the thread that waits)
            failed.append(error)

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(_TICK)
        progress(None, what)
    if failed:
        raise failed[0]
    return done[0]


@contextmanager
def without_call_sites() -> Iterator[None]:
    """Have PySpark not record the call site of each expression.

    That takes ten calls to Java for each expression, for error messages that are not shown anyway. Afterwards
    PySpark reads the setting from its session again.
    """
    notes = sys.modules.get("pyspark.errors.utils")
    if not hasattr(notes, _NOTED):
        yield
        return
    setattr(notes, _NOTED, False)
    try:
        yield
    finally:
        setattr(notes, _NOTED, None)


def fetch_from_spark(answer: Any, key: list[str] | None) -> pl.DataFrame:
    """The rows of a PySpark dataframe, sorted by `key`, in which no value comes twice."""
    from pyspark.sql import functions

    with without_call_sites():
        if key is not None:
            answer = answer.sortWithinPartitions(*key)
        counted = answer.observe(_COUNTED, functions.expr("count(1)"))
    try:
        table = counted.toArrow()
    except EOFError:  # the driver's own machinery went away in the middle of the delivery
        raise wrong_delivery() from None
    # Not through `Observation`, which waits for an event that a busy driver may drop.
    rows = counted._jdf.queryExecution().observedMetrics().apply(_COUNTED).getLong(0)
    empty = pl.DataFrame(table.schema.empty_table())
    return join_batches(empty, (pl.DataFrame(batch) for batch in table.to_batches()), key, rows)


def join_batches(
    empty: pl.DataFrame, batches: Iterable[pl.DataFrame], key: list[str] | None, rows: int
) -> pl.DataFrame:
    """All batches as one frame sorted by the key; refused if rows are missing, repeated or out of order."""
    arrived = [empty]
    for batch in batches:
        if key is not None and not strictly_increasing(batch.select(key)):
            raise wrong_delivery()
        arrived.append(batch)
    whole = pl.concat(arrived)
    if whole.height != rows:
        raise wrong_delivery()
    if key is not None:
        whole = whole.sort(key)
        if not strictly_increasing(whole.select(key)):
            raise wrong_delivery()
    return whole


def strictly_increasing(rows: pl.DataFrame) -> bool:
    """Whether rows strictly increase; at most one with a null, and that first."""
    known = rows.drop_nulls()
    lost = rows.height - known.height
    if lost > 1 or (lost and rows.head(1).drop_nulls().height):
        return False
    lower, higher = known[:-1], known[1:]
    above = pl.Series([False]).new_from_index(0, higher.height)
    for name in reversed(rows.columns):
        above = (higher[name] > lower[name]) | ((higher[name] == lower[name]) & above)
    return bool(above.all())


def wrong_delivery() -> BadFile:
    """The refusal of an incomplete result."""
    return BadFile(
        "What was delivered is not what was counted: rows are missing, twice or out of order.",
        "Count again once nothing writes to the data; if it happens again, report it.",
    )
