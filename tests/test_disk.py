"""Files are whole or absent, and every way a disk can refuse has a plain message."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from safeside import disk
from safeside.errors import CannotWrite


def test_a_file_is_written_once(tmp_path: Path) -> None:
    disk.write(tmp_path / "a", b"one")
    with pytest.raises(CannotWrite, match="exists already"):
        disk.write(tmp_path / "a", b"two")
    assert (tmp_path / "a").read_bytes() == b"one"


def test_replacing_leaves_nothing_behind(tmp_path: Path) -> None:
    disk.replace(tmp_path / "a", b"one")
    disk.replace(tmp_path / "a", b"two")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"two"


def test_moving_never_overwrites(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with pytest.raises(CannotWrite, match="exists already"):
        disk.move(tmp_path / "a", tmp_path / "b")


def test_a_real_full_disk(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match="disk is full"), disk.writing(tmp_path / "a"):
        Path("/dev/full").write_bytes(b"x")


@pytest.mark.parametrize(
    ("code", "what"),
    [
        (errno.ENOSPC, "disk is full"),
        (errno.EDQUOT, "disk is full"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "read-only"),
        (errno.ENOENT, "does not exist"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_every_refusal_says_why(tmp_path: Path, code: int, what: str) -> None:
    with pytest.raises(CannotWrite) as caught, disk.writing(tmp_path / "a"):
        raise OSError(code, "refused")
    assert what in caught.value.what
    assert caught.value.do
