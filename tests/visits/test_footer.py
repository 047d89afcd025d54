"""Times of 96 bits: known for what they are, and read on no clock but that of UTC."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.visits.making import DAY, places, table
from tests.visits.plain import Stay

from safeside.errors import BadFile, BadQuestion
from safeside.visits import VisitFormat, count_visits
from safeside.visits.footer import old_times

STAYS = [Stay("ana", "bar", DAY.start, DAY.end), Stay("ben", "gym", DAY.start, DAY.start)]
SAMPLES: list[Any] = [
    pa.array([1]),
    pa.array(["x"]),
    pa.array([1.5]),
    pa.array([True]),
    pa.array([b"x"]),
    pa.array([[1, 2]]),
    pa.array([{"a": 1, "b": [True, None]}]),
    pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
    pa.array([0], pa.timestamp("us", "UTC")),
    pa.array([0], pa.timestamp("ns")),
    pa.array([0], pa.date32()),
    pa.array([7]).cast(pa.decimal128(38, 3)),
    pa.array(["x"]).dictionary_encode(),
]


def old(folder: Path, **written: Any) -> Path:
    path = folder / "visits.parquet"
    pq.write_table(table(STAYS).to_arrow(), path, store_schema=False, **written)
    return path


def test_old_times_are_read_in_utc_or_not_at_all(tmp_path: Path) -> None:
    path = old(tmp_path, use_deprecated_int96_timestamps=True)
    assert old_times(path) == {"start", "end"}
    for zone in (None, "Asia/Tokyo", "Europe/London"):
        with pytest.raises(BadQuestion, match="INT96"):
            count_visits(path, places(), DAY, VisitFormat(timezone=zone))
    counted = count_visits(path, places(), DAY, VisitFormat(timezone="UTC"))
    assert counted.values.tolist() == [1, 0, 1, 0, 0]
    seen = VisitFormat(columns="date=start", timezone="Asia/Tokyo")
    with pytest.raises(BadQuestion, match="INT96"):
        count_visits(path, places(), DAY, seen)


def test_other_times_are_not_taken_for_old_ones(tmp_path: Path) -> None:
    path = old(tmp_path)
    assert old_times(path) == frozenset()
    for zone in (None, "Asia/Tokyo", "UTC"):
        counted = count_visits(path, places(), DAY, VisitFormat(timezone=zone))
        assert counted.values.tolist() == [1, 0, 1, 0, 0]


def test_every_file_is_looked_at(tmp_path: Path) -> None:
    frame = table(STAYS).to_arrow()
    naive = [frame[name].cast(pa.timestamp("ns")) for name in ("start", "end")]
    today = frame.set_column(2, "start", naive[0]).set_column(3, "end", naive[1])
    pq.write_table(today, tmp_path / "a.parquet")
    pq.write_table(today, tmp_path / "b.parquet", use_deprecated_int96_timestamps=True)
    assert count_visits(tmp_path / "a.parquet", places(), DAY, VisitFormat(timezone="UTC")).values.sum() == 2
    with pytest.raises(BadQuestion, match="INT96"):
        count_visits(tmp_path, places(), DAY, VisitFormat(timezone="Asia/Tokyo"))


@given(st.lists(st.sampled_from(SAMPLES), min_size=1, max_size=40), st.booleans())
@settings(max_examples=40)
def test_columns_of_all_kinds_are_passed_over(columns: list[Any], old_kind: bool) -> None:
    """Against what PyArrow reads of the same footer."""
    named = pa.table({f"c{i}": column for i, column in enumerate(columns)}, metadata={"k": "v" * 200})
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.parquet")
        pq.write_table(named, path, use_deprecated_int96_timestamps=old_kind)
        schema = pq.ParquetFile(path).schema
        truth = {
            column.name
            for column in map(schema.column, range(len(schema)))
            if column.physical_type == "INT96"
        }
        assert old_times(path) == truth


def test_a_footer_that_ends_early_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = old(tmp_path, use_deprecated_int96_timestamps=True)

    def cut(_: Path) -> frozenset[str]:
        raise EOFError

    monkeypatch.setattr("safeside.visits.files.old_times", cut)
    with pytest.raises(BadFile, match="is damaged"):
        count_visits(path, places(), DAY, VisitFormat(timezone="UTC"))
