"""kill -9 at 200 random moments of publishing; after each the ledger is true, a retry gives one release."""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.publishing import KINDS, World, killed_after

POINTS = 200
SMALL_POINTS = 20


def main(words: list[str]) -> int:
    """Kill, check, retry, check; the number of kills at each stage is printed."""
    points = SMALL_POINTS if "--small" in words else POINTS
    seed = random.SystemRandom().getrandbits(32)
    dice = random.Random(seed)
    say(f"seed {seed}")
    longest = _duration()
    found = {"nothing was paid": 0, "paid": 0, "drawn and committed": 0, "published": 0}
    done = kills = 0
    with tempfile.TemporaryDirectory() as directory:
        while kills < points:
            world = World.made(Path(directory) / str(done))
            kind = dice.choice(list(KINDS))
            killed = killed_after(world, kind, dice.uniform(0, longest))
            done += 1
            kills += killed
            committed = world.committed()
            found[_stage(world, committed)] += killed
            world.check_after_kill()
            world.check_after_retry(kind, committed)
    say(
        f"{kills} kills in {done} runs of up to {longest:.2f} s. After each: the ledger true, no half-written"
    )
    say("release; after a retry one release, drawn once, paid once. When killed:")
    for stage, number in found.items():
        say(f"  {stage}: {number}")
    return 0


def say(text: str) -> None:
    """One line of the report."""
    sys.stdout.write(text + "\n")


def _stage(world: World, committed: str | None) -> str:
    if world.out.exists():
        return "published"
    if committed is not None:
        return "drawn and committed"
    from safeside.ledger import open_ledger

    with open_ledger(world.home / "ledger.db") as ledger:
        return "paid" if ledger.reservations("city") else "nothing was paid"


def _duration() -> float:
    """How long a whole run takes here, from the start of its process."""
    with tempfile.TemporaryDirectory() as directory:
        times = []
        for number, kind in enumerate(KINDS):
            world = World.made(Path(directory) / str(number))
            began = time.monotonic()
            killed_after(world, kind, 60)
            times.append(time.monotonic() - began)
    return 1.1 * max(times[1:])


if __name__ == "__main__":
    os.chdir(Path(__file__).parent.parent)
    sys.exit(main(sys.argv[1:]))
