"""Lists of places that leave nobody anywhere else to be are refused, and lists of venues are not."""

from __future__ import annotations

import itertools

import h3
import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from safeside.errors import BadFile, NowhereElse
from safeside.visits import read_places
from safeside.visits.places.grid_codes import enclosed

ALPHABET = "0123456789bcdefghjkmnpqrstuvwxyz"


def with_one(column: str, word: str) -> pl.DataFrame:
    return pl.DataFrame({"place": ["a", "b"], column: ["x", word]})


class TestWords:
    @pytest.mark.parametrize(
        "word",
        [
            *("home", "Home", "HOME", "private residence", "Household", "my home", "apartment house"),
            *(
                "home_p1",
                "home-123",
                "home12ab",
                "p1_home",
                "P1Home",
                "residence 17",
                "home7",
                "3f-home-ab12",
            ),
            *("home_of_patient_7", "user12.home", "Flat 3b", "home #4", "[home]"),
            *("maison", "Domicile 3", "Résidence 2", "casa", "hogar_9", "Zuhause", "Wohnung 12"),
            *("自宅", "自宅3", "住宅_12", "p1_自宅", "집", "자택 4", "家"),
        ],
    )
    @pytest.mark.parametrize("column", ["place", "name", "kind", "category", "type"])
    def test_homes(self, word: str, column: str) -> None:
        if column == "name" and any(c.isdigit() for c in word):
            assert len(read_places(with_one(column, word))) == 2
            words = [word, "home 2", "home 3"]
            with pytest.raises(NowhereElse, match="people's homes"):
                read_places(pl.DataFrame({"place": ["a", "b", "c"], "name": words}))
            return
        with pytest.raises(NowhereElse, match="people's homes"):
            read_places(with_one(column, word))

    def test_all_of_them_are_shown_or_counted(self) -> None:
        with pytest.raises(
            NowhereElse, match=r"\(place: home_1, home_2, home_3, home_4, home_5 and 2 more\)"
        ):
            read_places([*(f"home_{number}" for number in range(1, 8)), "bar"])

    @pytest.mark.parametrize(
        "word",
        [
            "elsewhere",
            "in transit",
            "In-Transit",
            "Rest of World",
            "nowhere 2",
            "移動中",
            "unterwegs",
            "not at a place",
        ],
    )
    @pytest.mark.parametrize("column", ["place", "name", "kind"])
    def test_a_bucket_for_the_rest(self, word: str, column: str) -> None:
        with pytest.raises(NowhereElse, match="the rest of the world"):
            read_places(with_one(column, word))

    def test_words_that_are_a_bucket_only_as_a_place(self) -> None:
        """A venue of another kind, or one whose name nobody knows, is a venue."""
        for word in ("Other", "その他", "기타", "transit"):
            for column in ("place", "name"):
                with pytest.raises(NowhereElse, match="the rest of the world"):
                    read_places(with_one(column, word))
            assert len(read_places(with_one("kind", word))) == 2
        with pytest.raises(NowhereElse, match="the rest of the world"):
            read_places(with_one("place", "etc"))
        for word in ("unknown", "None"):
            with pytest.raises(BadFile, match="a word or a number for a missing value"):
                read_places(with_one("place", word))
        for word in ("unknown", "None", "etc"):
            assert len(read_places(with_one("name", word))) == 2
            assert len(read_places(with_one("kind", word))) == 2

    @pytest.mark.parametrize(
        "word",
        [
            "district",
            "Ward",
            "grid cell",
            "GridCell",
            "H3",
            "ZIP code",
            "district 3",
            "administrative_area_level_1",
        ],
    )
    def test_areas(self, word: str) -> None:
        with pytest.raises(NowhereElse, match="areas that tile a map"):
            read_places(with_one("kind", word))
        assert len(read_places(with_one("name", word))) == 2
        assert len(read_places(with_one("region", word))) == 2

    @pytest.mark.parametrize(
        "venue",
        [
            *("nursing home", "Home Depot", "guest house", "The Residence Bar", "Residence Inn 12"),
            *("house of pizza", "House of Blues 3", "Public House 12", "Steakhouse", "Coffee House 7"),
            *("Other Coast Café", "Mother 2", "Restaurant 5", "Rest Stop 7", "Outside Inn", "Nowhere (pub)"),
            *("Home (furniture shop)", "Outside, the bar", "Casa Pepe", "La Maison", "吉野家", "맛있는집"),
            *("老人ホーム", "Grid Climbing", "bar", "p1", "12", "A", "7-Eleven", "Move On", "ichi-no-ie"),
        ],
    )
    @pytest.mark.parametrize("column", ["place", "name", "kind"])
    def test_venues_that_only_sound_like_it(self, venue: str, column: str) -> None:
        assert len(read_places(with_one(column, venue))) == 2

    def test_a_venue_that_is_called_so_says_what_it_is(self) -> None:
        for word in ("Home", "Nowhere", "Outside"):
            with pytest.raises(NowhereElse, match="public venues only") as caught:
                read_places(with_one("name", word))
            assert "say there what it is, as in Home (café)" in caught.value.do
            assert len(read_places(with_one("name", f"{word} (café)"))) == 2

    def test_kinds_that_are_missing(self) -> None:
        assert len(read_places(pl.DataFrame({"place": ["a", "b"], "kind": ["bar", None]}))) == 2


def geohash(row: int, column: int, length: int) -> str:
    bits = 5 * length
    high, wide = bits // 2, (bits + 1) // 2
    code = 0
    for position in range(bits):
        number, left = (
            (column, wide - 1 - position // 2) if position % 2 == 0 else (row, high - 1 - position // 2)
        )
        code = 2 * code + (number >> left & 1)
    return "".join(ALPHABET[code >> 5 * (length - 1 - place) & 31] for place in range(length))


def third_mesh(row: int, column: int) -> str:
    """Of a cell so many 30 seconds north and 45 seconds east of the corner of 5339."""
    return f"5339{row // 10}{column // 10}{row % 10}{column % 10}"


CODES = {
    "geohashes": [
        [geohash(2**14 + i, 2**14 + 7 + j, 6) for i, j in itertools.product(range(5), repeat=2)],
        [geohash(900 + i, 1900 + j, 5).upper() for i, j in itertools.product(range(3), repeat=2)],
        [f"xn76{a}{b}" for a in "uv" for b in ALPHABET],
    ],
    "Japanese mesh codes": [
        [third_mesh(17 + i, 28 + j) for i, j in itertools.product(range(6), repeat=2) if (i, j) != (1, 4)],
        [f"5339{i}{j}" for i, j in itertools.product(range(8), repeat=2)],
        [third_mesh(17 + i, 28 + j) + f"{k}" for i in range(2) for j in range(2) for k in range(1, 5)],
    ],
}


class TestCodesOfCells:
    def test_h3_however_it_is_written(self) -> None:
        middle = h3.latlng_to_cell(35.68, 139.76, 9)
        ring = h3.grid_disk(middle, 1)
        for write in (str, str.upper, lambda cell: str(h3.str_to_int(cell))):
            with pytest.raises(NowhereElse, match="close around each other"):
                read_places([write(cell) for cell in ring])
            assert len(read_places([write(cell) for cell in ring if cell != middle])) == 6
            assert len(read_places(["bar", *(write(cell) for cell in ring[1:])])) == 7
        assert len(read_places([f"6{number:017}" for number in range(100)])) == 100

    def test_a_pentagon_has_five_neighbours(self) -> None:
        pentagon = h3.get_pentagons(7)[3]
        with pytest.raises(NowhereElse, match="close around each other"):
            read_places(list(h3.grid_disk(pentagon, 1)))

    @pytest.mark.parametrize(("name", "codes"), [(name, codes) for name in CODES for codes in CODES[name]])
    def test_codes_that_enclose_one_another(self, name: str, codes: list[str]) -> None:
        with pytest.raises(NowhereElse, match=f"look like {name} that close around each other"):
            read_places(codes)
        with pytest.raises(NowhereElse, match=f"look like {name}"):
            read_places([*codes, "bar"] if len(codes) > 9 else codes)
        assert len(read_places(codes[::2])) == len(codes[::2])

    def test_coordinates_settle_what_only_looks_like_codes(self) -> None:
        """Two hundred venues that happen to be numbered as the cells of a Japanese mesh are."""
        numbers = [str(number) for number in range(53390100, 53390300)]
        with pytest.raises(NowhereElse, match="add the columns latitude and longitude"):
            read_places(numbers)
        chance = np.random.default_rng(2)
        berlin = pl.DataFrame(
            {
                "place": numbers,
                "latitude": 52.5 + chance.uniform(0, 0.1, 200),
                "longitude": 13.4 + chance.uniform(0, 0.1, 200),
            }
        )
        assert len(read_places(berlin)) == 200
        tokyo = berlin.with_columns(
            latitude=35 + 1 / 3 + (pl.col("place").str.slice(6, 1).cast(int) + 0.3) / 120,
            longitude=139
            + (
                pl.col("place").str.slice(5, 1).cast(int) * 10
                + pl.col("place").str.slice(7, 1).cast(int)
                + 0.3
            )
            / 80,
        )
        with pytest.raises(NowhereElse, match="Japanese mesh codes"):
            read_places(tokyo)

    @pytest.mark.parametrize(("row", "column"), [(2**14 + 9, 2**14 + 7), (2**13, 2**15 - 40)])
    def test_geohashes_with_the_coordinates_of_their_cells_are_cells(self, row: int, column: int) -> None:
        cells = [(row + i, column + j) for i, j in itertools.product(range(5), repeat=2)]
        listed = pl.DataFrame(
            {
                "place": [geohash(*cell, 6) for cell in cells],
                "latitude": [(north + 0.5) * 180 / 2**15 - 90 for north, _ in cells],
                "longitude": [(east + 0.5) * 360 / 2**15 - 180 for _, east in cells],
            }
        )
        with pytest.raises(NowhereElse, match="look like geohashes"):
            read_places(listed)

    @pytest.mark.parametrize("size", [3, 4, 5])
    def test_plain_numbers_are_no_geohashes(self, size: int) -> None:
        assert len(read_places([f"{number:0{size}}" for number in range(10**size // 4)])) == 10**size // 4

    @pytest.mark.parametrize("size", [2, 3])
    def test_why_plain_numbers_are_no_geohashes(self, size: int) -> None:
        """Those that end in a digit never are three by three, wherever the grid is cut."""
        high, wide = 2 ** (5 * size // 2), 2 ** ((5 * size + 1) // 2)
        ends = [
            (row, column)
            for row in range(min(high, 64))
            for column in range(min(wide, 64))
            if geohash(row, column, size)[-1].isdigit()
        ]
        rows, columns = np.array(ends).T
        assert enclosed(rows, columns) == 0

    @pytest.mark.parametrize(
        "written", ["p{:06}", "{:08x}", "{:06}", "1{:07}", "shop{}", "{:012}", "x{:04x}", "bcd{:03}"]
    )
    def test_numbered_venues(self, written: str) -> None:
        ids = [written.format(number) for number in range(3000)]
        assert len(read_places(ids)) == 3000


BLOCK = set(itertools.product(range(6), repeat=2))


@given(st.sets(st.sampled_from(sorted(BLOCK)), max_size=9), st.integers(0, 5), st.integers(0, 5))
def test_enclosed_is_what_it_says(missing: set[tuple[int, int]], up: int, over: int) -> None:
    cells = BLOCK - missing
    rows = np.array([row for row, _ in cells], np.int64) + up
    columns = np.array([column for _, column in cells], np.int64) + over
    assert enclosed(rows, columns) == plainly_enclosed(cells)


def plainly_enclosed(cells: set[tuple[int, int]]) -> int:
    around = list(itertools.product((-1, 0, 1), repeat=2))
    return sum(all((row + i, column + j) in cells for i, j in around) for row, column in cells)


def points(latitude: list[float], longitude: list[float]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "place": [f"c{number}" for number in range(len(latitude))],
            "latitude": latitude,
            "longitude": longitude,
        }
    )


def lattice(rows: int, columns: int) -> list[tuple[float, float]]:
    return [(35 + i / 120, 139 + j / 80) for i in range(rows) for j in range(columns)]


class TestLattices:
    def test_a_full_one(self) -> None:
        table = points(*map(list, zip(*lattice(4, 5), strict=True)))
        with pytest.raises(NowhereElse, match="lattice of points that close around each other"):
            read_places(table)
        with pytest.raises(NowhereElse, match="lattice of points"):
            read_places(table.head(19))
        shaken = table.with_columns(pl.col("latitude") + pl.int_range(20) / 10**12)
        with pytest.raises(NowhereElse, match="lattice of points"):
            read_places(shaken)

    def test_one_among_more_venues(self) -> None:
        chance = np.random.default_rng(4)
        there = lattice(20, 20) + [(35 + a, 139 + b) for a, b in chance.uniform(0, 0.2, (600, 2)).tolist()]
        with pytest.raises(NowhereElse, match="lattice of points"):
            read_places(points(*map(list, zip(*there, strict=True))))

    @given(st.integers(0, 2**32), st.integers(12, 25), st.floats(0, 0.3), st.integers(0, 40))
    @example(3665, 12, 0.12, 19)
    @settings(max_examples=40)
    def test_one_with_points_missing_and_venues_between(
        self, seed: int, side: int, missing: float, venues: int
    ) -> None:
        """Refused where a tenth of all places have their eight neighbours around them, and only there."""
        chance = np.random.default_rng(seed)
        cells = {cell for cell in itertools.product(range(side), repeat=2) if chance.random() >= missing}
        there = [(35 + i / 120, 139 + j / 80) for i, j in sorted(cells)]
        there += [(35 + a, 139 + b) for a, b in chance.uniform(0, 0.2, (venues, 2))]
        table = points(*map(list, zip(*there, strict=True)))
        if 10 * plainly_enclosed(cells) >= len(there):
            with pytest.raises(NowhereElse, match="lattice of points"):
                read_places(table)
        else:
            assert len(read_places(table)) == len(there)

    @given(st.integers(0, 2**32), st.integers(9, 2000), st.sampled_from([2, 3, 4, 5]), st.floats(0.002, 0.5))
    @settings(max_examples=60)
    def test_venues_whose_coordinates_were_rounded(
        self, seed: int, number: int, decimals: int, spread: float
    ) -> None:
        """They fall on a lattice and fill it, but many on the same point."""
        chance = np.random.default_rng(seed)
        latitude = np.round(35 + spread * chance.standard_normal(number), decimals)
        longitude = np.round(139 + spread * chance.standard_normal(number), decimals)
        assert len(read_places(points(latitude.tolist(), longitude.tolist()))) == number

    def test_a_street_and_every_other_crossing(self) -> None:
        street = points([35.0] * 50, [139 + j / 80 for j in range(50)])
        assert len(read_places(street)) == 50
        board = [(35 + i / 120, 139 + j / 80) for i in range(20) for j in range(20) if (i + j) % 2]
        assert len(read_places(points(*map(list, zip(*board, strict=True))))) == 200
