"""After a crash, a restored backup, a copy that was used: nothing that was published goes unpaid."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from tests.ledger.stores import (
    MANY,
    QUESTION,
    Backup,
    backup,
    cost,
    forget_witnesses,
    is_postgres,
    raw,
    restore,
)

from safeside.errors import LedgerError, LedgerForked, LedgerMissing, OverBudget
from safeside.ledger import Ledger, Published, Reservation, Stage, open_ledger


def publish(ledger: Ledger, request: str, manifest: str, epsilon: object = 1) -> Reservation:
    return ledger.commit(ledger.reserve("city", request, MANY, cost(epsilon)), manifest)


def release(made: Reservation, manifest: str) -> Published:
    return Published(
        ledger_id=made.ledger_id,
        dataset=made.dataset,
        request=made.request,
        reference=made.reference,
        manifest=manifest,
        cost=made.cost,
        question=made.question,
    )


def test_a_crash_leaves_a_paid_reservation_that_is_explained(ledger: Ledger) -> None:
    made = ledger.reserve("city", "a", QUESTION, cost())
    found = ledger.recover()
    assert [one.digest for one in found.unfinished] == [made.digest]
    assert (found.restored, found.recharged, found.returned, found.clock_set) == (0, (), (), False)
    assert ledger.remaining("city").epsilon == 2


def test_a_crash_before_the_return_is_made_good(ledger: Ledger) -> None:
    made = ledger.reserve("city", "a", QUESTION, cost(2, epsilon_each=Fraction(1)))
    ledger.commit(made, "d1", alarms=1)
    assert ledger.recover().returned == (("a", Fraction(1)),)
    assert ledger.recover().returned == ()
    assert ledger.remaining("city").epsilon == 2


def test_a_restored_ledger_publishes_nothing_until_it_is_whole_again(ledger: Ledger, url: str) -> None:
    copy = backup(url)
    publish(ledger, "a", "d1")
    ledger.create_dataset("town", "person", 1)
    head = ledger.head
    restore(url, copy)
    with open_ledger(url) as fresh:
        for act in (
            lambda: fresh.reserve("city", "b", QUESTION, cost()),
            lambda: fresh.create_dataset("village", "person", 1),
            lambda: fresh.refuse("city", "b", QUESTION, "no"),
        ):
            with pytest.raises(LedgerForked):
                act()
        assert fresh.show("city").forgotten == 3
        assert fresh.recover().restored == 3
        assert fresh.head == head
        assert fresh.recover().restored == 0
        assert fresh.remaining("city").epsilon == 2
        assert fresh.dataset("town").cap.epsilon == 1
        assert fresh.question(fresh.reservation("a")) == MANY
        assert fresh.verify() == head.number
        publish(fresh, "b", "d2")


def test_a_process_notices_a_restore_though_every_witness_went_with_it(
    ledger: Ledger, url: str, state: Path
) -> None:
    copy = backup(url)
    publish(ledger, "a", "d1")
    restore(url, copy)
    forget_witnesses(url, state)
    with pytest.raises(LedgerForked):
        ledger.reserve("city", "b", QUESTION, cost())


def test_an_error_in_between_does_not_make_it_forget(ledger: Ledger, url: str) -> None:
    copy = backup(url)
    publish(ledger, "a", "d1")
    restore(url, copy)
    with open_ledger(url) as fresh:
        with raw(url) as run:
            run("ALTER TABLE safeside_events RENAME TO elsewhere")
            with pytest.raises(LedgerMissing):
                fresh.remaining("city")
            run("ALTER TABLE elsewhere RENAME TO safeside_events")
        with pytest.raises(LedgerForked):
            fresh.reserve("city", "b", QUESTION, cost())


def test_one_witness_is_enough(ledger: Ledger, url: str, state: Path) -> None:
    copy = backup(url)
    publish(ledger, "a", "d1")
    restore(url, copy)
    if not is_postgres(url):
        Path(url + ".witness").unlink()
    with open_ledger(url) as fresh:
        with pytest.raises(LedgerForked):
            fresh.reserve("city", "b", QUESTION, cost())
        fresh.recover()
        publish(fresh, "b", "d2")
        assert fresh.remaining("city").epsilon == 1
    if not is_postgres(url):
        assert len(Path(url + ".witness").read_text().splitlines()) >= 7


def test_two_copies_that_were_both_used_are_both_paid_for(ledger: Ledger, url: str, state: Path) -> None:
    early = ledger.reserve("city", "early", QUESTION, cost("1/4"))
    copy = backup(url)
    publish(ledger, "a", "d1")
    ledger.commit(early, "d0")
    ledger.withdraw("a", "software-fault")
    ledger.create_dataset("town", "person", 1)
    ledger.link("city", "town")
    one_branch = {path: path.read_bytes() for path in state.glob("*.witness")}
    # Another machine: the old database, none of its witnesses; it goes its own way.
    restore(url, copy)
    forget_witnesses(url, state)
    with open_ledger(url) as other:
        publish(other, "a", "e1", "1/2")
        publish(other, "b", "e2", "1/2")
    # Then it meets the witness of the first.
    for path, content in one_branch.items():
        path.write_bytes(content + path.read_bytes())
    with open_ledger(url) as both:
        with pytest.raises(LedgerForked):
            both.reserve("city", "c", QUESTION, cost("1/100"))
        found = both.recover()
        assert [one.manifest for one in found.recharged] == ["d1"]
        assert found.recharged[0].request.startswith("a [")
        assert both.reservation("early").manifest == "d0"
        assert both.recover().recharged == ()
        # 1/4 early, 1/2 and 1/2 here, 1 on the other branch; the link brings the cap down to 1.
        assert both.remaining("city").epsilon == 1 - Fraction(9, 4)
        assert both.show("town").standing.epsilon == Fraction(9, 4)
        assert both.verify() == both.head.number


def test_noise_drawn_twice_under_one_reservation_is_paid_twice(ledger: Ledger, url: str, state: Path) -> None:
    made = ledger.reserve("city", "a", QUESTION, cost())
    copy = backup(url)
    ledger.commit(made, "d1")
    witness = {path: path.read_bytes() for path in state.glob("*.witness")}
    restore(url, copy)
    forget_witnesses(url, state)
    with open_ledger(url) as other:
        other.commit(made, "e1")
    for path, content in witness.items():
        path.write_bytes(content + path.read_bytes())
    with open_ledger(url) as both:
        assert [one.manifest for one in both.recover().recharged] == ["d1"]
        assert both.remaining("city").epsilon == 1


def test_a_release_the_ledger_never_heard_of_is_charged_even_beyond_the_cap(
    ledger: Ledger, url: str, state: Path
) -> None:
    copy = backup(url)
    made = [publish(ledger, name, f"d{name}", "1.5") for name in "ab"]
    releases = [release(one, f"d{one.request}") for one in made]
    ledger.reconcile(releases)
    restore(url, copy)
    forget_witnesses(url, state)
    with open_ledger(url) as fresh:
        with pytest.raises(LedgerForked):
            fresh.reconcile(releases)
        publish(fresh, "c", "dc", "1.5")
        found = fresh.recover(releases)
        assert [one.request for one in found.recharged] == ["a", "b"]
        assert all(one.stage is Stage.COMMITTED for one in found.recharged)
        fresh.reconcile(releases)
        assert fresh.recover(releases).recharged == ()
        assert fresh.remaining("city").epsilon == Fraction(-3, 2)
        assert fresh.show("city").standing.epsilon == Fraction(9, 2)


@pytest.mark.parametrize("each", [None, Fraction(1, 4)])
def test_a_release_whose_commit_was_forgotten_is_what_its_reservation_paid_for(
    ledger: Ledger, each: Fraction | None
) -> None:
    """It is not charged again, and nothing else can be drawn or returned under the same payment."""
    made = ledger.reserve("city", "a", QUESTION, cost(1, epsilon_each=each))
    with pytest.raises(LedgerForked):
        ledger.reconcile([release(made, "d1")])
    found = ledger.recover([release(made, "d1")])
    assert (found.recharged, found.unfinished, found.returned) == ((), (), ())
    assert ledger.reservation("a").manifest == "d1"
    assert ledger.remaining("city").epsilon == 2
    ledger.reconcile([release(made, "d1")])
    with pytest.raises(LedgerForked):
        ledger.reconcile([release(made, "another draw")])
    assert [one.manifest for one in ledger.recover([release(made, "d2")]).recharged] == ["d2"]
    assert ledger.remaining("city").epsilon == 1


def test_a_release_of_another_branch_does_not_take_the_reservation_of_this_one(ledger: Ledger) -> None:
    made = ledger.reserve("city", "a", QUESTION, cost())
    elsewhere = replace(release(made, "d1"), reference="0" * 32)
    assert [one.manifest for one in ledger.recover([elsewhere]).recharged] == ["d1"]
    assert ledger.reservation("a").stage is Stage.RESERVED
    assert ledger.remaining("city").epsilon == 1


def go_elsewhere(url: str, state: Path, copy: Backup, witness: dict[Path, bytes]) -> None:
    """A copy of the ledger is used on a machine without its witnesses, and then meets the witness again."""
    restore(url, copy)
    forget_witnesses(url, state)
    with open_ledger(url) as other:
        publish(other, "b", "e1")
    for path, content in witness.items():
        path.write_bytes(content + path.read_bytes())


def test_a_run_that_took_a_reservation_up_on_another_copy_is_remembered(
    ledger: Ledger, url: str, state: Path
) -> None:
    """It may have drawn there, so the reservation does not go back here."""
    made = ledger.reserve("city", "a", QUESTION, cost())
    copy = backup(url)
    ledger.reserve("city", "a", QUESTION, cost())
    go_elsewhere(url, state, copy, {path: path.read_bytes() for path in state.iterdir()})
    with open_ledger(url) as both:
        both.recover()
        assert both.reservation("a").resumed
        assert not both.refuse("city", "a", QUESTION, "BadFile", unused=made)
        assert both.remaining("city").epsilon == 1
        assert both.verify() == both.head.number


def test_what_was_charged_again_returns_nothing(ledger: Ledger, url: str, state: Path) -> None:
    copy = backup(url)
    ledger.reserve("city", "a", QUESTION, cost(1, epsilon_each=Fraction(1)))
    witness = {path: path.read_bytes() for path in state.glob("*.witness")}
    go_elsewhere(url, state, copy, witness)
    with open_ledger(url) as both:
        (again,) = both.recover().recharged
        made = both.commit(again, "d1", alarms=0)
        assert both.give_back(made) == 0
        assert both.recover().returned == ()
        assert both.remaining("city").epsilon == 1


def made_twice(url: str, state: Path, here: dict[str, object], there: dict[str, object]) -> None:
    """Two copies each make a dataset "new" and publish from it; then one meets the witness of the other."""
    copy = backup(url)

    def use(manifest: str, terms: dict[str, object]) -> None:
        periods = () if terms["unit"] == "person" else ("2021-03-04",)
        with open_ledger(url) as book:
            book.create_dataset("new", **terms)
            book.commit(book.reserve("new", manifest, QUESTION, cost("1/2", periods=periods)), manifest)

    use("d1", there)
    witness = {path: path.read_bytes() for path in state.glob("*.witness")}
    restore(url, copy)
    forget_witnesses(url, state)
    use("e1", here)
    for path, content in witness.items():
        path.write_bytes(content + path.read_bytes())


def test_two_copies_that_each_made_a_dataset_of_one_name_share_the_smaller_budget(
    ledger: Ledger, url: str, state: Path
) -> None:
    made_twice(
        url,
        state,
        {"unit": "person", "epsilon": 4, "delta": "1e-5"},
        {"unit": "person", "epsilon": 3, "delta": "1e-4", "public_balance": True},
    )
    with open_ledger(url) as both:
        assert [one.manifest for one in both.recover().recharged] == ["d1"]
        new = both.dataset("new")
        assert (new.cap.epsilon, new.cap.delta, new.public_balance) == (3, Fraction(1, 100000), True)
        assert both.remaining("new").epsilon == 2
        assert both.verify() == both.head.number


def test_two_copies_that_gave_it_different_units_publish_nothing_more_from_it(
    ledger: Ledger, url: str, state: Path
) -> None:
    made_twice(
        url,
        state,
        {"unit": "person", "epsilon": 4},
        {"unit": "person-day", "epsilon": 3, "timezone": "UTC"},
    )
    with open_ledger(url) as both:
        assert [one.manifest for one in both.recover().recharged] == ["d1"]
        with pytest.raises(OverBudget):
            both.reserve("new", "x", QUESTION, cost("1/1000"))
        assert "nothing is promised any more" in both.show("new").promise
        assert both.show("new").sentences == (both.show("new").promise,)
        publish(both, "x", "d9")


def test_the_promise_remembers_the_worst_day(ledger: Ledger) -> None:
    ledger.create_dataset("days", "person-day", 1, timezone="UTC")
    made = ledger.reserve("days", "a", QUESTION, cost(1, periods=("2021-03-04",)))
    worse = replace(release(made, "d1"), cost=cost(3, periods=("2021-03-04",)), request="x")
    ledger.recover([worse])
    ledger.reserve("days", "b", QUESTION, cost("1/2", periods=("2021-03-05",)))
    assert ledger.show("days").standing.epsilon == 4


def test_a_lost_refusal_gives_nothing_back_and_a_lost_release_after_it_is_charged(
    ledger: Ledger, url: str, state: Path
) -> None:
    """That nothing was drawn was true on the other branch; only that branch can say so."""
    copy = backup(url)
    made = ledger.reserve("city", "a", QUESTION, cost())
    ledger.refuse("city", "a", QUESTION, "BadFile", unused=made)
    stopped = {path: path.read_bytes() for path in state.iterdir()}
    publish(ledger, "a", "d1")
    whole = {path: path.read_bytes() for path in state.iterdir()}
    for witness, left in ((stopped, 1), (whole, 0)):
        go_elsewhere(url, state, copy, witness)
        with open_ledger(url) as both:
            both.recover()
            assert both.remaining("city").epsilon == left
            assert both.verify() == both.head.number


def test_releases_of_other_ledgers_are_not_ours(ledger: Ledger) -> None:
    made = ledger.reserve("city", "a", QUESTION, cost())
    foreign = Published(
        ledger_id="other",
        dataset="city",
        request="x",
        reference="0" * 32,
        manifest="m",
        cost=made.cost,
        question={},
    )
    ledger.reconcile([foreign])
    with pytest.raises(LedgerError):
        ledger.recover([foreign])
    with pytest.raises(LedgerMissing):
        ledger.recover(
            [
                Published(
                    ledger_id=ledger.ledger_id,
                    dataset="gone",
                    request="x",
                    reference="0" * 32,
                    manifest="m",
                    cost=made.cost,
                    question={},
                )
            ]
        )


def test_a_reservation_of_a_forgotten_branch_cannot_be_committed(
    ledger: Ledger, url: str, state: Path
) -> None:
    copy = backup(url)
    made = ledger.reserve("city", "a", QUESTION, cost())
    restore(url, copy)
    forget_witnesses(url, state)
    with open_ledger(url) as fresh, pytest.raises(LedgerForked):
        fresh.commit(made, "d1")
