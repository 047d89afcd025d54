"""Somebody who may write to the database, or to a witness, but not to everything.

Each test is one attack, or one accident that looks like it. What the attacker wants is a second draw of one
request, money that comes back, or a history that says something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.ledger.stores import QUESTION, backup, cost, is_postgres, raw, restore

from safeside import records
from safeside.errors import LedgerDamaged, LedgerForked, LedgerTampered, RequestConflict
from safeside.ledger import Ledger, create_ledger, events, open_ledger
from safeside.ledger.checkpoint import Snapshot

EVERY = 5
LONG = ["a place with a name that is long enough"] * 100
"""Targets that are kept apart, in a document of their own."""


def about(hour: int) -> dict[str, object]:
    """A question that looks at one hour, of so many places that they are kept apart."""
    times = [f"2021-06-03T{at:02}:00:00.000000Z" for at in (hour, hour + 1)]
    return {**QUESTION, "targets": LONG, "looked_at": times, "asks": "how many"}


def spend(ledger: Ledger, number: int) -> None:
    ledger.commit(ledger.reserve("city", f"r{number}", about(number), cost(1)), f"m{number}")


@pytest.fixture
def paid(url: str) -> Iterator[Ledger]:
    """A ledger of several checkpoints, and of a few events after the last."""
    with create_ledger(url) as made:
        made.create_dataset("city", "person", 100)
    with open_ledger(url, checkpoint_every=EVERY) as made:
        for number in range(8):
            spend(made, number)
        # Long enough after a checkpoint, and short of the next.
        assert made.history()[-1].action.kind != "checkpoint"
        yield made


def last_checkpoint(ledger: Ledger) -> int:
    return max(event.number for event in ledger.history() if event.action.kind == "checkpoint")


def begun_at(ledger: Ledger) -> int:
    with ledger.chain.reading() as (state, _):
        return state.base.number


def of_state(state: Path) -> Path:
    (witness,) = state.glob("*.witness")
    return witness


def beside(url: str) -> Path | None:
    return None if is_postgres(url) else Path(url + ".witness")


def witnesses(url: str, state: Path) -> list[Path]:
    return [of_state(state), *([] if is_postgres(url) else [Path(url + ".witness")])]


def cut_database(url: str, number: int) -> None:
    """Take every event after that one away, and everything that would tell."""
    with raw(url) as run:
        run("DELETE FROM safeside_events WHERE number > ?", number)
        ((digest,),) = run("SELECT digest FROM safeside_events WHERE number = ?", number)
        run("UPDATE safeside_ledger SET number = ?, digest = ?", number, digest)
        run("DELETE FROM safeside_snapshots WHERE number > ?", number)


def cut_file(path: Path, number: int) -> None:
    """Leave out of a witness every event after that one."""
    lines = path.read_text().splitlines(keepends=True)
    later = [line for line in lines if line.startswith("event ") and int(line.split(" ")[1]) > number]
    path.write_text("".join(line for line in lines if line not in later))


@pytest.mark.parametrize("back", [1, 2, 3, 8])
def test_a_commit_that_is_taken_away_from_all_but_one_witness_allows_no_second_draw(
    paid: Ledger, url: str, state: Path, back: int
) -> None:
    keep = paid.head.number - back
    cut_database(url, keep)
    path = beside(url)
    if path is not None:
        cut_file(path, keep)
    with open_ledger(url, checkpoint_every=EVERY) as fresh:
        with pytest.raises(LedgerForked):
            fresh.reserve("city", "r7", about(7), cost(1))
        fresh.recover()
        with pytest.raises(RequestConflict):
            fresh.commit(fresh.reserve("city", "r7", about(7), cost(1)), "another draw")
        assert fresh.verify() == fresh.head.number


def test_a_checkpoint_that_hides_a_commit_is_found_by_the_witness_that_was_not_forged_with_it(
    paid: Ledger, url: str, state: Path
) -> None:
    """A whole new end of the list, with a true chain, a snapshot of its own and a forged witness beside."""
    history = paid.history()
    place = last_checkpoint(paid)
    with raw(url) as run:
        ((body,),) = run("SELECT body FROM safeside_snapshots WHERE number = ?", place)
    snapshot = records.decode(Snapshot, body.encode())
    for group in snapshot.groups:
        group.spent.clear()
    false = records.encode(snapshot).decode()
    before = history[place - 2]
    forged = events.make(before.head, before.time, events.Checkpoint(snapshot=events.digest(false)))
    cut_database(url, before.number)
    with raw(url) as run:
        run(
            "INSERT INTO safeside_events (number, digest, body) VALUES (?, ?, ?)",
            *(forged.number, forged.digest, forged.body),
        )
        run("UPDATE safeside_ledger SET number = ?, digest = ?", forged.number, forged.digest)
        run("DELETE FROM safeside_snapshots")
        run(
            "INSERT INTO safeside_snapshots (number, digest, body, replaced) VALUES (?, ?, ?, '')",
            *(forged.number, forged.digest, false),
        )
    path = beside(url)
    if path is not None:
        cut_file(path, before.number)
        with path.open("a") as file:
            file.write(f"event {forged.number} {forged.digest} {forged.body}\n")
            file.write(f"compared {forged.number} {forged.digest} 0 {events.BEFORE_ALL}\n")
    with open_ledger(url) as fresh, pytest.raises(LedgerTampered, match=f"event {forged.number} "):
        fresh.reserve("city", "r7", about(7), cost(1))


def test_what_came_after_a_checkpoint_is_missed_although_it_stands_before_the_mark(
    paid: Ledger, url: str, state: Path
) -> None:
    """A witness that lost its marks gets them back from a recovery, behind events that a backup lacks."""
    old = last_checkpoint(paid) + 1
    for path in witnesses(url, state):
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if not line.startswith("compared")))
    paid.close()
    with open_ledger(url, checkpoint_every=1000) as fresh:
        fresh.recover()
        last = fresh.head.number
    assert last > old
    with open_ledger(url) as fresh:
        assert begun_at(fresh), "the recovery has marked the checkpoint"
    cut_database(url, old)
    with open_ledger(url) as fresh:
        assert fresh.forgotten() == last - old
        with pytest.raises(LedgerForked):
            fresh.reserve("city", "more", about(50), cost(1))


def test_a_witness_put_together_from_two_is_read_from_its_beginning(
    paid: Ledger, url: str, state: Path
) -> None:
    """Its marks speak of another file: what stands first in this one was never compared."""
    copy = backup(url)
    mine = {path: path.read_bytes() for path in witnesses(url, state)}
    with open_ledger(url, checkpoint_every=1000) as there:
        spend(there, 20)
    other = {path: path.read_bytes()[len(content) :] for path, content in mine.items()}
    restore(url, copy)
    for path, content in mine.items():
        path.write_bytes(other[path] + content)
    with open_ledger(url) as fresh:
        assert begun_at(fresh) == 0
        assert fresh.forgotten() == 2
        with pytest.raises(LedgerForked):
            fresh.reserve("city", "r20", about(20), cost(1))


def test_an_event_that_a_witness_holds_in_part_is_told_again(paid: Ledger, url: str, state: Path) -> None:
    """As after a crash in the middle of a line, which somebody has ended since."""
    last = paid.history()[-1]
    for path in witnesses(url, state):
        lines = path.read_text().splitlines(keepends=True)
        assert lines[-1].startswith("event ")
        path.write_text("".join([*lines[:-1], lines[-1][: len(lines[-1]) // 2], "\n"]))
    with open_ledger(url, checkpoint_every=1000) as fresh:
        spend(fresh, 21)
    for path in witnesses(url, state):
        assert f"event {last.number} {last.digest} {last.body}\n" in path.read_text()


def altered(url: str, number: int) -> None:
    with raw(url) as run:
        ((body,),) = run("SELECT body FROM safeside_events WHERE number = ?", number)
        assert '"r1"' in body
        run(
            "UPDATE safeside_events SET body = ? WHERE number = ?",
            *(body.replace('"r1"', '"rx"'), number),
        )


def test_a_new_witness_is_told_nothing_that_was_altered_before_the_checkpoint(
    paid: Ledger, url: str, state: Path
) -> None:
    known = paid.reservation("r1")
    assert known is not None
    paid.close()
    altered(url, known.number)
    of_state(state).unlink()
    with open_ledger(url, checkpoint_every=EVERY) as fresh:
        with pytest.raises(LedgerTampered, match=f"event {known.number} "):
            spend(fresh, 30)
        assert '"rx"' not in "".join(path.read_text() for path in state.glob("*.witness"))


def test_a_history_that_was_altered_is_not_shown(paid: Ledger, url: str) -> None:
    known = paid.reservation("r1")
    assert known is not None
    altered(url, known.number)
    with open_ledger(url) as fresh, pytest.raises(LedgerTampered, match=f"event {known.number} "):
        fresh.history()


def test_a_list_of_places_that_was_altered_is_not_shown(paid: Ledger, url: str) -> None:
    with raw(url) as run:
        run("UPDATE safeside_documents SET body = ?", '["another place"]')
    with open_ledger(url) as fresh, pytest.raises(LedgerDamaged):
        fresh.show("city")
    with open_ledger(url) as fresh, pytest.raises(LedgerTampered, match="a part of its question"):
        fresh.verify()


def test_whatever_single_row_of_the_index_is_altered_or_gone_nothing_is_forgotten(
    paid: Ledger, url: str
) -> None:
    known = paid.reservations()
    left = paid.remaining("city")
    with raw(url) as run:
        nodes = run("SELECT name, body FROM safeside_nodes ORDER BY name")
        assert nodes
        for name, body in nodes:
            for damage in (
                lambda name, body: run(
                    "UPDATE safeside_nodes SET body = ? WHERE name = ?", body.replace("r1", "q1") + " ", name
                ),
                lambda name, _: run("DELETE FROM safeside_nodes WHERE name = ?", name),
            ):
                damage(name, body)
                with open_ledger(url) as fresh:
                    assert [fresh.reservation(one.request) for one in known] == list(known)
                    assert fresh.reservation("rx") is None
                    assert fresh.remaining("city") == left
                run("DELETE FROM safeside_nodes WHERE name = ?", name)
                run("INSERT INTO safeside_nodes (name, body) VALUES (?, ?)", name, body)


def test_an_index_of_yesterday_beside_events_of_today_forgets_nothing(paid: Ledger, url: str) -> None:
    with raw(url) as run:
        old = [run(f"SELECT * FROM {table}") for table in ("safeside_snapshots", "safeside_nodes")]
    with open_ledger(url, checkpoint_every=EVERY) as there:
        for number in range(30, 38):
            spend(there, number)
        left = there.remaining("city")
    with raw(url) as run:
        for table, rows in zip(("safeside_snapshots", "safeside_nodes"), old, strict=True):
            run(f"DELETE FROM {table}")
            for row in rows:
                run(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", *row)
    with open_ledger(url, checkpoint_every=EVERY) as fresh:
        assert fresh.remaining("city") == left
        with pytest.raises(RequestConflict):
            fresh.commit(fresh.reserve("city", "r33", about(33), cost(1)), "another draw")
        spend(fresh, 40)
        assert fresh.verify() == fresh.head.number


def test_no_altered_list_of_places_writes_lines_of_its_own_into_a_witness(
    paid: Ledger, url: str, state: Path
) -> None:
    """A machine whose witness has to be told of the list is told nothing that is not it."""
    for path in witnesses(url, state):
        path.unlink()
    line = "compared 5 " + "1" * 64 + " 0 " + "0" * 64
    with raw(url) as run:
        run("UPDATE safeside_documents SET body = ?", f"[]\n{line}")
    paid.refuse("city", "no", QUESTION, "no room")
    for path in witnesses(url, state):
        assert line not in path.read_text().splitlines()
        assert path.read_text().count("event ") == paid.head.number


def test_an_event_of_several_lines_is_none(paid: Ledger, url: str) -> None:
    """A witness keeps each event in a line, and would lack this one for ever."""
    head, time = paid.head, paid.chain._state.time
    assert time is not None
    made = events.make(head, time, events.ClockSet(reason="nothing"))
    body = made.body.replace("{", "{\n")
    with raw(url) as run:
        run("INSERT INTO safeside_events VALUES (?, ?, ?)", made.number, events.digest(body), body)
        run("UPDATE safeside_ledger SET number = ?, digest = ?", made.number, events.digest(body))
    with pytest.raises(LedgerTampered, match=f"event {made.number} "):
        paid.remaining("city")


@pytest.mark.parametrize("named", [[1], {"a": 1}, 5])
def test_a_lost_question_that_names_no_list_by_its_digest_is_charged_again(
    paid: Ledger, url: str, state: Path, named: object
) -> None:
    head, time = paid.head, paid.chain._state.time
    assert time is not None
    before = paid.remaining("city").epsilon
    action = events.Reserved(
        request="lost",
        reference="r",
        dataset="city",
        question={"targets": {events.DOCUMENT: named}},
        cost=cost(1),
        charged=cost(1).under_policy(),
    )
    lost = events.make(head, time, action)
    for path in witnesses(url, state):
        with path.open("a") as file:
            file.write(f"event {lost.number} {lost.digest} {lost.body}\n")
    paid.recover()
    assert paid.remaining("city").epsilon == before - 1
    assert paid.verify() == paid.head.number
