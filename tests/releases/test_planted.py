"""Files that somebody else puts beside a publisher: never believed, never signed, never paid for."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl
import pytest
from tests.faults.publishing import CAP, World, killed_at
from tests.releases.worlds import remaining, truth

from safeside import records
from safeside.errors import BadRelease, CannotWrite, SafesideError
from safeside.ledger import open_ledger, steps
from safeside.ledger.witness import STATE_VARIABLE
from safeside.releases import publish_steps
from safeside.releases.release import Release
from safeside.releases.verify import verify

REQUEST = "monday"
PRIVATE = {"alarms": None, "fingerprint": None, "simulated": False}


@pytest.fixture
def forged(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, bytes]:
    """A whole release that says of every place that it was quiet, with the public payment of another.

    Whoever makes it has a ledger of their own, knows the schedule, and has read one release of the victim.
    """
    public = world.publish("counts", out=world.home / "public", request_id="sunday", at_most=3).manifest[
        "ledger"
    ]
    stranger = World.made(tmp_path / "stranger")
    path = stranger.home / "visits.parquet"
    pl.read_parquet(path).head(1).write_parquet(path)
    stranger.publish("counts", request_id=REQUEST, epsilon=3)
    record = json.loads((stranger.out / "release.json").read_bytes())
    asked = json.loads((world.home / "public" / "release.json").read_bytes())
    record |= {"ledger": public, "mechanism": asked["mechanism"], "guarantee": asked["guarantee"]}
    monkeypatch.setenv(STATE_VARIABLE, str(world.home / "state"))
    files = {one.name: one.read_bytes() for one in stranger.out.iterdir() if one.name != "signature.json"}
    return files | {"release.json": records.canonical(record), ".private.json": json.dumps(PRIVATE).encode()}


def plant(world: World, files: Mapping[str, bytes]) -> list[Path]:
    """The forgery under every hidden name that a publisher of this request uses, or ever used."""
    token = hashlib.sha256(REQUEST.encode()).hexdigest()[:16]
    world.out.parent.mkdir(exist_ok=True)
    planted = []
    for name in ("staged", "drawing", f"{'0' * 16}.appearing"):
        planted.append(world.out.parent / f".noon.{token}.{name}")
        planted[-1].mkdir()
        for file, data in files.items():
            (planted[-1] / file).write_bytes(data)
    planted.append(world.out.parent / f".noon.{token}.{'0' * 16}.sealed")
    planted[-1].write_bytes(b"".join(files.values()))
    return planted


def drawn_from_the_data(world: World, release: Release, forged: Mapping[str, bytes]) -> None:
    """Signed, paid, never below the true counts, and not what was planted."""
    assert release.digest != records.digest(forged["release.json"])
    with open_ledger(world.home / "ledger.db") as ledger:
        seen = verify(world.out, world.home / "key.pub", ledger=ledger)
    counts = truth()
    said = zip(seen.answers.places, seen.answers.upper, strict=True)
    assert all(upper >= counts[place] for place, upper in said)


def test_a_forged_draw_is_refused_before_anything_is_paid(world: World, forged: Mapping[str, bytes]) -> None:
    for path in plant(world, forged):
        keep = {one.name: one.is_dir() for one in world.out.parent.iterdir()}
        with pytest.raises(CannotWrite, match="for which the ledger has reserved nothing"):
            world.publish("counts", request_id=REQUEST)
        assert {one.name: one.is_dir() for one in world.out.parent.iterdir()} == keep
        assert not world.out.exists()
        assert remaining(world) == CAP - 1, "only the release of Sunday was paid"
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    drawn_from_the_data(world, world.publish("counts", request_id=REQUEST), forged)


@pytest.mark.parametrize("step", [publish_steps.RESERVED, publish_steps.COUNTED, publish_steps.DRAWN])
def test_a_forged_draw_beside_a_reservation_is_not_looked_at(
    world: World, forged: Mapping[str, bytes], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    planted: list[Path] = []

    def reached(name: str) -> None:
        if name == step and not planted:
            planted.extend(plant(world, forged))

    monkeypatch.setattr(steps, "reached", reached)
    release = world.publish("counts", request_id=REQUEST)
    drawn_from_the_data(world, release, forged)
    assert [one.name for one in world.out.parent.iterdir()] == ["noon"], "what was planted is deleted"
    assert remaining(world) == CAP - 2


def test_a_kill_before_the_payment_leaves_nothing_that_the_next_run_takes_for_a_stranger(
    world: World,
) -> None:
    killed_at(world, "counts", publish_steps.ASKED)
    killed_at(world, "counts", steps.of("reserve", steps.APPENDED))
    assert [one.suffix for one in world.out.parent.iterdir()] == [".lock"]
    world.publish("counts")


def sealed(world: World) -> Path:
    (path,) = world.out.parent.glob(".noon.*.sealed")
    return path


def link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def altered(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


SPOILT: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "one bit altered": altered,
    "cut short": lambda path: os.truncate(path, 100),
    "made longer": lambda path: os.truncate(path, 10**12),
    "emptied": lambda path: os.truncate(path, 0),
    "replaced by a link": link,
    "replaced by a pipe": fifo,
    "replaced by a directory": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("fault", SPOILT)
def test_a_committed_draw_that_is_lost_stays_charged_and_is_never_drawn_again(
    world: World, fault: str
) -> None:
    killed_at(world, "counts", publish_steps.COMMITTED)
    SPOILT[fault](sealed(world))
    for _ in range(2):
        with pytest.raises(
            BadRelease, match="was committed, and what was drawn for it is not beside"
        ) as told:
            world.publish("counts")
        assert "never drawn twice" in told.value.do
        assert "`request_id=` and `again=True`, which is charged anew" in told.value.do
        assert not world.out.exists()
    assert remaining(world) == CAP - 1
    world.publish("counts", request_id="again", again=True)
    assert remaining(world) == CAP - 2


def test_the_draw_of_one_request_is_not_published_for_another(world: World) -> None:
    killed_at(world, "sparse", publish_steps.COMMITTED)
    other = sealed(world)
    kept = other.read_bytes()
    other.unlink()
    killed_at(world, "counts", publish_steps.COMMITTED)
    path = sealed(world)
    path.write_bytes(kept)
    with pytest.raises(BadRelease, match="or was altered"):
        world.publish("counts")


def test_what_is_signed_is_what_was_checked_whatever_is_on_the_disk_meanwhile(
    world: World, forged: Mapping[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every file beside the directory is overwritten at every step that has something to overwrite."""

    def reached(name: str) -> None:
        if not name.startswith("publish: ") or name == publish_steps.APPEARED or world.out.exists():
            return
        for path in world.out.parent.rglob("*"):
            if path.is_file() and not path.name.endswith("lock"):
                path.write_bytes(forged.get(path.name, b"forged"))

    with monkeypatch.context() as patch:
        patch.setattr(steps, "reached", reached)
        release = world.publish("counts", request_id=REQUEST)
    assert release.digest != records.digest(forged["release.json"])
    assert release.answers.places == tuple(truth())
    with open_ledger(world.home / "ledger.db") as ledger:
        paid = ledger.reservation(REQUEST)
    assert paid is not None
    assert paid.manifest == release.digest, "what is returned is what was committed, not what the disk says"
    with pytest.raises(SafesideError):
        verify(world.out, world.home / "key.pub")


def test_a_directory_that_takes_the_place_of_ours_is_noticed(
    world: World, forged: Mapping[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def reached(name: str) -> None:
        if name == publish_steps.FLUSHED:
            (ours,) = world.out.parent.glob(".noon.*.appearing")
            ours.rename(world.home / "taken")
            ours.mkdir()
            (ours / "release.json").write_bytes(forged["release.json"])

    with monkeypatch.context() as patch:
        patch.setattr(steps, "reached", reached)
        with pytest.raises(SafesideError):
            world.publish("counts", request_id=REQUEST)
    shutil.rmtree(world.out)
    drawn_from_the_data(world, world.publish("counts", request_id=REQUEST), forged)
    assert remaining(world) == CAP - 2
