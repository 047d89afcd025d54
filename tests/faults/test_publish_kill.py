"""kill -9 at every named step of publishing: the whole release, or a payment that a retry makes good."""

from __future__ import annotations

import pytest
from tests.faults.publishing import CAP, CONTEXT, KINDS, World, all_steps, in_child, killed_at

from safeside.errors import BadFile
from safeside.ledger import open_ledger, steps
from safeside.releases.verify import verify


@pytest.mark.parametrize(("kind", "step"), [(kind, step) for kind in KINDS for step in all_steps(kind)])
def test_a_kill_leaves_nothing_unpaid_and_a_retry_gives_one_release(
    world: World, kind: str, step: str
) -> None:
    killed_at(world, kind, step)
    committed = world.committed()
    world.check_after_kill()
    world.check_after_retry(kind, committed)


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
    from safeside.releases.publish_steps import STEPS

    for step in STEPS:
        killed_at(world, "sparse", step)
        world.check_after_kill()
    world.check_after_retry("sparse", world.committed())


@pytest.mark.parametrize("step", steps.OF_AN_EVENT)
def test_a_refusal_that_is_killed_returns_the_reservation_whole_or_not_at_all(
    world: World, step: str
) -> None:
    good = world.spoilt()
    killed_at(world, "counts", steps.of("refuse", step))
    returned = step in (steps.STORED, steps.WITNESSED)
    with open_ledger(world.home / "ledger.db") as ledger:
        assert ledger.remaining("city").epsilon == (CAP if returned else CAP - 1)
        assert (ledger.reservations() == ()) == returned
        ledger.verify()
    with pytest.raises(BadFile):
        world.publish("counts")
    (world.home / "visits.parquet").write_bytes(good)
    world.publish("counts")
    world.check_after_kill()
    with open_ledger(world.home / "ledger.db") as ledger:
        assert ledger.remaining("city").epsilon == CAP - 1


def test_bad_input_in_one_process_and_good_input_in_another_make_one_release_that_is_paid(
    world: World,
) -> None:
    """They race under one request: whoever is refused may not return what the other draws under."""
    good = world.spoilt()
    bad = world.home / "visits.parquet"
    children = [CONTEXT.Process(target=in_child, args=(str(world.home), "counts", None)) for _ in range(6)]
    for number, child in enumerate(children):
        if number == 3:
            fresh = world.home / "fresh.parquet"
            fresh.write_bytes(good)
            fresh.rename(bad)
        child.start()
    for child in children:
        child.join()
    release = world.publish("counts")
    assert verify(world.out, world.home / "key.pub").digest == release.digest
    world.check_after_kill()
    with open_ledger(world.home / "ledger.db") as ledger:
        assert ledger.remaining("city").epsilon == CAP - 1
        kinds = [event.action.kind for event in ledger.history()]
    assert kinds.count("reserve") == 1 + kinds.count("refuse")
    assert kinds.count("commit") == 1
