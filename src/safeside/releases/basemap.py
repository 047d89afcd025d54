"""An optional backdrop for the map, given by the publisher as GeoJSON and made part of the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from safeside.errors import BadFile

_MOST_BYTES: Final = 30_000_000
_TAGS: Final = ("kind", "natural", "waterway", "leisure", "landuse", "highway", "railway")
"""Properties the map draws by; the others stay out of the page."""
_SHAPES: Final = frozenset({"Polygon", "MultiPolygon", "LineString", "MultiLineString", "GeometryCollection"})


def read_basemap(path: Path | str) -> dict[str, Any]:
    """The shapes of a GeoJSON file, as little as the map needs of them."""
    path = Path(path)
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise _refuse(path, f"is larger than {_MOST_BYTES // 1_000_000} MB, too much for one page")
        data = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
    except (OSError, ValueError):
        raise _refuse(path, "cannot be read as JSON") from None
    features = data.get("features", [data]) if isinstance(data, dict) else None
    if not isinstance(features, list):
        raise _refuse(path, "is not GeoJSON")
    return {"features": [_slim(path, feature) for feature in features if _drawn(feature)]}


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


def _drawn(feature: Any) -> bool:
    """Points and empty shapes are no backdrop."""
    if not isinstance(feature, dict):
        return True
    shape = feature.get("geometry", feature)
    return not (shape is None or (isinstance(shape, dict) and shape.get("type") in ("Point", "MultiPoint")))


def _slim(path: Path, feature: Any) -> dict[str, Any]:
    shape = feature.get("geometry", feature) if isinstance(feature, dict) else None
    if not isinstance(shape, dict) or shape.get("type") not in _SHAPES:
        raise _refuse(path, "holds something that is not a GeoJSON shape")
    properties = feature.get("properties") or {}
    tags = {name: str(properties[name]) for name in _TAGS if properties.get(name)}
    inside = {key: shape[key] for key in ("type", "coordinates", "geometries") if key in shape}
    return {"geometry": inside, "properties": tags}


def _refuse(path: Path, why: str) -> BadFile:
    return BadFile(
        f'The basemap "{path}" {why}.', "Give a GeoJSON file of areas and lines, or leave --basemap out."
    )
