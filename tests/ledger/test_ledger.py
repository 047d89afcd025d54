"""Reserve, commit, return, withdraw, refuse: the same in both stores."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction

import pytest
from tests.ledger.stores import NOON, QUESTION, cost, raw

from safeside.errors import (
    BadNumber,
    BadQuestion,
    ClockBackwards,
    LedgerError,
    LedgerForked,
    LedgerMissing,
    OverBudget,
    PrivacyError,
    RequestConflict,
    SimulationOnly,
)
from safeside.ledger import Budget, Cost, Kind, Ledger, Stage, create_ledger, open_ledger
from safeside.ledger import store as stores
from safeside.ledger.account import Impossible
from safeside.ledger.events import Refused
from safeside.privacy.guarantee import Unit

THIRD = Fraction(1, 3)


def test_charges_before_anything_is_drawn_and_to_the_last_digit(ledger: Ledger) -> None:
    made = ledger.reserve("city", "a", QUESTION, cost("1/3"))
    assert made.stage is Stage.RESERVED
    assert (made.number, made.digest) == (ledger.head.number, ledger.head.digest)
    assert made.ledger_id == ledger.ledger_id
    assert ledger.remaining("city") == Budget(epsilon=3 - THIRD, delta=Fraction(1, 10_000))
    done = ledger.commit(made, "d1", fingerprint="f")
    assert (done.stage, done.manifest, done.fingerprint) == (Stage.COMMITTED, "d1", "f")
    assert ledger.remaining("city").epsilon == 3 - THIRD


def test_a_repeated_request_is_one_reservation(ledger: Ledger, url: str) -> None:
    first = ledger.reserve("city", "a", QUESTION, cost())
    with open_ledger(url) as other:
        assert other.reserve("city", "a", dict(reversed(QUESTION.items())), cost()).digest == first.digest
        done = other.commit(first, "d1")
        assert other.commit(first, "d1") == done
    assert ledger.reserve("city", "a", QUESTION, cost()) == done
    assert ledger.remaining("city").epsilon == 2
    kinds = [event.action.kind for event in ledger.history()]
    assert kinds == ["ledger", "dataset", "reserve", "resume", "commit"]


def test_a_reference_is_128_bits_drawn_for_each_reservation(ledger: Ledger) -> None:
    references = [ledger.reserve("city", request, QUESTION, cost()).reference for request in ("a", "b")]
    assert len(set(references)) == 2
    assert all(len(bytes.fromhex(one)) == 16 for one in references)


@pytest.mark.parametrize(
    ("question", "price"),
    [
        ({**QUESTION, "at_most": 3}, cost()),
        (QUESTION, cost(2)),
        (QUESTION, cost(delta=0, epsilon_each=Fraction(1))),
    ],
)
def test_a_request_id_stands_for_one_question(
    ledger: Ledger, question: dict[str, object], price: Cost
) -> None:
    ledger.reserve("city", "a", QUESTION, cost())
    with pytest.raises(RequestConflict):
        ledger.reserve("city", "a", question, price)
    assert ledger.remaining("city").epsilon == 2


def test_noise_is_committed_once(ledger: Ledger) -> None:
    made = ledger.reserve("city", "a", QUESTION, cost())
    ledger.commit(made, "d1")
    with pytest.raises(RequestConflict):
        ledger.commit(made, "d2")
    with pytest.raises(SimulationOnly):
        ledger.commit(made, "d3", simulated=True)
    assert ledger.reservation("a").manifest == "d1"


def test_the_last_crumb_can_be_spent_and_nothing_beyond(ledger: Ledger) -> None:
    for number in range(9):
        ledger.reserve("city", f"r{number}", QUESTION, cost("1/3"))
    assert ledger.remaining("city").epsilon == 0
    crumb = Fraction(1, 10**30)
    with pytest.raises(OverBudget) as caught:
        ledger.reserve("city", "r9", QUESTION, cost(crumb))
    assert (caught.value.requested, caught.value.remaining, caught.value.difference) == (crumb, 0, crumb)


def test_a_refusal_is_recorded_once_and_costs_nothing(ledger: Ledger) -> None:
    for _ in range(3):
        with pytest.raises(OverBudget):
            ledger.reserve("city", "a", QUESTION, cost("3.5"))
    ledger.refuse("city", "b", QUESTION, "the targets cover everywhere")
    refusals = [event.action for event in ledger.history() if isinstance(event.action, Refused)]
    assert [what.request for what in refusals] == ["a", "b"]
    assert ledger.remaining("city").epsilon == 3
    assert ledger.reserve("city", "a", QUESTION, cost()).stage is Stage.RESERVED


def test_a_question_refused_before_anything_is_drawn_goes_back_in_full(ledger: Ledger) -> None:
    made = ledger.reserve("city", "a", QUESTION, cost(2))
    assert ledger.refuse("city", "a", QUESTION, "BadFile", unused=made)
    assert ledger.remaining("city").epsilon == 3
    assert ledger.reservation("a") is None
    with pytest.raises(LedgerForked):
        ledger.commit(made, "what the refused process drew all the same")
    again = ledger.reserve("city", "a", QUESTION, cost(2))
    assert again.number > made.number
    assert not ledger.refuse("city", "a", QUESTION, "BadFile", unused=made), "that one went back before"
    ledger.commit(again, "manifest")
    assert not ledger.refuse("city", "a", QUESTION, "BadFile", unused=again)
    assert ledger.remaining("city").epsilon == 1
    assert ledger.verify() == ledger.head.number


def test_what_somebody_may_have_drawn_under_never_goes_back(ledger: Ledger) -> None:
    """Only the call that made a reservation knows that nothing was drawn; a repeated request does not."""
    ledger.reserve("city", "a", QUESTION, cost(2))
    again = ledger.reserve("city", "a", QUESTION, cost(2))
    assert not ledger.refuse("city", "a", QUESTION, "BadFile", unused=again)
    assert not ledger.refuse("city", "a", QUESTION, "BadFile", unused=ledger.reservation("a"))
    assert not ledger.refuse("city", "a", QUESTION, "BadFile")
    assert ledger.remaining("city").epsilon == 1


def test_a_refusal_returns_nothing_of_another_dataset(ledger: Ledger) -> None:
    ledger.create_dataset("town", "person", 2)
    made = ledger.reserve("city", "a", QUESTION, cost(2))
    assert not ledger.refuse("town", "a", QUESTION, "BadFile", unused=made)
    assert ledger.remaining("city").epsilon == 1
    for dataset, ends in (("town", made.digest), ("city", "0" * 64)):
        forged = Refused(request="a", dataset=dataset, question="", reason="", ends=ends)
        with pytest.raises((Impossible, LedgerForked)):
            ledger.chain.record(Refused, lambda _, what=forged: what, None)
    assert ledger.remaining("city").epsilon == 1


def test_a_balance_that_is_public_for_one_is_public_for_all_that_share_it(ledger: Ledger) -> None:
    ledger.create_dataset("town", "person", 2, public_balance=True)
    early = ledger.reserve("city", "early", QUESTION, cost("1/2"))
    ledger.link("city", "town")
    late = ledger.reserve("city", "late", QUESTION, cost("1/2"))
    for made in (early, late):
        assert not ledger.refuse("city", made.request, QUESTION, "BadFile", unused=made)
    assert ledger.remaining("town").epsilon == 1


def test_what_went_back_before_a_link_stays_back(ledger: Ledger) -> None:
    ledger.create_dataset("town", "person", 2)
    made = ledger.reserve("city", "a", QUESTION, cost(1))
    ledger.refuse("city", "a", QUESTION, "BadFile", unused=made)
    across = ledger.reserve("city", "b", QUESTION, cost(1))
    ledger.link("city", "town")
    assert ledger.remaining("town").epsilon == 1
    assert ledger.refuse("city", "b", QUESTION, "BadFile", unused=across)
    assert ledger.remaining("town").epsilon == 2
    ledger.create_dataset("third", "person", 2)
    ledger.link("third", "city")
    assert ledger.remaining("third").epsilon == 2, "a second link adds up what was really charged"
    assert ledger.verify() == ledger.head.number


def test_a_place_may_have_the_name_of_a_word_of_the_ledger(ledger: Ledger) -> None:
    question = {**QUESTION, "at_most_of": {"document": 3}}
    made = ledger.reserve("city", "a", question, cost())
    assert ledger.reserve("city", "a", question, cost()).digest == made.digest
    assert ledger.question(made) == question
    assert ledger.verify() == ledger.head.number


def test_where_outsiders_see_the_balance_a_refusal_stays_charged(ledger: Ledger) -> None:
    ledger.create_dataset("town", "person", 2, public_balance=True)
    made = ledger.reserve("town", "a", QUESTION, cost(1))
    assert not ledger.refuse("town", "a", QUESTION, "BadFile", unused=made)
    assert ledger.remaining("town").epsilon == 1
    assert ledger.reserve("town", "a", QUESTION, cost(1)).stage is Stage.RESERVED


def test_delta_has_a_budget_too(ledger: Ledger) -> None:
    ordinary = Cost(epsilon=Fraction(1, 2), delta=Fraction(6, 100_000), kind=Kind.DP_COUNTS)
    ledger.reserve("city", "a", QUESTION, ordinary)
    with pytest.raises(OverBudget) as caught:
        ledger.reserve("city", "b", QUESTION, ordinary)
    assert caught.value.difference == Fraction(2, 100_000)
    assert ledger.remaining("city").epsilon == Fraction(5, 2)


def test_ordinary_releases_are_converted_before_they_are_added(ledger: Ledger) -> None:
    ledger.reserve("city", "a", QUESTION, Cost(epsilon=Fraction(1, 2), kind=Kind.DP_ADD_REMOVE))
    assert ledger.remaining("city").epsilon == 2
    made = ledger.reserve("city", "b", QUESTION, Cost(epsilon=Fraction(1, 2), kind=Kind.DP_REPLACE))
    assert made.charged == Budget(epsilon=Fraction(1, 2))
    assert ledger.remaining("city").epsilon == Fraction(3, 2)


def test_a_price_must_make_sense() -> None:
    with pytest.raises(PrivacyError):
        Cost(epsilon=Fraction(1), delta=Fraction(1, 10))
    with pytest.raises(BadNumber):
        Cost(epsilon=Fraction(0))
    with pytest.raises(BadNumber):
        Cost(epsilon=Fraction(1), epsilon_each=Fraction(2, 3))
    assert Cost(epsilon=Fraction(1), periods=("b", "a", "b")).periods == ("a", "b")


def test_what_a_sparse_release_did_not_use_comes_back(ledger: Ledger) -> None:
    made = ledger.reserve("city", "a", QUESTION, cost(2, epsilon_each=Fraction(1, 2)))
    assert ledger.remaining("city").epsilon == 1
    ledger.commit(made, "d1", alarms=1)
    assert ledger.give_back(made) == Fraction(3, 2)
    assert ledger.give_back(made, "1.5") == Fraction(3, 2)
    assert ledger.remaining("city").epsilon == Fraction(5, 2)
    with pytest.raises(LedgerError):
        ledger.give_back(made, 1)


@pytest.mark.parametrize(("alarms", "back"), [(0, 2), (3, Fraction(1, 2)), (4, 0), (9, 0)])
def test_nothing_comes_back_beyond_the_published_alarms(ledger: Ledger, alarms: int, back: Fraction) -> None:
    made = ledger.reserve("city", "a", QUESTION, cost(2, epsilon_each=Fraction(1, 2)))
    with pytest.raises(LedgerError):
        ledger.give_back(made, "1/2")
    ledger.commit(made, "d1", alarms=alarms)
    with pytest.raises(LedgerError):
        ledger.give_back(made, back + Fraction(1, 10**9))
    assert ledger.give_back(made) == back
    assert ledger.show("city").standing.epsilon == 3


def test_only_sparse_releases_return_anything(ledger: Ledger) -> None:
    made = ledger.reserve("city", "a", QUESTION, cost())
    with pytest.raises(BadQuestion):
        ledger.commit(made, "d1", alarms=0)
    ledger.commit(made, "d1")
    assert ledger.give_back(made) == 0
    assert ledger.remaining("city").epsilon == 2


def test_a_withdrawn_release_stays_charged(ledger: Ledger) -> None:
    made = ledger.reserve("city", "a", QUESTION, cost())
    with pytest.raises(LedgerMissing):
        ledger.withdraw("a", "software-fault")
    ledger.commit(made, "d1")
    for _ in range(2):
        assert ledger.withdraw("a", "software-fault").stage is Stage.WITHDRAWN
    assert ledger.remaining("city").epsilon == 2


def test_publishing_creates_neither_ledger_nor_dataset(url: str) -> None:
    with pytest.raises(LedgerMissing):
        open_ledger(url)
    with create_ledger(url) as made:
        with pytest.raises(LedgerMissing):
            made.reserve("city", "a", QUESTION, cost())
        assert made.datasets() == ()


def test_a_budget_is_never_reset(ledger: Ledger, url: str) -> None:
    with pytest.raises(LedgerError):
        create_ledger(url)
    with pytest.raises(LedgerError):
        ledger.create_dataset("city", "person", 100)
    assert ledger.dataset("city").cap.epsilon == 3


def test_each_day_has_a_budget_and_a_window_over_two_pays_twice(ledger: Ledger) -> None:
    ledger.create_dataset("daily", Unit.PERSON_DAY, 1, timezone="Asia/Tokyo")
    evening = NOON.replace(hour=14), NOON.replace(hour=16)  # 23:00 to 01:00 in Tokyo
    days = ledger.periods("daily", *evening)
    assert days == ("2021-03-04", "2021-03-05")
    ledger.reserve("daily", "a", QUESTION, cost("0.75", periods=days))
    with pytest.raises(OverBudget):
        ledger.reserve("daily", "b", QUESTION, cost("0.5", periods=("2021-03-05",)))
    ledger.reserve("daily", "c", QUESTION, cost("0.25", periods=("2021-03-05",)))
    ledger.reserve("daily", "d", QUESTION, cost(1, periods=("2021-03-06",)))
    spent = {period.name: period.spent.epsilon for period in ledger.show("daily").periods}
    assert spent == {"2021-03-04": Fraction(3, 4), "2021-03-05": 1, "2021-03-06": 1}
    with pytest.raises(BadQuestion):
        ledger.reserve("daily", "e", QUESTION, cost())
    with pytest.raises(BadQuestion):
        ledger.reserve("city", "e", QUESTION, cost(periods=("2021-03-05",)))


def test_time_never_runs_backwards(url: str) -> None:
    with create_ledger(url, now=NOON) as made:
        made.create_dataset("city", "person", 3, now=NOON + timedelta(minutes=10))
        slow = made.reserve("city", "a", QUESTION, cost(), now=NOON + timedelta(minutes=9))
        assert slow.time == NOON + timedelta(minutes=10)
        with pytest.raises(ClockBackwards):
            made.reserve("city", "b", QUESTION, cost(), now=NOON)
        with pytest.raises(ClockBackwards):
            made.commit(slow, "d1", now=NOON)
        assert made.remaining("city").epsilon == 2
        assert made.recover(accept_clock=True, now=NOON).clock_set
        assert not made.recover(accept_clock=True, now=NOON).clock_set
        assert made.reserve("city", "b", QUESTION, cost(), now=NOON).time == NOON
        with pytest.raises(BadQuestion):
            made.reserve("city", "c", QUESTION, cost(), now=NOON.replace(tzinfo=None))


def test_a_long_list_of_targets_is_stored_once(ledger: Ledger, url: str) -> None:
    question = {**QUESTION, "targets": [f"place {number}" for number in range(5000)]}
    for name in "ab":
        made = ledger.reserve("city", name, question, cost())
    assert ledger.question(made) == question
    with raw(url) as run:
        assert run("SELECT count(*) FROM safeside_documents") == [(1,)]
        assert run("SELECT max(length(body)) FROM safeside_events")[0][0] < 1000


def test_a_question_is_written_exactly(ledger: Ledger) -> None:
    with pytest.raises(BadQuestion):
        ledger.reserve("city", "a", {"latitude": 35.6}, cost())
    with pytest.raises(BadQuestion):
        ledger.reserve("city", " a\n", QUESTION, cost())
    assert ledger.reservation("a") is None


def test_an_older_schema_is_brought_up_to_date(
    ledger: Ledger, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.reserve("city", "a", QUESTION, cost())
    later = (*stores.MIGRATIONS, ("CREATE TABLE safeside_notes (body TEXT NOT NULL)",))
    monkeypatch.setattr(stores, "MIGRATIONS", later)
    with open_ledger(url) as newer:
        assert newer.remaining("city").epsilon == 2
    with raw(url) as run:
        assert run("SELECT version FROM safeside_schema") == [(len(later),)]
        assert run("SELECT * FROM safeside_notes") == []
