"""kill -9 at every named step of publishing: the whole release, or a payment that a retry makes good."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.publishing import CONTEXT, KINDS, World, all_steps, in_child, killed_at

from safeside.ledger.witness import STATE_VARIABLE


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    return World.made(tmp_path)


@pytest.mark.parametrize(("kind", "step"), [(kind, step) for kind in KINDS for step in all_steps(kind)])
def test_a_kill_leaves_nothing_unpaid_and_a_retry_gives_one_release(
    world: World, kind: str, step: str
) -> None:
    killed_at(world, kind, step)
    staged = world.staged()
    world.check_after_kill()
    world.check_after_retry(kind, staged)


def test_many_processes_with_one_request_make_one_release(world: World) -> None:
    children = [CONTEXT.Process(target=in_child, args=(str(world.home), "sparse", None)) for _ in range(6)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0] * 6
    world.check_after_kill()
    world.check_after_retry("sparse", None)


def test_killed_again_and_again_at_every_step_in_turn_it_is_still_one_release(world: World) -> None:
    from safeside.releases.publication import STEPS

    for step in STEPS:
        killed_at(world, "sparse", step)
        world.check_after_kill()
    world.check_after_retry("sparse", world.staged())
