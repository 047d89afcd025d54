"""kill -9 at every write between drawing and appearing: one draw can be read, and it is the one that appears.

Each release is killed several times, and the disk is copied after each kill.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
from pathlib import Path

from tests.faults.publishing import CONTEXT, KINDS, World
from tests.faults.snapshots import Snapshots

from safeside import records
from safeside.errors import SafesideError
from safeside.ledger import open_ledger, steps
from safeside.ledger.witness import STATE_VARIABLE
from safeside.releases import publish_steps
from safeside.releases.record import ReleaseRecord

ROUNDS = 4
SMALL_ROUNDS = 1
MOST_KILLS = 4


def main(words: list[str]) -> int:
    """For every kind of release and every write: kill there, kill again anywhere, look, finish, look."""
    rounds = SMALL_ROUNDS if "--small" in words else ROUNDS
    seed = random.SystemRandom().getrandbits(32)
    dice = random.Random(seed)
    say(f"seed {seed}")
    done = kills = dropped = 0
    with tempfile.TemporaryDirectory() as directory:
        for number, kind in enumerate(KINDS):
            way = _way(World.made(Path(directory) / f"way{number}"), kind)
            first = way.index(publish_steps.DRAWN)
            for at in [one for one in range(first, len(way)) for _ in range(rounds)]:
                world = World.made(Path(directory) / str(done))
                stops = [at, *(dice.randrange(first, len(way)) for _ in range(dice.randrange(MOST_KILLS)))]
                killed, lost = _killed(world, kind, stops)
                done, kills, dropped = done + 1, kills + killed, dropped + lost
            say(f"{kind}: {len(way) - first} points from the draw to the end, a kill at each {rounds} times")
    say(f"{kills} kills in {done} releases, {dropped} draws died uncommitted. After every kill")
    say(
        "the ledger true, at most one draw readable from all copies of the disk; in the end that one appeared"
    )
    return 0


def say(text: str) -> None:
    """One line of the report."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _way(world: World, kind: str) -> list[str]:
    """The names of all steps of a whole run, in the order in which they are reached."""
    way: list[str] = []
    usual = steps.reached
    steps.reached = way.append
    try:
        world.publish(kind)
    finally:
        steps.reached = usual
    return way


def _killed(world: World, kind: str, stops: list[int]) -> tuple[int, int]:
    """Kill a run at each of these points in turn; how many died, and how many encrypted draws they left."""
    snapshots, kills = Snapshots(world), 0
    for stop in stops:
        child = CONTEXT.Process(target=_until, args=(str(world.home), kind, stop))
        child.start()
        child.join()
        kills += child.exitcode == -signal.SIGKILL
        snapshots.take()
        world.check_after_kill()
        assert len(_readable(world, snapshots)) <= 1, "two draws can be read"
    before, left = world.committed(), len(world.sealed())
    world.check_after_retry(kind, before)
    snapshots.take()
    assert _readable(world, snapshots) == {(world.out / "release.json").read_bytes()}
    assert snapshots.plain() <= {one.read_bytes() for one in world.out.iterdir()}, "a draw in the clear"
    return kills, max(0, left - (before is not None))


def _until(home: str, kind: str, stop: int) -> None:
    """Publish in this process, which dies when it reaches this many steps; a resumed run has fewer."""
    os.environ[STATE_VARIABLE] = str(Path(home) / "state")
    left = stop

    def reached(_: str) -> None:
        nonlocal left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1

    steps.reached = reached
    World(Path(home)).publish(kind)


def _readable(world: World, snapshots: Snapshots) -> set[bytes]:
    with open_ledger(world.home / "ledger.db") as ledger:
        (paid,) = ledger.reservations("city")
    return {one for one in snapshots.readable(paid) if _is_record(one)}


def _is_record(data: bytes) -> bool:
    """Whether it is a release.json; other files of the release are its own."""
    try:
        records.decode(ReleaseRecord, data)
    except (SafesideError, ValueError):
        return False
    return True


if __name__ == "__main__":
    os.chdir(Path(__file__).parent.parent)
    sys.exit(main(sys.argv[1:]))
