"""Many windows in one pass: on every engine what each window gives when it is counted by itself."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.visits import plain
from tests.visits.making import (
    DAY,
    ENGINES,
    PLACES,
    count_visits,
    everywhere,
    people,
    places,
    scanned,
)
from tests.visits.plain import Stay

from safeside.errors import BadFile
from safeside.visits import VisitFormat, Window, read_places
from safeside.visits.count.sorted_keys import Tuning
from safeside.visits.times.every import split

BERLIN = "Europe/Berlin"
SHORT_DAY, LONG_DAY = date(2024, 3, 31), date(2024, 10, 27)
every = st.sampled_from(["1h", "7h", "90min"])
"""Also lengths that leave a shorter window at the end."""


def hours(day: date, zone: str = BERLIN) -> tuple[Window, ...]:
    return split(Window.parse(day, zone), "1h", zone)


def near_edges(windows: tuple[Window, ...]) -> st.SearchStrategy[datetime]:
    """Moments on an edge of a window, just beside it, or somewhere around."""
    edges = [window.start for window in windows] + [windows[-1].end]
    beside = st.sampled_from([-1, 0, 1]).map(lambda us: timedelta(microseconds=us))
    around = st.integers(-9_000, 9_000).map(lambda seconds: timedelta(seconds=seconds))
    return st.builds(lambda edge, by: edge + by, st.sampled_from(edges), st.one_of(beside, around))


def drawn_stays(data: st.DataObject, windows: tuple[Window, ...], who: Any = people) -> list[Stay]:
    """Stays of no length, of less than a window, over several, from edge to edge."""
    edge = near_edges(windows)
    rows = []
    for _ in range(data.draw(st.integers(1, 20))):
        start, end = sorted((data.draw(edge), data.draw(edge)))
        end = data.draw(st.sampled_from([start, end, start + timedelta(minutes=20)]))
        rows.append(Stay(data.draw(who), data.draw(st.sampled_from(PLACES)), start, end))
    return rows


def conditions(rows: list[Stay], windows: tuple[Window, ...], zone: str | None = None) -> int:
    """The most places of one person, each once for every window."""
    there = {
        (row.person, row.place, number)
        for row in rows
        for number, window in enumerate(windows)
        if plain.touches(plain.moments(row.start, zone), plain.moments(row.end, zone), window)
    }
    return max(Counter(person for person, _, _ in there).values(), default=0)


def frame_of(rows: list[Any], *times: str) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["person", "place", *times], orient="row")


def stays_frame(rows: list[Stay]) -> pl.DataFrame:
    return frame_of([(row.person, row.place, row.start, row.end) for row in rows], "start", "end")


@given(every, st.data())
@settings(max_examples=8)
def test_stays(length: str, data: st.DataObject) -> None:
    windows = split(DAY, length)
    rows = drawn_stays(data, windows)
    truth = plain.in_each(windows, lambda window: plain.count(rows, PLACES, window))
    for name, visits in everywhere(stays_frame(rows)):
        counts = count_visits(visits, places(), windows, max_places_per_person=10**6)
        assert counts.values.tolist() == truth, name
        assert counts.most_places_per_person == conditions(rows, windows), name
        assert counts.windows == windows
        assert (counts.window.start, counts.window.end) == (DAY.start, DAY.end)


@given(every, st.data())
@settings(max_examples=20)
def test_whole_numbers_packed_or_not(length: str, data: st.DataObject) -> None:
    """Packed keys with spans, hashes that collide, and the engine's distinct agree with plain Python."""
    windows = split(DAY, length)
    numbers = ("2", "3", "5", "7", "11")
    rows = [
        Stay(row.person, numbers[PLACES.index(row.place)], row.start, row.end)
        for row in drawn_stays(data, windows, st.integers(0, 6))
    ]
    listed = read_places(list(numbers))
    truth = plain.in_each(windows, lambda window: plain.count(rows, listed.ids, window))
    frame = stays_frame(rows)
    named = frame.with_columns("v" + pl.col("person").cast(pl.String) + "x")
    for visits, tuning in (
        (frame, Tuning()),
        (frame, Tuning(batch=2, sample=3)),
        (frame, Tuning(pack=False)),
        (named, Tuning()),
        (named, Tuning(hash_bits=2)),
        (named, Tuning(pack=False)),
    ):
        for per_person in (False, True):
            tally = scanned(visits, listed, windows, tuning, per_person=per_person)
            assert tally.values.tolist() == truth
            assert tally.most_places == (conditions(rows, windows) if per_person else None)


@given(every, st.sampled_from([timedelta(0), timedelta(minutes=50), timedelta(days=2)]), st.data())
@settings(max_examples=6)
def test_sightings(length: str, hold: timedelta, data: st.DataObject) -> None:
    """Somebody who is seen at two places within the time that a sighting holds was at both."""
    windows = split(DAY, length)
    seen = st.tuples(people, st.sampled_from(PLACES), near_edges(windows))
    rows = data.draw(st.lists(seen, min_size=1, max_size=20))
    truth = plain.in_each(windows, lambda window: plain.count_sightings(rows, PLACES, window, hold))
    for name, visits in everywhere(frame_of(rows, "time")):
        assert count_visits(visits, places(), windows, VisitFormat(hold=hold)).values.tolist() == truth, name


@pytest.mark.parametrize("day", [SHORT_DAY, LONG_DAY, date(2024, 3, 3)])
@given(st.lists(st.tuples(people, st.sampled_from(PLACES), st.integers(-2, 2)), min_size=1, max_size=12))
@settings(max_examples=3)
def test_a_date_counts_in_every_hour_of_its_day(day: date, rows: list[tuple[object, str, int]]) -> None:
    """Of which there may be 23 or 25."""
    windows = split(Window.parse((day, timedelta(days=2)), BERLIN), "1h", BERLIN)
    dated = [(who, where, day + timedelta(days=by)) for who, where, by in rows]
    truth = plain.in_each(windows, lambda window: plain.count_dates(dated, PLACES, window, BERLIN))
    for name, visits in everywhere(frame_of(dated, "date")):
        counted = count_visits(visits, places(), windows, VisitFormat(timezone=BERLIN))
        assert counted.values.tolist() == truth, name


@pytest.mark.parametrize(("day", "length"), [(SHORT_DAY, 23), (LONG_DAY, 25)])
@given(st.data())
@settings(max_examples=4)
def test_naive_times_where_the_clock_jumps(day: date, length: int, data: st.DataObject) -> None:
    """A time that the clock showed twice counts in both hours; on all engines alike."""
    windows = hours(day)
    assert len(windows) == length
    zone = plain.ZoneInfo(BERLIN)
    rows = []
    for row in drawn_stays(data, windows[:6]):
        start, end = (at.astimezone(zone).replace(tzinfo=None) for at in (row.start, row.end))
        rows.append(Stay(row.person, row.place, start, max(start, end)))
    truth = plain.in_each(windows, lambda window: plain.count(rows, PLACES, window, BERLIN))
    for name, visits in everywhere(stays_frame(rows), files=False):
        counted = count_visits(visits, places(), windows, VisitFormat(timezone=BERLIN))
        assert counted.values.tolist() == truth, name


@given(every, st.data(), st.sampled_from(["epoch-s", "epoch-ms", "epoch-us"]), st.booleans())
@settings(max_examples=6)
def test_numbers_since_1970(length: str, data: st.DataObject, unit: str, whole: bool) -> None:
    windows = split(DAY, length)
    per = {"epoch-s": 1, "epoch-ms": 10**3, "epoch-us": 10**6}[unit]
    rows = [
        Stay(row.person, row.place, row.start.replace(microsecond=0), row.end.replace(microsecond=0))
        for row in drawn_stays(data, windows)
    ]
    truth = plain.in_each(windows, lambda window: plain.count(rows, PLACES, window))
    times = pl.col("start", "end").dt.epoch("s") * per
    frame = stays_frame(rows).with_columns(times if whole else times.cast(pl.Float64))
    for name, make in ENGINES.items():
        counted = count_visits(make(frame), places(), windows, VisitFormat(time_format=unit))
        assert counted.values.tolist() == truth, name


@given(st.data())
@settings(max_examples=6)
def test_fixes_within_a_radius(data: st.DataObject) -> None:
    windows = split(DAY, "5h")
    seen = st.tuples(people, st.sampled_from([35.68, 35.6804, 35.70, 35.72]), near_edges(windows))
    rows = data.draw(st.lists(seen, min_size=1, max_size=20))
    listed = read_places(
        pl.DataFrame({"place": ["a", "b"], "latitude": [35.68, 35.70], "longitude": [139.76, 139.76]})
    )
    near = {35.68: "a", 35.6804: "a", 35.70: "b", 35.72: "nowhere"}
    named = [(who, near[latitude], at) for who, latitude, at in rows]
    hold = timedelta(minutes=30)
    truth = plain.in_each(windows, lambda window: plain.count_sightings(named, ["a", "b"], window, hold))
    frame = pl.DataFrame(rows, schema=["person", "latitude", "time"], orient="row")
    for name, visits in everywhere(frame.with_columns(longitude=139.76)):
        counted = count_visits(visits, listed, windows, VisitFormat(radius=50, hold=hold))
        assert counted.values.tolist() == truth, name


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_a_doubtful_row_stops_all_windows(name: str) -> None:
    """Also one without a time, which touches no window for certain, beside rows that are fine."""
    windows = hours(LONG_DAY)
    start = windows[3].start
    frame = stays_frame([Stay("ana", "bar", start, start + timedelta(minutes=5))])
    unknown = pl.DataFrame(
        {"person": "ben", "place": "bar", "start": start, "end": None}, schema=frame.schema
    )
    with pytest.raises(BadFile, match="no end"):
        count_visits(ENGINES[name](pl.concat([frame, unknown])), places(), windows)
    before = frame.with_columns(end=pl.col("start") - timedelta(days=9))
    with pytest.raises(BadFile, match="ends before it starts"):
        count_visits(ENGINES[name](pl.concat([frame, before])), places(), windows)


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_a_place_that_is_not_listed_is_left_out_once(name: str) -> None:
    """Rows are counted, however many windows they touch."""
    windows = split(DAY, "1h")
    rows = [("ana", "bar"), ("ana", "pier"), ("ben", "pier"), ("ben", "dock")]
    frame = frame_of([(who, where, DAY.start, DAY.end) for who, where in rows], "start", "end")
    seen = []
    counts = count_visits(
        ENGINES[name](frame),
        places(),
        windows,
        exclude_unknown_places=True,
        confirm=lambda left_out: bool(seen.append(left_out)) or True,
    )
    assert [(each.rows, each.of_rows, each.people, each.places) for each in seen] == [(3, 4, 2, 2)]
    assert counts.values.tolist() == [1, 0, 0, 0, 0] * 24
    with pytest.raises(BadFile, match="2 places are visited and not listed"):
        count_visits(ENGINES[name](frame), places(), windows)
