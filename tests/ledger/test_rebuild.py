"""A ledger that is deleted, dropped or damaged is missed, and made anew from its witness."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.ledger.stores import MANY, QUESTION, backup, cost, is_postgres, raw, restore
from tests.postgres import Server

from safeside.errors import BadQuestion, LedgerError, LedgerForked, LedgerMissing, LedgerTampered, OverBudget
from safeside.ledger import Ledger, Stage, create_ledger, open_ledger, recover_ledger
from safeside.ledger.store import TABLES


@pytest.fixture
def spent(ledger: Ledger) -> Ledger:
    """A release, and a reservation that is open."""
    ledger.commit(ledger.reserve("city", "a", MANY, cost()), "d1")
    ledger.reserve("city", "b", QUESTION, cost("1/2"))
    return ledger


def drop(url: str) -> None:
    """As an operator would who wants to begin again."""
    if is_postgres(url):
        with raw(url) as run:
            for table in TABLES:
                run(f"DROP TABLE {table}")
    else:
        Path(url).unlink()


def same_as(spent: Ledger, url: str) -> None:
    """The ledger at the address is that one, to the last byte."""
    with open_ledger(url) as fresh:
        assert fresh.head == spent.head
        assert fresh.fingerprint_key == spent.fingerprint_key
        assert fresh.verify() == fresh.head.number == 5
        assert fresh.forgotten() == 0
        made = fresh.reservation("a")
        assert made is not None
        assert (made.stage, made.manifest) == (Stage.COMMITTED, "d1")
        assert fresh.question(made) == MANY
        assert fresh.remaining("city").epsilon == cost("3/2").epsilon


def test_a_ledger_that_is_gone_is_not_made_anew_with_a_whole_budget(spent: Ledger, url: str) -> None:
    spent.close()
    drop(url)
    with pytest.raises(LedgerMissing, match="recover_ledger"):
        open_ledger(url)
    with pytest.raises(LedgerForked, match="recover_ledger"):
        create_ledger(url)


@pytest.mark.parametrize("beside", [True, False])
def test_either_trace_is_enough(tmp_path: Path, state: Path, beside: bool) -> None:
    place = tmp_path / "ledger.db"
    create_ledger(place).close()
    place.unlink()
    if beside:
        shutil.rmtree(state)
    else:
        Path(f"{place}.witness").unlink()
    with pytest.raises(LedgerForked):
        create_ledger(place)


def test_the_note_of_an_address_is_enough_though_its_witness_is_gone(tmp_path: Path, state: Path) -> None:
    place = tmp_path / "ledger.db"
    create_ledger(place).close()
    place.unlink()
    for path in (Path(f"{place}.witness"), *state.glob("*.witness")):
        path.unlink()
    with pytest.raises(LedgerForked):
        create_ledger(place)
    with pytest.raises(LedgerMissing):
        recover_ledger(place)


def test_a_note_that_a_full_disk_cut_off_is_written_anew(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else another ledger could be put in the place of this one, with a whole budget."""
    place, other = tmp_path / "ledger.db", tmp_path / "other.db"
    create_ledger(place).close()
    (note,) = state.glob("*.place")
    note.write_bytes(b"")
    with open_ledger(place) as ledger:
        ledger.create_dataset("city", "person", 3)
    create_ledger(other).close()
    for end in ("", ".witness"):
        Path(f"{other}{end}").replace(f"{place}{end}")
    with open_ledger(place) as exchanged, pytest.raises(LedgerForked):
        exchanged.create_dataset("city", "person", 3)


def test_another_spelling_of_the_same_path_is_the_same_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_ledger(tmp_path / "ledger.db").close()
    (tmp_path / "ledger.db").unlink()
    (tmp_path / "ledger.db.witness").unlink()
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    for url in ("ledger.db", f"sqlite:///{tmp_path}/ledger.db", tmp_path / "link" / "ledger.db"):
        with pytest.raises(LedgerForked):
            create_ledger(url)


@pytest.mark.xdist_group("postgres")
def test_another_spelling_of_the_same_database_is_the_same_place(postgres: Server, state: Path) -> None:
    url = postgres.fresh()
    create_ledger(url).close()
    drop(url)
    with pytest.raises(LedgerForked):
        create_ledger(url.replace("safeside@/", "safeside:secret@/"))
    assert not any(b"secret" in path.read_bytes() for path in state.iterdir())


@pytest.mark.xdist_group("postgres")
def test_other_schemas_of_the_same_database_are_other_places(postgres: Server) -> None:
    create_ledger(postgres.fresh()).close()
    create_ledger(postgres.fresh()).close()


def test_a_ledger_that_is_gone_is_made_anew_from_its_witness(spent: Ledger, url: str) -> None:
    drop(url)
    found, rebuilt = recover_ledger(url)
    assert rebuilt is not None
    assert (rebuilt.events, rebuilt.aside) == (5, None)
    assert [one.request for one in found.unfinished] == ["b"]
    same_as(spent, url)
    assert recover_ledger(url)[1] is None


def test_what_is_damaged_is_kept_aside(spent: Ledger, url: str) -> None:
    if is_postgres(url):
        with raw(url) as run:
            run("DELETE FROM safeside_ledger")
    else:
        Path(url).write_bytes(b"SQLite format 3\0" + b"\xff" * 8000)
    with pytest.raises(LedgerError, match="recover_ledger"):
        open_ledger(url).remaining("city")
    _, rebuilt = recover_ledger(url)
    assert rebuilt is not None
    assert rebuilt.aside is not None
    same_as(spent, url)
    if not is_postgres(url):
        assert Path(url + ".damaged-1").read_bytes().endswith(b"\xff")


def test_what_was_altered_is_made_anew_and_what_no_witness_saw_is_kept(
    spent: Ledger, url: str, state: Path
) -> None:
    """The last event was stored by a process that died before it could tell."""
    told = [*state.glob("*.witness"), *([] if is_postgres(url) else [Path(url + ".witness")])]
    for path in told:
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(lines[:-1]))
    with raw(url) as run:
        run("UPDATE safeside_events SET body = 'x' WHERE number = 3")
    _, rebuilt = recover_ledger(url)
    assert rebuilt is not None
    same_as(spent, url)


@pytest.mark.parametrize("damage", ["rows", "kind", "number", "version"])
def test_a_database_with_strange_rows_is_damaged_and_not_a_surprise(
    spent: Ledger, url: str, damage: str
) -> None:
    spent.close()
    statements = {
        "rows": "DELETE FROM safeside_ledger",
        "kind": "ALTER TABLE safeside_ledger RENAME COLUMN digest TO other",
        "number": "ALTER TABLE safeside_events RENAME COLUMN body TO other",
        "version": "DELETE FROM safeside_schema",
    }
    with raw(url) as run:
        run(statements[damage])
    with pytest.raises(LedgerError):
        open_ledger(url).remaining("city")
    recover_ledger(url)
    same_as(spent, url)


def test_a_witness_with_a_hole_is_refused_and_the_database_left(spent: Ledger, url: str, state: Path) -> None:
    drop(url)
    told = [*state.glob("*.witness"), *([] if is_postgres(url) else [Path(url + ".witness")])]
    for path in told:
        path.write_text("".join(one for one in path.read_text().splitlines(True) if "event 3 " not in one))
    with pytest.raises(LedgerTampered, match="event 3"):
        recover_ledger(url)
    with pytest.raises(LedgerMissing):
        open_ledger(url)


@pytest.mark.parametrize("lost", ["document", "witness"])
def test_a_witness_without_a_document_or_the_key_is_refused(
    spent: Ledger, url: str, state: Path, lost: str
) -> None:
    drop(url)
    for path in [*state.glob("*.witness"), *([] if is_postgres(url) else [Path(url + ".witness")])]:
        path.write_text("".join(one for one in path.read_text().splitlines(True) if not one.startswith(lost)))
    with pytest.raises(LedgerTampered):
        recover_ledger(url)


def test_one_witness_fills_the_gaps_of_the_other(
    spent: Ledger, tmp_path: Path, state: Path, url: str
) -> None:
    here = next(state.glob("*.witness"))
    elsewhere = tmp_path / "other.witness"
    shutil.copy(here, elsewhere)
    for number, path in enumerate((here, elsewhere)):
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(one for one in lines if f"event {number + 2} " not in one))
    drop(url)
    if not is_postgres(url):
        Path(url + ".witness").unlink()
    recover_ledger(url, witnesses=[elsewhere])
    same_as(spent, url)
    with pytest.raises(BadQuestion):
        recover_ledger(url, witnesses=[tmp_path / "none.witness"])


def test_the_witness_of_another_machine_is_compared(
    spent: Ledger, url: str, tmp_path: Path, state: Path
) -> None:
    """Its events, which this machine has never heard of, are put back or charged again."""
    elsewhere = tmp_path / "other.witness"
    before = {path: path.read_bytes() for path in state.iterdir()}
    beside = Path(url + ".witness")
    told = beside.read_bytes() if beside.exists() else None
    spent.reserve("city", "c", QUESTION, cost("1/4"))
    shutil.copy(next(state.glob("*.witness")), elsewhere)
    for path, content in before.items():
        path.write_bytes(content)
    if told is not None:
        beside.write_bytes(told)
    drop(url)
    recover_ledger(url)
    with open_ledger(url) as fresh:
        assert fresh.remaining("city").epsilon == cost("3/2").epsilon
    found, rebuilt = recover_ledger(url, witnesses=[elsewhere])
    assert (found.restored, rebuilt) == (1, None)
    with open_ledger(url) as fresh:
        assert fresh.remaining("city").epsilon == cost("5/4").epsilon


def test_another_ledger_in_the_place_of_a_dropped_one_is_noticed(
    spent: Ledger, url: str, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made on a machine that knew nothing of the first; here it is remembered."""
    drop(url)
    Path(url + ".witness").unlink(missing_ok=True)
    monkeypatch.setenv("SAFESIDE_STATE_DIR", str(tmp_path / "another state"))
    with create_ledger(url) as other:
        other.create_dataset("city", "person", 100)
    Path(url + ".witness").unlink(missing_ok=True)
    monkeypatch.setenv("SAFESIDE_STATE_DIR", str(state))
    with open_ledger(url) as fresh, pytest.raises(LedgerForked):
        fresh.verify()


def test_a_fingerprint_key_that_was_exchanged_is_noticed(spent: Ledger, url: str) -> None:
    """Under another key every file is a new one, and could be published again under another name."""
    with raw(url) as run:
        run("UPDATE safeside_ledger SET fingerprint_key = ?", "00" * 32)
    with pytest.raises(LedgerTampered), open_ledger(url) as fresh:
        fresh.verify()


def test_a_deleted_ledger_is_not_made_anew(tmp_path: Path) -> None:
    place = tmp_path / "ledger.db"
    with create_ledger(place) as made:
        made.create_dataset("city", "person", 1)
    place.unlink()
    with pytest.raises(LedgerForked):
        create_ledger(place)


def test_another_ledger_in_the_place_of_this_one_is_noticed(tmp_path: Path) -> None:
    with create_ledger(tmp_path / "a.db") as made:
        made.create_dataset("city", "person", 1)
    with create_ledger(tmp_path / "b.db") as other:
        other.create_dataset("city", "person", 100)
    (tmp_path / "b.db").rename(tmp_path / "a.db")
    with open_ledger(tmp_path / "a.db") as wrong:
        with pytest.raises(LedgerForked):
            wrong.reserve("city", "a", QUESTION, cost())
        with pytest.raises(LedgerForked):
            wrong.recover()


def test_a_list_that_a_restored_database_lacks_is_stored_again(ledger: Ledger, url: str) -> None:
    """A process that stored it before does not take it to be there."""
    before = backup(url)
    ledger.reserve("city", "a", MANY, cost("1/4"))
    restore(url, before)
    ledger.recover()
    again = ledger.reserve("city", "b", {**MANY, "window": "2021-03-05 18:00"}, cost("1/4"))
    with open_ledger(url) as fresh:
        assert fresh.question(again)["targets"] == MANY["targets"]
        assert fresh.verify() == fresh.head.number


def test_a_list_whose_transaction_failed_is_stored_with_the_next(ledger: Ledger, url: str) -> None:
    with pytest.raises(OverBudget):
        ledger.reserve("city", "a", MANY, cost(1000))
    paid = ledger.reserve("city", "b", MANY, cost("1/4"))
    with open_ledger(url) as fresh:
        assert fresh.question(paid) == MANY
        assert fresh.verify() == fresh.head.number
