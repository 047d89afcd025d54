"""How counts come home from Spark: in sorted batches, each place once, all of them or none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spark import Cluster
from tests.visits.making import DAY, PLACES, count_visits, places, table
from tests.visits.plain import Stay

from safeside.errors import BadFile
from safeside.progress import quiet
from safeside.visits import read_places
from safeside.visits.read import engines as delivery

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS = [
    Stay(person, place, DAY.start, DAY.end) for i, place in enumerate(PLACES) for person in range(10 * i + 1)
]
TRUTH = [1, 11, 21, 31, 41]
INCOMPLETE = "rows are missing, twice or out of order"
EMPTY = pl.DataFrame(schema={"place": pl.Int64, "people": pl.Int64})


def batch(*numbers: int | None) -> pl.DataFrame:
    return pl.DataFrame({"place": numbers, "people": [1] * len(numbers)}, schema=EMPTY.schema)


@given(st.lists(st.sets(st.integers(0, 60), max_size=8), max_size=6), st.booleans())
def test_sorted_batches_become_one_sorted_answer(parts: list[set[int]], doubtful: bool) -> None:
    seen: set[int] = set()
    batches = []
    for part in parts:
        batches.append(batch(*sorted(part - seen)))
        seen |= part
    if doubtful:
        batches.append(batch(None))
    answer = delivery.join_batches(EMPTY, batches, ["place"], len(seen) + doubtful)
    assert answer["place"].to_list() == ([None] if doubtful else []) + sorted(seen)


@pytest.mark.parametrize(
    ("arrived", "rows"),
    [
        ([batch(1, 2)], 3),
        ([], 1),
        ([batch(1, 2), batch(1, 2)], 2),
        ([batch(1, 2), batch(2, 3)], 4),
        ([batch(1, 2), batch(1, 2)], 4),
        ([batch(2, 1)], 2),
        ([batch(1, 1)], 2),
        ([batch(None), batch(None, 1)], 3),
        ([batch(1, None)], 2),
    ],
    ids=["short", "nothing", "long", "shared", "twice", "mixed up", "repeated", "two nulls", "null last"],
)
def test_anything_else_is_refused(arrived: list[pl.DataFrame], rows: int) -> None:
    with pytest.raises(BadFile, match=INCOMPLETE):
        delivery.join_batches(EMPTY, arrived, ["place"], rows)


def test_an_engine_that_delivers_a_place_twice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    real = pa.TableGroupBy.aggregate

    def twice(groups: Any, aggregations: Any) -> Any:
        found = real(groups, aggregations)
        return pa.concat_tables([found, found.slice(0, 1)])

    frame = table(ROWS).to_arrow()
    assert count_visits(frame, places(), DAY).values.tolist() == TRUTH
    monkeypatch.setattr(pa.TableGroupBy, "aggregate", twice)
    with pytest.raises(BadFile, match=INCOMPLETE):
        count_visits(frame, places(), DAY)


@pytest.fixture(scope="module")
def visits(cluster: Cluster) -> DataFrame:
    return cluster.session.createDataFrame(table(ROWS).to_arrow())


@contextmanager
def _setting(cluster: Cluster, **settings: str) -> Iterator[None]:
    names = {name.replace("__", "."): value for name, value in settings.items()}
    before = {name: cluster.session.conf.get(name) for name in names}
    try:
        for name, value in names.items():
            cluster.session.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            cluster.session.conf.set(name, value)


SMALL = {"spark__sql__execution__arrow__maxRecordsPerBatch": "2", "spark__sql__adaptive__enabled": "false"}


@pytest.mark.xdist_group("spark")
def test_counts_come_in_sorted_batches(
    cluster: Cluster, visits: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrived: list[list[Any]] = []
    real = delivery.join_batches

    def watched(empty: pl.DataFrame, batches: Any, key: list[str] | None, rows: int) -> pl.DataFrame:
        came = list(batches)
        arrived.extend(each["place"].to_list() for each in came)
        assert key == ["place"]
        return real(empty, came, key, rows)

    monkeypatch.setattr(delivery, "join_batches", watched)
    many = cluster.session.range(0, 90).selectExpr("id as person", "id % 30 as place")
    many = many.crossJoin(visits.select("start", "end").limit(1))
    with _setting(cluster, **SMALL):
        counts = count_visits(many, read_places([str(number) for number in range(30)]), DAY)
    assert counts.values.tolist() == [3] * 30
    assert len(arrived) > 4
    assert all(each == sorted(each) and len(each) <= 2 for each in arrived)
    assert sorted(place for each in arrived for place in each) == list(range(30))


@pytest.mark.xdist_group("spark")
def test_spark_is_asked_in_few_calls_and_left_as_it_was(
    visits: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call to Java takes a tenth of a millisecond; noting which line made an expression takes ten."""
    from py4j.clientserver import JavaClient
    from pyspark.errors.utils import is_debugging_enabled

    calls: list[str] = []
    real = JavaClient.send_command

    def counted(client: Any, command: str, *more: Any, **also: Any) -> Any:
        if not command.startswith("m\n"):  # what is no longer used is given back at any time
            calls.append(command)
        return real(client, command, *more, **also)

    count_visits(visits, places(), DAY)
    monkeypatch.setattr(JavaClient, "send_command", counted)
    count_visits(visits, places(), DAY)
    assert 50 < len(calls) < 400
    assert is_debugging_enabled()


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_nobody_is_an_answer_too(cluster: Cluster, visits: DataFrame, adaptive: str) -> None:
    with _setting(cluster, spark__sql__adaptive__enabled=adaptive):
        for none in (visits.filter("person < 0"), visits.filter("end < start"), visits.limit(0)):
            answer = delivery.fetch_from_spark(none.groupBy("place").count(), ["place"])
            assert (answer.columns, answer.height) == (["place", "count"], 0)
        assert delivery.fetch_from_spark(visits, None).height == len(ROWS)


def _damaged(change: str, whole: pa.Table) -> pa.Table:
    first, *others = whole.to_batches()
    return pa.Table.from_batches(
        {
            "lost": others,
            "twice": [first, first, *others],
            "one for another": [first, first, *others[1:]],
            "mixed up": [first.take(pa.array(range(first.num_rows - 1, -1, -1))), *others],
        }[change],
        schema=whole.schema,
    )


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("change", ["lost", "twice", "one for another", "mixed up", "cut off"])
def test_a_delivery_that_is_not_whole_stops_the_work(
    cluster: Cluster, visits: DataFrame, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    real = type(visits).toArrow

    def damaged(frame: Any) -> pa.Table:
        if change == "cut off":
            raise EOFError
        return _damaged(change, real(frame))

    with _setting(cluster, **SMALL), monkeypatch.context() as patch:
        assert count_visits(visits, places(), DAY).values.tolist() == TRUTH
        patch.setattr(type(visits), "toArrow", damaged)
        with pytest.raises(BadFile, match=INCOMPLETE):
            count_visits(visits, places(), DAY)


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("collation", ["UTF8_LCASE", "UNICODE_CI_AI", "UTF8_BINARY_RTRIM"])
def test_people_and_places_who_differ_in_a_byte_differ(cluster: Cluster, collation: str) -> None:
    def collated(*rows: tuple[str, str]) -> DataFrame:
        plain = cluster.session.createDataFrame(
            [(person, place, DAY.start, DAY.end) for person, place in rows],
            "person string, place string, start timestamp, end timestamp",
        )
        alike = [f"{name} collate {collation} as {name}" for name in ("person", "place")]
        return plain.selectExpr(*alike, "start", "end")

    people = collated(*((person, "a") for person in ("ana", "ANA", "ána", "ana ", "ana")))
    assert people.select("person").distinct().count() < 4
    assert count_visits(people, read_places(["a"]), DAY).values.tolist() == [4]
    with pytest.raises(BadFile, match="not listed"):
        count_visits(collated(("ana", "a"), ("ana", "A"), ("ana", "a ")), read_places(["a"]), DAY)


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("listened", [False, True])
def test_a_fault_inside_spark_is_refused_without_a_word_from_the_data(
    visits: DataFrame, listened: bool
) -> None:
    fault = "raise_error(concat('a secret: ', cast(person as string)))"
    failing = visits.selectExpr(f"if(person >= 0, {fault}, person) as person", "place", "start", "end")
    progress = (lambda _, __: None) if listened else quiet
    with pytest.raises(BadFile, match=r"cannot be read to the end \(SparkRuntimeException\)") as refusal:
        count_visits(failing, places(), DAY, progress=progress)
    _says_nothing(refusal.value)


@pytest.mark.xdist_group("spark")
def test_a_file_that_spark_cannot_read_is_refused_without_its_name(
    cluster: Cluster, visits: DataFrame, tmp_path: Path
) -> None:
    visits.write.parquet(str(tmp_path / "a secret"))
    frame = cluster.session.read.parquet(str(tmp_path / "a secret"))
    for path in (tmp_path / "a secret").glob("*.parquet"):
        path.write_bytes(b"a secret" * 50)
    with pytest.raises(BadFile, match=r"cannot be read to the end \(Py4JJavaError\)") as refusal:
        count_visits(frame, places(), DAY)
    _says_nothing(refusal.value)


def _says_nothing(refusal: BadFile) -> None:
    assert "secret" not in str(refusal)
    assert refusal.__cause__ is None
    assert refusal.__suppress_context__
