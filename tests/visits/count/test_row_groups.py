"""Row groups that are not read again: no count and no complaint changes, whoever writes to file or notes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.visits.making import DAY, NOON, PLACES, count_visits, places, stays, table
from tests.visits.plain import Stay
from tests.visits.read.test_statistics import as_written, columns, footer_of, written

from safeside.errors import SafesideError
from safeside.progress import quiet
from safeside.visits import VisitFormat, Window
from safeside.visits.count import row_groups as ranges
from safeside.visits.read.parquet import CompactReader, row_groups
from safeside.visits.read.paths import Found
from safeside.visits.read.source import open_paths, open_visits

KEY, OTHER = b"k" * 32, b"o" * 32
NOT_YET = Window.parse("2030-01-01", "UTC")
WINDOWS = [DAY, NOON, NOT_YET, Window.parse("2024-03-03T10:00Z/2024-03-03T10:00:00.000001Z")]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    base, number = tmp_path_factory.mktemp("ranges"), count()
    return ((base / str(each)) for each in number)


def outcome(path: Path, window: Window, remember: Path | None = None, key: bytes = KEY) -> object:
    try:
        counted = count_visits(path, places(), window, max_places_per_person=5, key=key, remember=remember)
    except SafesideError as refusal:
        return str(refusal)
    return counted.values.tolist()


def log(days: int = 20, each: int = 10) -> pl.DataFrame:
    """Somebody new at the bar every hour or so, in the order of time."""
    rows = [
        Stay(f"x{number}", PLACES[number % 5], at, at + timedelta(minutes=5))
        for number in range(days * each)
        for at in (DAY.start - timedelta(days=10) + timedelta(days=number) / each,)
    ]
    return table(rows)


def kept(path: Path, window: Window, notes: Path) -> int:
    """How many rows are left to read."""
    opened = open_paths(path, VisitFormat(), key=KEY, progress=quiet)
    source = open_visits(path, opened, VisitFormat())
    left = ranges.skip_row_groups(source, window, KEY, notes)
    rows: int = left.frame.select("person").collect().shape[0]
    return rows


@given(rows=stays, in_order=st.booleans(), size=st.integers(1, 9), fault=st.integers(0, 5), data=st.data())
def test_counts_and_complaints_are_the_same(
    folders: Any, rows: list[Stay], in_order: bool, size: int, fault: int, data: st.DataObject
) -> None:
    folder = next(folders)
    folder.mkdir()
    frame = table(rows)
    frame = frame.sort("start") if in_order else frame
    row = data.draw(st.integers(0, len(rows) - 1))
    here = pl.int_range(pl.len()) == row
    broken: dict[int, tuple[str, Any]] = {
        1: ("start", None),
        2: ("end", None),
        3: ("end", datetime(1890, 1, 1)),
        4: ("start", datetime(1970, 5, 5)),
        5: ("person", None),
    }
    if fault:
        column, value = broken[fault]
        frame = frame.with_columns(
            pl.when(here)
            .then(pl.lit(value).cast(frame.schema[column]))
            .otherwise(pl.col(column))
            .alias(column)
        )
    path = folder / "visits.parquet"
    frame.write_parquet(path, row_group_size=size)
    for window in data.draw(st.permutations(WINDOWS))[:2]:  # what is noted for one is used for the next
        said = outcome(path, window)
        assert outcome(path, window, folder / "notes") == said
        assert outcome(path, window, folder / "notes") == said


def test_a_repeated_question_reads_few_rows(tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    log().write_parquet(path, row_group_size=10)
    assert kept(path, DAY, tmp_path / "notes") <= 30
    assert kept(path, DAY, tmp_path / "notes") <= 30
    assert kept(path, NOT_YET, tmp_path / "notes") == 0
    assert len(list((tmp_path / "notes").iterdir())) == 1


def test_only_files_that_hold_something_of_the_window_are_read(tmp_path: Path) -> None:
    for number, part in enumerate(log().iter_slices(50)):
        part.write_parquet(tmp_path / f"visits-{number}.parquet")
    assert outcome(tmp_path / "visits-*.parquet", DAY, tmp_path / "notes") == outcome(
        tmp_path / "visits-*.parquet", DAY
    )
    assert kept(tmp_path / "visits-*.parquet", DAY, tmp_path / "notes") == 50


def measured(path: Path, window: Window, notes: Path, key: bytes = KEY) -> int:
    """In how many queries row groups were measured for a question."""
    said: list[str] = []
    given = {"max_places_per_person": 5, "key": key, "remember": notes}
    count_visits(path, places(), window, progress=lambda _, what: said.append(what), **given)
    passes = [what for what, before in zip(said, [None, *said], strict=False) if what != before]
    return passes.count("Measuring row groups")


def test_times_are_read_once(tmp_path: Path) -> None:
    path, notes = tmp_path / "visits.parquet", tmp_path / "notes"
    log().write_parquet(path, row_group_size=10)
    assert measured(path, DAY, notes)
    for window in (DAY, NOON, NOT_YET):
        assert not measured(path, window, notes)
    assert measured(path, DAY, notes, OTHER)


def test_files_that_are_measured_are_looked_at_again_once_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not once for each, which takes hours where they are thousands."""
    looks, real = list[Found](), Found.require_unchanged

    def counted(found: Found) -> None:
        looks.append(found)
        real(found)

    monkeypatch.setattr(Found, "require_unchanged", counted)
    for size in (20, 100):
        folder = tmp_path / str(size)
        folder.mkdir()
        for number, part in enumerate(log().iter_slices(size)):
            part.write_parquet(folder / f"visits-{number}.parquet")
        looks.clear()
        outcome(folder, DAY, folder / "notes")
        assert len(looks) <= 3  # after waiting for the clock, after measuring, and at the end
        assert len(list((folder / "notes").iterdir())) == 200 // size


def test_a_file_in_no_order_is_sampled_and_not_measured(tmp_path: Path) -> None:
    """Every row group spans the window, so that nothing would be skipped; nor is it sampled again."""
    path, notes = tmp_path / "visits.parquet", tmp_path / "notes"
    log(each=40).sample(fraction=1, shuffle=True, seed=7).write_parquet(path, row_group_size=40)
    opened = open_paths(path, VisitFormat(), key=KEY, progress=quiet)
    source = open_visits(path, opened, VisitFormat())
    groups = ranges.measure(source, path, DAY, None)
    assert (len(groups), sum(group.measured for group in groups)) == (20, 2)
    assert measured(path, DAY, notes)
    assert not measured(path, DAY, notes)
    assert outcome(path, DAY, notes) == outcome(path, DAY)


def test_a_row_group_is_measured_without_reading_the_others(tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    log(each=1000).sample(fraction=1, shuffle=True, seed=3).write_parquet(path, row_group_size=4000)
    opened = open_paths(path, VisitFormat(), key=KEY, progress=quiet)
    source = open_visits(path, opened, VisitFormat())
    whole = path.read_bytes()
    begin, end = len(whole) * 2 // 5, len(whole) * 3 // 5
    path.write_bytes(whole[:begin] + bytes(end - begin) + whole[end:])
    groups = ranges.measure(source, path, DAY, None)
    assert [group.measured for group in groups] == [True, False, False, False, True]
    with pytest.raises(pl.exceptions.PolarsError):
        ranges.ask(source, path, groups, range(5))


def test_a_sampled_file_is_measured_for_a_window_that_it_may_help(tmp_path: Path) -> None:
    """The first window holds all of it, the second a day: a sample is no measurement of the rest."""
    path, notes = tmp_path / "visits.parquet", tmp_path / "notes"
    log().write_parquet(path, row_group_size=10)
    ever = Window.parse("2024-01-01/2024-12-31", "UTC")
    assert kept(path, ever, notes) == 200
    assert kept(path, DAY, notes) <= 30
    assert outcome(path, DAY, notes) == outcome(path, DAY)


def test_a_file_that_changed_is_looked_at_again(tmp_path: Path) -> None:
    path, notes = tmp_path / "visits.parquet", tmp_path / "notes"
    log().write_parquet(path, row_group_size=10)
    before = outcome(path, DAY, notes)
    log().reverse().write_parquet(path, row_group_size=10)
    assert outcome(path, DAY, notes) == before
    moved = pl.col("start", "end") + timedelta(days=3)
    log().with_columns(moved).write_parquet(path, row_group_size=10)
    assert outcome(path, DAY, notes) == outcome(path, DAY)
    assert len(list(notes.iterdir())) == 3


def test_statistics_that_lie_change_nothing(tmp_path: Path) -> None:
    """Everybody is in the window, and the file says that nobody is."""
    path = tmp_path / "visits.parquet"
    content = written(columns())
    footer, lie = footer_of(content), as_written(DAY.end + timedelta(days=300))
    for moment in (DAY.start, DAY.start + timedelta(hours=1)):
        content[footer:] = content[footer:].replace(as_written(moment), lie)
    path.write_bytes(content)
    assert pl.scan_parquet(path).filter(pl.col("start") < DAY.end).collect().is_empty()  # so they lie
    right = [100, 0, 0, 0, 0]
    for _ in range(2):
        assert outcome(path, DAY, tmp_path / "notes") == right


def claim_rows(path: Path, numbers: list[int], whole: int | None = None) -> None:
    """Change how many rows the footer says each row group has and, if given, the whole file."""
    content = path.read_bytes()
    begin = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    footer, cuts, of_file = CompactReader(content[begin:-8]), [], []
    for number, kind in footer.fields():
        if (number, kind) != (4, 9):
            before = footer.position
            footer.skip(kind)
            of_file += [(before, footer.position)] if number == 3 else []
            continue
        for _ in range(footer.size()[0]):
            for inner, inner_kind in footer.fields():
                before = footer.position
                footer.skip(inner_kind)
                cuts += [(before, footer.position)] if inner == 3 else []
    ending, claims = content[begin:-8], dict(zip(cuts, numbers, strict=True))
    if whole is not None:
        claims[of_file[0]] = whole
    for (first, last), claimed in sorted(claims.items(), reverse=True):
        assert claimed < 64  # one byte, twice the number
        ending = ending[:first] + bytes([2 * claimed]) + ending[last:]
    path.write_bytes(content[:begin] + ending + len(ending).to_bytes(4, "little") + content[-4:])
    assert row_groups(path) == numbers


@pytest.mark.parametrize("group", [0, 8, 9, 10, 11, 19])
@pytest.mark.parametrize("claimed", [1, 5, 9, 11, 15])
@pytest.mark.parametrize("balanced", [False, True])
def test_numbers_of_rows_that_lie_lose_nobody(
    tmp_path: Path, group: int, claimed: int, balanced: bool
) -> None:
    """Polars loses rows beyond those a footer claims where it reads a piece of the file."""
    path, notes = tmp_path / "visits.parquet", tmp_path / "notes"
    log().write_parquet(path, row_group_size=10)
    numbers = [10] * 20
    numbers[group] = claimed
    if balanced:  # so that the sum is right
        numbers[(group + 1) % 20] = 20 - claimed
    claim_rows(path, numbers)
    for window in (NOON, DAY, NOT_YET):
        refused = outcome(path, window)
        assert isinstance(refused, str)
        assert "cannot be read to the end" in refused
        for _ in range(2):
            assert outcome(path, window, notes) == refused


@pytest.mark.parametrize("harm", ["written over", "exchanged"])
def test_a_file_that_changes_between_its_digest_and_its_measurement_leaves_no_notes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: str
) -> None:
    """Else the times of another file would be noted for these bytes, and be believed once they are back."""
    path, notes, other = (tmp_path / name for name in ("visits.parquet", "notes", "other"))
    log().write_parquet(path, row_group_size=10)
    right, content = outcome(path, DAY), path.read_bytes()
    log().with_columns(pl.col("start", "end") + timedelta(days=300)).write_parquet(other, row_group_size=10)
    real = ranges.measure

    def exchanged(*given: Any) -> list[ranges.RowGroup]:
        if harm == "exchanged":
            other.replace(path)
        else:
            path.write_bytes(other.read_bytes())
        return real(*given)

    with monkeypatch.context() as patch:
        patch.setattr(ranges, "measure", exchanged)
        said = outcome(path, DAY, notes)
    assert isinstance(said, str)
    assert "A file changed while it was read." in said
    path.write_bytes(content)
    assert outcome(path, DAY, notes) == right


def test_notes_of_another_version_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later version may find a row doubtful that an earlier one did not."""
    path, notes = tmp_path / "visits.parquet", tmp_path / "notes"
    log().write_parquet(path, row_group_size=10)
    assert measured(path, DAY, notes)
    assert not measured(path, DAY, notes)
    monkeypatch.setattr("safeside.__version__", "another")
    assert measured(path, DAY, notes)


@pytest.mark.parametrize(
    "harm", ["pipe", "endless", "garbage", "empty", "one bit", "of another file", "folder"]
)
def test_notes_that_somebody_changed_are_not_believed(tmp_path: Path, harm: str) -> None:
    path, notes = tmp_path / "visits.parquet", tmp_path / "notes"
    log().write_parquet(path, row_group_size=10)
    right = outcome(path, DAY, notes)
    (kept_in,) = notes.iterdir()
    other = tmp_path / "other.parquet"
    log().with_columns(pl.col("start", "end") + timedelta(days=300)).write_parquet(other, row_group_size=10)
    outcome(other, DAY, notes)
    (others,) = set(notes.iterdir()) - {kept_in}
    content = kept_in.read_bytes()
    if harm in ("folder", "pipe", "endless"):
        kept_in.unlink()
        if harm == "folder":
            kept_in.mkdir()
        elif harm == "pipe":  # which nobody writes to
            os.mkfifo(kept_in)
        else:
            kept_in.symlink_to("/dev/zero")
    else:
        kept_in.write_bytes(
            {
                "garbage": b"[[200, 0, 0]]",
                "empty": b"",
                "one bit": bytes([*content[:-1], content[-1] ^ 1]),
                "of another file": others.read_bytes(),
            }[harm]
        )
    assert outcome(path, DAY, notes) == right


def test_notes_are_private_and_say_nothing(tmp_path: Path) -> None:
    path, notes = tmp_path / "visits.parquet", tmp_path / "notes"
    log().write_parquet(path, row_group_size=10)
    outcome(path, DAY, notes)
    (only,) = notes.iterdir()
    assert (only.stat().st_mode & 0o777, notes.stat().st_mode & 0o777) == (0o600, 0o700)
    assert b"[" not in only.read_bytes()[:1]
    assert str(round(DAY.start.timestamp())).encode()[:6] not in only.read_bytes()


def test_where_nothing_can_be_written_the_count_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    log().write_parquet(path, row_group_size=10)
    (tmp_path / "file").write_text("no folder")
    assert outcome(path, DAY, tmp_path / "file" / "notes") == outcome(path, DAY)


def test_a_user_without_a_home_counts_without_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that runs under a number nobody has."""

    def unknown() -> Path:
        raise RuntimeError

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert ranges.default_cache() == tmp_path / "safeside" / "ranges"
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for relative in ("", "cache"):
        monkeypatch.setenv("XDG_CACHE_HOME", relative)
        assert ranges.default_cache() == tmp_path / ".cache" / "safeside" / "ranges"
    monkeypatch.setattr(Path, "home", unknown)
    assert ranges.default_cache() is None


def test_declarations_that_decide_what_is_doubtful_have_notes_of_their_own(tmp_path: Path) -> None:
    path, notes = tmp_path / "visits.parquet", tmp_path / "notes"
    log().write_parquet(path, row_group_size=10)
    for declared in (VisitFormat(), VisitFormat(trust_times=True)):
        count_visits(path, places(), DAY, declared, key=KEY, remember=notes)
    assert len(list(notes.iterdir())) == 2
