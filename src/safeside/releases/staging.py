"""A release is made beside its place, out of sight, and appears there in one step.

Two kinds of hidden names stand beside DIR for a while, with a token of the request and one drawn by chance:
`.sealed`, one file that holds what was drawn, encrypted; and `.appearing`, a directory of the committed,
signed files that becomes DIR by a rename. Whoever may write there can put anything under such names, so
nothing found under them is believed: a sealed file is opened with the ledger's key or not at all, and a
directory is never read, only deleted.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from safeside import disk
from safeside.errors import CannotWrite
from safeside.ledger import steps
from safeside.releases import publish_steps

SEALED: Final = "sealed"
APPEARING: Final = "appearing"
_LOCK: Final = "lock"
_TOKEN: Final = 16
_OWNER, _EVERYBODY = 0o700, 0o755


@dataclass(frozen=True, kw_only=True)
class Staging:
    """Where the release of one request is made."""

    out: Path
    request: str

    def beside(self, name: str) -> Path:
        """A hidden name next to the directory, of this request alone."""
        token = hashlib.sha256(self.request.encode()).hexdigest()[:_TOKEN]
        return self.out.parent / f".{self.out.name}.{token}.{name}"

    def require_possible(self) -> None:
        """Refuse, before anything is paid, a directory that holds something else.

        That its parent can be written to is shown by `turn`, which makes a file there.
        """
        if os.path.lexists(self.out) and (not self.out.is_dir() or any(self.out.iterdir())):
            raise CannotWrite(
                f'"{self.out}" exists already and is not the release asked for.',
                "Choose a directory that does not exist yet; a published release is never overwritten.",
            )

    def require_unused(self) -> None:
        """Refuse, before anything is paid, what stands under the names of a request that was never made."""
        if self._left():
            raise CannotWrite(
                f'Beside "{self.out}" stands something under the names of this request '
                f'("{self.beside("*").name}"), for which the ledger has reserved nothing.',
                "Somebody else writes in that directory, or the ledger is not the one it was. Find out "
                "which; then delete it, and publish to a directory that only you may write to.",
            )

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Two processes with the same request take turns; the second finds what the first has made."""
        path = self.beside(_LOCK)
        with disk.writing(self.out):
            disk.make(self.out.parent)
            handle = _locked(path)
        try:
            yield
        finally:
            with suppress(OSError):
                path.unlink()
            os.close(handle)

    @contextmanager
    def sealing(self) -> Iterator[tuple[Path, BinaryIO]]:
        """A new file for what is about to be drawn; whoever is stopped before it is whole leaves none."""
        path = self._fresh(SEALED)
        with disk.writing(path):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, disk.PRIVATE)
        try:
            with os.fdopen(handle, "wb") as file:
                yield path, file
        except BaseException:
            # A full disk must not stay full of this.
            path.unlink(missing_ok=True)
            raise

    def appear(self, files: Mapping[str, bytes]) -> None:
        """The release is there, whole: written into a directory of our own, which then gets its name."""
        path = self._fresh(APPEARING)
        with disk.writing(path):
            path.mkdir(mode=_OWNER)
        try:
            with _opened(path) as handle:
                steps.reached(publish_steps.MADE)
                for name, data in files.items():
                    disk.write(path / name, data, within=handle)
                    steps.reached(publish_steps.PLACED)
                with disk.writing(path):
                    os.fchmod(handle, _EVERYBODY)
                    os.fsync(handle)
                steps.reached(publish_steps.FLUSHED)
                self._rename(path, handle)
        except BaseException:
            with suppress(CannotWrite):
                disk.remove(path)
            raise

    def _rename(self, path: Path, handle: int) -> None:
        with disk.writing(self.out):
            if os.path.lexists(self.out) and (self.out.is_symlink() or not self.out.is_dir()):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            # An empty directory of that name gives way; one with files in it does not.
            path.rename(self.out)
            ours, there = os.fstat(handle), self.out.stat()
        if (ours.st_dev, ours.st_ino) != (there.st_dev, there.st_ino):
            raise CannotWrite(
                f'What stands at "{self.out}" is not what was written: somebody else writes beside it.',
                "Take it away, and see to it that only you may write there.",
            )
        disk.flush(self.out.parent)

    def clear(self) -> None:
        """Delete what this request left beside the directory, as far as that is possible."""
        for left in self._left():
            with suppress(CannotWrite):
                disk.remove(left)
        disk.flush(self.out.parent)

    def _fresh(self, name: str) -> Path:
        return self.beside(f"{secrets.token_hex(_TOKEN // 2)}.{name}")

    def _left(self) -> list[Path]:
        start, lock = self.beside("").name, self.beside(_LOCK)
        if not self.out.parent.is_dir():
            return []
        return sorted(one for one in self.out.parent.iterdir() if one.name.startswith(start) and one != lock)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    with disk.writing(path):
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield handle
    finally:
        os.close(handle)


def _locked(path: Path) -> int:
    while True:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        handle = os.open(path, flags, disk.PRIVATE)
        fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            if os.fstat(handle).st_ino == path.stat().st_ino:
                return handle
        except FileNotFoundError:
            pass
        # Whoever had the turn has taken the file away: queue at the new one.
        os.close(handle)
