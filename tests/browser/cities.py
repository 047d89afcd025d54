"""Maps of synthetic cities to open in a browser, made once for all tests."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from tests.releases.making import INSTANT, NOW

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
