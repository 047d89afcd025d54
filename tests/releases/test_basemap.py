"""The backdrop of a map: cut to the places, in few points, by kind, and never beyond what a page can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from safeside.releases.basemap import DEGREES, shapes_of, shrink

LATITUDE, LONGITUDE = np.array([35.0, 35.2]), np.array([139.0, 139.2])


def feature(kind: str, points: Any, /, **tags: str) -> dict[str, Any]:
    return {"geometry": {"type": kind, "coordinates": points}, "properties": tags}


def shrunk(*features: dict[str, Any], **more: int) -> dict[str, Any]:
    shapes = [shape for one in features for shape in shapes_of(one)]
    return shrink(shapes, LATITUDE, LONGITUDE, **more)


def unpacked(steps: list[int]) -> list[list[int]]:
    listed: list[list[int]] = np.cumsum(np.array(steps).reshape(-1, 2), axis=0).tolist()
    return listed


def box(west: float, south: float, side: float = 0.05) -> list[list[float]]:
    east, north = west + side, south + side
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


@pytest.mark.parametrize(
    ("tags", "drawn"),
    [
        ({"natural": "water"}, ("areas", "water")),
        ({"landuse": "reservoir"}, ("areas", "water")),
        ({"leisure": "park"}, ("areas", "green")),
        ({"landuse": "forest"}, ("areas", "green")),
        ({"kind": "park"}, ("areas", "green")),
        ({"landuse": "residential"}, ("areas", "built")),
        ({}, ("areas", "land")),
        ({"building": "yes"}, None),
        ({"highway": "pedestrian"}, None),
    ],
)
def test_areas_are_sorted_by_what_they_are(tags: dict[str, str], drawn: tuple[str, str] | None) -> None:
    made = shrunk(feature("Polygon", [box(139.1, 35.1)], **tags))
    assert [("areas", kind) for kind in made["areas"]] == ([drawn] if drawn else [])
    assert made["lines"] == {}


@pytest.mark.parametrize(
    ("tags", "kind"),
    [
        ({"highway": "motorway"}, "motorway"),
        ({"highway": "trunk_link"}, "motorway"),
        ({"highway": "secondary"}, "main"),
        ({"highway": "residential"}, "minor"),
        ({"highway": "footway"}, "path"),
        ({"railway": "rail"}, "rail"),
        ({"waterway": "river"}, "water"),
        ({"boundary": "administrative"}, "border"),
        ({"kind": "road"}, "main"),
        ({}, "main"),
    ],
)
def test_lines_are_sorted_by_what_they_are(tags: dict[str, str], kind: str) -> None:
    made = shrunk(feature("LineString", [[139.0, 35.0], [139.2, 35.2]], **tags))
    assert list(made["lines"]) == [kind]


def test_what_lies_far_from_the_places_is_cut_off() -> None:
    world = [[-180, -80], [180, -80], [180, 80], [-180, 80], [-180, -80]]
    made = shrunk(
        feature("Polygon", [world], natural="water"),
        feature("Polygon", [box(10, 10)], leisure="park", name="Elsewhere"),
        feature("LineString", [[0, 0], [1, 1]], highway="motorway"),
        feature("LineString", [[130.0, 35.1], [139.05, 35.1], [139.1, 35.1], [150, 40], [151, 41]]),
        feature("Point", [10.0, 10.0], place="town", name="Far"),
    )
    (ring,) = made["areas"]["water"]
    corners = np.array(unpacked(ring)) / DEGREES
    assert corners.min(axis=0) == pytest.approx([139 - 0.1466, 35 - 0.12], abs=0.002)
    assert corners.max(axis=0) == pytest.approx([139.2 + 0.1466, 35.2 + 0.12], abs=0.002)
    assert list(made["areas"]) == ["water"]
    assert list(made["lines"]) == ["main"]
    assert len(unpacked(made["lines"]["main"][0])) == 3
    assert made["names"] == []


def test_a_line_keeps_its_shape_and_loses_its_points() -> None:
    along = np.linspace(0, 1, 5_000)
    wave = np.column_stack([139 + 0.2 * along, 35.1 + 0.05 * np.sin(6 * along)])
    (steps,) = shrunk(feature("LineString", wave.tolist(), highway="primary"))["lines"]["main"]
    kept = np.array(unpacked(steps)) / DEGREES
    assert 10 < len(kept) < 150
    between = np.interp(wave[:, 0], kept[:, 0], kept[:, 1])
    assert np.abs(between - wave[:, 1]).max() < 2 * (0.2 * 2.2) / 6_000 + 1 / DEGREES


def test_areas_that_overlap_are_filled_and_holes_stay_open() -> None:
    outer, hole = box(139.0, 35.0, 0.2), box(139.05, 35.05, 0.1)
    for one, two in ((outer, hole), (outer[::-1], hole), (outer, hole[::-1])):
        made = shrunk(feature("Polygon", [one, two], natural="water"))
        turns = []
        for ring in made["areas"]["water"]:
            x, y = np.array(unpacked(ring)).T
            turns.append(np.sign(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)))
        assert turns == [1, -1]


def test_names_stand_once_at_their_largest_shape() -> None:
    made = shrunk(
        feature("LineString", [[139.0, 35.0], [139.02, 35.0]], highway="primary", name="High Street"),
        feature("LineString", [[139.1, 35.1], [139.1, 35.2]], highway="primary", name="High Street"),
        feature("Polygon", [box(139.0, 35.1)], leisure="park", name="Park"),
        feature("Polygon", [box(139.1, 35.1, 0.001)], leisure="park", name="Too small for a name"),
        feature("Point", [139.1, 35.15], place="suburb", name="North"),
        feature("Point", [139.1, 35.15], amenity="bench", name="A bench"),
    )
    told = {name: (kind, angle) for name, kind, _, _, angle in made["names"]}
    assert told.keys() == {"High Street", "Park", "North"}
    assert abs(told["High Street"][1]) == 90
    middle = next(where for name, _, *where, _ in made["names"] if name == "High Street")
    assert np.allclose(np.array(middle) / DEGREES, [139.1, 35.15], atol=0.01)
    assert told["North"][0] == "town"


def test_the_name_of_a_line_stands_in_the_middle_of_its_longest_step() -> None:
    points = [[139.0, 35.0], [139.02, 35.0], [139.02, 35.1], [139.04, 35.1]]
    made = shrunk(feature("LineString", points, highway="primary", name="High Street"))
    ((_, _, *middle, angle),) = made["names"]
    assert np.allclose(np.array(middle) / DEGREES, [139.02, 35.05], atol=0.001)
    assert abs(angle) == 90


def test_a_large_backdrop_is_made_coarser_and_loses_paths_first() -> None:
    zigzag = [[139 + 0.001 * n, 35.1 + 0.01 * (n % 2)] for n in range(200)]
    made = shrunk(
        feature("LineString", zigzag, highway="footway"),
        feature("LineString", [[139, 35], [139.2, 35.2]], highway="residential"),
        feature("LineString", [[139, 35.2], [139.2, 35]], highway="motorway"),
        most_points=60,
    )
    assert set(made["lines"]) == {"minor", "motorway"}


def test_shapes_without_enough_points_are_left_out() -> None:
    made = shrunk(
        feature("LineString", []),
        feature("LineString", [[139.1, 35.1]]),
        feature("Polygon", []),
        feature("Polygon", [[]], natural="water"),
        feature("Polygon", [[[139.1, 35.1]]]),
        feature("MultiPolygon", [[[[139.1, 35.1], [139.1, 35.1], [139.1, 35.1]]]]),
        feature("MultiPoint", []),
    )
    assert made == {"areas": {}, "lines": {}, "names": []}


def test_one_place_still_has_surroundings() -> None:
    park = feature("Polygon", [box(139.099, 35.099, 0.002)], leisure="park")
    made = shrink(list(shapes_of(park)), np.array([35.1]), np.array([139.1]))
    assert list(made["areas"]) == ["green"]
