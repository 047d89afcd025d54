"""What a forked process has of the databases that its parent has open: nothing.

A fork copies the memory of every thread and goes on with one of them. Where another was in SQLite, the copy
believes for ever in locks that nobody holds any more, and whoever opens the same file there waits for them.
So a fork waits until no thread is in SQLite. Nor must a forked process close a connection of its parent:
SQLite would undo what the parent is writing. It only keeps it, unused.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import Final
from weakref import WeakSet

_forking: Final = threading.RLock()
"""Held by whoever forks: what begins to be used meanwhile would be missed."""
_there: WeakSet[Connected] = WeakSet()
_held: list[Connected] = []
"""Those whose use a fork has stopped."""
_of_parent: list[object] = []


class Connected(ABC):
    """What has a connection to a database. A fork waits for whoever holds `used`."""

    def __init__(self) -> None:
        self.used: Final = threading.RLock()
        with _forking:
            _there.add(self)

    @abstractmethod
    def leave(self) -> object:
        """The connection, from here on the parent's alone: in a process that was forked."""


def _stop() -> None:
    _forking.acquire()
    for one in list(_there):
        one.used.acquire()
        _held.append(one)


def _go_on() -> None:
    while _held:
        _held.pop().used.release()
    # Programs that run Python inside them may fork without a word before.
    with suppress(RuntimeError):
        _forking.release()


def _begin() -> None:
    try:
        for one in list(_there):
            _of_parent.append(one.leave())
    finally:
        _go_on()


os.register_at_fork(before=_stop, after_in_parent=_go_on, after_in_child=_begin)
