"""Files that change while they are read, whichever way: nothing is counted of a mixture of two states."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.visits.making import DAY, check_visits, count_visits, places, table, write_csv, write_parquet
from tests.visits.plain import Stay

from safeside.errors import BadFile
from safeside.progress import quiet
from safeside.visits import VisitFormat, Window, read_places
from safeside.visits.read import paths
from safeside.visits.read.source import open_paths

ROWS = [Stay(who, "bar", DAY.start, DAY.end) for who in ("ana", "ben", "chi")]
OTHERS = [Stay(who, "gym", DAY.start, DAY.end) for who in ("dev", "eva", "fay")]
WRITE: dict[str, Callable[[Any, Path], Path]] = {"csv": write_csv, "parquet": write_parquet}
Change = Callable[[Path, Path], None]


def grow(path: Path, other: Path) -> None:
    path.write_bytes(path.read_bytes() + other.read_bytes().split(b"\n", 1)[1])


def shrink(path: Path, other: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def exchange(path: Path, other: Path) -> None:
    other.replace(path)


def exchange_unseen(path: Path, other: Path) -> None:
    """As large as before, and with the times of before."""
    before = path.stat()
    assert other.stat().st_size == before.st_size
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)


def edit_unseen(path: Path, other: Path) -> None:
    """The same file on the disk, as large as before, and with the times of before."""
    before = path.stat()
    with path.open("r+b") as stream:
        stream.write(other.read_bytes())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def there_and_back(path: Path, other: Path) -> None:
    """Away, and back again before anybody looks: what was read in between may have been something else."""
    path.rename(path.with_suffix(".away"))
    path.with_suffix(".away").rename(path)


def link_elsewhere(path: Path, other: Path) -> None:
    path.unlink()
    path.symlink_to(other)


def during(change: Callable[[], None], what: str) -> Callable[[float | None, str], None]:
    """Progress that changes something as soon as this is being done."""
    left = [change]

    def progress(done: float | None, doing: str) -> None:
        if doing.startswith(what) and left:
            left.pop()()

    return progress


@pytest.mark.parametrize("kind", sorted(WRITE))
@pytest.mark.parametrize(
    ("act", "window", "doing"),
    [
        (count_visits, DAY, "Counting people"),
        (check_visits, DAY, "Counting people"),
        (check_visits, None, "Checking every row"),
    ],
)
@pytest.mark.parametrize(
    "change",
    [grow, shrink, exchange, exchange_unseen, edit_unseen, there_and_back, link_elsewhere],
)
def test_between_two_readings(
    tmp_path: Path, kind: str, act: Any, window: Window | None, doing: str, change: Change
) -> None:
    """After the bytes were looked at, and before the rows are."""
    path = WRITE[kind](table(ROWS), tmp_path / f"visits.{kind}")
    other = WRITE[kind](table(OTHERS), tmp_path / f"other.{kind}")
    with pytest.raises(BadFile, match="A file changed while it was read"):
        act(path, places(), window, progress=during(lambda: change(path, other), doing))


def test_while_the_bytes_are_looked_at(tmp_path: Path) -> None:
    path = write_csv(table(ROWS), tmp_path / "visits.csv")
    other = write_csv(table(OTHERS), tmp_path / "other.csv")
    progress = during(lambda: exchange_unseen(path, other), "Reading")
    with pytest.raises(BadFile, match="A file changed while it was read"):
        count_visits(path, places(), DAY, progress=progress)


@pytest.mark.parametrize("change", [grow, shrink, exchange, exchange_unseen, edit_unseen, there_and_back])
def test_while_the_digest_is_taken(tmp_path: Path, change: Change) -> None:
    """Of some pieces it may be the one state, of others the other: neither is counted under it."""
    path = write_parquet(table(ROWS), tmp_path / "visits.parquet")
    other = write_parquet(table(OTHERS), tmp_path / "other.parquet")
    progress = during(lambda: change(path, other), "Reading")
    with pytest.raises(BadFile, match=r"A file changed while it was read|is cut off|is damaged"):
        count_visits(path, places(), DAY, progress=progress, key=bytes(32))


@pytest.mark.parametrize("kind", sorted(WRITE))
@pytest.mark.parametrize("change", [shrink, exchange, exchange_unseen, edit_unseen, there_and_back])
def test_a_list_of_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, change: Change) -> None:
    path = WRITE[kind](pl.DataFrame({"place": ["bar", "gym"]}), tmp_path / f"places.{kind}")
    other = WRITE[kind](pl.DataFrame({"place": ["pub", "gym"]}), tmp_path / f"other.{kind}")
    collect = pl.LazyFrame.collect

    def late(*given: Any, **options: Any) -> pl.DataFrame:
        if "place" in given[0].collect_schema():
            change(path, other)
        return collect(*given, **options)

    assert len(read_places(path)) == 2
    monkeypatch.setattr(pl.LazyFrame, "collect", late)
    with pytest.raises(BadFile):
        read_places(path)


@pytest.mark.parametrize("kind", sorted(WRITE))
def test_what_does_not_change_is_counted(tmp_path: Path, kind: str) -> None:
    path = WRITE[kind](table(ROWS), tmp_path / f"visits.{kind}")
    other = WRITE[kind](table(OTHERS), tmp_path / f"other.{kind}")
    progress = during(lambda: other.unlink(), "Counting people")
    assert count_visits(path, places(), DAY, progress=progress).values.tolist() == [3, 0, 0, 0, 0]
    assert not other.exists()


@pytest.mark.parametrize("given", ["", "*.csv"])
def test_another_file_comes_or_goes(tmp_path: Path, given: str) -> None:
    """A folder that is still being written to, file by file."""
    write_csv(table(ROWS), tmp_path / "a.csv")
    visits = str(tmp_path / given)

    def come() -> None:
        write_csv(table(OTHERS), tmp_path / "b.csv")

    with pytest.raises(BadFile, match="Files came or went") as stopped:
        count_visits(visits, places(), DAY, progress=during(come, "Counting"))
    assert "name the files that are meant" in stopped.value.do
    assert count_visits(visits, places(), DAY).values.tolist() == [3, 0, 3, 0, 0]
    named = [tmp_path / "a.csv"]
    (tmp_path / "b.csv").unlink()
    assert count_visits(named, places(), DAY, progress=during(come, "Counting")).values.sum() == 3


def test_a_change_in_the_same_moment_as_the_one_before(tmp_path: Path) -> None:
    """A disk keeps time in ticks: reading does not begin in the tick in which a file was written."""
    path = tmp_path / "visits.csv"
    for _ in range(5):
        write_csv(table(ROWS), path)
        open_paths(path, VisitFormat(), key=None, progress=quiet)
        assert time.time_ns() - path.stat().st_ctime_ns >= 10_000_000


def test_a_disk_that_keeps_whole_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_700_000_000 * 10**9
    monkeypatch.setattr(paths.time, "time_ns", lambda: now + 7)

    def unsure(modified: int, changed: int, turned: int = now - 3 * 10**9) -> int:
        of_link = {"links": ((1, turned),)}
        stamp = paths.Stamp(size=1, modified=modified, changed=changed, file=1, device=1, **of_link)
        return stamp.unsure()

    second = 10**9
    assert unsure(now, now) == 2 * second - 7
    assert unsure(now - 2 * second, now - 2 * second) == 0
    assert unsure(now, now - 1) == 12_000_000 - 7
    assert unsure(now - second, now - second - 1) == 0
    assert unsure(now - 2 * second, now - 2 * second, now) == 2 * second - 7
    assert unsure(now - 2 * second, now - 2 * second, now - 1) == 12_000_000 - 8
    # A clock on another machine may be ahead: nobody waits for it for long.
    assert unsure(now + 3600 * second, now) == 2 * second


def test_a_file_written_while_one_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_csv(table(ROWS), tmp_path / "visits.csv")
    monkeypatch.setattr(paths.time, "sleep", lambda _: shrink(path, path))
    monkeypatch.setattr(paths.time, "time_ns", lambda: path.stat().st_ctime_ns)
    with pytest.raises(BadFile, match="A file changed while it was read"):
        count_visits(path, places(), DAY)
