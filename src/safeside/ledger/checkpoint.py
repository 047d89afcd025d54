"""The snapshot that a checkpoint stands for: an account from which reading can go on.

It holds the sums (datasets, caps, what was spent in each period, tallies, stops) and the root of the index of
everything that has a name. Its digest stands in a `checkpoint` event, which the chain and the witnesses bind.
docs/decisions/ledger-checkpoint.md says who may believe one, and why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from safeside import records
from safeside.ledger.account import Dataset, Group, Tally
from safeside.ledger.index import Index
from safeside.records import Record

if TYPE_CHECKING:
    from safeside.ledger.lookup import Account

EVERY = 500
"""After so many events there is another checkpoint: what a process reads at most when it opens a ledger."""


class Snapshot(Record, frozen=True, kw_only=True):
    """The account at one place of the list."""

    kind: ClassVar[str] = "snapshot"
    ledger: str
    key: str
    index: str
    """The root of the index."""
    datasets: dict[str, Dataset]
    groups: list[Group]
    tallies: dict[str, Tally]
    stopped: dict[str, tuple[str, str, str]]


def snapshot(state: Account) -> bytes:
    """What a checkpoint at this place stands for."""
    groups = {id(group): group for _, group in sorted(state.groups.items())}
    return records.encode(
        Snapshot(
            ledger=state.ledger_id,
            key=state.key,
            index=state.index.settle(),
            datasets=state.datasets,
            groups=list(groups.values()),
            tallies=state.tallies,
            stopped=state.stopped,
        )
    )


def load(state: Account, data: bytes) -> None:
    """Fill an account with what a snapshot holds."""
    kept = records.decode(Snapshot, data)
    state.ledger_id, state.key = kept.ledger, kept.key
    state.datasets, state.tallies, state.stopped = kept.datasets, kept.tallies, kept.stopped
    state.groups = {name: group for group in kept.groups for name in group.members}
    state.index = Index(kept.index, state.node)
