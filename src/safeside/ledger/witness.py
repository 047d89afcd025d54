"""The witness: a second copy of the list of events, kept outside the database.

A database that is restored from a backup, or copied and used twice, forgets what was published since, and
with it what was spent. The witness does not: it is a plain file beside the database and another in the
user's state directory, to which every event is appended once it is stored. A line that is not on the
database's chain proves a fork.

The witness can lag behind the database by the events of one crash (they are added with the next event); it is
never ahead of it. It holds the documents and the fingerprint key too, so that a database that is lost can be
made anew from it; whoever may read the one may read the other.

A `compared` line says that everything before a place of this very file was compared with the chain up to a
checkpoint, that all of that chain stands in the file, and that no later event stands before the place. So a
process that begins at that checkpoint reads from that place on, and from no earlier one. The line ends with a
digest of what stands just before the place: in a file that was put together from others it holds no more.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from safeside import disk, records
from safeside.errors import StoreUnavailable
from safeside.ledger import events
from safeside.ledger.events import Event, Head
from safeside.ledger.store import Identity, Row

STATE_VARIABLE: Final = "SAFESIDE_STATE_DIR"
"""Where to keep the second witness, if not in the user's state directory."""
_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_NONBLOCK
_EVENT: Final = "event"
_EVENT_START: Final = f"{_EVENT} ".encode()
_DOCUMENT: Final = "document"
_COMPARED: Final = "compared"
_IDENTITY: Final = "witness"
_MOST_DIGITS: Final = 18
"""More than any number of an event has; what is longer is noise."""
_BLOCK: Final = 1 << 18
_MARKS: Final = 2
"""So many of the last `compared` lines are looked for: one may be of a moment ago."""
_FURTHER: Final = 4
"""How many blocks before the last such line are searched for another."""
_BEFORE: Final = 4096
"""So many bytes before its place a `compared` line knows again."""


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One event as the witness saw it: what was written, not a line that a crash cut short."""

    head: Head
    data: bytes
    start: int
    """Where in the file it begins."""

    @property
    def body(self) -> str:
        """The event itself."""
        return self.data.decode(errors="replace")


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
        self.size = 0
        """How long the file was when it was last looked at: what came later is read another time."""
        self.marks: dict[Head, int] = {}
        """Checkpoints up to which it was compared, and from where on it has to be read after each."""
        self.documents: dict[str, tuple[int, int]] = {}
        """Where each document begins and ends that was read."""
        self.keys: set[str] = set()
        self._file: tuple[int, int] | None = None
        """Which file it was when it was last looked at."""
        self.base = 0
        """The checkpoint it is read from: every document of an event before it stands here, too."""
        self.read = 0
        self._ahead: tuple[int, int, bytes] | None = None
        """What `after` read, and from where to where: `news` need not read it again."""
        self._later: dict[Head, int] = {}
        """Where the first event stands that came after a checkpoint."""

    def refresh_size(self) -> bool:
        """Remember how long the file is now; False where it is not the one that was read."""
        size, file = 0, None
        with self._explained(), suppress(FileNotFoundError):
            status = self.path.stat()
            _require_file(status)
            size, file = status.st_size, (status.st_dev, status.st_ino)
        same = file == self._file or not self.read
        self.size, self._file = size, file
        return same and size >= self.read

    def begin(self, at: Head | None = None) -> None:
        """Read from the beginning, or as one who begins at a checkpoint, with the next call of `news`."""
        self.documents.clear()
        self.keys.clear()
        self._ahead = None
        self.number, self.read = (0, 0) if at is None else (at.number, self.marks[at])
        self.base = self.number
        self._later.clear()

    def is_later(self, start: int, checkpoint: Head) -> None:
        """Whoever begins at that checkpoint must read the line that starts here."""
        self._later.setdefault(checkpoint, start)

    def find_marks(self) -> None:
        """Look for the last `compared` lines, from the end."""
        self.marks, end, rest, cut, further = {}, self.size, b"", True, _FURTHER
        while end and further and len(self.marks) < _MARKS:
            further -= bool(self.marks)
            start = max(0, end - _BLOCK)
            lines = (self._bytes(start, end) + rest).split(b"\n")
            if cut:
                # What follows the last line break is a line that is still being written.
                lines.pop()
            rest = lines.pop(0) if start and lines else b""
            end, cut = start, False
            for line in reversed(lines):
                if line.startswith(_COMPARED.encode()) and len(self.marks) < _MARKS:
                    self._mark(line.decode(errors="replace").partition(" ")[2])

    def news(self, chain: Collection[Event] = (), checkpoint: Head = events.NOTHING) -> Iterator[Line]:
        """Every event that was added since the last call, but for those of the chain that come next.

        The chain is given in order and without gaps; `checkpoint` is the last one of it.
        """
        new, self._ahead = self._new(), None
        whole, at = new[: new.rfind(b"\n") + 1], 0
        first = next((event.number for event in chain), 0)
        for event in islice(chain, max(0, self.number + 1 - first), None) if whole else ():
            # What others added is nearly always this, word for word.
            if event.number == self.number + 1 and whole.startswith(line := _line(event).encode(), at):
                if event.number > checkpoint.number:
                    self.is_later(self.read + at, checkpoint)
                self.number, at = event.number, at + len(line)
        after, self.read = self.read + at, self.read + len(whole)
        for line in whole[at:].split(b"\n")[:-1]:
            start, after = after, after + len(line) + 1
            if line.startswith(_EVENT_START):
                number, said, body = _parts(line)
                digest = records.digest(body)
                if number and said == digest.encode():
                    yield Line(head=Head(number=number, digest=digest), data=body, start=start)
                continue
            kind, _, rest = line.decode(errors="replace").partition(" ")
            if kind == _DOCUMENT:
                name, _, text = rest.partition(" ")
                if events.digest(text) == name:
                    self.documents[name] = (after - 1 - len(text.encode()), after - 1)
            elif kind == _IDENTITY:
                # A line that a crash cut short is none; one of a newer safeside is refused.
                with suppress(ValueError):
                    self.keys.add(records.decode(Identity, rest.encode()).fingerprint_key)
            elif kind == _COMPARED:
                self._mark(rest)

    def after(self, number: int) -> list[Row]:
        """The events that follow the one of that number, as they stand among what `news` will read next.

        Nothing is checked, and nothing counts as read.
        """
        found: list[Row] = []
        self._ahead = (self.read, self.size, self._new())
        number, wanted = number + 1, _start(number + 1)
        for line in self._ahead[2].split(b"\n")[:-1]:
            if line.startswith(wanted):
                digest, _, body = line[len(wanted) :].decode(errors="replace").partition(" ")
                found.append((number, digest, body))
                number, wanted = number + 1, _start(number + 1)
        return found

    def _new(self) -> bytes:
        if self.size <= self.read:
            return b""
        if self._ahead is not None and self._ahead[:2] == (self.read, self.size):
            return self._ahead[2]
        return self._bytes(self.read, self.size)

    def _mark(self, text: str) -> None:
        """A mark of another file, or of one that was cut since, is none."""
        number, digest, place, before, *more = [*text.split(" "), "", "", ""]
        if not _is_number(number) or not _is_number(place) or any(more) or int(place) > self.size:
            return
        if before == self._before(int(place)):
            self.marks.setdefault(Head(number=int(number), digest=digest), int(place))

    def _before(self, place: int) -> str:
        """What stands just before a place, as a digest."""
        return records.digest(self._bytes(max(0, place - _BEFORE), place)) if place else events.BEFORE_ALL

    def _bytes(self, start: int, end: int) -> bytes:
        with self._explained(), self.path.open("rb") as file:
            file.seek(start)
            return file.read(end - start)

    def add(
        self,
        handle: int,
        identity: Identity,
        added: Iterable[Event],
        documents: dict[str, str],
        checkpoint: Head | None,
    ) -> None:
        """Append events, the documents they speak of, and once the key.

        `checkpoint` is one of the chain that everything read so far was compared with.
        """
        mark = None if checkpoint in self.marks else checkpoint
        place = self.read if mark is None else min(self.read, self._later.get(mark, self.read))
        text = "".join(
            [f"{_DOCUMENT} {digest} {body}\n" for digest, body in documents.items()]
            + [_line(one) for one in added]
        )
        if not self.base and identity.fingerprint_key not in self.keys:
            text = f"{_IDENTITY} {records.encode(identity).decode()}\n{text}"
        if mark is not None:
            text += f"{_COMPARED} {mark.number} {mark.digest} {place} {self._before(place)}\n"
        if not text:
            return
        with self._explained():
            size = os.fstat(handle).st_size
            # A line that a crash cut short must not swallow the first of these.
            cut = size and os.pread(handle, 1, size - 1) != b"\n"
            data = ("\n" + text if cut else text).encode()
            while data:
                data = data[os.write(handle, data) :]
        if mark is not None:
            self.marks[mark] = place

    @contextmanager
    def opened(self) -> Iterator[int]:
        """The file, if it can be written; what is added to it is on the disk once the block has ended."""
        with self._explained():
            try:
                handle = os.open(self.path, _FLAGS)
            except FileNotFoundError:
                disk.make(self.path.parent)
                handle = os.open(self.path, _FLAGS | os.O_CREAT, disk.PRIVATE)
                disk.sync(self.path.parent)
        try:
            with self._explained():
                _require_file(os.fstat(handle))
            # What goes wrong elsewhere meanwhile is none of this file's.
            yield handle
            with self._explained():
                os.fsync(handle)
        finally:
            os.close(handle)

    def document(self, digest: str) -> str | None:
        """A document as the witness saw it, if it stands in what was read."""
        if digest not in self.documents:
            return None
        body = self._bytes(*self.documents[digest]).decode(errors="replace")
        return body if events.digest(body) == digest else None

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say plainly why the file cannot be used."""
        try:
            yield
        except OSError as error:
            why = "it is not a plain file" if error.errno == errno.EINVAL else os.strerror(error.errno or 0)
            raise StoreUnavailable(
                f'The ledger\'s witness "{self.path}" cannot be used ({why}).',
                "Make the file and its directory writable for this user and free some space, or set "
                f"{STATE_VARIABLE} to a directory that lasts; then run the same command again with the same "
                "request id.",
            ) from error


def _line(event: Event) -> str:
    return f"{_EVENT} {event.number} {event.digest} {event.body}\n"


def _start(number: int) -> bytes:
    """How the line of the event of that number begins."""
    return b"%b%d " % (_EVENT_START, number)


def _parts(line: bytes) -> tuple[int, bytes, bytes]:
    """Number, digest and words of an event's line; number 0 where it is none."""
    kind, number, digest, body = [*line.split(b" ", 3), b"", b"", b""][:4]
    return (int(number) if kind == _EVENT.encode() and _is_number(number) else 0, digest, body)


def _is_number(text: str | bytes) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS


def _require_file(status: os.stat_result) -> None:
    """A pipe or a socket would keep us waiting, or keep nothing."""
    if stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode):
        raise OSError(errno.EINVAL, "")
