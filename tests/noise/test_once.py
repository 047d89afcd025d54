"""Tables are built once, and a process that is forked meanwhile builds its own."""

from __future__ import annotations

import os
import signal
from fractions import Fraction
from threading import Event, Thread

import numpy as np
import pytest

from safeside.exact import Ball, ball
from safeside.noise.blocks import Blocks
from safeside.noise.entropy import system_entropy
from safeside.noise.inversion import Inversion
from safeside.noise.once import once


class Counting:
    """How often a value was computed."""

    times = 0

    @once
    def value(self) -> int:
        """The answer."""
        self.times += 1
        return 42


def test_a_value_is_computed_once_and_kept_for_each_instance() -> None:
    one, other = Counting(), Counting()
    assert (one.value, one.value, one.times, other.times) == (42, 42, 1, 0)
    assert Counting.value.__doc__ == "The answer."


def _fresh(kind: str) -> Inversion | Blocks:
    """A sampler of which no table is built yet."""
    if kind == "blocks":
        return Blocks(Fraction(1, 1000), 4)
    return Inversion(lambda k: ball(Fraction(k, 3)), 3)


@pytest.mark.parametrize("kind", ["one table", "blocks"])
def test_a_child_that_is_forked_while_a_thread_builds_a_table_can_draw(kind: str) -> None:
    building, enough = Event(), Event()

    def slow(k: int) -> Ball:
        building.set()
        enough.wait()
        return ball(Fraction(k, 2))

    thread = Thread(target=lambda: Inversion(slow, 2).draw(1, system_entropy()))
    thread.start()
    building.wait()
    child = os.fork()
    if child == 0:
        # Ends a child that would wait for ever.
        signal.alarm(60)
        ended = 1
        try:
            part = _fresh(kind)
            part.extend(np.zeros(part.numbers, np.uint16), system_entropy())
            ended = 0
        finally:
            os._exit(ended)
    _, status = os.waitpid(child, 0)
    enough.set()
    thread.join()
    assert status == 0, "the child died, or waited for a lock that nobody gives back"
