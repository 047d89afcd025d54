"""A budget for each day: what may be asked keeps the promise for every single day, by enumeration.

Small universes of one person's records are counted with the code that counts for a release. Dropping what the
person did on one day must lower every count or leave it, and must leave it where that day is not charged: any
other pair of datasets has a larger ratio than was paid for, most of them an infinite one.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import product
from pathlib import Path

import polars as pl
import pytest
from tests.faults.publishing import CAP, World
from tests.visits.making import count_visits

from safeside.errors import BadQuestion
from safeside.ledger import Ledger, open_ledger
from safeside.ledger.witness import STATE_VARIABLE
from safeside.releases.rules import charged_periods
from safeside.visits import StayRule, VisitFormat, Window, read_places

PLACES = read_places(["a", "b"])
BEFORE, TODAY = date(2021, 6, 2), date(2021, 6, 3)
SEEN = [datetime(2021, 6, day, *time, tzinfo=UTC) for day, time in ((2, (23, 55)), (3, (0, 0)), (3, (0, 10)))]
HELD = VisitFormat(hold="15min")
INSTANTS = [
    datetime(2021, 6, day, *time, tzinfo=UTC)
    for day, time in ((2, (23, 58)), (3, (0, 0)), (3, (0, 2)), (3, (0, 12)), (3, (0, 15)), (3, (12, 0)))
]
Record = tuple[str | None, ...]
"""Where the person was at each moment somebody may have seen them; None where nobody did."""
RECORDS: list[Record] = list(product((None, "a", "b"), repeat=len(SEEN)))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    made = World.made(tmp_path)
    with open_ledger(made.home / "ledger.db") as ledger:
        ledger.create_dataset("days", "person-day", CAP, timezone="UTC")
        ledger.create_dataset("weeks", "person-week", CAP, timezone="UTC")
    return made


def at(moment: datetime) -> Window:
    return Window.parse(moment.isoformat())


@cache
def counted(record: Record, window: Window) -> tuple[int, ...]:
    rows = [{"person": "x", "place": place, "time": time} for place, time in zip(record, SEEN, strict=True)]
    frame = pl.DataFrame(
        [row for row in rows if row["place"] is not None],
        schema={"person": pl.String, "place": pl.String, "time": pl.Datetime("us", "UTC")},
    )
    if frame.is_empty():
        return (0, 0)
    return tuple(count_visits(frame, PLACES, window, HELD).values.tolist())


def without(record: Record, day: date) -> Record:
    return tuple(None if time.date() == day else at for at, time in zip(record, SEEN, strict=True))


def broken(window: Window, charged: tuple[str, ...]) -> Iterator[tuple[Record, date]]:
    """Every record and day for which the sentence is not true, if these days are charged."""
    for record, day in product(RECORDS, (BEFORE, TODAY)):
        here, there = counted(record, window), counted(without(record, day), window)
        changed = [more - less for more, less in zip(here, there, strict=True)]
        if min(changed) < 0 or sum(changed) > (day.isoformat() in charged):
            yield record, day


def accepted(ledger: Ledger, window: Window) -> tuple[str, ...] | None:
    try:
        return charged_periods(ledger, "days", window, HELD)
    except BadQuestion:
        return None


def test_at_every_instant_that_may_be_asked_about_the_promise_for_each_day_holds(world: World) -> None:
    with open_ledger(world.home / "ledger.db") as ledger:
        charged = {moment: accepted(ledger, at(moment)) for moment in INSTANTS}
    assert [days is not None for days in charged.values()] == [True, False, False, False, True, True]
    for moment, days in charged.items():
        if days is not None:
            assert days == (moment.date().isoformat(),)
            assert not list(broken(at(moment), days))


def test_where_two_days_hold_a_charge_to_both_would_not_keep_it() -> None:
    """The rule there was: an instant shortly after midnight, charged to both days."""
    both = (BEFORE.isoformat(), TODAY.isoformat())
    moved = list(broken(at(INSTANTS[2]), both))
    assert (("a", "b", None), TODAY) in moved, "without today's sighting they are where they were yesterday"


def test_over_an_interval_a_held_sighting_only_ever_adds_and_both_days_pay(world: World) -> None:
    window = Window.parse("2021-06-03T00:02:00+00:00/PT10M")
    with open_ledger(world.home / "ledger.db") as ledger:
        charged = accepted(ledger, window)
    assert charged == (BEFORE.isoformat(), TODAY.isoformat())
    for record, day in product(RECORDS, (BEFORE, TODAY)):
        here, there = counted(record, window), counted(without(record, day), window)
        assert all(more >= less for more, less in zip(here, there, strict=True))


@pytest.mark.parametrize(("dataset", "word"), [("days", "day"), ("weeks", "week")])
def test_an_instant_within_the_holding_time_of_a_border_is_refused_unpaid(
    world: World, dataset: str, word: str
) -> None:
    monday = "2021-06-07T00:02:00+00:00"
    with pytest.raises(BadQuestion, match=f"sightings of the {word} before still hold"):
        world.publish("counts", dataset=dataset, when=monday, hold="15min")
    with open_ledger(world.home / "ledger.db") as ledger:
        assert not ledger.reservations()


def test_where_one_budget_covers_a_person_for_ever_no_border_stops_anything(world: World) -> None:
    seen = datetime(2021, 6, 6, 23, 59, tzinfo=UTC)
    pl.DataFrame({"person": ["n"], "place": ["p00"], "time": [seen]}).write_parquet(
        world.home / "visits.parquet"
    )
    when = (seen + timedelta(minutes=3)).isoformat()
    assert world.publish("counts", when=when, hold="15min").answers


VENUE = read_places(pl.DataFrame({"place": ["a"], "latitude": [35.68], "longitude": [139.76]}))
NORTH = {"at": 35.68, "near": 35.6815, "far": 35.70}
"""At the venue; where one cannot be counted there, though a stay may be; and elsewhere."""
FIXES = [
    datetime(2021, 6, day, *time, tzinfo=UTC)
    for day, time in ((2, (23, 30)), (2, (23, 50)), (3, (0, 5)), (3, (0, 30)))
]
FOUND = VisitFormat(radius=50, stay_rule=StayRule(minutes=20, metres=200, longest_gap="30min"))


def stayed(record: Record, window: Window, declared: VisitFormat, times: list[datetime]) -> int:
    rows = [(NORTH[at], time) for at, time in zip(record, times, strict=True) if at is not None]
    if not rows:
        return 0
    frame = pl.DataFrame({"latitude": [at for at, _ in rows], "time": [time for _, time in rows]})
    fixes = frame.with_columns(person=pl.lit("x"), longitude=pl.lit(139.76))
    return int(count_visits(fixes, VENUE, window, declared).values[0])


@pytest.mark.parametrize(
    "when",
    ["2021-06-02T23:00:00+00:00/PT1H", "2021-06-03T00:00:00+00:00/PT6M", "2021-06-03T00:02:00+00:00"],
)
def test_stays_found_in_fixes_keep_the_promise_for_each_day_they_look_at(world: World, when: str) -> None:
    window = Window.parse(when)
    with open_ledger(world.home / "ledger.db") as ledger:
        charged = charged_periods(ledger, "days", window, FOUND)
    assert charged == (BEFORE.isoformat(), TODAY.isoformat())
    records = list(product((None, *NORTH), repeat=len(FIXES)))
    counts = {record: stayed(record, window, FOUND, FIXES) for record in records}
    assert 0 < sum(counts.values()) < len(counts)
    for record, day in product(records, (BEFORE, TODAY)):
        rest = tuple(None if time.date() == day else at for at, time in zip(record, FIXES, strict=True))
        assert counts[record] >= counts[rest], "dropping a day made a stay"


def test_every_day_that_stay_detection_looks_at_is_charged(world: World) -> None:
    minute = timedelta(minutes=1)
    borders = {"2021-06-03T00:49:00+00:00": 2, "2021-06-03T00:50:00+00:00": 1, "2021-06-03T23:10:00+00:00": 2}
    with open_ledger(world.home / "ledger.db") as ledger:
        for when, days in borders.items():
            assert len(charged_periods(ledger, "days", Window.parse(when), FOUND)) == days
        before = Window.parse((datetime.fromisoformat("2021-06-03T23:10:00+00:00") - minute).isoformat())
        assert charged_periods(ledger, "days", before, FOUND) == (TODAY.isoformat(),)
        # What is seen exactly so long after an interval is looked at, too.
        for end, days in (("23:09", 1), ("23:10", 2)):
            hour = Window.parse(f"2021-06-03T22:00:00+00:00/2021-06-03T{end}:00+00:00")
            assert len(charged_periods(ledger, "days", hour, FOUND)) == days


def test_with_no_end_of_silence_a_day_that_is_not_charged_would_decide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The rule there was: two fixes and four days of silence, asked about on the day between them."""
    monkeypatch.setattr("safeside.visits.read.format.LONGEST_GAP", timedelta(days=40))
    silent = VisitFormat(radius=50, stay_rule=StayRule(minutes=20, metres=200, longest_gap="30d"))
    times = [datetime(2021, 6, day, 12, tzinfo=UTC) for day in (1, 5)]
    between = Window.parse("2021-06-03T00:00:00+00:00/P1D")
    both: Record = ("at", "at")
    assert stayed(both, between, silent, times) == 1
    assert stayed((None, "at"), between, silent, times) == 0, "the first of June decides about the third"
    assert stayed(both, between, FOUND, times) == 0


def test_a_date_in_another_time_zone_is_charged_to_every_day_it_may_have_been(world: World) -> None:
    """A date counts at every moment of its day in Tokyo, which is part of two days in London."""
    morning = Window.parse("2021-06-03T05:00:00+09:00")
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.create_dataset("tokyo", "person-day", CAP, timezone="Asia/Tokyo")
        dated = VisitFormat(timezone="Asia/Tokyo")
        assert charged_periods(ledger, "days", morning, dated) == (BEFORE.isoformat(), TODAY.isoformat())
        assert charged_periods(ledger, "tokyo", morning, dated) == (TODAY.isoformat(),)
