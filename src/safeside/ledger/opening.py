"""From the address of a ledger to the ledger."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from safeside import __version__
from safeside.errors import BadQuestion, LedgerDamaged, LedgerForked, LedgerMissing, LedgerTampered
from safeside.ledger import addresses, events
from safeside.ledger.checkpoint import EVERY
from safeside.ledger.ledger import Ledger
from safeside.ledger.rebuild import Rebuilt, rebuild, traces
from safeside.ledger.recovery import Published, Recovery
from safeside.ledger.store import Identity, Store


def create_ledger(
    url: str | Path,
    *,
    traces_of: Callable[[Sequence[str]], list[Path]] | None = None,
    now: datetime | None = None,
) -> Ledger:
    """Make a new ledger, at a file (`ledger.db`, `sqlite:///...`) or a database (`postgresql://...`).

    Only this makes one. Where a witness shows that there was a ledger before, it is refused: a budget must
    not come back because a file was deleted. `traces_of` looks for other traces of one at these addresses.
    """
    store = store_at(url)
    found = traces(store) + ([] if traces_of is None else traces_of(store.addresses()))
    if found and not _is_there(store):
        raise LedgerForked(
            f"There was a ledger here before: {_still_there(found)}.",
            "Run `safeside.recover_ledger(...)`, which makes that ledger anew from its witness, or choose "
            "another place: a budget must not come back because a database was deleted.",
        )
    identity = Identity(ledger_id=secrets.token_hex(16), fingerprint_key=secrets.token_hex(32))
    key = events.digest(identity.fingerprint_key)
    first = events.LedgerCreated(ledger=identity.ledger_id, key=key, software=f"safeside {__version__}")
    store.create(identity, [events.make(events.NOTHING, now or datetime.now(UTC), first)], {})
    made = Ledger(store)
    made.chain.testify()
    return made


def open_ledger(url: str | Path, *, checkpoint_every: int = EVERY) -> Ledger:
    """Open a ledger that exists. It has a checkpoint after every so many events, from which it is read.

    Example
        >>> from safeside import create_ledger, open_ledger
        >>> with create_ledger("ledger.db") as ledger:
        ...     made = ledger.create_dataset("city", "person", epsilon=2)
        >>> with open_ledger("ledger.db") as ledger:
        ...     print(ledger.remaining("city").epsilon)
        2
    """
    store = store_at(url)
    try:
        return Ledger(store, checkpoint_every=checkpoint_every)
    except LedgerMissing as error:
        found = traces(store)
        if not found:
            raise
        raise LedgerMissing(
            f"{error.what} But there was one: {_still_there(found)}.",
            "If the address is right, run `safeside.recover_ledger(...)`, which makes the ledger anew from "
            "its witness.",
        ) from None


def recover_ledger(
    url: str | Path,
    published: Iterable[Published] = (),
    *,
    witnesses: Sequence[Path] = (),
    accept_clock: bool = False,
    now: datetime | None = None,
) -> tuple[Recovery, Rebuilt | None]:
    """Make a ledger whole again, from its witness if the database is lost or damaged.

    `witnesses` are those of other machines. A release is believed as it is: check it first, with `verify`.
    """
    for path in witnesses:
        if not path.is_file():
            raise BadQuestion(
                f'There is no witness at "{path}".',
                "Give a file whose name ends in .witness, copied from the machine that used the ledger.",
            )
    rebuilt = None
    try:
        with open_ledger(url) as book:
            book.check()
    except (LedgerMissing, LedgerDamaged, LedgerTampered):
        rebuilt = rebuild(store_at(url), witnesses)
    with open_ledger(url) as book:
        for path in witnesses:
            book.chain.hear(path)
        return book.recover(published, accept_clock=accept_clock, now=now), rebuilt


def _is_there(store: Store) -> bool:
    """Whether the database holds a ledger now, so that making one is refused for that."""
    with suppress(LedgerMissing, LedgerDamaged), store.read() as rows:
        rows.identity()
        return True
    return False


def _still_there(found: list[Path]) -> str:
    named = " and ".join(f'"{one}"' for one in found)
    return f"{named} {'is' if len(found) == 1 else 'are'} still there"


def store_at(url: str | Path) -> Store:
    """The database that an address names."""
    where = url.expanduser() if isinstance(url, Path) else addresses.parse(url)
    if isinstance(where, str):
        from safeside.ledger.postgres import PostgresStore

        return PostgresStore(where)
    from safeside.ledger.sqlite import SqliteStore

    return SqliteStore(where)
