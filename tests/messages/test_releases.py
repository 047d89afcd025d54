"""Every message of the releases: what happened, and what to do next."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.faults.publishing import World, killed_at
from tests.ledger.stores import not_as_root
from tests.messages.saying import says
from tests.releases.making import signed, simulated
from typer.testing import CliRunner

from safeside import disk, records
from safeside.cli.main import build
from safeside.errors import SafesideError
from safeside.ledger import create_ledger, open_ledger, steps
from safeside.ledger.witness import STATE_VARIABLE
from safeside.noise.entropy import simulated_entropy
from safeside.releases import publish_steps, signing
from safeside.releases.purge import purge
from safeside.releases.release import load_release
from safeside.releases.staging import Staging
from safeside.releases.verify import verify
from safeside.releases.withdraw import require_reason, withdraw


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    made = World.made(tmp_path)
    with open_ledger(made.home / "ledger.db") as ledger:
        ledger.create_dataset("few", "person", 3, people=20)
    return made


def test_directories_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("x")
    with pytest.raises(SafesideError) as caught:
        Staging(out=tmp_path / "full", request="r").require_possible()
    says(caught, "exists already", "does not exist yet; a published release is never overwritten")
    # Nobody, root included, may make a directory there.
    nowhere = Staging(out=Path("/sys/safeside/out"), request="r")
    with pytest.raises(SafesideError) as caught, nowhere.turn():
        pass
    says(caught, "read-only for this user", "may write to")
    with pytest.raises(SafesideError) as caught, disk.writing(tmp_path / "release"):
        Path("/dev/full").write_bytes(b"x")
    says(caught, "The disk is full", "Free some space and run the same command again")
    staging = Staging(out=tmp_path / "new", request="r")
    staging.beside("1.sealed").write_text("")
    with pytest.raises(SafesideError) as caught:
        staging.require_unused()
    says(caught, "under the names of this request .+reserved nothing", "Find out which; then delete it")


def test_keys_that_cannot_be_used(tmp_path: Path) -> None:
    signing.create_key(tmp_path / "key")
    for act, what, do in [
        (lambda: signing.create_key(tmp_path / "key"), "exists already", "rotate_key"),
        (lambda: signing.load_private(tmp_path / "none"), "There is no key", "safeside.create_key"),
        (lambda: signing.load_public(tmp_path / "none"), "no public key", "somewhere other than the release"),
        (lambda: signing.load_public(tmp_path / "key"), "holds no Ed25519 public key", ".pub or .keyring"),
    ]:
        with pytest.raises(SafesideError) as caught:
            act()
        says(caught, what, do)
    (tmp_path / "key").chmod(0o644)
    with pytest.raises(SafesideError) as caught:
        signing.load_private(tmp_path / "key")
    says(caught, "can be read by others", "chmod 600")
    (tmp_path / "key").chmod(0o600)
    with pytest.raises(SafesideError) as caught, not_as_root():
        signing.load_private(tmp_path / "key")
    says(caught, "cannot be read .Permission denied", "readable for the user who runs this")
    (tmp_path / "key.pub").chmod(0o600)
    with pytest.raises(SafesideError) as caught:
        signing.load_private(tmp_path / "key.pub")
    says(caught, "not an Ed25519 private key", "without .pub or .keyring")


def test_keys_under_a_passphrase(tmp_path: Path) -> None:
    signing.create_key(tmp_path / "key", passphrase="right")
    for act, what, do in [
        (lambda: signing.create_key(tmp_path / "new", passphrase=""), "passphrase is empty", "without a"),
        (
            lambda: signing.load_private(tmp_path / "key"),
            "nobody to ask",
            "Set SAFESIDE_KEY_PASSPHRASE for this command, or run it on a terminal",
        ),
        (
            lambda: signing.load_private(tmp_path / "key", ask=lambda: "wrong"),
            "does not open",
            "Type it again, or correct SAFESIDE_KEY_PASSPHRASE; nobody can open the key without it",
        ),
    ]:
        with pytest.raises(SafesideError) as caught:
            act()
        says(caught, what, do)
        assert "right" not in str(caught.value)
        assert "wrong" not in str(caught.value)


def test_releases_that_are_not_true(tmp_path: Path) -> None:
    signing.create_key(tmp_path / "key")
    signing.create_key(tmp_path / "other")
    made = signed(
        tmp_path / "out", [0, 1, 9], {"epsilon": 1, "at_most": 2}, signing.load_private(tmp_path / "key")
    )
    with pytest.raises(SafesideError) as caught:
        verify(made.directory, tmp_path / "other.pub")
    says(caught, "another key", "from a source you trust, not from the release itself")
    text = (made.directory / "answers.csv").read_text()
    (made.directory / "answers.csv").write_text(text.replace("UNCLEAR", "AT_MOST"))
    with pytest.raises(SafesideError) as caught:
        verify(made.directory, tmp_path / "key.pub")
    says(caught, "altered or is incomplete: answers.csv is not the file that was signed", "Do not use it")
    (made.directory / "release.json").write_text("{}")
    with pytest.raises(SafesideError) as caught:
        verify(made.directory, tmp_path / "key.pub")
    says(caught, "does not follow the schema safeside-release/1", "Ask the publisher")
    (made.directory / "release.json").write_text('{"schema":"safeside-release/99"}')
    with pytest.raises(SafesideError) as caught:
        verify(made.directory, tmp_path / "key.pub")
    says(caught, "This release was made by a newer safeside", "Install a newer safeside")
    with pytest.raises(SafesideError) as caught:
        load_release(tmp_path / "nothing")
    says(caught, "There is no release", "release.json")
    simulation = simulated(tmp_path / "simulation", [0, 1, 9], {"epsilon": 1, "at_most": 2})
    with pytest.raises(SafesideError) as caught:
        verify(simulation.directory, tmp_path / "key.pub")
    says(caught, "is a simulation, not a release", "safeside.publish")
    with pytest.raises(SafesideError) as caught:
        simulation.charged()
    says(caught, "never charged", "directory of a release")


def test_withdrawing_has_few_reasons_and_none_is_about_the_data() -> None:
    with pytest.raises(SafesideError) as caught:
        require_reason("new cases were found")
    says(
        caught,
        "not a reason",
        "The reasons are software-fault, wrong-file and wrong-option.+what the data now say",
    )


A_DAY = {"when": "2021-06-03T00:00:00+00:00/P1D", "max_alarms": 1, "order": "random"}


def test_forecasts_are_learned_from_releases_of_this_ledger_alone(world: World) -> None:
    terms = {"when": "2021-06-03T00:00:00+00:00/P1D", "method": "selection"}
    world.publish("counts", **terms)
    create_ledger(world.home / "other.db").create_dataset("city", "person", 9)
    with pytest.raises(SafesideError) as caught:
        world.publish(
            "counts",
            **terms,
            ledger=world.home / "other.db",
            out=world.home / "releases" / "other",
            learn_from=[world.out],
        )
    says(caught, "is not one that this ledger published", "`learn_from=` releases of this ledger")


def test_publications_that_are_refused_before_anything_is_paid(world: World) -> None:
    other = world.home / "releases" / "other"
    world.publish("counts", request_id="monday")
    for more, what, do in [
        ({"entropy": simulated_entropy(1)}, "Noise from a seed", "safeside.simulate"),
        ({"key": world.home / "none"}, "There is no key", "safeside.create_key"),
        ({"dataset": "town"}, 'no dataset called "town"', "publishing never makes one"),
        ({"epsilon": 9}, "Requested epsilon 9, remaining 2, difference 7", "smaller epsilon"),
        (
            {"request_id": "monday", "out": world.out, "at_most": 3},
            '"monday" was used before, for another question',
            "new request id",
        ),
        ({"timezone": "Asia/Tokio"}, "no time zone 'Asia/Tokio'", 'Did you mean "Asia/Tokyo"'),
        ({"when": "2021-06-03T12:00"}, "has no zone", "`timezone="),
        (
            {"supersedes": "sunday", "scheduled": True},
            'knows of no published release "sunday" that could be superseded',
            "`release` in release.json",
        ),
        (
            {"supersedes": "monday", "scheduled": True, "when": "2021-06-03T13:00:00+00:00"},
            "about other places or another time",
            "superseded as a whole",
        ),
        (
            {"known_on": datetime(2999, 1, 1, tzinfo=UTC)},
            "data speak from lies in the future",
            "moment that has passed",
        ),
        ({"known_on": datetime(2021, 6, 4)}, "has no time zone", "leave it out"),
        (
            {"known_on": datetime(2021, 6, 3, 11, tzinfo=UTC)},
            r"2021-06-03T12:00:00\+00:00\) had not come at the moment .+ \(2021-06-03T11:00:00\+00:00\)",
            "a time that has passed.+check `timezone=` and `known_on=`",
        ),
        (
            {"known_on": datetime(2021, 6, 3, 15, tzinfo=UTC), **A_DAY},
            r"was not over at the moment the data speak from \(2021-06-03T15:00:00\+00:00\)",
            "Wait until it is over; or ask about the part that has passed, .+; or give `so_far=True`",
        ),
        ({"so_far": True, **A_DAY}, "`so_far=True` would not be true", "Leave `so_far=True` out"),
        ({"so_far": True}, "there is no `so_far=True` of it", "ask about an interval"),
        ({"out": Path("/sys/safeside")}, "read-only for this user", "may write to"),
    ]:
        with pytest.raises(SafesideError) as caught:
            world.publish("counts", **{"out": other, **more})
        says(caught, what, do)
    assert not other.exists()
    with open_ledger(world.home / "ledger.db") as ledger:
        assert ledger.remaining("city").epsilon == 2


FREE = "Nothing was published.+(nothing was spent|spends nothing more)"


def _naive(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.col("start", "end").dt.replace_time_zone(None))


def _crowd(table: pl.DataFrame) -> pl.DataFrame:
    people = pl.DataFrame({"person": [f"x{i}" for i in range(21)], "place": ["p00"] * 21})
    return people.join(table.head(1).select("start", "end"), how="cross")


INPUT: dict[str, tuple[Any, dict[str, Any], str, str]] = {
    "yesterday's file": (
        lambda t: t.with_columns(pl.col("start", "end") - timedelta(days=1)),
        {},
        "Nobody in these visits was at any of the places at the time asked about",
        "file is of that day",
    ),
    "wrong zone": (_naive, {"timezone": "Asia/Tokyo"}, "Nobody", "`timezone=` is right.+`allow_nobody=True`"),
    "no zone": (_naive, {}, "zone", "`timezone="),
    "unknown place": (
        lambda t: t.with_columns(place=pl.lit("x")),
        {},
        "not listed",
        "exclude_unknown_places=True",
    ),
    "no column": (lambda t: t.drop("person"), {}, "no column person", '`columns={"person": "COLUMN"}`'),
    "more than declared": (
        _crowd,
        {"dataset": "few", "people": 20},
        "larger than 20, the number of people that the dataset was made with",
        "Look for rows that are wrong",
    ),
}


@pytest.mark.parametrize("fault", INPUT)
def test_input_that_cannot_be_counted(world: World, fault: str) -> None:
    change, more, what, do = INPUT[fault]
    path = world.home / "visits.parquet"
    change(pl.read_parquet(path)).write_parquet(path)
    with pytest.raises(SafesideError) as caught:
        world.publish("counts", **more)
    says(caught, what, do)
    assert re.search(FREE, caught.value.do), caught.value.do
    assert not world.out.exists()


def test_releases_that_cannot_be_finished(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    killed_at(world, "counts", publish_steps.COMMITTED)
    (sealed,) = world.sealed()
    whole = sealed.read_bytes()
    for spoil in (Path.unlink, lambda path: path.write_bytes(whole[:-1] + b"x")):
        spoil(sealed)
        with pytest.raises(SafesideError) as caught:
            world.publish("counts")
        says(
            caught,
            "was committed, and what was drawn for it is not beside .+, or was altered",
            "take it from where it was published.+never drawn twice.+another `request_id=` and "
            "`again=True`.+anew",
        )
    sealed.write_bytes(whole)

    def reached(name: str) -> None:
        if name == publish_steps.FLUSHED:
            (ours,) = world.out.parent.glob(".noon.*.appearing")
            ours.rename(world.home / "taken")
            ours.mkdir()

    with monkeypatch.context() as patch:
        patch.setattr(steps, "reached", reached)
        with pytest.raises(SafesideError) as caught:
            world.publish("counts")
    says(caught, "is not what was written: somebody else writes beside it", "only you may write there")
    world.publish("counts")
    (world.out / "map.html").write_text("spoilt")
    with pytest.raises(SafesideError) as caught:
        world.publish("counts")
    says(caught, "altered or is incomplete: map.html", "Do not use it")


def test_ledgers_that_do_not_know_a_release(world: World) -> None:
    old = (world.home / "ledger.db").read_bytes()
    world.publish("counts")
    key = signing.load_private(world.home / "key")
    with create_ledger(world.home / "another.db") as another:
        with pytest.raises(SafesideError) as caught:
            withdraw(world.out, reason="software-fault", ledger=another, key=key)
        says(caught, "was not charged to", "its id is in release.json")
        gone = world.publish("counts", at_most=3, out=world.home / "releases" / "gone").directory
        with open_ledger(world.home / "ledger.db") as ledger:
            withdraw(gone, reason="software-fault", ledger=ledger, key=key)
        with pytest.raises(SafesideError) as caught:
            withdraw(gone, reason="software-fault", ledger=another, key=key)
        says(caught, "speaks of a release that was not withdrawn in", "the ledger it was charged to")
    (world.home / "ledger.db").write_bytes(old)
    with pytest.raises(SafesideError) as caught:
        world.publish("counts", out=world.home / "releases" / "other", at_most=4)
    says(caught, "has forgotten", "safeside.recover_ledger")
    altered = json.loads((world.out / "release.json").read_text())
    altered["ledger"]["cost"]["epsilon"] = "0"
    (world.out / "release.json").write_bytes(records.canonical(altered))
    with pytest.raises(SafesideError) as caught:
        load_release(world.out)
    says(caught, "release.json is not as a release has it .epsilon is 0", "Do not use it")


def test_what_purge_refuses(world: World) -> None:
    for name, what in [
        ("ledger.db", 'ledger.db" looks like a ledger'),
        ("key", 'key" looks like a key'),
        ("none", "There is no file"),
    ]:
        with pytest.raises(SafesideError) as caught:
            purge([world.home / name])
        says(caught, what, "nothing was deleted|Purge only data files")
    (world.home / "link").symlink_to(world.home / "visits.parquet")
    with pytest.raises(SafesideError) as caught:
        purge([world.home / "link"])
    says(caught, "is a link: deleting it would leave the data", 'Give the file itself, ".+visits.parquet"')
    assert (world.home / "visits.parquet").exists()


def test_nobody_to_ask_and_seeds_on_the_command_line(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.home)
    app = build()
    asked = ["publish", "visits.parquet", "--places", "places.csv", "--when", "2021-06-03T12:00:00+00:00"]
    asked += [
        "--at-most",
        "2",
        "--epsilon",
        "1",
        "--out",
        "out",
        "--dataset",
        "city",
        "--ledger",
        "ledger.db",
    ]
    error = CliRunner().invoke(app, [*asked, "--key", "key"]).exception
    assert isinstance(error, SafesideError)
    assert (error.what, error.do) == ("There is nobody to ask.", "Add --yes to go on without being asked.")
    error = CliRunner().invoke(app, [*asked, "--seed", "1"]).exception
    assert isinstance(error, SafesideError)
    assert "never drawn from a seed" in error.what
    assert "safeside simulate" in error.do
