"""A little of the long run in soak/hostile_writers.py: two processes spoil everything beside a publisher."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from soak.hostile_writers import Siege

from safeside.ledger.witness import STATE_VARIABLE


def test_under_attack_nothing_is_signed_that_was_not_drawn_paid_and_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "city" / "state"))
    siege = Siege(tmp_path / "city", random.Random())
    for number in range(3):
        siege.besiege(f"day{number}")
    siege.check()
