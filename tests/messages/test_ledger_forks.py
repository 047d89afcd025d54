"""What the ledger says when it was altered, restored, copied or exchanged."""

from __future__ import annotations

from pathlib import Path

from tests.ledger.stores import NOON, QUESTION, backup, cost, postgres, raw, restore, state, url
from tests.messages.books import Act, book, said

from safeside.errors import (
    LedgerError,
    LedgerForked,
    LedgerTampered,
)
from safeside.ledger import Ledger, Published, create_ledger, open_ledger

__all__ = ["book", "postgres", "state", "url"]


def test_a_tampered_row_is_named(book: Ledger, tmp_path: Path) -> None:
    with raw(str(tmp_path / "ledger.db")) as run:
        run("UPDATE safeside_events SET body = replace(body, '1/2', '1/9') WHERE number = 5")
    assert said(lambda: open_ledger(tmp_path / "ledger.db").remaining("city"), LedgerTampered) == (
        "The ledger was altered: event 5 cannot be trusted (it is not what was written).",
        "Publish nothing from it. Restore the ledger from a backup, then run `safeside ledger recover`, "
        "which charges again what was published since.",
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
            "Nothing can be published until what was published since is charged again. Run `safeside ledger "
            "recover`, with --release DIR for each release of which another copy of the ledger may know.",
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
    (witness,) = state.iterdir()
    lines = [line for line in witness.read_text().splitlines() if '"name":"new"' not in line]
    witness.write_text("\n".join(lines) + "\n")
    assert said(both.recover, LedgerForked) == (
        "A witness holds an event, number 9, that cannot be answered here (its dataset does not exist): "
        "lines are missing from it, or it was altered.",
        "Put back the witness from a backup, or restore the ledger from a later backup; then run "
        "`safeside ledger recover` again.",
    )


def test_a_release_whose_price_is_not_known(book: Ledger, tmp_path: Path, state: Path) -> None:
    def publish(it: Ledger) -> None:
        it.commit(it.reserve("city", "far", QUESTION, cost()), "d9")

    both = _meet(
        str(tmp_path / "ledger.db"), state, lambda it: it.refuse("city", "x", QUESTION, "no"), publish
    )
    (witness,) = state.iterdir()
    lines = [line for line in witness.read_text().splitlines() if "far" not in line or "reserve" not in line]
    witness.write_text("\n".join(lines) + "\n")
    assert said(both.recover, LedgerForked) == (
        'The release for the request "far" was committed on a copy of this ledger, and its price is not '
        "known here.",
        "Run `safeside ledger recover --release DIR` with the directory of that release.",
    )


def test_a_reservation_from_elsewhere(book: Ledger, tmp_path: Path) -> None:
    other = create_ledger(tmp_path / "other.db")
    other.create_dataset("city", "person", 1)
    made = other.reserve("city", "x", QUESTION, cost())
    assert said(lambda: book.commit(made, "d"), LedgerForked) == (
        f'The reservation for the request "x" is not in the ledger "{tmp_path}/ledger.db".',
        "Nothing was published. The ledger was restored or replaced since: run `safeside ledger recover`, "
        "then run the same command again.",
    )


def test_another_ledger_in_its_place(book: Ledger, tmp_path: Path) -> None:
    with create_ledger(tmp_path / "other.db") as other:
        other.create_dataset("city", "person", 100)
    (tmp_path / "other.db").rename(tmp_path / "ledger.db")
    assert said(lambda: open_ledger(tmp_path / "ledger.db").recover(), LedgerForked) == (
        "The witness belongs to another ledger than the one that is here now.",
        "Put back the ledger that was here, or move this one, without the witness, to a place of its own.",
    )
