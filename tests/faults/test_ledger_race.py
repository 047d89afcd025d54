"""Many processes on one ledger: the total is exact, nothing is overdrawn, no event is lost.

The long run, with 64 processes, is `soak/ledger_race.py`; it uses the same race.
"""

from __future__ import annotations

import pytest
from soak.ledger_race import race


@pytest.mark.parametrize("room", [1, 2])
def test_a_race_for_the_budget(url: str, room: int) -> None:
    """With half the room that is asked for, every second spend has to be refused; with all of it, none."""
    result = race(url, processes=8, spends=120, room=room)
    assert result.problems == ()
    assert (result.refused > 0) == (room == 1)
