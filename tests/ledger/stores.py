"""What ledger tests share: an address of each kind, a state directory of their own, ways to break things."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg

from safeside.ledger import Cost, Ledger

NOON = datetime(2021, 3, 4, 12, tzinfo=UTC)
QUESTION = {"targets": ["park", "bar"], "window": "2021-03-04 18:00", "at_most": 2}
MANY = {**QUESTION, "targets": [f"place {number}" for number in range(2000)]}
EVERY = 6
"""Events between two checkpoints of the long ledger (conftest.py)."""
TABLES = ("safeside_ledger", "safeside_events", "safeside_documents", "safeside_draws")
TABLES += ("safeside_snapshots", "safeside_nodes")
Making = Callable[[], str]


def cost(epsilon: object = 1, **more: Any) -> Cost:
    """A price."""
    return Cost(epsilon=Fraction(str(epsilon)), **more)


def is_postgres(url: str) -> bool:
    """Whether it is the address of a server."""
    return url.startswith("postgresql")


@contextlib.contextmanager
def raw(url: str) -> Iterator[Callable[..., list[tuple[Any, ...]]]]:
    """Statements on the database itself, behind the ledger's back."""
    if is_postgres(url):
        with psycopg.connect(url, autocommit=True) as server:
            yield lambda sql, *values: _fetch(server.execute(sql.replace("?", "%s").encode(), values or None))
    else:
        file = sqlite3.connect(url, isolation_level=None)
        try:
            yield lambda sql, *values: file.execute(sql, values).fetchall()
        finally:
            file.close()


def _fetch(cursor: psycopg.Cursor[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return cursor.fetchall() if cursor.description else []


Backup = dict[str, list[tuple[Any, ...]]] | bytes


def backup(url: str) -> Backup:
    """A copy of the database, as an operator would make it."""
    if not is_postgres(url):
        return Path(url).read_bytes()
    with raw(url) as run:
        return {table: run(f"SELECT * FROM {table}") for table in TABLES}


def restore(url: str, copy: Backup) -> None:
    """Put the copy back in the place of what is there now."""
    if isinstance(copy, bytes):
        Path(url + "-journal").unlink(missing_ok=True)
        Path(url).write_bytes(copy)
        return
    with raw(url) as run:
        for table in TABLES:
            run(f"DELETE FROM {table}")
            for row in copy[table]:
                run(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", *row)


def witnesses(url: str, state: Path) -> list[Path]:
    """The files of the witnesses of the one ledger of a test."""
    return [*state.glob("*.witness"), *([] if is_postgres(url) else [Path(f"{url}.witness")])]


def forget_witnesses(url: str, directory: Path) -> None:
    """As if the ledger had been moved to another machine."""
    if not is_postgres(url):
        Path(url + ".witness").unlink(missing_ok=True)
    shutil.rmtree(directory, ignore_errors=True)


@contextlib.contextmanager
def not_as_root() -> Iterator[None]:
    """Root may write anywhere, so become somebody else for a while."""
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(was)


def about(hour: int, *, day: int = 3) -> dict[str, object]:
    """A question that looks at one hour of a day, and says what it asks."""
    times = [f"2021-06-{day:02}T{at:02}:00:00.000000Z" for at in (hour, hour + 1)]
    return {**QUESTION, "looked_at": times, "asks": "how many"}


def begun_at(ledger: Ledger) -> int:
    """The checkpoint at which a fresh reader began; 0 where it had to read everything."""
    with ledger.chain.reading() as (state, _):
        return state.base.number
