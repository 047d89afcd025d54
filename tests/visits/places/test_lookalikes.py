"""Which identifiers look like listed ones written in another way, and which are simply others."""

from __future__ import annotations

import random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from safeside.visits.places.lookalikes import resembling

NUMBERS = [str(number) for number in range(1, 1000)]
CITY = [f"v{number:05}" for number in range(5000)]
HEX = "0123456789abcdef"


def found(others: list[str], listed: list[str]) -> dict[str, str]:
    pairs = resembling(pl.Series(others, dtype=pl.String), pl.Series(listed, dtype=pl.String))
    return dict(pairs.rows())


@pytest.mark.parametrize(
    ("other", "listed"),
    [
        ("12.0", "12"),
        ("12,", "12"),
        ("0012", "12"),
        ("12", "0012"),
        (" 12", "12"),
        ("12\u00a0", "12"),
        ('"12"', "12"),
        ("\uff11\uff12", "12"),
        ("GYM", "gym"),
        ("cafe\u0301", "café"),
        ("Straße", "STRASSE"),
        ("gym_1", "gym-1"),
        ("gym  1", "gym 1"),
        ("fsq-12", "12"),
        ("fsq:12", "12"),
        ("12", "fsq/12"),
        ("12#a", "12"),
        ("FSQ-0012", "12"),
        ("fsq-gym", "gym"),
        ("gym", "poi:gym"),
        ("fsq-Gym 1", "gym-1"),
        ("gym_2024", "gym"),
        ("fsq12", "12"),
        ("12b", "12"),
        ("fsq-12.0", "fsq-12"),
        ("shop-07", "shop-7"),
        ("v0012", "v12"),
        ("0", "00"),
        ("cafe", "café"),
        ("McDonald’s", "McDonald's"),
        ("gym–1", "gym-1"),
        ("gym1", "gym-1"),
        ("CafeLuna", "Cafe Luna"),
        ("\ufeff12", "12"),
        ("gy\u200bm", "gym"),
    ],
)
def test_the_same_place_written_in_another_way(other: str, listed: str) -> None:
    assert found([other, "home"], [listed, "museum"]) == {other: listed}


@pytest.mark.parametrize("write", ["fsq{}", "{}b", "venue {}", "{}-2020"])
def test_the_same_addition_to_many_is_no_chance(write: str) -> None:
    others = [write.format(number) for number in range(1, 200)]
    assert len(found(others + [f"home-{number:05}" for number in range(1000)], NUMBERS)) == 199


def test_a_prefix_is_found_among_many_places_that_nobody_listed() -> None:
    others = [f"fsq-{number}" for number in range(20_000)]
    assert found(others, ["7", "8", "9"]) == {"fsq-7": "7", "fsq-8": "8", "fsq-9": "9"}


def test_one_name_with_an_addition_is_found_among_many_that_nobody_listed() -> None:
    others = [*(f"fsq-street{number}" for number in range(3000)), "fsq-gym", *(f"h{n}" for n in range(3000))]
    assert found(others, ["gym", *(f"venue{number}" for number in range(200))]) == {"fsq-gym": "gym"}


def test_one_long_number_with_an_addition_is_found_among_many() -> None:
    others = [f"fsq-{number}" for number in range(500_000, 520_000)]
    assert found([*others, "fsq-4017"], [str(n) for n in range(3_000, 5_000)]) == {}
    assert found([*others, "fsq-40170"], [str(n) for n in range(40_000, 42_000)]) == {"fsq-40170": "40170"}


def random_ids(alphabet: str, length: int) -> list[str]:
    dice = random.Random(1)
    return ["".join(dice.choices(alphabet, k=length)) for _ in range(20_000)]


OTHERS = {
    "homes with a prefix of their own": ([f"home-{n:05}" for n in range(1, 5000)], CITY),
    "homes numbered like the places": ([f"home-{n}" for n in range(1, 900)], NUMBERS),
    "homes of people": ([f"residence of patient {n}" for n in range(1, 900)], NUMBERS),
    "letters of their own": ([f"h{n:05}" for n in range(5000)], CITY),
    "letters and short numbers": ([f"h{n}" for n in range(1000, 4000)], NUMBERS),
    "larger numbers": ([str(n) for n in range(10_000, 30_000)], NUMBERS),
    "hashes": (random_ids(HEX, 24), NUMBERS),
    "short hashes": (random_ids("abcdefghijklmnopqrstuvwxyz123456789", 6), NUMBERS),
    "UUIDs": ([f"{a[:8]}-{a[8:12]}-{a[12:]}" for a in random_ids(HEX, 24)], NUMBERS),
    "names": (["Cafe Luna", "Bar Sol", "Museum of Art", "Gym"], ["cafe", "bar", "museum", "school"]),
    "another branch": (["starbucks shibuya"], ["starbucks", "museum", "gym"]),
}


@pytest.mark.parametrize("case", OTHERS)
def test_unrelated_places_are_left_in_peace(case: str) -> None:
    others, listed = OTHERS[case]
    assert found(others, listed) == {}


@given(st.lists(st.text(max_size=6), max_size=12, unique=True), st.lists(st.text(max_size=6), max_size=8))
def test_any_text_is_looked_at_and_each_is_named_once(others: list[str], listed: list[str]) -> None:
    pairs = found(others, listed)
    assert set(pairs) <= set(others)
    assert set(pairs.values()) <= set(listed)
