"""Free ground around places that are found by coordinates (docs/decisions/room.md).

A radius or H3 cells around many venues can cover a town, so that nobody who lives there could have visited
none of them. So around every listed place a tenth of the ground within about a kilometre must be free. Only
the list and the declaration are looked at, never the data.

*Radius.* The union of the circles is measured along west-east lines, exactly on each, with the midpoint rule
between them (off by at most 2 % of the ground). *H3.* Cells are counted, exactly.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from safeside import extras
from safeside.errors import NowhereElse
from safeside.visits.places.coordinates import SMALLEST_RADIUS
from safeside.visits.places.places import Places
from safeside.visits.read.format import VisitFormat

LEAST_ROOM: Final = 0.1
"""The share of the ground around a place that must be free."""
SIDE: Final = 2_000.0
"""Metres: the side of the square around a place, made of blocks, with the place in the middle block."""
REACH: Final = 4
BLOCK: Final = SIDE / (2 * REACH + 1)
_LINES: Final = 6
"""Lines to a radius."""
_BAND: Final = 0.25
"""Degrees of latitude projected as a cylinder; lengths are right to about 1 %."""
_CAP: Final = 80.0
"""Degrees of latitude beyond which the projection is a disc around the pole."""
ROW: Final = 2**20
"""More columns of blocks than there are around the Earth."""
_LINE: Final = 1e8
"""Metres: more than twice around the Earth, so that positions on different lines never mix."""
_OFFERED: Final = (500, 400, 300, 250, 200, 150, 100, 75, 50, 40, 30, 25, 20, 15, 10, 5)
_AROUND: Final = {9: 3, 8: 1}
"""Rings of cells of an H3 resolution within a kilometre; of coarser cells the cell itself is that large."""
_FINEST: Final = 9
_OF_ITS_PARENT: Final = 7
_STRETCHED: Final = 1.3
"""More than a cell's width is anywhere, in average widths."""

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Tight:
    """A listed place with too little free ground around it."""

    place: int
    room: float


def require_free_ground(places: Places, declared: VisitFormat) -> None:
    """Refuse a radius or cells that leave too little free ground around some place."""
    latitude, longitude = places.latitude, places.longitude
    radius, resolution = declared.radius, declared.h3_resolution
    if latitude is None or longitude is None:
        return
    if radius is not None and (found := tight_by_radius(latitude, longitude, radius)):
        within = f"within {radius:g} m"
        smaller = _largest_radius(latitude, longitude, radius)
    elif resolution is not None and (
        found := tight_by_cells(latitude, longitude, resolution, declared.h3_rings)
    ):
        within = f"in an H3 cell (resolution {resolution})"
        smaller = "Declare smaller cells (a higher resolution)"
    else:
        return
    covered = math.floor(1000 * (1 - found.room)) / 10
    raise NowhereElse(
        f"Around the place {places.ids[found.place]!r}, {covered:g} % of the ground within a kilometre is"
        f" {within} of a place on the list: whoever lives there could hardly have been at none of them.",
        f"{smaller}, or list fewer places: a tenth of the ground around each must be free.",
    )


def _largest_radius(latitude: Floats, longitude: Floats, refused: float) -> str:
    """The largest radius of a few that would do."""
    smaller = [metres for metres in _OFFERED if metres < refused]
    first = bisect_left(
        smaller, True, key=lambda metres: tight_by_radius(latitude, longitude, metres) is None
    )
    most = f"a radius of at most {smaller[first]} m" if first < len(smaller) else "a smaller radius"
    return f"Declare {most}"


def tight_by_radius(latitude: Floats, longitude: Floats, metres: float) -> Tight | None:
    """The place with the least free ground between circles, if that is too little."""
    worst: Tight | None = None
    # Pre-filter: fewer circles than that could not cover enough even side by side.
    least = (1 - LEAST_ROOM) * SIDE**2 / (math.pi * metres**2)
    for crowd in _crowds(latitude, longitude, metres, least):
        block, area = covered_ground(crowd.x, crowd.y, metres)
        squares, first = np.unique(crowd.block[crowd.asked], return_index=True)
        room = 1 - sums_around(block, area, squares, REACH) / SIDE**2
        tight = int(np.argmin(room))
        if room[tight] < LEAST_ROOM and (worst is None or room[tight] < worst.room):
            place = crowd.place[crowd.asked][first[tight]]
            worst = Tight(place=int(place), room=max(0.0, float(room[tight])))
    return worst


@dataclass(frozen=True, kw_only=True)
class _Crowd:
    """Places projected to a plane, in metres; `asked` are those with enough others around to be measured."""

    place: Wholes
    x: Floats
    y: Floats
    block: Wholes
    asked: NDArray[np.bool_]


def _crowds(latitude: Floats, longitude: Floats, metres: float, least: float) -> Iterator[_Crowd]:
    """Groups of places around whose squares at least `least` places lie within reach."""
    reach = REACH + math.ceil(metres / BLOCK)
    for place, own, x, y in _planes(latitude, longitude, metres + SIDE):
        block = _blocks(y) * ROW + _blocks(x)
        order = np.argsort(block)
        place, own, x, y, block = place[order], own[order], x[order], y[order], block[order]
        squares, inverse = np.unique(block, return_inverse=True)
        crowded = sums_around(block, np.ones(len(block)), squares, reach) >= least
        asked = own & crowded[inverse]
        if asked.any():
            full = squares[crowded]
            near = (sums_around(full, np.ones(len(full)), squares, reach) > 0)[inverse]
            yield _Crowd(place=place[near], x=x[near], y=y[near], block=block[near], asked=asked[near])


def _planes(
    latitude: Floats, longitude: Floats, margin: float
) -> Iterator[tuple[Wholes, NDArray[np.bool_], Floats, Floats]]:
    """The places projected to planes: each place is `own` in one of them, and a neighbour in others."""
    phi, lam = np.radians(latitude), np.radians(longitude)
    around = margin / SMALLEST_RADIUS
    for pole in (1, -1):
        from_pole = math.pi / 2 - pole * phi
        near = np.flatnonzero(from_pole <= math.radians(90 - _CAP) + around)
        own = pole * latitude[near] > _CAP
        if own.any():
            distance = SMALLEST_RADIUS * from_pole[near]
            yield near, own, distance * np.cos(lam[near]), distance * np.sin(lam[near])
    band = np.where(np.abs(latitude) > _CAP, np.inf, np.floor(latitude / _BAND))
    order = np.argsort(phi)
    for number in np.unique(band[np.isfinite(band)]):
        low, high = math.radians(number * _BAND), math.radians((number + 1) * _BAND)
        ends = np.searchsorted(phi, [low - around, high + around], sorter=order)
        near = order[ends[0] : ends[1]]
        own = band[near] == number
        width = SMALLEST_RADIUS * math.cos((low + high) / 2)
        x, y = width * lam[near], SMALLEST_RADIUS * phi[near]
        # Across the date line.
        turn = 2 * math.pi * width
        for side in (-1, 1):
            across = np.flatnonzero(side * x[: len(near)] < 2 * margin - turn / 2)
            near, own = np.append(near, near[across]), np.append(own, np.zeros(len(across), bool))
            x, y = np.append(x, x[across] + side * turn), np.append(y, y[across])
        yield near, own, x, y


def _blocks(metres: Floats) -> Wholes:
    return np.floor(metres / BLOCK).astype(np.int64)


def sums_around(block: Wholes, weight: Floats, at: Wholes, reach: int) -> Floats:
    """For every block `at`, the weights of all blocks that are at most `reach` rows and columns away."""
    order = np.argsort(block, kind="stable")
    ordered = block[order]
    before = np.concatenate([[0.0], np.cumsum(weight[order])])
    total = np.zeros(len(at))
    for step in range(-reach, reach + 1):
        middle = at + step * ROW
        total += before[np.searchsorted(ordered, middle + reach, "right")]
        total -= before[np.searchsorted(ordered, middle - reach, "left")]
    return total


def covered_ground(x: Floats, y: Floats, metres: float) -> tuple[Wholes, Floats]:
    """The ground within the radius of any point: pieces with their block and area."""
    lines = math.ceil(_LINES * BLOCK / metres)
    apart = BLOCK / lines
    reach = math.ceil(metres / apart)
    line = np.floor(y / apart)[:, None] + np.arange(-reach, reach + 1)
    squared = metres**2 - ((line + 0.5) * apart - y[:, None]) ** 2
    point, _ = np.nonzero(squared > 0)
    line, half = line[squared > 0], np.sqrt(squared[squared > 0])
    first = line.min()
    west = (line - first) * _LINE + (x[point] - half)
    east = west + 2 * half
    order = np.argsort(west)
    west, east = west[order], np.maximum.accumulate(east[order])
    opens = np.concatenate([[True], west[1:] > east[:-1]])
    closes = np.concatenate([opens[1:], [True]])
    line = line[order][opens]
    west, east = west[opens] - (line - first) * _LINE, east[closes] - (line - first) * _LINE
    left = _blocks(west)
    pieces = _blocks(east) - left + 1
    of = np.repeat(np.arange(len(left)), pieces)
    column = left[of] + np.arange(len(of)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    length = np.minimum(east[of], (column + 1) * BLOCK) - np.maximum(west[of], column * BLOCK)
    row = np.floor(line / lines).astype(np.int64)[of]
    return row * ROW + column, length * apart


def tight_by_cells(latitude: Floats, longitude: Floats, resolution: int, rings: int) -> Tight | None:
    """A place with too little free ground between cells.

    Fine cells are counted in their coarse parents; the parents around that of a place are its surroundings.
    """
    h3 = extras.load("h3.api.basic_int", "Finding places by H3 cells", "geo")
    coarse = min(resolution, _FINEST)
    around, full = _AROUND.get(coarse, 0), _OF_ITS_PARENT ** (resolution - coarse)
    # Around one of the twelve pentagons there are fewest: they have five neighbours.
    fewest = 5 * around * (around + 1) // 2 + 1
    least = (1 - LEAST_ROOM) * fewest * full / (3 * rings * (rings + 1) + 1)
    reach = _STRETCHED * ((around + 1) * _width(h3, coarse) + (rings + 1) * _width(h3, resolution))
    beyond = max(reach - REACH * BLOCK, 0)
    for crowd in _crowds(latitude, longitude, beyond, least):
        listed = _cells(h3, latitude[crowd.place], longitude[crowd.place], resolution)
        targets = {cell for own in np.unique(listed).tolist() for cell in h3.grid_disk(own, rings)}
        parents, counts = np.unique(
            parent_cells(np.fromiter(targets, np.uint64, len(targets)), coarse), return_counts=True
        )
        covered = dict(zip(parents.tolist(), counts.tolist(), strict=True))
        middles, first = np.unique(parent_cells(listed[crowd.asked], coarse), return_index=True)
        places = dict(zip(middles.tolist(), crowd.place[crowd.asked][first].tolist(), strict=True))
        # Where nine tenths of the cells around a place are covered, so are nine tenths of a coarse one.
        tight = parents[counts > (1 - LEAST_ROOM) * full].tolist()
        if len(tight) * fewest < len(places):
            places = {
                middle: places[middle]
                for middle in dict.fromkeys(cell for each in tight for cell in h3.grid_disk(each, around))
                if middle in places
            }
        for middle, place in places.items():
            disk = h3.grid_disk(middle, around)
            room = 1 - sum([covered.get(cell, 0) for cell in disk]) / (len(disk) * full)
            if room < LEAST_ROOM:
                return Tight(place=place, room=room)
    return None


def _cells(h3: Any, latitude: Floats, longitude: Floats, resolution: int) -> NDArray[np.uint64]:
    points = zip(latitude.tolist(), longitude.tolist(), strict=True)
    return np.fromiter((h3.latlng_to_cell(*point, resolution) for point in points), np.uint64, len(latitude))


def _width(h3: Any, resolution: int) -> float:
    """Metres from one side of an average cell to the other."""
    return math.sqrt(2 / math.sqrt(3) * h3.average_hexagon_area(resolution, unit="m^2"))


def parent_cells(cells: NDArray[np.uint64], resolution: int) -> NDArray[np.uint64]:
    """The coarser cells that these belong to, by the bits of their numbers."""
    unused = (1 << 3 * (15 - resolution)) - 1
    return cells & np.uint64(~(15 << 52) & 2**64 - 1) | np.uint64(resolution << 52 | unused)
