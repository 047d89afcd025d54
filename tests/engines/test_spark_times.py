"""Times as real data have them, on Spark: floating-point seconds, and the hour that a clock repeats."""

from __future__ import annotations

from typing import Any

import pytest
from tests.spark import Cluster
from tests.visits.making import count_visits
from tests.visits.times.test_real_times import BERLIN, HALF, NIGHT, NOON, PLACES, bar, floats

from safeside.errors import BadFile
from safeside.visits import VisitFormat, Window

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
