"""The listed places: what they are, where, and how many people each draws.

One place in eleven is a destination (a department store, a cinema, an office); the rest are small, and on
most evenings nobody of ten thousand people is there. Both sorts are Pareto-distributed with exponent 2. That
split is not a taste: the paper's data have 492 places with three visitors or more against some 300 with one
or two (docs/city.md), which no single power law gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from safeside.errors import BadQuestion
from safeside_studies.city.dice import Dice, Whole
from safeside_studies.city.geography import REGIONS, Ground, degrees, lay_out, settle

LEAST_PLACES: Final = 50
POPULARITY_SIGMA: Final = float(np.log(2.0))
"""Published popularity is the truth times a log-normal error of this sigma: a factor of two either way."""
NEARBY: Final = 350
"""Of a thousand trips, how many go to the nearer of two places; the others follow popularity alone."""
_BASE: Final = 20_000


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of place and its calibration."""

    name: str
    share: int
    """Of ten thousand places, how many are of this kind."""
    large: int
    """Of ten thousand places, how many are destinations of this kind."""
    small: int
    """Draw of the least small place, where that of the least destination is 20,000."""
    visits: int
    """Visits a thousand people make to this kind in a week of the city: the scale of `popularity`."""


KINDS: Final = (
    Kind(name="shop", share=2900, large=240, small=150, visits=2290),
    Kind(name="grocery", share=1200, large=52, small=70, visits=1460),
    Kind(name="restaurant", share=4000, large=356, small=170, visits=3600),
    Kind(name="entertainment", share=700, large=212, small=150, visits=1440),
    Kind(name="school", share=500, large=160, small=150, visits=510),
    Kind(name="office", share=700, large=200, small=150, visits=1180),
)
SHOP, GROCERY, RESTAURANT, ENTERTAINMENT, SCHOOL, OFFICE = range(len(KINDS))


@dataclass(frozen=True, kw_only=True)
class Venues:
    """Every place of a city, in the order of its number."""

    ground: Ground
    kind: Whole
    area: Whole
    draw: Whole
    latitude: Whole
    longitude: Whole
    popularity: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.kind)

    def ids(self) -> list[str]:
        """The places' names in the files, with leading zeros."""
        width = max(5, len(str(len(self))))
        return [f"s{number:0{width}}" for number in range(1, len(self) + 1)]

    def names(self) -> list[str]:
        """A readable name for each place."""
        regions, kinds = self.ground.region[self.area], self.kind
        return [
            f"{REGIONS[region]} {KINDS[kind].name} {number}"
            for number, (region, kind) in enumerate(zip(regions, kinds, strict=True), 1)
        ]


def found(places: int, seed: int) -> Venues:
    """Lay out the city and open its places."""
    if places < LEAST_PLACES:
        raise BadQuestion(
            f"A city of {places} places has not one of every kind.",
            f"Ask for at least {LEAST_PLACES} places.",
        )
    ground, dice = lay_out(seed), Dice(seed, 1)
    kind, large, draw = _sizes(places)
    order = dice.shuffled(places)
    kind, large, draw = kind[order], large[order], draw[order]
    area = dice.weighted(ground.pull, places)
    remote = dice.chance(250, places)
    spread = np.where(large, 300, np.where(remote, 2200, 800))
    east, north = settle(ground, area, spread, dice)
    latitude, longitude = degrees(east, north)
    return Venues(
        ground=ground,
        kind=kind,
        area=area,
        draw=draw,
        latitude=latitude,
        longitude=longitude,
        popularity=_popularity(ground, kind, area, draw, dice),
    )


def _sizes(places: int) -> tuple[Whole, NDArray[np.bool_], Whole]:
    """Kind, whether a destination, and draw of every place, before they are shuffled."""
    bounds = np.cumsum([0] + [k.share for k in KINDS]) * places // 10_000
    kinds, larges, draws = [], [], []
    for number, kind in enumerate(KINDS):
        count = int(bounds[number + 1] - bounds[number])
        large = min(count, max(1, kind.large * places // 10_000))
        kinds.append(np.full(count, number))
        larges.append(np.arange(count) < large)
        draws += [_pareto(large, _BASE), _pareto(count - large, kind.small)]
    return np.concatenate(kinds), np.concatenate(larges), np.concatenate(draws)


def _pareto(count: int, least: int) -> Whole:
    """Evenly spaced quantiles of the Pareto law with exponent 2; a square root is exact on every machine."""
    rank = np.arange(count) + 0.5
    draws: Whole = np.floor(least * np.sqrt(count / rank)).astype(np.int64)
    return draws


def _popularity(ground: Ground, kind: Whole, area: Whole, draw: Whole, dice: Dice) -> NDArray[np.float64]:
    """Visits in a week for each thousand people, as the model expects them, with the error.

    Of two places drawn a person takes the nearer one to home (people.py), so what a place gets depends on
    where people live: the expectation is taken over all pairs of areas.
    """
    homes = np.diff(ground.pull, prepend=0) / ground.pull[-1]
    truth = np.zeros(len(kind))
    for number, row in enumerate(KINDS):
        mine = kind == number
        weight = draw[mine] / draw[mine].sum()
        mass = np.bincount(area[mine], weights=weight, minlength=ground.areas)
        sorted_mass = mass[np.argsort(ground.further, axis=1)]
        beyond = sorted_mass.sum(axis=1, keepdims=True) - np.cumsum(sorted_mass, axis=1)
        # Drawn twice, a place wins against all that is further out; against its own area it wins once.
        wins = np.take_along_axis(2.0 * beyond + sorted_mass, ground.further, axis=1)
        nearness = (homes @ wins)[area[mine]]
        truth[mine] = row.visits * weight * (1000 - NEARBY + NEARBY * nearness) / 1000
    cells = dice.below(1 << 16, len(kind))
    normal = NormalDist(sigma=POPULARITY_SIGMA)
    error = np.exp([normal.inv_cdf((cell + 0.5) / (1 << 16)) for cell in cells.tolist()])
    return np.array([float(f"{value:.4g}") for value in truth * error])
