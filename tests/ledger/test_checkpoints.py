"""A process begins at the last checkpoint that every witness has, and comes to the same account.

Somebody who may write to the database, and to nothing else, gets nothing for it: a snapshot that was forged,
hidden or put back is not believed, and everything is read instead.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import pytest
from tests.ledger.stores import EVERY, about, backup, begun_at, cost, is_postgres, raw, restore

from safeside import records
from safeside.errors import BadFile, LedgerError, LedgerForked, LedgerTampered, RequestConflict
from safeside.ledger import Ledger, Stage, create_ledger, events, open_ledger
from safeside.ledger.checkpoint import Snapshot


def kinds(ledger: Ledger) -> list[str]:
    return [event.action.kind for event in ledger.history()]


def test_a_checkpoint_stands_after_every_so_many_events(long: Ledger) -> None:
    places = [number for number, kind in enumerate(kinds(long), 1) if kind == "checkpoint"]
    assert len(places) >= 3
    assert {after - before for before, after in itertools.pairwise(places)} == {EVERY + 1}


def test_a_fresh_reader_begins_there_and_knows_what_one_who_reads_everything_knows(
    long: Ledger, url: str
) -> None:
    with open_ledger(url) as short, open_ledger(url) as whole:
        whole.verify()
        assert begun_at(short) == max(n for n, kind in enumerate(kinds(long), 1) if kind == "checkpoint")
        assert begun_at(whole) == 0
        for name in ("city", "town", "port"):
            assert short.show(name) == whole.show(name)
        for one in whole.reservations():
            assert short.reservation(one.request) == one
            assert short.committed(one.manifest or "") == (one if one.manifest else None)
            assert short.asked("city", one.question) == whole.asked("town", one.question)
        assert begun_at(short)
        assert short.leaks("city") == whole.leaks("city")
        assert short.reservations() == whole.reservations()


def test_nothing_is_forgotten_by_one_who_begins_at_a_checkpoint(long: Ledger, url: str) -> None:
    with open_ledger(url) as fresh:
        before = fresh.remaining("city").epsilon
        with pytest.raises(RequestConflict):
            fresh.commit(fresh.reserve("city", "r5", about(5), cost(1)), "another draw")
        with pytest.raises(RequestConflict):
            fresh.reserve("city", "r6", about(30), cost(1))
        with pytest.raises(LedgerError, match="stays closed"):
            fresh.reserve("town", "again", about(1), cost(1))
        port = fresh.reserve("port", "p", about(20), cost(1))
        with pytest.raises(BadFile):
            fresh.read_files(port, ["f1"])
        with pytest.raises(LedgerError, match="exists already"):
            fresh.create_dataset("city", "person", 1000)
        assert (
            fresh.give_back(fresh.reserve("town", "sparse", about(3), cost(2, epsilon_each=Fraction(1, 2))))
            == 1.5
        )
        head = fresh.head
        fresh.refuse("city", "no", about(4), "BadFile")
        assert fresh.head == head, "the same refusal is recorded once"
        assert fresh.remaining("city").epsilon == before
        assert begun_at(fresh)


def test_that_a_second_run_took_it_up_is_not_forgotten(url: str) -> None:
    with create_ledger(url) as made:
        made.create_dataset("city", "person", 9)
    with open_ledger(url, checkpoint_every=EVERY) as one:
        first = one.reserve("city", "open", about(1), cost(1))
        one.reserve("city", "open", about(1), cost(1))
        for number in range(2, 2 + EVERY):
            one.reserve("city", f"r{number}", about(number), cost(1))
    with open_ledger(url) as fresh:
        assert begun_at(fresh) > first.number
        left = fresh.remaining("city")
        assert not fresh.refuse("city", "open", about(1), "BadFile", unused=first)
        assert fresh.remaining("city") == left, "the second run may have drawn"


def test_a_ledger_goes_on_through_many_checkpoints_and_many_readers(long: Ledger, url: str) -> None:
    for number in range(40, 60):
        with open_ledger(url, checkpoint_every=EVERY) as fresh:
            assert begun_at(fresh)
            fresh.reserve("city", f"r{number}", about(number), cost(1))
    assert long.remaining("city").epsilon == Fraction(50) - 30 + Fraction(1, 2)
    assert long.verify() == long.head.number


def test_two_processes_that_write_in_turn_agree(url: str) -> None:
    with create_ledger(url) as made:
        made.create_dataset("city", "person", 100)
    with open_ledger(url, checkpoint_every=3) as one, open_ledger(url, checkpoint_every=5) as two:
        for number in range(30):
            (one if number % 2 else two).reserve("city", f"r{number}", about(number), cost(1))
        assert one.head == two.head
        assert one.remaining("city") == two.remaining("city")
        assert two.verify() == one.head.number


def forget(url: str, name: str) -> None:
    """Make the snapshots say that this request was never made, as its author would have to do it."""
    with raw(url) as run:
        for node, body in run("SELECT name, body FROM safeside_nodes"):
            if f'"request {name}"' in body:
                run("UPDATE safeside_nodes SET body = ? WHERE name = ?", body.replace(name, "x" * 9), node)


def hide(url: str, name: str) -> None:
    """Delete the node that holds a request."""
    with raw(url) as run:
        for node, body in run("SELECT name, body FROM safeside_nodes"):
            if f'"request {name}"' in body:
                run("DELETE FROM safeside_nodes WHERE name = ?", node)


@pytest.mark.parametrize("attack", [forget, hide])
def test_a_node_of_the_index_that_is_altered_or_hidden_is_not_believed(
    long: Ledger, url: str, attack: object
) -> None:
    attack(url, "r5")  # type: ignore[operator]
    with open_ledger(url, checkpoint_every=EVERY) as fresh:
        known = fresh.reservation("r5")
        assert known is not None
        assert known.stage is Stage.COMMITTED
        with pytest.raises(RequestConflict):
            fresh.commit(fresh.reserve("city", "r5", about(5), cost(1)), "another draw")
        fresh.reserve("city", "after", about(70), cost(1))
    with open_ledger(url) as mended:
        assert begun_at(mended), "the next checkpoint has put everything back"
        assert mended.reservation("r5") == known
        assert begun_at(mended)


def snapshots(url: str) -> list[tuple[int, str, str]]:
    with raw(url) as run:
        return run("SELECT number, digest, body FROM safeside_snapshots ORDER BY number")


def cheaper(body: str) -> str:
    """The snapshot of somebody who has spent nothing, and closed no time."""
    kept = records.decode(Snapshot, body.encode())
    for group in kept.groups:
        group.spent.clear()
        group.gross.clear()
    kept.stopped.clear()
    return records.encode(kept).decode()


def test_a_forged_snapshot_is_not_believed(long: Ledger, url: str) -> None:
    before = long.remaining("city")
    with raw(url) as run:
        for number, _, body in snapshots(url):
            run("UPDATE safeside_snapshots SET body = ? WHERE number = ?", cheaper(body), number)
    with open_ledger(url) as fresh:
        assert begun_at(fresh) == 0
        assert fresh.remaining("city") == before
        with pytest.raises(LedgerError, match="stays closed"):
            fresh.reserve("city", "again", about(1), cost(1))


def test_an_older_snapshot_put_in_the_place_of_a_newer_is_not_believed(long: Ledger, url: str) -> None:
    before = long.remaining("city")
    (_, _, older), (number, _, _) = snapshots(url)
    with raw(url) as run:
        run("UPDATE safeside_snapshots SET body = ? WHERE number = ?", older, number)
    with open_ledger(url) as fresh:
        assert fresh.remaining("city") == before


def test_a_snapshot_that_is_gone_is_made_again(long: Ledger, url: str) -> None:
    before = long.remaining("city")
    with raw(url) as run:
        run("DELETE FROM safeside_snapshots")
        run("DELETE FROM safeside_nodes")
    with open_ledger(url, checkpoint_every=EVERY) as fresh:
        assert begun_at(fresh) == 0
        assert fresh.remaining("city") == before
        fresh.reserve("city", "after", about(70), cost(1))
    with open_ledger(url) as mended:
        assert begun_at(mended)
        assert mended.remaining("city").epsilon == before.epsilon - 1


def forged_checkpoint(url: str, ledger: Ledger) -> events.Event:
    """An event that says the account is what a forged snapshot says, and everything that goes with it."""
    number, _, body = snapshots(url)[-1]
    false = cheaper(body)
    last = ledger.history()[-1]
    event = events.make(last.head, last.time, events.Checkpoint(snapshot=events.digest(false)))
    with raw(url) as run:
        run(
            "INSERT INTO safeside_events (number, digest, body) VALUES (?, ?, ?)",
            *(event.number, event.digest, event.body),
        )
        run("UPDATE safeside_ledger SET number = ?, digest = ?", event.number, event.digest)
        run(
            "UPDATE safeside_snapshots SET number = ?, digest = ?, body = ? WHERE number = ?",
            *(event.number, event.digest, false, number),
        )
    return event


def test_a_forged_checkpoint_is_found_when_the_ledger_is_opened(long: Ledger, url: str) -> None:
    event = forged_checkpoint(url, long)
    for look in (lambda it: it.remaining("city"), Ledger.verify):
        with open_ledger(url) as fresh, pytest.raises(LedgerTampered, match=f"event {event.number} "):
            look(fresh)


def test_a_forged_checkpoint_is_found_by_the_witness_that_does_not_know_it(
    long: Ledger, url: str, state: Path
) -> None:
    """Even where the witness beside the database was forged with it."""
    event = forged_checkpoint(url, long)
    if not is_postgres(url):
        beside = Path(url + ".witness")
        size = beside.stat().st_size
        lines = f"event {event.number} {event.digest} {event.body}\n"
        with beside.open("a") as file:
            file.write(f"{lines}compared {event.number} {event.digest} {size}\n")
    with open_ledger(url) as fresh, pytest.raises(LedgerTampered, match=f"event {event.number} "):
        fresh.remaining("city")


def witnesses(url: str, state: Path) -> list[Path]:
    return [*state.glob("*.witness"), *([] if is_postgres(url) else [Path(url + ".witness")])]


def test_a_witness_without_the_checkpoint_has_everything_read(long: Ledger, url: str, state: Path) -> None:
    before = long.remaining("city")
    witness = witnesses(url, state)[0]
    lines = witness.read_text().splitlines(keepends=True)
    witness.write_text("".join(one for one in lines if not one.startswith("compared")))
    with open_ledger(url, checkpoint_every=EVERY) as fresh:
        assert begun_at(fresh) == 0
        assert fresh.remaining("city") == before
        fresh.reserve("city", "after", about(70), cost(1))
    with open_ledger(url) as again:
        assert begun_at(again)


def test_a_witness_that_was_put_back_to_before_the_checkpoint_has_everything_read_and_is_completed(
    long: Ledger, url: str, state: Path
) -> None:
    witness = witnesses(url, state)[0]
    lines = witness.read_text().splitlines(keepends=True)
    witness.write_text("".join(lines[:4]))
    with open_ledger(url, checkpoint_every=EVERY) as fresh:
        assert begun_at(fresh) == 0
        fresh.reserve("city", "after", about(70), cost(1))
        assert fresh.check().untold == {}
    with open_ledger(url) as again:
        assert begun_at(again)


@pytest.mark.parametrize("steps", [3, 2 * EVERY, 5 * EVERY])
def test_a_database_of_yesterday_is_noticed(long: Ledger, url: str, steps: int) -> None:
    copy = backup(url)
    for number in range(steps):
        with open_ledger(url, checkpoint_every=EVERY) as fresh:
            fresh.reserve("city", f"s{number}", about(70 + number), cost("1/100"))
    left = long.remaining("city").epsilon
    restore(url, copy)
    with open_ledger(url, checkpoint_every=EVERY) as fresh:
        assert fresh.forgotten() >= steps
        with pytest.raises(LedgerForked):
            fresh.reserve("city", "x", about(90), cost(1))
        with pytest.raises(LedgerForked):
            fresh.verify()
        fresh.recover()
        assert fresh.remaining("city").epsilon == left
        assert fresh.verify() == fresh.head.number


def test_events_taken_off_up_to_a_checkpoint_and_replaced_are_noticed(long: Ledger, url: str) -> None:
    """The snapshots of the branch that was cut off are left where they are."""
    history = long.history()
    keep = history[-EVERY - 3]
    made = events.make(keep.head, keep.time, events.ClockSet(reason="forged"))
    with raw(url) as run:
        run("DELETE FROM safeside_events WHERE number > ?", keep.number)
        run(
            "INSERT INTO safeside_events (number, digest, body) VALUES (?, ?, ?)",
            *(made.number, made.digest, made.body),
        )
        run("UPDATE safeside_ledger SET number = ?, digest = ?", made.number, made.digest)
    with open_ledger(url) as fresh:
        assert fresh.forgotten() > 0
        with pytest.raises(LedgerForked):
            fresh.reserve("city", "x", about(90), cost(1))


def test_a_branch_that_was_found_again_is_behind_the_next_checkpoint(
    long: Ledger, url: str, state: Path
) -> None:
    copy = backup(url)
    with open_ledger(url, checkpoint_every=EVERY) as there:
        for number in range(4):
            there.reserve("city", f"s{number}", about(70 + number), cost(1))
    left = long.remaining("city").epsilon
    known = {path: path.read_bytes() for path in witnesses(url, state)}
    restore(url, copy)
    for path in known:
        path.unlink()
    with open_ledger(url, checkpoint_every=EVERY) as here:
        here.reserve("city", "here", about(80), cost(1))
    for path, content in known.items():
        path.write_bytes(content + path.read_bytes())
    with open_ledger(url, checkpoint_every=EVERY) as both:
        both.recover()
        assert both.remaining("city").epsilon == left - 1
    with open_ledger(url) as fresh:
        assert begun_at(fresh)
        assert fresh.remaining("city").epsilon == left - 1
        assert fresh.forgotten() == 0
        assert fresh.reservation("s2") is not None
        assert fresh.verify() == fresh.head.number
