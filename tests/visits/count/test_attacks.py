"""Attempts to make a count smaller than the truth: each must stop, or count everybody."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.visits.making import ENGINES, check_visits, count_visits

from safeside.errors import BadFile, BadQuestion
from safeside.visits import Expected, VisitFormat, Window, read_places

PLACES = read_places(["bar", "gym"])
MORNING = Window.parse("2024-03-01T10:00Z/2024-03-01T10:30Z")


def at(hour: int, minute: int = 0) -> datetime:
    return datetime(2024, 3, 1, hour, minute, tzinfo=UTC)


def stays(persons: Any) -> pl.DataFrame:
    """Everybody at the bar all morning."""
    people = pl.Series("person", persons)
    return pl.DataFrame(
        {
            "person": people,
            "place": ["bar"] * len(people),
            "start": [at(9)] * len(people),
            "end": [at(11)] * len(people),
        }
    )


def written(folder: Path, start: str, end: str) -> Path:
    """One stay at the bar, its times written so."""
    path = folder / "visits.csv"
    path.write_text(f"person,place,start,end\nana,bar,{start},{end}\n")
    return path


# Berlin's clock went from 03:00 back to 02:00 at 01:00 UTC.
FIRST_HALF_PAST, SECOND_HALF_PAST = "2024-10-27T02:30+02:00", "2024-10-27T02:30+01:00"


@pytest.mark.parametrize("instant", [FIRST_HALF_PAST, SECOND_HALF_PAST])
def test_the_last_of_two_sightings_is_not_guessed_where_the_clock_went_back(instant: str) -> None:
    seen = pl.DataFrame(
        {
            "person": ["ana", "ana"],
            "place": ["bar", "gym"],
            "time": [datetime(2024, 10, 27, 2, 25), datetime(2024, 10, 27, 2, 10)],
        }
    )
    fmt = VisitFormat(hold="2h", timezone="Europe/Berlin")
    with pytest.raises(BadFile, match="two places"):
        count_visits(seen, PLACES, Window.parse(instant), fmt)
    both = count_visits(seen, PLACES, Window.parse(instant), fmt, max_places_per_person=2)
    assert both.values.tolist() == [1, 1]


def test_the_last_sighting_is_known_again_once_the_hold_is_past_the_change() -> None:
    seen = pl.DataFrame(
        {
            "person": ["ana", "ana"],
            "place": ["bar", "gym"],
            "time": [datetime(2024, 10, 27, 8, 10), datetime(2024, 10, 27, 8, 25)],
        }
    )
    fmt = VisitFormat(hold="2h", timezone="Europe/Berlin")
    counts = count_visits(seen, PLACES, Window.parse("2024-10-27T08:30+01:00"), fmt)
    assert counts.values.tolist() == [0, 1]


def test_empty_bytes_are_no_person() -> None:
    with pytest.raises(BadFile, match=r"no person \(2 rows\)"):
        count_visits(stays([b"", b"", b"\x01"]), PLACES, MORNING)


@pytest.mark.parametrize("zone", ["Z", " UTC", " GMT", " utc", "gmt", "+00:00", "+0000", "+00"])
def test_a_zone_written_in_the_format_is_not_skipped(tmp_path: Path, zone: str) -> None:
    path = written(tmp_path, f"2024-03-01 09:00:00{zone}", f"2024-03-01 11:00:00{zone}")
    layout = f"%Y-%m-%d %H:%M:%S{zone}"
    for clock in ("Asia/Tokyo", None):
        with pytest.raises(BadQuestion, match="has a zone in it") as refused:
            count_visits(path, PLACES, MORNING, VisitFormat(time_format=layout, timezone=clock))
        assert "%z" in refused.value.do
    counts = count_visits(path, PLACES, MORNING, VisitFormat(time_format=layout, timezone="UTC"))
    assert counts.values.tolist() == [1, 0]


@pytest.mark.parametrize("layout", ["%H:%M:%S.%9f", "%H:%M:%S%.9f", "%H:%M:%S%.f"])
def test_an_end_is_not_cut_to_microseconds(tmp_path: Path, layout: str) -> None:
    path = written(tmp_path, "2024-03-01 09:00:00.000000000", "2024-03-01 10:00:00.000000500")
    fmt = VisitFormat(time_format=f"%Y-%m-%d {layout}", timezone="UTC")
    assert count_visits(path, PLACES, MORNING, fmt).values.tolist() == [1, 0]


def visits_in(path: Path, person: str) -> Path:
    """A file with one stay at the bar."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"person,place,start,end\n{person},bar,2024-03-01T09:00:00Z,2024-03-01T11:00:00Z\n",
    )
    return path


def bar(visits: Any) -> int:
    return int(count_visits(visits, PLACES, MORNING).values[0])


@pytest.mark.parametrize("name", ["part-00001", "b.csv.gz", "b.txt.bak", "README"])
def test_no_file_in_a_folder_is_passed_over(tmp_path: Path, name: str) -> None:
    visits_in(tmp_path / "a.csv", "ana")
    visits_in(tmp_path / "deep" / name, "ben")
    with pytest.raises(BadFile, match=f"also holds {name}, which is neither CSV nor Parquet") as refused:
        bar(tmp_path)
    assert f"give '{tmp_path}/*.csv' instead of the folder" in refused.value.do
    assert bar(f"{tmp_path}/*.csv") == 1


def test_markers_of_an_export_are_passed_over(tmp_path: Path) -> None:
    visits_in(tmp_path / "a.csv", "ana")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".a.csv.crc").touch()
    assert bar(tmp_path) == 1


def test_hidden_files_of_visits_are_read(tmp_path: Path) -> None:
    visits_in(tmp_path / "a.csv", "ana")
    visits_in(tmp_path / "_b.csv", "ben")
    visits_in(tmp_path / ".c.CSV", "chi")
    assert bar(tmp_path) == 3


def test_linked_folders_are_entered_once(tmp_path: Path) -> None:
    visits_in(tmp_path / "in" / "a.csv", "ana")
    visits_in(tmp_path / "out" / "b.csv", "ben")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "out")
    (tmp_path / "in" / "back").symlink_to(tmp_path / "in")
    assert bar(tmp_path / "in") == 2


@pytest.mark.parametrize("pattern", ["*", "**", "[av]*"])
def test_folders_that_a_pattern_matches_are_opened(tmp_path: Path, pattern: str) -> None:
    visits_in(tmp_path / "a.csv", "ana")
    visits_in(tmp_path / "visits.csv" / "part-0.csv", "ben")
    assert bar(str(tmp_path / pattern)) == 2
    assert bar(tmp_path) == 2


@pytest.mark.parametrize("rule", ["NOCASE", "NOACCENT"])
def test_collations_of_duckdb_merge_nobody(rule: str) -> None:
    connection = duckdb.connect()
    text, moment = f"VARCHAR COLLATE {rule}", "TIMESTAMPTZ"
    connection.execute(f'CREATE TABLE t(person {text}, place {text}, start {moment}, "end" {moment})')
    for person, place in (("ana", "bar"), ("ANA", "bar"), ("áná", "bar"), ("eva", "BAR"), ("eva", "bár")):
        connection.execute("INSERT INTO t VALUES (?, ?, ?, ?)", [person, place, at(9), at(11)])
    counts = count_visits(connection.table("t"), read_places(["BAR", "bar", "bár"]), MORNING)
    assert counts.values.tolist() == [1, 3, 1]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_floats_behind_a_dictionary_are_no_identifiers(kind: Any) -> None:
    rounded = np.array([2048, 2049, 3], dtype=kind)
    table = stays(["x", "y", "z"]).to_arrow()
    hidden = table.set_column(
        0, "person", pa.array(rounded.astype(np.float64)).cast(_arrow(kind)).dictionary_encode()
    )
    frame = stays(["x", "y", "z"]).to_pandas().assign(person=pd.Categorical(rounded.astype(np.float64)))
    for visits in (hidden, frame):
        with pytest.raises(BadQuestion, match="column person are floating-point numbers"):
            count_visits(visits, PLACES, MORNING, VisitFormat(trust_ids=True))


def _arrow(kind: Any) -> pa.DataType:
    return {np.float16: pa.float32(), np.float32: pa.float32(), np.float64: pa.float64()}[kind]


def test_two_tz_databases_need_not_agree() -> None:
    """Polars knows no summer time after 2100 and no local mean time of many zones before 1970."""
    for zone, moment in (
        ("Europe/Berlin", datetime(2101, 7, 15, 12, tzinfo=UTC)),
        ("Africa/Accra", datetime(1901, 1, 15, 12, tzinfo=UTC)),
        ("Africa/Accra", datetime(1915, 1, 15, 12, tzinfo=UTC)),
    ):
        moments = pl.Series([moment], dtype=pl.Datetime("us", "UTC")).dt.convert_time_zone(zone)
        seen = pl.DataFrame({"person": ["ana"], "place": ["bar"], "start": moments, "end": moments})
        window = Window.parse(moment.astimezone(ZoneInfo("UTC")).isoformat())
        assert count_visits(seen, PLACES, window).values.tolist() == [1, 0]


def test_start_and_end_may_be_of_different_zones() -> None:
    frame = stays(["ana"]).with_columns(
        pl.col("end").dt.convert_time_zone("Asia/Tokyo").dt.cast_time_unit("ns")
    )
    assert bar(frame) == 1
    assert bar(frame.to_pandas()) == 1
    assert bar(frame.to_arrow()) == 1


@pytest.mark.parametrize("column", ["person", "place", "start", "end"])
@pytest.mark.parametrize("descending", [False, True])
def test_no_promise_of_an_order_is_believed(column: str, descending: bool) -> None:
    hours = [11, 9, 12, 8, 9, 13, 9]
    frame = pl.DataFrame(
        {
            "person": [4, 1, 5, 3, 2, 7, 6],
            "place": ["bar", "gym", "bar", "bar", "gym", "bar", "bar"],
            "start": [at(hour) for hour in hours],
            "end": [at(hour + 2) for hour in hours],
        }
    )
    truth = count_visits(frame, PLACES, MORNING).values.tolist()
    assert truth == [1, 2]
    sworn = frame.with_columns(pl.col(column).set_sorted(descending=descending))
    for visits in (sworn, sworn.with_columns(pl.col("person").cast(pl.String)), sworn.lazy()):
        assert count_visits(visits, PLACES, MORNING).values.tolist() == truth
        assert sworn[column].flags["SORTED_DESC" if descending else "SORTED_ASC"]


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize("who", [None, "", "NULL", "1.2E+11"])
@pytest.mark.parametrize("by", ["states", "coordinates"])
def test_the_last_sighting_of_nobody_hides_no_other(engine: str, who: str | None, by: str) -> None:
    """Two people without an identifier: one at the bar, one who moved, or was at no place, since."""
    frame = pl.DataFrame(
        {"person": [who, who], "time": [at(9, 50), at(9, 55)]}, schema_overrides={"person": pl.String}
    )
    if by == "states":
        frame = frame.with_columns(place=pl.Series(["bar", None]), state=pl.Series(["STAY", "MOVE"]))
        listed, form = PLACES, VisitFormat(hold="1h")
    else:
        frame = frame.with_columns(latitude=pl.Series([35.0, 36.0]), longitude=pl.Series([139.0, 139.0]))
        points = {"place": ["bar"], "latitude": [35.0], "longitude": [139.0]}
        listed, form = read_places(pl.DataFrame(points)), VisitFormat(hold="1h", radius=50)
    with pytest.raises(BadFile, match=r"no person|missing value|scientific notation"):
        count_visits(ENGINES[engine](frame), listed, Window.parse("2024-03-01T10:00Z"), form)


def test_objects_are_no_identifiers() -> None:
    people = pl.Series("person", [object(), object()], dtype=pl.Object)
    for frame in (stays(["ana", "ben"]).with_columns(people), stays(["ana"]).with_columns(people[:1]).lazy()):
        with pytest.raises(BadQuestion, match="cannot be compared as identifiers"):
            bar(frame)


@pytest.mark.parametrize("offset", ["+05:30", "-03:30", "+09:00"])
def test_offsets_without_a_name_are_zones_too(tmp_path: Path, offset: str) -> None:
    """As pandas makes them of times with offsets."""
    table = stays(["ana"]).to_arrow()
    for column in ("start", "end"):
        where = table.column_names.index(column)
        table = table.set_column(where, column, table[column].cast(pa.timestamp("us", offset)))
    for visits in (table, table.to_pandas()):
        assert bar(visits) == 1
        assert check_visits(visits, PLACES, MORNING).fine
    pq.write_table(table, tmp_path / "visits.parquet")
    if offset.endswith("30"):
        with pytest.raises(BadFile, match="zone that is not in the tz database"):
            bar(tmp_path / "visits.parquet")
    else:
        assert bar(tmp_path / "visits.parquet") == 1


def test_a_zone_nobody_knows_is_refused() -> None:
    table = stays(["ana"]).to_arrow()
    for column in ("start", "end"):
        where = table.column_names.index(column)
        table = table.set_column(where, column, table[column].cast(pa.timestamp("us", "JST")))
    with pytest.raises(BadQuestion, match="no time zone 'JST'"):
        bar(table)


@pytest.mark.parametrize("unit", ["epoch-ms", "epoch-us", "epoch-ns"])
def test_seconds_are_not_taken_for_something_finer(tmp_path: Path, unit: str) -> None:
    seconds = stays(["ana"]).with_columns(pl.col("start", "end").dt.epoch("s"))
    seconds.write_csv(tmp_path / "visits.csv")
    for visits in (seconds, seconds.to_pandas(), tmp_path / "visits.csv"):
        with pytest.raises(BadFile, match="a time in 1970") as refused:
            count_visits(visits, PLACES, MORNING, VisitFormat(time_format=unit))
        assert "epoch-s" in refused.value.do
        assert count_visits(visits, PLACES, MORNING, VisitFormat(time_format="epoch-s")).values[0] == 1


def test_timestamps_made_of_seconds_are_noticed() -> None:
    seconds = pd.Series([int(at(9).timestamp()), int(at(11).timestamp())])
    wrong = pd.to_datetime(seconds, utc=True)
    frame = pd.DataFrame({"person": ["ana"], "place": ["bar"], "start": [wrong[0]], "end": [wrong[1]]})
    with pytest.raises(BadFile, match="a time in 1970"):
        bar(frame)
    assert [finding.reason for finding in check_visits(frame, PLACES).errors] == [
        "a time in 1970, as numbers become whose unit was mistaken"
    ]


def test_visits_of_1970_are_counted_in_1970() -> None:
    there = pl.Series([datetime(1970, 5, 1, 12, tzinfo=UTC)], dtype=pl.Datetime("us", "UTC"))
    frame = pl.DataFrame({"person": ["ana"], "place": ["bar"], "start": there, "end": there})
    assert count_visits(frame, PLACES, Window.parse("1970-05-01T12:00Z")).values.tolist() == [1, 0]


def test_an_empty_dataframe_is_not_an_answer() -> None:
    empty = stays(["ana"]).clear()
    for visits in (empty, empty.lazy(), empty.to_pandas(), empty.to_arrow()):
        with pytest.raises(BadFile, match="The dataframe has no rows") as refused:
            bar(visits)
        assert "`Expected(rows=0)`" in refused.value.do
        assert not check_visits(visits, PLACES).fine
        assert count_visits(visits, PLACES, MORNING, expected=Expected(rows=0)).values.tolist() == [0, 0]
        assert check_visits(visits, PLACES, expected=Expected(rows=0)).fine


def test_files_are_not_declared_of_a_dataframe() -> None:
    with pytest.raises(BadFile, match="3 files are declared, and the visits are a dataframe"):
        count_visits(stays(["ana"]), PLACES, MORNING, expected=Expected(files=3))


@pytest.mark.parametrize("spelling", [" bar", "bar ", "BAR", "0bar", "\uff42ar"])
def test_listed_places_spelt_otherwise_are_not_left_out_as_unknown(spelling: str) -> None:
    visits = stays(["ana"]).with_columns(place=pl.lit(spelling))
    with pytest.raises(BadFile, match="1 place looks like a listed place written in") as refused:
        count_visits(visits, PLACES, MORNING, exclude_unknown_places=True)
    assert "as the list does" in refused.value.do
    assert not check_visits(visits, PLACES, exclude_unknown_places=True).fine


def test_a_holding_time_has_an_end() -> None:
    with pytest.raises(BadQuestion, match="longer than a century"):
        VisitFormat(hold="99999d")


def test_names_of_columns_are_text() -> None:
    with pytest.raises(BadQuestion, match="name of a column is not text"):
        bar(stays(["ana"]).to_pandas().assign(**{}).rename(columns={"place": 0}))


def test_a_stay_until_the_repeated_time_lasts_until_its_second_showing() -> None:
    """Pyongyang's clock went from 24:00 back to 23:30: a stay up to 23:30 may have lasted to the second."""
    stay = pl.DataFrame(
        {
            "person": ["ana"],
            "place": ["bar"],
            "start": [datetime(2015, 8, 14, 23, 0)],
            "end": [datetime(2015, 8, 14, 23, 30)],
        }
    )
    window = Window.parse("2015-08-14T14:30Z/2015-08-14T14:45Z")
    fmt = VisitFormat(timezone="Asia/Pyongyang")
    assert count_visits(stay, PLACES, window, fmt).values.tolist() == [1, 0]


@pytest.mark.parametrize("dictionary", [False, True])
def test_the_last_sighting_is_found_in_arrow_tables_of_many_chunks(dictionary: bool) -> None:
    """Asked over and over: the join behind it went wrong in a few of a hundred runs."""
    people = 12
    seen = pl.DataFrame(
        {
            "person": [f"p{i % people}" for i in range(4 * people)],
            "place": [("bar", "gym")[i // people % 2] for i in range(4 * people)],
            "time": [at(9, i) for i in range(4 * people)],
        }
    ).to_arrow()
    if dictionary:
        seen = seen.set_column(0, "person", seen["person"].dictionary_encode())
    table = pa.concat_tables([seen.slice(0, 7), seen.slice(7, 20), seen.slice(27)])
    fmt = VisitFormat(hold="1h")
    instant = Window.parse("2024-03-01T09:50Z")
    assert {tuple(count_visits(table, PLACES, instant, fmt).values) for _ in range(60)} == {(0, people)}
    nobody = seen.set_column(0, "person", pa.nulls(len(seen), seen["person"].type))
    with pytest.raises(BadFile, match="no person"):
        count_visits(pa.concat_tables([table, nobody]), PLACES, instant, fmt)
