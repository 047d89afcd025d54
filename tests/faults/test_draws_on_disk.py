"""However often publishing is killed, whoever can read the disk at every moment reads one draw, not two."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest
from tests.faults.publishing import CAP, World, killed_at
from tests.faults.snapshots import Snapshots

from safeside.ledger import Reservation, open_ledger, steps
from safeside.releases import publish_steps
from safeside.releases.release import load_release
from safeside.releases.sealing import bound_to, unseal
from safeside.releases.verify import verify

BEFORE_THE_COMMIT = [
    *publish_steps.STEPS[publish_steps.STEPS.index(publish_steps.OPENED) :][:5],
    steps.of("commit", steps.BEGUN),
    steps.of("commit", steps.APPENDED),
]
AFTER_THE_COMMIT = [
    steps.of("commit", steps.STORED),
    steps.of("commit", steps.WITNESSED),
    *publish_steps.STEPS[publish_steps.STEPS.index(publish_steps.COMMITTED) :],
]


def paid(world: World) -> Reservation:
    with open_ledger(world.home / "ledger.db") as ledger:
        (one,) = ledger.reservations("city")
    return one


def test_twelve_kills_after_the_draw_leave_nothing_that_can_be_read(world: World) -> None:
    snapshots = Snapshots(world)
    for number in range(12):
        killed_at(world, "counts", BEFORE_THE_COMMIT[number % len(BEFORE_THE_COMMIT)])
        snapshots.take()
        with open_ledger(world.home / "ledger.db") as ledger:
            assert ledger.draws() == {}
    assert len([data for data in snapshots.files if data]) == 6, "draws were on the disk, encrypted"
    assert snapshots.readable(paid(world)) == set()
    release = world.publish("counts")
    verify(world.out, world.home / "key.pub")
    with open_ledger(world.home / "ledger.db") as ledger:
        assert ledger.remaining("city").epsilon == CAP - 1
    snapshots.take()
    assert (world.out / "release.json").read_bytes() in snapshots.readable(paid(world))
    assert release.digest == load_release(world.out).digest
    assert [one.name for one in world.out.parent.iterdir()] == ["noon"]


@pytest.mark.parametrize("kind", ["counts", "sparse"])
def test_the_length_of_an_encrypted_draw_says_nothing_of_the_draw(
    world: World, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = pl.read_parquet(world.home / "visits.parquet")
    crowds = [rows.with_columns(person=rows["person"] + f"-{at}") for at in range(300)]
    sizes = set()
    for crowd in (1, 300):
        pl.concat(crowds[:crowd]).write_parquet(world.home / "visits.parquet")
        for _ in range(3):
            with monkeypatch.context() as patch:
                patch.setattr(steps, "reached", stop_at(publish_steps.SEALED))
                with pytest.raises(KeyboardInterrupt):
                    world.publish(kind)
        sizes |= {one.stat().st_size for one in world.sealed()}
    assert len(world.sealed()) == 6
    assert len(sizes) == 1
    release = world.publish(kind)
    drawn = sum(one.stat().st_size for one in release.directory.iterdir())
    assert drawn < next(iter(sizes)), "and what is drawn fits in it"


def stop_at(step: str) -> Callable[[str], None]:
    def reached(name: str) -> None:
        if name == step:
            raise KeyboardInterrupt

    return reached


@pytest.mark.parametrize("kind", ["counts", "sparse"])
def test_kills_after_the_commit_show_one_draw_which_is_the_one_that_appears(world: World, kind: str) -> None:
    last = len(AFTER_THE_COMMIT) if kind == "sparse" else AFTER_THE_COMMIT.index(publish_steps.RETURNED)
    for step in BEFORE_THE_COMMIT:
        killed_at(world, kind, step)
    snapshots = Snapshots(world)
    killed_at(world, kind, AFTER_THE_COMMIT[0])
    snapshots.take()
    (committed,) = snapshots.readable(paid(world))
    for step in AFTER_THE_COMMIT[2:last]:
        killed_at(world, kind, step)
        snapshots.take()
    world.publish(kind)
    assert (world.out / "release.json").read_bytes() == committed
    published = {one.read_bytes() for one in world.out.iterdir()}
    assert snapshots.readable(paid(world)) <= published, "nothing was ever there that is not in the release"
    with open_ledger(world.home / "ledger.db") as ledger:
        assert [event.action.kind for event in ledger.history()].count("commit") == 1


def test_the_key_of_a_draw_that_has_appeared_is_overwritten(world: World) -> None:
    killed_at(world, "counts", publish_steps.COMMITTED)
    (path,) = world.out.parent.glob(".noon.*.sealed")
    data = path.read_bytes()
    with open_ledger(world.home / "ledger.db") as ledger:
        ((_, draw),) = ledger.draws().items()
    assert draw.key.hex().encode() in (world.home / "ledger.db").read_bytes()
    world.publish("counts")
    snapshots = Snapshots(world)
    snapshots.take()
    assert all(unseal(data, key, bound_to(paid(world))) is None for key in snapshots.keys)
    assert unseal(data, draw.key, bound_to(paid(world))) is not None


def test_no_key_reaches_an_event_a_witness_or_a_message(world: World) -> None:
    killed_at(world, "counts", publish_steps.COMMITTED)
    with open_ledger(world.home / "ledger.db") as ledger:
        ((_, draw),) = ledger.draws().items()
        told = [event.body for event in ledger.history()]
    told += [
        path.read_text() for path in (world.home / "ledger.db.witness", *(world.home / "state").iterdir())
    ]
    assert not [text for text in told if draw.key.hex() in text]
    assert draw.key.hex() not in repr(draw)
    assert str(draw.key) not in repr(draw)
