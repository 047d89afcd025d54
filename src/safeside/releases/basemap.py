"""An optional backdrop for the map, given by the publisher as GeoJSON and made part of the page.

The file is read and refused as a whole; then the little of it is kept that the map draws: cut to the places,
in few points, sorted by what it is drawn as.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from safeside import untrusted
from safeside.errors import BadFile, UnsafeFile

Line = NDArray[np.float64]
"""Points as rows of longitude and latitude."""

DEGREES: Final = 100_000
"""Coordinates in the page are whole hundred-thousandths of a degree, about a metre."""
_MARGIN: Final = 0.6
"""Of the larger side of the places' box, on every side: windows are wider, or higher, than the box."""
_LEAST_MARGIN: Final = 0.01
_FINE: Final = 6_000
"""A point is left out if the line moves by less than this part of the map's width."""
_LEAST_NAME: Final = 0.01
"""A shape that takes a smaller part of the map's width carries no name."""

_GREEN: Final = {
    "leisure": {"park", "garden", "golf_course", "nature_reserve", "pitch", "playground", "common"},
    "landuse": {
        *("forest", "grass", "meadow", "cemetery", "recreation_ground", "village_green", "orchard"),
        *("farmland", "allotments", "vineyard"),
    },
    "natural": {"wood", "scrub", "grassland", "heath", "wetland"},
}
_WATER: Final = {"natural": {"water", "bay", "coastline"}, "landuse": {"reservoir", "basin"}}
_ROADS: Final = {
    **dict.fromkeys(("motorway", "trunk"), "motorway"),
    **dict.fromkeys(("primary", "secondary"), "main"),
    **dict.fromkeys(("footway", "path", "cycleway", "steps", "pedestrian", "track", "bridleway"), "path"),
}
_KINDS: Final = {
    "water": "water",
    "green": "green",
    "park": "green",
    "road": "main",
    "rail": "rail",
    "land": "land",
}
_SACRIFICED: Final = ("path", "minor")
"""Left out, in this order, where a backdrop is larger than a page should be."""
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


@dataclass
class _Drawn:
    """What is drawn: rings by kind of area, lines by kind of line, and names by where they stand."""

    areas: dict[str, list[Line]] = field(default_factory=dict)
    lines: dict[str, list[Line]] = field(default_factory=dict)
    names: dict[tuple[str, str], tuple[float, list[int]]] = field(default_factory=dict)

    def points(self) -> int:
        parts = (*self.areas.values(), *self.lines.values())
        return sum(len(line) for part in parts for line in part)

    def name(self, text: str | None, kind: str, size: float, where: list[int]) -> None:
        """A name is written once, at the largest of the shapes that have it."""
        if text and size > self.names.get((text, kind), (0.0, []))[0]:
            self.names[text, kind] = size, where


@dataclass(frozen=True, kw_only=True)
class _Frame:
    """The box that is drawn, and how far a line may move within it."""

    least: Line
    most: Line
    squeeze: float
    """How much shorter a degree of longitude is than one of latitude."""
    width: float
    """Of the box, or its height if that is more, in degrees of latitude."""
    tolerance: float


def shrink(
    basemap: dict[str, Any], latitude: Line, longitude: Line, *, most_points: int = 200_000
) -> dict[str, Any]:
    """The backdrop of a map of these places: nothing outside their box, nothing that is not drawn.

    Where it has more than `most_points`, lines are made coarser, and then the least of them left out.
    """
    frame = _frame(latitude, longitude)
    left_out: tuple[str, ...] = ()
    for coarser in (1, 2, 4, 8, 8, 8):
        drawn = _draw(basemap, replace(frame, tolerance=frame.tolerance * coarser), left_out)
        if drawn.points() <= most_points:
            break
        if coarser == 8:
            left_out = _SACRIFICED[: len(left_out) + 1]
    return {
        "areas": {kind: [_packed(ring) for ring in rings] for kind, rings in drawn.areas.items()},
        "lines": {kind: [_packed(line) for line in lines] for kind, lines in drawn.lines.items()},
        "names": [
            [text, kind, *where]
            for (text, kind), (_, where) in sorted(drawn.names.items(), key=lambda one: -one[1][0])
        ],
    }


def _frame(latitude: Line, longitude: Line) -> _Frame:
    points = np.column_stack([longitude, latitude])
    least, most = points.min(axis=0), points.max(axis=0)
    squeeze = max(0.01, float(np.cos(np.radians((least[1] + most[1]) / 2))))
    side = float(max((most - least) * [squeeze, 1]))
    margin = max(side * _MARGIN, _LEAST_MARGIN) / np.array([squeeze, 1])
    width = float(max((most - least + 2 * margin) * [squeeze, 1]))
    return _Frame(
        least=least - margin, most=most + margin, squeeze=squeeze, width=width, tolerance=width / _FINE
    )


def _draw(basemap: dict[str, Any], frame: _Frame, left_out: tuple[str, ...]) -> _Drawn:
    drawn = _Drawn()
    for feature in basemap["features"]:
        tags = feature["properties"]
        for shape, depth, points in _parts(feature["geometry"]):
            kind = _kind(tags, shape)
            if kind is None or kind in left_out:
                continue
            if shape == "point":
                _add_point(drawn, frame, tags["name"], kind, points)
            elif shape == "area":
                _add_area(drawn, frame, tags.get("name"), kind, points, hole=depth > 0)
            else:
                _add_line(drawn, frame, tags.get("name"), kind, points)
    return drawn


def _parts(shape: dict[str, Any]) -> Iterator[tuple[str, int, Line]]:
    """Every ring and line of a shape: what it is, whether it is a hole (1), and its points."""
    kind = shape["type"]
    if kind == "GeometryCollection":
        for part in shape["geometries"]:
            yield from _parts(part)
        return
    inside = shape["coordinates"]
    if kind in ("Point", "MultiPoint"):
        yield from (("point", 0, _line([one])) for one in ([inside] if kind == "Point" else inside))
    elif kind in ("LineString", "MultiLineString"):
        yield from (("line", 0, _line(one)) for one in ([inside] if kind == "LineString" else inside))
    else:
        for polygon in [inside] if kind == "Polygon" else inside:
            yield from (("area", min(number, 1), _line(ring)) for number, ring in enumerate(polygon))


def _line(points: list[list[float]]) -> Line:
    return np.array([point[:2] for point in points], dtype=np.float64).reshape(-1, 2)


def _kind(tags: dict[str, str], shape: str) -> str | None:
    """What a shape is drawn as; None where it is not drawn."""
    if shape == "point":
        return "town" if tags.get("name") and ("place" in tags or tags.get("kind") == "town") else None
    if "building" in tags:
        return None
    given = _KINDS.get(tags.get("kind", ""))
    if given is not None:
        return given if shape == "area" or given != "green" else None
    if _among(tags, _WATER) or "waterway" in tags or "water" in tags:
        return "water"
    if _among(tags, _GREEN):
        return "green" if shape == "area" else None
    if shape == "area":
        return "built" if "landuse" in tags else None if "highway" in tags else "land"
    if "highway" in tags:
        return _ROADS.get(tags["highway"].removesuffix("_link"), "minor")
    if "railway" in tags:
        return "rail"
    return "border" if "boundary" in tags else "main"


def _among(tags: dict[str, str], listed: dict[str, set[str]]) -> bool:
    return any(tags.get(name) in values for name, values in listed.items())


def _add_point(drawn: _Drawn, frame: _Frame, name: str, kind: str, points: Line) -> None:
    if bool(((points >= frame.least) & (points <= frame.most)).all()):
        drawn.name(name, kind, frame.width, [*_whole(points[0]), 0])


def _add_area(drawn: _Drawn, frame: _Frame, name: str | None, kind: str, ring: Line, *, hole: bool) -> None:
    ring = _simplified(_clipped(ring, frame), frame)
    if len(ring) < 3 or max(_extent(ring, frame)) < 2 * frame.tolerance:
        return
    # Outer rings turn one way and holes the other, so that areas which overlap are filled, not cancelled.
    turn = _doubled_area(ring)
    drawn.areas.setdefault(kind, []).append(ring[::-1] if (turn < 0) != hole else ring)
    size = min(_extent(ring, frame))
    if not hole and size > _LEAST_NAME * frame.width:
        drawn.name(name, kind, size, [*_whole((ring.min(axis=0) + ring.max(axis=0)) / 2), 0])


def _add_line(drawn: _Drawn, frame: _Frame, name: str | None, kind: str, line: Line) -> None:
    for piece in _touching(line, frame):
        kept = _simplified(piece, frame)
        size = max(_extent(kept, frame))
        if size < 2 * frame.tolerance:
            continue
        drawn.lines.setdefault(kind, []).append(kept)
        steps = np.diff(kept, axis=0) * [frame.squeeze, 1]
        longest = int(np.argmax(np.hypot(*steps.T)))
        length = float(np.hypot(*steps[longest]))
        if length > _LEAST_NAME * frame.width:
            east, north = steps[longest]
            angle = round(float(np.degrees(np.arctan2(north, east))))
            middle = (kept[longest] + kept[longest + 1]) / 2
            drawn.name(name, kind, length, [*_whole(middle), (angle + 90) % 180 - 90])


def _extent(line: Line, frame: _Frame) -> tuple[float, float]:
    wide, tall = np.ptp(line, axis=0) if len(line) else (0.0, 0.0)
    return float(wide) * frame.squeeze, float(tall)


def _doubled_area(ring: Line) -> float:
    x, y = ring.T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def _touching(line: Line, frame: _Frame) -> list[Line]:
    """The pieces of a line that touch the box."""
    if len(line) < 2:
        return []
    low, high = np.minimum(line[:-1], line[1:]), np.maximum(line[:-1], line[1:])
    inside = ((high >= frame.least) & (low <= frame.most)).all(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], inside.astype(np.int8), [0]])))
    return [line[start : end + 1] for start, end in edges.reshape(-1, 2)]


def _clipped(ring: Line, frame: _Frame) -> Line:
    """A ring cut to the box, one side after the other (Sutherland and Hodgman)."""
    for axis in (0, 1):
        for limit, sign in ((frame.least[axis], 1.0), (frame.most[axis], -1.0)):
            depth = sign * (ring[:, axis] - limit)
            if not len(ring) or (depth >= 0).all():
                continue
            before, was = np.roll(ring, 1, axis=0), np.roll(depth, 1)
            crosses = (depth >= 0) != (was >= 0)
            share = np.where(crosses, was / np.where(crosses, was - depth, 1.0), 0.0)
            met = before + share[:, None] * (ring - before)
            pairs = np.stack([met, ring], axis=1).reshape(-1, 2)
            ring = pairs[np.column_stack([crosses, depth >= 0]).ravel()]
    return ring


def _simplified(line: Line, frame: _Frame) -> Line:
    """The fewest of its points that keep a line within the tolerance (Douglas and Peucker)."""
    flat = line * [frame.squeeze, 1]
    kept = np.zeros(len(line), dtype=np.bool_)
    kept[[0, -1] if len(line) else []] = True
    open_parts = [(0, len(line) - 1)]
    while open_parts:
        start, end = open_parts.pop()
        if end - start < 2:
            continue
        distance = _distance(flat[start + 1 : end], flat[start], flat[end])
        farthest = int(np.argmax(distance))
        if distance[farthest] > frame.tolerance:
            middle = start + 1 + farthest
            kept[middle] = True
            open_parts += [(start, middle), (middle, end)]
    return line[kept]


def _distance(points: Line, start: Line, end: Line) -> NDArray[np.float64]:
    """From each point to the straight piece between two others."""
    along = end - start
    length = float(along @ along)
    share = np.clip((points - start) @ along / length, 0, 1) if length else np.zeros(len(points))
    east, north = (points - start - share[:, None] * along).T
    distance: NDArray[np.float64] = np.hypot(east, north)
    return distance


def _whole(point: Line) -> list[int]:
    whole: list[int] = np.rint(point * DEGREES).astype(np.int64).tolist()
    return whole


def _packed(line: Line) -> list[int]:
    """The first point, then the steps from point to point: small numbers are short."""
    whole = np.rint(line * DEGREES).astype(np.int64)
    steps = np.diff(whole, axis=0)
    moved = steps[(steps != 0).any(axis=1)]
    packed: list[int] = np.concatenate([whole[:1], moved]).ravel().tolist()
    return packed
