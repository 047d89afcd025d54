"""From the address of a ledger to the ledger."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from safeside import __version__
from safeside.errors import LedgerForked
from safeside.ledger.ledger import Ledger
from safeside.ledger.store import Store

_POSTGRES: Final = ("postgresql://", "postgres://")
_SQLITE: Final = "sqlite:///"


def create_ledger(url: str | Path, *, now: datetime | None = None) -> Ledger:
    """Make a new ledger, at a file (`ledger.db`, `sqlite:///...`) or a database (`postgresql://...`).

    Only this makes one. Where a witness shows that there was a ledger before, it is refused: a budget must
    not come back because a file was deleted.
    """
    store = _store(url)
    if store.beside is not None and store.beside.exists():
        raise LedgerForked(
            f'There was a ledger here before: its witness "{store.beside}" is still there.',
            "Restore that ledger from a backup and run `safeside ledger recover`, or choose another place.",
        )
    return Ledger.create(store, f"safeside {__version__}", now or datetime.now(UTC))


def open_ledger(url: str | Path) -> Ledger:
    """Open a ledger that exists."""
    return Ledger(_store(url))


def _store(url: str | Path) -> Store:
    text = str(url)
    if text.startswith(_POSTGRES):
        from safeside.ledger.postgres import PostgresStore

        return PostgresStore(text)
    from safeside.ledger.sqlite import SqliteStore

    return SqliteStore(Path(text.removeprefix(_SQLITE)).expanduser())
