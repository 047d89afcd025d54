"""Spark asked in words: the same answers as when narwhals asks it in its own way, or no words at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import narwhals as nw
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.spark import Cluster
from tests.visits.making import DAY

from safeside.errors import SafesideError
from safeside.visits import VisitFormat, count_visits, read_places, tally
from safeside.visits.sparksql import choose, in_words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MICROSECOND = timedelta(microseconds=1)
MOMENTS = [
    datetime(1582, 10, 15, tzinfo=UTC),
    datetime(1900, 1, 1, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(2024, 3, 10, 7, 30, tzinfo=UTC),  # in an hour that New York skipped, and not in UTC
    datetime(2024, 11, 3, 5, 30, 0, 1, tzinfo=UTC),  # in an hour that New York had twice
    DAY.start,
    DAY.end,
    datetime(2200, 1, 1, tzinfo=UTC),
]
NUMBERS = [-(2**63), -(2**31) - 1, -1, 0, 1, 2**31, 2**63 - 1]
TEXTS = ["", " ", "STAY", "stay", "Stay ", "a-b_c.d:e", "1"]
BYTES = [b"", b"\x00", b"STAY"]
COLUMNS = {
    "start": (MOMENTS, "timestamp"),
    "naive": ([moment.replace(tzinfo=None) for moment in MOMENTS], "timestamp_ntz"),
    "date": ([moment.date() for moment in MOMENTS], "date"),
    "number": (NUMBERS, "bigint"),
    "text": (TEXTS, "string"),
    "bytes": (BYTES, "binary"),
}
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


def _literal(column: str, value: Any) -> Any:
    """As the clocks of a column say it."""
    if column == "naive":
        return nw.lit(value.isoformat(" ")).cast(nw.Datetime("us"))
    return nw.lit(value, dtype=nw.Date()) if column == "date" else nw.lit(value)


@st.composite
def _compared(draw: st.DrawFn) -> nw.Expr:
    column = draw(st.sampled_from(sorted(COLUMNS)))
    left, value = nw.col(column), draw(st.sampled_from(COLUMNS[column][0]))
    if column in ("start", "naive") and value.year > 1582:
        value += draw(st.sampled_from([-1, 0, 1])) * MICROSECOND
    if column == "number":
        value = max(-(2**63) + 1, min(2**63 - 1, value + draw(st.integers(-1, 1))))
    right = left if draw(st.integers(0, 9)) == 0 else _literal(column, value)
    how = draw(st.sampled_from(["lt", "le", "gt", "ge", "eq", "ne", "null", "in"]))
    match how:
        case "lt":
            return left < right
        case "le":
            return left <= right
        case "gt":
            return left > right
        case "ge":
            return left >= right
        case "eq":
            return left == right
        case "ne":
            return left != right
        case "null":
            return left.is_null()
    return nw.col("text").is_in(draw(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3)))


conditions = st.recursive(
    _compared(),
    lambda inner: st.one_of(
        st.builds(lambda one: ~one, inner),
        st.builds(lambda one, other: one & other, inner, inner),
        st.builds(lambda one, other: one | other, inner, inner),
    ),
    max_leaves=6,
)
chosen = st.one_of(
    conditions,
    st.builds(lambda one: nw.when(one).then(nw.col("text")), conditions),
    st.builds(lambda one: nw.when(one).then(nw.col("number")).otherwise(nw.lit(7)), conditions),
)


@pytest.fixture(scope="module")
def rows(cluster: Cluster) -> DataFrame:
    """Values around which something changes, each column with a null, in all sorts of company."""
    length = 1 + max(len(values) for values, _ in COLUMNS.values())
    names, table = list(COLUMNS), []
    for turn in range(3 * length):
        padded = [[*values, *[None] * (length - len(values))] for values, _ in COLUMNS.values()]
        table.append([column[(turn * (1 + i) + i) % length] for i, column in enumerate(padded)])
    schema = ", ".join(f"{name} {COLUMNS[name][1]}" for name in names)
    return cluster.session.createDataFrame(table, schema).cache()


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("changes", SETTINGS.values(), ids=SETTINGS)
@settings(
    max_examples=3,
    derandomize=True,
    phases=[Phase.generate],  # a smaller failure would take many more queries
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(questions=st.lists(chosen, min_size=20, max_size=20))
def test_words_say_what_narwhals_would_ask(
    cluster: Cluster, rows: DataFrame, changes: dict[str, str], questions: list[nw.Expr]
) -> None:
    with _set(cluster, **changes):
        frame = nw.from_native(rows)
        asked = frame.select(each.alias(f"q{'x' * i}") for i, each in enumerate(questions))
        said = [in_words(each.alias(f"q{'x' * i}")) for i, each in enumerate(questions)]
        assert None not in said
        assert rows.selectExpr(*said).collect() == asked.to_native().collect()


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


def _watch(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Each time Spark is asked, whether that was in words."""
    said: list[bool] = []

    def watched(*asked: Any) -> Any:
        chosen = choose(*asked)
        said.append(chosen is not None)
        return chosen

    monkeypatch.setattr(tally, "choose", watched)
    return said


def _outcome(frame: DataFrame, fmt: VisitFormat) -> object:
    try:
        return count_visits(frame, read_places(["0", "1"]), DAY, fmt).values.tolist()
    except SafesideError as refusal:
        return str(refusal)


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("kind", KINDS)
def test_counts_and_refusals_are_the_same_in_words(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    schema, row, fmt = KINDS[kind]
    said = _watch(monkeypatch)
    for fault in FAULTS if kind == "whole numbers" else FAULTS[:2]:
        table = [list(row(stay)) for stay in _STAYS]
        for column, value in fault.items():
            table[-4][column] = value
        frame = cluster.session.createDataFrame(table, schema)
        with monkeypatch.context() as patch:
            in_its_words = _outcome(frame, fmt)
            patch.setattr(tally, "choose", lambda *_: None)
            assert in_its_words == _outcome(frame, fmt)
            assert isinstance(in_its_words, str) == bool(fault)
    assert said
    assert all(said)


@pytest.mark.xdist_group("spark")
def test_movement_is_asked_for_in_words_unless_a_state_has_none(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = [(1, "0", "STAY", DAY.start), (2, "0", "sta'y", DAY.start), (3, "0", "MOVE", DAY.start)]
    frame = cluster.session.createDataFrame(table, "person int, place string, state string, time timestamp")
    said = _watch(monkeypatch)
    hold, places = timedelta(hours=1), read_places(["0"])
    plain = VisitFormat(hold=hold, move_states=("MOVE",), stay_states=("STAY",))
    counts = count_visits(frame.filter("person != 2"), places, DAY, plain)
    assert (counts.values.tolist(), said[-1]) == ([1], True)
    odd = VisitFormat(hold=hold, move_states=("MOVE",), stay_states=("STAY", "sta'y"))
    counts = count_visits(frame, places, DAY, odd)
    assert (counts.values.tolist(), said[-1]) == ([2], False)
