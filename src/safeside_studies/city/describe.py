"""The figures a city was calibrated to, measured on the files that were written.

The paper's decision is "fewer than 3 visitors" at 6 p.m. of its Sunday and "at most 5" over that day; the
probabilities below are exact for the counts found, so nothing here is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from safeside.errors import BadQuestion
from safeside_studies.city.people import DAY
from safeside_studies.movements import Movements, read_city
from safeside_studies.orders import alarm_by_popularity, expected, fixed_order, random_order, with_replacement

THIRD_DAY: Final = 2
SIX_PM: Final = THIRD_DAY * DAY + 18 * 60


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What the paper says about its data, said about this city."""

    people: int
    places: int
    visits: int
    fewer_than_three: int
    expected_beta: float
    right_answers: float
    ten_or_more: float
    places_asked: float
    ten_or_more_asked: float
    random_order: float
    by_popularity: float

    def lines(self) -> list[tuple[str, str, str]]:
        """What, in this city, in the paper."""
        return [
            ("people", f"{self.people:,}", "10,338"),
            ("places", f"{self.places:,}", "5,835"),
            ("visits", f"{self.visits:,}", "not said"),
            ("places with fewer than 3 visitors, third day, 6 p.m.", f"{self.fewer_than_three:,}", "5,343"),
            ("mean over those of 1 - e^-(3 - count)", f"{self.expected_beta:.4f}", "0.9416 (5,031 of 5,343)"),
            (
                "right answers of the paper's SALap, third day, random order",
                f"{self.right_answers:.2f}",
                "about 10",
            ),
            ("probability of at least 10 of them", f"{self.ten_or_more:.3f}", "about 0.5"),
            (
                "places asked by its released code, with replacement, the alarm's counted",
                f"{self.places_asked:.2f}",
                "about 10",
            ),
            ("probability of at least 10 of those", f"{self.ten_or_more_asked:.3f}", "about 0.5"),
            ("right answers of SAGeo, at most 5, random order", f"{self.random_order:.2f}", "not done"),
            ("right answers of SAGeo, at most 5, by popularity", f"{self.by_popularity:.1f}", "not done"),
        ]


def describe(directory: Path) -> Figures:
    """Measure the city in `directory`, of at least three days."""
    return measure(read_city(directory))


def measure(city: Movements) -> Figures:
    """The figures of a city that was read."""
    if city.days <= THIRD_DAY:
        raise BadQuestion(
            "The figures are those of the third day, and this city has fewer.", "Generate at least 3 days."
        )
    instant, day = city.at(SIX_PM), city.day(THIRD_DAY)
    few = instant[instant < 3]
    alarm = np.exp(-np.maximum(5.0 - day, 0.0))
    paper, code = random_order(alarm), with_replacement(alarm)
    ours = np.exp(-np.maximum(6.0 - day, 0.0))
    return Figures(
        people=city.people,
        places=len(instant),
        visits=city.visits,
        fewer_than_three=len(few),
        expected_beta=float(np.mean(1.0 - np.exp(few - 3.0))) if len(few) else float("nan"),
        right_answers=expected(paper),
        ten_or_more=float(paper[min(10, len(paper) - 1)]),
        places_asked=expected(code),
        ten_or_more_asked=float(code[min(10, len(code) - 1)]),
        random_order=expected(random_order(ours)),
        by_popularity=expected(fixed_order(alarm_by_popularity(ours, city.popularity))),
    )
