"""Footers that claim fewer rows than the pages hold: however a table tells the time, nobody is lost."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from tests.visits.count.test_row_groups import KEY, NOT_YET, claim_rows, log
from tests.visits.count.test_row_groups_of_odd_files import same_with_notes
from tests.visits.making import DAY, check_visits, count_visits, places
from tests.visits.read.test_parquet import by_converted_type

from safeside.errors import BadFile
from safeside.groups import check_people, count_people, read_groups
from safeside.progress import quiet
from safeside.visits import VisitFormat, Window
from safeside.visits.read.parquet import CompactReader
from safeside.visits.read.source import open_paths, open_visits

EVER = Window.parse("2024-01-01/2024-12-31", "UTC")
SIZE, CLAIMED = 15, 10
TIMES = pl.col("start", "end")
Shape = tuple[Callable[[pl.DataFrame], pl.DataFrame], VisitFormat]


def of_day(column: str) -> pl.Expr:
    return pl.col(column).dt.to_string("%H:%M:%S")


def told(by: str, told_as: pl.Expr) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """With one time in the place of two."""
    return lambda rows: rows.with_columns(told_as.alias(by)).drop("start", "end")


SHAPES: dict[str, Shape] = {
    "moments": (lambda rows: rows, VisitFormat()),
    "unlike zones": (
        lambda rows: rows.with_columns(pl.col("end").dt.convert_time_zone("Asia/Tokyo")),
        VisitFormat(),
    ),
    "unlike units": (lambda rows: rows.with_columns(pl.col("end").dt.cast_time_unit("ns")), VisitFormat()),
    "text": (lambda rows: rows.with_columns(TIMES.dt.to_string("%Y-%m-%dT%H:%M:%SZ")), VisitFormat()),
    "two columns": (
        lambda rows: rows.with_columns(
            day=pl.col("start").dt.date(), come=of_day("start"), gone=of_day("end")
        ).drop("start", "end"),
        VisitFormat(columns="start=day+come,end=day+gone", timezone="UTC"),
    ),
    "local": (
        lambda rows: rows.with_columns(TIMES.dt.replace_time_zone(None)),
        VisitFormat(timezone="UTC"),
    ),
    "numbers": (lambda rows: rows.with_columns(TIMES.dt.timestamp()), VisitFormat(time_format="epoch-us")),
    "sightings": (told("time", pl.col("start")), VisitFormat(hold="5min")),
    "dates": (told("date", pl.col("start").dt.date()), VisitFormat(timezone="UTC")),
    "dates as text": (told("date", pl.col("start").dt.date().cast(pl.String)), VisitFormat(timezone="UTC")),
    "old": (lambda rows: rows, VisitFormat()),
}


def table_of(path: Path, rows: pl.DataFrame, *, old: bool = False) -> Path:
    pq.write_table(rows.to_arrow(), path, row_group_size=SIZE, store_schema=not old)
    return by_converted_type(path) if old else path


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("group", [0, 1, 2])
def test_it_stops_however_the_time_is_told(tmp_path: Path, shape: str, group: int) -> None:
    made, fmt = SHAPES[shape]
    path = table_of(tmp_path / "visits.parquet", made(log()[: 3 * SIZE]), old=shape == "old")
    given = {"max_places_per_person": 5, "key": KEY, "remember": tmp_path / "notes"}
    assert count_visits(path, places(), EVER, fmt, **given).values.sum() == 3 * SIZE
    assert check_visits(path, places(), None, fmt).fine
    claim_rows(path, [SIZE if number != group else CLAIMED for number in range(3)])
    for _ in range(2):
        with pytest.raises(BadFile, match="cannot be read to the end"):
            count_visits(path, places(), EVER, fmt, **given)
    with pytest.raises(BadFile, match="cannot be read to the end"):
        check_visits(path, places(), None, fmt)


@pytest.mark.parametrize("group", [0, 1, 2])
def test_it_stops_in_a_table_of_people(tmp_path: Path, group: int) -> None:
    people = pl.DataFrame({"person": [f"p-{number}x" for number in range(3 * SIZE)], "group": "north"})
    path, listed = table_of(tmp_path / "people.parquet", people), read_groups(["north"])
    assert count_people(path, listed).values.tolist() == [[3 * SIZE]]
    claim_rows(path, [SIZE if number != group else CLAIMED for number in range(3)])
    for act in (count_people, check_people):
        with pytest.raises(BadFile, match="cannot be read to the end"):
            act(path, listed)


def claim_values(path: Path, group: int, columns: list[str]) -> None:
    """Change how many values the only page of each of these columns says that it holds."""
    content = bytearray(path.read_bytes())
    held = pq.ParquetFile(path).metadata.row_group(group)
    for number in range(held.num_columns):
        if held.column(number).path_in_schema not in columns:
            continue
        begin = held.column(number).data_page_offset
        header = CompactReader(bytes(content[begin : begin + 100]))
        next(kind for field, kind in header.fields() if field == 5 or header.skip(kind))
        next(header.fields())
        assert content[begin + header.position] == 2 * SIZE  # of one byte, twice the number
        content[begin + header.position] = 2 * CLAIMED
    path.write_bytes(content)


@pytest.mark.parametrize("longer", ["start", "end"])
@pytest.mark.parametrize("group", [0, 4, 9])
def test_one_column_with_more_values_than_the_footer_claims_leaves_nothing_unread(
    tmp_path: Path, longer: str, group: int
) -> None:
    """Of the very column by whose condition it reads, Polars may read no more than what is claimed."""
    path = tmp_path / "visits.parquet"
    rows = log().head(10 * SIZE).with_columns(TIMES + timedelta(days=90)).to_arrow()
    plain = {"use_dictionary": False, "compression": "none", "write_statistics": False}
    pq.write_table(rows, path, row_group_size=SIZE, **plain)
    claim_rows(path, [SIZE if number != group else CLAIMED for number in range(10)])
    claim_values(path, group, [name for name in rows.column_names if name != longer])
    said = same_with_notes(path, [NOT_YET, DAY], tmp_path / "notes")
    assert all("cannot be read to the end" in str(one) for one in said)


def test_only_a_look_at_the_first_rows_is_taken_without_the_condition(tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    log(SIZE).write_parquet(path)
    declared = VisitFormat()
    whole = open_visits(path, open_paths(path, declared, key=None, progress=quiet), declared)
    for source in (whole, whole.only([(path, None)])):
        read, first = source.frame.to_native(), source.first.to_native()
        assert isinstance(read, pl.LazyFrame)
        assert isinstance(first, pl.LazyFrame)
        assert "SELECTION" in read.explain()
        assert "SELECTION" not in first.explain()
        assert first.collect().equals(read.collect())
    some = whole.only([(path, (2, 3))])
    assert len(some.first.to_native().collect()) == len(some.frame.to_native().collect()) == 3
