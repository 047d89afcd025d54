"""What the ledger says when it refuses, and what it advises."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction

import pytest
from tests.ledger.stores import NOON, QUESTION, cost
from tests.messages.books import Act, book, said

from safeside.errors import (
    BadNumber,
    BadQuestion,
    ClockBackwards,
    LedgerError,
    LedgerMissing,
    OverBudget,
    RequestConflict,
    SafesideError,
    SimulationOnly,
)
from safeside.ledger import Cost, Kind, Ledger
from safeside.ledger.periods import check_periods, periods_of
from safeside.privacy.guarantee import Unit

__all__ = ["book"]


def reserve(**terms: object) -> Act:
    return lambda it: it.reserve(
        str(terms.get("dataset", "city")),
        str(terms.get("request", "new")),
        terms.get("question", QUESTION),  # type: ignore[arg-type]
        terms.get("cost", cost()),  # type: ignore[arg-type]
        now=NOON,
    )


REFUSALS: dict[str, tuple[Act, type[SafesideError], str, str]] = {
    "over budget": (
        reserve(cost=cost("2.5")),
        OverBudget,
        'The release does not fit in what is left of "city". Requested epsilon 2.5, remaining 2, difference '
        "0.5.",
        "Ask with a smaller epsilon or delta, or ask less. A budget cannot be raised: it is what was "
        "promised to the people in the data.",
    ),
    "over budget in delta": (
        reserve(cost=Cost(epsilon=Fraction(1), delta=Fraction(1, 3000), kind=Kind.DP_COUNTS)),
        OverBudget,
        'The release does not fit in what is left of "city". Requested delta 1/3000, remaining 0.0001, '
        "difference 7/30000.",
        "Ask with a smaller epsilon or delta, or ask less. A budget cannot be raised: it is what was "
        "promised to the people in the data.",
    ),
    "over budget of a day": (
        reserve(dataset="daily", cost=cost(2, periods=("2021-03-04",))),
        OverBudget,
        'The release does not fit in what is left of "daily" in 2021-03-04. Requested epsilon 2, remaining '
        "1, difference 1.",
        "Ask with a smaller epsilon or delta, or ask less. A budget cannot be raised: it is what was "
        "promised to the people in the data.",
    ),
    "same id, another question": (
        reserve(request="open", question={}),
        RequestConflict,
        'The request id "open" was used before, for another question.',
        "Use a new request id for a new question; the same id is for repeating the same question.",
    ),
    "another draw": (
        lambda it: it.commit(it.reservation("done"), "d2", now=NOON),
        RequestConflict,
        'The request "done" was committed before, with another release.',
        "Keep the release that was committed and delete this one: noise is drawn once.",
    ),
    "seeded noise": (
        lambda it: it.commit(it.reservation("open"), "d2", simulated=True, now=NOON),
        SimulationOnly,
        "The noise of this release came from a seed, so anybody could subtract it.",
        "Draw it with system entropy, or use `safeside.simulate(...)`, which needs no ledger.",
    ),
    "alarms without a price": (
        lambda it: it.commit(it.reservation("open"), "d2", alarms=1, now=NOON),
        BadQuestion,
        "The number of alarms belongs to sparse releases, and to all of them.",
        "Give a number of alarms exactly where the reservation has a price for each alarm.",
    ),
    "a return of what was used": (
        lambda it: it.give_back(it.reservation("done"), "1/2", now=NOON),
        LedgerError,
        '0.5 cannot be returned of the request "done": at most 0 was paid for, published as not used, and '
        "not returned before.",
        "Return only what the published alarms of a committed sparse release show was not used.",
    ),
    "a withdrawal of nothing": (
        lambda it: it.withdraw("open", "software-fault", now=NOON),
        LedgerMissing,
        'The ledger knows of no release published for the request "open".',
        "Look up the request id in release.json, or in `ledger.history()`.",
    ),
    "no such dataset": (
        reserve(dataset="country"),
        LedgerMissing,
        'The ledger has no dataset called "country".',
        'It has: "city", "daily", "town". A dataset is made with `ledger.create_dataset(...)`; publishing '
        "never makes one.",
    ),
    "a dataset made twice": (
        lambda it: it.create_dataset("city", "person", 100, now=NOON),
        LedgerError,
        'The dataset "city" exists already.',
        "Use it as it is, or choose another name: a budget is never reset or raised.",
    ),
    "an unknown unit": (
        lambda it: it.create_dataset("new", "household", 1, now=NOON),
        BadQuestion,
        '"household" is not a unit of privacy.',
        "Use one of: person, person-day, person-week.",
    ),
    "days without a time zone": (
        lambda it: it.create_dataset("new", "person-week", 1, now=NOON),
        BadQuestion,
        "A dataset with a budget for each week needs a time zone.",
        'Say in which time zone its days begin, for example "Asia/Tokyo".',
    ),
    "an unknown time zone": (
        lambda it: it.create_dataset("new", "person-week", 1, timezone="Tokio", now=NOON),
        BadQuestion,
        "There is no time zone 'Tokio'.",
        "Name one of the tz database, such as Europe/Berlin.",
    ),
    "a link of different units": (
        lambda it: it.link("city", "daily", now=NOON),
        LedgerError,
        '"city" protects a person, "daily" a person-day in Asia/Tokyo: their budgets do not add up.',
        "Link only datasets with the same unit of privacy and the same time zone.",
    ),
    "a day for a whole life": (
        reserve(cost=cost(periods=("2021-03-04",))),
        BadQuestion,
        "Days or weeks were given for a dataset with one budget for all time.",
        "Leave the periods out: the unit of privacy of this dataset is the person.",
    ),
    "no day": (
        reserve(dataset="daily"),
        BadQuestion,
        "The dataset has a budget for each person-day, and the release names none.",
        "Name every day or week the release looks at; each is charged in full.",
    ),
    "a week for a day": (
        reserve(dataset="daily", cost=cost(periods=("2021-W09",))),
        BadQuestion,
        '"2021-W09" is not a day the ledger knows.',
        'Write days as "2021-03-04" and ISO weeks as "2021-W09".',
    ),
    "a name that cannot be typed": (
        reserve(request="a\n"),
        BadQuestion,
        "That is not a request id the ledger can write down.",
        "Give a request id of 1 to 200 printable characters, without spaces around it.",
    ),
    "a question with a float": (
        reserve(question={"latitude": 35.6}),
        BadQuestion,
        "A question cannot be written in the ledger exactly: a float has no exact spelling in a record.",
        "Write amounts and coordinates in it as text; use only text that UTF-8 holds, whole numbers, lists "
        "and mappings.",
    ),
    "half a character": (
        reserve(question={"place": "\ud800"}),
        BadQuestion,
        "A question cannot be written in the ledger exactly: a text holds half a character, which no file "
        "can hold.",
        "Write amounts and coordinates in it as text; use only text that UTF-8 holds, whole numbers, lists "
        "and mappings.",
    ),
    "clock backwards": (
        lambda it: it.reserve("city", "new", QUESTION, cost(), now=NOON - timedelta(hours=1)),
        ClockBackwards,
        "The clock says 2021-03-04 11:00 UTC, but the ledger's last event is of 2021-03-04 12:00 UTC.",
        "Nothing was spent. Set the clock right and run the same command again; if it is right, and was "
        "wrong before, say so with `safeside.recover_ledger(..., accept_clock=True)`.",
    ),
    "a moment without a zone": (
        lambda it: it.reserve("city", "new", QUESTION, cost(), now=NOON.replace(tzinfo=None)),
        BadQuestion,
        "The moment has no time zone.",
        "Give it with one, for example in UTC.",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(book: Ledger, case: str) -> None:
    act, error, what, do = REFUSALS[case]
    before = book.remaining("city")
    assert said(lambda: act(book), error) == (what, do)
    assert book.remaining("city") == before


def test_a_shared_budget_is_named(book: Ledger) -> None:
    book.link("city", "town", now=NOON)
    what, _ = said(lambda: book.reserve("town", "x", QUESTION, cost(9), now=NOON), OverBudget)
    assert what == (
        'The release does not fit in what is left of "town", which shares its budget with "city". Requested '
        "epsilon 9, remaining 2, difference 7."
    )


def test_a_price_that_makes_no_sense() -> None:
    assert said(lambda: Cost(epsilon=Fraction(1), epsilon_each=Fraction(2, 3)), BadNumber) == (
        "A sparse release of 1 was priced at 2/3 for each alarm.",
        "Price it as a whole number of alarms, under the asymmetric definition.",
    )


def test_windows_that_make_no_sense() -> None:
    assert said(lambda: periods_of(Unit.PERSON_DAY, "UTC", NOON, NOON - timedelta(1)), BadQuestion) == (
        "The window has no time zone, or ends before it starts.",
        "Give the start and the end of the window as moments with a time zone, in order.",
    )
    assert said(lambda: periods_of(Unit.PERSON_DAY, "UTC", NOON, NOON + timedelta(9999)), BadQuestion) == (
        "The window is longer than 3660 days.",
        "Ask about a shorter window.",
    )
    assert said(lambda: check_periods(Unit.PERSON_WEEK, ("x",)), BadQuestion)[0] == (
        '"x" is not a week the ledger knows.'
    )
