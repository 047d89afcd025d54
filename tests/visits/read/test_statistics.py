"""Tables that lie about themselves: statistics are a claim of who wrote the file, the rows are the data."""

from __future__ import annotations

import io
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.visits import plain
from tests.visits.making import DAY, PLACES, check_visits, count_visits, places, stays, table
from tests.visits.plain import Stay

from safeside.errors import BadFile

PEOPLE, ABSENT = 100, 41
ABSENT_WRITTEN, NONE_WRITTEN = 2 * ABSENT, 0
"""Numbers as the footer writes them."""
COUNT_FIELDS = (b"\x16", b"\x36")
"""What stands before the number of nulls in the statistics of a column, with and without old bounds."""


def written(columns: dict[str, list[Any]], **options: Any) -> bytearray:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, compression="none", use_dictionary=False, **options)
    return bytearray(sink.getvalue())


def footer_of(content: bytearray) -> int:
    return len(content) - pq.ParquetFile(io.BytesIO(content)).metadata.serialized_size - 8


def columns() -> dict[str, list[Any]]:
    return {
        "person": [f"u{number}" for number in range(PEOPLE)],
        "place": ["bar"] * PEOPLE,
        "start": [DAY.start] * PEOPLE,
        "end": [DAY.start + timedelta(hours=1)] * PEOPLE,
    }


def claim_nulls(content: bytearray, old: int, new: int) -> list[int]:
    """Change what the statistics say of missing values, and tell what they say then."""
    footer = footer_of(content)
    for field in COUNT_FIELDS:
        content[footer:] = content[footer:].replace(field + bytes([old]), field + bytes([new]))
    group = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0)
    return [group.column(number).statistics.null_count for number in range(group.num_columns)]


@pytest.mark.parametrize("pages", ["1.0", "2.0"])
@pytest.mark.parametrize("column", ["person", "place", "start", "end"])
def test_missing_values_that_are_denied(tmp_path: Path, column: str, pages: str) -> None:
    given = columns()
    given[column] = [None if number < ABSENT else value for number, value in enumerate(given[column])]
    content = written(given, data_page_version=pages)
    assert claim_nulls(content, ABSENT_WRITTEN, NONE_WRITTEN) == [0, 0, 0, 0]
    (tmp_path / "visits.parquet").write_bytes(content)
    with pytest.raises(BadFile, match=rf"no {column} \(41 rows\); first at visits.parquet row 1"):
        count_visits(tmp_path / "visits.parquet", places(), DAY)
    (found,) = check_visits(tmp_path / "visits.parquet", places(), DAY).errors
    assert (found.column, found.rows) == (column, ABSENT)


@pytest.mark.parametrize("pages", ["1.0", "2.0"])
@pytest.mark.parametrize("claimed", [2, ABSENT_WRITTEN, 0x7E])
def test_missing_values_that_are_made_up(tmp_path: Path, pages: str, claimed: int) -> None:
    content = written(columns(), data_page_version=pages)
    assert claim_nulls(content, NONE_WRITTEN, claimed) == [claimed // 2] * 4
    (tmp_path / "visits.parquet").write_bytes(content)
    assert count_visits(tmp_path / "visits.parquet", places(), DAY).values.tolist() == [PEOPLE, 0, 0, 0, 0]
    report = check_visits(tmp_path / "visits.parquet", places())
    assert (report.fine, report.rows, report.people) == (True, PEOPLE, PEOPLE)


def as_written(moment: datetime) -> bytes:
    return round(moment.timestamp() * 10**6).to_bytes(8, "little", signed=True)


@given(stays, st.booleans(), st.integers(-(10**9), 10**9), st.integers(1, 7))
@settings(max_examples=60)
def test_bounds_that_lie(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Stay], index: bool, lie: int, size: int
) -> None:
    """Of row groups, and of pages where an index of them is written: both are read all the same."""
    sink = io.BytesIO()
    pq.write_table(
        table(rows).to_arrow(),
        sink,
        row_group_size=size,
        data_page_size=1,
        use_dictionary=False,
        compression="none",
        write_page_index=index,
    )
    content = bytearray(sink.getvalue())
    metadata = pq.ParquetFile(io.BytesIO(content)).metadata
    chunks = [
        metadata.row_group(group).column(column)
        for group in range(metadata.num_row_groups)
        for column in range(metadata.num_columns)
    ]
    pages_end = max(chunk.data_page_offset + chunk.total_compressed_size for chunk in chunks)
    for moment in {moment for row in rows for moment in (row.start, row.end)}:
        false = as_written(moment + timedelta(seconds=lie))
        content[pages_end:] = content[pages_end:].replace(as_written(moment), false)
    path = tmp_path_factory.mktemp("lies") / "visits.parquet"
    path.write_bytes(content)
    assert count_visits(path, places(), DAY).values.tolist() == plain.count(rows, PLACES, DAY)


@pytest.mark.parametrize("sorted_by", range(4))
@pytest.mark.parametrize("rows", [7, PEOPLE])
def test_an_order_that_is_not_there(tmp_path: Path, sorted_by: int, rows: int) -> None:
    """The footer may say that rows are sorted; whoever searched instead of comparing would miss some."""
    given = columns()
    given["start"] = [DAY.start + timedelta(hours=7 * number % 48 - 24) for number in range(PEOPLE)]
    given["end"] = [start + timedelta(minutes=30) for start in given["start"]]
    order = [pq.SortingColumn(sorted_by)]
    (tmp_path / "visits.parquet").write_bytes(written(given, sorting_columns=order, row_group_size=rows))
    counts = count_visits(tmp_path / "visits.parquet", places(), DAY)
    truth = sum(s < DAY.end and e > DAY.start for s, e in zip(given["start"], given["end"], strict=True))
    assert counts.values.sum() == truth > 0
