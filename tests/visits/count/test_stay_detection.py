"""Stay detection: leaves out what is in no stay, and nothing else; says so."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby, islice, pairwise, permutations, product
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.visits.making import DAY, NOON, count_visits

from safeside.errors import BadFile, BadQuestion
from safeside.visits import StayRule, VisitFormat, Window, read_places

PLACES = read_places(
    pl.DataFrame({"place": ["a", "b"], "latitude": [35.68, 35.70], "longitude": [139.76, 139.76]})
)
RULE = VisitFormat(radius=50, stay_rule=StayRule(minutes=10, metres=200, longest_gap="1h"))


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
        "Only stays of at least 10 minutes are counted: fixes at most 200 m from one another, without a "
        "silence of more than 1 hour; of a longer stay, the fixes up to 1 hour and 10 minutes before and "
        "after the time asked about.",
    )
    everything = count_visits(frame, PLACES, DAY, VisitFormat(radius=50, hold="0s"))
    assert everything.values.tolist() == [2, 0]


def test_the_last_stay_of_a_person_and_silence_as_declared_are_kept() -> None:
    frame = visits(
        walk("last", (35.69, -30, -4), (35.68, 0, 20)), walk("silent", (35.70, 0, 0), (35.70, 60, 60))
    )
    assert count_visits(frame, PLACES, DAY, RULE).values.tolist() == [1, 1]


def test_a_longer_silence_ends_a_stay_at_its_last_fix_whose_length_counts() -> None:
    """Two fixes and four days of silence were one stay of four days."""
    silent = visits(walk("x", (35.68, 0, 0), (35.68, 61, 61)))
    assert count_visits(silent, PLACES, DAY, RULE).values.tolist() == [0, 0]
    before = visits(walk("x", (35.68, 0, 20), (35.68, 6_000, 6_000)))
    assert count_visits(before, PLACES, DAY, RULE).values.tolist() == [1, 0]
    later = Window.parse((NOON.start + timedelta(days=2)).isoformat())
    assert count_visits(before, PLACES, later, RULE).values.tolist() == [0, 0]


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
    with pytest.raises(BadFile, match="a word or a number for a missing value"):
        count_visits(visits(*both), PLACES, DAY, RULE)


def test_nobody_stays() -> None:
    assert count_visits(visits(walk("x", (35.68, 0, 2))), PLACES, DAY, RULE).values.tolist() == [0, 0]


def test_what_cannot_be_asked() -> None:
    frame = visits(walk("x", (35.68, 0, 20)))
    with pytest.raises(BadQuestion, match="without a holding time"):
        count_visits(
            frame,
            PLACES,
            DAY,
            VisitFormat(radius=50, hold="1h", stay_rule=StayRule(minutes=5, longest_gap="1h")),
        )
    named = frame.with_columns(place=pl.lit("a")).drop("latitude", "longitude")
    with pytest.raises(BadQuestion, match="detected from coordinates"):
        count_visits(named, PLACES, DAY, VisitFormat(stay_rule=StayRule(minutes=5, longest_gap="1h")))
    naive = frame.with_columns(pl.col("time").dt.replace_time_zone(None))
    declared = VisitFormat(radius=50, stay_rule=StayRule(minutes=5, longest_gap="1h"), timezone="Asia/Tokyo")
    with pytest.raises(BadQuestion, match="times with a zone"):
        count_visits(naive, PLACES, DAY, declared)
    for minutes, metres in ((0, 100.0), (5, 0.0), (5, 20_000.0)):
        with pytest.raises(BadQuestion, match="Stay detection needs"):
            StayRule(minutes=minutes, metres=metres, longest_gap="1h")
    for gap in ("0s", "13h", timedelta(days=7)):
        with pytest.raises(BadQuestion, match="longer than 12 hours"):
            StayRule(minutes=5, longest_gap=gap)


STEP = 0.0009
"""Degrees of latitude: about 100 m."""
moves = st.lists(st.tuples(st.integers(1, 40), st.integers(-2, 2)), min_size=1, max_size=12)


def wandering(given: list[tuple[int, int]]) -> list[tuple[datetime, float]]:
    """A fix so many minutes after the last, so many steps from the first place."""
    when, found = NOON.start - timedelta(minutes=120), []
    for minutes, steps in given:
        when += timedelta(minutes=minutes)
        found.append((when, 35.68 + steps * STEP))
    return found


def by_hand(fixes: list[tuple[datetime, float]], window: Window, rule: StayRule) -> bool:
    """Whether some run, of all that there are, is a stay in the window with a fix at the first place."""
    near = [window.start - rule.reach <= when <= window.end + rule.reach for when, _ in fixes]
    for first in range(len(fixes)):
        for last in range(first, len(fixes)):
            times, north = zip(*fixes[first : last + 1], strict=True)
            silent = any(later - earlier > rule.silence for earlier, later in pairwise(times))
            if silent or (max(north) - min(north)) / STEP > 2.5:
                continue
            after = fixes[last + 1][0] if last + 1 < len(fixes) else None
            followed = after is not None and after - times[-1] <= rule.silence
            end = after if followed and after is not None else times[-1]
            touches = times[0] <= window.end and (end > window.start or (times[-1] >= window.start))
            there = any(
                abs(at - 35.68) < STEP / 4 and near[first + number] for number, at in enumerate(north)
            )
            if end - times[0] >= timedelta(minutes=rule.minutes) and touches and there:
                return True
    return False


@given(moves)
def test_looking_near_the_window_finds_every_stay_there_is(given: list[tuple[int, int]]) -> None:
    rule = StayRule(minutes=15, metres=250, longest_gap="30min")
    fixes = wandering(given)
    frame = pl.DataFrame(
        {
            "person": "x",
            "latitude": [at for _, at in fixes],
            "longitude": 139.76,
            "time": [t for t, _ in fixes],
        }
    )
    counted = count_visits(frame, PLACES, NOON, VisitFormat(radius=20, stay_rule=rule))
    assert bool(counted.values[0]) == by_hand(fixes, NOON, rule)


def orders(fixes: list[tuple[datetime, float]]) -> Iterator[list[tuple[datetime, float]]]:
    """Every order of fixes in which none comes before one of an earlier moment."""
    moments = [list(some) for _, some in groupby(fixes, key=lambda fix: fix[0])]
    for each in product(*map(permutations, moments)):
        yield [fix for moment in each for fix in moment]


tied = st.lists(st.tuples(st.sampled_from([0, 0, 8, 25]), st.integers(-2, 2)), min_size=1, max_size=7)


@given(tied, st.randoms(use_true_random=False))
def test_fixes_at_one_moment_count_as_in_any_order_of_them(
    given: list[tuple[int, int]], random: Random
) -> None:
    rule = StayRule(minutes=15, metres=250, longest_gap="30min")
    fixes = wandering([(110, 2), *given])
    every = [by_hand(order, NOON, rule) for order in islice(orders(fixes), 500)]
    counts = set()
    for _ in range(3):
        random.shuffle(fixes)
        rows = [("x", at, 139.76, when) for when, at in fixes]
        counted = count_visits(visits(rows), PLACES, NOON, VisitFormat(radius=20, stay_rule=rule))
        counts.add(int(counted.values[0]))
    assert len(counts) == 1
    assert counts == {1} or not any(every)


def test_somebody_at_two_places_at_one_moment_counts_at_both() -> None:
    """Which of the two came first is not known: either order alone would leave one of them out."""
    one = [(35.68, 0, 0), (35.68, 8, 8), (35.70, 8, 8), (35.68, 44, 44)]
    for order in (one, [one[0], one[2], one[1], one[3]]):
        assert count_visits(visits(walk("ben", *order)), PLACES, DAY, RULE).values.tolist() == [1, 1]


def by_trackintel(frame: pl.DataFrame, minutes: int, metres: float) -> Any:
    """Stays by the sliding method: within so many metres of the first fix."""
    import geopandas
    import trackintel

    points = geopandas.GeoDataFrame(
        {"user_id": 0, "tracked_at": frame["time"].to_pandas()},
        geometry=geopandas.points_from_xy(frame["longitude"].to_numpy(), frame["latitude"].to_numpy()),
        crs="EPSG:4326",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, found = trackintel.Positionfixes(points).generate_staypoints(
            method="sliding",
            dist_threshold=metres,
            time_threshold=float(minutes),
            gap_threshold=10.0**7,
            include_last=True,
            exclude_duplicate_pfs=False,
        )
    return found


def test_every_stay_that_a_published_method_finds_within_half_the_distance_is_counted() -> None:
    rule = StayRule(minutes=15, metres=250, longest_gap="1h")
    somewhere = read_places(pl.DataFrame({"place": ["a"], "latitude": [35.68], "longitude": [139.76]}))
    stays = 0
    for seed in range(40):
        fixes = wandering([(1 + seed * step % 29, (seed // (1 + step % 3)) % 2) for step in range(1, 12)])
        frame = pl.DataFrame(
            {
                "person": "x",
                "latitude": [at for _, at in fixes],
                "longitude": 139.76,
                "time": [t for t, _ in fixes],
            }
        )
        for stay in by_trackintel(frame, rule.minutes, rule.metres / 2).itertuples():
            window = Window.parse(f"{stay.started_at.isoformat()}/{stay.finished_at.isoformat()}")
            counted = count_visits(frame, somewhere, window, VisitFormat(radius=250, stay_rule=rule))
            assert counted.values.tolist() == [1]
            stays += 1
    assert stays > 20


def test_a_stay_of_exactly_the_declared_length_counts() -> None:
    frame = visits(walk("exact", (35.68, 0, 8), (35.69, 10, 12)))
    assert count_visits(frame, PLACES, DAY, RULE).values.tolist() == [1, 0]
