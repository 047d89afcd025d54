"""Where things are: a bay, a ring line, lines that wind outwards, and quarters between them.

Positions are whole metres east and north of the central station, so that nothing depends on how a machine
rounds; only the tables of directions come from a cosine, rounded to a thousandth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from safeside_studies.city.dice import Dice, Whole

REGIONS: Final = (
    "Amber Hill",
    "Bell Quay",
    "Cedar Gate",
    "Dovecote",
    "East Meadow",
    "Ferry Point",
    "Granary",
    "Heron Park",
    "Iron Bridge",
    "Juniper",
    "Kiln Lane",
    "Lantern Row",
    "Mill Stream",
    "North Field",
    "Old Market",
    "Pine Ridge",
    "Quarry",
    "Reed Bank",
    "Salt Steps",
    "Temple Wood",
    "Upper Ford",
    "Violet Court",
    "Willow End",
    "Yard Side",
)
LINES: Final = (
    (12, 3),
    (40, -2),
    (71, 3),
    (97, -3),
    (125, 2),
    (149, 4),
    (181, -3),
    (205, 2),
    (236, 3),
    (262, -1),
)
"""Direction of each line in degrees from east, and its turn at each station; none meets the bay."""
RING: Final = 26
"""Stations of the ring line."""
_QUARTERS: Final = 260
"""Candidates for local centres away from the lines; those in the bay or too far out are not built."""
_MICRO: Final = 1_000_000
_LATITUDE, _LONGITUDE = 35_681_000, 139_767_000
_METRES_NORTH, _METRES_EAST = 110_940, 90_420
"""Metres in a degree, at the latitude of the centre."""


@dataclass(frozen=True, kw_only=True)
class Ground:
    """The stations; a place or home belongs to the area around one of them."""

    east: Whole
    north: Whole
    pull: Whole
    """How much is built around each station, cumulative."""
    region: Whole
    further: NDArray[np.int32]
    """further[a, b]: rank of area b among all areas by distance from area a."""

    @property
    def areas(self) -> int:
        """How many areas there are."""
        return len(self.east)


def in_bay(east: Whole, north: Whole) -> NDArray[np.bool_]:
    """Whether a point lies in the bay in the south-east."""
    return (east > 1000) & (north < -2500) & ((east - 1000) * (-2500 - north) > 14_000_000)


def lay_out(seed: int) -> Ground:
    """The stations and local centres of a city."""
    dice = Dice(seed, 0)
    lines = np.array(stations(), dtype=np.int64)
    scattered = np.stack([dice.around(15_000, _QUARTERS), dice.around(15_000, _QUARTERS)], axis=1)
    east, north = np.concatenate([lines, scattered]).T
    east, north = east + dice.around(400, len(east)), north + dice.around(400, len(north))
    distance = np.sqrt((east**2 + north**2).astype(np.float64)).astype(np.int64)
    busy = np.where(np.arange(len(east)) < len(lines), 1000, 300)
    pull = 40_000_000 // (3500 + distance) * busy // 1000 * (500 + dice.below(1000, len(east))) // 1000
    built = ~in_bay(east, north) & (distance < 15_500)
    east, north, pull = east[built], north[built], pull[built]
    squared = (east[:, None] - east[None, :]) ** 2 + (north[:, None] - north[None, :]) ** 2
    further = np.argsort(np.argsort(squared, axis=1, kind="stable"), axis=1, kind="stable")
    return Ground(
        east=east,
        north=north,
        pull=np.cumsum(pull),
        region=_regions(squared, pull),
        further=further.astype(np.int32),
    )


def stations() -> list[tuple[int, int]]:
    """The central station, the ring, and the lines from the centre outwards."""
    points = [(0, 0)]
    for step in range(RING):
        x, y = _direction(360 * step // RING)
        points.append((4 * x, 6 * y))
    for degrees_east, turn in LINES:
        for step, metres in enumerate(range(1800, 15_000, 1400)):
            x, y = _direction(degrees_east + turn * step)
            points.append((x * metres // 1000, y * metres // 1000))
    return points


def settle(ground: Ground, area: Whole, spread: Whole, dice: Dice) -> tuple[Whole, Whole]:
    """A dry point within about `spread` metres of each area's station."""
    east, north = dice.around(spread, len(area)), dice.around(spread, len(area))
    for _ in range(2):
        # Inland of the station is where the bay is not: try the point opposite, then the station itself.
        wet = in_bay(ground.east[area] + east, ground.north[area] + north)
        east, north = np.where(wet, -east // 2, east), np.where(wet, -north // 2, north)
    wet = in_bay(ground.east[area] + east, ground.north[area] + north)
    east, north = np.where(wet, 0, east), np.where(wet, 0, north)
    return ground.east[area] + east, ground.north[area] + north


def degrees(east: Whole, north: Whole) -> tuple[Whole, Whole]:
    """Latitude and longitude in millionths of a degree."""
    return _LATITUDE + north * _MICRO // _METRES_NORTH, _LONGITUDE + east * _MICRO // _METRES_EAST


def _direction(angle: int) -> tuple[int, int]:
    return round(1000 * math.cos(math.radians(angle))), round(1000 * math.sin(math.radians(angle)))


def _regions(squared: Whole, pull: Whole) -> Whole:
    """Each area's region: seeds far from each other and busy, everything else to the nearest seed."""
    seeds = [0]
    while len(seeds) < len(REGIONS):
        seeds.append(int(np.argmax(squared[seeds].min(axis=0) * pull)))
    nearest: Whole = np.argmin(squared[seeds], axis=0).astype(np.int64)
    return nearest
