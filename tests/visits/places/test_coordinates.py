"""From coordinates to places: nobody within the declared distance on the real Earth is missed."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyproj import Geod
from tests.visits.making import DAY, NOON, check_visits, count_visits

from safeside.errors import BadFile, BadQuestion, NowhereElse
from safeside.progress import quiet
from safeside.visits import VisitFormat, read_places
from safeside.visits.places.coordinates import assign

EARTH = Geod(ellps="WGS84")
STATION = (35.681236, 139.767125)


def listed(*points: tuple[float, float]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "place": [f"p{number}" for number in range(len(points))],
            "latitude": [point[0] for point in points],
            "longitude": [point[1] for point in points],
        }
    )


def fixes(*points: tuple[float, float], **more: list[float]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "person": [f"u{number}" for number in range(len(points))],
            "latitude": [float(point[0]) for point in points],
            "longitude": [float(point[1]) for point in points],
            **more,
        }
    )


def at_distance(point: tuple[float, float], bearing: float, metres: float) -> tuple[float, float]:
    longitude, latitude, _ = EARTH.fwd(point[1], point[0], bearing, metres)
    return latitude, longitude


@given(
    st.floats(-90, 90),
    st.floats(-180, 180),
    st.floats(0, 360),
    st.floats(1, 1000),
    st.floats(0, 1),
)
@example(0.0, 180.0, 90.0, 1000.0, 1.0)
@example(90.0, 0.0, 0.0, 500.0, 1.0)
@example(-90.0, 12.0, 77.0, 10.0, 1.0)
@example(0.0, 0.0, 0.0, 1000.0, 1.0)
@settings(max_examples=150)
def test_whoever_is_within_the_distance_is_found(
    latitude: float, longitude: float, bearing: float, radius: float, share: float
) -> None:
    """On the WGS 84 ellipsoid, everywhere on it, in every direction; and nobody 2 % further out is."""
    place = (latitude, longitude)
    places = read_places(listed(place))
    declared = VisitFormat(radius=radius)
    inside = at_distance(place, bearing, radius * share)
    outside = at_distance(place, bearing, radius * 1.02 + 0.01)
    found = assign(fixes(inside, outside), places, declared, quiet)
    assert found["person"].to_list() == ["u0"]


def test_a_fix_counts_at_every_place_it_may_be_at() -> None:
    near = at_distance(STATION, 90, 60)
    places = read_places(listed(STATION, near, at_distance(STATION, 0, 500)))
    found = assign(fixes(at_distance(STATION, 90, 30)), places, VisitFormat(radius=50), quiet)
    assert sorted(found["place"].to_list()) == ["p0", "p1"]


def test_the_accuracy_of_a_fix_widens_the_radius() -> None:
    places = read_places(listed(STATION))
    away = at_distance(STATION, 45, 80)
    found = assign(fixes(away, away, accuracy=[20.0, 35.0]), places, VisitFormat(radius=50), quiet)
    assert found["person"].to_list() == ["u1"]


def test_many_at_once_as_one_by_one() -> None:
    chance = np.random.default_rng(3)
    points = [(35 + a, 139 + b) for a, b in chance.uniform(0, 0.02, (40, 2))]
    seen = [(35 + a, 139 + b) for a, b in chance.uniform(0, 0.02, (300, 2))]
    places = read_places(listed(*points))
    found = assign(fixes(*seen), places, VisitFormat(radius=200), quiet)
    pairs = set(found.rows())
    for number, fix in enumerate(seen):
        for place, point in zip(listed(*points)["place"], points, strict=True):
            metres = EARTH.inv(fix[1], fix[0], point[1], point[0])[2]
            if metres <= 200:
                assert (f"u{number}", place) in pairs
            if metres > 204:
                assert (f"u{number}", place) not in pairs


def test_cells_around_places() -> None:
    import h3

    places = read_places(listed(STATION))
    cell = h3.latlng_to_cell(*STATION, 10)
    for rings in (0, 1, 2):
        declared = VisitFormat(h3_resolution=10, h3_rings=rings)
        inside = [h3.cell_to_latlng(each) for each in sorted(h3.grid_disk(cell, rings))]
        outside = [h3.cell_to_latlng(each) for each in sorted(h3.grid_ring(cell, rings + 1))]
        found = assign(fixes(*inside, *outside), places, declared, quiet)
        assert len(found) == len(inside)


def frame(*rows: tuple[str, float, float, object]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["person", "latitude", "longitude", "time"], orient="row")


def test_counting_by_coordinates() -> None:
    places = read_places(listed(STATION, at_distance(STATION, 0, 5000)))
    near = at_distance(STATION, 10, 20)
    visits = frame(
        ("a", *near, NOON.start),
        ("a", *STATION, NOON.start),
        ("b", *near, NOON.start),
        ("c", 35.0, 139.0, NOON.start),
    )
    declared = VisitFormat(radius=50, hold="1h")
    for window in (DAY, NOON):
        counted = count_visits(
            visits.unique("person", keep="first", maintain_order=True), places, window, declared
        )
        assert counted.values.tolist() == [2, 0]
        assert counted.exclusions == ()
    assert (
        counted.reading
        == "A visit is a sighting at a point within 50 m of the place, which holds for 1 hour after it."
    )
    assert check_visits(visits, places, DAY, declared).fine


def test_overlapping_places_are_two_at_an_instant() -> None:
    places = read_places(listed(STATION, at_distance(STATION, 0, 60)))
    visits = frame(("a", *at_distance(STATION, 0, 30), NOON.start))
    with pytest.raises(BadFile, match="two places"):
        count_visits(visits, places, NOON, VisitFormat(radius=50, hold="1h"))


def test_what_is_needed() -> None:
    visits = frame(("a", *STATION, NOON.start))
    with pytest.raises(BadQuestion, match="coordinates and no place"):
        count_visits(visits, read_places(["a"]), DAY, VisitFormat(hold="1h"))
    with pytest.raises(BadQuestion, match="the list of places has none"):
        count_visits(visits, read_places(["a"]), DAY, VisitFormat(hold="1h", radius=50))
    with pytest.raises(BadQuestion, match="Both a radius and H3 cells"):
        VisitFormat(radius=50, h3_resolution=11)
    for radius in (0, -1, 1001, float("nan")):
        with pytest.raises(NowhereElse):
            VisitFormat(radius=radius)
    for resolution, rings in ((7, 1), (16, 1), (10, 9), (10, -1), (11, 11), (15, 11)):
        with pytest.raises(NowhereElse):
            VisitFormat(h3_resolution=resolution, h3_rings=rings)
    for resolution, rings in ((8, 0), (9, 2), (10, 8), (11, 10), (15, 10)):
        assert VisitFormat(h3_resolution=resolution, h3_rings=rings).h3_rings == rings
    accurate = visits.with_columns(accuracy=pl.lit(5.0))
    with pytest.raises(BadQuestion, match="cannot be added to H3 cells"):
        count_visits(accurate, read_places(listed(STATION)), DAY, VisitFormat(hold="1h", h3_resolution=11))


def test_an_accuracy_below_a_metre_is_an_accuracy() -> None:
    seen = fixes(STATION, accuracy=[0.5]).with_columns(time=pl.lit(NOON.start))
    counted = count_visits(seen, read_places(listed(STATION)), DAY, VisitFormat(radius=50, hold="0s"))
    assert counted.values.tolist() == [1]
