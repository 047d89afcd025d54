"""Many windows in one pass: what is asked of the whole interval, and the farthest times that a type holds."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.visits import plain
from tests.visits.making import DAY, NOON, check_visits, count_visits, places

from safeside import visits as real
from safeside.errors import BadFile
from safeside.visits import Expected, StayRule, VisitFormat, Window, read_places, split
from safeside.visits.count.stay_detection import detect_stays

BERLIN = "Europe/Berlin"
HOURS = split(DAY, "1h")
POINTS = read_places(
    pl.DataFrame({"place": ["a", "b"], "latitude": [35.68, 35.70], "longitude": [139.76, 139.76]})
)
RULE = StayRule(minutes=10, metres=200, longest_gap="1h")
LAST = 2**63 - 1
KEY = b"a key of this test"


def stay(person: str, place: str, start: datetime, end: datetime) -> pl.DataFrame:
    return pl.DataFrame({"person": [person], "place": [place], "start": [start], "end": [end]})


@pytest.mark.parametrize("minutes", [0, 1, 59, 90])
def test_a_sighting_counts_in_every_window_that_it_is_held_into(minutes: int) -> None:
    """An hour and a half after it, and at its very end, but not a microsecond later."""
    seen = NOON.start + timedelta(minutes=minutes)
    frame = pl.DataFrame({"person": ["ana"], "place": ["bar"], "time": [seen]})
    counts = count_visits(frame, read_places(["bar"]), HOURS, VisitFormat(hold="90 min"))
    held = [window.start <= seen + timedelta(minutes=90) and seen < window.end for window in HOURS]
    assert counts.values.tolist() == held


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ana", "ben"]),
            st.sampled_from([35.68, 35.681, 35.70]),
            st.integers(-800, 800).map(lambda minutes: NOON.start + timedelta(minutes=minutes)),
        ),
        min_size=1,
        max_size=30,
    )
)
@settings(max_examples=15)
def test_stays_found_in_fixes_are_those_of_the_whole_interval(
    rows: list[tuple[str, float, datetime]],
) -> None:
    """Each counts in every window it touches, at every place of its fixes."""
    frame = pl.DataFrame(rows, schema=["person", "latitude", "time"], orient="row").with_columns(
        longitude=139.76
    )
    near = frame.filter(pl.col("time").is_between(DAY.start - RULE.reach, DAY.end + RULE.reach))
    found = [
        plain.Stay(row["person"], {35.68: "a", 35.70: "b"}[row["latitude"]], row["start"], row["end"])
        for row in detect_stays(near, RULE).iter_rows(named=True)
        if row["latitude"] != 35.681
    ]
    truth = plain.in_each(HOURS, lambda window: plain.count(found, POINTS.ids, window))
    counts = count_visits(frame, POINTS, HOURS, VisitFormat(radius=50, stay_rule=RULE))
    assert counts.values.tolist() == truth
    alone = [count_visits(frame, POINTS, hour, VisitFormat(radius=50, stay_rule=RULE)) for hour in HOURS]
    each = [people for one in alone for people in one.values.tolist()]
    assert all(together >= single for together, single in zip(truth, each, strict=True))


def test_a_time_that_the_clock_skipped_stops_windows_anywhere_around_it() -> None:
    """It may be in one of two hours, also in the middle of a week."""
    week = Window.parse((date(2024, 3, 25), timedelta(days=14)), BERLIN)
    fmt = VisitFormat(timezone=BERLIN)
    skipped = stay("ana", "bar", datetime(2024, 3, 31, 2, 30), datetime(2024, 3, 31, 5))
    with pytest.raises(BadFile, match="a local time that the clock skipped"):
        count_visits(skipped, places(), split(week, "1h", BERLIN), fmt)
    assert not check_visits(skipped, places(), split(week, "1h", BERLIN), fmt).fine


@pytest.mark.parametrize("unit", ["us", "ns"])
def test_the_farthest_times_touch_all_windows(unit: str) -> None:
    """A stay from the first to the last moment that a type can hold, if somebody says that it is right."""
    frame = pl.DataFrame({"person": ["ana", "ben"], "place": ["bar", "gym"]}).with_columns(
        start=pl.Series([-LAST, -LAST]).cast(pl.Datetime(unit, "UTC")),
        end=pl.Series([LAST, LAST]).cast(pl.Datetime(unit, "UTC")),
    )
    counts = count_visits(frame, places(), HOURS, VisitFormat(trust_times=True))
    assert counts.values.tolist() == [1, 0, 1, 0, 0] * 24
    numbers = frame.with_columns(pl.col("start", "end").cast(pl.Int64))
    fmt = VisitFormat(trust_times=True, time_format=f"epoch-{unit}")
    assert count_visits(numbers, places(), HOURS, fmt).values.tolist() == [1, 0, 1, 0, 0] * 24


def test_the_whole_interval_has_to_be_covered() -> None:
    """And nobody in one of the windows is an answer."""
    frame = stay("ana", "bar", DAY.start, DAY.start + timedelta(minutes=5))
    counts = count_visits(frame, places(), HOURS)
    assert counts.values.tolist() == [1, 0, 0, 0, 0] + [0] * 115
    less = Expected(covers=(DAY.start, DAY.end - timedelta(hours=1)))
    with pytest.raises(BadFile, match="declared to cover less"):
        real.count_visits(frame, places(), HOURS, expected=less)
    with pytest.raises(BadFile, match="Nothing shows that the visits cover"):
        real.count_visits(frame, places(), HOURS)
    assert check_visits(frame, places(), HOURS).fine
    assert not check_visits(frame, places(), HOURS, expected=less).fine


def test_row_groups_are_skipped_for_many_windows_too(tmp_path: Path) -> None:
    start = datetime(2024, 2, 20, tzinfo=UTC)
    frame = pl.DataFrame(
        {
            "person": [number % 37 for number in range(2_000)],
            "place": ["bar" if number % 3 else "gym" for number in range(2_000)],
            "start": [start + timedelta(minutes=15 * number) for number in range(2_000)],
        }
    ).with_columns(end=pl.col("start") + timedelta(minutes=80))
    frame.write_parquet(tmp_path / "visits.parquet", row_group_size=100)
    rows = [plain.Stay(*row) for row in frame.rows()]
    truth = plain.in_each(HOURS, lambda window: plain.count(rows, places().ids, window))
    for _ in range(2):
        counts = count_visits(
            tmp_path / "visits.parquet", places(), HOURS, key=KEY, remember=tmp_path / "notes"
        )
        assert counts.values.tolist() == truth
    assert list((tmp_path / "notes").iterdir())


def test_the_fingerprint_of_a_dataframe_tells_windows_apart() -> None:
    """Of the same numbers in other windows it is another."""
    frame = stay("ana", "bar", DAY.start, DAY.end)
    of = {
        len(windows): count_visits(frame, places(), windows, key=KEY).fingerprint
        for windows in (split(DAY, "12h"), split(DAY, "6h"), split(DAY, "1h"), (DAY,))
    }
    assert len(set(of.values())) == 4
    assert count_visits(frame, places(), DAY, key=KEY).fingerprint == of[1]
