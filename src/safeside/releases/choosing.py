"""Which way of answering certifies most, decided from public knowledge before any data is read.

At an instant one person is at one place, and a noisy count of every place certifies as much as anything can.
Over an interval the ways are compared on the public forecast. Where the list says how many people are
expected, on that; where it only says which places are busier, on several assumed averages, and the way with
the largest share of the limit over all of them is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from safeside.decisions.compare import Comparison, Way, compare
from safeside.releases.methods import METHODS, Method, Whole, chosen
from safeside.releases.methods.forecasting import base_of, read_forecast, weights_of
from safeside.visits import Places, Window

AUTO: Final = "auto"
_AVERAGES: Final = (Fraction(1, 4), Fraction(1))
"""Assumed averages, as shares of t + 1, where the list does not say how many people are expected."""
_COUNTS_ONLY: Final = ("at_least", "alpha", "publish_at_least", "people", "max_places_per_person", "decision")
"""Whoever gives one of these asks for noisy counts, or for one bit."""


@dataclass(frozen=True, kw_only=True)
class Assumed:
    """How many conditions each way is expected to certify, if the average count is this."""

    average: float
    declared: bool
    """Whether the list itself says how many are expected."""
    compared: Comparison


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The way that was taken, and what it was compared with."""

    method: str
    assumed: tuple[Assumed, ...]
    by_forecast: bool = False
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
    by_forecast = kind is METHODS[Way.SELECTION]
    open_to_choice = kind is METHODS[Way.COUNTS] and not any(given[one] for one in _COUNTS_ONLY)
    if settled or not (by_forecast or open_to_choice):
        return kind, None
    assumed = assumptions(places, windows, np.tile(limits, len(windows)), given, most)
    ways = list(assumed[0].compared.expected)
    best = max(ways, key=lambda way: sum(one.compared.share(way) for one in assumed))
    taken = Way.SELECTION if by_forecast else best
    return METHODS[taken], Choice(method=taken, assumed=assumed, by_forecast=by_forecast)


def assumptions(
    places: Places,
    windows: Sequence[Window],
    limits: Whole,
    given: Mapping[str, Any],
    most: int | None = None,
    *,
    off_by: float = 0.0,
) -> tuple[Assumed, ...]:
    """Every way of answering, compared on what the list says, or on assumed averages."""
    zone, profile = given.get("zone"), given.get("profile")
    forecast = read_forecast(places, windows, zone, profile, given.get("learn_from"))
    known, _ = base_of(places)
    shape = np.multiply.outer(np.asarray(weights_of(windows, zone, profile), np.float64), known).ravel()
    shape = shape / (shape.mean() or 1.0)
    declared = places.expected is not None
    typical = int(np.median(limits)) + 1
    averages = [float(known.mean())] if declared else [float(share * typical) for share in _AVERAGES]
    return tuple(
        Assumed(
            average=average,
            declared=declared,
            compared=compare(
                shape * average,
                limits,
                given["epsilon"],
                scores=forecast.scores,
                most_conditions=most,
                off_by=off_by,
            ),
        )
        for average in averages
    )
