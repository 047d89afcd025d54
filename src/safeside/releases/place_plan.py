"""What each way of answering would certify of a list of places, before anything is spent.

Only public knowledge goes in: the list, with its popularity or what is expected, and a profile of the hours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np

from safeside import exact
from safeside.decisions.compare import Comparison
from safeside.exact import Number
from safeside.progress import Progress, quiet
from safeside.releases.asking import cut_windows
from safeside.releases.choosing import Assumed, assumptions
from safeside.visits import Places, When, Window, read_places
from safeside.zones import find_zone

OFF_BY: Final = (0.6, 1.0)
"""Deviations of the logarithm by which a forecast may be off."""


@dataclass(frozen=True, kw_only=True)
class PlanRow:
    """One epsilon and one threshold: what each way is expected to certify if the average count is this."""

    epsilon: Fraction
    at_most: int
    average: float
    off_by: float
    compared: Comparison


@dataclass(frozen=True, kw_only=True)
class PlacePlan:
    """Every row, the one that was asked for first."""

    places: int
    windows: int
    source: str
    declared: bool
    """Whether the list itself says how many are expected; averages are assumed otherwise."""
    rows: tuple[PlanRow, ...]


def plan_places(
    places: Any,
    when: When,
    *,
    at_most: int,
    epsilon: Number,
    every: str | timedelta | None = None,
    timezone: str | None = None,
    profile: str | Path | None = None,
    learn_from: Sequence[str | Path] | None = None,
    max_conditions: int | None = None,
    progress: Progress = quiet,
) -> PlacePlan:
    """Compare the ways of answering on the public forecast: by epsilon, by threshold, with forecasts off.

    `max_conditions` is how many conditions one person can satisfy, where a rule says so: only then there is a
    noisy count of every condition.

    Example
        >>> import polars as pl
        >>> from safeside import plan_places
        >>> venues = [f"venue {number:03}" for number in range(400)]
        >>> listed = pl.DataFrame({"place": venues, "popularity": [1 + at**2 for at in range(400)]})
        >>> made = plan_places(listed, "2024-03-03", every="6h", timezone="UTC", at_most=5, epsilon=1)
        >>> print(made.windows, made.rows[0].compared.best.value)
        4 selection
    """
    listed = places if isinstance(places, Places) else read_places(places)
    windows = cut_windows(when, every, timezone)
    budget, threshold = exact.epsilon(epsilon), exact.whole(at_most, "`at_most=`")
    given = {
        "zone": None if timezone is None else find_zone(timezone),
        "profile": profile,
        "learn_from": learn_from,
    }
    asked = [
        (budget, threshold, 0.0),
        (budget / 2, threshold, 0.0),
        (2 * budget, threshold, 0.0),
        *((budget, other, 0.0) for other in sorted({threshold // 2, 2 * threshold + 1} - {threshold})),
        *((budget, threshold, off) for off in OFF_BY),
    ]
    rows: list[PlanRow] = []
    found: tuple[Assumed, ...] = ()
    for number, (price, limit, off) in enumerate(asked):
        progress(number / len(asked), "Comparing ways of answering")
        found = _compared(listed, windows, limit, {**given, "epsilon": price}, max_conditions, off)
        rows += _rows(found, price, limit, off)
    source = "expected" if found[0].declared else "popularity" if listed.popularity is not None else "none"
    return PlacePlan(
        places=len(listed),
        windows=len(windows),
        source=source,
        declared=found[0].declared,
        rows=tuple(rows),
    )


def _compared(
    places: Places,
    windows: Sequence[Window],
    at_most: int,
    given: dict[str, Any],
    most: int | None,
    off_by: float,
) -> tuple[Assumed, ...]:
    limits = np.full(len(places) * len(windows), at_most, dtype=np.int64)
    return assumptions(places, windows, limits, given, most, off_by=off_by)


def _rows(found: Iterable[Assumed], epsilon: Fraction, at_most: int, off_by: float) -> list[PlanRow]:
    return [
        PlanRow(epsilon=epsilon, at_most=at_most, average=one.average, off_by=off_by, compared=one.compared)
        for one in found
    ]
