"""Maps of synthetic cities to open in a browser, made once for all tests."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from tests.releases.making import INSTANT, NOW

from safeside.releases.asking import ask
from safeside.releases.release import Release
from safeside.releases.simulate import simulate
from safeside_studies.city.geography import REGIONS
from safeside_studies.city.venues import found

_KEPT: list[TemporaryDirectory[str]] = []
"""Removed when the tests end."""


@lru_cache
def city(number: int) -> pl.DataFrame:
    """The public list of a city's places."""
    venues = found(number, 1)
    return pl.DataFrame(
        {
            "place": venues.ids(),
            "latitude": venues.latitude / 1e6,
            "longitude": venues.longitude / 1e6,
            "name": venues.names(),
            "region": [REGIONS[at] for at in venues.ground.region[venues.area]],
            "popularity": venues.popularity,
        }
    )


DAY, ZONE = "2013-12-22", "Asia/Tokyo"
HOURS = (1, 1, 1, 1, 1, 2, 5, 9, 11, 10, 10, 13, 15, 13, 10, 10, 11, 15, 19, 20, 16, 10, 6, 3)
"""How busy each hour of a day is, beside the others: a public profile."""


def day(number: int, out: Path, *, at_most: int = 5, busier: int = 1, **more: Any) -> Release:
    """A simulation of every hour of a day, by selection."""
    listed, generator = city(number), np.random.default_rng(number)
    profile = out.parent / "hours.csv"
    profile.write_text("hour,weight\n" + "".join(f"{at},{weight}\n" for at, weight in enumerate(HOURS)))
    terms = {
        "profile": profile,
        "epsilon": 1,
        "at_most": at_most,
        "method": "selection",
        "when": DAY,
        "every": "1h",
    }
    terms |= {"timezone": ZONE, "places": listed} | more
    windows = ask(**terms).question.windows
    busy = busier * np.outer(HOURS, listed["popularity"].to_numpy()) / 4_000
    counts = generator.poisson(busy)
    labels = [(place, window) for window in windows for place in listed["place"]]
    given = dict(zip(labels, counts.ravel().tolist(), strict=True))
    return simulate(given, out=out, seed=1, known_on=NOW, **terms)


@lru_cache
def day_town(busier: int = 16) -> Release:
    """The day of a small city, made once; 12 times as busy, its claim is "at most 6", above the 5 asked."""
    directory = TemporaryDirectory()
    _KEPT.append(directory)
    return day(60, Path(directory.name) / "out", busier=busier)


def mapped(number: int, terms: dict[str, Any], **more: Any) -> Release:
    """A simulation on a city of this size; the counts follow public popularity."""
    directory = TemporaryDirectory()
    _KEPT.append(directory)
    listed = city(number)
    generator = np.random.default_rng(number)
    counts = generator.poisson(listed["popularity"].to_numpy() / 25)
    return simulate(
        dict(zip(listed["place"], counts.tolist(), strict=True)),
        **terms,
        out=Path(directory.name) / "out",
        places=listed,
        when=INSTANT,
        timezone="Asia/Tokyo",
        seed=1,
        known_on=NOW,
        **more,
    )
