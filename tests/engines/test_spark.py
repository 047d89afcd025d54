"""Counting on a real Spark cluster: the same integers, and the same again when tasks fail or executors die.

The failures are real and happen at a known moment. A step in Python, between the data and the counting, makes
the first attempt of a task raise, or wait until its executor has been killed with signal 9.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.spark import Cluster, cluster

from safeside.errors import BadFile, BadQuestion
from safeside.mechanisms.additive import AGeo
from safeside.noise.entropy import Entropy, simulated_entropy
from safeside.studies.city import CityFiles, generate
from safeside.visits import Counts, VisitFormat, Window, count_visits, read_places

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["cluster"]

pytestmark = pytest.mark.xdist_group("spark")

DAY = Window.parse("2013-12-22", "Asia/Tokyo")
SIX = Window.parse("2013-12-22T18:00", "Asia/Tokyo")
PATIENCE = 60.0


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> CityFiles:
    """Three days of a small city."""
    return generate(tmp_path_factory.mktemp("city"), people=800, places=120, days=3)


@pytest.fixture(scope="module")
def visits(cluster: Cluster, city: CityFiles) -> DataFrame:
    """The same on Spark, in more parts than there are executors."""
    return cluster.session.read.parquet(str(city.visits)).repartition(4, "person").cache()


def plain_count(
    rows: list[tuple[Any, str, datetime, datetime]], ids: tuple[str, ...], window: Window
) -> list[int]:
    """People per place, counted one row at a time."""
    met: dict[str, set[Any]] = {place: set() for place in ids}
    for person, place, start, end in rows:
        begins = start <= window.end if window.instant else start < window.end
        if begins and (end > window.start or start >= window.start):
            met[place].add(person)
    return [len(met[place]) for place in ids]


@pytest.mark.parametrize("window", [DAY, SIX], ids=["a day", "an instant"])
def test_spark_counts_the_city_as_files_are_counted(
    visits: DataFrame, city: CityFiles, window: Window
) -> None:
    places = read_places(city.places)
    from_files = count_visits(city.visits, places, window)
    on_spark = count_visits(visits, places, window)
    assert on_spark.values.tolist() == from_files.values.tolist()
    assert on_spark.values.sum() > 100
    assert on_spark.most_places_per_person == from_files.most_places_per_person
    rows = [tuple(row) for row in pl.read_parquet(city.visits).rows()]
    assert on_spark.values.tolist() == plain_count(rows, places.ids, window)


_MOMENTS = st.integers(0, 48).map(
    lambda half: datetime(2024, 3, 30, tzinfo=UTC) + timedelta(minutes=30 * half)
)
_ROWS = st.lists(st.tuples(st.integers(-3, 3), st.sampled_from("abc"), _MOMENTS, _MOMENTS), max_size=12)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York"])
@settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(rows=_ROWS.filter(bool), hours=st.integers(1, 20), instant=st.booleans())
def test_spark_counts_made_up_visits_in_any_session_zone(
    cluster: Cluster, zone: str, rows: list[Any], hours: int, instant: bool
) -> None:
    stays = [(person, place, min(start, end), max(start, end)) for person, place, start, end in rows]
    begin = datetime(2024, 3, 30, 20, tzinfo=UTC)
    text = (
        begin.isoformat()
        if instant
        else f"{begin.isoformat()}/{(begin + timedelta(hours=hours)).isoformat()}"
    )
    window = Window.parse(text)
    places = read_places(["a", "b", "c", "d"])
    cluster.session.conf.set("spark.sql.session.timeZone", zone)
    try:
        frame = cluster.session.createDataFrame(_table(stays))
        counts = count_visits(frame, places, window, max_places_per_person=3 if instant else None)
    finally:
        cluster.session.conf.set("spark.sql.session.timeZone", "UTC")
    assert counts.values.tolist() == plain_count(stays, places.ids, window)


def test_spark_reads_local_times_on_the_declared_clock(cluster: Cluster) -> None:
    rows = [
        ("p", "a", datetime(2024, 3, 31, 1, 30), datetime(2024, 3, 31, 1, 40)),
        ("q", "a", datetime(2024, 3, 31, 4, 30), datetime(2024, 3, 31, 5, 30)),
    ]
    schema = "person string, place string, start timestamp_ntz, end timestamp_ntz"
    frame = cluster.session.createDataFrame(rows, schema)
    places, window = read_places(["a"]), Window.parse("2024-03-31T03:00/2024-03-31T05:00", "Europe/Berlin")
    with pytest.raises(BadQuestion, match="no zone"):
        count_visits(frame, places, window)
    counts = count_visits(frame, places, window, VisitFormat(timezone="Europe/Berlin"))
    assert counts.values.tolist() == [1]


def test_spark_stops_at_a_doubtful_row_outside_the_window(cluster: Cluster) -> None:
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    rows = [("p", "a", DAY.start, DAY.end), (None, "a", long_ago, long_ago)]
    frame = cluster.session.createDataFrame(_table(rows))
    with pytest.raises(BadFile, match="no person"):
        count_visits(frame, read_places(["a"]), DAY)


def test_spark_stops_at_a_place_that_is_not_listed(cluster: Cluster) -> None:
    frame = cluster.session.createDataFrame(_table([("p", "b", DAY.start, DAY.end)]))
    with pytest.raises(BadFile, match="not listed"):
        count_visits(frame, read_places(["a"]), DAY)
    assert count_visits(frame, read_places(["a"]), DAY, exclude_unknown_places=True).values.tolist() == [0]


def test_a_task_that_is_tried_again_counts_again_and_draws_nothing(
    visits: DataFrame, city: CityFiles, tmp_path: Path
) -> None:
    tried = _before_each_part(visits, _fail_at_first(tmp_path))
    counts, drawn = _release(tried, city)
    assert len(list(tmp_path.glob("failed-*"))) == 4  # every part failed once
    assert counts.values.tolist() == _expected(city).values.tolist()
    assert drawn == _drawn_from(_expected(city))


def test_an_executor_killed_while_it_reads_changes_no_count_and_draws_once(
    cluster: Cluster, visits: DataFrame, city: CityFiles, tmp_path: Path
) -> None:
    held = _before_each_part(visits, _wait_to_be_killed(tmp_path))
    killer = _Killer(cluster, tmp_path)
    killer.start()
    counts, drawn = _release(held, city)
    killer.join()
    assert killer.killed, "no executor was killed while the job ran"
    assert counts.values.tolist() == _expected(city).values.tolist()
    assert drawn == _drawn_from(_expected(city))


def test_a_cluster_that_lost_every_executor_counts_the_same_again(
    cluster: Cluster, visits: DataFrame, city: CityFiles
) -> None:
    """What dead executors had kept is gone, and is made again from the files."""
    dead = cluster.executors()
    for pid in dead:
        cluster.kill_executor_of(pid)
    counts, drawn = _release(visits, city)
    assert set(cluster.executors()).isdisjoint(dead)
    assert counts.values.tolist() == _expected(city).values.tolist()
    assert drawn == _drawn_from(_expected(city))


Step = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def _before_each_part(frame: DataFrame, step: Step) -> DataFrame:
    return frame.mapInArrow(step, frame.schema)


def _fail_at_first(folder: Path) -> Step:
    """Every part of the data fails when first read. (An inner function: executors cannot import tests.)"""

    def step(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        failed = folder / f"failed-{TaskContext.get().partitionId()}"
        if not failed.exists():
            failed.touch()
            raise RuntimeError("a fault made on purpose")
        yield from batches

    return step


def _wait_to_be_killed(folder: Path) -> Step:
    """Whoever first reads a part of the data says who it is, and goes on no further."""

    def step(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            (folder / "waiting").mkdir()
        except FileExistsError:
            yield from batches
            return
        (folder / "pid").write_text(str(os.getpid()))
        (folder / "pid").rename(folder / "waiting" / "pid")
        time.sleep(PATIENCE)
        raise TimeoutError("nobody killed this executor")

    return step


class _Killer(threading.Thread):
    """Kills the executor of the task that waits."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        super().__init__(daemon=True)
        self._cluster, self._waiting = cluster, folder / "waiting" / "pid"
        self.killed: int | None = None

    def run(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if self._waiting.exists():
                self.killed = self._cluster.kill_executor_of(int(self._waiting.read_text()))
                return
            time.sleep(0.02)


class _Watched:
    """Simulated bits, and a list of everything that was asked of them and by which process."""

    simulated = True

    def __init__(self) -> None:
        self._bits: Entropy = simulated_entropy(7)
        self.asked: list[tuple[int, int]] = []

    def uint16(self, n: int) -> np.ndarray[Any, np.dtype[np.uint16]]:
        self.asked.append((os.getpid(), n))
        return self._bits.uint16(n)

    def bits(self, n: int) -> int:
        self.asked.append((os.getpid(), n))
        return self._bits.bits(n)


Drawn = tuple[list[int], list[tuple[int, int]]]


def _release(visits: DataFrame, city: CityFiles) -> tuple[Counts, Drawn]:
    counts = count_visits(visits, read_places(city.places), DAY)
    return counts, _drawn_from(counts)


def _drawn_from(counts: Counts) -> Drawn:
    entropy = _Watched()
    noisy = AGeo(epsilon=1, sensitivity=5).release(counts.values, entropy=entropy)
    return noisy.values.tolist(), entropy.asked


def _expected(city: CityFiles) -> Counts:
    return count_visits(city.visits, read_places(city.places), DAY)


def _table(rows: list[Any]) -> pa.Table:
    """Rows as a table, people by text or by whole numbers."""
    moment = pa.timestamp("us", tz="UTC")
    person = pa.int64() if isinstance(rows[0][0], int) else pa.string()
    schema = pa.schema([("person", person), ("place", pa.string()), ("start", moment), ("end", moment)])
    columns = [list(column) for column in zip(*rows, strict=True)]
    return pa.table(columns, schema=schema)
