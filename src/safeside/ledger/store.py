"""Where events are kept: one schema, one set of statements, two databases.

A store knows rows and transactions, nothing of budgets. Writers are served one at a time: whoever holds the
lock of the table `safeside_ledger` (PostgreSQL) or the reserved lock of the file (SQLite) has read everything
before it and is the only one who may add.
"""

from __future__ import annotations

import itertools
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

from safeside.errors import SafesideError, StoreUnavailable
from safeside.ledger import queue
from safeside.ledger.checkpoint import Index
from safeside.ledger.events import Event, Head
from safeside.ledger.forks import Connected
from safeside.ledger.refusals import begin, busy
from safeside.records import Record

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        """CREATE TABLE safeside_ledger (
            only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
            ledger_id TEXT NOT NULL,
            fingerprint_key TEXT NOT NULL,
            number INTEGER NOT NULL,
            digest TEXT NOT NULL)""",
        """CREATE TABLE safeside_events (
            number INTEGER PRIMARY KEY CHECK (number > 0),
            digest TEXT NOT NULL UNIQUE,
            body TEXT NOT NULL)""",
        """CREATE TABLE safeside_documents (
            digest TEXT PRIMARY KEY,
            body TEXT NOT NULL)""",
    ),
    (
        """CREATE TABLE safeside_draws (
            reservation TEXT PRIMARY KEY,
            file TEXT NOT NULL,
            size INTEGER NOT NULL,
            key TEXT NOT NULL)""",
    ),
    (
        """CREATE TABLE safeside_snapshots (
            number INTEGER PRIMARY KEY,
            digest TEXT NOT NULL,
            body TEXT NOT NULL,
            replaced TEXT NOT NULL)""",
        """CREATE TABLE safeside_nodes (
            name TEXT PRIMARY KEY,
            body TEXT NOT NULL)""",
    ),
)
"""Version n of the schema is made from version n - 1 by the statements at place n - 1. Only ever add."""
_VERSION_TABLE: Final = "CREATE TABLE safeside_schema (version INTEGER NOT NULL)"
TABLES: Final = tuple(
    re.findall(r"CREATE TABLE (\w+)", " ".join([_VERSION_TABLE, *itertools.chain(*MIGRATIONS)]))
)
"""The names of all tables of the newest version."""
_LAST: Final = (1 << 31) - 1
_MANY: Final = 200
"""How many rows one statement adds or deletes at most."""

Row = tuple[int, str, str]
"""An event as it is stored: its number, its digest and its words."""
Item = TypeVar("Item")
Execute = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]


class Identity(Record, frozen=True, kw_only=True, rename={"ledger_id": "ledger", "fingerprint_key": "key"}):
    """What a ledger is called, and the key under which input files are fingerprinted.

    A witness holds it, too, so that a lost database can be made anew.
    """

    kind: ClassVar[str] = "witness"
    ledger_id: str
    fingerprint_key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Glance:
    """What has to be known before anything is read or added, in one question to the database."""

    identity: Identity
    head: Head
    """What the database believes to be its last event."""
    last: int
    """The largest number of an event that is there."""
    known: str | None
    """The digest of the event that was asked about, if it is there."""
    snapshot: Head | None
    """The newest checkpoint of which there is a snapshot."""
    new: list[Row]
    """The events after the one that was asked about, in order, as many as were wanted at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Draw:
    """A draw that was committed and has not appeared: its encrypted file, and the key that opens it.

    The key stands in this one table, in no event and no witness, until the release is there.
    """

    file: str
    size: int
    key: bytes = field(repr=False)


class Unreadable(Exception):
    """A row is missing, or holds what it cannot hold."""


def _whole(value: Any) -> int:
    if not isinstance(value, int):
        raise Unreadable
    return value


def _row(number: Any, digest: Any, body: Any) -> Row:
    return (_whole(number), str(digest), str(body))


def _bytes(text: Any) -> bytes:
    try:
        return bytes.fromhex(text)
    except (ValueError, TypeError):
        raise Unreadable from None


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    """As many at once as one statement takes."""
    every = list(items)
    for at in range(0, len(every), _MANY):
        yield every[at : at + _MANY]


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


class Rows:
    """The statements, inside one transaction. `?` stands for a value, whatever the database."""

    def __init__(self, execute: Execute) -> None:
        self._execute = execute

    def identity(self) -> Identity:
        """The ledger's name and key."""
        ledger_id, key = self._only("SELECT ledger_id, fingerprint_key FROM safeside_ledger")
        return Identity(ledger_id=str(ledger_id), fingerprint_key=str(key))

    def glance(self, number: int, ahead: int = 0) -> Glance:
        """Who it is, where it ends, what it has at that number, and up to so many events after it."""
        found = self._execute(
            "SELECT ledger_id, fingerprint_key, number, digest, "
            "(SELECT max(number) FROM safeside_events), "
            "(SELECT digest FROM safeside_events WHERE number = ?), "
            "(SELECT max(number) FROM safeside_snapshots), "
            "(SELECT digest FROM safeside_snapshots ORDER BY number DESC LIMIT 1), NULL "
            "FROM safeside_ledger UNION ALL "
            # Not joined: PostgreSQL would take that for so much work that it compiles the query first.
            "SELECT NULL, NULL, number, digest, NULL, NULL, NULL, NULL, body FROM safeside_events "
            "WHERE number > ? AND number <= ?",
            (number, number, number + ahead),
        )
        ledgers, new = [row for row in found if row[0] is not None], [row for row in found if row[0] is None]
        if len(ledgers) != 1:
            raise Unreadable
        ledger_id, key, last, digest, most, known, newest, of_it, _ = ledgers[0]
        return Glance(
            identity=Identity(ledger_id=str(ledger_id), fingerprint_key=str(key)),
            head=Head(number=_whole(last), digest=str(digest)),
            last=0 if most is None else _whole(most),
            known=None if known is None else str(known),
            snapshot=None if newest is None else Head(number=_whole(newest), digest=str(of_it)),
            new=sorted(_row(number, digest, body) for _, _, number, digest, _, _, _, _, body in new),
        )

    def _only(self, query: str, values: Sequence[Any] = ()) -> tuple[Any, ...]:
        """The one row of a table that has one."""
        found = self._execute(query, values)
        if len(found) != 1:
            raise Unreadable
        return found[0]

    def events(self, first: int, last: int = _LAST) -> list[Row]:
        """Every event from number `first` to number `last`, in order."""
        query = (
            "SELECT number, digest, body FROM safeside_events WHERE number >= ? AND number <= ? "
            "ORDER BY number"
        )
        return [_row(*row) for row in self._execute(query, (first, last))]

    def snapshots(self) -> list[Head]:
        """The checkpoints of which there is a snapshot, newest first."""
        found = self._execute("SELECT number, digest FROM safeside_snapshots ORDER BY number DESC", ())
        return [Head(number=_whole(number), digest=str(digest)) for number, digest in found]

    def snapshot(self, number: int) -> str:
        """The snapshot of a checkpoint."""
        found = self._execute("SELECT body FROM safeside_snapshots WHERE number = ?", (number,))
        return str(found[0][0]) if found else ""

    def nodes(self, names: Iterable[str]) -> dict[str, str]:
        """Nodes of the index by their names, as they stand in the table, as far as they are there."""
        found: dict[str, str] = {}
        for some in _batches(names):
            query = f"SELECT name, body FROM safeside_nodes WHERE name IN ({_marks(some)})"
            found |= {str(name): str(body) for name, body in self._execute(query, some)}
        return found

    def keep_snapshot(self, head: Head, body: str, index: Index, *, whole: bool) -> None:
        """Store the snapshot of a checkpoint beside the one before it, and drop what only older ones need.

        A process that has not heard of this one yet goes on from the other. Where the account was folded from
        the beginning (`whole`), nothing that is there is relied on.
        """
        if whole:
            self._execute("DELETE FROM safeside_snapshots", ())
            self._execute("DELETE FROM safeside_nodes", ())
        replaced = self._execute("SELECT replaced FROM safeside_snapshots", ())
        for some in _batches(name for (names,) in replaced for name in str(names).split()):
            self._execute(f"DELETE FROM safeside_nodes WHERE name IN ({_marks(some)})", some)
        newest = "(SELECT max(number) FROM safeside_snapshots)"
        self._execute(f"DELETE FROM safeside_snapshots WHERE number < {newest}", ())
        self._execute("UPDATE safeside_snapshots SET replaced = ''", ())
        nodes = [(name, body.decode()) for name, body in index.made.items()]
        self._insert("safeside_nodes (name, body)", nodes, "ON CONFLICT (name) DO NOTHING")
        made = (head.number, head.digest, body, " ".join(sorted(index.replaced)))
        self._insert("safeside_snapshots (number, digest, body, replaced)", [made])
        index.stored()

    def append(self, *chain: Event) -> None:
        """Add events and move the head to the last."""
        made = [(one.number, one.digest, one.body) for one in chain]
        self._insert("safeside_events (number, digest, body)", made)
        self._execute("UPDATE safeside_ledger SET number = ?, digest = ?", made[-1][:2])

    def _insert(self, into: str, rows: Iterable[Sequence[Any]], otherwise: str = "") -> None:
        for some in _batches(rows):
            values = ", ".join(f"({_marks(row)})" for row in some)
            every = [value for row in some for value in row]
            self._execute(f"INSERT INTO {into} VALUES {values} {otherwise}", every)

    def document(self, digest: str) -> str | None:
        """A document by the digest of its text."""
        found = self._execute("SELECT body FROM safeside_documents WHERE digest = ?", (digest,))
        return str(found[0][0]) if found else None

    def keep(self, digest: str, body: str) -> None:
        """Store a document once; one that is there, and may be long, is not sent again."""
        if not self._execute("SELECT 1 FROM safeside_documents WHERE digest = ?", (digest,)):
            self._insert("safeside_documents (digest, body)", [(digest, body)])

    def keep_draw(self, reservation: str, draw: Draw) -> None:
        """Store the key of the draw that was made under the reservation with this digest."""
        made = (reservation, draw.file, draw.size, draw.key.hex())
        self._insert("safeside_draws (reservation, file, size, key)", [made])

    def draws(self) -> dict[str, Draw]:
        """Every draw that was committed and has not appeared, by the digest of its reservation."""
        found = self._execute("SELECT reservation, file, size, key FROM safeside_draws", ())
        return {
            str(digest): Draw(file=str(file), size=_whole(size), key=_bytes(key))
            for digest, file, size, key in found
        }

    def forget_draw(self, reservation: str) -> None:
        """Delete a key that is not needed any more."""
        self._execute("DELETE FROM safeside_draws WHERE reservation = ?", (reservation,))

    def create(self, identity: Identity, chain: Sequence[Event], documents: Mapping[str, str]) -> None:
        """All tables, at the newest version, and the events there are: at least the first."""
        self._execute(_VERSION_TABLE, ())
        self._insert("safeside_schema (version)", [(0,)])
        self.migrate()
        made = (1, identity.ledger_id, identity.fingerprint_key, 0, "")
        self._insert("safeside_ledger (only_one, ledger_id, fingerprint_key, number, digest)", [made])
        self._insert("safeside_documents (digest, body)", documents.items())
        self.append(*chain)

    def version(self) -> int:
        """The version of the schema that is there."""
        return _whole(self._only("SELECT version FROM safeside_schema")[0])

    def migrate(self) -> None:
        """Bring the tables to the newest version."""
        for statements in MIGRATIONS[self.version() :]:
            for statement in statements:
                self._execute(statement, ())
            self._execute("UPDATE safeside_schema SET version = version + 1", ())


class Store(Connected):
    """A database that holds one ledger."""

    where: str
    """How messages name it; never with a password."""
    beside: Path | None
    """Where the witness stands that travels with the database, if it is a file."""
    queue: Path | None
    """Where the writers of this machine stand in a queue, once that is known."""
    busy_seconds: float = 120
    """How long a writer waits for its turn before it gives up."""

    @abstractmethod
    def create(self, identity: Identity, chain: Sequence[Event], documents: Mapping[str, str]) -> None:
        """Make the tables of a new ledger; refused where there is one."""

    @abstractmethod
    def addresses(self) -> tuple[str, ...]:
        """Where this is, in the spellings under which it is remembered; never with a password."""

    @abstractmethod
    def aside(self) -> str | None:
        """Keep what is here under another name, so that a ledger can be made; its name, if there is any."""

    def salvage(self) -> tuple[Identity | None, list[Row]]:
        """Whatever a damaged database still gives."""
        with suppress(SafesideError), self.read() as rows:
            return rows.identity(), rows.events(1)
        return None, []

    @abstractmethod
    def read(self) -> AbstractContextManager[Rows]:
        """One consistent view of the ledger."""

    @abstractmethod
    def peek(self) -> AbstractContextManager[Rows]:
        """Each statement by itself: nobody who writes is held up between two of them."""

    @abstractmethod
    def alone(self) -> AbstractContextManager[Rows]:
        """The only writer; what was appended is on the disk once the block has ended."""

    @contextmanager
    def turn(self, prepare: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Before any other writer of this machine that came later.

        `prepare` is called shortly before, while somebody else still writes.
        """
        turn = nullcontext() if self.queue is None else queue.in_turn(self.queue, self.busy_seconds, prepare)
        try:
            with turn:
                yield
        except queue.Late:
            raise busy(self.where, self.busy_seconds) from None

    @contextmanager
    def write(self) -> Iterator[Rows]:
        """The only writer, in the order of arrival."""
        with self.turn(), self.alone() as rows:
            yield rows

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    def upgrade(self) -> None:
        """Bring an older schema up to date; refuse a newer one."""
        with self.read() as rows:
            version = rows.version()
        if version > len(MIGRATIONS):
            raise StoreUnavailable(
                f"{begin(self.where)} was made by a newer safeside (schema {version}, this one knows "
                f"{len(MIGRATIONS)}).",
                "Install the newer version of safeside.",
            )
        if version < len(MIGRATIONS):
            with self.write() as rows:
                rows.migrate()
