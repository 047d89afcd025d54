"""Full disks, read-only directories, databases that go away: nothing is lost and nothing is paid twice."""

from __future__ import annotations

import functools
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from tests.ledger.stores import QUESTION, cost, not_as_root, raw
from tests.postgres import Server

from safeside.errors import LedgerError, LedgerMissing, StoreUnavailable
from safeside.ledger import Ledger, create_ledger, open_ledger, sqlite, steps
from safeside.ledger.store import Store

BIG = {**QUESTION, "targets": [f"place {number}" for number in range(20_000)]}


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Ledger]:
    with create_ledger(tmp_path / "ledger.db") as made:
        made.create_dataset("city", "person", 3)
        yield made


@pytest.fixture
def server() -> Iterator[Server]:
    """One that may be crashed."""
    made = Server()
    yield made
    made.remove()


@pytest.fixture
def at_step(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[], object]], None]:
    """Have something happen once, at a named step."""

    def arrange(step: str, happen: Callable[[], object]) -> None:
        def reached(name: str) -> None:
            if name == step:
                monkeypatch.setattr(steps, "reached", lambda _: None)
                happen()

        monkeypatch.setattr(steps, "reached", reached)

    return arrange


def test_a_full_disk_spends_nothing(file: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Small(sqlite3.Connection):
        def __init__(self, *places: str, **options: object) -> None:
            super().__init__(*places, **options)
            self.execute("PRAGMA max_page_count = 12")

    connect = functools.partial(sqlite3.connect, factory=Small)
    file.close()
    monkeypatch.setattr(sqlite.sqlite3, "connect", connect)
    with pytest.raises(StoreUnavailable, match="The disk is full"):
        file.reserve("city", "a", BIG, cost())
    monkeypatch.undo()
    with open_ledger(tmp_path / "ledger.db") as fresh:
        assert fresh.remaining("city").epsilon == 3
        assert fresh.verify() == 2


def test_a_full_disk_under_the_witness_is_paid_once(file: Ledger, tmp_path: Path) -> None:
    witness = tmp_path / "ledger.db.witness"
    witness.unlink()
    witness.symlink_to("/dev/full")
    with pytest.raises(StoreUnavailable, match="No space left"):
        file.reserve("city", "a", QUESTION, cost())
    witness.unlink()
    file.reserve("city", "a", QUESTION, cost())
    assert file.remaining("city").epsilon == 2
    file.commit(file.reserve("city", "a", QUESTION, cost()), "d1")
    # Two to begin with, the reservation, that it was taken up again, and the commit.
    assert witness.read_text().count("event ") == 5


@pytest.fixture
def shared() -> Iterator[Path]:
    """A directory somebody who is not root can reach."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        directory = Path(made)
        directory.chmod(0o755)
        yield directory


def test_a_read_only_ledger_can_be_read_and_not_written(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFESIDE_STATE_DIR", str(shared / "state"))
    with create_ledger(shared / "ledger.db") as made:
        made.create_dataset("city", "person", 3)
    for path in [shared / "ledger.db", shared / "ledger.db.witness", *(shared / "state").iterdir()]:
        path.chmod(0o444)
    shared.chmod(0o555)
    with not_as_root(), open_ledger(shared / "ledger.db") as fresh:
        assert fresh.remaining("city").epsilon == 3
        assert fresh.verify() == 2
        with pytest.raises(StoreUnavailable, match=r"read-only|Permission denied"):
            fresh.reserve("city", "a", QUESTION, cost())
        with pytest.raises(StoreUnavailable, match="cannot be written"):
            create_ledger(shared / "other.db")
    shared.chmod(0o755)
    with open_ledger(shared / "ledger.db") as fresh:
        assert fresh.verify() == 2


def test_a_file_that_is_deleted_or_replaced_midway(file: Ledger, tmp_path: Path) -> None:
    place = tmp_path / "ledger.db"
    kept = place.read_bytes()
    place.unlink()
    with pytest.raises(StoreUnavailable, match="the file is gone"):
        file.reserve("city", "a", QUESTION, cost())
    place.write_bytes(kept)
    assert file.reserve("city", "a", QUESTION, cost()).number == 3
    with open_ledger(place) as fresh:
        assert fresh.verify() == 3


@pytest.mark.parametrize("content", [b"", b"not a database, but long enough to have a header" * 20])
def test_a_file_that_is_no_ledger(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "ledger.db"
    place.write_bytes(content)
    with pytest.raises(LedgerError) as caught:
        open_ledger(place)
    assert isinstance(caught.value, LedgerMissing) == (content == b"")


def test_a_creation_that_crashed_can_be_repeated(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").touch()
    with create_ledger(tmp_path / "ledger.db") as made:
        assert made.verify() == 1


@pytest.mark.parametrize("kind", ["reserve", "commit"])
@pytest.mark.parametrize("step", steps.OF_AN_EVENT)
@pytest.mark.xdist_group("postgres")
def test_connections_cut_midway(
    postgres: Server, at_step: Callable[[str, Callable[[], object]], None], kind: str, step: str
) -> None:
    """The server drops every connection but the one that says so, as it does when it is restarted."""
    url = postgres.fresh()

    def cut() -> None:
        with psycopg.connect(postgres.url(), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )

    with create_ledger(url) as made:
        made.create_dataset("city", "person", 3)

        def publish() -> None:
            made.commit(made.reserve("city", "a", QUESTION, cost()), "d1")

        at_step(steps.of(kind, step), cut)
        if step in (steps.BEGUN, steps.APPENDED):
            with pytest.raises(StoreUnavailable, match="cannot be reached"):
                publish()
        publish()
        made.verify()
        kinds = [event.action.kind for event in made.history()]
        assert [one for one in kinds if one != "resume"] == ["ledger", "dataset", "reserve", "commit"]
        assert made.remaining("city").epsilon == 2


def test_a_server_that_crashes_and_comes_back(
    server: Server, at_step: Callable[[str, Callable[[], object]], None]
) -> None:
    with create_ledger(server.fresh()) as made:
        made.create_dataset("city", "person", 3)
        made.reserve("city", "a", QUESTION, cost())
        at_step("reserve: appended", server.crash)
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="cannot be reached"):
                made.reserve("city", "b", QUESTION, cost())
        server.start()
        made.reserve("city", "b", QUESTION, cost())
        assert made.verify() == 4
        assert made.remaining("city").epsilon == 1


def test_a_ledger_that_somebody_holds_for_too_long(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "busy_seconds", 0.1)
    with create_ledger(url) as made:
        made.create_dataset("city", "person", 3)
        with raw(url) as run:
            run("BEGIN")
            run("UPDATE safeside_ledger SET number = number")
            with pytest.raises(StoreUnavailable, match=r"was busy for 0\.1 seconds"):
                made.reserve("city", "a", QUESTION, cost())
            run("ROLLBACK")
        assert made.reserve("city", "a", QUESTION, cost()).number == 3


def test_the_ledger_is_readable_by_its_owner_alone(file: Ledger, tmp_path: Path) -> None:
    assert (tmp_path / "ledger.db").stat().st_mode & 0o077 == 0
