"""Identifiers that are codes of grid cells (H3, geohash, Japanese mesh), and whether they cover an area.

They do where some cell has all its neighbours on the list. Numbers and short texts may only look like codes;
coordinates on the list, if there are any, decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from safeside import extras
from safeside.errors import NowhereElse

_MOST: Final = 0.9
"""The share of identifiers that must be codes of one grid for the list to be taken for cells."""
_LIKELY: Final = 0.8
"""The share in a sample below which the rest is not looked at."""
_H3: Final = {16: (15, r"(?i)^8[0-9a-f]{14}$"), 10: (18, r"^[56][0-9]{17}$")}
"""Numbers of cells by their base: how long they are, and what they look like."""
_ENCLOSED: Final = 6
"""A pentagon and its five neighbours: the fewest cells that close around one of them."""
_BLOCK: Final = 9
_GEOHASH: Final = "0123456789bcdefghjkmnpqrstuvwxyz"
_MESH: Final = r"^(?:3[0-9]|[45][0-9]|6[0-8])(?:2[2-9]|[34][0-9]|5[0-3])(?:[0-7]{2}(?:[0-9]{2}[1-4]{0,3})?)?$"
_CODES: Final = {"geohashes": rf"(?i)^[{_GEOHASH}]{{3,12}}$", "Japanese mesh codes": _MESH}

Wholes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class _Cells:
    """Rows and columns of cells, from the south-west, and the origin and size of the grid in degrees."""

    row: Wholes
    column: Wholes
    south: float
    west: float
    height: float
    width: float

    def hold(self, latitude: Floats, longitude: Floats) -> bool:
        """Whether most of these points lie in their cells, or next to them."""
        north = np.abs((latitude - self.south) / self.height - self.row - 0.5) <= 1.5
        east = np.abs((longitude - self.west) / self.width - self.column - 0.5) <= 1.5
        return bool(np.mean(north & east) > 1 / 2)


def refuse_codes(ids: pl.Series, latitude: Floats | None, longitude: Floats | None) -> None:
    """Refuse identifiers that are cells, one of which is enclosed by others."""
    length = ids.str.len_bytes()
    _refuse_h3(ids, length)
    few = ids.gather_every(max(1, len(ids) // _BLOCK**3))
    for name, pattern in _CODES.items():
        # Geohashes of digits alone lie in a corner of larger cells and enclose none.
        if name == "geohashes" and not ids.str.contains("[A-Za-z]").any():
            continue
        if few.str.contains(pattern).sum() < _LIKELY * len(few):
            continue
        codes = ids.str.contains(pattern)
        if codes.sum() < max(_BLOCK, _MOST * len(ids)):
            continue
        for size in length.filter(codes).unique():
            chosen = codes & (length == size)
            cells = _decode(name, ids.filter(chosen))
            if cells is None or not enclosed(cells.row, cells.column):
                continue
            mask = chosen.to_numpy()
            if latitude is None or longitude is None or cells.hold(latitude[mask], longitude[mask]):
                raise NowhereElse(
                    f"The places look like {name} that close around each other and cover an area.",
                    "List public venues instead. If these are identifiers of venues that only look like it,"
                    " add the columns latitude and longitude, which show it.",
                )


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Sorted distinct values; takes less memory than np.unique, which hashes."""
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def enclosed(row: Wholes, column: Wholes) -> int:
    """How many cells have all eight neighbours on the list."""
    width = int(column.max(initial=0)) + 3
    cell = row * width
    cell += column
    cell = distinct(cell)
    between = cell[1:-1][(cell[2:] - cell[:-2] == 2)]
    above, below = (np.isin(between, between + row, assume_unique=True) for row in (width, -width))
    return int(np.count_nonzero(above & below))


def _refuse_h3(ids: pl.Series, length: pl.Series) -> None:
    cells = set[int]()
    for base, (size, pattern) in _H3.items():
        likely = ids.filter(length == size)
        cells |= {int(each, base) for each in likely.filter(likely.str.contains(pattern))}
    if len(cells) < _ENCLOSED:
        return
    h3 = extras.load("h3.api.basic_int", "Telling whether places that are H3 cells cover an area", "geo")
    cells = {cell for cell in cells if h3.is_valid_cell(cell)}
    if any(cells.issuperset(h3.grid_disk(cell, 1)) for cell in cells):
        raise NowhereElse(
            "The places are H3 cells that close around each other and cover an area.",
            "List public venues instead, and find their visitors by the cells around them "
            "(`h3_resolution=`).",
        )


def _decode(name: str, codes: pl.Series) -> _Cells | None:
    # Geohashes that end in 0 to 9 never make three by three: plain numbers enclose nothing.
    if name == "geohashes" and not codes.str.contains(r"[^0-9]$").any():
        return None
    characters = np.array(codes.str.to_lowercase().to_list(), dtype=np.bytes_)
    symbols = characters.view(np.uint8).reshape(len(characters), -1)
    return _geohash(symbols) if name == "geohashes" else _mesh(symbols - ord("0"))


def _geohash(symbols: NDArray[np.uint8]) -> _Cells:
    """Five bits a character, in turn of longitude and latitude."""
    value = np.zeros(128, np.int64)
    value[list(_GEOHASH.encode())] = np.arange(32)
    row = np.zeros(len(symbols), np.int64)
    column = row.copy()
    east = True
    for digit in value[symbols].T:
        for bit in range(4, -1, -1):
            if east:
                column = 2 * column + (digit >> bit & 1)
            else:
                row = 2 * row + (digit >> bit & 1)
            east = not east
    bits = 5 * symbols.shape[1]
    height, width = 180 / 2 ** (bits // 2), 360 / 2 ** ((bits + 1) // 2)
    return _Cells(row=row, column=column, south=-90, west=-180, height=height, width=width)


def _mesh(digits: NDArray[np.uint8]) -> _Cells:
    """Two digits north and two east, one and one eighth, one and one tenth, then quarters (JIS X 0410)."""
    d = digits.astype(np.int64)
    row, column = 10 * d[:, 0] + d[:, 1], 10 * d[:, 2] + d[:, 3]
    height, width = 2 / 3, 1.0
    for at, parts in ((4, 8), (6, 10)):
        if d.shape[1] > at:
            row, column = parts * row + d[:, at], parts * column + d[:, at + 1]
            height, width = height / parts, width / parts
    for at in range(8, d.shape[1]):
        row, column = 2 * row + (d[:, at] - 1) // 2, 2 * column + (d[:, at] - 1) % 2
        height, width = height / 2, width / 2
    return _Cells(row=row, column=column, south=0, west=100, height=height, width=width)
