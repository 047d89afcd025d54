"""Every engine returns the integers that plain Python counts, or stops: no other outcome."""

from __future__ import annotations

import warnings
from datetime import date, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.visits import plain
from tests.visits.making import (
    DAY,
    ENGINES,
    NOON,
    PLACES,
    check_visits,
    count_visits,
    duck,
    everywhere,
    people,
    places,
    sightings,
    stays,
    table,
)
from tests.visits.plain import Stay

from safeside.errors import BadFile, BadQuestion
from safeside.visits import Expected, VisitFormat, Window

TOKYO = VisitFormat(timezone="Asia/Tokyo")


@given(stays, st.sampled_from(["UTC", "Asia/Tokyo", "America/New_York"]))
@settings(max_examples=25)
def test_stays_in_an_interval(rows: list[Stay], zone: str) -> None:
    truth = plain.count(rows, PLACES, DAY)
    for name, visits in everywhere(table(rows, zone=zone)):
        assert count_visits(visits, places(), DAY).values.tolist() == truth, name


@given(stays)
@settings(max_examples=15)
def test_stays_at_an_instant(rows: list[Stay]) -> None:
    """Where somebody is at two places, every engine stops; elsewhere all agree."""
    truth = plain.count(rows, PLACES, NOON)
    inside = {(row.person, row.place) for row in rows if plain.touches([row.start], [row.end], NOON)}
    most = max([sum(1 for who, _ in inside if who == person) for person, _ in inside], default=0)
    for name, visits in everywhere(table(rows)):
        if most > 1:
            with pytest.raises(BadFile, match="two places"):
                count_visits(visits, places(), NOON)
        else:
            assert count_visits(visits, places(), NOON).values.tolist() == truth, name
        declared = count_visits(visits, places(), NOON, max_places_per_person=len(PLACES))
        assert declared.values.tolist() == truth, name
        assert declared.most_places_per_person == most, name


@given(sightings, st.sampled_from([timedelta(minutes=15), timedelta(hours=5), timedelta(days=2)]))
@settings(max_examples=20)
def test_sightings(rows: list[tuple[object, str, Any]], hold: timedelta) -> None:
    frame = pl.DataFrame(rows, schema=["person", "place", "time"], orient="row")
    declared = VisitFormat(hold=hold)
    for window in (DAY, NOON):
        truth = plain.count_sightings(rows, PLACES, window, hold)
        for name, visits in everywhere(frame):
            counted = count_visits(visits, places(), window, declared, max_places_per_person=5)
            assert counted.values.tolist() == truth, name


@given(st.lists(st.tuples(people, st.sampled_from(PLACES), st.integers(-3, 3)), min_size=1, max_size=20))
@settings(max_examples=10)
def test_dates(rows: list[tuple[object, str, int]]) -> None:
    dated = [(who, where, date(2024, 3, 3) + timedelta(days=by)) for who, where, by in rows]
    frame = pl.DataFrame(dated, schema=["person", "place", "date"], orient="row")
    window = Window.parse("2024-03-03T10:00/2024-03-04T00:00", "Asia/Tokyo")
    truth = plain.count_dates(dated, PLACES, window, "Asia/Tokyo")
    for name, visits in everywhere(frame):
        assert count_visits(visits, places(), window, TOKYO).values.tolist() == truth, name


@given(stays)
@settings(max_examples=15)
def test_naive_times_on_a_declared_clock(rows: list[Stay]) -> None:
    frame = table(rows, zone="Asia/Tokyo").with_columns(pl.col("start", "end").dt.replace_time_zone(None))
    truth = plain.count(rows, PLACES, DAY)
    for name, visits in everywhere(frame, files=False):
        assert count_visits(visits, places(), DAY, TOKYO).values.tolist() == truth, name
        with pytest.raises(BadQuestion, match="have no zone"):
            count_visits(visits, places(), DAY)


@given(st.data())
@settings(max_examples=15)
def test_the_hour_that_happens_twice_loses_nobody(data: st.DataObject) -> None:
    """Naive times around a change of clocks: counted wherever they may belong, on all engines alike."""
    zone = "Europe/Berlin"
    change = plain.midnight(date(2024, 10, 27), zone) + timedelta(hours=3)
    minutes = st.integers(-180, 180)
    rows = []
    for _ in range(data.draw(st.integers(1, 12))):
        start = change + timedelta(minutes=data.draw(minutes))
        local = start.astimezone(plain.ZoneInfo(zone)).replace(tzinfo=None)
        end = local + timedelta(minutes=data.draw(st.integers(0, 90)))
        rows.append(Stay(data.draw(people), data.draw(st.sampled_from(PLACES)), local, end))
    frame = table(rows)
    first = change + timedelta(minutes=data.draw(minutes))
    last = first + timedelta(minutes=data.draw(st.integers(1, 200)))
    window = Window.parse(f"{first.isoformat()}/{last.isoformat()}")
    truth = plain.count(rows, PLACES, window, zone)
    for name, visits in everywhere(frame, files=False):
        counted = count_visits(visits, places(), window, VisitFormat(timezone=zone))
        assert counted.values.tolist() == truth, name


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_no_unit_of_time_loses_anybody(engine: str, unit: str) -> None:
    """One tick before the window's end and one after its beginning are inside."""
    tick = {"ms": "1000us", "us": "1us", "ns": "1ns"}[unit]
    ends = (
        pl.Series([DAY.start, DAY.start])
        .cast(pl.Datetime(unit, "UTC"))
        .dt.offset_by(pl.Series(["0us", tick]))
    )
    starts = (
        pl.Series([DAY.end, DAY.end])
        .cast(pl.Datetime(unit, "UTC"))
        .dt.offset_by(pl.Series(["0us", f"-{tick}"]))
    )
    early = pl.DataFrame({"person": ["a", "b"], "place": ["bar", "bar"], "end": ends}).with_columns(
        start=pl.col("end").dt.offset_by("-1h")
    )
    late = pl.DataFrame({"person": ["c", "d"], "place": ["bar", "bar"], "start": starts}).with_columns(
        end=pl.col("start").dt.offset_by("1h")
    )
    frame = pl.concat([early, late.select(early.columns)])
    if engine == "duckdb" and unit == "ns":
        with pytest.raises(BadQuestion, match="not a time"):
            count_visits(ENGINES[engine](frame), places(), DAY)
        frame = frame.with_columns(pl.col("start", "end").dt.replace_time_zone(None))
        counted = count_visits(ENGINES[engine](frame), places(), DAY, VisitFormat(timezone="UTC"))
    else:
        counted = count_visits(ENGINES[engine](frame), places(), DAY)
    assert counted.values.tolist() == [2, 0, 0, 0, 0]


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_numbers_since_1970(engine: str, unit: str) -> None:
    per = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    first, last = (int(at.timestamp()) * per for at in (DAY.start, DAY.end))
    frame = pl.DataFrame(
        {
            "person": [1, 2, 3, 4, 10**17, 10**17 + 1],
            "place": ["bar"] * 6,
            "start": [first - per, first - per, last - 1, last, first, first],
            "end": [first, first + 1, last, last, first, first],
        }
    )
    declared = VisitFormat(time_format=f"epoch-{unit}")
    assert count_visits(ENGINES[engine](frame), places(), DAY, declared).values.tolist() == [4, 0, 0, 0, 0]
    with pytest.raises(BadQuestion, match="are numbers"):
        count_visits(ENGINES[engine](frame), places(), DAY)


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_identifiers_of_any_type(engine: str) -> None:
    rows = [Stay(person, "bar", DAY.start, DAY.end) for person in (2**53, 2**53 + 1, 2**53)]
    frame = table(rows)
    assert count_visits(ENGINES[engine](frame), places(), DAY).values[0] == 2
    for kind in (pl.String, pl.UInt64, pl.Categorical):
        other = frame.with_columns(pl.col("person").cast(pl.String).cast(kind))
        assert count_visits(ENGINES[engine](other), places(), DAY).values[0] == 2
    with pytest.raises(BadQuestion, match="floating-point"):
        count_visits(ENGINES[engine](frame.with_columns(pl.col("person").cast(pl.Float64))), places(), DAY)


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_places_named_by_numbers(engine: str) -> None:
    from safeside.visits import read_places

    rows = [Stay("a", "7", DAY.start, DAY.end), Stay("b", "12", DAY.start, DAY.end)]
    frame = table(rows).with_columns(pl.col("place").cast(pl.Int32))
    listed = read_places(["12", "7", "99"])
    assert count_visits(ENGINES[engine](frame), listed, DAY).values.tolist() == [1, 1, 0]
    with pytest.raises(BadFile, match="not listed; it looks like a listed one"):
        count_visits(ENGINES[engine](frame), read_places(["12", "007"]), DAY)


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize("column", ["person", "place", "start", "end"])
def test_a_missing_value_stops_every_engine(engine: str, column: str) -> None:
    rows = [Stay("a", "bar", DAY.start, DAY.end), Stay("b", "gym", DAY.start, DAY.end)]
    frame = table(rows).with_columns(
        pl.when(pl.int_range(pl.len()) == 1).then(None).otherwise(pl.col(column)).alias(column)
    )
    with pytest.raises(BadFile) as stopped:
        count_visits(ENGINES[engine](frame), places(), DAY)
    where = "" if engine == "duckdb" else "; first at row 2"
    assert stopped.value.what == f"Column {column}: no {column} (1 row){where}."
    report = check_visits(ENGINES[engine](frame), places(), DAY)
    assert [finding.column for finding in report.errors] == [column]


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_what_is_declared_is_checked(engine: str) -> None:
    rows = [Stay("a", "bar", DAY.start, DAY.end), Stay("b", "home", DAY.start, DAY.end)]
    visits = ENGINES[engine](table(rows))
    with pytest.raises(BadFile, match="1 place is visited and not listed"):
        count_visits(visits, places(), DAY)
    known = Expected(rows=2, people=2, unlisted="50%")
    counted = count_visits(visits, places(), DAY, exclude_unknown_places=True, expected=known)
    assert counted.values.tolist() == [1, 0, 0, 0, 0]
    assert (counted.rows, counted.people) == (2, 2)
    assert counted.exclusions == ("Visits to places that are not on the list are not counted.",)
    for wrong in (Expected(rows=3, unlisted="50%"), Expected(people=1, unlisted="50%")):
        with pytest.raises(BadFile, match="declared"):
            count_visits(visits, places(), DAY, exclude_unknown_places=True, expected=wrong)


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_excluded_places_do_not_count_towards_the_declared_most(engine: str) -> None:
    rows = [Stay("a", where, DAY.start, DAY.end) for where in ("bar", "home", "car", "gym")]
    visits = ENGINES[engine](table(rows))
    half = {"exclude_unknown_places": True, "expected": Expected(unlisted="50%")}
    counted = count_visits(visits, places(), DAY, max_places_per_person=2, **half)
    assert counted.most_places_per_person == 2
    with pytest.raises(BadFile, match="more places than the declared 1"):
        count_visits(visits, places(), DAY, max_places_per_person=1, **half)


@given(
    st.lists(
        st.tuples(
            people, st.sampled_from([*PLACES, None]), st.integers(-120, 60), st.sampled_from(["STAY", "MOVE"])
        ),
        min_size=1,
        max_size=15,
    )
)
@settings(max_examples=10)
def test_movement_records(rows: list[tuple[str, str | None, int, str]]) -> None:
    """Visited means STAY with a listed place; a later MOVE ends a stay at an instant."""
    seen = [
        (who, where if state == "STAY" else None, NOON.start + timedelta(minutes=by), state)
        for who, where, by, state in rows
        if where is not None or state == "MOVE"
    ]
    if not seen:
        return
    schema = {
        "uid": pl.String,
        "placeID": pl.String,
        "timestamp": pl.Datetime("us", "UTC"),
        "state": pl.String,
    }
    frame = pl.DataFrame(seen, schema=schema, orient="row")
    hold = timedelta(hours=1)
    declared = VisitFormat(columns="person=uid,place=placeID,time=timestamp", hold=hold)
    for window in (NOON, DAY):
        records = [
            (who, where or "-", at) for who, where, at, state in seen if window.instant or state == "STAY"
        ]
        truth = plain.count_sightings(records, PLACES, window, hold)
        for name, visits in everywhere(frame):
            counted = count_visits(visits, places(), window, declared, max_places_per_person=5)
            assert counted.values.tolist() == truth, name
            assert counted.exclusions == ("Only records in state STAY are counted.",)


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_text_times_are_read_or_refused(engine: str) -> None:
    rows = [Stay("a", "bar", DAY.start, DAY.end)]
    frame = table(rows).with_columns(pl.col("start", "end").dt.to_string("%Y-%m-%dT%H:%M:%SZ"))
    if engine == "duckdb":
        with pytest.raises(BadQuestion, match="are text"):
            count_visits(ENGINES[engine](frame), places(), DAY)
    else:
        assert count_visits(ENGINES[engine](frame), places(), DAY).values[0] == 1


def test_no_engine_warns_about_our_own_expressions() -> None:
    frame = table([Stay("a", "bar", DAY.start, DAY.end)])
    for name, visits in everywhere(frame):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert count_visits(visits, places(), DAY, max_places_per_person=2).values[0] == 1, name


def test_what_is_no_dataframe() -> None:
    with pytest.raises(BadQuestion, match="cannot be read from a int"):
        count_visits(7, places(), DAY)


def test_an_unknown_type_of_a_database_is_an_identifier() -> None:
    import duckdb

    connection = duckdb.connect()
    connection.register("rows", table([Stay("a", "bar", DAY.start, DAY.end)]).to_arrow())
    visits = connection.sql('select uuid() as person, place, start, "end" from rows, range(3)')
    assert count_visits(visits, places(), DAY).values[0] == 3
    assert duck is not None
