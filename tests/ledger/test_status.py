"""What `ledger show` says."""

from __future__ import annotations

from fractions import Fraction

from tests.ledger.stores import QUESTION, about, cost

from safeside.ledger import Cost, Kind, Ledger
from safeside.privacy.account import promise
from safeside.privacy.guarantee import Unit

DP = Cost(epsilon=Fraction(1, 2), delta=Fraction(3, 100_000), kind=Kind.DP_COUNTS)


def test_an_untouched_dataset(ledger: Ledger) -> None:
    shown = ledger.show("city")
    assert shown.sentences == ("Nothing was published from this dataset.",)
    assert (shown.last, shown.more_like_last, shown.leaks) == (None, None, ())
    assert shown.promise == " ".join(promise(3, "1e-4"))


def test_how_many_more_like_the_last_would_fit(ledger: Ledger) -> None:
    ledger.reserve("city", "a", QUESTION, cost("0.4"))
    assert ledger.show("city").more_like_last == 6
    ledger.reserve("city", "b", QUESTION, DP)
    shown = ledger.show("city")
    assert shown.last is not None
    assert shown.last.request == "b"
    assert shown.more_like_last == 2  # by delta; epsilon would allow 4
    assert shown.more_in_fresh_period is None


def test_a_fresh_day_has_room_of_its_own(ledger: Ledger) -> None:
    ledger.create_dataset("daily", Unit.PERSON_DAY, 1, timezone="UTC")
    ledger.reserve("daily", "a", QUESTION, cost("0.3", periods=("2021-03-04",)))
    shown = ledger.show("daily")
    assert (shown.more_like_last, shown.more_in_fresh_period) == (2, 3)
    assert shown.remaining.epsilon == Fraction(7, 10)
    assert "7 days together" in shown.promise
    assert shown.sentences[-1] == "A record here is what one person did in one day."


def test_the_promise_is_the_cap_whatever_came_back(ledger: Ledger) -> None:
    made = ledger.reserve("city", "a", QUESTION, cost(2, epsilon_each=Fraction(1)))
    ledger.commit(made, "d", alarms=0)
    ledger.give_back(made)
    shown = ledger.show("city")
    assert shown.returned == 2
    assert shown.remaining.epsilon == 3
    assert shown.promise == " ".join(promise(3, "1e-4"))
    assert "e^3, rounded up" in shown.sentences[0]


def test_two_sentences_and_never_one_total(ledger: Ledger) -> None:
    ledger.reserve("city", "a", QUESTION, DP)
    only = ledger.show("city").sentences
    assert "e^0.5, rounded up" in only[1]
    assert "provided" not in only[1]
    ledger.reserve("city", "b", QUESTION, cost())
    mixed = ledger.show("city").sentences
    assert "e^3, rounded up" in mixed[0]
    assert "provided none of them was chosen" in mixed[1]
    ledger.reserve("city", "c", QUESTION, Cost(epsilon=Fraction(1, 4), kind=Kind.DP_REPLACE))
    assert "e^1.25, rounded up" in ledger.show("city").sentences[1]


def test_what_may_have_become_known_by_place_and_time(ledger: Ledger) -> None:
    ledger.create_dataset("town", "person", 3)
    ledger.reserve("city", "a", QUESTION, cost("0.1"))
    many = [f"p{number:04}" for number in range(1000)]
    ledger.reserve("city", "b", {"targets": many, "window": "2021-03-05"}, cost("0.1"))
    ledger.reserve("town", "c", {"targets": ["park", "zoo"], "window": QUESTION["window"]}, cost("0.1"))
    assert [leak.first for leak in ledger.leaks("city")] == ["2021-03-04 18:00", "2021-03-05"]
    ledger.link("city", "town")
    first, second = ledger.leaks("city")
    assert (first.targets, first.questions) == (("bar", "park", "zoo"), 2)
    assert (first.first, first.last) == ("2021-03-04 18:00", "2021-03-04 18:00")
    assert (second.targets, second.first) == (tuple(many), "2021-03-05")
    assert ledger.show("city").shares_with == ("town",)


def test_what_may_have_become_known_is_summed_up_by_list_of_places(ledger: Ledger) -> None:
    many = [f"p{number:04}" for number in range(1000)]
    for hour in (14, 12, 13):
        ledger.reserve("city", f"r{hour}", {"targets": many, "window": f"2021-03-05 {hour}:00"}, cost("0.1"))
    ledger.reserve("city", "a", QUESTION, cost("0.1"))
    one, other = ledger.show("city").leaks
    assert (one.first, one.last, one.targets) == (QUESTION["window"], QUESTION["window"], ("bar", "park"))
    assert (other.first, other.last, other.questions) == ("2021-03-05 12:00", "2021-03-05 14:00", 3)
    assert other.targets == tuple(many)
    gone = ledger.reserve("city", "b", {"targets": ["zoo"]}, cost("0.1"))
    assert len(ledger.show("city").leaks) == 3
    assert ledger.refuse("city", "b", {"targets": ["zoo"]}, "BadFile", unused=gone)
    assert len(ledger.show("city").leaks) == 2


def test_the_promise_is_said_in_the_words_of_the_last_question(ledger: Ledger) -> None:
    subject = {"one": "pupil", "many": "pupils", "verb": "belong", "place": "school", "places": "schools"}
    ledger.reserve("city", "a", {**QUESTION, "question": {"subject": subject}}, cost("0.4"))
    shown = ledger.show("city")
    assert "about the schools and times named here" in shown.promise
    assert "had you been one of those counted in none of them" in shown.promise
    ledger.reserve("city", "b", {**QUESTION, "question": {"subject": 5, "language": "?"}}, cost("0.4"))
    assert ledger.show("city").promise == " ".join(promise(3, "1e-4"))


def test_what_counts_as_published_is_what_was_committed_each_once(ledger: Ledger) -> None:
    """Every release publishes this number and digest of those before it."""
    before = ledger.show("city").published
    first = ledger.reserve("city", "a", QUESTION, cost("0.4"))
    second = ledger.reserve("city", "b", QUESTION, cost("0.4"))
    assert ledger.show("city").published == before
    ledger.commit(second, "d2")
    assert ledger.show("city").published == before.then(second.reference)
    ledger.commit(first, "d1")
    assert ledger.show("city").published == before.then(second.reference).then(first.reference)
    ledger.withdraw("a", "wrong-file")
    assert ledger.show("city").published.number == before.number + 2


def test_a_release_is_named_before_a_later_request_that_was_never_finished(ledger: Ledger) -> None:
    done = ledger.commit(ledger.reserve("city", "a", about(15), cost("0.4")), "d1")
    ledger.reserve("city", "b", about(15), cost("0.4"))
    assert ledger.asked("city", about(15)) == done
    newer = ledger.commit(ledger.reserve("city", "c", about(15), cost("0.4")), "d3")
    assert ledger.asked("city", about(15)) == newer
