"""An optional backdrop for the map, given by the publisher as GeoJSON and made part of the page.

The file is read and refused as a whole; `basemap_shapes.py` then keeps the little of it that the map draws.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from safeside import untrusted
from safeside.errors import BadFile, UnsafeFile

_MOST_BYTES: Final = 30_000_000
_TAGS: Final = (
    "kind",
    "name",
    "natural",
    "water",
    "waterway",
    "leisure",
    "landuse",
    "highway",
    "railway",
    "boundary",
    "building",
    "place",
)
"""Properties the map draws by, as OpenStreetMap names them; the others stay out of the page."""
_DEPTH: Final = {
    "Point": 1,
    "MultiPoint": 2,
    "LineString": 2,
    "MultiLineString": 3,
    "Polygon": 3,
    "MultiPolygon": 4,
}
"""How deep the points of a shape lie in its lists."""


def read_basemap(path: Path | str) -> dict[str, Any]:
    """The shapes of a GeoJSON file and the properties that the map draws by."""
    path = Path(path)
    try:
        data = untrusted.parse(untrusted.read(path, _MOST_BYTES, follow=True))
    except UnsafeFile:
        why = f"is no plain file of at most {_MOST_BYTES // 1_000_000} MB, as one page can hold"
        raise _refuse(path, why) from None
    except (OSError, ValueError):
        raise _refuse(path, "cannot be read as JSON") from None
    features = data.get("features", [data]) if isinstance(data, dict) else None
    if not isinstance(features, list):
        raise _refuse(path, "is not GeoJSON")
    return {"features": [_slim(path, feature) for feature in features if not _is_empty(feature)]}


def _is_empty(feature: Any) -> bool:
    return isinstance(feature, dict) and feature.get("geometry", feature) is None


def _slim(path: Path, feature: Any) -> dict[str, Any]:
    shape = feature.get("geometry", feature) if isinstance(feature, dict) else None
    if not isinstance(shape, dict) or not _is_shape(shape):
        raise _refuse(path, "holds something that is not a GeoJSON shape in degrees")
    properties = feature.get("properties")
    named = properties if isinstance(properties, dict) else {}
    tags = {name: str(named[name]) for name in _TAGS if named.get(name)}
    inside = {key: shape[key] for key in ("type", "coordinates", "geometries") if key in shape}
    return {"geometry": inside, "properties": tags}


def _is_shape(shape: Any) -> bool:
    """A shape the page can draw: one it stumbles over would leave the reader without a map."""
    if not isinstance(shape, dict):
        return False
    if shape.get("type") == "GeometryCollection":
        parts = shape.get("geometries")
        return isinstance(parts, list) and all(map(_is_shape, parts))
    depth = _DEPTH.get(str(shape.get("type")))
    return depth is not None and _has_points(shape.get("coordinates"), depth)


def _has_points(value: Any, depth: int) -> bool:
    if not isinstance(value, list):
        return False
    if depth > 1:
        return all(_has_points(item, depth - 1) for item in value)
    return len(value) >= 2 and _is_degree(value[0], 180) and _is_degree(value[1], 90)


def _is_degree(value: Any, most: int) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= most


def _refuse(path: Path, why: str) -> BadFile:
    return BadFile(
        f'The basemap "{path}" {why}.', "Give a GeoJSON file of areas and lines, or leave `basemap=` out."
    )
