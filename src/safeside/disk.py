"""Files and names that survive a power cut: written, flushed to the disk, then put in place by one rename.

Every way in which a disk can refuse has one message (`writing`); `sync` and `make` raise the error itself,
for those who have a better one.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from safeside.errors import CannotWrite

PUBLIC: Final = 0o644
PRIVATE: Final = 0o600


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say plainly why the disk refused, whatever was being written at `path`."""
    try:
        yield
    except OSError as error:
        raise CannotWrite(*_reason(path, error)) from error


def _reason(path: Path, error: OSError) -> tuple[str, str]:
    where = f'"{path}"'
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return (
            f"The disk is full: {where} could not be written.",
            "Free some space and run the same command again.",
        )
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return (
            f"{where} cannot be written: the directory is read-only for this user.",
            "Choose a directory this user may write to, or change its permissions, and run the same command "
            "again.",
        )
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return (f"{where} cannot be written: its directory does not exist.", "Create the directory first.")
    if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
        return (f"{where} exists already.", "Choose another name; nothing is ever overwritten.")
    return (
        f"{where} could not be written ({os.strerror(error.errno or 0)}).",
        "Repair the disk or choose another directory, and run the same command again.",
    )


def write(path: Path, data: bytes, *, mode: int = PUBLIC, within: int | None = None) -> None:
    """A new file with these bytes, on the disk before this returns; an existing file is refused.

    `within` is the open directory of the path: what somebody puts in its place meanwhile is not written to.
    """
    with writing(path):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        handle = os.open(path if within is None else path.name, flags, mode, dir_fd=within)
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


def replace(path: Path, data: bytes, *, mode: int = PUBLIC) -> None:
    """The file at `path` holds either its old bytes or these, never something between.

    The bytes are first written to a hidden name beside it; a process that is killed leaves that behind.
    """
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    try:
        write(fresh, data, mode=mode)
        with writing(path):
            fresh.rename(path)
        flush(path.parent)
    finally:
        fresh.unlink(missing_ok=True)


def flush(directory: Path) -> None:
    """Names created, renamed or deleted in the directory are on the disk."""
    with writing(directory):
        sync(directory)


def sync(directory: Path) -> None:
    """The same, with the error of the operating system."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make(directory: Path) -> None:
    """The directory, with those above it that are missing, all of them on the disk."""
    missing = [one for one in (directory, *directory.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(exist_ok=True)
        sync(one.parent)


def move(old: Path, new: Path) -> None:
    """Rename a directory (or file) to a name that must be free, durably."""
    with writing(new):
        if new.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(new))
        old.rename(new)
    flush(new.parent)


def remove(path: Path) -> None:
    """Delete a file, or a directory and everything in it; a link is deleted, never followed.

    Nothing happens where there is none.
    """
    with writing(path):
        if not path.is_dir() or path.is_symlink():
            path.unlink(missing_ok=True)
        else:
            try:
                shutil.rmtree(path)
            except RecursionError:
                raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG)) from None
    if path.parent.exists():
        flush(path.parent)
