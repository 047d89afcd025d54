"""Ledgers that were restored or copied, draws of strangers: nothing is published that was not paid."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.faults.publishing import CAP, World, killed_at
from tests.releases.worlds import remaining

from safeside.errors import (
    BadRelease,
    CannotWrite,
    LedgerForked,
)
from safeside.ledger import open_ledger, recover_ledger
from safeside.ledger.witness import STATE_VARIABLE
from safeside.releases import publish_steps
from safeside.releases.release import load_release
from safeside.releases.verify import verify


def test_a_forked_ledger_publishes_nothing_until_it_is_mended(world: World) -> None:
    old = (world.home / "ledger.db").read_bytes()
    world.publish("counts")
    (world.home / "ledger.db").write_bytes(old)
    with pytest.raises(LedgerForked):
        world.publish("counts", when="2021-06-03T12:30:00+00:00", out=world.home / "releases" / "later")
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.recover()
    assert remaining(world) == CAP - 1
    world.publish("counts", when="2021-06-03T12:30:00+00:00", out=world.home / "releases" / "later")
    assert remaining(world) == CAP - 2


def test_a_fork_is_seen_by_the_releases_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both witnesses are lost with the ledger; the release on the disk still knows."""
    old = (world.home / "ledger.db").read_bytes()
    world.publish("counts")
    (world.home / "ledger.db").write_bytes(old)
    (world.home / "ledger.db.witness").unlink()
    monkeypatch.setenv(STATE_VARIABLE, str(world.home / "empty"))
    with pytest.raises(LedgerForked):
        world.publish("counts", when="2021-06-03T12:30:00+00:00", out=world.home / "releases" / "later")
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.recover([load_release(world.out).published()])
    assert remaining(world) == CAP - 1


@pytest.mark.parametrize("step", [publish_steps.SEALED, publish_steps.COMMITTED])
def test_under_a_reservation_that_was_charged_again_nothing_is_drawn_that_was_committed_before(
    world: World, step: str
) -> None:
    old = (world.home / "ledger.db").read_bytes()
    killed_at(world, "counts", step)
    # Somebody went on with a copy from before, so that nothing can be put back as it was.
    (world.home / "ledger.db").write_bytes(old)
    lost = (world.home / "ledger.db.witness").read_bytes()
    for path in (world.home / "ledger.db.witness", *(world.home / "state").iterdir()):
        path.unlink()
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.create_dataset("another", "person", 1)
    with (world.home / "ledger.db.witness").open("ab") as file:
        file.write(lost)
    with open_ledger(world.home / "ledger.db") as ledger:
        assert len(ledger.recover().recharged) == 1
    if step == publish_steps.COMMITTED:
        # The key went with the database: nobody can read the draw any more, and it stays charged.
        with pytest.raises(BadRelease, match="was committed, and what was drawn for it"):
            world.publish("counts")
        assert not world.out.exists()
    else:
        verify(world.publish("counts").directory, world.home / "key.pub")
    assert remaining(world) == CAP - 1


@pytest.mark.parametrize("step", [publish_steps.SEALED, publish_steps.COMMITTED, publish_steps.APPEARED])
def test_a_ledger_made_anew_from_its_witness_has_no_keys_and_draws_nothing_twice(
    world: World, step: str
) -> None:
    killed_at(world, "counts", step)
    (world.home / "ledger.db").unlink()
    recover_ledger(world.home / "ledger.db")
    with open_ledger(world.home / "ledger.db") as ledger:
        assert ledger.draws() == {}
    if step == publish_steps.COMMITTED:
        with pytest.raises(BadRelease, match="was committed, and what was drawn for it"):
            world.publish("counts")
        assert not world.out.exists()
    else:
        world.publish("counts")
        world.check_after_kill()
        assert world.sealed() == []
    assert remaining(world) == CAP - 1


def test_a_release_of_which_the_ledger_forgot_the_commit_is_not_drawn_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_at(world, "counts", publish_steps.COUNTED)
    old = (world.home / "ledger.db").read_bytes()
    first = world.publish("counts")
    (world.home / "ledger.db").write_bytes(old)
    (world.home / "ledger.db.witness").unlink()
    monkeypatch.setenv(STATE_VARIABLE, str(world.home / "empty"))
    with pytest.raises(LedgerForked):
        world.publish("counts")
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.recover([load_release(world.out).published()])
    assert world.publish("counts").digest == first.digest
    world.out.rename(world.home / "moved")
    with pytest.raises(BadRelease, match="noise is never drawn twice"):
        world.publish("counts")
    assert remaining(world) == CAP - 1


def test_a_release_of_the_same_name_from_elsewhere_is_refused_before_anything_is_paid(
    world: World, tmp_path: Path
) -> None:
    other = World.made(tmp_path / "other")
    other.publish("counts", request_id="mine")
    os.environ[STATE_VARIABLE] = str(world.home / "state")
    shutil.copytree(other.out, world.out)
    with pytest.raises(CannotWrite, match="is not the release asked for"):
        world.publish("counts", request_id="mine")
    assert remaining(world) == CAP
