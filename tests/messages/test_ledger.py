"""What the ledger says when it refuses, and what it advises."""

from __future__ import annotations

import functools
import os
import sqlite3
import tempfile
from collections.abc import Callable
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from tests.ledger.stores import NOON, QUESTION, backup, cost, not_as_root, postgres, raw, restore, state, url

from safeside.cli import init
from safeside.cli.config import read_config, required
from safeside.errors import (
    BadNumber,
    BadQuestion,
    CannotWrite,
    ClockBackwards,
    LedgerError,
    LedgerForked,
    LedgerMissing,
    LedgerTampered,
    MissingExtra,
    OverBudget,
    RequestConflict,
    SafesideError,
    SimulationOnly,
    StoreUnavailable,
)
from safeside.ledger import Cost, Head, Kind, Ledger, Published, create_ledger, open_ledger, store
from safeside.ledger.periods import check_periods, periods_of
from safeside.privacy.guarantee import Unit

__all__ = ["postgres", "state", "url"]

Act = Callable[[Ledger], object]
SPARSE = cost(2, each=Fraction(1))


@pytest.fixture
def book(tmp_path: Path) -> Ledger:
    """Three datasets; one reservation, one release, at noon."""
    made = create_ledger(tmp_path / "ledger.db", now=NOON)
    made.create_dataset("city", "person", 3, "1e-4", now=NOON)
    made.create_dataset("daily", "person-day", 1, timezone="Asia/Tokyo", now=NOON)
    made.create_dataset("town", "person", 3, now=NOON)
    made.reserve("city", "open", QUESTION, cost("1/2"), now=NOON)
    made.commit(made.reserve("city", "done", QUESTION, cost("1/2"), now=NOON), "d1", now=NOON)
    return made


def said(act: Callable[[], object], error: type[SafesideError]) -> tuple[str, str]:
    with pytest.raises(error) as caught:
        act()
    return caught.value.what, caught.value.do


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
        "Draw it with system entropy, or use `safeside simulate`, which needs no ledger.",
    ),
    "alarms without a price": (
        lambda it: it.commit(it.reservation("open"), "d2", alarms=1, now=NOON),
        BadQuestion,
        "The number of alarms belongs to sparse releases, and to all of them.",
        "Give `alarms` exactly where the reservation has a price for each alarm.",
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
        "Look up the request id in release.json, or in `safeside ledger history`.",
    ),
    "no such dataset": (
        reserve(dataset="country"),
        LedgerMissing,
        'The ledger has no dataset called "country".',
        'It has: "city", "daily", "town". A dataset is made with `safeside ledger create`; publishing never '
        "makes one.",
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
        'There is no time zone called "Tokio".',
        'Give a name such as "Europe/Paris", "Asia/Tokyo" or "UTC".',
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
        "A float cannot be written in the ledger exactly.",
        "Write amounts and coordinates in a question as text; use only text, whole numbers, lists and "
        "mappings.",
    ),
    "half a character": (
        reserve(question={"place": "\ud800"}),
        BadQuestion,
        "A text holds half a character, which no file can hold.",
        "Read the input in its own encoding; UTF-8 is usual.",
    ),
    "clock backwards": (
        lambda it: it.reserve("city", "new", QUESTION, cost(), now=NOON - timedelta(hours=1)),
        ClockBackwards,
        "The clock says 2021-03-04 11:00 UTC, but the ledger's last event is of 2021-03-04 12:00 UTC.",
        "Nothing was spent. Set the clock right and run the same command again; if it is right, and was "
        "wrong before, say so with `safeside ledger recover --accept-clock`.",
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
    assert said(lambda: Cost(epsilon=Fraction(1), each=Fraction(2, 3)), BadNumber) == (
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
    lost = book.history()[0]
    foreign = Published(
        ledger_id="f",
        dataset="city",
        request="r",
        event=Head(number=1, digest=lost.digest),
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


def test_copies_that_cannot_be_reconciled(book: Ledger, tmp_path: Path, state: Path) -> None:
    def make(epsilon: int) -> Act:
        return lambda it: it.create_dataset("new", "person", epsilon)

    both = _meet(str(tmp_path / "ledger.db"), state, make(1), make(2))
    assert said(both.recover, LedgerError) == (
        'Two copies of this ledger each made a dataset "new", with different budgets.',
        "Keep the copy with the smaller budget, and charge the releases of the other to it with "
        "`safeside ledger recover --release DIR`.",
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


def test_a_full_disk(book: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Small(sqlite3.Connection):
        def __init__(self, *places: str, **options: object) -> None:
            super().__init__(*places, **options)
            self.execute("PRAGMA max_page_count = 12")

    monkeypatch.setattr(sqlite3, "connect", functools.partial(sqlite3.connect, factory=Small))
    question = {"targets": [f"place {number}" for number in range(20_000)]}
    with open_ledger(tmp_path / "ledger.db") as small:
        assert said(lambda: small.reserve("city", "x", question, cost()), StoreUnavailable) == (
            f'The disk is full: the ledger "{tmp_path}/ledger.db" could not be written.',
            "Nothing was published. Free some space and run the same command again with the same request id.",
        )


def test_a_read_only_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        place = Path(directory) / "ledger.db"
        monkeypatch.setenv("SAFESIDE_STATE_DIR", directory)
        with create_ledger(place) as made:
            made.create_dataset("city", "person", 1)
        Path(directory).chmod(0o755)
        for path in Path(directory).iterdir():
            path.chmod(0o666 if path.suffix == ".witness" else 0o444)
        with not_as_root(), open_ledger(place) as fresh:
            assert said(lambda: fresh.reserve("city", "x", QUESTION, cost()), StoreUnavailable) == (
                f'The ledger "{place}" cannot be written (it, or its directory, is read-only).',
                "Nothing was spent. Give this user the right to write to the file and its directory, or "
                "choose another place.",
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


def test_ledgers_that_are_not_there_or_should_not_be(book: Ledger, tmp_path: Path) -> None:
    assert said(lambda: open_ledger(tmp_path / "none.db"), LedgerMissing) == (
        f'The ledger "{tmp_path}/none.db" does not exist.',
        "Check the address. A ledger is made once, with `safeside ledger create`; publishing never makes one."
        "",
    )
    (tmp_path / "new.db").write_text("a shopping list")
    assert said(lambda: create_ledger(tmp_path / "new.db"), LedgerError) == (
        f'The ledger "{tmp_path}/new.db" cannot be made: there is a file of that name.',
        "Use it as it is, or choose another address: a budget is never reset.",
    )
    (tmp_path / "new.db").write_text("a shopping list" * 100)
    assert said(lambda: open_ledger(tmp_path / "new.db"), LedgerError) == (
        f'The ledger "{tmp_path}/new.db" is not a ledger, or its file is damaged.',
        "Check the address; if it is right, restore the file from a backup and run `safeside ledger recover`."
        "",
    )
    (tmp_path / "ledger.db").unlink()
    assert said(lambda: create_ledger(tmp_path / "ledger.db"), LedgerForked) == (
        f'There was a ledger here before: its witness "{tmp_path}/ledger.db.witness" is still there.',
        "Restore that ledger from a backup and run `safeside ledger recover`, or choose another place.",
    )
    assert said(lambda: book.remaining("city"), StoreUnavailable) == (
        f'The ledger "{tmp_path}/ledger.db" cannot be reached (the file is gone).',
        "Nothing was published. Bring the database back and run the same command again with the same request "
        "id: what was recorded before it went away is charged once, not twice.",
    )
    assert said(lambda: create_ledger(tmp_path / "no" / "l.db"), StoreUnavailable) == (
        f'The ledger "{tmp_path}/no/l.db" cannot be written (No such file or directory).',
        "Nothing was spent. Give this user the right to write to the file and its directory, or choose "
        "another place.",
    )


def test_another_ledger_in_its_place(book: Ledger, tmp_path: Path) -> None:
    with create_ledger(tmp_path / "other.db") as other:
        other.create_dataset("city", "person", 100)
    (tmp_path / "other.db").rename(tmp_path / "ledger.db")
    assert said(lambda: open_ledger(tmp_path / "ledger.db").recover(), LedgerForked) == (
        "The witness belongs to another ledger than the one that is here now.",
        "Put back the ledger that was here, or move this one, without the witness, to a place of its own.",
    )


def test_servers_that_cannot_be_reached() -> None:
    assert said(lambda: open_ledger("postgresql://me:secret@/none?host=/nowhere"), StoreUnavailable) == (
        'The ledger "none" on /nowhere cannot be reached (the server does not answer, or refuses the user).',
        "Nothing was published. Bring the database back and run the same command again with the same request "
        "id: what was recorded before it went away is charged once, not twice.",
    )
    assert said(lambda: open_ledger("postgresql://me@[x/none"), LedgerError) == (
        "The address of the ledger cannot be read.",
        "Write it as postgresql://user@host:5432/database.",
    )


def test_a_missing_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    assert said(lambda: open_ledger("postgresql://localhost/x"), MissingExtra) == (
        "A ledger in PostgreSQL needs the package psycopg.",
        "pip install 'safeside[postgres]'",
    )


def test_a_ledger_of_a_later_version(url: str) -> None:
    create_ledger(url).close()
    with raw(url) as run:
        run("UPDATE safeside_schema SET version = 9")
    what, do = said(lambda: open_ledger(url), StoreUnavailable)
    assert what.endswith("was made by a newer safeside (schema 9, this one knows 1).")
    assert do == "Install the newer version of safeside."


def test_a_ledger_made_twice_on_a_server(url: str) -> None:
    create_ledger(url).close()
    what, do = said(lambda: create_ledger(url), LedgerError)
    assert "cannot be made: " in what
    assert do.endswith("a budget is never reset.")


def test_a_busy_ledger(book: Ledger) -> None:
    assert (store.busy('the ledger "x"').what, store.busy("it").do) == (
        'The ledger "x" was busy for 120 seconds.',
        "Nothing was spent. Look for another safeside that hangs, then run the same command again.",
    )


def test_a_witness_that_cannot_be_kept(book: Ledger, state: Path) -> None:
    for path in state.iterdir():
        path.unlink()
        path.symlink_to("/dev/full")
        assert said(lambda: book.reserve("city", "x", QUESTION, cost()), StoreUnavailable) == (
            f'The ledger\'s witness "{path}" cannot be used ({os.strerror(28)}).',
            "Make the file and its directory writable for this user and free some space, or set "
            "SAFESIDE_STATE_DIR to a directory that lasts; then run the same command again with the same "
            "request id.",
        )


def test_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "safeside.toml"
    cases = {
        "ledger = 3": ('"ledger" in "safeside.toml" is a int.', 'Write it as in ledger = "...".'),
        "leger = 'x'": (
            '"safeside.toml" has a setting called "leger", which safeside does not know.',
            'Did you mean "ledger"?',
        ),
        "[columns]\nqq = 'x'": (
            '"safeside.toml" has a role of a column called "qq", which safeside does not know.',
            "Use one of: person, place, start, end, time, date, latitude, longitude, accuracy, state.",
        ),
        "[columns]\nperson = 1": (
            'The column for "person" in "safeside.toml" is not a name.',
            'Write it as in person = "my column".',
        ),
    }
    for text, message in cases.items():
        file.write_text(text)
        assert said(read_config, BadQuestion) == message
    file.write_text("ledger =")
    what, do = said(read_config, BadQuestion)
    assert what.startswith('"safeside.toml" is not TOML (')
    assert do == "Repair the line, or write a new file with `safeside init`."
    assert said(lambda: required(None, None, "--ledger", "ledger"), BadQuestion) == (
        "No ledger is given.",
        "Give it with --ledger, or once for all as `ledger = ...` in safeside.toml (see `safeside init`).",
    )
    file.unlink()
    file.mkdir()
    assert said(read_config, StoreUnavailable) == (
        '"safeside.toml" cannot be read (Is a directory).',
        "Make it readable for this user.",
    )


def test_init(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert said(lambda: init.command(yes=True), BadQuestion) == (
        "No time zone is given, and safeside never guesses one.",
        "Say in which time zone the visits are written: --timezone Asia/Tokyo, for example.",
    )
    assert said(lambda: init.command(yes=True, timezone="UTC", column=["who"]), BadQuestion) == (
        '"who" does not say which column is what.',
        "Write ROLE=NAME, for example person=patient_id. Roles: person, place, start, end, time, date, "
        "latitude, longitude, accuracy, state.",
    )
    (tmp_path / "safeside.toml").touch()
    assert said(lambda: init.command(yes=True, timezone="UTC"), CannotWrite) == (
        '"safeside.toml" exists already.',
        "Change it with an editor, or delete it first.",
    )
