"""What tests of publishing share: a small city with a ledger, and ways to spoil its visits."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from typing import Any

import polars as pl
from tests.faults.publishing import PLACES, World

from safeside.ledger import open_ledger


def remaining(world: World) -> Fraction:
    with open_ledger(world.home / "ledger.db") as ledger:
        return ledger.remaining("city").epsilon


def nothing_published(world: World) -> None:
    """No directory, hidden or not, and nothing on the account."""
    left = list(world.out.parent.iterdir()) if world.out.parent.exists() else []
    assert left == []


def truth() -> dict[str, int]:
    return {f"p{place:02}": place % 5 if place % 3 else 0 for place in range(PLACES)}


def spoil(world: World, change: Any) -> None:
    path = world.home / "visits.parquet"
    change(pl.read_parquet(path)).write_parquet(path)


BAD = {
    "a place that is not listed": lambda t: t.with_columns(
        place=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("elsewhere 9")).otherwise("place")
    ),
    "somebody at two places at once": lambda t: pl.concat([t, t.head(1).with_columns(place=pl.lit("p39"))]),
    "a stay that ends before it starts": lambda t: t.with_columns(end=pl.col("start") - timedelta(hours=1)),
    "nobody known": lambda t: t.with_columns(person=pl.lit(None, dtype=pl.String)),
    "times without a zone": lambda t: t.with_columns(pl.col("start", "end").dt.replace_time_zone(None)),
    "yesterday's file": lambda t: t.with_columns(pl.col("start", "end") - timedelta(days=1)),
}
LIMITS = ("somebody at two places at once", "yesterday's file")
"""Of these, what is beyond a limit: it may not be met with another question."""
