"""Refusal of lists that leave nobody anywhere else to be (docs/decisions/room.md).

Where everybody is at some listed place at all times, "visited none of them" is impossible and the guarantee
is empty. Only the public list is looked at, since an answer from the data would be an output: whether it
names homes, the rest of the world or areas that tile a map, and whether its places are cells of a grid that
enclose one another. `free_ground` is about radius and H3 cells around the places.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from safeside.errors import NowhereElse
from safeside.visits.places.grid_codes import distinct, enclosed, refuse_codes


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


HOMES: Final = _set(
    "home homes house houses residence residences residential dwelling dwellings apartment apartments"
    " household households flat flats"
    " maison domicile logement appartement hogar vivienda domicilio casa residencia moradia abitazione"
    " zuhause wohnung wohnungen wohnhaus privatwohnung woning thuis"
    " 自宅 住宅 住居 家 実家 家庭 住所 집 자택 주택 가정집"
)
_ACCENTED: Final = ("résidence", "résidences", "residência")
_OF_SOMEBODY: Final = _set("of my own private id no person patient user uid pid case")
"""Words beside which a home is still a home."""
REST: Final = _set(
    "elsewhere outside rest_of_world rest_of_the_world everywhere anywhere nowhere in_transit"
    " travelling traveling moving move not_at_place no_place"
    " ailleurs andernorts anderswo unterwegs en_ruta en_route 移動中 移動 이동 이동중 路上"
)
OTHER: Final = _set("rest other others transit autre autres otro otros sonstige sonstiges その他 기타 其他")
"""The rest of the world, if it is an identifier or a name; as a kind of venue it says nothing."""
UNKNOWN: Final = _set("unknown none inconnu desconocido unbekannt etc misc 不明 未知 알수없음 미상")
"""A catch-all, if it is an identifier; as a name or a kind merely unknown."""
AREAS: Final = _set(
    "area areas district districts ward wards municipality municipalities prefecture prefectures county"
    " counties province provinces state states country countries postcode postcodes zip zip_code zip_codes"
    " census_tract census_block block_group neighbourhood neighborhood administrative_area grid grid_cell"
    " cell tile mesh geohash h3 h3_cell administrative_area_level_1 administrative_area_level_2"
    " administrative_area_level_3"
)
_NAMED: Final = {"place": REST | OTHER | UNKNOWN, "name": REST | OTHER}
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_SEVERAL: Final = 3
"""From so many numbered names on they are homes; a single one may be a restaurant called Maison 1888."""
_SHOWN: Final = 5
_SAME: Final = 10**7
"""Parts of a degree, each about a centimetre: coordinates in one part are on one line."""
_LINED_UP: Final = 3
"""From so many places on a line on, it is a line of a lattice."""
_TENTH: Final = 10
_APART: Final = 0.98
_BLOCK: Final = 1 << 13
"""Places in a batch, to save memory."""

Floats = NDArray[np.float64]
Parts = NDArray[np.int32]


def require_venues(
    *,
    ids: pl.Series,
    names: pl.Series | None,
    kinds: Mapping[str, pl.Series],
    latitude: Floats | None,
    longitude: Floats | None,
) -> None:
    """Refuse a list of homes, of the rest of the world, of areas or of grid cells."""
    said = {
        "place": _suspects(ids),
        **({} if names is None else {"name": _suspects(names)}),
        **{column: values.drop_nulls().sort().to_list() for column, values in kinds.items()},
    }
    for column, values in said.items():
        rest = _NAMED.get(column, REST)
        areas = AREAS if column in kinds else frozenset[str]()
        suspects = {value: _words(value) for value in values}
        homes = [each for each in suspects if is_home(each)]
        if column == "name" and len(homes) < _SEVERAL:
            homes = [each for each in homes if not _numbered(each)]
        _refuse(column, homes, "people's homes", "homes are never targets")
        elsewhere = [each for each, words in suspects.items() if "_".join(words) in rest]
        _refuse(column, elsewhere, "the rest of the world", "a bucket for it leaves no room")
        tiles = [
            each
            for each, words in suspects.items()
            if areas.intersection(["_".join(words), each.lower().replace(" ", "_")])
        ]
        _refuse(column, tiles, "areas that tile a map", "whoever is nowhere is in an area")
    refuse_codes(ids, latitude, longitude)
    if latitude is not None and longitude is not None:
        _refuse_lattice(latitude, longitude)


def is_home(text: str) -> bool:
    """Whether a text consists of words for a home, and of nothing else."""
    return set() < set(_words(text)) - _OF_SOMEBODY <= HOMES


def _suspects(values: pl.Series) -> list[str]:
    """Pre-filter: values made only of words for homes, the rest of the world or a person, numbers, codes and
    single letters.
    """
    phrases = [word.split("_") for word in (*HOMES, *REST, *OTHER, *UNKNOWN, *_ACCENTED)]
    longest = sorted({max(parts, key=len) for parts in phrases})
    likely = values.filter(
        values.str.contains_any(longest, ascii_case_insensitive=True).fill_null(value=False)
    )
    if likely.is_empty():
        return []
    piece = "|".join(sorted({*chain(*phrases), *_OF_SOMEBODY}, key=len, reverse=True))
    code = r"[\p{L}\d]*\d[\p{L}\d]*"
    alone = rf"(?i)^[^\p{{L}}\d]*(?:(?:{piece}|{code}|\p{{L}})(?:[^\p{{L}}\d]+|$))+$"
    return likely.filter(likely.str.contains(alone)).unique(maintain_order=True).to_list()


def _words(value: str) -> list[str]:
    """The words of a text, without numbers, codes and single letters."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", value) if not unicodedata.combining(c))
    said = list[str]()
    for part in re.split(r"[\W_]+", unicodedata.normalize("NFC", bare)):
        words = [word.lower() for word in _WORDS.findall(part)]
        code = _numbered(part)
        said += [word for word in words if word in HOMES or not (code or (len(word) == 1 and word.isascii()))]
    return said


def _numbered(value: str) -> bool:
    return any(c.isdigit() for c in value)


def _refuse(column: str, found: list[str], what: str, why: str) -> None:
    if found:
        more = f" and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
        raise NowhereElse(
            f"The list of places contains {what} ({column}: {', '.join(found[:_SHOWN])}{more}): {why}.",
            "List public venues only, so that everybody could have been at none of them. If it is a venue"
            " that is called so, say there what it is, as in Home (café).",
        )


def _refuse_lattice(latitude: Floats, longitude: Floats) -> None:
    """Refuse points of a lattice that enclose one another: cells of a map, not venues."""
    north, east = (_in_blocks(_parts_of_a_degree, each) for each in (latitude, longitude))
    lined_up = _on_a_line(north) & _on_a_line(east)
    if _TENTH * lined_up.sum() < len(north):
        return
    in_lines = (each[lined_up] for each in (north, east))
    rows, columns = (_in_blocks(distinct(each).searchsorted, each) for each in in_lines)
    if _TENTH * enclosed(rows, columns) < len(north):
        return
    # Venues whose coordinates were rounded share them; cells of a map do not.
    if len(distinct(north.astype(np.int64) << 32 | east.view(np.uint32))) < _APART * len(north):
        return
    raise NowhereElse(
        "The places lie on a lattice of points that close around each other, as cells that cover an area do.",
        "List public venues instead, and find their visitors by a radius around them (`radius=`).",
    )


def _parts_of_a_degree(degrees: Floats) -> Parts:
    return np.rint(degrees * _SAME).astype(np.int32)


def _on_a_line(degrees: Parts) -> NDArray[np.bool_]:
    """For each place whether enough others lie on its parallel, or meridian."""
    ordered = np.sort(degrees)
    lines = ordered[_LINED_UP - 1 :][ordered[_LINED_UP - 1 :] == ordered[: 1 - _LINED_UP]]
    # A sentinel, so that every search finds a line.
    lines = np.append(lines, np.int32(np.iinfo(np.int32).max))
    return _in_blocks(lambda some: lines[lines.searchsorted(some)] == some, degrees)


def _in_blocks(work: Callable[[NDArray[Any]], NDArray[Any]], values: NDArray[Any]) -> NDArray[Any]:
    """The function applied in batches."""
    return np.concatenate([work(some) for some in np.array_split(values, 1 + len(values) // _BLOCK)])
