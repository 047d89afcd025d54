"""The ledger in one file, with SQLite.

A rollback journal, not a write-ahead log: between two transactions the file alone is the whole ledger, so a
plain copy is a backup, and it can be read from a medium that cannot be written. `synchronous = EXTRA` has
every commit on the disk, journal and directory included, before it is believed.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from safeside import disk
from safeside.errors import LedgerError, SafesideError, StoreUnavailable
from safeside.ledger.addresses import SQLITE
from safeside.ledger.events import Event
from safeside.ledger.refusals import begin, busy, cannot_write, damaged, gone, missing
from safeside.ledger.store import Identity, Rows, Store, Unreadable

_JOURNAL: Final = "-journal"
_DAMAGED: Final = frozenset(
    {
        0,  # Text that cannot be decoded: Python's own complaint, without a code.
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_FORMAT,
        sqlite3.SQLITE_TOOBIG,
    }
)


class SqliteStore(Store):
    """One file."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._opened: tuple[int, int] | None = None
        self.where = f'the ledger "{path}"'
        self.beside: Path | None = path.with_name(path.name + ".witness")
        self.queue: Path | None = path.with_name(path.name + ".queue")

    def create(self, identity: Identity, chain: Sequence[Event], documents: Mapping[str, str]) -> None:
        # An empty file of our own; what a crash left of an earlier attempt is empty too.
        try:
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, disk.PRIVATE))
        except FileExistsError:
            if self._path.stat().st_size:
                raise LedgerError(
                    f"{begin(self.where)} cannot be made: there is a file of that name.",
                    "Use it as it is, or choose another address: a budget is never reset.",
                ) from None
        except OSError as error:
            raise cannot_write(self.where, os.strerror(error.errno or 0)) from error
        with self.write() as rows:
            rows.create(identity, chain, documents)
        disk.sync(self._path.parent)

    def addresses(self) -> tuple[str, ...]:
        return (f"{SQLITE} {self._path.resolve()}",)

    def aside(self) -> str | None:
        self.close()
        if not self._path.exists() or not self._path.stat().st_size:
            return None
        names = (self._path.with_name(f"{self._path.name}.damaged-{one}") for one in itertools.count(1))
        kept = next(name for name in names if not name.exists())
        journal = self._path.with_name(self._path.name + _JOURNAL)
        try:
            if journal.exists():
                journal.rename(kept.with_name(kept.name + _JOURNAL))
            self._path.rename(kept)
            disk.sync(self._path.parent)
        except OSError as error:
            raise cannot_write(self.where, os.strerror(error.errno or 0)) from error
        return f'"{kept}"'

    def read(self) -> AbstractContextManager[Rows]:
        return self._transaction("BEGIN")

    def alone(self) -> AbstractContextManager[Rows]:
        return self._transaction("BEGIN IMMEDIATE")

    @contextmanager
    def peek(self) -> Iterator[Rows]:
        with self._explained():
            yield Rows(partial(_run, self._connect()))

    @contextmanager
    def _transaction(self, first: str) -> Iterator[Rows]:
        with self._explained():
            connection = self._connect()
            try:
                connection.execute(first)
                yield Rows(partial(_run, connection))
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        with self.used:
            try:
                yield
            except sqlite3.Error as error:
                self.close()
                raise self._explain(error) from error
            except (Unreadable, UnicodeError):
                self.close()
                raise damaged(self.where) from None

    def _connect(self) -> sqlite3.Connection:
        """A connection to the file that is *now* at the path.

        SQLite would go on writing to a file that was deleted or replaced.
        """
        try:
            status = self._path.stat()
        except FileNotFoundError:
            if self._opened is None:
                raise missing(self.where) from None
            raise gone(self.where, "the file is gone") from None
        except OSError as error:
            raise gone(self.where, os.strerror(error.errno or 0)) from error
        if not stat.S_ISREG(status.st_mode):
            raise damaged(self.where)
        now = (status.st_dev, status.st_ino)
        if self._connection is None or now != self._opened:
            self.close()
            self._connection = sqlite3.connect(
                f"{self._path.absolute().as_uri()}?mode=rw",
                uri=True,
                timeout=self.busy_seconds,
                isolation_level=None,
                check_same_thread=False,
            )
            self._connection.execute("PRAGMA journal_mode = TRUNCATE")
            self._connection.execute("PRAGMA synchronous = EXTRA")
            # The key of a draw that has appeared is overwritten, not left in a free page.
            self._connection.execute("PRAGMA secure_delete = ON")
            self._opened = now
        return self._connection

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def leave(self) -> sqlite3.Connection | None:
        connection, self._connection = self._connection, None
        return connection

    def _explain(self, error: sqlite3.Error) -> SafesideError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # The last byte names the family of the error.
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return busy(self.where, self.busy_seconds)
        if code == sqlite3.SQLITE_FULL:
            return StoreUnavailable(
                f"The disk is full: {self.where} could not be written.",
                "Nothing was published. Free some space and run the same command again with the same "
                "request id.",
            )
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            return cannot_write(self.where, "it, or its directory, is read-only")
        if code == sqlite3.SQLITE_ERROR and "no such table" in str(error):
            return missing(self.where)
        if code in _DAMAGED:
            return damaged(self.where)
        return gone(self.where, type(error).__name__)


def _run(connection: sqlite3.Connection, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    return connection.execute(sql, values).fetchall()
