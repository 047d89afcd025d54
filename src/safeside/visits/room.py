"""Room to be elsewhere (THEORY 7): the targets must leave everybody somewhere else to have been.

Where every person is at some target at all times, "none of them" is impossible, and the guarantee says
nothing. Whether the *data* look like that must not be asked, because the answer would be an output. What is
asked here is asked of the public list alone: homes, buckets for the rest of the world, areas that tile a
map, cells that close around each other, a full lattice of points.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from safeside.errors import NoRoom

HOMES: Final = frozenset(
    {
        "home",
        "homes",
        "house",
        "houses",
        "residence",
        "residences",
        "residential",
        "dwelling",
        "dwellings",
        "apartment",
        "apartments",
        "household",
        "private_home",
        "private_residence",
        "own_home",
    }
)
REST: Final = frozenset(
    {
        "elsewhere",
        "other",
        "others",
        "outside",
        "rest",
        "rest_of_world",
        "everywhere",
        "anywhere",
        "nowhere",
        "none",
        "unknown",
        "in_transit",
        "transit",
        "travelling",
        "traveling",
        "moving",
        "move",
        "not_at_a_place",
        "no_place",
    }
)
AREAS: Final = frozenset(
    {
        "area",
        "areas",
        "district",
        "districts",
        "ward",
        "wards",
        "municipality",
        "municipalities",
        "prefecture",
        "prefectures",
        "county",
        "counties",
        "province",
        "provinces",
        "state",
        "states",
        "country",
        "countries",
        "postcode",
        "postcodes",
        "zip",
        "zip_code",
        "zip_codes",
        "census_tract",
        "census_block",
        "block_group",
        "neighbourhood",
        "neighborhood",
        "administrative_area",
        "grid",
        "grid_cell",
        "cell",
        "tile",
        "mesh",
        "geohash",
        "h3",
        "h3_cell",
        "administrative_area_level_1",
        "administrative_area_level_2",
        "administrative_area_level_3",
    }
)
_LEAST_LATTICE: Final = 9
_H3_INDEX: Final = r"^8[0-9a-f]{14}$"
_ENCLOSED: Final = 6
"""A pentagon and its five neighbours: the fewest cells that close around one of them."""


def require_room(
    *,
    ids: pl.Series,
    names: pl.Series | None,
    kinds: Mapping[str, pl.Series],
    latitude: NDArray[np.float64] | None,
    longitude: NDArray[np.float64] | None,
) -> None:
    """Refuse a list of targets that, by what it says of itself, covers where people always are."""
    said = {"place": ids, **({} if names is None else {"name": names}), **kinds}
    for column, values in said.items():
        plain = _plain(values)
        _refuse_words(column, plain, HOMES, "people's homes", "homes are never targets")
        _refuse_words(column, plain, REST, "the rest of the world", "a bucket for it leaves no room")
        if column in kinds:
            _refuse_words(column, plain, AREAS, "areas that tile a map", "whoever is nowhere is in an area")
    _refuse_cells(ids)
    if latitude is not None and longitude is not None:
        _refuse_lattice(latitude, longitude)


def _plain(values: pl.Series) -> pl.Series:
    return values.str.to_lowercase().str.replace_all(r"[^a-z0-9]+", "_").str.strip_chars("_")


def _refuse_words(column: str, values: pl.Series, words: frozenset[str], what: str, why: str) -> None:
    found = values.filter(values.is_in(sorted(words)))
    if len(found):
        raise NoRoom(
            f"The list of places contains {what} ({column}: {found[0]}): {why}.",
            "List public venues only, so that everybody could have been at none of them.",
        )


def _refuse_cells(ids: pl.Series) -> None:
    """Refuse H3 cells one of which is enclosed by others: whoever is there is surrounded by targets."""
    cells = set(ids.filter(ids.str.contains(_H3_INDEX)).to_list())
    if len(cells) < _ENCLOSED:
        return
    try:
        import h3
    except ModuleNotFoundError:
        enclosed = True
    else:
        enclosed = any(h3.is_valid_cell(cell) and cells >= set(h3.grid_disk(cell, 1)) for cell in cells)
    if enclosed:
        raise NoRoom(
            "The places are H3 cells that close around each other and cover an area.",
            "List public venues instead, and find their visitors by the cells around them (--h3).",
        )


def _refuse_lattice(latitude: NDArray[np.float64], longitude: NDArray[np.float64]) -> None:
    """Refuse points that fill a regular lattice: they are a map cut into cells, not venues."""
    rows, columns = np.unique(latitude), np.unique(longitude)
    if len(latitude) < _LEAST_LATTICE or min(len(rows), len(columns)) < 2:
        return
    if (
        len(rows) * len(columns)
        == len(latitude)
        == len({*zip(latitude.tolist(), longitude.tolist(), strict=True)})
    ):
        raise NoRoom(
            "The places lie on a full lattice of points, as cells that cover an area do.",
            "List public venues instead, and find their visitors by a radius around them (--radius).",
        )
