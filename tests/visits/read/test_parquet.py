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
from tests.visits.making import DAY, check_visits, count_visits, places, table
from tests.visits.plain import Stay

from safeside.errors import BadFile, BadQuestion
from safeside.visits import VisitFormat
from safeside.visits.read.parquet import CompactReader, LegacyTimes, legacy_times

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
    assert legacy_times(path).int96 == {"start", "end"}
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
    assert legacy_times(path) == LegacyTimes(int96=frozenset(), utc=frozenset())
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
        truth = frozenset(
            column.name
            for column in map(schema.column, range(len(schema)))
            if column.physical_type == "INT96"
        )
        assert legacy_times(path) == LegacyTimes(int96=truth, utc=frozenset())


def test_a_footer_that_ends_early_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = old(tmp_path, use_deprecated_int96_timestamps=True)

    def cut(_: Path) -> LegacyTimes:
        raise EOFError

    monkeypatch.setattr("safeside.visits.read.files.legacy_times", cut)
    with pytest.raises(BadFile, match="is damaged"):
        count_visits(path, places(), DAY, VisitFormat(timezone="UTC"))


def by_converted_type(path: Path) -> Path:
    """The file without logical types, as writers made it before there were any."""
    content = path.read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    begin = len(content) - 8 - length
    footer = CompactReader(content[begin:-8])
    cuts = []
    for number, kind in footer.fields():
        if number == 2 and kind == 9:
            for _ in range(footer.size()[0]):
                for inner, inner_kind in footer.fields():
                    before = footer.position - 1
                    footer.skip(inner_kind)
                    if inner == 10:
                        cuts.append((begin + before, begin + footer.position))
            break
        footer.skip(kind)
    for first, last in reversed(cuts):
        content = content[:first] + content[last:]
        length -= last - first
    path.write_bytes(content[:-8] + length.to_bytes(4, "little") + content[-4:])
    return path


@pytest.mark.parametrize("unit", ["us", "ms"])
def test_moments_by_converted_type_alone_are_moments_of_utc(tmp_path: Path, unit: str) -> None:
    """Read on the clock of Tokyo, everybody who came in the evening would have left the day before."""
    path = tmp_path / "visits.parquet"
    pq.write_table(table(STAYS, unit=unit).to_arrow(), path, store_schema=False)
    by_converted_type(path)
    assert pq.ParquetFile(path).schema.column(2).converted_type == f"TIMESTAMP_M{unit[0].upper()}".replace(
        "MU", "MICROS"
    ).replace("MM", "MILLIS")
    assert legacy_times(path).utc == {"start", "end"}
    for zone in (None, "Asia/Tokyo", "America/New_York", "UTC"):
        fmt = VisitFormat(timezone=zone)
        assert count_visits(path, places(), DAY, fmt).values.tolist() == [1, 0, 1, 0, 0]
        assert check_visits(path, places(), DAY, fmt).fine


def test_moments_of_utc_do_not_stand_beside_times_without_a_zone(tmp_path: Path) -> None:
    frame = table(STAYS).to_arrow()
    naive = [frame[name].cast(pa.timestamp("us")) for name in ("start", "end")]
    pq.write_table(frame, tmp_path / "a.parquet", store_schema=False)
    by_converted_type(tmp_path / "a.parquet")
    today = frame.set_column(2, "start", naive[0]).set_column(3, "end", naive[1])
    pq.write_table(today, tmp_path / "b.parquet", store_schema=False)
    with pytest.raises(BadFile, match=r"of b\.parquet is missing, or of another type"):
        count_visits(tmp_path, places(), DAY, VisitFormat(timezone="UTC"))


def test_a_column_within_another_one_is_not_taken_for_it(tmp_path: Path) -> None:
    inner = pa.array([{"start": 0}], pa.struct([("start", pa.timestamp("us", "UTC"))]))
    outer = pa.table({"more": inner, "start": pa.array([0], pa.int64())})
    pq.write_table(outer, tmp_path / "a.parquet", store_schema=False)
    assert legacy_times(by_converted_type(tmp_path / "a.parquet")).utc == frozenset()


@pytest.mark.parametrize("unit", ["us", "ns", "ms"])
def test_times_of_96_bits_are_known_beside_a_schema_of_arrow(tmp_path: Path, unit: str) -> None:
    """The schema says microseconds without a zone, and nothing of the 96 bits."""
    frame = table(STAYS).to_arrow()
    naive = [frame[name].cast(pa.timestamp(unit)) for name in ("start", "end")]
    path = tmp_path / "a.parquet"
    today = frame.set_column(2, "start", naive[0]).set_column(3, "end", naive[1])
    pq.write_table(today, path, use_deprecated_int96_timestamps=True, store_schema=True)
    with pytest.raises(BadQuestion, match="INT96"):
        count_visits(path, places(), DAY, VisitFormat(timezone="Asia/Tokyo"))
    counted = count_visits(path, places(), DAY, VisitFormat(timezone="UTC"))
    assert counted.values.tolist() == [1, 0, 1, 0, 0]
