"""An optional backdrop for the map, given by the publisher as GeoJSON and made part of the page.

The file is read and refused as a whole; then the little of it is kept that the map draws: cut to the places,
in few points, sorted by what it is drawn as.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from safeside import untrusted
from safeside.errors import BadFile, UnsafeFile
from safeside.visits import Places

Line = NDArray[np.float64]
"""Points as rows of longitude and latitude."""
Form = Literal["point", "line", "area", "hole"]

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
_ATTEMPTS: Final = ((1, ()), (2, ()), (4, ()), (8, ()), (8, ("path",)), (8, ("path", "minor")))
"""How much coarser lines are made, and which are left out, until a page can hold the backdrop."""
_MOST_BYTES: Final = 30_000_000
_FORMS: Final[dict[str, Form]] = {"Point": "point", "LineString": "line", "Polygon": "area"}
_Degrees = tuple[Annotated[float, Meta(ge=-180, le=180)], Annotated[float, Meta(ge=-90, le=90)]]


class Shape(NamedTuple):
    """A point, a line, an area or a hole in the area before it, and what OpenStreetMap would say of it."""

    form: Form
    points: Line
    tags: Mapping[str, str]


def backdrop(path: Path | str | None, places: Places) -> dict[str, Any] | None:
    """What a map of these places draws of the file; None where there is no file, or no map."""
    shapes = [] if path is None else read_basemap(path)
    if path is None or places.latitude is None or places.longitude is None:
        return None
    return shrink(shapes, places.latitude, places.longitude)


def read_basemap(path: Path | str) -> list[Shape]:
    """The shapes of a GeoJSON file."""
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
    try:
        return [shape for feature in features for shape in shapes_of(feature)]
    except (AttributeError, KeyError, TypeError, ValueError, msgspec.ValidationError):
        raise _refuse(path, "holds something that is not a GeoJSON shape in degrees") from None


def shapes_of(feature: Any) -> Iterator[Shape]:
    """A feature taken apart: one that the page stumbles over would leave the reader without a map."""
    geometry, named = feature.get("geometry", feature), feature.get("properties")
    tags = {name: str(value) for name, value in named.items() if value} if isinstance(named, dict) else {}
    if geometry is not None:
        yield from _parts(geometry, tags)


def _parts(geometry: Any, tags: Mapping[str, str]) -> Iterator[Shape]:
    kind = geometry["type"]
    if kind == "GeometryCollection":
        for one in _list(geometry["geometries"]):
            yield from _parts(one, tags)
        return
    form, inside = _FORMS[kind.removeprefix("Multi")], geometry["coordinates"]
    for part in _list(inside) if kind.startswith("Multi") else [inside]:
        lines = [[part]] if form == "point" else [part] if form == "line" else _list(part)
        for number, points in enumerate(lines):
            yield Shape("hole" if number else form, _line(points), tags)


def _list(value: Any) -> list[Any]:
    return msgspec.convert(value, list[Any])


def _line(points: Any) -> Line:
    """Points in degrees, without their heights."""
    flat = [point[:2] for point in msgspec.convert(points, list[list[Any]])]
    return np.array(msgspec.convert(flat, list[_Degrees]), dtype=np.float64).reshape(-1, 2)


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
        return sum(len(line) for part in (self.areas, self.lines) for each in part.values() for line in each)

    def name(self, text: str | None, kind: str, size: float, middle: Line, angle: int = 0) -> None:
        """A name is written once, at the largest of the shapes that have it."""
        if text and size > self.names.get((text, kind), (0.0, []))[0]:
            self.names[text, kind] = size, [*whole_degrees(middle).tolist(), angle]


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
    shapes: Sequence[Shape], latitude: Line, longitude: Line, *, most_points: int = 200_000
) -> dict[str, Any]:
    """The backdrop of a map of these places: nothing outside their box, nothing that is not drawn.

    Where it has more than `most_points`, lines are made coarser, and then the least of them left out.
    """
    frame = _frame(latitude, longitude)
    for coarser, left_out in _ATTEMPTS:
        drawn = _draw(shapes, replace(frame, tolerance=frame.tolerance * coarser), left_out)
        if drawn.points() <= most_points:
            break
    largest_first = sorted(drawn.names.items(), key=lambda one: -one[1][0])
    return {
        "areas": {kind: [_packed(ring) for ring in rings] for kind, rings in drawn.areas.items()},
        "lines": {kind: [_packed(line) for line in lines] for kind, lines in drawn.lines.items()},
        "names": [[text, kind, *where] for (text, kind), (_, where) in largest_first],
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


def _draw(shapes: Sequence[Shape], frame: _Frame, left_out: tuple[str, ...]) -> _Drawn:
    drawn = _Drawn()
    for shape in shapes:
        kind = _kind(shape.tags, shape.form)
        if kind is not None and kind not in left_out:
            add = _add_point if shape.form == "point" else _add_line if shape.form == "line" else _add_area
            add(drawn, frame, shape, kind)
    return drawn


def _kind(tags: Mapping[str, str], form: str) -> str | None:
    """What a shape is drawn as; None where it is not drawn."""
    if form == "point":
        return "town" if tags.get("name") and ("place" in tags or tags.get("kind") == "town") else None
    if "building" in tags:
        return None
    given = _KINDS.get(tags.get("kind", ""))
    if given is not None:
        return given if form != "line" or given != "green" else None
    if _among(tags, _WATER) or "waterway" in tags or "water" in tags:
        return "water"
    if _among(tags, _GREEN):
        return "green" if form != "line" else None
    if form != "line":
        return "built" if "landuse" in tags else None if "highway" in tags else "land"
    if "highway" in tags:
        return _ROADS.get(tags["highway"].removesuffix("_link"), "minor")
    if "railway" in tags:
        return "rail"
    return "border" if "boundary" in tags else "main"


def _among(tags: Mapping[str, str], listed: dict[str, set[str]]) -> bool:
    return any(tags.get(name) in values for name, values in listed.items())


def _add_point(drawn: _Drawn, frame: _Frame, shape: Shape, kind: str) -> None:
    (point,) = shape.points
    if ((point >= frame.least) & (point <= frame.most)).all():
        drawn.name(shape.tags["name"], kind, frame.width, point)


def _add_area(drawn: _Drawn, frame: _Frame, shape: Shape, kind: str) -> None:
    ring, hole = _simplified(_clipped(shape.points, frame), frame), shape.form == "hole"
    if len(ring) < 3 or max(_extent(ring, frame)) < 2 * frame.tolerance:
        return
    # Outer rings turn one way and holes the other, so that areas which overlap are filled, not cancelled.
    x, y = ring.T
    turn = float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
    drawn.areas.setdefault(kind, []).append(ring[::-1] if (turn < 0) != hole else ring)
    size = min(_extent(ring, frame))
    if not hole and size > _LEAST_NAME * frame.width:
        drawn.name(shape.tags.get("name"), kind, size, (ring.min(axis=0) + ring.max(axis=0)) / 2)


def _add_line(drawn: _Drawn, frame: _Frame, shape: Shape, kind: str) -> None:
    for piece in _touching(shape.points, frame):
        kept = _simplified(piece, frame)
        if max(_extent(kept, frame)) < 2 * frame.tolerance:
            continue
        drawn.lines.setdefault(kind, []).append(kept)
        steps = np.diff(kept, axis=0) * [frame.squeeze, 1]
        lengths = np.hypot(*steps.T)
        longest = int(np.argmax(lengths))
        if lengths[longest] > _LEAST_NAME * frame.width:
            east, north = steps[longest]
            angle = round(float(np.degrees(np.arctan2(north, east))))
            middle = (kept[longest] + kept[longest + 1]) / 2
            name, size = shape.tags.get("name"), float(lengths[longest])
            drawn.name(name, kind, size, middle, (angle + 90) % 180 - 90)


def _extent(line: Line, frame: _Frame) -> tuple[float, float]:
    wide, tall = np.ptp(line, axis=0) if len(line) else (0.0, 0.0)
    return float(wide) * frame.squeeze, float(tall)


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


def whole_degrees(values: Line) -> NDArray[np.int64]:
    """Coordinates as the page has them: in whole hundred-thousandths of a degree."""
    return np.rint(values * DEGREES).astype(np.int64)


def _packed(line: Line) -> list[int]:
    """The first point, then the steps from point to point: small numbers are short."""
    whole = whole_degrees(line)
    steps = np.diff(whole, axis=0)
    moved = steps[(steps != 0).any(axis=1)]
    packed: list[int] = np.concatenate([whole[:1], moved]).ravel().tolist()
    return packed
