"""`safeside init`, `key` and `ledger` on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.stores import QUESTION, cost, raw, restore
from typer.testing import CliRunner

from safeside.cli import init
from safeside.cli.config import Columns, Config, read_config
from safeside.cli.main import build
from safeside.errors import BadQuestion, CannotWrite, LedgerError, SafesideError
from safeside.ledger import create_ledger, open_ledger
from safeside.releases.signing import load_private, load_public


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


def run(*arguments: str, code: int = 0, answers: str = "") -> str:
    result = CliRunner().invoke(build(), list(arguments), input=answers, env={"COLUMNS": "200"})
    if isinstance(result.exception, SafesideError):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.output


def read(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--json"))


def spend(place: str) -> None:
    with open_ledger(place) as book:
        first = book.reserve("visits", "a", QUESTION, cost(2, epsilon_each=Fraction(1)))
        book.commit(first, "0123456789abcdef0123", alarms=1)
        book.give_back(first)
        book.reserve("visits", "b [draft]", QUESTION, cost("1/3"))


def test_init_writes_what_is_read_back(here: Path) -> None:
    output = run(
        "init", "--yes", "--timezone", "Asia/Tokyo", "--column", "person=patient", "--column", "time=at"
    )
    assert "safeside key create" in output
    assert read_config() == Config(
        ledger="ledger.db",
        dataset="visits",
        key="safeside.key",
        timezone="Asia/Tokyo",
        columns=Columns(person="patient", time="at"),
    )
    with pytest.raises(CannotWrite):
        run("init", "--yes", "--timezone", "UTC")


def test_init_asks_where_somebody_can_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(init, "interactive", lambda: True)
    run("init", answers='UTC\n\nthe "city"\n\n\n\n\n\n')
    made = read_config()
    assert (made.timezone, made.dataset, made.ledger) == ("UTC", 'the "city"', "ledger.db")
    assert made.columns == Columns(person="person", place="place", start="start", end="end")


def test_init_never_guesses_a_time_zone(here: Path) -> None:
    with pytest.raises(BadQuestion):
        run("init", "--yes")
    with pytest.raises(BadQuestion):
        run("init", "--yes", "--timezone", "Tokio")
    with pytest.raises(BadQuestion):
        run("init", "--yes", "--timezone", "UTC", "--column", "patient")
    assert list(here.iterdir()) == []


def test_settings_read_back_from_what_they_write(here: Path) -> None:
    given = Config(
        ledger='l "1".db', hold="30 min", radius=50, people_floor=30, columns=Columns(person="Name\twith tab")
    )
    (here / "safeside.toml").write_text(given.to_toml())
    assert read_config() == given
    assert read_config(here.parent) == Config()


def test_keys_are_made_and_replaced(here: Path) -> None:
    assert "safeside.key.pub" in run("key", "create")
    first = load_private("safeside.key").public.id
    with pytest.raises(CannotWrite):
        run("key", "create")
    run("key", "rotate")
    assert [one.id for one in load_public("safeside.key.keyring")][1] == first
    run("key", "create", "other.key")
    assert Path("other.key").stat().st_mode & 0o077 == 0


def test_a_ledger_from_creation_to_link(url: str) -> None:
    at = ("--ledger", url)
    made = run("ledger", "create", "--dataset", "visits", "--epsilon", "10", "--delta", "1e-4", *at)
    assert "Budget: epsilon 10, delta 0.0001." in made
    assert "That you are in this dataset is not hidden." in made
    run("ledger", "create", "--dataset", "tests", "--epsilon", "5", *at)
    with pytest.raises(LedgerError):
        run("ledger", "create", "--dataset", "visits", "--epsilon", "11", *at)
    spend(url)
    assert "epsilon 26/3, delta 0.0001" in run("ledger", "show", *at)
    shown = run("ledger", "show", "visits", "--places", *at)
    assert "26 more releases like the last (epsilon 1/3) would fit." in shown
    assert "Sparse releases returned epsilon 1" in shown
    assert "2021-03-04 18:00  bar" in shown
    assert "share one budget" in run("ledger", "link", "visits", "tests", *at)
    run("ledger", "create", "--dataset", "few", "--epsilon", "1", *at)
    assert "nothing more can be published" in run("ledger", "link", "few", "tests", *at)
    history = run("ledger", "history", *at)
    assert "b [draft]: epsilon 1/3 of visits" in history
    assert "visits and tests hold the same people" in history
    assert "10 events, each follows the one before" in run("ledger", "verify", *at)


def test_history_names_a_reservation_that_was_taken_up_again(url: str) -> None:
    with create_ledger(url) as made:
        made.create_dataset("visits", "person", 10)
        for _ in range(3):
            made.reserve("visits", "monday", QUESTION, cost(1))
    assert run("ledger", "history", "--ledger", url).count("monday: taken up by another run") == 1


def test_the_same_for_programs(url: str) -> None:
    run("ledger", "create", "--dataset", "visits", "--epsilon", "10", "--ledger", url)
    run("ledger", "create", "--dataset", "other", "--epsilon", "1", "--ledger", url)
    spend(url)
    shown = read("ledger", "show", "visits", "--places", "--ledger", url)
    (one,) = shown["datasets"]
    assert shown["events"] == 7
    assert one["remaining"] == {"epsilon": "26/3", "delta": "0"}
    assert one["standing"] == {"epsilon": "10", "delta": "0"}
    time = "2021-03-04 18:00"
    window = {"first": time, "last": time, "questions": 2, "places": 2}
    assert one["leaks"] == [{**window, "targets": ["bar", "park"]}]
    assert read("ledger", "show", "--ledger", url)["datasets"][1]["leaks"] == [window]
    assert (one["more_like_last"], one["unfinished"]) == (26, 1)
    events = read("ledger", "history", "--dataset", "visits", "--ledger", url)
    assert [event["action"]["kind"] for event in events] == [
        "dataset",
        "reserve",
        "commit",
        "return",
        "reserve",
    ]
    assert read("ledger", "verify", "--ledger", url)["intact"] is True
    found = read("ledger", "recover", "--ledger", url)
    assert [one["request"] for one in found["unfinished"]] == ["b [draft]"]


def test_settings_stand_in_for_options(here: Path) -> None:
    with pytest.raises(BadQuestion):
        run("ledger", "show")
    run("init", "--yes", "--timezone", "Asia/Tokyo")
    run("ledger", "create", "--epsilon", "1", "--unit", "person-day")
    assert read("ledger", "show", "visits")["datasets"][0]["timezone"] == "Asia/Tokyo"


def test_recovery_is_explained(here: Path) -> None:
    run("ledger", "create", "--dataset", "visits", "--epsilon", "10", "--ledger", "l.db")
    assert "Nothing to recover" in run("ledger", "recover", "--ledger", "l.db")
    copy = Path("l.db").read_bytes()
    spend("l.db")
    assert "Unfinished: b [draft] (epsilon 1/3 of visits" in run("ledger", "recover", "--ledger", "l.db")
    restore("l.db", copy)
    assert "has forgotten 4 events" in run("ledger", "verify", "--ledger", "l.db", code=1)
    assert "has forgotten 4 events" in run("ledger", "show", "visits", "--ledger", "l.db")
    assert "Put back 4 events exactly as they were." in run("ledger", "recover", "--ledger", "l.db")
    run("ledger", "verify", "--ledger", "l.db")


def test_a_violation_and_a_refusal_have_codes_of_their_own(here: Path) -> None:
    run("ledger", "create", "--dataset", "visits", "--epsilon", "10", "--ledger", "l.db")
    spend("l.db")
    with raw("l.db") as change:
        change("UPDATE safeside_events SET body = replace(body, ':\"2\"', ':\"1\"') WHERE number = 3")
    assert "event 3 cannot be trusted" in run("ledger", "verify", "--ledger", "l.db", "--json", code=1)
    for arguments, code in ((["verify", "--ledger", "l.db"], 1), (["show", "--ledger", "none.db"], 2)):
        command = [sys.executable, "-c", "from safeside.cli.main import main; main()", "ledger", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == code
        assert "What to do:" in done.stderr
        assert "Traceback" not in done.stderr


def test_limits_are_fixed_when_a_dataset_is_made_and_otherwise_there_are_none() -> None:
    made = run("ledger", "create", "--epsilon", "2", "--dataset", "plain", "--ledger", "ledger.db")
    assert "Limits: none, and none can be added." in made
    assert "Instants, and intervals by selection or with --max-alarms, need no limit." in " ".join(
        made.split()
    )
    limits = ("--max-places-per-person", "8", "--people", "5000")
    made = run("ledger", "create", "--epsilon", "2", "--dataset", "limited", *limits, "--ledger", "ledger.db")
    assert "counted at no more than 8 places over an interval" in " ".join(made.split())
    assert "No count is above 5,000" in " ".join(made.split())
    plain, limited = (
        read("ledger", "show", name, "--ledger", "ledger.db")["datasets"][0] for name in ("plain", "limited")
    )
    assert [(one["max_places_per_person"], one["people"]) for one in (plain, limited)] == [
        (None, None),
        (8, 5000),
    ]


@pytest.mark.parametrize("limit", [("--max-places-per-person", "0"), ("--people", "19")])
def test_a_limit_that_is_none_makes_no_dataset(limit: tuple[str, str]) -> None:
    with pytest.raises(SafesideError):
        run("ledger", "create", "--epsilon", "2", "--dataset", "x", *limit, "--ledger", "ledger.db")
    assert read("ledger", "show", "--ledger", "ledger.db")["datasets"] == []


def test_a_raised_floor_for_people_holds_when_a_dataset_is_made() -> None:
    Path("safeside.toml").write_text("people_floor = 1000\n")
    small = ("ledger", "create", "--epsilon", "1", "--dataset", "x", "--ledger", "ledger.db", "--people")
    with pytest.raises(BadQuestion, match="below the floor of 1000"):
        run(*small, "999")
    run(*small, "1000")


def test_a_stop_at_a_limit_is_told_to_whoever_has_the_ledger() -> None:
    run("ledger", "create", "--epsilon", "2", "--dataset", "visits", "--ledger", "ledger.db")
    with open_ledger("ledger.db") as book:
        book.stop(book.reserve("visits", "a", QUESTION, cost(1)))
    assert "stopped at a limit; stays charged, and its time closed" in run(
        "ledger", "history", "--ledger", "ledger.db"
    )
