"""One rule of identifiers: what stands for nobody or for many stops the work, on every engine alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.visits.making import (
    DAY,
    ENGINES,
    check_visits,
    count_visits,
    places,
    table,
    write_csv,
    write_parquet,
)
from tests.visits.plain import Stay

from safeside.errors import BadFile, BadQuestion
from safeside.visits import VisitFormat, read_places
from safeside.visits.read.identifiers import (
    Fault,
    bytes_as_text,
    fault,
    faulty,
    missing,
    placeholder,
    polars_bytes_as_text,
    rounded,
    sql_bytes_as_text,
)

NOBODY = [
    "(null)",
    "undefined",
    "N.A.",
    "#NAME?",
    "不明",
    "00000000-0000-0000-0000-000000000000",
    "{00000000-0000-0000-0000-000000000000}",
    "0" * 32,
    "-1",
    " NULL ",
    "\u3000",
    "\u00a0nan",
    "\\N",
    "<null>",
    '"none"',
    "#DIV/0!",
    "unbekannt",
    "Missing",
    "Ｎ／Ａ",
    "ＮＵＬＬ",
    "ｕｎｋｎｏｗｎ",
    "－１",
]
MERGED = ["1,23457E+11", "1.23457e+11", " 1.23457E+11", "1001.0", "1001,0", "1001."]
FINE = [
    "ana",
    "Nanette",
    "007",
    "-17",
    "n",
    "1,000",
    "None of the above",
    "0",
    "a 1.5",
    "naïve",
    "0xab",
    "１",
]


def stays(persons: list[Any], at: str = "bar") -> pl.DataFrame:
    return table([Stay(person, at, DAY.start, DAY.end) for person in persons])


def in_all_ways(frame: pl.DataFrame, folder: Path) -> dict[str, Any]:
    """The same visits on every engine, and in files."""
    ways = {name: make(frame) for name, make in ENGINES.items()}
    return ways | {"parquet": write_parquet(frame, folder / "visits.parquet")}


@pytest.mark.parametrize("person", [*NOBODY, *MERGED])
def test_two_people_without_an_identifier_of_their_own_are_not_one(person: str, tmp_path: Path) -> None:
    frame = stays(["ana", person, person])
    ways = in_all_ways(frame, tmp_path) | {"csv": write_csv(frame, tmp_path / "visits.csv")}
    for name, visits in ways.items():
        with pytest.raises(BadFile, match="olumn person") as stopped:
            count_visits(visits, places(), DAY)
        assert repr(person)[1:-1] not in stopped.value.what, name
        assert "`trust_ids=True`" in stopped.value.do, name
        assert not check_visits(visits, places()).fine, name
        trusting = VisitFormat(trust_ids=True)
        counts = count_visits(visits, places(), DAY, trusting)
        assert counts.values.tolist() == [2, 0, 0, 0, 0], name
        assert counts.exclusions == (
            "Identifiers that look rounded, shortened or missing are taken as they are written.",
        )


@pytest.mark.parametrize("persons", [NOBODY[:1], [NOBODY[7]], [NOBODY[8]], MERGED[:1]])
def test_nor_where_nobody_else_was_there(persons: list[str], tmp_path: Path) -> None:
    """Where all are written alike, they might be counted as the numbers they look like."""
    for visits in in_all_ways(stays(persons * 3), tmp_path).values():
        with pytest.raises(BadFile, match="Column person"):
            count_visits(visits, places(), DAY)


def test_minus_one_is_no_person_in_a_column_of_whole_numbers(tmp_path: Path) -> None:
    for dtype in (pl.Int8, pl.Int64, pl.Decimal(20, 0)):
        frame = stays([1, -1, -1]).with_columns(pl.col("person").cast(dtype))
        for name, visits in in_all_ways(frame, tmp_path).items():
            with pytest.raises(BadFile, match=r"Column person: a word or a number .* \(2 rows\)"):
                count_visits(visits, places(), DAY)
            counts = count_visits(visits, places(), DAY, VisitFormat(trust_ids=True))
            assert counts.values.tolist() == [2, 0, 0, 0, 0], name


@pytest.mark.parametrize("persons", [[1, 2, 2**63], [0, 1, 1], [-7, -8, -8]])
def test_other_numbers_are_people(persons: list[int], tmp_path: Path) -> None:
    frame = stays(persons)
    for name, visits in in_all_ways(frame, tmp_path).items():
        assert count_visits(visits, places(), DAY).values[0] == len(set(persons)), name


@pytest.mark.parametrize("person", FINE)
def test_what_only_resembles_such_words_is_a_person(person: str, tmp_path: Path) -> None:
    for name, visits in in_all_ways(stays(["x", person, person]), tmp_path).items():
        assert count_visits(visits, places(), DAY).values[0] == 2, name


BYTES = [b"null", b" NULL ", b"1.2E+11", b"\0" * 16, "不明".encode(), b"-1"]


@pytest.mark.parametrize("person", BYTES)
def test_bytes_are_looked_at_like_text(person: bytes, tmp_path: Path) -> None:
    for visits in in_all_ways(stays([b"ana", person, person]), tmp_path).values():
        with pytest.raises(BadFile, match="Column person"):
            count_visits(visits, places(), DAY)


def test_bytes_that_are_no_text_are_people_of_their_own(tmp_path: Path) -> None:
    people = [b"\xff\xfe", b"\xff", "é".encode(), b"0xff", b"0xfffe", b"\0a", b"ana", b"ANA"]
    for name, visits in in_all_ways(stays(people * 2), tmp_path).items():
        counts = count_visits(visits, places(), DAY)
        assert counts.values[0] == len(people), name


def test_places_may_be_bytes(tmp_path: Path) -> None:
    frame = stays(["ana", "ben"]).with_columns(pl.col("place").cast(pl.Binary))
    for name, visits in in_all_ways(frame, tmp_path).items():
        assert count_visits(visits, places(), DAY).values[0] == 2, name
    listed = read_places(pl.DataFrame({"place": [b"gym", b"bar"]}))
    assert listed.ids == ("bar", "gym")


@pytest.mark.parametrize("place", ["(null)", "undefined", "-1", "1,2E+11", " ", "不明"])
def test_a_word_for_missing_is_no_other_place(place: str, tmp_path: Path) -> None:
    """Left out as one that is not listed, it would take somebody away from a listed one."""
    frame = pl.concat([stays([f"ana {number}" for number in range(40)]), stays(["ben"], place)])
    for name, visits in in_all_ways(frame, tmp_path).items():
        with pytest.raises(BadFile, match="Column place"):
            count_visits(visits, places(), DAY, exclude_unknown_places=True)
        assert not check_visits(visits, places(), exclude_unknown_places=True).fine, name
        trusting = VisitFormat(trust_places=True)
        counts = count_visits(visits, places(), DAY, trusting, exclude_unknown_places=True)
        assert counts.values[0] == 40, name


def test_minus_one_is_no_other_place_either(tmp_path: Path) -> None:
    frame = stays(["ana", "ben"]).with_columns(place=pl.Series([3, -1]))
    listed = read_places(["3", "4"])
    for visits in in_all_ways(frame, tmp_path).values():
        with pytest.raises(BadFile, match="Column place: a word or a number"):
            count_visits(visits, listed, DAY, exclude_unknown_places=True)


texts = st.one_of(
    st.sampled_from([*NOBODY, *MERGED, *FINE]),
    st.builds(
        lambda before, word, after: before + word + after,
        st.text(' \t\n"(<[{', max_size=2),
        st.sampled_from(["NULL", "Na", "n.a", "-1", "1E5", "x", "0", "-", "", "1.", "İ"]),
        st.text(' \t\n")>]}\u3000\u2007', max_size=2),
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4),
)


@given(st.lists(texts, min_size=1, max_size=20))
def test_all_engines_agree_with_plain_python(written: list[str]) -> None:
    frame = pl.DataFrame({"id": written}, schema={"id": pl.String})
    column, text = nw.col("id"), nw.String()
    questions = {
        Fault.MISSING: missing(column, text),
        Fault.PLACEHOLDER: placeholder(column, text),
        Fault.ROUNDED: rounded(column),
        "any": faulty(column, text),
    }
    truth = {kind: [fault(each) is kind for each in written] for kind in Fault}
    for engine, make in ENGINES.items():
        answers = (
            nw.from_native(make(frame))
            .lazy()
            .select(**{str(kind): question for kind, question in questions.items()})
            .collect("polars")
            .to_polars()
        )
        for kind in Fault:
            assert answers[str(kind)].to_list() == truth[kind], (engine, kind)
        assert answers["any"].to_list() == [fault(each) is not None for each in written], engine


@given(st.lists(st.one_of(st.binary(max_size=6), texts.map(str.encode)), min_size=1, max_size=20))
def test_bytes_become_the_same_text_everywhere_and_never_another_ones(written: list[bytes]) -> None:
    truth = [bytes_as_text(each) for each in written]
    assert len(set(truth)) == len(set(written))
    frame = pl.DataFrame({"id": written}, schema={"id": pl.Binary})
    assert frame.select(id=polars_bytes_as_text(pl.col("id")))["id"].to_list() == truth
    connection = duckdb.connect()
    connection.register("ids", frame.with_row_index("n").to_arrow())
    found = connection.sql(f"select {sql_bytes_as_text('id', spark=False)} from ids order by n").fetchall()
    assert [each for (each,) in found] == truth


def test_missing_bytes_stay_missing() -> None:
    frame = pl.DataFrame({"id": [None, b"a"]}, schema={"id": pl.Binary})
    assert frame.select(id=polars_bytes_as_text(pl.col("id")))["id"].to_list() == [None, "a"]


def test_an_enum_of_duckdb_is_compared_byte_by_byte() -> None:
    """Under a collation that takes ana and ANA for one."""
    connection = duckdb.connect()
    connection.execute("set default_collation = 'NOCASE'")
    connection.register("visits", stays(["ana", "ANA", "Ana"]).to_arrow())
    connection.execute("create type who as enum ('ana', 'ANA', 'Ana')")
    connection.execute('create table t as select person::who as person, place, start, "end" from visits')
    relation = connection.sql("select * from t")
    assert count_visits(relation, places(), DAY).values.tolist() == [3, 0, 0, 0, 0]
    assert check_visits(relation, places()).people == 3


def object_frame(persons: list[Any]) -> pd.DataFrame:
    frame = stays(["x"] * len(persons)).to_pandas()
    frame["person"] = pd.Series(persons, dtype=object)
    return frame


@pytest.mark.parametrize(
    "persons",
    [
        [1, True, 1.0],
        ["1"] * 150 + [1],
        ["a"] * 150 + [float("inf")],
        [1] * 150 + [1.0],
        [b"a"] * 150 + ["a"],
        [["a"], ["b"]],
        ["a", ["b"]],
        [{"a": 1}],
        [1, "a", None],
    ],
)
def test_objects_of_several_kinds_are_refused_wherever_the_kind_changes(persons: list[Any]) -> None:
    with pytest.raises(BadQuestion, match="Column person holds"):
        count_visits(object_frame(persons), places(), DAY)
    with pytest.raises(BadQuestion, match="Column person holds"):
        check_visits(object_frame(persons), places())


def test_objects_of_one_kind_are_identifiers() -> None:
    for persons in (["a", "b", "b"], [1, 2, 2], [b"a", b"b", b"b"], [10**17, 10**17 + 1, 10**17]):
        assert count_visits(object_frame(persons), places(), DAY).values[0] == 2
    with pytest.raises(BadFile, match="no person"):
        count_visits(object_frame([1, None]), places(), DAY)
    with pytest.raises(BadQuestion, match="Column person or start or end or place holds"):
        count_visits(object_frame([1, 2**70]), places(), DAY)


def test_categories_of_several_kinds_are_refused() -> None:
    """As text, the number 1 and the text 1 would be one person."""
    frame = object_frame([1, "1"])
    frame["person"] = frame["person"].astype("category")
    with pytest.raises(BadQuestion, match="Column person holds"):
        count_visits(frame, places(), DAY)


def test_dictionaries_of_pyarrow_are_read_as_what_they_hold() -> None:
    frame = stays(["ana", "ben"]).to_arrow()
    held = pa.array(["(null)", "ben"]).dictionary_encode()
    with pytest.raises(BadFile, match="Column person"):
        count_visits(frame.set_column(0, "person", held), places(), DAY)
