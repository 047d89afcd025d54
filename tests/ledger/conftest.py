"""A ledger that several files of tests begin with."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest
from tests.ledger.stores import EVERY, about, cost

from safeside.ledger import Ledger, create_ledger, open_ledger


@pytest.fixture
def long(url: str) -> Iterator[Ledger]:
    """A ledger of several checkpoints, with a stop, a file, a sparse release, a refusal, a link."""
    with create_ledger(url) as made:
        made.create_dataset("city", "person", 100)
        made.create_dataset("town", "person", 50)
        made.create_dataset("port", "person", 10)
    with open_ledger(url, checkpoint_every=EVERY) as made:
        made.link("city", "town")
        stopped = made.reserve("city", "stopped", about(1), cost(1))
        made.read_files(stopped, ["f1"])
        made.stop(stopped)
        sparse = made.reserve("town", "sparse", about(3), cost(2, epsilon_each=Fraction(1, 2)))
        made.commit(sparse, "m-sparse", alarms=1)
        made.give_back(sparse)
        made.refuse("city", "no", about(4), "BadFile")
        for number in range(5, 12):
            made.commit(made.reserve("city", f"r{number}", about(number), cost(1)), f"m{number}")
        made.reserve("city", "open", about(13), cost(1))
        yield made
