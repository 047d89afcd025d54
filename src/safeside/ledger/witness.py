"""The witness: a second copy of the list of events, kept outside the database.

A database that is restored from a backup, or copied and used twice, forgets what was published since, and
with it what was spent. The witness does not: it is a plain file beside the database and another in the
user's state directory, to which every event is appended once it is stored. A line that is not on the
database's chain proves a fork.

The witness can lag behind the database by the events of one crash (they are added with the next event); it is
never ahead of it. It holds the documents and the fingerprint key too, so that a database that is lost can be
made anew from it; whoever may read the one may read the other.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from safeside import disk
from safeside.errors import StoreUnavailable
from safeside.ledger import events
from safeside.ledger.events import Head

STATE_VARIABLE: Final = "SAFESIDE_STATE_DIR"
"""Where to keep the second witness, if not in the user's state directory."""
_OWNER_ONLY: Final = 0o600
_EVENT: Final = "event"
_DOCUMENT: Final = "document"
_KEY: Final = "key"
_MOST_DIGITS: Final = 18
"""More than any number of an event has; what is longer is noise."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One event as the witness saw it."""

    head: Head
    body: str

    def whole(self) -> bool:
        """Whether the line is what was written, not one that a crash cut short."""
        return events.digest(self.body) == self.head.digest


def state_directory() -> Path:
    """Where programs of this user keep what must last but is not a setting."""
    chosen = os.environ.get(STATE_VARIABLE)
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "safeside"


def witness_of(ledger_id: str) -> Path:
    """The witness of a ledger in the state directory."""
    return state_directory() / f"{ledger_id}.witness"


class Witness:
    """One file. It only grows, so each process reads what is new and nothing twice."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.number = 0
        """Up to which event the database's own chain stands here without a gap; set by the ledger."""
        self.documents: set[str] = set()
        self.keys: set[str] = set()
        self._read = 0

    def news(self) -> Iterator[Line]:
        """Every event that was added since the last call."""
        try:
            status = self.path.stat()
            _require_file(status)
            size = status.st_size
        except FileNotFoundError:
            size = 0
        except OSError as error:
            raise _unusable(self.path, error) from error
        if size < self._read:
            # The file was replaced.
            self.rewind()
        if size > self._read:
            yield from self._lines()

    def rewind(self) -> None:
        """Read all of it again with the next call of `news`."""
        self.number, self._read = 0, 0
        self.documents.clear()
        self.keys.clear()

    def _lines(self) -> Iterator[Line]:
        try:
            with self.path.open("rb") as file:
                file.seek(self._read)
                new = file.read()
        except OSError as error:
            raise _unusable(self.path, error) from error
        whole = new[: new.rfind(b"\n") + 1]
        self._read += len(whole)
        for text in whole.decode(errors="replace").split("\n"):
            kind, _, rest = text.partition(" ")
            if kind == _DOCUMENT:
                digest, _, body = rest.partition(" ")
                if events.digest(body) == digest:
                    self.documents.add(digest)
            elif kind == _KEY:
                self.keys.add(rest)
            elif kind == _EVENT:
                number, _, rest = rest.partition(" ")
                digest, _, body = rest.partition(" ")
                if number.isdecimal() and len(number) <= _MOST_DIGITS:
                    yield Line(head=Head(number=int(number), digest=digest), body=body)

    def add(self, key: str, rows: Iterable[tuple[int, str, str]], documents: dict[str, str]) -> None:
        """Append events, the documents they speak of, and once the key; on the disk before this returns."""
        text = "".join(
            [f"{_KEY} {one}\n" for one in {key} - self.keys]
            + [f"{_DOCUMENT} {digest} {body}\n" for digest, body in documents.items()]
            + [f"{_EVENT} {number} {digest} {body}\n" for number, digest, body in rows]
        )
        with self._opened() as handle:
            # A line that a crash cut short must not swallow the first of these.
            data = (_mend(handle) + text).encode()
            while data:
                data = data[os.write(handle, data) :]
            os.fsync(handle)

    def ready(self) -> None:
        """Refuse now what `add` would refuse once the event is stored."""
        with self._opened():
            pass

    @contextmanager
    def _opened(self) -> Iterator[int]:
        try:
            disk.make(self.path.parent)
            new = not self.path.exists()
            handle = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK, _OWNER_ONLY)
            try:
                _require_file(os.fstat(handle))
                if new:
                    disk.sync(self.path.parent)
                yield handle
            finally:
                os.close(handle)
        except OSError as error:
            raise _unusable(self.path, error) from error

    def document(self, digest: str) -> str | None:
        """A document as the witness saw it."""
        start = f"{_DOCUMENT} {digest} "
        try:
            with self.path.open(encoding="utf-8", errors="replace", newline="\n") as file:
                for line in file:
                    body = line.removeprefix(start).rstrip("\n")
                    if line.startswith(start) and events.digest(body) == digest:
                        return body
        except OSError as error:
            raise _unusable(self.path, error) from error
        return None


def _require_file(status: os.stat_result) -> None:
    """A pipe or a socket would keep us waiting, or keep nothing."""
    if stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode):
        raise OSError(errno.EINVAL, "")


def _mend(handle: int) -> str:
    size = os.fstat(handle).st_size
    return "\n" if size and os.pread(handle, 1, size - 1) != b"\n" else ""


def _unusable(path: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(
        f'The ledger\'s witness "{path}" cannot be used ({_why(error)}).',
        "Make the file and its directory writable for this user and free some space, or set "
        f"{STATE_VARIABLE} to a directory that lasts; then run the same command again with the same "
        "request id.",
    )


def _why(error: OSError) -> str:
    return "it is not a plain file" if error.errno == errno.EINVAL else os.strerror(error.errno or 0)
