"""Superseding and withdrawing: whole, charged, and never chosen answers."""

from __future__ import annotations

import pytest
from tests.faults.publishing import CAP, World
from tests.releases.worlds import remaining, world

from safeside.errors import (
    BadQuestion,
    BadRelease,
    CannotWrite,
    LedgerMissing,
)
from safeside.ledger import open_ledger
from safeside.releases.release import load
from safeside.releases.signing import load_private, load_public
from safeside.releases.withdraw import read_notice, withdraw

__all__ = ["world"]


def test_superseding_is_whole_fresh_and_charged(world: World) -> None:
    first = world.publish("counts")
    again = world.publish("counts", supersedes=world.out, out=world.home / "releases" / "second")
    assert again.manifest["supersedes"] == first.id
    assert again.digest != first.digest
    assert remaining(world) == CAP - 2
    assert "supersedes the release" in (again.directory / "statement.txt").read_text()
    with pytest.raises(BadQuestion, match="other places or another time"):
        world.publish(
            "counts",
            when="2021-06-03T12:30:00+00:00",
            supersedes=world.out,
            out=world.home / "releases" / "x",
        )
    with pytest.raises(LedgerMissing):
        world.publish("counts", supersedes="nothing", out=world.home / "releases" / "x")
    with open_ledger(world.home / "ledger.db") as ledger:
        withdraw(world.out, reason="software-fault", ledger=ledger, key=load_private(world.home / "key"))
    with pytest.raises(LedgerMissing):
        world.publish("counts", supersedes=first.id, out=world.home / "releases" / "x")
    assert remaining(world) == CAP - 2


def test_a_release_that_was_altered_is_not_withdrawn_in_the_name_of_another(world: World) -> None:
    world.publish("counts")
    path = world.out / "release.json"
    path.write_text(path.read_text().replace('"at_most": 2', '"at_most": 3'))
    with open_ledger(world.home / "ledger.db") as ledger, pytest.raises(BadRelease, match="committed to"):
        withdraw(world.out, reason="software-fault", ledger=ledger, key=load_private(world.home / "key"))
    assert path.exists()


def test_withdrawing_takes_back_everything_and_stays_charged(world: World) -> None:
    release = world.publish("counts")
    key = load_private(world.home / "key")
    with open_ledger(world.home / "ledger.db") as ledger:
        for _ in range(2):
            withdraw(world.out, reason="software-fault", ledger=ledger, key=key)
        assert ledger.reservation(release.id).stage == "withdrawn"
    assert {path.name for path in world.out.iterdir()} == {
        "withdrawn.json",
        "statement.txt",
        "signature.json",
    }
    notice = read_notice(world.out, load_public(world.home / "key.pub"))
    assert notice["release"] == release.id
    assert remaining(world) == CAP - 1
    with pytest.raises(BadRelease, match="withdrawn"):
        load(world.out)
    with pytest.raises(CannotWrite):
        world.publish("counts")
    assert [path.name for path in world.out.parent.iterdir()] == ["noon"]
