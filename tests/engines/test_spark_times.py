"""Times as real data have them, on Spark: floating-point seconds, and the hour that a clock repeats."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.spark import Cluster
from tests.visits import plain
from tests.visits.making import count_visits, table
from tests.visits.times.test_real_times import BERLIN, HALF, NIGHT, NOON, PLACES, bar, floats

from safeside.errors import BadFile
from safeside.visits import VisitFormat, Window
from safeside.visits.times.every import split

pytestmark = pytest.mark.xdist_group("spark")


def naive(cluster: Cluster, rows: list[tuple[str, str, str]]) -> Any:
    text = cluster.session.createDataFrame(rows, "person string, start string, end string")
    times = ("cast(start as timestamp_ntz) as start", "cast(end as timestamp_ntz) as end")
    return text.selectExpr("person", "'bar' as place", *times)


def test_floating_point_seconds_are_times_on_spark(cluster: Cluster) -> None:
    at = NOON.timestamp()
    visits = cluster.session.createDataFrame(
        floats([(at - 1, at + 0.5), (at - 1, at), (at, at + 2.25), (at + 0.1, at + 0.2)]).to_arrow()
    )
    fmt = {"zone": "UTC", "time_format": "epoch-s"}
    assert bar(visits, "2024-03-01T12:00:00+00:00", **fmt) == 2
    assert bar(visits, HALF, **fmt) == 1
    assert bar(visits, "2024-03-01T12:00:00.1+00:00", **fmt) == 3
    gone = cluster.session.createDataFrame([("ana", "bar", float("nan"), at)], visits.schema)
    declared = VisitFormat(time_format="epoch-s", trust_times=True)
    with pytest.raises(BadFile, match=r"[Cc]olumn start: no start"):
        count_visits(gone, PLACES, Window.parse(HALF), declared)


def test_an_hour_that_was_shown_twice_stops_no_window_on_spark(cluster: Cluster) -> None:
    visits = naive(cluster, NIGHT)
    assert bar(visits, "2024-10-27") == 2
    assert bar(visits, "2024-10-28") == 0
    wrong = naive(cluster, [("ana", "2024-10-26T02:50:00", "2024-10-26T02:10:00")])
    with pytest.raises(BadFile, match="ends before it starts"):
        count_visits(wrong, PLACES, Window.parse("2024-10-28", BERLIN), VisitFormat(timezone=BERLIN))


def test_many_windows_are_one_pass_on_spark(cluster: Cluster) -> None:
    """Hours of a day that has 25: zoned times, naive ones, dates, and the same integers as plain Python."""
    day = Window.parse("2024-10-27", BERLIN)
    windows = split(day, "1h", BERLIN)
    edges = [window.start for window in windows]
    people = [f"p{number % 7}" for number in range(40)]
    starts = [edges[number % 25] + timedelta(minutes=number % 3 * 20) for number in range(40)]
    rows = [
        plain.Stay(person, "bar", start, start + timedelta(minutes=number % 5 * 45))
        for number, (person, start) in enumerate(zip(people, starts, strict=True))
    ]
    zoned = cluster.session.createDataFrame(table(rows).to_arrow())
    counts = count_visits(zoned, PLACES, windows, max_places_per_person=1_000)
    truth = plain.in_each(windows, lambda window: plain.count(rows, PLACES.ids, window))
    assert counts.values.tolist() == truth
    assert (
        counts.most_places_per_person
        == count_visits(table(rows), PLACES, windows, max_places_per_person=1_000).most_places_per_person
    )
    local = [
        plain.Stay(row.person, row.place, *(_shown(at) for at in (row.start, max(row.start, row.end))))
        for row in rows
    ]
    local = [row for row in local if row.start <= row.end]
    naive_rows = [(str(row.person), row.start.isoformat(), row.end.isoformat()) for row in local]
    on_the_wall = count_visits(naive(cluster, naive_rows), PLACES, windows, VisitFormat(timezone=BERLIN))
    assert on_the_wall.values.tolist() == plain.in_each(
        windows, lambda window: plain.count(local, PLACES.ids, window, BERLIN)
    )
    dates = [("ana", "2024-10-26"), ("ben", "2024-10-27"), ("chi", "2024-10-27"), ("dev", "2024-10-28")]
    text = cluster.session.createDataFrame(dates, "person string, date string")
    dated = text.selectExpr("person", "'bar' as place", "cast(date as date) as date")
    assert count_visits(dated, PLACES, windows, VisitFormat(timezone=BERLIN)).values.tolist() == [2, 0] * 25


def _shown(moment: datetime) -> datetime:
    return moment.astimezone(plain.ZoneInfo(BERLIN)).replace(tzinfo=None)
