"""The witness: a second copy of the list of events, kept outside the database.

A database that is restored from a backup, or copied and used twice, forgets what was published since, and
with it what was spent. The witness does not: it is a plain file beside the database and another in the
user's state directory, to which every event is appended once it is stored. A line that is not on the
database's chain proves a fork.

The witness can lag behind the database by the events of one crash (they are added with the next event); it is
never ahead of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from safeside.errors import StoreUnavailable
from safeside.ledger import disk, events
from safeside.ledger.events import Head

STATE_VARIABLE: Final = "SAFESIDE_STATE_DIR"
"""Where to keep the second witness, if not in the user's state directory."""
_OWNER_ONLY: Final = 0o600
_EVENT: Final = "event"
_DOCUMENT: Final = "document"


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


class Witness:
    """One file. It only grows, so each process reads what is new and nothing twice."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.number = 0
        """The last event of the database's own chain that stands here; set by the ledger, which knows."""
        self.documents: set[str] = set()
        self._read = 0

    def news(self) -> Iterator[Line]:
        """Every event that was added since the last call."""
        try:
            size = self.path.stat().st_size
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
                self.documents.add(rest.partition(" ")[0])
            elif kind == _EVENT:
                number, _, rest = rest.partition(" ")
                digest, _, body = rest.partition(" ")
                if number.isdecimal():
                    yield Line(head=Head(number=int(number), digest=digest), body=body)

    def add(self, rows: Iterable[tuple[int, str, str]], documents: dict[str, str]) -> None:
        """Append events, and the documents they speak of; on the disk before this returns."""
        text = "".join(
            [f"{_DOCUMENT} {digest} {body}\n" for digest, body in documents.items()]
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
            handle = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, _OWNER_ONLY)
            try:
                if new:
                    disk.flush(self.path.parent)
                yield handle
            finally:
                os.close(handle)
        except OSError as error:
            raise _unusable(self.path, error) from error

    def document(self, digest: str) -> str | None:
        """A document as the witness saw it."""
        start = f"{_DOCUMENT} {digest} "
        with self.path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                body = line.removeprefix(start).rstrip("\n")
                if line.startswith(start) and events.digest(body) == digest:
                    return body
        return None


def _mend(handle: int) -> str:
    size = os.fstat(handle).st_size
    return "\n" if size and os.pread(handle, 1, size - 1) != b"\n" else ""


def _unusable(path: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(
        f'The ledger\'s witness "{path}" cannot be used ({os.strerror(error.errno or 0)}).',
        "Make the file and its directory writable for this user and free some space, or set "
        f"{STATE_VARIABLE} to a directory that lasts; then run the same command again with the same "
        "request id.",
    )
