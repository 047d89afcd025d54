"""Purging: data and leftovers go; ledger, keys, releases and unfinished promises stay."""

from __future__ import annotations

import pytest
from tests.faults.publishing import World, killed_at

from safeside.errors import CannotWrite
from safeside.ledger import open_ledger
from safeside.releases import publish_steps
from safeside.releases.purge import purge


def test_data_files_go_and_a_dry_run_only_says_so(world: World) -> None:
    path = world.home / "visits.parquet"
    assert purge([path], dry_run=True).deleted == (path,)
    assert path.exists()
    purge([path])
    assert not path.exists()


@pytest.mark.parametrize(
    "name", ["ledger.db", "ledger.db.witness", "key", "key.pub", "key.keyring", "releases/noon/answers.csv"]
)
def test_what_must_stay_is_refused_and_then_nothing_else_goes_either(world: World, name: str) -> None:
    world.publish("counts")
    with pytest.raises(CannotWrite, match="looks like"):
        purge([world.home / "visits.parquet", world.home / name])
    assert (world.home / name).exists()
    assert (world.home / "visits.parquet").exists()


def test_a_file_that_is_not_there_is_an_error(world: World) -> None:
    with pytest.raises(CannotWrite, match="There is no file"):
        purge([world.home / "nothing.csv"])


def test_a_draw_that_was_not_committed_goes_and_may_be_drawn_again(world: World) -> None:
    """Nobody can read it, with or without the ledger: its key was in the memory of a process that is gone."""
    killed_at(world, "counts", publish_steps.SEALED)
    kept = purge([world.out.parent])
    assert kept.deleted == ()
    assert "give `ledger=`" in kept.kept[0][1]
    with open_ledger(world.home / "ledger.db") as ledger:
        assert purge([world.out.parent], ledger=ledger, dry_run=True).deleted == tuple(world.sealed())
        assert len(purge([world.out.parent], ledger=ledger).deleted) == 1
    assert world.sealed() == []
    world.publish("counts")


def test_half_written_files_go(world: World) -> None:
    killed_at(world, "counts", publish_steps.PLACED)
    (gone,) = purge([world.out.parent]).deleted
    assert gone.suffix == ".appearing"
    assert not gone.exists()
    world.publish("counts")


def test_a_committed_draw_stays_to_be_finished(world: World) -> None:
    killed_at(world, "counts", publish_steps.COMMITTED)
    with open_ledger(world.home / "ledger.db") as ledger:
        kept = purge([world.out.parent], ledger=ledger)
    assert kept.deleted == ()
    assert "run the same `safeside.publish(...)` again" in kept.kept[0][1]
    world.publish("counts")


def test_published_releases_are_not_touched(world: World) -> None:
    world.publish("counts")
    assert purge([world.out.parent]).deleted == ()
    assert (world.out / "map.html").exists()
