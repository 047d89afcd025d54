"""Running a query on whichever engine holds the data, with progress, and bringing a small answer home."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

import narwhals as nw
import polars as pl

from safeside.progress import Progress, quiet

_TICK: Final = 0.2


def collect(queries: list[nw.LazyFrame[Any]], progress: Progress, what: str) -> list[pl.DataFrame]:
    """The answers to some queries on one input; Polars reads the input once for all of them."""
    progress(None, what)
    natives = [query.to_native() for query in queries]
    if all(isinstance(native, pl.LazyFrame) for native in natives):
        if len(natives) == 1:
            return patiently(lambda: [natives[0].collect(engine="streaming")], progress, what)
        return patiently(lambda: pl.collect_all(natives, engine="streaming"), progress, what)
    return patiently(lambda: [query.collect("polars").to_polars() for query in queries], progress, what)


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
