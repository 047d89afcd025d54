"""Times as real files write them: dates for starts and ends, decimals, a date and a time in two columns, the
hour that a clock repeats. Each is counted, and nobody is lost.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.visits.making import ENGINES, check_visits, count_visits, write_parquet

from safeside.errors import BadFile, BadQuestion
from safeside.visits import VisitFormat, Window, read_places
from safeside.visits.times.clocks import FloatEpoch

PLACES = read_places(["bar", "gym"])
BERLIN = "Europe/Berlin"


def saved(folder: Path, *rows: str, header: str = "person,place,start,end") -> Path:
    path = folder / "visits.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def bar(visits: Any, when: str, zone: str = BERLIN, **declared: Any) -> int:
    window, fmt = Window.parse(when, zone), VisitFormat(timezone=zone, **declared)
    assert check_visits(visits, PLACES, window, fmt).fine
    return int(count_visits(visits, PLACES, window, fmt).values[0])


# Dates


@pytest.mark.parametrize(
    ("first", "last", "layout"),
    [("2024-03-01", "2024-03-03", None), ("01.03.2024", "03.03.2024", "%d.%m.%Y")],
)
def test_a_stay_from_one_date_to_another_lasts_to_the_end_of_the_last_day(
    tmp_path: Path, first: str, last: str, layout: str | None
) -> None:
    path = saved(tmp_path, f"ana,bar,{first},{last}", f"ben,bar,{last},{last}")
    for when, people in {
        "2024-02-29": 0,
        "2024-02-29T23:59:59": 0,
        "2024-03-01T00:00:00": 1,
        "2024-03-02": 1,
        "2024-03-03T23:59:59": 2,
        "2024-03-04T00:00:00": 0,
    }.items():
        assert bar(path, when, time_format=layout) == people, when
    counted = count_visits(
        path, PLACES, Window.parse("2024-03-02", BERLIN), VisitFormat(timezone=BERLIN, time_format=layout)
    )
    assert counted.reading == (
        "A visit is a stay at the place, from its first day to its last; both count as whole local days."
    )


def test_a_date_beside_a_time_stops(tmp_path: Path) -> None:
    with pytest.raises(BadQuestion, match="in different ways"):
        bar(saved(tmp_path, "ana,bar,2024-03-01,2024-03-01T10:00:00"), "2024-03-01")
    path = saved(tmp_path, "ana,bar,2024-03-01,2024-03-01", "ana,bar,2024-03-01 10:00,2024-03-01")
    with pytest.raises(BadFile, match="Column start: a time that cannot be read"):
        count_visits(path, PLACES, Window.parse("2024-03-01", BERLIN), VisitFormat(timezone=BERLIN))


def test_a_sighting_on_a_date_is_still_no_time(tmp_path: Path) -> None:
    path = saved(tmp_path, "ana,bar,2024-03-01", header="person,place,time")
    with pytest.raises(BadQuestion, match="not written as ISO 8601"):
        bar(path, "2024-03-01", hold="1h")


# Decimals

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
HALF = "2024-03-01T12:00:00.5+00:00"


@pytest.mark.parametrize(("unit", "per"), [("s", 1), ("ms", 1000)])
def test_decimals_of_a_number_since_1970_are_read_to_the_last(tmp_path: Path, unit: str, per: int) -> None:
    whole = int(NOON.timestamp()) * per
    end = f"{whole}.500001" if unit == "s" else f"{whole + 500}.001"
    path = saved(tmp_path, f"ana,bar,{whole - per}.0,{end}", f"ben,bar,{whole - per},{whole}")
    fmt = {"zone": "UTC", "time_format": f"epoch-{unit}"}
    assert bar(path, HALF, **fmt) == 1
    assert bar(path, "2024-03-01T12:00:00.500001+00:00", **fmt) == 0
    assert bar(path, "2024-03-01T11:59:59+00:00", **fmt) == 2
    assert bar(path, "2024-03-01T11:59:58.999999+00:00", **fmt) == 0


@pytest.mark.parametrize(
    "odd", ["1709294400.0000000001", "1e9", "1709294400.", "9999999999999.5", "1,5", "nan"]
)
def test_what_is_no_such_number_stops(tmp_path: Path, odd: str) -> None:
    path = saved(
        tmp_path, "ana,bar,1709294400.5,1709294401.5", f"ben,bar,{odd},1709294401.5".replace("1,5", "1;5")
    )
    with pytest.raises(BadFile, match="Column start: a time that cannot be read"):
        count_visits(path, PLACES, Window.parse(HALF), VisitFormat(time_format="epoch-s"))


def test_decimals_that_only_come_late_stop(tmp_path: Path) -> None:
    path = saved(tmp_path, *["ana,bar,1709294400,1709294401"] * 1500, "ben,bar,1709294400.5,1709294401")
    with pytest.raises(BadFile, match="Column start: a time that cannot be read"):
        count_visits(path, PLACES, Window.parse(HALF), VisitFormat(time_format="epoch-s"))


def floats(times: list[tuple[float | None, float | None]]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "person": [f"x{number}" for number in range(len(times))],
            "place": ["bar"] * len(times),
            "start": pl.Series([start for start, _ in times], dtype=pl.Float64),
            "end": pl.Series([end for _, end in times], dtype=pl.Float64),
        }
    )


@pytest.mark.parametrize("engine", [*sorted(ENGINES), "parquet"])
def test_floating_point_seconds_are_times(engine: str, tmp_path: Path) -> None:
    at = NOON.timestamp()
    frame = floats([(at - 1, at + 0.5), (at - 1, at), (at, at + 2.25), (at + 0.1, at + 0.2)])
    visits = write_parquet(frame, tmp_path / "a.parquet") if engine == "parquet" else ENGINES[engine](frame)
    fmt = {"zone": "UTC", "time_format": "epoch-s"}
    assert bar(visits, "2024-03-01T12:00:00+00:00", **fmt) == 2
    assert bar(visits, HALF, **fmt) == 1
    assert bar(visits, "2024-03-01T12:00:00.1+00:00", **fmt) == 3
    assert bar(visits, "2024-03-01T12:00:00+00:00/PT1H", **fmt) == 3
    with pytest.raises(BadQuestion, match="are numbers"):
        count_visits(visits, PLACES, Window.parse(HALF), VisitFormat())


@pytest.mark.parametrize("written", ["1333587600.5", "1333587600"])
def test_numbers_written_as_text_are_said_to_be_numbers(tmp_path: Path, written: str) -> None:
    path = tmp_path / "visits.csv"
    path.write_text(f"person,place,start,end\nana,bar,{written},{written}\n")
    with pytest.raises(BadQuestion, match="are numbers") as refused:
        count_visits(path, PLACES, Window.parse(HALF), VisitFormat())
    assert "epoch-s" in refused.value.do


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize("gone", [None, float("nan"), float("inf")])
def test_what_is_no_number_is_missing_among_them(engine: str, gone: float | None) -> None:
    visits = ENGINES[engine](floats([(NOON.timestamp(), NOON.timestamp()), (gone, NOON.timestamp() + 1)]))
    for trust in (False, True):
        fmt = VisitFormat(time_format="epoch-s", trust_times=trust)
        with pytest.raises(BadFile, match=r"[Cc]olumn start: no start"):
            count_visits(visits, PLACES, Window.parse(HALF), fmt)


@given(
    st.integers(0, 3 * 10**15).map(lambda us: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=us)),
    st.sampled_from(["s", "ms", "us"]),
    st.sampled_from([-1, 0, 1]),
)
def test_a_time_that_was_written_as_a_moment_is_never_on_its_wrong_side(
    moment: datetime, unit: str, off: int
) -> None:
    """Whatever floating point made of it."""
    per = {"s": 10**6, "ms": 10**3, "us": 1}[unit]
    micros = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) + off
    frame = nw.from_native(pl.DataFrame({"t": [micros / per]}))
    clock, column = FloatEpoch(unit=unit), nw.col("t")
    asked = frame.select(
        before=clock.before(column, moment),
        by=clock.at_or_before(column, moment),
        after=clock.after(column, moment),
        since=clock.since(column, moment),
    ).row(0)
    truth = (off < 0, off <= 0, off > 0, off >= 0)
    assert all(said or not true for said, true in zip(asked, truth, strict=True))


# The hour that a clock repeats: Berlin's went from 03:00 back to 02:00 at 01:00 UTC.

NIGHT = [
    ("ana", "2024-10-27T02:50:00", "2024-10-27T02:10:00"),
    ("ben", "2024-10-27T02:10:00", "2024-10-27T02:50:00"),
]


def naive(rows: list[tuple[str, str, str]]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=["person", "start", "end"], orient="row")
    return frame.with_columns(pl.col("start", "end").str.to_datetime(), place=pl.lit("bar"))


@pytest.mark.parametrize("engine", [*sorted(ENGINES), "csv"])
def test_a_stay_over_the_hour_that_was_shown_twice_stops_no_window(engine: str, tmp_path: Path) -> None:
    rows = [*NIGHT, ("chi", "2024-10-25T10:00:00", "2024-10-25T11:00:00")]
    visits = (
        saved(tmp_path, *(f"{who},bar,{start},{end}" for who, start, end in rows))
        if engine == "csv"
        else ENGINES[engine](naive(rows))
    )
    assert bar(visits, "2024-10-25") == 1
    assert bar(visits, "2024-10-27") == 2
    assert bar(visits, "2024-10-27T00:55:00+00:00") == 2
    assert bar(visits, "2024-10-27T01:05:00+00:00") == 2
    assert bar(visits, "2024-10-28") == 0
    assert bar(visits, "2024-10-27T00:05:00+00:00") == 0


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2024-10-27T03:10:00", "2024-10-27T02:50:00"),
        ("2024-10-27T02:10:00", "2024-10-27T01:50:00"),
        ("2024-10-28T02:50:00", "2024-10-27T02:10:00"),
        ("2024-10-26T02:50:00", "2024-10-26T02:10:00"),
        ("2023-10-29T02:50:00", "2022-10-30T02:10:00"),
    ],
)
def test_any_other_stay_that_ends_before_it_starts_stops_every_window(start: str, end: str) -> None:
    visits = naive([("ana", start, end)])
    for when in ("2024-10-25", "2024-10-27"):
        window, fmt = Window.parse(when, BERLIN), VisitFormat(timezone=BERLIN)
        with pytest.raises(BadFile, match="ends before it starts"):
            count_visits(visits, PLACES, window, fmt)
        assert not check_visits(visits, PLACES, window, fmt).fine
        assert not check_visits(visits, PLACES, None, fmt).fine


def test_such_a_stay_is_one_of_the_places_of_a_person() -> None:
    """Also where the places of a person are counted once more, without those that are not listed."""
    rows = naive(NIGHT[:1])
    many = [rows, rows.with_columns(place=pl.lit("gym")), rows.with_columns(place=pl.lit("home 1"))]
    others = naive([(f"x{number}", NIGHT[1][1], NIGHT[1][2]) for number in range(100)])
    window, fmt = Window.parse("2024-10-27T01:05:00+00:00"), VisitFormat(timezone=BERLIN)
    visits = pl.concat([*many, others.select(many[0].columns)])
    with pytest.raises(BadFile, match="two places at the instant"):
        count_visits(visits, PLACES, window, fmt, exclude_unknown_places=True)


def test_clocks_that_never_went_back_have_no_such_hour() -> None:
    visits = naive([NIGHT[0]])
    with pytest.raises(BadFile, match="ends before it starts"):
        count_visits(
            visits, PLACES, Window.parse("2024-10-27", "Asia/Tokyo"), VisitFormat(timezone="Asia/Tokyo")
        )


def test_half_an_hour_is_shown_twice_on_lord_howe() -> None:
    """Back from 02:00 to 01:30 on 7 April 2024."""
    howe = "Australia/Lord_Howe"
    visits = naive([("ana", "2024-04-07T01:50:00", "2024-04-07T01:35:00")])
    assert bar(visits, "2024-04-07", howe) == 1
    earlier = naive([("ana", "2024-04-07T01:50:00", "2024-04-07T01:25:00")])
    with pytest.raises(BadFile, match="ends before it starts"):
        count_visits(earlier, PLACES, Window.parse("2024-04-07", howe), VisitFormat(timezone=howe))


# A date and a time of day, in two columns

APART = pl.DataFrame(
    {
        "person": ["ana", "ben", "chi"],
        "place": ["bar"] * 3,
        "date": ["2024-03-01", "2024-03-01", "2024-03-02"],
        "time": ["18:00", "23:50", "00:05"],
    }
)
KINDS = {
    "text": APART,
    "types": APART.with_columns(pl.col("date").str.to_date(), pl.col("time").str.to_time("%H:%M")),
}


@pytest.mark.parametrize(
    "engine", ["polars", "polars lazy", "pandas", "pandas on arrow", "pyarrow", "parquet"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_date_and_a_time_of_day_are_one_time(engine: str, kind: str, tmp_path: Path) -> None:
    frame = KINDS[kind]
    visits = write_parquet(frame, tmp_path / "a.parquet") if engine == "parquet" else ENGINES[engine](frame)
    for when, people in {"2024-03-01": 2, "2024-03-01T23:55": 1, "2024-03-02T00:05": 2}.items():
        assert bar(visits, when, columns="time=date+time", hold="15min") == people


def test_they_are_in_text_files_too(tmp_path: Path) -> None:
    APART.write_csv(tmp_path / "visits.csv")
    with pytest.raises(BadQuestion, match="could be read as") as refused:
        bar(tmp_path / "visits.csv", "2024-03-01", hold="15min")
    assert '"time": "DATE+TIME"' in refused.value.do
    assert bar(tmp_path / "visits.csv", "2024-03-01", columns="time=date+time", hold="15min") == 2
    german = APART.with_columns(pl.col("date").str.to_date().dt.to_string("%d.%m.%Y"))
    german.write_csv(tmp_path / "visits.csv")
    fmt = {"columns": "time = date + time", "hold": "15min", "time_format": "%d.%m.%Y %H:%M"}
    assert bar(tmp_path / "visits.csv", "2024-03-01", **fmt) == 2


def test_stays_may_share_the_date(tmp_path: Path) -> None:
    path = saved(tmp_path, "ana,bar,2024-03-01,10:00,11:00", header="person,place,day,from,until")
    assert bar(path, "2024-03-01T10:30", columns="start=day+from,end=day+until") == 1


@pytest.mark.parametrize("gone", ["date", "time"])
def test_half_a_time_stops(gone: str, tmp_path: Path) -> None:
    fmt = VisitFormat(columns="time=date+time", hold="15min", timezone=BERLIN)
    frame = APART.with_columns(pl.when(pl.col("person") != "ben").then(pl.col(gone)).alias(gone))
    frame.write_csv(tmp_path / "visits.csv")
    for visits in (frame, frame.to_pandas(), tmp_path / "visits.csv"):
        with pytest.raises(BadFile, match=r"Column date\+time"):
            count_visits(visits, PLACES, Window.parse("2024-03-01", BERLIN), fmt)


def test_databases_join_them_first() -> None:
    with pytest.raises(BadQuestion, match="duckdb dataframe are text"):
        bar(ENGINES["duckdb"](APART), "2024-03-01", columns="time=date+time", hold="15min")


def test_objects_beside_them_are_looked_at_all_the_same() -> None:
    frame = APART.to_pandas()
    frame["person"] = frame["person"].astype(object)
    frame.loc[1, "person"] = 1
    with pytest.raises(BadQuestion, match="Column person holds"):
        bar(frame, "2024-03-01", columns="time=date+time", hold="15min")
    with pytest.raises(BadQuestion, match=r"no column time \(date\+never\)"):
        bar(APART, "2024-03-01", columns="time=date+never", hold="15min")


def test_a_column_with_a_plus_in_its_name_is_that_column() -> None:
    frame = pl.DataFrame({"person": ["ana"], "place": ["bar"], "a+b": [NOON], "a": ["x"], "b": ["y"]})
    assert bar(frame, "2024-03-01", columns="time=a+b", hold="15min") == 1
