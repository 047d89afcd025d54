"""The city's map beneath the places: the bay, the ring line and the lines that wind outwards, as GeoJSON."""

from __future__ import annotations

import json
from typing import Any, Final

import numpy as np

from safeside_studies.city.geography import LINES, RING, degrees, stations

_FAR: Final = 45_000
"""Metres from the centre: beyond the last place, so that a map shows no edge."""


def backdrop() -> bytes:
    """The same for every city."""
    shore = [_point(1000 + step, -2500 - 14_000_000 // step) for step in range(600, _FAR, 400)]
    bay = [*shore, _point(_FAR + 1000, -_FAR), _point(1600, -_FAR), shore[0]]
    centre, *around = [_point(*station) for station in stations()]
    ring, outer = around[:RING], around[RING:]
    each = len(outer) // len(LINES)
    radial = [[centre, *outer[start : start + each]] for start in range(0, len(outer), each)]
    features = [
        _feature("Polygon", [bay], natural="bay", name="The bay"),
        _feature("LineString", [*ring, ring[0]], railway="rail", name="Ring line"),
        *(
            _feature("LineString", line, railway="rail", name=f"Line {number}")
            for number, line in enumerate(radial, start=1)
        ),
    ]
    return f"{json.dumps({'type': 'FeatureCollection', 'features': features})}\n".encode()


def _point(east: int, north: int) -> list[float]:
    latitude, longitude = degrees(np.array([east]), np.array([north]))
    return [int(longitude[0]) / 1e6, int(latitude[0]) / 1e6]


def _feature(shape: str, points: list[Any], **tags: str) -> dict[str, Any]:
    return {"type": "Feature", "properties": tags, "geometry": {"type": shape, "coordinates": points}}
