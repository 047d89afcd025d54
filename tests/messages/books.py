"""What tests of the ledger's messages share: a ledger with something on it, and how to hear it refuse."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from tests.ledger.stores import NOON, QUESTION, cost

from safeside.errors import (
    SafesideError,
)
from safeside.ledger import Ledger, create_ledger

Act = Callable[[Ledger], object]


SPARSE = cost(2, epsilon_each=Fraction(1))


@pytest.fixture
def book(tmp_path: Path) -> Ledger:
    """Three datasets; one reservation, one release, at noon."""
    made = create_ledger(tmp_path / "ledger.db", now=NOON)
    made.create_dataset("city", "person", 3, "1e-4", now=NOON)
    made.create_dataset("daily", "person-day", 1, timezone="Asia/Tokyo", now=NOON)
    made.create_dataset("town", "person", 3, now=NOON)
    made.reserve("city", "open", QUESTION, cost("1/2"), now=NOON)
    made.commit(made.reserve("city", "done", QUESTION, cost("1/2"), now=NOON), "d1", now=NOON)
    return made


def said(act: Callable[[], object], error: type[SafesideError]) -> tuple[str, str]:
    with pytest.raises(error) as caught:
        act()
    return caught.value.what, caught.value.do
