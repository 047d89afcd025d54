"""Ctrl-C and SIGTERM at every named step of publishing: ends in good order, says so, and can be repeated."""

from __future__ import annotations

import signal

import pytest
from tests.faults.publishing import World, all_steps, signalled_at

from safeside.ledger import open_ledger, steps
from safeside.releases import publish_steps

AGAIN = "Running the same command again finishes the release and spends nothing more."
UNPAID = [publish_steps.ASKED, *(steps.of("reserve", step) for step in (steps.BEGUN, steps.APPENDED))]


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, 130, "Interrupted."), (signal.SIGTERM, 143, "Ended by a signal.")],
    ids=["SIGINT", "SIGTERM"],
)
@pytest.mark.parametrize(
    ("kind", "step"),
    [("sparse", step) for step in all_steps("sparse")] + [("counts", step) for step in publish_steps.STEPS],
)
def test_a_signal_ends_it_in_good_order_and_a_retry_gives_one_release(
    world: World, kind: str, step: str, number: int, code: int, word: str
) -> None:
    exitcode, said = signalled_at(world, kind, step, number)
    assert exitcode == code, said
    assert "Traceback" not in said
    with open_ledger(world.home / "ledger.db") as ledger:
        paid = ledger.reservations("city")
    if step in UNPAID:
        assert not paid
        assert said.endswith(f"{word} Nothing was published, and nothing was spent.")
    elif world.out.exists():
        assert f'{word} The release is published, in "{world.out}". {AGAIN}' in said
    else:
        expected = f"{word} Nothing was published. The budget is reserved for the request {paid[0].request}."
        assert said.endswith(f"{expected} {AGAIN}")
    committed = world.committed()
    world.check_after_kill()
    assert not list(world.home.rglob("*.appearing"))
    assert not list(world.home.rglob("*.lock"))
    world.check_after_retry(kind, committed)
