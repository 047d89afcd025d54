"""Whatever a session of Spark is set to, the counts and the refusals are the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from tests.spark import Cluster
from tests.visits.making import DAY, count_visits

from safeside.errors import SafesideError
from safeside.visits import VisitFormat, read_places

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SETTINGS: dict[str, dict[str, str]] = {
    "as it comes": {},
    "not by the standard": {"spark.sql.ansi.enabled": "false"},
    "in New York": {"spark.sql.session.timeZone": "America/New_York"},
    "naive by default": {"spark.sql.timestampType": "TIMESTAMP_NTZ"},
    "text as it is": {"spark.sql.parser.escapedStringLiterals": "true"},
    "old clocks": {
        "spark.sql.legacy.timeParserPolicy": "LEGACY",
        "spark.sql.datetime.java8API.enabled": "true",
    },
}


@contextmanager
def _set(cluster: Cluster, **changes: str) -> Iterator[None]:
    conf = cluster.session.conf
    before = {name: conf.get(name) for name in changes}
    try:
        for name, value in changes.items():
            conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            conf.set(name, value)


_ZONED = "start timestamp, end timestamp"
_HOURS = [datetime(2024, 3, 2, tzinfo=UTC) + timedelta(hours=6 * i) for i in range(8)]
_STAYS = [
    (person, place, _HOURS[i], _HOURS[i + length])
    for i in range(6)
    for length, person, place in ((0, 1, 1), (1, i % 3, i % 2), (2, i, 1))
]


def _epoch(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _naive(moment: datetime) -> datetime:
    return moment.replace(tzinfo=None)


def _row(who: type, when: Any, row: tuple[int, int, datetime, datetime]) -> tuple[Any, ...]:
    person, place, start, end = row
    named = f"p{person}".encode() if who is bytes else f"p{person}" if who is str else person
    return named, str(place), when(start), when(end)


KINDS: dict[str, tuple[str, Any, VisitFormat]] = {
    "whole numbers": (
        f"person bigint, place string, {_ZONED}",
        partial(_row, int, lambda t: t),
        VisitFormat(),
    ),
    "text": (f"person string, place string, {_ZONED}", partial(_row, str, lambda t: t), VisitFormat()),
    "bytes": (f"person binary, place string, {_ZONED}", partial(_row, bytes, lambda t: t), VisitFormat()),
    "naive times": (
        "person int, place string, start timestamp_ntz, end timestamp_ntz",
        partial(_row, int, _naive),
        VisitFormat(timezone="America/New_York"),
    ),
    "epochs": (
        "person smallint, place string, start bigint, end bigint",
        partial(_row, int, _epoch),
        VisitFormat(time_format="epoch-ms"),
    ),
}
FAULTS: list[dict[int, Any]] = [{}, {2: None}, {0: None}, {1: None}, {3: None}, {1: "elsewhere"}]
"""What is put where in a row: nothing, no start, no person, no place, no end, a place that is not listed."""


def _outcome(frame: DataFrame, fmt: VisitFormat) -> object:
    try:
        return count_visits(frame, read_places(["0", "1"]), DAY, fmt).values.tolist()
    except SafesideError as refusal:
        return str(refusal)


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("kind", KINDS)
def test_counts_and_refusals_are_the_same_in_every_session(cluster: Cluster, kind: str) -> None:
    schema, row, fmt = KINDS[kind]
    for fault in FAULTS if kind == "whole numbers" else FAULTS[:2]:
        table = [list(row(stay)) for stay in _STAYS]
        for column, value in fault.items():
            table[-4][column] = value
        frame = cluster.session.createDataFrame(table, schema)
        outcomes = []
        for changes in SETTINGS.values():
            with _set(cluster, **changes):
                outcomes.append(_outcome(frame, fmt))
        assert isinstance(outcomes[0], str) == bool(fault)
        assert outcomes == [outcomes[0]] * len(SETTINGS)


@pytest.mark.xdist_group("spark")
def test_states_with_quotes_mean_themselves(cluster: Cluster) -> None:
    table = [(1, "0", "STAY", DAY.start), (2, "0", "sta'y", DAY.start), (3, "0", "MOVE", DAY.start)]
    frame = cluster.session.createDataFrame(table, "person int, place string, state string, time timestamp")
    hold, places = timedelta(hours=1), read_places(["0"])
    plain = VisitFormat(hold=hold, move_states=("MOVE",), stay_states=("STAY",))
    assert count_visits(frame.filter("person != 2"), places, DAY, plain).values.tolist() == [1]
    odd = VisitFormat(hold=hold, move_states=("MOVE",), stay_states=("STAY", "sta'y"))
    assert count_visits(frame, places, DAY, odd).values.tolist() == [2]
