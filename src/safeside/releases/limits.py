"""Limits that a question is asked with: fixed with the dataset, never found by trial.

The most places of one person, K, and the most people there are, N, are published. Raised after a release
stopped because of them, they are the data's own maximum, published: the ratio is infinite, whatever is
charged (docs/definitions.md). So a question is asked with the dataset's limits or with none, and after a stop
its time is closed to every other question (`ledger.rules.require_open`).
"""

from __future__ import annotations

from typing import Final

from safeside.errors import LimitBroken
from safeside.visits import Counts

CLOSED: Final = (
    'Nothing was published. The budget stays reserved for the request "{request}", and the time it asked '
    "about is closed to every other question, value and method: once rows that were wrong are repaired, "
    "running the same command again finishes it and spends nothing more."
)


def require_within(counts: Counts, people: int | None, *, allow_nobody: bool) -> None:
    """Stop where a count breaks a limit; by how much, or where, is not said."""
    if people is not None and int(counts.values.max()) > people:
        raise LimitBroken(
            f"A count is larger than {people}, the number of people that the dataset was made with.",
            "Look for rows that are wrong: two sources under one list of places, or several people's "
            "identifiers for one.",
        )
    if not allow_nobody and not counts.values.any():
        raise LimitBroken(
            "Nobody in these visits was at any of the places at the time asked about "
            f"({counts.window.text}).",
            "Check that the file is of that day and that `timezone=` is right. If nobody was there, confirm "
            "it with `allow_nobody=True`; that is not published.",
        )
