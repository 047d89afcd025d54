"""Whatever way a question comes in, one that leaves no room ends before anything is read or charged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.faults.publishing import World
from tests.messages.visits_room import STREETS
from typer.testing import CliRunner

import safeside
from safeside.cli.main import build
from safeside.errors import NowhereElse, SafesideError
from safeside.ledger import open_ledger
from safeside.ledger.witness import STATE_VARIABLE
from safeside.visits import Places, VisitFormat, read_places

WHEN = "2021-06-03T12:00:00+00:00"
FIXES = ["--hold", "1h"]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A ledger, a key, a list of streets full of shops, and no visits at all."""
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    made = World.made(tmp_path)
    (tmp_path / "safeside.toml").write_text('ledger = "ledger.db"\ndataset = "city"\nkey = "key"\n')
    (tmp_path / "visits.parquet").unlink()
    STREETS.write_csv("places.csv")
    return made


def events() -> int:
    with open_ledger("ledger.db") as ledger:
        return len(ledger.history())


def run(*arguments: str) -> None:
    result = CliRunner().invoke(build(), list(arguments))
    if isinstance(result.exception, SafesideError):
        raise result.exception
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("declared", [["--radius", "220"], ["--h3", "9"]])
@pytest.mark.parametrize("how", [["--dry-run"], ["--yes"]])
def test_publish_on_the_command_line(world: World, declared: list[str], how: list[str]) -> None:
    before = events()
    question = ["--places", "places.csv", "--when", WHEN, "--at-most", "2", "--epsilon", "1", "--out", "out"]
    with pytest.raises(NowhereElse, match="could hardly have been at none of them"):
        run("publish", "visits.parquet", *question, *FIXES, *declared, *how)
    assert events() == before
    assert not Path("out").exists()


def test_a_radius_that_leaves_room_goes_on(world: World) -> None:
    question = ["--places", "places.csv", "--when", WHEN, "--at-most", "2", "--epsilon", "1", "--out", "out"]
    run("publish", "visits.parquet", *question, *FIXES, "--radius", "50", "--dry-run")


@pytest.mark.parametrize("declared", [["--radius", "220"], ["--h3", "9"]])
def test_check_on_the_command_line(world: World, declared: list[str]) -> None:
    with pytest.raises(NowhereElse, match="could hardly have been at none of them"):
        run("check", "visits.parquet", "--places", "places.csv", *FIXES, *declared)


def released(places: Any, **declared: Any) -> object:
    return safeside.publish(
        "visits.parquet",
        places=places,
        when=WHEN,
        at_most=2,
        epsilon=1,
        dataset="city",
        ledger="ledger.db",
        key="key",
        out="out",
        **declared,
    )


def test_publish_in_python(world: World) -> None:
    before = events()
    listed = read_places("places.csv")
    for places in ("places.csv", listed):
        with pytest.raises(NowhereElse, match="within 220 m of a place on the list"):
            released(places, radius=220, hold="1h")
        with pytest.raises(NowhereElse, match="in an H3 cell"):
            released(places, visit_format=VisitFormat(h3_resolution=9, hold="1h"))
    assert events() == before
    assert not Path("out").exists()


def test_a_list_put_together_by_hand_is_looked_at_too(world: World) -> None:
    before = events()
    with pytest.raises(NowhereElse, match="people's homes"):
        released(Places.of(["bar", "home_p1"]))
    with pytest.raises(NowhereElse, match="people's homes"):
        safeside.simulate({"bar": 1, "home_p1": 2}, at_most=2, epsilon=1, out="trial")
    with pytest.raises(NowhereElse, match="people's homes"):
        released(pl.DataFrame({"place": ["bar", "gym"], "name": ["Bar", "Home"]}))
    assert events() == before
