"""What is left out because its place is not listed: counted alike on every engine, and never unsaid."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.visits.making import (
    DAY,
    ENGINES,
    NOON,
    PLACES,
    check_visits,
    count_visits,
    places,
    table,
    write_csv,
    write_parquet,
)
from tests.visits.plain import Stay, touches

from safeside.errors import BadFile, BadQuestion
from safeside.visits import Doubt, Expected, LeftOut, VisitFormat, read_places

HOMES = ("home", "office 7", "car", "her boat")
ALL = Expected(unlisted="100%")
READERS: dict[str, Any] = {
    **{name: lambda frame, _, make=make: make(frame) for name, make in ENGINES.items()},
    "CSV": lambda frame, folder: write_csv(frame, folder / "visits.csv"),
    "Parquet": lambda frame, folder: write_parquet(frame, folder / "visits.parquet"),
}


def stay(person: Any, place: Any, hours: float = 0) -> Stay:
    begun = DAY.start + timedelta(hours=hours)
    return Stay(person, place, begun, begun + timedelta(hours=1))


ROWS = [
    *(stay(f"p{number}", "bar", number) for number in range(10)),
    stay("p1", "home", 2),
    stay("p1", "home", 4),
    stay("p1", "car", 6),
    stay("p2", "home", 8),
    stay("p3", "her boat", 48),
    stay("p4", "bar", 48),
]
"""In the window 14 rows, of which 4 of two people are at two places not listed; and 2 rows outside it."""


def numbers(found: LeftOut | None) -> tuple[int, int, int, int]:
    assert found is not None
    return found.rows, found.of_rows, found.people, found.places


@pytest.mark.parametrize("reader", READERS)
def test_rows_people_and_places_left_out_of_the_window_are_counted(tmp_path: Path, reader: str) -> None:
    visits = READERS[reader](table(ROWS), tmp_path)
    with pytest.raises(BadFile) as stopped:
        count_visits(visits, places(), DAY, exclude_unknown_places=True)
    assert "4 of 14 rows (28.6 %), of 2 people, at 2 places not listed, are left out" in stopped.value.what
    assert '`Expected(unlisted="29%")`' in stopped.value.do
    counted = count_visits(visits, places(), DAY, exclude_unknown_places=True, expected=ALL)
    assert numbers(counted.left_out) == (4, 14, 2, 2)
    assert counted.left_out is not None
    assert counted.left_out.examples == ("car", "home")
    assert counted.values.tolist() == [10, 0, 0, 0, 0]


@pytest.mark.parametrize("parity", [0, 1])
def test_every_numbered_place_is_told_from_its_neighbours(parity: int) -> None:
    """Every second place is listed, and people visit one of the others only, once each."""
    rows = [stay(number, 2 * (number % 6) + parity, number / 10) for number in range(18)]
    listed = read_places([str(number) for number in range(12) if number % 2 != parity])
    counted = count_visits(table(rows), listed, DAY, exclude_unknown_places=True, expected=ALL)
    assert numbers(counted.left_out) == (18, 18, 18, 6)
    assert not counted.values.any()


@pytest.mark.parametrize("person", [pl.Int64, pl.String])
@pytest.mark.parametrize("place", [pl.Int64, pl.String])
@pytest.mark.parametrize("hours", [10, 24])
def test_numbers_are_counted_as_other_identifiers_are(person: Any, place: Any, hours: int) -> None:
    """In packed numbers, of one block of people or of many, with the window narrow or wide."""
    rows = [stay(number % 7, number % 12, number / 60) for number in range(60)]
    frame = table(rows).with_columns(pl.col("person").cast(person), pl.col("place").cast(place))
    listed = read_places([str(number) for number in range(10)])
    window = DAY if hours == 24 else NOON.parse("2024-03-03T00:00+09:00/PT10H")
    counted = count_visits(frame, listed, window, exclude_unknown_places=True, expected=ALL)
    assert numbers(counted.left_out) == (10, 60, 7, 2)


@settings(max_examples=30)
@given(
    st.lists(
        st.builds(
            stay,
            st.sampled_from(["ana", "ben", "chi"]),
            st.sampled_from([*PLACES, *HOMES]),
            st.integers(-30, 50),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_the_same_is_left_out_on_every_engine(rows: list[Stay]) -> None:
    inside = [row for row in rows if touches([row.start], [row.end], DAY)]
    others = [row for row in inside if row.place not in PLACES]
    for name, make in ENGINES.items():
        counted = count_visits(make(table(rows)), places(), DAY, exclude_unknown_places=True, expected=ALL)
        if not others:
            assert counted.left_out is None, name
            continue
        expected = (
            len(others),
            len(inside),
            len({row.person for row in others}),
            len({row.place for row in others}),
        )
        assert numbers(counted.left_out) == expected, name


def test_what_is_left_out_is_of_the_last_sightings_at_an_instant() -> None:
    moment = NOON.start
    seen = pl.DataFrame(
        {
            "person": ["ana", "ana", "ben", "chi"],
            "place": ["home", "bar", "home", "gym"],
            "time": [moment - timedelta(minutes=9), moment, moment, moment],
        }
    )
    held = VisitFormat(hold="15min")
    counted = count_visits(seen, places(), NOON, held, exclude_unknown_places=True, expected=ALL)
    assert numbers(counted.left_out) == (1, 3, 1, 1)


def twenty(others: int) -> pl.DataFrame:
    listed = [stay(f"p{number}", "bar", 1) for number in range(20 - others)]
    return table(listed + [stay(f"q{number}", "home", 1) for number in range(others)])


def test_a_twentieth_may_be_left_out_without_a_word_and_no_more() -> None:
    counted = count_visits(twenty(1), places(), DAY, exclude_unknown_places=True)
    assert numbers(counted.left_out) == (1, 20, 1, 1)
    with pytest.raises(BadFile, match=r"2 of 20 rows \(10 %\).*more than 5 %"):
        count_visits(twenty(2), places(), DAY, exclude_unknown_places=True)


@pytest.mark.parametrize(("most", "fine"), [("20%", True), ("20.0 %", True), ("19.9%", False), ("0%", False)])
def test_what_is_expected_is_an_upper_limit(most: str, fine: bool) -> None:
    known = Expected(unlisted=most)
    report = check_visits(twenty(4), places(), DAY, exclude_unknown_places=True, expected=known)
    assert report.fine is fine
    if fine:
        count_visits(twenty(4), places(), DAY, exclude_unknown_places=True, expected=known)
        return
    with pytest.raises(BadFile, match="left out, more than"):
        count_visits(twenty(4), places(), DAY, exclude_unknown_places=True, expected=known)


@pytest.mark.parametrize("text", ["60", "0.6", "101%", "-1%", "%", "all", "6e1%"])
def test_a_share_is_written_in_per_cent(text: str) -> None:
    with pytest.raises(BadQuestion, match="per cent"):
        Expected(unlisted=text)


def test_whoever_is_shown_what_is_left_out_may_confirm_it() -> None:
    shown: list[LeftOut] = []

    def confirm(found: LeftOut) -> bool:
        shown.append(found)
        return True

    count_visits(twenty(8), places(), DAY, exclude_unknown_places=True, confirm=confirm)
    assert [numbers(found) for found in shown] == [(8, 20, 8, 1)]
    assert shown[0].examples == ("home",)


def test_neither_messages_nor_the_text_of_objects_quote_identifiers() -> None:
    rows = [stay("ana", "bar"), *(stay("ana", f"SECRET-{name}") for name in ("bar", "gym", "lair"))]
    counted = count_visits(
        table(rows), places(), DAY, VisitFormat(trust_places=True), exclude_unknown_places=True, expected=ALL
    )
    assert counted.left_out is not None
    assert any("SECRET" in name for name in counted.left_out.examples)
    report = check_visits(table(rows), places(), DAY, exclude_unknown_places=True)
    assert not report.fine
    with pytest.raises(BadFile) as stopped:
        count_visits(table(rows), places(), DAY, exclude_unknown_places=True)
    for text in (repr(counted), repr(report), str(stopped.value), *(f.sentence() for f in report.findings)):
        assert "SECRET" not in text


@pytest.mark.parametrize("reader", READERS)
def test_a_check_says_what_is_left_out(tmp_path: Path, reader: str) -> None:
    visits = READERS[reader](table(ROWS), tmp_path)
    asked = check_visits(visits, places(), DAY, exclude_unknown_places=True)
    assert numbers(asked.left_out) == (4, 14, 2, 2)
    assert [finding.doubt for finding in asked.errors] == [Doubt.LEFT_OUT]
    whole = check_visits(visits, places(), exclude_unknown_places=True)
    assert numbers(whole.left_out) == (5, 16, 3, 3)
    assert whole.fine, "of the whole input it is a note: what counts is the window that will be asked about"
    assert Doubt.LEFT_OUT in [finding.doubt for finding in whole.notes]


def wrong_ids(rows: list[Stay], write: Any) -> pl.DataFrame:
    return table([Stay(row.person, write(row.place), row.start, row.end) for row in rows])


@pytest.mark.parametrize("write", ["fsq-{}", "fsq:{}", "{}.0", "{}_v2", "0{}", "{} ", "FSQ{}"])
@pytest.mark.parametrize("reader", ["polars", "pandas", "duckdb", "CSV"])
def test_identifiers_that_do_not_match_the_list_stop_the_work(
    tmp_path: Path, reader: str, write: str
) -> None:
    """However much was declared to be left out: these are listed places, written in another way."""
    listed = read_places([str(number) for number in range(12, 40)])
    rows = [stay(f"p{number}", str(12 + number % 9), number / 9) for number in range(90)]
    good = count_visits(table(rows), listed, DAY, exclude_unknown_places=True)
    assert good.left_out is None
    mixed = pl.concat([table(rows[:4]), wrong_ids(rows[4:], write.format)])
    visits = READERS[reader](mixed, tmp_path)
    with pytest.raises(
        BadFile, match=r"9 places look like a listed place written in another way|as if rounded"
    ):
        count_visits(visits, listed, DAY, exclude_unknown_places=True, expected=ALL)
    assert not check_visits(visits, listed, DAY, exclude_unknown_places=True, expected=ALL).fine
