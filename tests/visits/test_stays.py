"""Stay detection: leaves out what is in no stay, and nothing else; says so."""

from __future__ import annotations

from datetime import timedelta

import polars as pl
import pytest
from tests.visits.making import DAY, NOON

from safeside.errors import BadFile, BadQuestion
from safeside.visits import StayRule, VisitFormat, Window, count_visits, read_places

PLACES = read_places(
    pl.DataFrame({"place": ["a", "b"], "latitude": [35.68, 35.70], "longitude": [139.76, 139.76]})
)
RULE = VisitFormat(radius=50, at_least=StayRule(minutes=10, metres=100))


def walk(person: str, *stops: tuple[float, int, int]) -> list[tuple[str, float, float, object]]:
    """A fix every two minutes: at a latitude, from one minute to another."""
    return [
        (person, latitude, 139.76, NOON.start + timedelta(minutes=minute))
        for latitude, first, last in stops
        for minute in range(first, last + 1, 2)
    ]


def visits(*walks: list[tuple[str, float, float, object]]) -> pl.DataFrame:
    rows = [row for one in walks for row in one]
    return pl.DataFrame(rows, schema=["person", "latitude", "longitude", "time"], orient="row")


def test_short_stays_are_left_out_and_the_answer_says_so() -> None:
    frame = visits(
        walk("long", (35.68, 0, 20), (35.69, 22, 40)), walk("short", (35.68, 0, 6), (35.69, 8, 40))
    )
    counted = count_visits(frame, PLACES, DAY, RULE)
    assert counted.values.tolist() == [1, 0]
    assert counted.exclusions == (
        "Only stays of at least 10 minutes within 100 m, as trackintel's sliding method finds them,"
        " are counted.",
    )
    everything = count_visits(frame, PLACES, DAY, VisitFormat(radius=50, hold="0s"))
    assert everything.values.tolist() == [2, 0]


def test_the_last_stay_of_a_person_and_gaps_are_kept() -> None:
    frame = visits(
        walk("last", (35.69, -30, -4), (35.68, 0, 20)), walk("silent", (35.70, 0, 0), (35.70, 300, 300))
    )
    assert count_visits(frame, PLACES, DAY, RULE).values.tolist() == [1, 1]


def test_a_stay_lasts_from_its_first_fix_until_the_next_one_elsewhere() -> None:
    frame = visits(walk("x", (35.68, 0, 20), (35.70, 30, 50)))
    at = [Window.parse((NOON.start + timedelta(minutes=minute)).isoformat()) for minute in (0, 25, 30, 49)]
    counts = [count_visits(frame, PLACES, window, RULE).values.tolist() for window in at]
    assert counts == [[1, 0], [1, 0], [0, 1], [0, 1]]


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "America/New_York"])
def test_whoever_is_last_seen_at_the_moment_asked_about_is_there(zone: str) -> None:
    frame = visits(walk("x", (35.68, 0, 20))).with_columns(pl.col("time").dt.convert_time_zone(zone))
    for fine in (frame, frame.with_columns(pl.col("time").dt.cast_time_unit("ns").dt.offset_by("300ns"))):
        at = [Window.parse((NOON.start + timedelta(minutes=minute)).isoformat()) for minute in (20, 21)]
        counts = [count_visits(fine, PLACES, window, RULE).values.tolist() for window in at]
        assert counts == [[1, 0], [0, 0]]


def test_records_of_movement_take_no_part() -> None:
    """They are left out, as the answer says, and need no coordinates."""
    frame = visits(walk("x", (35.68, 0, 20)), walk("y", (35.70, 0, 4), (35.70, 8, 20)))
    moving = (pl.col("person") == "y") & (pl.col("time") > NOON.start + timedelta(minutes=7))
    states = frame.with_columns(state=pl.when(moving).then(pl.lit("MOVE")).otherwise(pl.lit("STAY")))
    unseen = pl.when(~moving).then(pl.col("latitude")).alias("latitude")
    for each in (states, states.with_columns(unseen)):
        counted = count_visits(each, PLACES, DAY, RULE)
        assert counted.values.tolist() == [1, 0]
        assert "Only records in state STAY are counted." in counted.exclusions


def test_several_people_under_one_word_are_not_taken_for_one_who_never_stays() -> None:
    both = [walk("NULL", (35.68, 0, 20)), walk("NULL", (35.70, 1, 21))]
    with pytest.raises(BadFile, match="a word for a missing value"):
        count_visits(visits(*both), PLACES, DAY, RULE)


def test_nobody_stays() -> None:
    assert count_visits(visits(walk("x", (35.68, 0, 2))), PLACES, DAY, RULE).values.tolist() == [0, 0]


def test_what_cannot_be_asked() -> None:
    frame = visits(walk("x", (35.68, 0, 20)))
    with pytest.raises(BadQuestion, match="without a holding time"):
        count_visits(frame, PLACES, DAY, VisitFormat(radius=50, hold="1h", at_least=StayRule(minutes=5)))
    named = frame.with_columns(place=pl.lit("a")).drop("latitude", "longitude")
    with pytest.raises(BadQuestion, match="detected from coordinates"):
        count_visits(named, PLACES, DAY, VisitFormat(at_least=StayRule(minutes=5)))
    naive = frame.with_columns(pl.col("time").dt.replace_time_zone(None))
    declared = VisitFormat(radius=50, at_least=StayRule(minutes=5), timezone="Asia/Tokyo")
    with pytest.raises(BadQuestion, match="times with a zone"):
        count_visits(naive, PLACES, DAY, declared)
    for minutes, metres in ((0, 100.0), (5, 0.0), (5, 20_000.0)):
        with pytest.raises(BadQuestion, match="Stay detection needs"):
            StayRule(minutes=minutes, metres=metres)
