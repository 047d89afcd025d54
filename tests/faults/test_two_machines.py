"""Two machines, one PostgreSQL ledger, and the same --out: on disks of their own, or on a shared directory.

One machine is held at a named step while the other runs through, or is killed on its way; then the first goes
on. Whatever happens, at most one release is seen, what was drawn is published or stays charged, and once both
have tried again there is one release, paid once.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import time
from fractions import Fraction
from pathlib import Path

import pytest
from tests.faults.publishing import CAP, CONTEXT, World
from tests.postgres import Server

from safeside.errors import SafesideError
from safeside.ledger import create_ledger, open_ledger, steps
from safeside.ledger.witness import STATE_VARIABLE
from safeside.releases import publish_steps
from safeside.releases.purge import purge
from safeside.releases.verify import verify

pytestmark = pytest.mark.xdist_group("postgres")

REQUEST = "monday"
PATIENCE = 60
OUTSIDE = [
    *publish_steps.STEPS,
    *(steps.of(kind, step) for kind in ("reserve", "commit") for step in (steps.STORED, steps.WITNESSED)),
]
"""The steps at which no transaction is open, so that another machine need not wait."""


def machine(home: str, url: str, out: str | None, hold: str | None, die: str | None) -> None:
    """Publish as one of the two machines, in a process of its own; what it is told stands in `said`."""
    world = World(Path(home))
    os.environ[STATE_VARIABLE] = f"{home}/state"
    # The same path on either machine, whatever the disk.
    Path.resolve = lambda self, strict=False: Path("/srv/releases/noon")  # type: ignore[method-assign]  # noqa: ARG005
    if out is not None:
        # A network file system whose locks do nothing.
        fcntl.flock = lambda *_: None

    def reached(name: str) -> None:
        if name == die:
            os.kill(os.getpid(), signal.SIGKILL)
        if name == hold:
            (world.home / "held").touch()
            until(world.home / "go")

    steps.reached = reached
    try:
        world.publish("counts", ledger=url, request_id=REQUEST, out=Path(out) if out else world.out)
        (world.home / "said").write_text("")
    except SafesideError as error:
        (world.home / "said").write_text(str(error))


def until(path: Path) -> None:
    began = time.monotonic()
    while not path.exists():
        assert time.monotonic() - began < PATIENCE, f"{path} never came"
        time.sleep(0.005)


class Pair:
    """Two machines with the same files and key, and a ledger they share."""

    def __init__(self, home: Path, server: Server) -> None:
        self.a, self.b = World.made(home / "a"), World.made(home / "b")
        for name in ("key", "key.pub", "key.keyring"):
            shutil.copy(self.a.home / name, self.b.home / name)
        self.shared: str | None = None
        self.url = server.fresh()
        with create_ledger(self.url) as ledger:
            ledger.create_dataset("city", "person", CAP)

    def start(self, world: World, *, hold: str | None = None, die: str | None = None) -> object:
        for name in ("held", "go", "said"):
            (world.home / name).unlink(missing_ok=True)
        child = CONTEXT.Process(target=machine, args=(str(world.home), self.url, self.shared, hold, die))
        child.start()
        return child

    def interleave(self, hold: str, *, die: str | None = None) -> None:
        """`a` is held at a step while `b` runs, and goes on afterwards."""
        first = self.start(self.a, hold=hold)
        until(self.a.home / "held")
        second = self.start(self.b, die=die)
        second.join()
        (self.a.home / "go").touch()
        first.join()

    def retry(self) -> list[str]:
        """Both run the same command again; what each is told."""
        told = []
        for world in (self.a, self.b):
            self.start(world).join()
            told.append((world.home / "said").read_text())
        return told

    def spent(self) -> Fraction:
        with open_ledger(self.url) as ledger:
            ledger.verify()
            return CAP - ledger.remaining("city").epsilon

    def seen(self) -> list[Path]:
        outs = {Path(self.shared)} if self.shared else {self.a.out, self.b.out}
        return [out for out in outs if out.exists()]

    def hidden(self) -> list[Path]:
        return [
            left
            for out in (self.a.out, self.b.out)
            if out.parent.exists()
            for left in out.parent.glob(".*.sealed")
        ]

    def check(self) -> None:
        """At most one release is seen; what was drawn is published or stays charged."""
        assert len(self.seen()) <= 1
        if self.seen() or self.hidden():
            assert self.spent() == 1
        for out in self.seen():
            with open_ledger(self.url) as ledger:
                verify(out, self.a.home / "key.pub", ledger=ledger)


@pytest.fixture
def pair(tmp_path: Path, postgres: Server, monkeypatch: pytest.MonkeyPatch) -> Pair:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "watching"))
    made = Pair(tmp_path, postgres)
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "watching"))
    return made


@pytest.mark.parametrize("hold", OUTSIDE)
def test_on_disks_of_their_own_one_answers_and_the_other_is_told(pair: Pair, hold: str) -> None:
    pair.interleave(hold)
    pair.check()
    assert len(pair.seen()) == 1
    told = pair.retry()
    pair.check()
    assert pair.spent() == 1
    assert sorted(bool(one) for one in told) == [False, True]
    (message,) = [one for one in told if one]
    assert "committed" in message
    assert "where it was" in message
    loser = pair.a if told[0] else pair.b
    # What it drew can be deleted, and the release be taken over from the other machine.
    with open_ledger(pair.url) as ledger:
        assert purge([loser.home / "releases"], ledger=ledger).kept == ()
    shutil.copytree(pair.seen()[0], loser.out)
    assert pair.retry() == ["", ""]
    assert pair.spent() == 1


@pytest.mark.parametrize("die", publish_steps.STEPS)
def test_bad_input_on_one_machine_returns_nothing_that_the_other_may_have_drawn_under(
    pair: Pair, die: str
) -> None:
    good = pair.a.spoilt()
    pair.interleave(publish_steps.RESERVED, die=die)
    pair.check()
    # The other machine had taken the reservation up, unless it died before.
    assert pair.spent() == (0 if die == publish_steps.ASKED else 1)
    (pair.a.home / "visits.parquet").write_bytes(good)
    told = pair.retry()
    assert "" in told
    pair.check()
    assert (len(pair.seen()), pair.spent()) == (1, 1)


@pytest.mark.parametrize("hold", publish_steps.STEPS)
def test_on_a_shared_directory_without_locks_there_is_still_one_release(pair: Pair, hold: str) -> None:
    pair.shared = str(pair.a.out)
    pair.interleave(hold)
    pair.check()
    told = pair.retry()
    assert told == ["", ""]
    pair.check()
    assert (len(pair.seen()), pair.spent()) == (1, 1)
    # A draw that came too late stays hidden until it is purged.
    with open_ledger(pair.url) as ledger:
        purge([pair.a.out.parent], ledger=ledger)
    assert [path.name for path in pair.a.out.parent.iterdir()] == ["noon"]
    assert pair.retry() == ["", ""]


def test_another_question_for_the_same_directory_is_refused_before_it_pays(pair: Pair) -> None:
    pair.shared = str(pair.a.out)
    pair.start(pair.a).join()
    with pytest.raises(SafesideError, match="is not the release asked for"):
        pair.b.publish("counts", ledger=pair.url, out=pair.a.out, at_most=3)
    assert pair.spent() == 1
