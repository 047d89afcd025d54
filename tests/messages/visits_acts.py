"""What tests of messages about visits share: ways to go wrong, and how to write one down."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import polars as pl
from tests.visits.making import DAY, NOON, count_visits, places
from tests.visits.plain import Stay

from safeside.errors import SafesideError
from safeside.visits import VisitFormat, Window, read_places

HEADER = "person,place,start,end\n"
GOOD = "ana,bar,2024-03-03T10:00:00Z,2024-03-03T11:00:00Z\n"
ROWS = [Stay("ana", "bar", DAY.start, DAY.end)]
POINTS = pl.DataFrame({"place": ["bar", "gym"], "latitude": [35.68, 50.0], "longitude": [139.76, 8.0]})
FIX = pl.DataFrame({"person": ["ana"], "latitude": [35.68], "longitude": [139.76], "time": [NOON.start]})
SEEN = pl.DataFrame({"person": ["ana"], "place": ["bar"], "time": [NOON.start]})

Act = Callable[[Path], object]
Said = dict[str, tuple[Act, type[SafesideError], str, str]]
"""What is done in an empty folder, and the error, what it says and what it advises."""


def asked(frame: Any, window: Window = DAY, **declared: Any) -> Act:
    return lambda _: count_visits(frame, places(), window, VisitFormat(**declared))


def written(content: str | bytes, name: str = "visits.csv", **declared: Any) -> Act:
    def act(folder: Path) -> object:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return count_visits(folder / name, places(), DAY, VisitFormat(**declared))

    return act


def two(first: str | bytes, second: str | bytes, names: tuple[str, str] = ("a.csv", "b.csv")) -> Act:
    def act(folder: Path) -> object:
        for name, content in zip(names, (first, second), strict=True):
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return count_visits([folder / name for name in names], places(), DAY)

    return act


def tables(*frames: pl.DataFrame) -> Act:
    def act(folder: Path) -> object:
        for number, frame in enumerate(frames):
            frame.write_parquet(folder / f"{number}.parquet")
        return count_visits(folder, places(), DAY)

    return act


def listed(**columns: list[Any]) -> Act:
    return lambda _: read_places(pl.DataFrame(columns))


def window(text: str, zone: str | None = None) -> Act:
    return lambda _: Window.parse(text, zone)


def timed(text: str, **declared: Any) -> Act:
    return written(f"{HEADER}ana,bar,{text},{text}\n", **declared)


def raised(error: SafesideError) -> NoReturn:
    raise error
