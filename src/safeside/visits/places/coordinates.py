"""From coordinates to listed places: a fix counts at every place it may be at.

*Radius.* Distances are measured on a sphere with the Earth's smallest radius of curvature (6,335,439 m, the
WGS 84 meridian at the equator), so whoever is within the declared distance on the ellipsoid is within it
here; up to one per cent further out counts, too. *H3.* A place is its cell and the declared rings of cells
around it.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from safeside import extras
from safeside.errors import BadQuestion
from safeside.progress import Progress
from safeside.visits.places.places import Places
from safeside.visits.read.format import VisitFormat

SMALLEST_RADIUS: Final = 6_335_439.0
_ROUNDING: Final = 1e-12
"""More than all floating-point error in a chord of the unit sphere: six thousandths of a millimetre."""
_BATCH: Final = 200_000

Fixes = NDArray[np.float64]


def assign(fixes: pl.DataFrame, places: Places, declared: VisitFormat, progress: Progress) -> pl.DataFrame:
    """The fixes (latitude, longitude, accuracy if there is one, and other columns) at their places: the other
    columns and `place`.
    """
    latitude, longitude = coordinates(places)
    rows: list[NDArray[np.int64]] = []
    indices: list[NDArray[np.int64]] = []
    finder = (
        _Radius(latitude, longitude, declared.radius)
        if declared.radius is not None
        else _Cells(latitude, longitude, declared)
    )
    for begin in range(0, fixes.height, _BATCH):
        part = fixes.slice(begin, _BATCH)
        accuracy = part["accuracy"].to_numpy() if "accuracy" in part.columns else np.zeros(part.height)
        row, index = finder.find(part["latitude"].to_numpy(), part["longitude"].to_numpy(), accuracy)
        rows.append(row + begin)
        indices.append(index)
        progress(begin / fixes.height, "Finding the places of coordinates")
    row = np.concatenate([np.empty(0, np.int64), *rows])
    index = np.concatenate([np.empty(0, np.int64), *indices])
    others = fixes.drop("latitude", "longitude", "accuracy", strict=False)
    return others[row].with_columns(places.column[index].alias("place"))


def coordinates(places: Places) -> tuple[Fixes, Fixes]:
    """Latitudes and longitudes of all places, or a refusal."""
    if places.latitude is None or places.longitude is None:
        raise BadQuestion(
            "The visits have coordinates, and the list of places has none.",
            "Add the columns latitude and longitude to the list of places.",
        )
    return places.latitude, places.longitude


class _Radius:
    """All places within a distance, by a tree over points of the unit sphere."""

    def __init__(self, latitude: Fixes, longitude: Fixes, metres: float) -> None:
        spatial = extras.load("scipy.spatial", "Finding places by a radius", "geo")
        self._tree: Any = spatial.cKDTree(on_sphere(latitude, longitude))
        self._metres = metres

    def find(
        self, latitude: Fixes, longitude: Fixes, accuracy: Fixes
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        angle = np.minimum((self._metres + accuracy) / SMALLEST_RADIUS, math.pi)
        chord = 2 * np.sin(angle / 2) * (1 + _ROUNDING) + _ROUNDING
        found = self._tree.query_ball_point(on_sphere(latitude, longitude), chord, return_sorted=False)
        sizes = np.fromiter((len(each) for each in found), dtype=np.int64, count=len(found))
        index = np.fromiter((i for each in found for i in each), dtype=np.int64, count=int(sizes.sum()))
        return np.repeat(np.arange(len(found)), sizes), index


class _Cells:
    """All places one of whose cells holds the fix."""

    def __init__(self, latitude: Fixes, longitude: Fixes, declared: VisitFormat) -> None:
        self._h3 = h3 = extras.load("h3.api.basic_int", "Finding places by H3 cells", "geo")
        self._resolution = declared.h3_resolution
        self._places: dict[int, list[int]] = {}
        for index, (lat, lon) in enumerate(zip(latitude, longitude, strict=True)):
            for cell in h3.grid_disk(h3.latlng_to_cell(lat, lon, self._resolution), declared.h3_rings):
                self._places.setdefault(cell, []).append(index)

    def find(
        self, latitude: Fixes, longitude: Fixes, accuracy: Fixes
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if accuracy.any():
            raise BadQuestion(
                "An accuracy in metres cannot be added to H3 cells.",
                "Declare a radius instead of H3 cells, or leave the accuracy out.",
            )
        row, index = list[int](), list[int]()
        for number, (lat, lon) in enumerate(zip(latitude.tolist(), longitude.tolist(), strict=True)):
            here = self._places.get(self._h3.latlng_to_cell(lat, lon, self._resolution), ())
            row += [number] * len(here)
            index += here
        return np.array(row, dtype=np.int64), np.array(index, dtype=np.int64)


def on_sphere(latitude: Fixes, longitude: Fixes) -> Fixes:
    """Points of the unit sphere."""
    phi, lam = np.radians(latitude), np.radians(longitude)
    return np.column_stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)])
