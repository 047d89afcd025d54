"""A small city to publish from in a process that may be killed, and what must be true after any kill."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl

from safeside.cli.main import main
from safeside.ledger import Stage, create_ledger, open_ledger, steps
from safeside.ledger.witness import STATE_VARIABLE
from safeside.releases import publish_steps
from safeside.releases.publish import publish
from safeside.releases.release import Release
from safeside.releases.signing import create_key
from safeside.releases.verify import verify

NOON = datetime(2021, 6, 3, 12, tzinfo=UTC)
PLACES = 40
CAP = 3
KINDS: dict[str, dict[str, Any]] = {
    "counts": {"when": "2021-06-03T12:00:00+00:00"},
    "sparse": {"when": "2021-06-03T00:00:00+00:00/P1D", "max_alarms": 60, "order": "random"},
}
LEDGER_STEPS = [
    steps.of(kind, step) for kind in ("reserve", "read", "commit", "return") for step in steps.OF_AN_EVENT
]


def all_steps(kind: str) -> list[str]:
    """Every named step on the way of this kind of release."""
    ledger = [step for step in LEDGER_STEPS if kind == "sparse" or not step.startswith("return")]
    return [*publish_steps.STEPS, *ledger]


@dataclass(frozen=True)
class World:
    """Everything a publisher has, in one directory."""

    home: Path

    @classmethod
    def made(cls, home: Path, **limits: Any) -> World:
        """A new one; some places are busy, most are empty."""
        home.mkdir(exist_ok=True)
        rows = [
            {"person": f"n{place}-{who}", "place": f"p{place:02}", "start": NOON - timedelta(hours=1)}
            for place in range(PLACES)
            for who in range(place % 5 if place % 3 else 0)
        ]
        visits = pl.DataFrame(rows).with_columns((pl.col("start") + timedelta(hours=2)).alias("end"))
        visits.write_parquet(home / "visits.parquet")
        (home / "covers.toml").write_text('covers = "2000-01-01T00:00Z/2199-01-01T00:00Z"\n')
        pl.DataFrame({"place": [f"p{place:02}" for place in range(PLACES)]}).write_csv(home / "places.csv")
        os.environ[STATE_VARIABLE] = str(home / "state")
        with create_ledger(home / "ledger.db") as ledger:
            ledger.create_dataset("city", "person", CAP, **limits)
        create_key(home / "key")
        return cls(home)

    @property
    def out(self) -> Path:
        return self.home / "releases" / "noon"

    def publish(self, kind: str, **more: Any) -> Release:
        """Publish, or finish what was begun."""
        asked = {
            "places": self.home / "places.csv",
            "at_most": 2,
            "epsilon": 1,
            "dataset": "city",
            "ledger": self.home / "ledger.db",
            "out": self.out,
            "key": self.home / "key",
            **KINDS[kind],
            **more,
        }
        return publish(self.home / "visits.parquet", **asked)

    def spoilt(self) -> bytes:
        """Put visits of nobody in the place of the visits, whose bytes are returned."""
        path = self.home / "visits.parquet"
        good = path.read_bytes()
        pl.read_parquet(path).with_columns(person=pl.lit(None, dtype=pl.String)).write_parquet(path)
        return good

    def committed(self, ledger: str | Path | None = None) -> str | None:
        """The digest of the draw that was committed, if one was: no other may ever appear."""
        with open_ledger(ledger or self.home / "ledger.db") as book:
            return next((one.manifest for one in book.reservations("city")), None)

    def sealed(self) -> list[Path]:
        """Encrypted draws that stand beside the directory."""
        return sorted(self.out.parent.glob(".noon.*.sealed"))

    def check_after_kill(self) -> None:
        """The ledger is true; what can be seen is whole, signed and paid."""
        with open_ledger(self.home / "ledger.db") as ledger:
            ledger.verify()
            paid = ledger.reservations("city")
            assert len(paid) <= 1
            spent = CAP - ledger.remaining("city").epsilon
            assert spent == sum((one.charged.epsilon - (one.returned or 0) for one in paid), Fraction(0))
            if self.out.exists():
                release = verify(self.out, self.home / "key.pub")
                assert paid[0].stage is Stage.COMMITTED
                assert paid[0].manifest == release.digest
            for one in ledger.recover().unfinished:
                assert one.request == paid[0].request

    def check_after_retry(self, kind: str, committed: str | None) -> None:
        """One release, drawn once, paid once; doing it again changes nothing."""
        release = self.publish(kind)
        assert committed in (None, release.digest), "what was drawn and committed was drawn again"
        verify(self.out, self.home / "key.pub")
        assert self.publish(kind).digest == release.digest
        with open_ledger(self.home / "ledger.db") as ledger:
            kinds = [event.action.kind for event in ledger.history()]
            assert (kinds.count("reserve"), kinds.count("commit")) == (1, 1)
            alarms = release.manifest["answers"]["UNCLEAR"]
            used = 1 if kind == "counts" else Fraction(alarms, KINDS[kind]["max_alarms"])
            assert ledger.remaining("city").epsilon == CAP - used
            assert ledger.draws() == {}
        assert [path.name for path in self.out.parent.iterdir()] == ["noon"]


CONTEXT = multiprocessing.get_context("forkserver")
_TARGETS = ("publishing", "test_two_machines", "test_publish_faults")
CONTEXT.set_forkserver_preload([f"tests.faults.{name}" for name in _TARGETS])


def _die_at(step: str) -> Callable[[str], None]:
    def reached(name: str) -> None:
        if name == step:
            os.kill(os.getpid(), signal.SIGKILL)

    return reached


def in_child(home: str, kind: str, step: str | None) -> None:
    """Publish in this process, which dies at the step."""
    os.environ[STATE_VARIABLE] = str(Path(home) / "state")
    if step is not None:
        steps.reached = _die_at(step)
    World(Path(home)).publish(kind)


def by_command(home: str, kind: str, step: str, number: int) -> None:
    """Run `safeside publish` in this process, which gets the signal at the step; its words go to `said`."""
    world = World(Path(home))
    os.environ[STATE_VARIABLE] = str(world.home / "state")
    handle = os.open(world.home / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(handle, 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def reached(name: str) -> None:
        if name == step:
            os.kill(os.getpid(), number)

    steps.reached = reached
    given = {**KINDS[kind], "at-most": 2, "epsilon": 1, "dataset": "city", "out": world.out, "key": "key"}
    given |= {"places": "places.csv", "ledger": "ledger.db"}
    os.chdir(home)
    options = [word for name, value in given.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    sys.argv = ["safeside", "publish", "visits.parquet", "--yes", *options]
    main()


def signalled_at(world: World, kind: str, step: str, number: int) -> tuple[int | None, str]:
    """The exit code and the last words of `safeside publish`, which got the signal at the step."""
    child = CONTEXT.Process(target=by_command, args=(str(world.home), kind, step, number))
    child.start()
    child.join()
    return child.exitcode, " ".join((world.home / "said").read_text().split())


def killed_at(world: World, kind: str, step: str) -> None:
    """Publish in another process and have it killed at the step."""
    child = CONTEXT.Process(target=in_child, args=(str(world.home), kind, step))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL, f"the step {step!r} was never reached"


def killed_after(world: World, kind: str, seconds: float) -> bool:
    """Publish in another process and kill it after this time; whether it was still at it."""
    child = CONTEXT.Process(target=in_child, args=(str(world.home), kind, None))
    child.start()
    child.join(seconds)
    child.kill()
    child.join()
    return child.exitcode == -signal.SIGKILL
