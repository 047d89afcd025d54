"""Row groups of files that are short, damaged, of mixed times or exchanged: notes change no answer."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from tests.visits.count.test_row_groups import claim_rows, log, outcome
from tests.visits.making import DAY, NOON
from tests.visits.read.test_parquet import by_converted_type

from safeside.visits import Window
from safeside.visits.count import row_groups as ranges
from safeside.visits.read.parquet import row_groups

MORNING = DAY.start + timedelta(hours=10)


def same_with_notes(path: Path, windows: list[Window], notes: Path) -> list[object]:
    """What is said of each window, which is the same without notes, with new ones and with those kept."""
    said = [outcome(path, window) for window in windows]
    for _ in range(2):
        assert [outcome(path, window, notes) for window in windows] == said
    return said


@pytest.mark.parametrize("groups", [1, 2, 3])
@pytest.mark.parametrize("wide_first", [False, True])
def test_a_footer_that_claims_too_few_rows_of_a_few_row_groups_loses_nobody(
    tmp_path: Path, groups: int, wide_first: bool
) -> None:
    """Also where what was measured for a window that needs everything is used for one that does not."""
    path, size = tmp_path / "visits.parquet", 60 // groups
    log().filter(pl.col("start") < DAY.end).tail(60).write_parquet(path, row_group_size=size)
    claim_rows(path, [*[size] * (groups - 1), size // 3])
    ever = Window.parse("2024-01-01/2024-12-31", "UTC")
    said = same_with_notes(path, [ever, DAY, NOON] if wide_first else [NOON, DAY, ever], tmp_path / "notes")
    assert all("cannot be read to the end" in str(one) for one in said)


@pytest.mark.parametrize("groups", [[10, 10, 10], [0, 0, 0]])
def test_a_part_that_claims_to_be_empty_and_is_not_stops(tmp_path: Path, groups: list[int]) -> None:
    """Polars reads nothing of it, and where Spark has written the folder an empty part is usual."""
    folder, rows = tmp_path / "visits", log().filter(pl.col("start") < DAY.end).tail(60)
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    for number, part in enumerate(rows.iter_slices(30)):
        part.write_parquet(folder / f"part-{number}.parquet", row_group_size=10)
    assert same_with_notes(folder, [DAY], tmp_path / "notes") == [[2] * 5]
    claim_rows(folder / "part-1.parquet", groups, whole=0)
    (said,) = same_with_notes(folder, [DAY], tmp_path / "notes")
    assert "Part-1.parquet has no rows" in str(said)


def test_a_column_that_nobody_uses_may_differ_from_file_to_file(tmp_path: Path) -> None:
    for number, part in enumerate(log().iter_slices(50)):
        note = pl.lit(number) if number % 2 else pl.lit("a note")
        part.with_columns(note=note).write_parquet(tmp_path / f"visits-{number}.parquet", row_group_size=10)
    over_two = Window.parse("2024-03-02T12:00Z/2024-03-04T12:00Z")
    said = same_with_notes(tmp_path / "visits-*.parquet", [DAY, over_two], tmp_path / "notes")
    assert all(isinstance(one, list) and sum(one) for one in said)


@pytest.mark.parametrize("later", [pl.lit("a note"), pl.lit(7), None])
def test_a_column_of_old_times_that_nobody_uses_may_differ_from_file_to_file(
    tmp_path: Path, later: pl.Expr | None
) -> None:
    """Of a converted type in the first file alone, where it means moments of UTC."""
    for number, part in enumerate(log().iter_slices(50)):
        path, seen = tmp_path / f"visits-{number}.parquet", later if number else pl.col("start")
        rows = part if seen is None else part.with_columns(seen=seen)
        pq.write_table(rows.to_arrow(), path, row_group_size=10, store_schema=False)
        by_converted_type(path)
    over_two = Window.parse("2024-03-02T12:00Z/2024-03-04T12:00Z")
    said = same_with_notes(tmp_path / "visits-*.parquet", [DAY, over_two], tmp_path / "notes")
    assert all(isinstance(one, list) and sum(one) for one in said)


def test_an_end_that_milliseconds_hold_and_microseconds_do_not(tmp_path: Path) -> None:
    """Counted in microseconds it would wrap around to just after the last start."""
    path, wraps = tmp_path / "visits.parquet", (1 << 64) // 1000
    far, at = int(DAY.end.timestamp() * 1000) + wraps, pl.int_range(pl.len())
    ends = pl.when(at < 10).then(far).otherwise(pl.col("end").dt.timestamp("ms"))
    log().with_columns(end=ends.cast(pl.Datetime("ms", "UTC"))).write_parquet(path, row_group_size=10)
    same_with_notes(path, [DAY, NOON], tmp_path / "notes")


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_a_few_row_groups_are_skipped_where_they_hold_nothing(tmp_path: Path, groups: int) -> None:
    path = tmp_path / "visits.parquet"
    log().tail(60).write_parquet(path, row_group_size=60 // groups)
    early, late = Window.parse("2024-01-01", "UTC"), Window.parse("2030-01-01", "UTC")
    assert same_with_notes(path, [early, late], tmp_path / "notes") == [[0] * 5] * 2


def written(times: pl.DataFrame, shape: str) -> pl.DataFrame:
    return times.with_columns(pl.col("start", "end").dt.to_string(shape))


def test_times_as_text_mean_in_each_file_what_they_mean_in_all(tmp_path: Path) -> None:
    """A stay of dates lasts to the end of its last day; after moments it cannot be read."""
    moments, days = log().head(50), log().slice(50, 10)
    written(moments, "%Y-%m-%dT%H:%M:%SZ").write_parquet(tmp_path / "visits-1.parquet")
    dates = days.with_columns(start=pl.lit("2024-03-02"), end=pl.lit("2024-03-03"))
    dates.write_parquet(tmp_path / "visits-2.parquet")
    windows = [Window.parse(f"2024-03-0{day}T08:00Z/2024-03-0{day}T09:00Z") for day in (2, 3)]
    said = same_with_notes(tmp_path / "visits-*.parquet", windows, tmp_path / "notes")
    assert all("cannot be read" in str(one) for one in said)


@pytest.mark.parametrize("shape", ["%Y-%m-%d %H:%M:%SZ", "%Y-%m-%dT%H:%MZ"])
def test_times_as_text_of_another_shape_in_a_later_file(tmp_path: Path, shape: str) -> None:
    for number, part in enumerate(log().iter_slices(50)):
        said = shape if number == 3 else "%Y-%m-%dT%H:%M:%SZ"
        written(part, said).write_parquet(tmp_path / f"visits-{number}.parquet")
    same_with_notes(tmp_path / "visits-*.parquet", [DAY, NOON], tmp_path / "notes")


def test_a_start_in_finer_units_than_its_end(tmp_path: Path) -> None:
    """Compared in milliseconds it is no later than its end, and it counts where the window holds it."""
    path, tick = tmp_path / "visits.parquet", timedelta(microseconds=1)
    rows = log()
    rows[:100].with_columns(
        start=pl.lit(MORNING + 900 * tick).cast(pl.Datetime("us", "UTC")),
        end=pl.lit(MORNING).cast(pl.Datetime("us", "UTC")),
        place=pl.lit("bar"),
    ).vstack(rows[100:].with_columns(pl.col("start", "end") + timedelta(days=30))).with_columns(
        pl.col("end").dt.cast_time_unit("ms")
    ).write_parquet(path, row_group_size=20)
    moment = MORNING.strftime("%Y-%m-%dT%H:%M:%S")
    window = Window.parse(f"{moment}.000500Z/{moment}.001Z")
    (said,) = same_with_notes(path, [window], tmp_path / "notes")
    assert said == [100, 0, 0, 0, 0]


@pytest.mark.parametrize("link", ["visits.parquet", "between", "folder"])
def test_a_link_that_is_turned_to_another_file_and_back_leaves_no_notes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: str
) -> None:
    """Else the times of the other file would be believed of this one for good. A link may lead to a link, or
    stand for a folder."""
    notes, turning = tmp_path / "notes", tmp_path / link
    own, other = tmp_path / "own" / "visits.parquet", tmp_path / "other" / "visits.parquet"
    for file, later in ((own, timedelta(0)), (other, timedelta(days=300))):
        file.parent.mkdir()
        log().with_columns(pl.col("start", "end") + later).write_parquet(file, row_group_size=10)

    def turn_to(target: Path) -> None:
        turning.unlink(missing_ok=True)
        turning.symlink_to(target.parent if link == "folder" else target)

    turn_to(own)
    path = turning / own.name if link == "folder" else tmp_path / own.name
    if link == "between":
        path.symlink_to(turning.name)
    right, real = outcome(path, DAY), ranges.measure

    def turned(*given: Any) -> list[ranges.RowGroup]:
        turn_to(other)
        try:
            return real(*given)
        finally:
            turn_to(own)

    with monkeypatch.context() as patch:
        patch.setattr(ranges, "measure", turned)
        assert "A file changed while it was read." in str(outcome(path, DAY, notes))
    assert outcome(path, DAY, notes) == right


def test_a_footer_that_claims_what_cannot_be_has_the_whole_file_read(tmp_path: Path) -> None:
    """Every byte of it changed: the number of rows is told, or it is not, and nothing else happens."""
    path, damaged = tmp_path / "visits.parquet", tmp_path / "damaged.parquet"
    log(days=2).write_parquet(path, row_group_size=10)
    content = path.read_bytes()
    begin = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    untold = 0
    for at in range(begin, len(content) - 8):
        for change in (3, 0x80):
            damaged.write_bytes(content[:at] + bytes([content[at] ^ change]) + content[at + 1 :])
            numbers = row_groups(damaged)
            assert all(0 <= number < 1 << 62 for number in numbers)
            untold += not numbers
    assert untold


def test_a_file_whose_row_groups_are_not_told_is_counted_as_without_notes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "visits.parquet"
    log().write_parquet(path, row_group_size=10)
    monkeypatch.setattr(ranges, "row_groups", lambda _: [])
    (said,) = same_with_notes(path, [DAY], tmp_path / "notes")
    assert said == [2] * 5


def test_pieces_that_are_not_as_long_as_was_asked_are_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Together they are the file, and each would be taken for rows that it does not hold."""
    path = tmp_path / "visits.parquet"
    log().write_parquet(path, row_group_size=10)
    real = ranges.ask

    def later(*given: Any) -> pl.DataFrame:
        answers, at = real(*given), pl.int_range(pl.len())
        if len(answers) < 20:
            return answers
        more = pl.when(at == 3).then(1).when(at == pl.len() - 1).then(-1).otherwise(0)
        shifted = (pl.col("rows").cast(pl.Int64) + more).cast(answers.schema["rows"])
        return answers.with_columns(shifted)

    monkeypatch.setattr(ranges, "ask", later)
    (said,) = same_with_notes(path, [DAY], tmp_path / "notes")
    assert said == [2] * 5
    assert ranges.runs([ranges.RowGroup(rows=200, measured=True)], DAY) == [None]
