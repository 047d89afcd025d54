"""Queries run on Polars with few row groups read ahead, and leave nothing of that behind."""

from __future__ import annotations

import os
from typing import Any

import narwhals as nw
import polars as pl
import pytest

from safeside.progress import quiet
from safeside.visits.read.engines import collect

AHEAD = "POLARS_ROW_GROUP_PREFETCH_SIZE"


def seen_while_running() -> list[str | None]:
    """What the setting was while a query ran."""
    seen = []

    def note(rows: pl.DataFrame) -> pl.DataFrame:
        seen.append(os.environ.get(AHEAD))
        return rows

    frame: nw.LazyFrame[Any] = nw.from_native(pl.LazyFrame({"a": [1]}).map_batches(note))
    (answer,) = collect([frame], quiet, "Testing")
    assert answer["a"].to_list() == [1]
    return seen


def test_one_for_each_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(AHEAD, raising=False)
    assert set(seen_while_running()) == {str(pl.thread_pool_size())}
    assert AHEAD not in os.environ


def test_what_the_user_said_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(AHEAD, "7")
    assert set(seen_while_running()) == {"7"}
    assert os.environ[AHEAD] == "7"


def test_a_query_that_fails_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(AHEAD, raising=False)
    frame: nw.LazyFrame[Any] = nw.from_native(pl.LazyFrame({"a": ["x"]}).select(pl.col("a").cast(pl.Int64)))
    with pytest.raises(pl.exceptions.PolarsError):
        collect([frame], quiet, "Testing")
    assert AHEAD not in os.environ
