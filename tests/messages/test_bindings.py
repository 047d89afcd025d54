"""Every message about days, limits and files that bind a dataset: what happened, and what to do next."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.publishing import World
from tests.messages.saying import says

from safeside.errors import SafesideError
from safeside.ledger import open_ledger
from safeside.ledger.witness import STATE_VARIABLE


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    return World.made(tmp_path)


def test_an_instant_at_which_sightings_of_two_days_hold(world: World) -> None:
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.create_dataset("days", "person-day", 1, timezone="UTC")
    with pytest.raises(SafesideError) as caught:
        world.publish("counts", dataset="days", when="2021-06-03T00:02:00+00:00", hold="15min")
    says(
        caught,
        "sightings of the day before still hold: .+ counted where they were the day before",
        "at least the holding time after the day begins, or about an interval, .+ a shorter holding time",
    )
