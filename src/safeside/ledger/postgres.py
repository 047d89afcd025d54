"""The ledger in PostgreSQL, for several machines.

Writers take turns on the table `safeside_ledger`, which each locks before it reads anything; those of one
machine stand in a queue before. A commit is asked to be on the server's disk whatever the server's default
says.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from safeside import extras
from safeside.errors import LedgerError, SafesideError
from safeside.ledger import addresses
from safeside.ledger.events import Event
from safeside.ledger.refusals import begin, busy, damaged, gone, missing
from safeside.ledger.store import TABLES, Identity, Rows, Store, Unreadable

if TYPE_CHECKING:
    import psycopg

_CONNECT_SECONDS: Final = 10
_ON_DISK: Final = (
    "CASE WHEN current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') "
    "THEN 'on' ELSE current_setting('synchronous_commit') END"
)
_TAKEN: Final = ("DuplicateTable", "UniqueViolation")
_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_REFUSES_USER: Final = re.compile(
    r'authentication failed|no pg_hba\.conf entry|no password supplied|role ".*" (?:does not exist|is not)'
)
_TAKE_TURNS: Final = "LOCK TABLE safeside_ledger IN SHARE ROW EXCLUSIVE MODE"
"""Granted in the order of arrival. A lock on the row is not: whoever comes at the right moment gets it before
those who wait. Readers are not held up."""


class PostgresStore(Store):
    """One database, or one schema of it (`?options=-csearch_path%3Dname`)."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._psycopg = extras.load("psycopg", "A ledger in PostgreSQL", "postgres")
        self._url = url
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None
        try:
            parts = self._psycopg.conninfo.conninfo_to_dict(self._url)
        except self._psycopg.Error:
            raise addresses.unreadable() from None
        self.where = f"the ledger {addresses.shown(dict(parts))}"
        self.beside: Path | None = None
        self.queue: Path | None = None

    @property
    def _writing(self) -> str:
        return (
            "BEGIN ISOLATION LEVEL READ COMMITTED; "
            f"SELECT set_config('lock_timeout', '{round(1000 * self.busy_seconds)}ms', true), "
            f"set_config('synchronous_commit', {_ON_DISK}, true)"
        )

    def create(self, identity: Identity, chain: Sequence[Event], documents: Mapping[str, str]) -> None:
        try:
            with self._transaction(self._writing) as rows:
                rows.create(identity, chain, documents)
        except LedgerError as error:
            if type(error.__cause__).__name__ not in _TAKEN:
                raise
            raise LedgerError(
                f"{begin(self.where)} cannot be made: it exists already.",
                "Use it as it is, or choose another database: a budget is never reset.",
            ) from None

    def addresses(self) -> tuple[str, ...]:
        """By the server's own name and by its address: either may change, and one has to be enough."""
        with self._explained():
            connection = self._connect()
            info = connection.info
            ((schema,),) = connection.execute("SELECT coalesce(current_schema(), '')").fetchall()
            within = f"database {info.dbname} schema {schema}"
            host = "localhost" if info.host in _HERE else info.host.lower()
            by_address = f"postgresql host {host} port {info.port} {within}"
            try:
                ((server,),) = connection.execute(
                    "SELECT system_identifier::text FROM pg_control_system()"
                ).fetchall()
            except self._psycopg.errors.InsufficientPrivilege:
                return (by_address,)
        return (f"postgresql server {server} {within}", by_address)

    def aside(self) -> str | None:
        """The tables that are there get other names."""
        mark = datetime.now(UTC).strftime("damaged_%Y%m%d%H%M%S")
        with self._transaction(self._writing):
            connection = self._connect()
            # Of the schema of this address itself.
            query = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
            there = {name for (name,) in connection.execute(query).fetchall()} & {*TABLES}
            for table in there:
                connection.execute(f"ALTER TABLE {table} RENAME TO {table}_{mark}".encode())
        return f"tables whose names end in {mark}" if there else None

    def read(self) -> AbstractContextManager[Rows]:
        return self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def alone(self) -> AbstractContextManager[Rows]:
        return self._transaction(f"{self._writing}; {_TAKE_TURNS}")

    @contextmanager
    def peek(self) -> Iterator[Rows]:
        with self._explained():
            yield Rows(partial(_run, self._connect().cursor()))

    @contextmanager
    def _transaction(self, first: str) -> Iterator[Rows]:
        """On a new connection if the old one died of old age between two transactions."""
        with self._explained():
            connection = self._connect()
            try:
                try:
                    connection.execute(first.encode(), prepare=False)
                except self._psycopg.OperationalError:
                    if not connection.broken:
                        raise
                    self.close()
                    connection = self._connect()
                    connection.execute(first.encode(), prepare=False)
                yield Rows(partial(_run, connection.cursor()))
                connection.execute("COMMIT")
            except BaseException:
                if connection.info.transaction_status == self._psycopg.pq.TransactionStatus.ACTIVE:
                    # Interrupted in the middle of a command, which nobody will hear the end of.
                    self.close()
                elif not connection.closed:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.Error as error:
            self.close()
            raise self._explain(error) from error
        except Unreadable:
            raise damaged(self.where) from None

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        if self._connection is None or self._connection.closed:
            try:
                self._connection = self._psycopg.connect(
                    self._url, autocommit=True, connect_timeout=_CONNECT_SECONDS
                )
            except self._psycopg.Error as error:
                # Without the driver's own words: they may repeat any part of the address.
                raise self._not_connected(error) from None
        return self._connection

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def leave(self) -> psycopg.Connection[tuple[Any, ...]] | None:
        connection, self._connection = self._connection, None
        if connection is not None and not connection.closed:
            # Else the server would not hear that the parent has died, and keep what it has locked.
            os.close(connection.fileno())
        return connection

    def _not_connected(self, error: psycopg.Error) -> LedgerError:
        """Why there is no connection. The driver gives no code for it, only words, and two flags."""
        words = str(error)
        if (error.pgconn is not None and error.pgconn.needs_password) or _REFUSES_USER.search(words):
            return LedgerError(
                f"The server of {self.where} refuses this user or password.",
                "Check the user name in the address, and the password in PGPASSWORD, in ~/.pgpass or in the "
                "address. Nothing was spent.",
            )
        if re.search(r'database ".*" does not exist', words):
            return LedgerError(
                f"There is no such database: {self.where}.",
                "Check the name in the address, or make the database on the server (createdb) first.",
            )
        if "permission denied" in words:
            return self._forbidden()
        if "service" in words and "not found" in words:
            return LedgerError(
                f"{begin(self.where)} cannot be found: nothing describes that service.",
                "Check its name, and that PGSERVICEFILE or ~/.pg_service.conf describes it.",
            )
        answer = "answers and takes no connection now" if "FATAL" in words else "does not answer"
        return gone(self.where, f"the server {answer}")

    def _forbidden(self) -> LedgerError:
        return LedgerError(
            f"This user may not do that in {self.where}.",
            "Have the owner of the database grant it: the ledger needs CREATE on its schema to be made, and "
            "SELECT, INSERT, UPDATE and DELETE on its tables to be used.",
        )

    def _explain(self, error: psycopg.Error) -> SafesideError:
        errors = self._psycopg.errors
        if isinstance(error, errors.InsufficientPrivilege):
            return self._forbidden()
        if isinstance(error, errors.InvalidSchemaName):
            return LedgerError(
                f"{begin(self.where)} has no schema of that name to be kept in.",
                "Check the search_path of the address, or make the schema with CREATE SCHEMA.",
            )
        if isinstance(error, errors.ReadOnlySqlTransaction):
            return LedgerError(
                f"{begin(self.where)} cannot be written: the server is a read-only copy.",
                "Give the address of the server that takes writes. Nothing was spent.",
            )
        if isinstance(error, errors.UndefinedTable):
            return missing(self.where)
        if isinstance(error, errors.LockNotAvailable):
            return busy(self.where, self.busy_seconds)
        if isinstance(error, errors.UndefinedColumn | errors.WrongObjectType | self._psycopg.DataError):
            return damaged(self.where)
        if isinstance(error, self._psycopg.OperationalError | self._psycopg.InterfaceError):
            return gone(self.where, type(error).__name__)
        return LedgerError(
            f"{begin(self.where)} was reached, and answered with an error ({type(error).__name__}).",
            "Check that the address is that of a ledger of this version; look into the log of the server.",
        )


def _run(cursor: psycopg.Cursor[tuple[Any, ...]], sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    cursor.execute(sql.replace("?", "%s").encode(), values or None)
    return cursor.fetchall() if cursor.pgresult is not None and cursor.pgresult.nfields else []
