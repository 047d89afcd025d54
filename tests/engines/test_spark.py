"""Counting on a real Spark cluster: the same integers, and the same again when tasks fail or executors die.

The failures are real and happen at a known moment. A step in Python, between the data and the counting, makes
the first attempt of a task raise, or wait until its executor has been killed with signal 9.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.spark import Cluster
from tests.visits import making, plain
from tests.visits.making import count_visits

from safeside import visits as visits_room
from safeside.errors import BadFile, BadQuestion
from safeside.mechanisms.ageo import AGeo
from safeside.noise.entropy import Entropy, simulated_entropy
from safeside.visits import Counts, Expected, VisitFormat, Window, read_places
from safeside_studies.city import CityFiles, generate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

pytestmark = pytest.mark.xdist_group("spark")

DAY = Window.parse("2013-12-22", "Asia/Tokyo")
SIX = Window.parse("2013-12-22T18:00", "Asia/Tokyo")
PATIENCE = 60.0
_SCHEMA = "person string, place string, start timestamp, end timestamp"


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> CityFiles:
    """Three days of a small city."""
    return generate(tmp_path_factory.mktemp("city"), people=800, places=120, days=3)


@pytest.fixture(scope="module")
def visits(cluster: Cluster, city: CityFiles) -> DataFrame:
    """The same on Spark, in more parts than there are executors."""
    return cluster.session.read.parquet(str(city.visits)).repartition(4, "person").cache()


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
    rows = [plain.Stay(*row) for row in pl.read_parquet(city.visits).rows()]
    assert on_spark.values.tolist() == plain.count(rows, places.ids, window)


_FEW = settings(
    max_examples=10,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
@_FEW
@given(rows=making.stays, numbers=st.booleans())
def test_spark_counts_any_stays_in_any_session_zone(
    cluster: Cluster, zone: str, rows: list[plain.Stay], numbers: bool
) -> None:
    if numbers:
        known = {person: number for number, person in enumerate({row.person for row in rows})}
        rows = [plain.Stay(known[row.person], row.place, row.start, row.end) for row in rows]
    truth = plain.count(rows, making.PLACES, making.DAY)
    with _session_zone(cluster, zone):
        frame = cluster.session.createDataFrame(making.table(rows).to_arrow())
        counts = count_visits(frame, making.places(), making.DAY)
    assert counts.values.tolist() == truth


@_FEW
@given(rows=making.sightings, minutes=st.sampled_from([0, 15, 300]))
def test_spark_counts_any_sightings(
    cluster: Cluster, rows: list[tuple[object, str, datetime]], minutes: int
) -> None:
    hold = timedelta(minutes=minutes)
    table = pl.DataFrame(rows, schema=["person", "place", "time"], orient="row")
    frame = cluster.session.createDataFrame(table.to_arrow())
    counts = count_visits(frame, making.places(), making.DAY, VisitFormat(hold=hold))
    assert counts.values.tolist() == plain.count_sightings(rows, making.PLACES, making.DAY, hold)


@pytest.mark.parametrize("process", ["UTC", "Asia/Tokyo"])
@pytest.mark.parametrize("session", ["UTC", "America/New_York"])
def test_spark_reads_local_times_on_the_declared_clock_and_no_other(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, process: str, session: str
) -> None:
    rows = [
        ("p", "a", datetime(2024, 3, 31, 1, 30), datetime(2024, 3, 31, 1, 40)),
        ("q", "a", datetime(2024, 3, 31, 4, 30), datetime(2024, 3, 31, 5, 30)),
    ]
    schema = "person string, place string, start timestamp_ntz, end timestamp_ntz"
    frame = cluster.session.createDataFrame(rows, schema)
    places, window = read_places(["a"]), Window.parse("2024-03-31T03:00/2024-03-31T05:00", "Europe/Berlin")
    with pytest.raises(BadQuestion, match="no zone"):
        count_visits(frame, places, window)
    monkeypatch.setenv("TZ", process)
    time.tzset()
    with _session_zone(cluster, session):
        counts = count_visits(frame, places, window, VisitFormat(timezone="Europe/Berlin"))
    monkeypatch.undo()
    time.tzset()
    assert counts.values.tolist() == [1]


def test_spark_stops_at_a_doubtful_row_wherever_it_lies(cluster: Cluster) -> None:
    fine = ("p", "a", DAY.start, DAY.end)
    late, later = datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 2, tzinfo=UTC)
    for wrong, why in (
        ((None, "a", DAY.start, DAY.end), "no person"),
        (("q", None, DAY.start, DAY.end), "no place"),
        (("q", "a", None, late), "no start"),
        (("q", "a", later, late), "ends before it starts"),
    ):
        frame = cluster.session.createDataFrame([fine, wrong], _SCHEMA)
        with pytest.raises(BadFile, match=why):
            count_visits(frame, read_places(["a"]), DAY)


def test_spark_stops_at_a_place_that_is_not_listed(cluster: Cluster) -> None:
    frame = cluster.session.createDataFrame([("p", "b", DAY.start, DAY.end)], _SCHEMA)
    with pytest.raises(BadFile, match="not listed"):
        count_visits(frame, read_places(["a"]), DAY)
    with pytest.raises(BadFile, match=r"1 of 1 row \(100 %\), of 1 person, at 1 place not listed"):
        count_visits(frame, read_places(["a"]), DAY, exclude_unknown_places=True)
    known = Expected(unlisted="100%")
    counted = count_visits(frame, read_places(["a"]), DAY, exclude_unknown_places=True, expected=known)
    assert counted.values.tolist() == [0]
    assert counted.left_out is not None
    assert (counted.left_out.rows, counted.left_out.of_rows, counted.left_out.people) == (1, 1, 1)


def test_a_job_that_fails_for_good_is_refused_without_a_word_from_the_data(
    visits: DataFrame, city: CityFiles
) -> None:
    def step(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            raise ValueError(f"a secret: {batch.column(0)[0].as_py()}")
        yield from ()

    with pytest.raises(BadFile, match="cannot be read to the end") as refusal:
        count_visits(_before_each_part(visits, step), read_places(city.places), DAY)
    assert "secret" not in str(refusal.value)
    assert refusal.value.__cause__ is None
    assert refusal.value.__suppress_context__


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


@contextmanager
def _session_zone(cluster: Cluster, zone: str) -> Iterator[None]:
    """The zone in which this session shows and reads times: it must not change a count."""
    cluster.session.conf.set("spark.sql.session.timeZone", zone)
    try:
        yield
    finally:
        cluster.session.conf.set("spark.sql.session.timeZone", "UTC")


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


def test_spark_counts_what_is_left_out_among_thousands_of_listed_places(cluster: Cluster) -> None:
    rows = [(f"p{n % 3}", f"v{n % 4_000:05}" if n % 5 else "home", DAY.start, DAY.end) for n in range(50)]
    later = [("p9", "home", DAY.end + timedelta(days=1), DAY.end + timedelta(days=2))]
    frame = cluster.session.createDataFrame(rows + later, _SCHEMA)
    listed = read_places([f"v{n:05}" for n in range(4_000)])
    known = Expected(unlisted="20%")
    counted = count_visits(frame, listed, DAY, exclude_unknown_places=True, expected=known)
    assert counted.left_out is not None
    assert (counted.left_out.rows, counted.left_out.of_rows, counted.left_out.people) == (10, 50, 3)
    assert counted.left_out.examples == ("home",)


def test_spark_does_not_count_a_day_that_the_rows_do_not_show_to_be_covered(cluster: Cluster) -> None:
    hour = timedelta(hours=1)
    starts = [DAY.start - 2 * hour, DAY.start + 3 * hour, DAY.start + 11 * hour]
    listed = read_places(["a"])

    def frame(*begun: datetime) -> DataFrame:
        rows = [(f"p{n}", "a", at, at + hour) for n, at in enumerate(begun)]
        return cluster.session.createDataFrame(rows, _SCHEMA)

    with pytest.raises(BadFile, match="no row lies wholly after it within a day"):
        visits_room.count_visits(frame(*starts), listed, DAY)
    counted = visits_room.count_visits(frame(*starts, DAY.end), listed, DAY)
    assert counted.values.tolist() == [2]
