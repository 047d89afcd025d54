"""Which way of answering certifies most, decided from public knowledge before any data is read.

At an instant one person is at one place, and a noisy count of every place certifies as much as anything can.
Over an interval the ways are compared on the public forecast. Where the list says how many people are
expected, on that; where it only says which places are busier, on several assumed averages, and the way with
the largest share of the limit over all of them is taken. `plan_places` shows the same for a list of places,
by epsilon and by threshold, before anything is spent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np

from safeside import exact
from safeside.decisions.compare import Comparison, Outlook, certified_by_counts
from safeside.exact import Number
from safeside.progress import Progress, quiet
from safeside.releases.methods import METHODS, Method, Whole, chosen
from safeside.releases.methods.forecasting import read_forecast
from safeside.visits import Places, When, Window, read_places, split
from safeside.zones import find_zone

AUTO: Final = "auto"
_AVERAGES: Final = (Fraction(1, 4), Fraction(1))
"""Assumed averages, as shares of t + 1, where the list does not say how many people are expected."""
_OFF_BY: Final = (0.6, 1.0)
"""Deviations of the logarithm by which a forecast may be off."""


@dataclass(frozen=True, kw_only=True)
class PlanRow:
    """What each way is expected to certify at one epsilon and threshold, if the average count is this."""

    epsilon: Fraction
    at_most: int
    """The threshold; where places have their own, one in the middle of them."""
    average: float
    off_by: float
    compared: Comparison


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The way that was taken, and what it was compared with."""

    method: str
    assumed: tuple[PlanRow, ...]
    declared: bool
    """Whether the list itself says how many are expected; averages are assumed otherwise."""
    by_forecast: bool
    """Whether a part of the forecast was given, which belongs to this method alone."""


def choose(
    name: str | None, given: Mapping[str, Any], places: Places, limits: Whole, most: int | None
) -> tuple[type[Method], Choice | None]:
    """The method that was asked for; or, where none was, the one that certifies most.

    `most` is how many conditions one person can satisfy, where the dataset says so.
    """
    kind = chosen(None if name == AUTO else name, given)
    windows: Sequence[Window] = given["windows"]
    settled = name not in (None, AUTO) or windows[0].instant or given["guarantee"] != "adp"
    open_to_choice = kind is next(iter(METHODS.values())) and not any(given[one] for one in kind.hints)
    if settled or not (kind.by_forecast or open_to_choice):
        return kind, None
    assumed = assumptions(places, windows, np.tile(limits, len(windows)), given, most)
    ways = list(assumed[0].compared.expected)
    best = max(ways, key=lambda way: sum(one.compared.share(way) for one in assumed))
    taken = kind.tag() if kind.by_forecast else best
    declared, given_part = places.expected is not None, kind.by_forecast
    return METHODS[taken], Choice(method=taken, assumed=assumed, declared=declared, by_forecast=given_part)


def assumptions(
    places: Places,
    windows: Sequence[Window],
    limits: Whole,
    given: Mapping[str, Any],
    most: int | None,
    *,
    off_by: float = 0.0,
) -> tuple[PlanRow, ...]:
    """Every way of answering, compared on what the list says, or on assumed averages."""
    epsilon, typical, expected = given["epsilon"], int(np.median(limits)), places.expected
    forecast = read_forecast(places, windows, given["zone"], given["profile"], given["learn_from"])
    shape = forecast.usual / (forecast.usual.mean() or 1.0)
    assumed = [float(share * (typical + 1)) for share in _AVERAGES]
    rows = []
    for average in assumed if expected is None else [float(expected.mean())]:
        outlook = Outlook.of(
            shape * average, limits, epsilon, scores=forecast.scores, most_conditions=most, off_by=off_by
        )
        compared = compare(outlook)
        rows.append(
            PlanRow(epsilon=epsilon, at_most=typical, average=average, off_by=off_by, compared=compared)
        )
    return tuple(rows)


def compare(outlook: Outlook) -> Comparison:
    """How many conditions each way of answering is expected to certify."""
    found = {name: kind.certifies(outlook) for name, kind in METHODS.items()}
    return Comparison(
        conditions=outlook.counts.size,
        expected={name: number for name, number in found.items() if number is not None},
        limit=certified_by_counts(outlook.counts, outlook.limits, outlook.epsilon),
    )


def cut_windows(when: When, every: str | timedelta | None, timezone: str | None) -> tuple[Window, ...]:
    """The one window asked about, or all of those that the interval is cut into."""
    whole = Window.parse(when, timezone)
    return (whole,) if every is None else split(whole, every, timezone)


@dataclass(frozen=True, kw_only=True)
class PlacePlan:
    """Every row, the one that was asked for first."""

    places: int
    windows: int
    source: str
    """What the forecast is made from: the list's column `expected` or `popularity`, or none."""
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
        >>> print(made.windows, made.rows[0].compared.best)
        4 selection
    """
    listed = places if isinstance(places, Places) else read_places(places)
    windows = cut_windows(when, every, timezone)
    budget, threshold = exact.epsilon(epsilon), exact.whole(at_most, "`at_most=`")
    zone = None if timezone is None else find_zone(timezone)
    given = {"zone": zone, "profile": profile, "learn_from": learn_from}
    asked = [(price, threshold, 0.0) for price in (budget, budget / 2, 2 * budget)]
    asked += [(budget, other, 0.0) for other in sorted({threshold // 2, 2 * threshold + 1} - {threshold})]
    asked += [(budget, threshold, off) for off in _OFF_BY]
    rows: list[PlanRow] = []
    for number, (price, limit, off) in enumerate(asked):
        progress(number / len(asked), "Comparing ways of answering")
        limits = np.full(len(listed) * len(windows), limit, dtype=np.int64)
        rows += assumptions(listed, windows, limits, {**given, "epsilon": price}, max_conditions, off_by=off)
    columns = {"expected": listed.expected, "popularity": listed.popularity}
    source = next((name for name, column in columns.items() if column is not None), "none")
    return PlacePlan(places=len(listed), windows=len(windows), source=source, rows=tuple(rows))
