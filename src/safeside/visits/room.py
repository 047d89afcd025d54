"""Room to be elsewhere (THEORY 7): the targets must leave everybody somewhere else to have been.

Where every person is at some target at all times, "none of them" is impossible, and the guarantee says
nothing. Whether the *data* look like that must not be asked, because the answer would be an output. What is
asked here is asked of the public list alone: homes, buckets for the rest of the world, areas that tile a
map, cells that close around each other, a full lattice of points.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
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
_H3_INDEX: Final = re.compile(r"8[0-9a-f]{14}")


def require_room(
    *,
    ids: Sequence[str],
    names: Iterable[str],
    kinds: Mapping[str, Sequence[str | None]],
    latitude: NDArray[np.float64] | None,
    longitude: NDArray[np.float64] | None,
) -> None:
    """Refuse a list of targets that, by what it says of itself, covers where people always are."""
    for column, values in {"place": ids, "name": tuple(names), **kinds}.items():
        said = {_plain(value) for value in values if value}
        _refuse_words(column, said & HOMES, "people's homes", "homes are never targets")
        _refuse_words(
            column, said & REST, "the rest of the world", "a bucket for everywhere else leaves no room"
        )
        if column in kinds:
            _refuse_words(
                column, said & AREAS, "areas that tile a map", "whoever is nowhere else is in an area"
            )
    _refuse_cells(ids)
    if latitude is not None and longitude is not None:
        _refuse_lattice(latitude, longitude)


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.strip().lower()).strip("_")


def _refuse_words(column: str, found: set[str], what: str, why: str) -> None:
    if found:
        raise NoRoom(
            f"The list of places contains {what} ({column}: {min(found)}): {why}.",
            "List public venues only, so that everybody could have been at none of them.",
        )


def _refuse_cells(ids: Sequence[str]) -> None:
    """Refuse H3 cells one of which is enclosed by others: whoever is there is surrounded by targets."""
    cells = {each for each in ids if _H3_INDEX.fullmatch(each)}
    if len(cells) < 2:
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
