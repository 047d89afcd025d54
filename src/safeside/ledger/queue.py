"""Whoever waits for a ledger is served in the order of arrival.

SQLite has waiters try again after pauses that grow: under load somebody waits while others pass. So the
writers of one machine stand in a queue first, a file beside the database or in the state directory. Whoever
comes takes the next number and locks the byte of that number. Whoever has nobody before it is next, and is
served once the one before it has gone; it prepares while others are served, when its turn is near, as the one
after it does. The system lets go of a dead process's locks, so a number that nobody stands behind any
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
    with ExitStack() as held:
        try:
            if _SET_LOCK is not None:
                bell = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                handle = os.open(path, _FLAGS, _OWNER_ONLY)
                _open[handle] = bell
                held.callback(_leave, handle)
                number = _take_number(handle)
                with suppress(OSError):
                    bell.bind(_address(handle, number))
                _wait(handle, number, until, prepare)
                held.callback(_go, handle, number)
        except TimeoutError:
            # A timer of the caller's has rung: nothing here raises that.
            raise
        except OSError:
            pass
        yield


_open: dict[int, socket.socket] = {}
"""The queues in which this process stands, and the bell at which it waits in each."""


def _go(handle: int, number: int) -> None:
    """Let the next one be served."""
    if handle in _open:
        _locked(handle, fcntl.F_UNLCK, _SERVED, 1)
        _ring(handle, range(number + 1, number + 1 + _GONE))
        # Whoever woke may have been put behind us on this processor.
        os.sched_yield()


def _leave(handle: int) -> None:
    if handle in _open:
        _open.pop(handle).close()
        os.close(handle)


def _leave_all() -> None:
    """A process that is forked from one that waits, or is served, does not stand in its place."""
    for handle in list(_open):
        _leave(handle)


os.register_at_fork(after_in_child=_leave_all)


def _take_number(handle: int) -> int:
    """The next number, with its byte locked."""
    while not _locked(handle, fcntl.F_WRLCK, _LAST, 1):
        time.sleep(_PAUSE)
    number = _number(handle, _LAST) + 1
    while not _locked(handle, fcntl.F_WRLCK, _FIRST + number, 1):
        number += 1
    os.pwrite(handle, _NUMBER.pack(number), _LAST)
    _locked(handle, fcntl.F_UNLCK, _LAST, 1)
    return number


def _address(handle: int, number: int) -> bytes:
    """Where whoever has that number waits for a ring: a name of the system's, not a file."""
    status = os.fstat(handle)
    return f"\0safeside-queue-{status.st_dev}-{status.st_ino}-{number}".encode()


def _ring(handle: int, numbers: Iterable[int]) -> None:
    """Wake the first of these who waits."""
    last = _number(handle, _LAST)
    for number in (one for one in numbers if one <= last):
        with suppress(OSError):
            _open[handle].sendto(b"!", socket.MSG_DONTWAIT, _address(handle, number))
            return


def _wait(handle: int, number: int, until: float, prepare: Callable[[], None]) -> None:
    """Until nobody holds a byte before ours, and then until whoever is served has gone.

    Those bytes are locked shared, so that those who wait do not stop each other.
    """
    began, first, prepared = time.monotonic(), _number(handle, _SERVED), False
    while not (_locked(handle, fcntl.F_RDLCK, _FIRST, number) and _locked(handle, fcntl.F_WRLCK, _SERVED, 1)):
        now, served = time.monotonic(), _number(handle, _SERVED)
        before = max(0, number - served - 1)
        if now > until:
            raise Late
        if before <= _NEAR and not prepared:
            prepared = True
            prepare()
            continue
        # If nobody rings: by how fast others were served it is guessed when to look again.
        guess = (before / 2 + 1) * (now - began) / max(1, served - first)
        if select.select([_open[handle]], [], [], min(_LONGEST, max(_SHORTEST, guess)))[0]:
            with suppress(BlockingIOError):
                _open[handle].recv(1, socket.MSG_DONTWAIT)
    os.pwrite(handle, _NUMBER.pack(number), _SERVED)
    _locked(handle, fcntl.F_UNLCK, _FIRST, number + 1)
    # The turn of somebody is near now.
    _ring(handle, [number + 1 + _NEAR])


def _number(handle: int, place: int) -> int:
    said = os.pread(handle, _NUMBER.size, place)
    number = _NUMBER.unpack(said)[0] if len(said) == _NUMBER.size else 0
    return int(number) if 0 <= number < _LARGEST else 0


def _locked(handle: int, kind: int, start: int, length: int) -> bool:
    """Lock bytes for this open file, or unlock them; False where somebody else holds one."""
    assert _SET_LOCK is not None
    try:
        fcntl.fcntl(handle, _SET_LOCK, _LOCK.pack(kind, os.SEEK_SET, start, length, 0))
    except (BlockingIOError, PermissionError):
        return False
    return True
