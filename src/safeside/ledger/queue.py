"""Whoever waits for a ledger is served in the order of arrival.

SQLite has waiters try again after pauses that grow: under load somebody waits while others pass. So the
writers of one machine stand in a queue first, a file beside the database or in the state directory. Whoever
comes takes the next number and locks the byte of that number. Whoever has nobody before it is next, and is
served once the one before it has gone. It prepares while somebody else is served, and the one behind it
prepares, too. The system lets go of a dead process's locks, so a number that nobody stands behind any
more holds nobody up. Whoever is served, or goes, rings for those to whom that is news: nobody has to look
often. A ring may get lost, or come from anybody; it only makes somebody look at the locks. The queue decides
the order and nothing else: that only one writes is the database's own lock.
"""

from __future__ import annotations

import fcntl
import os
import select
import socket
import struct
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Final

_OWNER_ONLY: Final = 0o600
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_LOCK: Final = struct.Struct("hhqqi")
"""`struct flock`: kind, from where `start` counts, start, length, process."""
_NUMBER: Final = struct.Struct("<q")
_LAST: Final = 0
"""Where the last number stands that was given out."""
_SERVED: Final = 8
"""Where the last number stands that was served; whoever is served locks this byte."""
_FIRST: Final = 16
"""The bytes of the numbers begin here."""
_LARGEST: Final = 1 << 60
_PAUSE: Final = 0.0002
_SHORTEST: Final = 0.002
_LONGEST: Final = 0.25
"""So long somebody sleeps at least, and at most, for whom nobody rings."""
_NEAR: Final = 1
"""Who has no more than so many before it prepares: with more at once, whoever is served gets less of the
processor."""
_GONE: Final = 3
"""So many of those who come next are rung for, until one of them hears it: some may have given up."""
_SET_LOCK: Final[int | None] = getattr(fcntl, "F_OFD_SETLK", None)


class Late(Exception):
    """Those before us have taken too long."""


@contextmanager
def in_turn(path: Path, seconds: float, prepare: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Wait until everybody who came before has gone; `Late` after so many seconds.

    `prepare` is called while somebody else is served, when the turn is near. Where the system has no such
    locks, or no such file can be kept, the database alone decides.
    """
    until = time.monotonic() + seconds
    file: FileIO | None = None
    try:
        with ExitStack() as held:
            try:
                if _SET_LOCK is not None:
                    bell = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                    file = FileIO(path, "r+", opener=lambda name, _: os.open(name, _FLAGS, _OWNER_ONLY))
                    _open[file] = bell
                    number = _take_number(file, until)
                    with suppress(OSError):
                        bell.bind(_address(file, number))
                    _wait(file, number, until, prepare)
                    held.callback(_go, file, number)
            except TimeoutError:
                # A timer of the caller's has rung, in the one way that can be told from a fault of the queue.
                raise
            except OSError:
                pass
            yield
    finally:
        # Not with the stack: an interruption between two of its callbacks would leave us in the queue.
        if file is not None:
            _leave(file)


_open: dict[FileIO, socket.socket] = {}
"""The queues in which this process stands, and the bell at which it waits in each."""


def _go(file: FileIO, number: int) -> None:
    """Let the next one be served."""
    if file in _open:
        _locked(file, fcntl.F_UNLCK, _SERVED, 1)
        _ring(file, range(number + 1, number + 1 + _GONE))
        # Whoever woke may have been put behind us on this processor.
        os.sched_yield()


def _leave(file: FileIO) -> None:
    file.close()
    if (bell := _open.pop(file, None)) is not None:
        bell.close()


def _leave_all() -> None:
    """A process that is forked from one that waits, or is served, does not stand in its place."""
    for file in list(_open):
        _leave(file)


os.register_at_fork(after_in_child=_leave_all)


def _take_number(file: FileIO, until: float) -> int:
    """The next number, with its byte locked."""
    while not _locked(file, fcntl.F_WRLCK, _LAST, 1):
        _require_before(until)
        time.sleep(_PAUSE)
    number = _number(file, _LAST) + 1
    while not _locked(file, fcntl.F_WRLCK, _FIRST + number, 1):
        _require_before(until)
        number += 1
    os.pwrite(file.fileno(), _NUMBER.pack(number), _LAST)
    _locked(file, fcntl.F_UNLCK, _LAST, 1)
    return number


def _require_before(until: float) -> None:
    if time.monotonic() > until:
        raise Late


def _address(file: FileIO, number: int) -> bytes:
    """Where whoever has that number waits for a ring: a name of the system's, not a file."""
    status = os.fstat(file.fileno())
    return f"\0safeside-queue-{status.st_dev}-{status.st_ino}-{number}".encode()


def _ring(file: FileIO, numbers: Iterable[int]) -> None:
    """Wake the first of these who waits."""
    last = _number(file, _LAST)
    for number in (one for one in numbers if one <= last):
        with suppress(OSError):
            _open[file].sendto(b"!", socket.MSG_DONTWAIT, _address(file, number))
            return


def _wait(file: FileIO, number: int, until: float, prepare: Callable[[], None]) -> None:
    """Until nobody holds a byte before ours, and then until whoever is served has gone.

    Those bytes are locked shared, so that those who wait do not stop each other.
    """
    began, first, prepared = time.monotonic(), _number(file, _SERVED), False
    # Not `select.select`, which refuses the numbers of files from 1024 on.
    bell = select.poll()
    bell.register(_open[file], select.POLLIN)
    while not (_locked(file, fcntl.F_RDLCK, _FIRST, number) and _locked(file, fcntl.F_WRLCK, _SERVED, 1)):
        now, served = time.monotonic(), _number(file, _SERVED)
        before = max(0, number - served - 1)
        _require_before(until)
        if before <= _NEAR and not prepared:
            prepared = True
            prepare()
            continue
        # If nobody rings: by how fast others were served it is guessed when to look again.
        guess = (before / 2 + 1) * (now - began) / max(1, served - first)
        if bell.poll(1000 * min(_LONGEST, max(_SHORTEST, guess))):
            with suppress(BlockingIOError):
                _open[file].recv(1, socket.MSG_DONTWAIT)
    os.pwrite(file.fileno(), _NUMBER.pack(number), _SERVED)
    _locked(file, fcntl.F_UNLCK, _FIRST, number + 1)
    # The turn of somebody is near now.
    _ring(file, [number + 1 + _NEAR])


def _number(file: FileIO, place: int) -> int:
    said = os.pread(file.fileno(), _NUMBER.size, place)
    number = _NUMBER.unpack(said)[0] if len(said) == _NUMBER.size else 0
    return int(number) if 0 <= number < _LARGEST else 0


def _locked(file: FileIO, kind: int, start: int, length: int) -> bool:
    """Lock bytes for this open file, or unlock them; False where somebody else holds one."""
    assert _SET_LOCK is not None
    try:
        fcntl.fcntl(file, _SET_LOCK, _LOCK.pack(kind, os.SEEK_SET, start, length, 0))
    except (BlockingIOError, PermissionError):
        return False
    return True
