"""A radius or cells around the places must leave a tenth of the ground around each of them free."""

from __future__ import annotations

import math
from pathlib import Path

import h3
import numpy as np
import polars as pl
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.visits.making import DAY, check_visits, count_visits

from safeside.errors import NowhereElse
from safeside.visits import VisitFormat, read_places
from safeside.visits.places.coordinates import SMALLEST_RADIUS
from safeside.visits.places.free_ground import (
    BLOCK,
    LEAST_ROOM,
    REACH,
    ROW,
    SIDE,
    covered_ground,
    parent_cells,
    require_free_ground,
    sums_around,
    tight_by_cells,
    tight_by_radius,
)

Floats = NDArray[np.float64]
TOKYO = (35.68, 139.76)
ANYWHERE = st.tuples(st.floats(-90, 90), st.floats(-180, 180))


def around(point: tuple[float, float], x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Points so many metres east and north of one, anywhere on the sphere, over poles and the date line."""
    phi, lam = np.radians(point)
    up = np.array([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)])
    east = np.array([-np.sin(lam), np.cos(lam), 0])
    angle, bearing = np.hypot(x, y) / SMALLEST_RADIUS, np.arctan2(x, y)
    ahead = np.outer(np.sin(bearing), east) + np.outer(np.cos(bearing), np.cross(up, east))
    there = np.outer(np.cos(angle), up) + np.sin(angle)[:, None] * ahead
    latitude = np.arctan2(there[:, 2], np.hypot(there[:, 0], there[:, 1]))
    return np.degrees(latitude), np.degrees(np.arctan2(there[:, 1], there[:, 0]))


def net(apart: float, size: float, shape: str, chance: np.random.Generator) -> tuple[Floats, Floats]:
    """A disc of this radius full of points so far apart: in squares, staggered, or shaken, at any angle."""
    steps = np.arange(-math.ceil(size / apart), math.ceil(size / apart) + 1) * apart
    x, y = (each.ravel() for each in np.meshgrid(steps, steps))
    if shape == "staggered":
        x = x + np.where(np.round(y / apart) % 2, apart / 2, 0)
    if shape == "shaken":
        x, y = (each + chance.uniform(-0.1, 0.1, len(x)) * apart for each in (x, y))
    kept = np.hypot(x, y) <= size
    turn = chance.uniform(0, np.pi)
    x, y = x[kept], y[kept]
    return x * np.cos(turn) - y * np.sin(turn), x * np.sin(turn) + y * np.cos(turn)


def test_places_that_few_others_surround_cover_too() -> None:
    """Five by five: around those near the corners there are too few to cover a square, and without them the
    others leave room.
    """
    steps = np.arange(-2, 3) * 500.0
    x, y = (each.ravel() for each in np.meshgrid(steps, steps))
    found = tight_by_radius(*around(TOKYO, x, y), 300)
    assert found is not None
    assert found.place == 12
    inner = np.abs(x) + np.abs(y) <= 1000
    assert tight_by_radius(*around(TOKYO, x[inner], y[inner]), 300) is None


@given(
    ANYWHERE,
    st.sampled_from([30.0, 50.0, 100.0, 250.0, 700.0]),
    st.sampled_from(["squares", "staggered", "shaken"]),
    st.integers(0, 2**32),
)
@example((0.0, 180.0), 100.0, "squares", 1)
@example((-16.5, -179.99), 50.0, "shaken", 2)
@example((90.0, 0.0), 100.0, "staggered", 3)
@example((-90.0, 55.0), 250.0, "squares", 4)
@example((80.0, 10.0), 100.0, "squares", 5)
@example((79.75, -180.0), 100.0, "shaken", 6)
@settings(max_examples=60)
def test_what_covers_is_caught_wherever_it_is(
    middle: tuple[float, float], metres: float, shape: str, seed: int
) -> None:
    """A planted covering, hardly larger than the square around its middle, among venues far away."""
    chance = np.random.default_rng(seed)
    x, y = net(metres * 1.2, 1650, shape, chance)
    latitude, longitude = around(middle, x, y)
    far = chance.uniform(-1, 1, (200, 2)) * [80, 180]
    latitude, longitude = np.append(latitude, far[:, 0]), np.append(longitude, far[:, 1])
    found = tight_by_radius(latitude, longitude, metres)
    assert found is not None
    assert found.place < len(x)
    assert 0 <= found.room < LEAST_ROOM


@given(
    ANYWHERE,
    st.sampled_from([30.0, 50.0, 100.0, 250.0, 700.0]),
    st.sampled_from(["squares", "staggered", "shaken"]),
    st.integers(0, 2**32),
)
@example((0.0, 180.0), 100.0, "squares", 1)
@example((90.0, 0.0), 100.0, "staggered", 3)
@example((-80.0, 10.0), 50.0, "squares", 5)
@settings(max_examples=60)
def test_what_leaves_a_fifth_is_not(
    middle: tuple[float, float], metres: float, shape: str, seed: int
) -> None:
    """Circles that touch at most, side by side: at least a fifth of a square is free between them."""
    x, y = net(metres * 2.1, 2500, "shaken" if shape == "shaken" else "squares", np.random.default_rng(seed))
    assert tight_by_radius(*around(middle, x, y), metres) is None


@pytest.mark.parametrize("metres", [20.0, 50.0, 250.0])
def test_circles_as_dense_as_can_be_side_by_side_leave_too_little(metres: float) -> None:
    """Each touches six others: less than a tenth of the ground is free, though none overlaps."""
    apart = 1.999 * metres
    rows = np.arange(-math.ceil(2000 / metres), math.ceil(2000 / metres) + 1)
    x, y = (each.ravel().astype(float) for each in np.meshgrid(rows, rows))
    x, y = (x + y % 2 / 2) * apart, y * apart * math.sqrt(3) / 2
    kept = np.hypot(x, y) <= 3000
    found = tight_by_radius(*around(TOKYO, x[kept], y[kept]), metres)
    assert found is not None
    assert found.room == pytest.approx(1 - math.pi / (2 * math.sqrt(3)), abs=0.01)


def test_circles_as_dense_as_can_be_in_one_square_alone() -> None:
    """Hardly more circles than could leave less than a tenth free are measured: wherever the square lies."""
    metres = 20.0
    rows = np.arange(-60, 61)
    x, y = (each.ravel().astype(float) for each in np.meshgrid(rows, rows))
    x, y = (x + y % 2 / 2) * 1.999 * metres, y * 1.999 * metres * math.sqrt(3) / 2
    kept = np.maximum(np.abs(x), np.abs(y)) <= SIDE / 2 + metres
    assert 0.9 < kept.sum() * math.pi * metres**2 / SIDE**2 < 1
    shifts = np.arange(0, BLOCK, 25)
    towns = (around(TOKYO, x[kept] + east, y[kept] + north) for east in shifts for north in shifts)
    assert any(tight_by_radius(*town, metres) is not None for town in towns)


@given(st.integers(0, 2**32), st.sampled_from([25.0, 50.0, 100.0]), st.integers(1, 2000))
@settings(max_examples=30)
def test_sparse_venues_are_not(seed: int, metres: float, number: int) -> None:
    """Towns of venues by chance, whose circles would cover half the ground at most side by side."""
    chance = np.random.default_rng(seed)
    size = max(3000.0, math.sqrt(2 * number * math.pi) * metres)
    x, y = chance.uniform(-size / 2, size / 2, (2, number))
    assert tight_by_radius(*around(TOKYO, x, y), metres) is None


@pytest.mark.parametrize(
    "middle", [TOKYO, (10, 179.9999), (10, -179.9999), (-80.001, 20), (-79.999, 20), (80, -180), (89.999, 7)]
)
def test_circles_from_outside_the_square(middle: tuple[float, float]) -> None:
    """One place, and eight that are too far to be in the square around it, cover it together."""
    turns = np.arange(8) * np.pi / 4
    x, y = np.append(0, 1600 * np.sin(turns)), np.append(0, 1600 * np.cos(turns))
    found = tight_by_radius(*around(middle, x, y), 900)
    assert found is not None
    assert found.place == 0
    assert tight_by_radius(*around(middle, x, y), 700) is None


def test_one_place_many_times() -> None:
    """A thousand shops in one mall are one circle."""
    latitude, longitude = np.full(1000, 35.68), np.full(1000, 139.76)
    assert tight_by_radius(latitude, longitude, 300) is None
    assert tight_by_cells(latitude, longitude, 9, 1) is None


@given(
    st.sampled_from([20.0, 50.0, 111.0, 400.0, 900.0]),
    st.floats(1.2, 2.2),
    st.sampled_from(["squares", "staggered", "shaken"]),
    st.integers(0, 2**32),
)
@settings(max_examples=12)
def test_ground_is_measured_as_an_exact_union_measures_it(
    metres: float, apart: float, shape: str, seed: int
) -> None:
    """To within two hundredths of the ground, which is what the documentation says."""
    chance = np.random.default_rng(seed)
    x, y = net(max(metres * apart, 80), 2200, shape, chance)
    if chance.random() < 0.3:
        x, y = (np.round(each / (metres / 6)) * (metres / 6) for each in (x, y))
    block, area = covered_ground(x, y, metres)
    measured = sums_around(block, area, np.array([0]), REACH)[0] / SIDE**2
    circles = shapely.union_all(shapely.buffer(shapely.points(x, y), metres, quad_segs=32))
    edge = REACH * BLOCK
    square = shapely.box(-edge, -edge, -edge + SIDE, -edge + SIDE)
    assert measured == pytest.approx(circles.intersection(square).area / SIDE**2, abs=0.02)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), max_size=60), st.integers(0, 5))
def test_sums_are_sums(blocks: list[tuple[int, int]], reach: int) -> None:
    weights = np.arange(len(blocks)) + 0.5
    rows, columns = (np.array([each[side] for each in blocks], np.int64) for side in (0, 1))
    at = np.array([3 * ROW - 2, -4 * ROW + 1])
    plain = [
        sum(
            weight
            for (row, column), weight in zip(blocks, weights, strict=True)
            if abs(row - y) <= reach and abs(column - x) <= reach
        )
        for y, x in ((3, -2), (-4, 1))
    ]
    assert sums_around(rows * ROW + columns, weights, at, reach).tolist() == pytest.approx(plain)


class TestCells:
    @given(ANYWHERE, st.sampled_from([8, 9, 10, 11]), st.integers(0, 2))
    @example((0.0, 180.0), 10, 1)
    @example((90.0, 0.0), 9, 1)
    @example(h3.cell_to_latlng(h3.get_pentagons(8)[2]), 10, 1)
    @settings(max_examples=30)
    def test_what_covers_is_caught(self, middle: tuple[float, float], resolution: int, rings: int) -> None:
        """Every other cell with one ring or two, every cell without any."""
        coarse = h3.latlng_to_cell(*middle, 7)
        cells = [cell for each in h3.grid_disk(coarse, 1) for cell in h3.cell_to_children(each, resolution)]
        places = [h3.cell_to_latlng(cell) for cell in cells[:: 2 if rings else 1]]
        latitude, longitude = np.array(places).T
        found = tight_by_cells(latitude, longitude, resolution, rings)
        assert found is not None
        assert found.room < LEAST_ROOM

    @given(ANYWHERE, st.sampled_from([9, 10, 11, 12]), st.integers(0, 2**32))
    @settings(max_examples=30)
    def test_every_other_cell_is_not(self, middle: tuple[float, float], resolution: int, seed: int) -> None:
        chance = np.random.default_rng(seed)
        coarse = h3.latlng_to_cell(*middle, 8)
        cells = h3.cell_to_children(coarse, min(resolution, 11))
        chosen = [h3.cell_to_latlng(cell) for cell in cells if chance.random() < 0.5]
        if chosen:
            latitude, longitude = np.array(chosen).T
            assert tight_by_cells(latitude, longitude, resolution, 0) is None

    def test_coarse_cells(self) -> None:
        latitude, longitude = np.array([35.68]), np.array([139.76])
        assert tight_by_cells(latitude, longitude, 8, 0) is None
        assert tight_by_cells(latitude, longitude, 8, 1) is not None
        assert tight_by_cells(latitude, longitude, 7, 0) is not None
        assert tight_by_cells(latitude, longitude, 9, 1) is None
        assert tight_by_cells(latitude, longitude, 9, 4) is not None

    def test_cells_from_outside(self) -> None:
        """A place with two rings of cells, and the six whose rings close around them."""
        middle = h3.latlng_to_cell(*TOKYO, 9)
        i, j = h3.cell_to_local_ij(middle, middle)
        steps = ((5, 2), (3, 5), (-2, 3), (-5, -2), (-3, -5), (2, -3))
        cells = [middle, *(h3.local_ij_to_cell(middle, i + a, j + b) for a, b in steps)]
        assert len({cell for each in cells for cell in h3.grid_disk(each, 2)}) == 7 * 19
        latitude, longitude = np.array([h3.cell_to_latlng(cell) for cell in cells]).T
        found = tight_by_cells(latitude, longitude, 9, 2)
        assert found is not None
        assert (found.place, found.room) == (0, 0)
        assert tight_by_cells(latitude, longitude, 9, 1) is None

    def test_parents(self) -> None:
        cells = [h3.latlng_to_cell(*point, 12) for point in (TOKYO, (0, 180), (90, 0), (-45.5, -170))]
        numbers = np.array([h3.str_to_int(cell) for cell in cells], np.uint64)
        for resolution in (0, 7, 9, 12):
            expected = [h3.str_to_int(h3.cell_to_parent(cell, resolution)) for cell in cells]
            assert parent_cells(numbers, resolution).tolist() == expected


@pytest.fixture
def town() -> pl.DataFrame:
    x, y = net(120, 1800, "shaken", np.random.default_rng(8))
    latitude, longitude = around(TOKYO, x, y)
    return pl.DataFrame(
        {"place": [f"shop{n:03}" for n in range(len(x))], "latitude": latitude, "longitude": longitude}
    )


class TestEveryWayIn:
    def test_only_where_coordinates_decide(self, town: pl.DataFrame) -> None:
        """A list with coordinates for the map, and visits that name their places, is not asked."""
        places = read_places(town)
        require_free_ground(places, VisitFormat())
        require_free_ground(read_places(town.select("place")), VisitFormat(radius=100))
        require_free_ground(places, VisitFormat(radius=40))
        with pytest.raises(NowhereElse, match="within 100 m of a place on the list"):
            require_free_ground(places, VisitFormat(radius=100))

    def test_the_radius_that_is_offered_is_taken(self, town: pl.DataFrame) -> None:
        places = read_places(town)
        for radius in (100, 500, 1000):
            with pytest.raises(NowhereElse) as caught:
                require_free_ground(places, VisitFormat(radius=radius))
            assert caught.value.do.startswith("Declare a radius of at most 50 m, or list fewer places")
        require_free_ground(places, VisitFormat(radius=50))

    def test_before_anything_is_read(self, town: pl.DataFrame, tmp_path: Path) -> None:
        places = read_places(town)
        for declared in (VisitFormat(radius=100, hold="1h"), VisitFormat(h3_resolution=9, hold="1h")):
            with pytest.raises(NowhereElse, match="could hardly have been at none of them"):
                count_visits(tmp_path / "there-is-no-such-file.csv", places, DAY, declared)
            with pytest.raises(NowhereElse, match="could hardly have been at none of them"):
                check_visits(tmp_path / "there-is-no-such-file.csv", places, DAY, declared)
