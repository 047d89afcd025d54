"""`safeside publish`, `simulate`, `verify`, `withdraw` and `purge` on the command line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import typer
from tests.faults.publishing import CAP, World
from typer.testing import CliRunner

import safeside
from safeside.cli import console, publish
from safeside.cli.console import Declined
from safeside.cli.main import build
from safeside.errors import (
    BadFile,
    BadQuestion,
    OverBudget,
    SafesideError,
    SimulationOnly,
)
from safeside.ledger import create_ledger, open_ledger
from safeside.ledger.witness import STATE_VARIABLE

QUESTION = [
    "--places",
    "places.csv",
    "--when",
    "2021-06-03T12:00:00+00:00",
    "--at-most",
    "2",
    "--epsilon",
    "1",
]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    made = World.made(tmp_path)
    (tmp_path / "safeside.toml").write_text('ledger = "ledger.db"\ndataset = "city"\nkey = "key"\n')
    return made


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(build(), list(arguments), env={"COLUMNS": "200"})
    if isinstance(result.exception, SafesideError):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.output


def remaining() -> int:
    with open_ledger("ledger.db") as ledger:
        return int(ledger.remaining("city").epsilon)


def test_a_dry_run_shows_everything_reads_no_visit_and_spends_nothing(world: World) -> None:
    Path("visits.parquet").unlink()
    said = run("publish", "visits.parquet", *QUESTION, "--out", "out", "--dry-run")
    for title in ("Question", "Promise", "Error side", "Expect", "Price", "Remaining"):
        assert f"{title}\n" in said
    assert "20.086 (e^3, rounded up)" in said
    assert '"At most" for 95.0 % of the places or more' in said
    assert "epsilon 3 now; epsilon 2 afterwards." in said
    assert "Nothing was spent and no visit was read" in said
    assert remaining() == 3
    assert not Path("out").exists()


def test_the_history_says_what_was_asked(world: World) -> None:
    run("publish", "visits.parquet", *QUESTION, "--noun", "guest/guests", "--out", "out", "--yes")
    told = " ".join(run("ledger", "history").split())
    assert re.search(r"epsilon 1 of city[.] At most 2 guests[?] At each of 40 places, Thursday 3 June", told)
    (event,) = [one for one in json.loads(run("ledger", "history", "--json")) if one["number"] == 3]
    assert event["action"]["kind"] == "reserve"


def test_publish_and_verify_with_settings_from_safeside_toml(world: World) -> None:
    said = run("publish", "visits.parquet", *QUESTION, "--out", "out", "--yes")
    assert "published and signed; epsilon 2 remains" in said
    assert "Map: out/map.html" in said
    assert "every state follows from its bounds" in run("verify", "out", "--key", "key.pub")
    assert json.loads(run("verify", "out", "--key", "key.pub", "--json"))["verified"] is True
    assert "price from its mechanism" in run("verify", "out", "--key", "key.pub", "--ledger", "ledger.db")
    with create_ledger("other.db"):
        said = run("verify", "out", "--key", "key.pub", "--ledger", "other.db", code=1)
    assert "has not committed to it" in " ".join(said.split())


def _with_homes() -> None:
    visits = pl.read_parquet("visits.parquet")
    homes = visits.with_columns(place=pl.lit("home"), person=pl.col("person") + "h")
    pl.concat([visits, homes]).write_parquet("visits.parquet")


def test_what_is_left_out_is_shown_to_the_curator_who_may_confirm_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    _with_homes()
    asked = ["publish", "visits.parquet", *QUESTION, "--out", "release", "--exclude-unknown-places"]
    assert "shown here, to you alone" in " ".join(run(*asked, "--dry-run").split())
    with pytest.raises(BadFile, match="left out, more than 5 %"):
        run(*asked, "--yes")
    assert remaining() == CAP
    for module in (console, publish):
        monkeypatch.setattr(module, "interactive", lambda: True)
    answers = iter([True, False, True, True])
    monkeypatch.setattr(typer, "confirm", lambda *_, **__: next(answers))
    with pytest.raises(BadFile, match="left out, more than 5 %"):
        run(*asked)
    said = run(*asked)
    assert "(50 %), of 52 people, at 1 place not listed, are left out." in said
    assert "Not listed, for example: 'home'." in said
    assert remaining() == CAP - 1


def test_how_much_may_be_left_out_is_an_option_or_a_setting(world: World) -> None:
    _with_homes()
    asked = ["publish", "visits.parquet", *QUESTION, "--exclude-unknown-places", "--yes", "--again"]
    run(*asked, "--out", "one", "--expect-unlisted", "50%")
    with pytest.raises(BadFile, match="more than 49 %"):
        run(*asked, "--out", "two", "--expect-unlisted", "49%")
    with Path("safeside.toml").open("a") as settings:
        settings.write('expect_unlisted = "60%"\n')
    run(*asked, "--out", "two")


def test_nobody_to_ask_is_an_error_and_nothing_is_spent(world: World) -> None:
    with pytest.raises(BadQuestion, match="nobody to ask"):
        run("publish", "visits.parquet", *QUESTION, "--out", "out")
    assert remaining() == 3


def test_a_tampered_release_and_a_wrong_key_exit_with_1(world: World) -> None:
    run("publish", "visits.parquet", *QUESTION, "--out", "out", "--yes")
    Path("out/statement.txt").write_text("All is well.")
    said = run("verify", "out", "--key", "key.pub", code=1)
    assert "statement.txt is not the file that was signed" in said
    assert json.loads(run("verify", "out", "--key", "key.pub", "--json", code=1))["verified"] is False


@pytest.mark.parametrize("option", ["--force", "--override-budget", "--ignore-budget", "--no-ledger"])
def test_there_is_no_option_to_override_the_budget(world: World, option: str) -> None:
    said = run("publish", "visits.parquet", *QUESTION, "--out", "out", "--yes", option, code=2)
    assert "No such option" in said


def test_over_budget_seed_and_policy_are_refused(world: World) -> None:
    with pytest.raises(OverBudget):
        run("publish", "visits.parquet", *QUESTION[:-1], "4", "--out", "out", "--yes")
    with pytest.raises(SimulationOnly):
        run("publish", "visits.parquet", *QUESTION, "--out", "out", "--yes", "--seed", "1")
    with pytest.raises(SafesideError, match="Only one policy"):
        run("publish", "visits.parquet", *QUESTION, "--out", "out", "--yes", "--policy", "visited")
    assert remaining() == 3


def test_the_floor_for_people_can_be_raised_in_the_settings(world: World) -> None:
    with Path("safeside.toml").open("a") as file:
        file.write("people_floor = 1000\n")
    with open_ledger("ledger.db") as ledger:
        ledger.create_dataset("few", "person", 3, people=999)
    with pytest.raises(BadQuestion, match="below the floor of 1000"):
        run("publish", "visits.parquet", *QUESTION, "--out", "out", "--yes", "--dataset", "few")


def test_superseding_and_withdrawing_say_what_must_not_prompt_them(world: World) -> None:
    run("publish", "visits.parquet", *QUESTION, "--out", "out", "--yes")
    said = run(
        "publish",
        "visits.parquet",
        *QUESTION,
        "--out",
        "second",
        "--yes",
        "--supersedes",
        "out",
        "--scheduled",
    )
    assert "only on a schedule that was fixed beforehand" in said
    with pytest.raises(BadQuestion, match="not a reason"):
        run("withdraw", "out", "--reason", "new-data", "--yes")
    said = run("withdraw", "out", "--reason", "software-fault", "--yes")
    assert "because of what the data now say" in said
    assert "signed notice" in said
    said = " ".join(run("verify", "out", "--key", "key.pub", code=1).split())
    assert re.search("The release .+ was withdrawn on .+ Use a later release, if there is one.", said)
    assert remaining() == 1


def test_simulate_needs_no_ledger_and_is_refused_by_verify(world: World) -> None:
    Path("counts.csv").write_text("place,count\na,0\nb,7\n")
    said = run("simulate", "counts.csv", "--at-most", "2", "--epsilon", "1", "--out", "trial", "--seed", "1")
    assert "Simulation." in said
    assert "no ledger, no promise" in said
    assert "is a simulation" in run("verify", "trial", "--key", "key.pub", code=1)
    assert remaining() == 3


def test_purge_deletes_what_it_is_told_and_nothing_that_must_stay(world: World) -> None:
    said = run("purge", "visits.parquet", "--dry-run")
    assert "Nothing was deleted." in said
    run("purge", "visits.parquet", "--yes")
    assert not Path("visits.parquet").exists()
    with pytest.raises(SafesideError, match="looks like a ledger"):
        run("purge", "ledger.db", "--yes")
    assert "Nothing was deleted." in run("purge", ".", "--yes")


def test_sparse_dp_and_public_at_least_from_the_command_line(world: World) -> None:
    day = ["--places", "places.csv", "--when", "2021-06-03T00:00:00+00:00/P1D", "--at-most", "2"]
    said = run(
        "publish", "visits.parquet", *day, "--epsilon", "1/2", "--max-alarms", "2", "--order", "random",
        "--out", "a", "--yes",
    )  # fmt: skip
    assert "Not asked" in said
    with open_ledger("ledger.db") as ledger:
        ledger.create_dataset("other", "person", 3, "1e-3")
    pl.read_parquet("visits.parquet").reverse().write_parquet("others.parquet")
    run(
        "publish", "others.parquet", *QUESTION[:-4], "--at-most", "9", "--epsilon", "1", "--guarantee", "dp",
        "--delta", "1e-4", "--dataset", "other", "--out", "b", "--yes",
    )  # fmt: skip
    run(
        "publish", "visits.parquet", *QUESTION, "--at-least", "4", "--alpha", "0.5", "--publish-at-least",
        "--out", "c", "--yes",
    )  # fmt: skip
    for name in "abc":
        run("verify", name, "--key", "key.pub")


def test_a_question_that_was_answered_before_needs_a_word(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("publish", "visits.parquet", *QUESTION, "--out", "out", "--yes")
    said = run("publish", "visits.parquet", *QUESTION, "--out", "second", "--dry-run")
    assert "answers the same question" in " ".join(said.split())
    with pytest.raises(BadQuestion, match="answers the same question"):
        run("publish", "visits.parquet", *QUESTION, "--out", "second", "--yes")
    assert remaining() == 2
    run("publish", "visits.parquet", *QUESTION, "--out", "second", "--yes", "--again")
    assert remaining() == 1
    asked: list[str] = []
    monkeypatch.setattr(publish, "confirm", lambda question, _: asked.append(question))
    run("publish", "visits.parquet", *QUESTION, "--out", "third")
    assert asked == ["It was answered before. Pay for another answer?", "Publish?"]
    assert remaining() == 0


def test_to_decline_is_not_to_succeed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "interactive", lambda: True)
    asked = ["publish", "visits.parquet", *QUESTION, "--out", "out"]
    result = CliRunner().invoke(build(), asked, input="n\n")
    assert isinstance(result.exception, Declined)
    assert result.exception.what == "Nothing was done, and nothing was spent."
    assert remaining() == CAP
    assert not (world.home / "out").exists()


def test_json_is_one_document_and_everything_else_goes_to_the_terminal(world: World) -> None:
    asked = ["publish", "visits.parquet", *QUESTION, "--out", "out", "--json"]
    result = CliRunner().invoke(build(), [*asked, "--dry-run"])
    quoted = json.loads(result.stdout)
    assert quoted["published"] is False
    assert quoted["preview"]["price"].startswith("epsilon 1,")
    assert "Promise" in result.stderr
    result = CliRunner().invoke(build(), [*asked, "--yes"])
    said = json.loads(result.stdout)
    release = safeside.verify("out", "key.pub")
    assert said == {
        "published": True,
        "release": release.id,
        "manifest": release.digest,
        "directory": "out",
        "map": "out/map.html",
        "dataset": "city",
        "charged": {"epsilon": "1", "delta": "0"},
        "remaining": {"epsilon": str(CAP - 1), "delta": "0"},
        "answers": release.manifest["answers"],
        "summary": release.summary(),
    }


@pytest.mark.parametrize("wrong", [["--epsilon", "0"], []], ids=["refused", "nobody to ask"])
def test_an_error_is_json_too_where_json_was_asked_for(world: World, wrong: list[str]) -> None:
    program = "from safeside.cli.main import main; main()"
    asked = ["publish", "visits.parquet", *QUESTION, "--out", "out", "--json", *wrong]
    done = subprocess.run(
        [sys.executable, "-c", program, *asked],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 2
    said = json.loads(done.stdout)
    assert set(said) == {"error", "what", "do"}
    assert said["error"] == ("BadNumber" if wrong else "BadQuestion")
    assert remaining() == CAP
