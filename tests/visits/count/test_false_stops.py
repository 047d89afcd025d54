"""What real files look like, and what must not stop the work for good: each has a way through."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from tests.visits.making import DAY, ENGINES, check_visits, count_visits, places, table, write_parquet
from tests.visits.plain import Stay

from safeside.errors import BadFile, BadQuestion, NowhereElse
from safeside.visits import Expected, VisitFormat, read_places

HEADER = "person,place,start,end"
ROW = "ana,bar,2024-03-03T10:00:00Z,2024-03-03T11:00:00Z"
STAYS = [Stay("ana", "bar", DAY.start, DAY.end), Stay("ben", "bar", DAY.start, DAY.end)]


def at_the_bar(visits: Any, expected: Expected | None = None, **declared: Any) -> int:
    """How many were there, by a count that a check finds nothing wrong with."""
    fmt = VisitFormat(**declared)
    assert check_visits(visits, places(), DAY, fmt, expected=expected).fine
    return int(count_visits(visits, places(), DAY, fmt, expected=expected).values[0])


def saved(folder: Path, content: str, name: str = "visits.csv") -> Path:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(content)
    return folder / name


def test_the_index_that_pandas_writes_is_a_column_without_a_name(tmp_path: Path) -> None:
    frame = pd.DataFrame([ROW.split(",")], columns=HEADER.split(","))
    frame.to_csv(tmp_path / "visits.csv")
    assert (tmp_path / "visits.csv").read_text().startswith(",person")
    assert at_the_bar(tmp_path / "visits.csv") == 1
    notes = check_visits(tmp_path / "visits.csv", places(), DAY).notes
    assert [note.sentence() for note in notes] == ["columns not used: one without a name."]


def test_a_list_of_places_may_have_that_index_too(tmp_path: Path) -> None:
    path = saved(tmp_path, ",place\n0,gym\n1,bar\n", "places.csv")
    assert read_places(path).ids == ("bar", "gym")


@pytest.mark.parametrize("content", ["", f"{HEADER}\n"])
def test_a_part_that_spark_left_empty(tmp_path: Path, content: str) -> None:
    saved(tmp_path, content, "part-00000-1f.csv")
    saved(tmp_path, f"{HEADER}\n{ROW}\n", "part-00001-1f.csv")
    with pytest.raises(BadFile, match=r"is empty|has no rows"):
        count_visits(tmp_path, places(), DAY)
    (tmp_path / "_SUCCESS").touch()
    assert at_the_bar(tmp_path) == 1
    assert at_the_bar(tmp_path, expected=Expected(files=2, rows=1)) == 1


def test_a_part_of_a_table_that_spark_left_empty(tmp_path: Path) -> None:
    write_parquet(table(STAYS).clear(), tmp_path / "part-00000.parquet")
    write_parquet(table(STAYS), tmp_path / "part-00001.parquet")
    with pytest.raises(BadFile, match="has no rows"):
        count_visits(tmp_path, places(), DAY)
    assert at_the_bar(tmp_path, expected=Expected(rows=2)) == 2
    (tmp_path / "_SUCCESS").touch()
    assert at_the_bar(tmp_path) == 2


def test_nothing_but_empty_parts_stops_all_the_same(tmp_path: Path) -> None:
    saved(tmp_path, "", "part-00000.csv")
    (tmp_path / "_SUCCESS").touch()
    with pytest.raises(BadFile, match="is empty"):
        count_visits(tmp_path, places(), DAY)


def test_another_empty_file_is_no_part(tmp_path: Path) -> None:
    saved(tmp_path, "", "monday.csv")
    saved(tmp_path, f"{HEADER}\n{ROW}\n", "tuesday.csv")
    (tmp_path / "_SUCCESS").touch()
    with pytest.raises(BadFile, match="is empty"):
        count_visits(tmp_path, places(), DAY)


def test_quotes_in_text_that_knows_no_quotes(tmp_path: Path) -> None:
    lines = [
        f"{HEADER},note",
        f'{ROW},5" pipe',
        f'{ROW.replace("ana", "ben")},"so',
        f"{ROW.replace('ana', 'chi')},x",
    ]
    path = saved(tmp_path, "\n".join(lines).replace(",", "\t") + "\n", "visits.tsv")
    with pytest.raises(BadFile, match="A quote where none can stand") as stopped:
        count_visits(path, places(), DAY, VisitFormat(separator="tab"))
    assert "`no_quotes=True`" in stopped.value.do
    assert at_the_bar(path, separator="tab", no_quotes=True) == 3


def test_a_line_break_is_the_end_of_a_line_where_there_are_no_quotes(tmp_path: Path) -> None:
    path = saved(tmp_path, f'{HEADER}\n{ROW},"x\ny"\n')
    with pytest.raises(BadFile, match="more or fewer fields"):
        count_visits(path, places(), DAY, VisitFormat(no_quotes=True))


def test_text_in_quotes_taken_for_text_without_loses_nobody(tmp_path: Path) -> None:
    """Left out as another place, "bar" would take ana away."""
    path = saved(tmp_path, f"{HEADER}\n{ROW.replace('bar', chr(34) + 'bar' + chr(34))}\n")
    for exclude in (False, True):
        with pytest.raises(BadFile, match="Column place"):
            count_visits(path, places(), DAY, VisitFormat(no_quotes=True), exclude_unknown_places=exclude)


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_a_column_called_state_may_be_something_else(engine: str) -> None:
    visits = ENGINES[engine](table(STAYS).with_columns(state=pl.Series(["Ohio", None])))
    with pytest.raises(BadFile, match="Column state") as stopped:
        count_visits(visits, places(), DAY)
    assert '"state": ""' in stopped.value.do
    assert at_the_bar(visits, columns="state=") == 2
    assert at_the_bar(visits, columns={"state": ""}) == 2


def test_a_comma_in_the_name_of_a_column(tmp_path: Path) -> None:
    path = saved(tmp_path, f"{HEADER.replace('person', chr(34) + 'name, first' + chr(34))}\n{ROW}\n")
    assert at_the_bar(path, columns="person=name, first,place=place") == 1
    assert at_the_bar(path, columns="place=place,person=name, first") == 1
    with pytest.raises(BadQuestion, match="no role 'persn'"):
        VisitFormat(columns="place=place,persn=name")


def test_every_resolution_that_is_offered_is_taken() -> None:
    """Of one place alone, that is: several may close in on each other."""
    one = read_places(pl.DataFrame({"place": ["bar"], "latitude": [35.68], "longitude": [139.76]}))
    seen = pl.DataFrame({"person": ["ana"], "latitude": [35.68], "longitude": [139.76], "time": [DAY.start]})
    with pytest.raises(NowhereElse, match="no venues") as refused:
        VisitFormat(h3_resolution=8, hold="1h")
    assert "from 9 to 15" in refused.value.do
    for resolution in range(9, 16):
        fmt = VisitFormat(h3_resolution=resolution, hold="1h")
        assert count_visits(seen, one, DAY, fmt).values.tolist() == [1]
    for resolution, rings in ((8, 0), (9, 2), (10, 8), (11, 10)):
        fmt = VisitFormat(h3_resolution=resolution, h3_rings=rings, hold="1h")
        assert count_visits(seen, one, DAY, fmt).values.tolist() == [1]


def test_a_name_that_is_no_text_is_shown_and_refused(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/caf\xe9.csv"
    Path(os.fsdecode(name)).write_text(f"{HEADER}\n{ROW}\n")
    for given in (Path(os.fsdecode(name)), os.fsdecode(name), tmp_path, str(tmp_path / "*.csv")):
        for act in (count_visits, check_visits):
            with pytest.raises(BadFile, match=r"The name of .*caf\\udce9\.csv is not text") as stopped:
                act(given, places(), DAY)
            str(stopped.value).encode()
    with pytest.raises(BadFile, match="is not text in UTF-8"):
        read_places(os.fsdecode(name))
    with pytest.raises(BadFile, match="is not text in UTF-8"):
        count_visits(os.fsdecode(name.replace(b"caf", b"not there")), places(), DAY)


def test_all_faults_of_a_list_of_places_are_shown_at_once() -> None:
    listed = pl.DataFrame(
        {
            "place": ["bar", "bar", None, " gym", "NULL", "café"],
            "latitude": [35.0, 135.0, 35.0, 35.0, None, 35.0],
            "longitude": [139.0] * 6,
            "at_most": [1, 2, 3, -4, 5, 6],
        }
    )
    with pytest.raises(BadFile) as stopped:
        read_places(listed)
    assert stopped.value.what == (
        "The list of places cannot be used:\n"
        "  - place is missing (1 row; first in row 3).\n"
        "  - place has blanks around it (1 row; first in row 4).\n"
        "  - place is a word or a number for a missing value (1 row; first in row 5).\n"
        "  - place is there twice (1 row; first in row 2).\n"
        "  - latitude of 'bar' is not between -90 and 90, or is missing (2 places).\n"
        "  - at_most of ' gym' is not a whole number from 0, or is missing (1 place)."
    )
    assert stopped.value.do.count("\n  - ") == 3


@pytest.mark.parametrize("held", [["a"], {"a": 1}, 1.5, object()])
def test_objects_in_a_list_of_places_are_refused_in_words(held: object) -> None:
    with pytest.raises((BadQuestion, BadFile)):
        read_places(pd.DataFrame({"place": pd.Series(["bar", held], dtype=object)}))
    with pytest.raises((BadQuestion, BadFile)):
        read_places(pd.DataFrame({"place": pd.Series([held, held], dtype=object)}))
