"""What is noted of row groups is the truth, told from a few extremes of each: against every row by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count, product
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.visits.count.test_row_groups import KEY, NOT_YET, claim_rows, kept, log, outcome
from tests.visits.making import DAY, NOON

from safeside.progress import quiet
from safeside.visits import VisitFormat
from safeside.visits.count import row_groups as ranges
from safeside.visits.count.row_checks import doubtful, row_checks
from safeside.visits.read.parquet import row_groups
from safeside.visits.read.source import Source, open_paths, open_visits
from safeside.visits.times.clocks import AFTER_1970
from safeside.visits.times.window import EARLIEST, LATEST

TICK = timedelta(microseconds=1)
EDGES = [EARLIEST, datetime(1970, 1, 1, tzinfo=UTC), AFTER_1970, DAY.start, DAY.end, LATEST]
moments = st.one_of(
    st.just(DAY.start + timedelta(hours=3)),
    st.builds(lambda edge, by: edge + by * TICK, st.sampled_from(EDGES), st.integers(-2, 2)),
    st.none(),
)
usual = st.builds(lambda minutes: DAY.start + timedelta(minutes=minutes), st.integers(0, 3000))
UNITS = list(product(("ms", "us", "ns"), repeat=2))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    base, number = tmp_path_factory.mktemp("measured"), count()
    return (base / f"{each}.parquet" for each in number)


@dataclass(frozen=True)
class Row:
    """The times of one row, of which few are out of the ordinary."""

    start: datetime | None
    end: datetime | None


def with_times(rows: list[Row], units: tuple[str, str] = ("us", "us")) -> pl.DataFrame:
    frame = pl.DataFrame(
        {
            "person": ["ana"] * len(rows),
            "place": ["bar"] * len(rows),
            "start": [row.start for row in rows],
            "end": [row.end for row in rows],
        },
        schema_overrides=dict.fromkeys(("start", "end"), pl.Datetime("us", "UTC")),
    )
    each = zip(("start", "end"), units, strict=True)
    return frame.with_columns(pl.col(role).dt.cast_time_unit(unit) for role, unit in each)


def opened(path: Path, declared: VisitFormat | None = None) -> Source:
    form = declared or VisitFormat()
    return open_visits(path, open_paths(path, form, key=KEY, progress=quiet), form)


def row_by_row(source: Source, sizes: list[int]) -> list[ranges.RowGroup]:
    """Every check asked of every row, and the first start and the last end where all rows pass.

    There is no range where the last end lies before a start, which the checks allow in unlike units.
    """
    start, end, clock = nw.col("start"), nw.col("end"), source.clocks["start"]
    plain = clock.since(start, AFTER_1970) & clock.before(start, LATEST) & (end >= start)
    fine = plain.fill_null(value=False) & ~doubtful(row_checks(source, None, None)).fill_null(value=True)
    rows = source.frame.select("start", "end", fine=fine).to_native().collect()
    found = []
    for size in sizes:
        some, rows = rows.head(size), rows.slice(size)
        first, latest = (getattr(some["start"].dt.timestamp("us"), one)() for one in ("min", "max"))
        last = some["end"].dt.timestamp("us").max()
        sure = some["fine"].all() and (latest is None or last is None or latest <= last)
        first, last = (first, last) if sure else (None, None)
        found.append(ranges.RowGroup(rows=size, first=first, last=last, measured=True))
    return found


@given(
    ordinary=st.lists(st.tuples(usual, st.integers(0, 500)), min_size=1, max_size=20),
    odd=st.lists(st.tuples(st.integers(0, 19), moments, moments), max_size=3),
    size=st.integers(1, 6),
    units=st.sampled_from(UNITS),
    trusted=st.booleans(),
)
def test_a_row_group_has_a_range_exactly_where_every_row_of_it_passes_every_check(
    files: Any,
    ordinary: list[tuple[datetime, int]],
    odd: list[tuple[int, datetime | None, datetime | None]],
    size: int,
    units: tuple[str, str],
    trusted: bool,
) -> None:
    times = [Row(start, start + timedelta(minutes=minutes)) for start, minutes in ordinary]
    for number, start, end in odd:
        times[number % len(times)] = Row(start, end)
    path = next(files)
    with_times(times, units).write_parquet(path, row_group_size=size)
    source = opened(path, VisitFormat(trust_times=trusted))
    sizes = row_groups(path)
    unmeasured = [ranges.RowGroup(rows=rows) for rows in sizes]
    answers = ranges.ask(source, path, unmeasured, range(len(sizes)))
    assert ranges.with_ranges(source, answers) == row_by_row(source, sizes)
    assert ranges.measure_all(source, path, unmeasured) == row_by_row(source, sizes)


@pytest.mark.parametrize(
    ("start", "end", "fine"),
    [
        (DAY.start, DAY.start, True),
        (DAY.start, DAY.start - TICK, False),
        (None, DAY.start, False),
        (DAY.start, None, False),
        (AFTER_1970, AFTER_1970, True),
        (AFTER_1970 - TICK, DAY.start, False),
        (EARLIEST, DAY.start, False),
        (LATEST - TICK, LATEST + TICK, True),
        (LATEST, LATEST, False),
        (DAY.start, AFTER_1970 - TICK, False),
    ],
)
@pytest.mark.parametrize("at", [0, 2, 4])
def test_one_row_that_does_not_pass_leaves_its_row_group_without_a_range(
    tmp_path: Path, start: datetime | None, end: datetime | None, fine: bool, at: int
) -> None:
    rows = [Row(DAY.start, DAY.end)] * 5
    rows[at] = Row(start, end)
    path = tmp_path / "visits.parquet"
    with_times(rows).write_parquet(path)
    source, group = opened(path), ranges.RowGroup(rows=5)
    (measured,) = ranges.with_ranges(source, ranges.ask(source, path, [group], [0]))
    assert [measured] == row_by_row(source, [5])
    assert (measured.first is not None) is (measured.last is not None) is fine


def test_each_of_several_files_is_measured_by_its_own_rows(tmp_path: Path) -> None:
    for number, part in enumerate(log().iter_slices(50)):
        part.write_parquet(tmp_path / f"visits-{number}.parquet", row_group_size=20)
    for path in sorted(tmp_path.iterdir()):
        assert ranges.measure(opened(path), path, NOT_YET, None)[0].measured
        everything = opened(tmp_path / "visits-*.parquet")
        unmeasured = [ranges.RowGroup(rows=rows) for rows in (20, 20, 10)]
        measured = ranges.measure_all(everything, path, unmeasured)
        assert measured == row_by_row(opened(path), [20, 20, 10])


def test_many_small_row_groups_are_measured_a_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, notes = tmp_path / "visits.parquet", tmp_path / "notes"
    log().write_parquet(path, row_group_size=10)
    monkeypatch.setattr(ranges, "MOST_GROUPS", 7)
    groups = ranges.measure(opened(path), path, DAY, None)
    assert groups == row_by_row(opened(path), [30] * 6 + [20])
    assert kept(path, DAY, notes) <= 60
    assert kept(path, NOT_YET, notes) == 0
    for window in (DAY, NOON, NOT_YET):
        assert outcome(path, window, notes) == outcome(path, window)


@pytest.mark.parametrize("group", [0, 8, 9, 10, 18])
@pytest.mark.parametrize("claimed", [1, 5, 11, 19])
def test_numbers_of_rows_that_lie_among_row_groups_that_are_measured_together_lose_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: int, claimed: int
) -> None:
    """Together the neighbours have as many rows as the footer says, and one of them has not."""
    path, notes = tmp_path / "visits.parquet", tmp_path / "notes"
    log().write_parquet(path, row_group_size=10)
    numbers = [10] * 20
    numbers[group], numbers[group + 1] = claimed, 20 - claimed
    claim_rows(path, numbers)
    monkeypatch.setattr(ranges, "MOST_GROUPS", 7)
    for window in (NOON, DAY, NOT_YET):
        refused = outcome(path, window)
        assert isinstance(refused, str)
        for _ in range(2):
            assert outcome(path, window, notes) == refused


def test_a_footer_that_claims_too_few_rows_leaves_nothing_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the rows of the pieces are not those of the file, no range is noted, and all of it is read."""
    path = tmp_path / "visits.parquet"
    log().write_parquet(path, row_group_size=10)
    monkeypatch.setattr(ranges, "row_groups", lambda _: [10] * 9 + [5] + [10] * 10)
    source = opened(path)
    assert ranges.measure(source, path, NOT_YET, None) == [ranges.RowGroup(rows=200, measured=True)]
    assert ranges.skip_row_groups(source, NOT_YET, KEY, tmp_path / "notes") is source


def test_rows_that_are_read_twice_instead_of_others_are_noticed(tmp_path: Path) -> None:
    """As many rows as there are, and not the same: by the sum of their times."""
    path = tmp_path / "visits.parquet"
    log().write_parquet(path, row_group_size=10)
    source, real = opened(path), ranges.ask

    def twice(*given: Any) -> pl.DataFrame:
        answers = real(*given)
        return pl.concat([answers[:-1], answers[-2:-1]])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges, "ask", twice)
        unmeasured = [ranges.RowGroup(rows=10)] * 20
        assert ranges.measure_all(source, path, unmeasured) == [ranges.RowGroup(rows=200, measured=True)]


def test_a_footer_that_claims_no_rows_at_all_has_the_whole_file_read() -> None:
    assert ranges.runs([ranges.RowGroup(rows=0)], DAY) == [None]
