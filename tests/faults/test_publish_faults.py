"""A full disk, a read-only directory, a database that goes away: said plainly, and free to try again."""

from __future__ import annotations

import resource
import signal
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from tests.faults.publishing import CAP, CONTEXT, World
from tests.postgres import Server

from safeside.errors import CannotWrite, LedgerError, SafesideError, StoreUnavailable
from safeside.ledger import create_ledger, open_ledger, steps
from safeside.ledger.witness import STATE_VARIABLE
from safeside.releases import publish_steps
from safeside.releases.verify import verify

RETRY = "running the same command again finishes the release and spends nothing more"


def spent(url: str | Path) -> Fraction:
    with open_ledger(url) as ledger:
        return CAP - ledger.remaining("city").epsilon


def _with_little_room(home: str, result: str, most: int) -> None:
    """Publish in a process that may write no file larger than this, as on a full disk."""
    import os

    os.environ[STATE_VARIABLE] = str(Path(home) / "state")
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    try:
        World(Path(home)).publish("counts")
    except SafesideError as error:
        Path(result).write_text(f"{type(error).__name__}\n{error}")


def test_a_full_disk_leaves_nothing_visible_and_a_retry_costs_nothing(world: World) -> None:
    # The page must be larger than the ledger, so that it is the page that does not fit.
    names = [f"A place with a rather long name, number {number}" for number in range(3_000)]
    listed = [f"p{number:02}" for number in range(40)] + [f"q{number}" for number in range(2_960)]
    pl.DataFrame({"place": listed, "name": names}).write_csv(world.home / "places.csv")
    result = world.home / "result"
    child = CONTEXT.Process(target=_with_little_room, args=(str(world.home), str(result), 180_000))
    child.start()
    child.join()
    said = result.read_text()
    assert said.startswith("CannotWrite\nThe disk is full")
    assert "Free some space and run the same command again." in said
    assert RETRY in said
    assert list(world.out.parent.iterdir()) == []
    assert spent(world.home / "ledger.db") == 1
    release = world.publish("counts")
    assert verify(world.out, world.home / "key.pub").digest == release.digest
    assert spent(world.home / "ledger.db") == 1


def test_a_read_only_directory_is_refused_before_anything_is_paid(world: World) -> None:
    with pytest.raises(CannotWrite) as caught:
        # Nobody, root included, may make a directory there.
        world.publish("counts", out=Path("/sys/safeside"))
    assert "read-only for this user" in caught.value.what
    assert spent(world.home / "ledger.db") == 0


@pytest.mark.parametrize("step", [publish_steps.COUNTED, publish_steps.SEALED])
def test_a_ledger_file_that_goes_away_midway(
    world: World, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path, away = world.home / "ledger.db", world.home / "away.db"

    def reached(name: str) -> None:
        if name == step:
            path.rename(away)

    monkeypatch.setattr(steps, "reached", reached)
    with pytest.raises(LedgerError):
        world.publish("counts")
    assert not world.out.exists()
    monkeypatch.undo()
    monkeypatch.setenv(STATE_VARIABLE, str(world.home / "state"))
    away.rename(path)
    # What was drawn before it could be committed cannot be read by anybody, so it is drawn anew.
    assert len(world.sealed()) == (step == publish_steps.SEALED)
    world.publish("counts")
    assert world.sealed() == []
    verify(world.out, world.home / "key.pub")
    assert spent(path) == 1


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize(
    "step", [publish_steps.ASKED, publish_steps.COUNTED, publish_steps.SEALED, publish_steps.APPEARED]
)
def test_a_database_server_that_goes_away_midway(
    world: World, postgres: Server, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    url = postgres.fresh()
    with create_ledger(url) as ledger:
        ledger.create_dataset("city", "person", CAP)

    def reached(name: str) -> None:
        if name == step:
            postgres.stop()

    with monkeypatch.context() as patch:
        patch.setattr(steps, "reached", reached)
        try:
            with pytest.raises(StoreUnavailable) as caught:
                world.publish("sparse", ledger=url)
        finally:
            postgres.start()
    if step != publish_steps.ASKED:
        assert RETRY in caught.value.do
    if step == publish_steps.APPEARED:
        assert "The release is published" in caught.value.what
        assert "safeside.recover_ledger" in caught.value.do
    else:
        assert not world.out.exists()
    committed = world.committed(url)
    release = world.publish("sparse", ledger=url)
    assert committed in (None, release.digest)
    verify(world.out, world.home / "key.pub")
    assert spent(url) == Fraction(release.manifest["answers"]["UNCLEAR"], 60)
