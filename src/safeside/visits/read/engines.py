"""Running a query on whichever engine holds the data, with progress, and bringing a small answer home."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import narwhals as nw
import polars as pl

from safeside.progress import Progress, quiet
from safeside.visits.read.spark import bring_home, count_rows, not_what_was_counted, rising

_TICK: Final = 0.2
_AHEAD: Final = "POLARS_ROW_GROUP_PREFETCH_SIZE"


def collect(
    queries: list[nw.LazyFrame[Any]],
    progress: Progress,
    what: str,
    *,
    key: str | None = None,
    sparing: bool = False,
) -> list[pl.DataFrame]:
    """The answers to some queries on one input; Polars reads the input once for all of them.

    `key` names the column in which, in the answer to the first query, no value may come twice. `sparing`
    takes less memory for reading, and a little more time.
    """
    progress(None, what)
    natives = [query.to_native() for query in queries]
    if all(isinstance(native, pl.LazyFrame) for native in natives):
        with _few_row_groups_ahead(sparing=sparing):
            if len(natives) == 1:
                return patiently(lambda: [natives[0].collect(engine="streaming")], progress, what)
            return patiently(lambda: pl.collect_all(natives, engine="streaming"), progress, what)
    keys = [key] + [None] * (len(queries) - 1)
    return patiently(lambda: [_answer(*asked) for asked in zip(queries, keys, strict=True)], progress, what)


@contextmanager
def _few_row_groups_ahead(*, sparing: bool) -> Iterator[None]:
    """Have Polars hold one row group of a file for each thread, or for two, unless its user said otherwise.

    By itself it holds at least eight, as is right for a distant store; of a local file they only take memory.
    Two threads can share one, each decoding other columns of it.
    """
    threads = pl.thread_pool_size()
    said = os.environ.get(_AHEAD)
    os.environ.setdefault(_AHEAD, str(-(-threads // 2) if sparing else threads))
    try:
        yield
    finally:
        if said is None:
            os.environ.pop(_AHEAD, None)


def _answer(query: nw.LazyFrame[Any], key: str | None) -> pl.DataFrame:
    if query.implementation.is_pyspark():
        return bring_home(query.to_native(), key)
    answer = query.collect("polars").to_polars()
    if key is not None and not rising(answer[key].sort()):
        raise not_what_was_counted()
    return answer


def each_once(frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Every row once."""
    native = frame.to_native()
    # For `unique`, narwhals has engines that speak SQL sort all rows and number them.
    return nw.from_native(native.distinct()) if hasattr(native, "distinct") else frame.unique()


def rows_for_each(frame: nw.LazyFrame[Any], key: str, name: str) -> nw.LazyFrame[Any]:
    """How many rows there are for each value of the key."""
    if frame.implementation.is_pyspark():
        counted: nw.LazyFrame[Any] = nw.from_native(count_rows(frame.to_native(), key, name))
        return counted
    return frame.group_by(key).agg(nw.len().alias(name))


def patiently(work: Callable[[], list[pl.DataFrame]], progress: Progress, what: str) -> list[pl.DataFrame]:
    """Do the work, and say now and then that it is being done, if anybody listens."""
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
