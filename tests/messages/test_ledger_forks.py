"""What the ledger says when it was altered, restored, copied or exchanged."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

from tests.ledger.stores import NOON, QUESTION, backup, cost, raw, restore
from tests.messages.books import Act, book, said

from safeside.errors import (
    BadQuestion,
    LedgerError,
    LedgerForked,
    LedgerMissing,
    LedgerTampered,
    StoreUnavailable,
)
from safeside.ledger import Ledger, Published, create_ledger, events, open_ledger, recover_ledger

__all__ = ["book"]


def test_a_tampered_row_is_named(book: Ledger, tmp_path: Path) -> None:
    with raw(str(tmp_path / "ledger.db")) as run:
        run("UPDATE safeside_events SET body = replace(body, '1/2', '1/9') WHERE number = 5")
    assert said(lambda: open_ledger(tmp_path / "ledger.db").remaining("city"), LedgerTampered) == (
        "The ledger was altered: event 5 cannot be trusted (it is not what was written).",
        "Publish nothing from it. Run `safeside.recover_ledger(...)`, which keeps this database aside and "
        "makes the ledger anew from its witness.",
    )


def test_a_forked_ledger(book: Ledger, tmp_path: Path) -> None:
    place = str(tmp_path / "ledger.db")
    copy = backup(place)
    book.commit(book.reserve("city", "new", QUESTION, cost(), now=NOON), "d9", now=NOON)
    restore(place, copy)
    with open_ledger(place) as fresh:
        assert said(lambda: fresh.reserve("city", "x", QUESTION, cost()), LedgerForked) == (
            f'The ledger "{place}" has forgotten 2 events that it once held: it was restored from a backup, '
            "or a copy of it was used.",
            "Nothing can be published until what was published since is charged again. Run "
            '`safeside.recover_ledger(...)`, with `releases=["DIR"]` for each release of which another copy '
            "of the ledger may know.",
        )
    foreign = Published(
        ledger_id="f",
        dataset="city",
        request="r",
        reference="0" * 32,
        manifest="m",
        cost=cost(),
        question={},
    )
    with open_ledger(place) as fresh:
        assert said(lambda: fresh.recover([foreign]), LedgerError) == (
            'The release for the request "r" was charged to another ledger.',
            "Give only releases of this ledger; the ledger's id is in release.json.",
        )


def _meet(place: str, state: Path, here: Act, there: Act) -> Ledger:
    """Two copies of a ledger go their own ways; then this one meets the witness of the other."""
    copy = backup(place)
    with open_ledger(place) as other:
        there(other)
    other_branch = {path: path.read_bytes() for path in state.iterdir()}
    restore(place, copy)
    for path in [*other_branch, Path(place + ".witness")]:
        path.unlink()
    with open_ledger(place) as one:
        here(one)
    for path, content in other_branch.items():
        path.write_bytes(content + path.read_bytes())
    return open_ledger(place)


def test_a_witness_with_lines_missing(book: Ledger, tmp_path: Path, state: Path) -> None:
    def publish(it: Ledger) -> None:
        it.create_dataset("new", "person", 1)
        it.reserve("new", "far", QUESTION, cost())

    both = _meet(
        str(tmp_path / "ledger.db"), state, lambda it: it.refuse("city", "x", QUESTION, "no"), publish
    )
    (witness,) = state.glob("*.witness")
    lines = [line for line in witness.read_text().splitlines() if '"name":"new"' not in line]
    witness.write_text("\n".join(lines) + "\n")
    assert said(both.recover, LedgerForked) == (
        "A witness holds an event, number 9, that cannot be answered here (its dataset does not exist): "
        "lines are missing from it, or it was altered.",
        "Put back the witness from a backup, or restore the ledger from a later backup; then run "
        "`safeside.recover_ledger(...)` again.",
    )


def test_a_release_whose_price_is_not_known(book: Ledger, tmp_path: Path, state: Path) -> None:
    def publish(it: Ledger) -> None:
        it.commit(it.reserve("city", "far", QUESTION, cost()), "d9")

    both = _meet(
        str(tmp_path / "ledger.db"), state, lambda it: it.refuse("city", "x", QUESTION, "no"), publish
    )
    (witness,) = state.glob("*.witness")
    lines = [line for line in witness.read_text().splitlines() if "far" not in line or "reserve" not in line]
    witness.write_text("\n".join(lines) + "\n")
    assert said(both.recover, LedgerForked) == (
        'The release for the request "far" was committed on a copy of this ledger, and its price is not '
        "known here.",
        'Run `safeside.recover_ledger(..., releases=["DIR"])` with the directory of that release.',
    )


def test_a_reservation_from_elsewhere(book: Ledger, tmp_path: Path) -> None:
    other = create_ledger(tmp_path / "other.db")
    other.create_dataset("city", "person", 1)
    made = other.reserve("city", "x", QUESTION, cost())
    assert said(lambda: book.commit(made, "d"), LedgerForked) == (
        'The reservation for the request "x" is not in this ledger.',
        "Nothing was published. The ledger was restored or replaced since: run "
        "`safeside.recover_ledger(...)`, then run the same command again.",
    )


def test_another_ledger_in_its_place(book: Ledger, tmp_path: Path) -> None:
    with create_ledger(tmp_path / "other.db") as other:
        other.create_dataset("city", "person", 100)
    (tmp_path / "other.db").rename(tmp_path / "ledger.db")
    assert said(lambda: open_ledger(tmp_path / "ledger.db").recover(), LedgerForked) == (
        "The witness belongs to another ledger than the one that is here now.",
        "Put back the ledger that was here, or move this one, without the witness, to a place of its own.",
    )


NOT_MADE = (
    'Give the witness of another machine with `witnesses=["FILE"]`, or restore the database from a backup '
    "and run "
    "`safeside.recover_ledger(...)`. The database was left as it is."
)


def without(state: Path, tmp_path: Path, start: str) -> None:
    """The ledger is gone, and with it some lines of every witness."""
    (tmp_path / "ledger.db").unlink(missing_ok=True)
    for path in [*state.glob("*.witness"), tmp_path / "ledger.db.witness"]:
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if not line.startswith(start)))


def test_a_witness_from_which_no_ledger_can_be_made(book: Ledger, tmp_path: Path, state: Path) -> None:
    place = tmp_path / "ledger.db"
    without(state, tmp_path, "witness")
    assert said(lambda: recover_ledger(place), LedgerTampered) == (
        "The fingerprint key of the ledger is in no witness, so the ledger cannot be made anew: files could "
        "no longer be told apart.",
        NOT_MADE,
    )
    without(state, tmp_path, "event 4 ")
    assert said(lambda: recover_ledger(place), LedgerTampered) == (
        "The ledger cannot be made anew: event 4, or a part of its question, is in no witness that was "
        "found.",
        NOT_MADE,
    )
    without(state, tmp_path, "event")
    assert said(lambda: recover_ledger(place), LedgerMissing) == (
        f'The ledger "{place}" cannot be made anew: no witness of it was found.',
        'Restore the database from a backup, or give a witness with `witnesses=["FILE"]`. Witnesses stand '
        "beside the database and in the state directory of every machine that used it.",
    )
    assert said(lambda: recover_ledger(place, witnesses=[tmp_path / "x"]), BadQuestion) == (
        f'There is no witness at "{tmp_path}/x".',
        "Give a file whose name ends in .witness, copied from the machine that used the ledger.",
    )


def test_a_witness_that_holds_what_cannot_be(book: Ledger, tmp_path: Path, state: Path) -> None:
    forged = events.make(
        book.head, NOON, events.Returned(request="done", reservation="", epsilon=Fraction(1, 2))
    )
    odd = '{"kind":"from the future"}'
    beside = tmp_path / "ledger.db.witness"
    whole = beside.read_text()
    beside.write_text(f"{whole}event 8 {forged.digest} {forged.body}\n")
    (tmp_path / "ledger.db").rename(tmp_path / "kept.db")
    assert said(lambda: recover_ledger(tmp_path / "ledger.db"), LedgerTampered) == (
        "The ledger cannot be made anew: event 8 of its witness cannot be true.",
        NOT_MADE,
    )
    (tmp_path / "kept.db").rename(tmp_path / "ledger.db")
    beside.write_text(f"{whole}event 8 {events.digest(odd)} {odd}\n")
    assert said(lambda: recover_ledger(tmp_path / "ledger.db"), LedgerForked) == (
        "A witness holds an event, number 8, that this safeside cannot read.",
        "Use the version of safeside that wrote it, or put back the witness from a backup.",
    )


def test_a_witness_that_is_a_pipe(book: Ledger, tmp_path: Path) -> None:
    beside = tmp_path / "ledger.db.witness"
    beside.unlink()
    os.mkfifo(beside)
    what, _ = said(lambda: book.reserve("city", "x", QUESTION, cost()), StoreUnavailable)
    assert what == f'The ledger\'s witness "{beside}" cannot be used (it is not a plain file).'


def test_a_state_directory_that_cannot_be_used(tmp_path: Path, state: Path) -> None:
    state.write_text("a file where a directory should be")
    what, _ = said(lambda: create_ledger(tmp_path / "new.db"), StoreUnavailable)
    assert what.startswith(f'The state directory cannot be used: "{state}/')
