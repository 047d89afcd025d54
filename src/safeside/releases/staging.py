"""A release is made beside its place, out of sight, and appears there in one step.

Three names stand beside DIR, all hidden and all carrying a token of the request: `.drawing` while files are
being written (worthless after a crash), `.staged` once every file is on the disk (what was drawn is then
fixed: a retry uses it and never draws again), and `.purged`, which says that a draw was deleted and must not
be repeated.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from safeside.errors import CannotWrite, RequestConflict
from safeside.ledger import disk
from safeside.releases import durable

DRAWING: Final = "drawing"
STAGED: Final = "staged"
PURGED: Final = "purged"
_LOCK: Final = "lock"
_TOKEN: Final = 16
_OWNER, _EVERYBODY = 0o700, 0o755
PRIVATE: Final = ".private.json"
"""Inside a staged directory: what only the ledger may see. It is gone before the directory is published."""


@dataclass(frozen=True, kw_only=True)
class Staging:
    """Where the release of one request is made."""

    out: Path
    request: str

    def beside(self, name: str) -> Path:
        """A hidden name next to the directory, of this request alone."""
        token = hashlib.sha256(self.request.encode()).hexdigest()[:_TOKEN]
        return self.out.parent / f".{self.out.name}.{token}.{name}"

    @property
    def drawing(self) -> Path:
        """Where files are being written."""
        return self.beside(DRAWING)

    @property
    def staged(self) -> Path:
        """Where they stand complete."""
        return self.beside(STAGED)

    def require_possible(self) -> None:
        """Refuse, before anything is paid, a directory that could not be written."""
        if self.out.exists() and (not self.out.is_dir() or any(self.out.iterdir())):
            raise CannotWrite(
                f'"{self.out}" exists already and is not the release asked for.',
                "Choose a directory that does not exist yet; a published release is never overwritten.",
            )
        if self.beside(PURGED).exists():
            raise RequestConflict(
                f'What was drawn for the request "{self.request}" was purged, and none is drawn twice.',
                "Ask again under a new request id; that is a new release and is charged anew.",
            )
        with durable.writing(self.out):
            disk.make(self.out.parent)
            durable.remove(self.drawing)
            self.drawing.mkdir()
        durable.remove(self.drawing)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Two processes with the same request take turns; the second finds what the first has made."""
        path = self.beside(_LOCK)
        with durable.writing(self.out):
            disk.make(self.out.parent)
            handle = _locked(path)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
            os.close(handle)

    def write(self, files: Mapping[str, bytes], private: bytes | None = None) -> None:
        """Every file on the disk, in a directory that is not complete yet."""
        durable.remove(self.drawing)
        with durable.writing(self.drawing):
            # Nobody else looks in before the ledger has committed to it.
            self.drawing.mkdir(mode=_OWNER)
        for name, data in files.items():
            durable.write(self.drawing / name, data)
        if private is not None:
            durable.write(self.drawing / PRIVATE, private, mode=durable.PRIVATE)
        durable.flush(self.drawing)

    @contextmanager
    def making(self) -> Iterator[None]:
        """From the first file to the second name: whoever is stopped in between leaves nothing behind."""
        try:
            yield
        except BaseException:
            # A full disk must not stay full of this.
            durable.remove(self.drawing)
            raise

    def complete(self) -> None:
        """From here on, what was drawn is fixed."""
        durable.move(self.drawing, self.staged)

    def appear(self) -> None:
        """The release is there, whole."""
        with durable.writing(self.out):
            if self.out.is_dir():
                self.out.rmdir()
            self.staged.chmod(_EVERYBODY)
        durable.move(self.staged, self.out)


def _locked(path: Path) -> int:
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, durable.PRIVATE)
        fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            if os.fstat(handle).st_ino == path.stat().st_ino:
                return handle
        except FileNotFoundError:
            pass
        # Whoever had the turn has taken the file away: queue at the new one.
        os.close(handle)
