"""What the ledger says when its file, its server or its disk is not there."""

from __future__ import annotations

import functools
import os
import sqlite3
import tempfile
from pathlib import Path

import pytest
from tests.ledger.stores import QUESTION, cost, not_as_root, raw
from tests.messages.books import book, said

from safeside.errors import (
    LedgerError,
    LedgerForked,
    LedgerMissing,
    MissingExtra,
    StoreUnavailable,
)
from safeside.ledger import Ledger, create_ledger, open_ledger, store

__all__ = ["book"]


def test_a_full_disk(book: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Small(sqlite3.Connection):
        def __init__(self, *places: str, **options: object) -> None:
            super().__init__(*places, **options)
            self.execute("PRAGMA max_page_count = 12")

    monkeypatch.setattr(sqlite3, "connect", functools.partial(sqlite3.connect, factory=Small))
    question = {"targets": [f"place {number}" for number in range(20_000)]}
    with open_ledger(tmp_path / "ledger.db") as small:
        assert said(lambda: small.reserve("city", "x", question, cost()), StoreUnavailable) == (
            f'The disk is full: the ledger "{tmp_path}/ledger.db" could not be written.',
            "Nothing was published. Free some space and run the same command again with the same request id.",
        )


def test_a_read_only_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        place = Path(directory) / "ledger.db"
        monkeypatch.setenv("SAFESIDE_STATE_DIR", directory)
        with create_ledger(place) as made:
            made.create_dataset("city", "person", 1)
        Path(directory).chmod(0o755)
        for path in Path(directory).iterdir():
            path.chmod(0o666 if path.suffix == ".witness" else 0o444)
        with not_as_root(), open_ledger(place) as fresh:
            assert said(lambda: fresh.reserve("city", "x", QUESTION, cost()), StoreUnavailable) == (
                f'The ledger "{place}" cannot be written (it, or its directory, is read-only).',
                "Nothing was spent. Give this user the right to write to the file and its directory, or "
                "choose another place.",
            )


def test_a_directory_or_a_pipe_is_no_ledger(tmp_path: Path) -> None:
    (tmp_path / "folder.db").mkdir()
    os.mkfifo(tmp_path / "pipe.db")
    for name in ("folder.db", "pipe.db"):
        what, do = said(lambda name=name: open_ledger(tmp_path / name), LedgerError)
        assert what == f'The ledger "{tmp_path}/{name}" is not a ledger, or is damaged.'
        assert do.startswith("Check the address")


def test_ledgers_that_are_not_there_or_should_not_be(book: Ledger, tmp_path: Path) -> None:
    assert said(lambda: open_ledger(tmp_path / "none.db"), LedgerMissing) == (
        f'The ledger "{tmp_path}/none.db" does not exist.',
        "Check the address. A ledger is made once, with `safeside.create_ledger(...)`; publishing never "
        "makes one.",
    )
    (tmp_path / "new.db").write_text("a shopping list")
    assert said(lambda: create_ledger(tmp_path / "new.db"), LedgerError) == (
        f'The ledger "{tmp_path}/new.db" cannot be made: there is a file of that name.',
        "Use it as it is, or choose another address: a budget is never reset.",
    )
    (tmp_path / "new.db").write_text("a shopping list" * 100)
    assert said(lambda: open_ledger(tmp_path / "new.db"), LedgerError) == (
        f'The ledger "{tmp_path}/new.db" is not a ledger, or is damaged.',
        "Check the address; if it is right, run `safeside.recover_ledger(...)`, which keeps what is there "
        "aside and makes the ledger anew from its witness.",
    )
    (tmp_path / "ledger.db").unlink()
    witness = tmp_path / "state" / f"{book.ledger_id}.witness"
    assert said(lambda: create_ledger(tmp_path / "ledger.db"), LedgerForked) == (
        f'There was a ledger here before: "{tmp_path}/ledger.db.witness" and "{witness}" are still there.',
        "Run `safeside.recover_ledger(...)`, which makes that ledger anew from its witness, or choose "
        "another place: a budget must not come back because a database was deleted.",
    )
    (tmp_path / "ledger.db.witness").unlink()
    assert said(lambda: open_ledger(tmp_path / "ledger.db"), LedgerMissing) == (
        f'The ledger "{tmp_path}/ledger.db" does not exist. But there was one: "{witness}" is still there.',
        "If the address is right, run `safeside.recover_ledger(...)`, which makes the ledger anew from its "
        "witness.",
    )
    assert said(lambda: book.remaining("city"), StoreUnavailable) == (
        f'The ledger "{tmp_path}/ledger.db" cannot be reached (the file is gone).',
        "Nothing was published. Bring the database back and run the same command again with the same request "
        "id: what was recorded before it went away is charged once, not twice.",
    )
    assert said(lambda: create_ledger(tmp_path / "no" / "l.db"), StoreUnavailable) == (
        f'The ledger "{tmp_path}/no/l.db" cannot be written (No such file or directory).',
        "Nothing was spent. Give this user the right to write to the file and its directory, or choose "
        "another place.",
    )


def test_servers_that_cannot_be_reached() -> None:
    assert said(lambda: open_ledger("postgresql://me:secret@/none?host=/nowhere"), StoreUnavailable) == (
        'The ledger "none" on /nowhere cannot be reached (the server does not answer).',
        "Nothing was published. Bring the database back and run the same command again with the same request "
        "id: what was recorded before it went away is charged once, not twice.",
    )
    assert said(lambda: open_ledger("postgresql://me@[x/none"), LedgerError) == (
        "The address of the ledger cannot be read.",
        "Write a file (ledger.db) or postgresql://user@host:5432/database. Characters such as @ : / ? # in a "
        "password are written as %40 %3A %2F %3F %23; better, leave it to PGPASSWORD or to ~/.pgpass. A file "
        "whose name looks like an address is written with ./ in front.",
    )


def test_a_missing_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    assert said(lambda: open_ledger("postgresql://localhost/x"), MissingExtra) == (
        "A ledger in PostgreSQL needs the package psycopg.",
        "Run: pip install 'safeside[postgres]'",
    )


def test_a_ledger_of_a_later_version(url: str) -> None:
    create_ledger(url).close()
    with raw(url) as run:
        run("UPDATE safeside_schema SET version = 9")
    what, do = said(lambda: open_ledger(url), StoreUnavailable)
    assert what.endswith("was made by a newer safeside (schema 9, this one knows 3).")
    assert do == "Install the newer version of safeside."


def test_a_ledger_made_twice_on_a_server(url: str) -> None:
    create_ledger(url).close()
    what, do = said(lambda: create_ledger(url), LedgerError)
    assert "cannot be made: " in what
    assert do.endswith("a budget is never reset.")


def test_a_busy_ledger(book: Ledger) -> None:
    assert (store.busy('the ledger "x"', 120).what, store.busy("it", 120).do) == (
        'The ledger "x" was busy for 120 seconds.',
        "Nothing was spent. Look for another safeside that hangs, then run the same command again.",
    )


def test_a_witness_that_cannot_be_kept(book: Ledger, state: Path) -> None:
    for path in state.glob("*.witness"):
        path.unlink()
        path.symlink_to("/dev/full")
        assert said(lambda: book.reserve("city", "x", QUESTION, cost()), StoreUnavailable) == (
            f'The ledger\'s witness "{path}" cannot be used ({os.strerror(28)}).',
            "Make the file and its directory writable for this user and free some space, or set "
            "SAFESIDE_STATE_DIR to a directory that lasts; then run the same command again with the same "
            "request id.",
        )
