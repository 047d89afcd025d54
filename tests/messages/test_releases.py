"""Every message of the releases: what happened, and what to do next."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer
from tests.faults.publishing import World, killed_at
from tests.releases.making import DAY, INSTANT, places, signed, simulated, table
from typer.testing import CliRunner

from safeside.cli import publish
from safeside.errors import SafesideError
from safeside.ledger import create_ledger, open_ledger
from safeside.ledger.witness import STATE_VARIABLE
from safeside.noise.entropy import simulated_entropy
from safeside.releases import durable, manifest, publication, signing
from safeside.releases.basemap import read_basemap
from safeside.releases.purge import purge
from safeside.releases.question import Terms, ask
from safeside.releases.release import load
from safeside.releases.simulate import simulate
from safeside.releases.staging import Staging
from safeside.releases.verify import verify
from safeside.releases.withdraw import require_reason, withdraw
from safeside.visits.places import Places, read_places
from safeside.visits.window import Window


def says(caught: pytest.ExceptionInfo[SafesideError], what: str, do: str) -> None:
    assert re.search(what, caught.value.what), caught.value.what
    assert re.search(do, caught.value.do), caught.value.do


QUESTIONS: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "policy": ({"policy": "visited"}, INSTANT, "Only one policy", "Leave --policy out"),
    "no limit": ({}, DAY, "one person can be at many places", "--max-places-per-person K.+--max-alarms C"),
    "people": ({"people": 19}, INSTANT, "19, below the floor of 20", "at least 20 people"),
    "raised floor": (
        {"people": 60, "people_floor": 100},
        INSTANT,
        "60, below the floor of 100",
        "at least 100 people",
    ),
    "lowered floor": ({"people": 5, "people_floor": 1}, INSTANT, "5, below the floor of 20", "at least 20"),
    "people, sparse": (
        {"people": 50, "max_alarms": 1},
        INSTANT,
        "changes nothing in an answer of this kind",
        "Leave --people out",
    ),
    "no threshold": ({"at_most": None}, INSTANT, "how many visitors to ask about", "Give --at-most"),
    "alpha alone": ({"alpha": "0.1"}, INSTANT, "belong to --at-least", "Give --at-least too"),
    "at least, sparse": (
        {"at_least": 9, "alpha": "0.1", "max_alarms": 1},
        DAY,
        "--at-least needs a noisy count",
        "Ask without --at-least",
    ),
    "at least below": (
        {"at_least": 2, "alpha": "0.1"},
        INSTANT,
        "--at-least 2 and at most 2 can both be true",
        "above every --at-most",
    ),
    "at least, certain": ({"at_least": 9}, INSTANT, "never certain", "Give --alpha"),
    "at least, alpha 0": ({"at_least": 9, "alpha": 0}, INSTANT, "never certain", "Give --alpha"),
    "order alone": ({"order": "random"}, INSTANT, "--order belongs to --max-alarms", "Leave --order out"),
    "no such order": (
        {"order": "size", "max_alarms": 1},
        DAY,
        '"size" is not an order',
        "popularity, random, release:DIR .+ or file:PATH",
    ),
    "guarantee": ({"guarantee": "ldp"}, INSTANT, 'no guarantee "ldp"', "adp or dp"),
    "delta": ({"delta": "1e-6"}, INSTANT, "belong to ordinary differential privacy", "--guarantee dp"),
    "decision": ({"decision": True}, INSTANT, "belong to ordinary differential privacy", "--guarantee dp"),
    "dp, sparse": (
        {"guarantee": "dp", "delta": "1e-6", "max_alarms": 1},
        DAY,
        "Sparse answers are never wrong under the asymmetric definition only",
        "Leave --guarantee dp out",
    ),
    "dp, delta 0": ({"guarantee": "dp"}, INSTANT, "no answer is ever certain", "Give --delta above 0"),
    "alarms": ({"max_alarms": 0}, DAY, "--max-alarms is 0", "at least 1"),
    "negative threshold": ({"at_most": -1}, INSTANT, "--at-most is -1", "at least 0"),
    "epsilon": ({"epsilon": 0}, INSTANT, "epsilon is 0", "above zero"),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_questions_that_cannot_be_asked(name: str) -> None:
    given, when, what, do = QUESTIONS[name]
    terms = Terms(**{"epsilon": 1, "at_most": 2, **given})
    with pytest.raises(SafesideError) as caught:
        ask(places(), Window.parse(when), terms, timezone=None, counted=())
    says(caught, what, do)


def test_orders_that_cannot_be_read(tmp_path: Path) -> None:
    terms = {"epsilon": 1, "at_most": 2, "max_alarms": 1}

    def asked(order: str, listed: Places) -> None:
        ask(listed, Window.parse(DAY), Terms(**terms, order=order), timezone=None, counted=())

    with pytest.raises(SafesideError) as caught:
        asked("popularity", places(popularity=None))
    says(caught, "no popularity", "Add a column `popularity`")
    with pytest.raises(SafesideError) as caught:
        asked(f"file:{tmp_path / 'none'}", places())
    says(caught, "cannot be read", "one place in each line")
    (tmp_path / "short").write_text("p0\np1\n")
    with pytest.raises(SafesideError) as caught:
        asked(f"file:{tmp_path / 'short'}", places())
    says(caught, "does not list every place of the places file exactly once", "each place once")
    simulation = simulated(tmp_path / "out", [0] * 6, Terms(epsilon=1, at_most=2))
    with pytest.raises(SafesideError) as caught:
        asked(f"release:{simulation.directory}", places())
    says(caught, "is a simulation", "earlier release")
    with pytest.raises(SafesideError) as caught:
        asked(f"release:{tmp_path / 'nothing'}", places())
    says(caught, "There is no release", "release.json")


def test_homes_and_coverings_are_refused_before_anything_is_spent() -> None:
    with pytest.raises(SafesideError) as caught:
        read_places(pl.DataFrame({"place": ["a", "b"], "kind": ["shop", "home"]}))
    says(caught, "homes", "public venues only")
    frame = pl.DataFrame(
        {
            "place": [f"c{i}" for i in range(9)],
            "latitude": [35.0 + i // 3 / 10 for i in range(9)],
            "longitude": [139.0 + i % 3 / 10 for i in range(9)],
        }
    )
    with pytest.raises(SafesideError) as caught:
        read_places(frame)
    says(caught, "lattice", "public venues")


def test_simulations_that_cannot_be_made(tmp_path: Path) -> None:
    terms = Terms(epsilon=1, at_most=2)
    frame = table(places(2))
    with pytest.raises(SafesideError) as caught:
        simulate({"p0": 1}, terms=terms, out=tmp_path / "out", places=frame)
    says(caught, "one is missing, or one is not on the list", "0 where nobody is")
    with pytest.raises(SafesideError) as caught:
        simulate({"p0": 1, "p1": 90}, terms=Terms(epsilon=1, at_most=2, people=50), out=tmp_path / "out")
    says(caught, "", "")
    for text, what in [
        ("", "has no rows"),
        ("place,number\na,1\n", "no columns `place` and `count`"),
        ("place,count\na,1\na,2\n", "line 3"),
        ("place,count\na,1.5\n", "line 2"),
        ("place,count\na,-1\n", "line 2"),
    ]:
        (tmp_path / "counts.csv").write_text(text)
        with pytest.raises(SafesideError) as caught:
            simulate(tmp_path / "counts.csv", terms=terms, out=tmp_path / "out")
        says(caught, what, "`place` and `count`")
    with pytest.raises(SafesideError) as caught:
        simulate(tmp_path / "none.csv", terms=terms, out=tmp_path / "out")
    says(caught, "cannot be read", "`place` and `count`")
    assert not (tmp_path / "out").exists()


def test_directories_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("x")
    with pytest.raises(SafesideError) as caught:
        Staging(out=tmp_path / "full", request="r").require_possible()
    says(caught, "exists already", "does not exist yet; a published release is never overwritten")
    with pytest.raises(SafesideError) as caught:
        # Nobody, root included, may make a directory there.
        Staging(out=Path("/sys/safeside/out"), request="r").require_possible()
    says(caught, "read-only for this user", "may write to")
    with pytest.raises(SafesideError) as caught, durable.writing(tmp_path / "release"):
        Path("/dev/full").write_bytes(b"x")
    says(caught, "The disk is full", "Free some space and run the same command again")
    staging = Staging(out=tmp_path / "new", request="r")
    staging.beside("purged").write_text("")
    with pytest.raises(SafesideError) as caught:
        staging.require_possible()
    says(caught, "was purged", "new request id")


def test_keys_that_cannot_be_used(tmp_path: Path) -> None:
    signing.create_key(tmp_path / "key")
    for act, what, do in [
        (lambda: signing.create_key(tmp_path / "key"), "exists already", "key rotate"),
        (lambda: signing.load_private(tmp_path / "none"), "There is no key", "safeside key create"),
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
    (tmp_path / "key.pub").chmod(0o600)
    with pytest.raises(SafesideError) as caught:
        signing.load_private(tmp_path / "key.pub")
    says(caught, "not an Ed25519 private key", "without .pub or .keyring")


def test_releases_that_are_not_true(tmp_path: Path) -> None:
    signing.create_key(tmp_path / "key")
    signing.create_key(tmp_path / "other")
    made = signed(
        tmp_path / "out", [0, 1, 9], Terms(epsilon=1, at_most=2), signing.load_private(tmp_path / "key")
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
    says(caught, "does not follow the schema", "version of safeside")
    with pytest.raises(SafesideError) as caught:
        load(tmp_path / "nothing")
    says(caught, "There is no release", "release.json")
    simulation = simulated(tmp_path / "simulation", [0, 1, 9], Terms(epsilon=1, at_most=2))
    with pytest.raises(SafesideError) as caught:
        verify(simulation.directory, tmp_path / "key.pub")
    says(caught, "is a simulation, not a release", "safeside publish")
    with pytest.raises(SafesideError) as caught:
        simulation.charged()
    says(caught, "never charged", "directory of a release")


def test_withdrawing_has_one_reason() -> None:
    with pytest.raises(SafesideError) as caught:
        require_reason("new cases were found")
    says(caught, "not a reason", "software-fault.+because of what the data now say")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    return World.made(tmp_path)


A_DAY = {"when": "2021-06-03T00:00:00+00:00/P1D", "max_places_per_person": 1}


def test_publications_that_are_refused_before_anything_is_paid(world: World) -> None:
    other = world.home / "releases" / "other"
    world.publish("counts", request_id="monday")
    for more, what, do in [
        ({"entropy": simulated_entropy(1)}, "Noise from a seed", "safeside simulate"),
        ({"key": world.home / "none"}, "There is no key", "safeside key create"),
        ({"dataset": "town"}, 'no dataset called "town"', "publishing never makes one"),
        ({"epsilon": 9}, "Requested epsilon 9, remaining 2, difference 7", "smaller epsilon"),
        (
            {"request_id": "monday", "out": world.out, "at_most": 3},
            '"monday" was used before, for another question',
            "new request id",
        ),
        ({"timezone": "Asia/Tokio"}, "no time zone 'Asia/Tokio'", "Did you mean Asia/Tokyo"),
        ({"when": "2021-06-03T12:00"}, "has no zone", "--timezone"),
        ({"supersedes": "sunday"}, 'no published release "sunday"', "`release` in release.json"),
        (
            {"supersedes": "monday", "when": "2021-06-03T13:00:00+00:00"},
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
            "a time that has passed.+check --timezone and --known-on",
        ),
        (
            {"known_on": datetime(2021, 6, 3, 15, tzinfo=UTC), **A_DAY},
            r"was not over at the moment the data speak from \(2021-06-03T15:00:00\+00:00\)",
            "Wait until it is over; or ask about the part that has passed, .+; or give --so-far",
        ),
        ({"so_far": True, **A_DAY}, "--so-far would not be true", "Leave --so-far out"),
        ({"so_far": True}, "there is no --so-far of it", "ask about an interval"),
        ({"out": Path("/sys/safeside")}, "read-only for this user", "may write to"),
    ]:
        with pytest.raises(SafesideError) as caught:
            world.publish("counts", **{"out": other, **more})
        says(caught, what, do)
    assert not other.exists()
    with open_ledger(world.home / "ledger.db") as ledger:
        assert ledger.remaining("city").epsilon == 2


FREE = "Nothing was published, and .*(nothing was spent|spends nothing more)"


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
    "wrong zone": (_naive, {"timezone": "Asia/Tokyo"}, "Nobody", "--timezone is right.+--allow-nobody"),
    "no zone": (_naive, {}, "zone", "--timezone"),
    "unknown place": (
        lambda t: t.with_columns(place=pl.lit("x")),
        {},
        "not listed",
        "exclude-unknown-places",
    ),
    "no column": (lambda t: t.drop("person"), {}, "no column person", "--columns person=COLUMN"),
    "more than declared": (
        _crowd,
        {"people": 20},
        "larger than 20",
        "public number that no count can exceed",
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
    assert re.search(FREE, caught.value.do)
    assert not world.out.exists()


def test_releases_that_cannot_be_finished(world: World) -> None:
    killed_at(world, "counts", publication.COMMITTED)
    (staged,) = world.out.parent.glob(".noon.*.staged")
    staged.rename(world.home / "moved")
    with pytest.raises(SafesideError) as caught:
        world.publish("counts")
    says(caught, "was committed, and its files are not beside", "noise is never drawn twice")
    (world.home / "moved").rename(staged)
    (staged / "map.html").write_text("spoilt")
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
    (world.home / "ledger.db").write_bytes(old)
    with pytest.raises(SafesideError) as caught:
        world.publish("counts", out=world.home / "releases" / "other", at_most=3)
    says(caught, "has forgotten", "safeside ledger recover")
    altered = json.loads((world.out / "release.json").read_text())
    altered["ledger"]["cost"]["epsilon"] = "1/0"
    (world.out / "release.json").write_bytes(manifest.encode(altered))
    with pytest.raises(SafesideError) as caught:
        world.publish("counts", out=world.home / "releases" / "other", at_most=3)
    says(caught, "The price of the release in .+noon.+ cannot be read", "take the directory away")


def test_staged_files_of_another_ledger(world: World) -> None:
    killed_at(world, "counts", publication.STAGED)
    (staged,) = world.out.parent.glob(".noon.*.staged")
    altered = json.loads((staged / "release.json").read_text())
    altered["ledger"]["event"]["digest"] = "0" * 64
    (staged / "release.json").write_bytes(manifest.encode(altered))
    with pytest.raises(SafesideError) as caught:
        world.publish("counts")
    says(caught, "was not drawn under a reservation of the ledger", "ledger recover.+safeside purge")


def test_what_purge_refuses(world: World) -> None:
    for name, what in [("ledger.db", "a ledger"), ("key", "a key"), ("none", "There is no file")]:
        with pytest.raises(SafesideError) as caught:
            purge([world.home / name])
        says(caught, what, "nothing was deleted|Purge only data files")
    (world.home / "link").symlink_to(world.home / "visits.parquet")
    with pytest.raises(SafesideError) as caught:
        purge([world.home / "link"])
    says(caught, "is a link: deleting it would leave the data", "Give the file itself, .+visits.parquet")
    assert (world.home / "visits.parquet").exists()


def test_nobody_to_ask_and_seeds_on_the_command_line(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.home)
    app = typer.Typer()
    publish.register(app)
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


def test_basemaps_that_cannot_be_drawn(tmp_path: Path) -> None:
    path = tmp_path / "base.geojson"
    for text, what in [
        ("not json", "cannot be read as JSON"),
        ("[1]", "is not GeoJSON"),
        ('{"features": [{"geometry": {"type": "Circle"}}]}', "not a GeoJSON shape"),
        ('{"features": [NaN]}', "cannot be read as JSON"),
        ("[" * 100_000, "cannot be read as JSON"),
        ('{"type": "Polygon", "coordinates": null}', "not a GeoJSON shape in degrees"),
        ('{"type": "Polygon", "coordinates": [[["a", "b"]]]}', "not a GeoJSON shape in degrees"),
        ('{"type": "Polygon", "coordinates": [[[377000, 3900000]]]}', "not a GeoJSON shape in degrees"),
        ('{"type": "GeometryCollection", "geometries": [1]}', "not a GeoJSON shape in degrees"),
    ]:
        path.write_text(text)
        with pytest.raises(SafesideError) as caught:
            read_basemap(path)
        says(caught, what, "leave --basemap out")
    path.write_text(json.dumps({"type": "FeatureCollection", "features": []}))
    assert read_basemap(path) == {"features": []}
    line = {"type": "LineString", "coordinates": [[139.7, 35.6], [139.8, 35.7, 12]]}
    both = {"type": "GeometryCollection", "geometries": [line, {"type": "Point", "coordinates": [0, 0]}]}
    path.write_text(json.dumps({"geometry": both, "properties": ["odd"]}))
    assert read_basemap(path) == {"features": [{"geometry": both, "properties": {}}]}
