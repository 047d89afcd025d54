"""What an account holds, and how it is looked up: in memory, or in what a checkpoint stands for.

An account that began at a checkpoint has sums in memory, and finds everything that has a name (a request, a
release, a file, a question) in the index, which proves what it says. Where a part of the index is missing or
altered, or a question can only be answered by the whole list, `complete` folds the list from its beginning.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any, Final

from msgspec.structs import replace

from safeside import records
from safeside.errors import LedgerForked, LedgerMissing
from safeside.ledger import events
from safeside.ledger.account import Dataset, Group, Reservation, Stage, Tally, skeleton
from safeside.ledger.checkpoint import Broken, Index
from safeside.ledger.events import Event, Head
from safeside.ledger.refusals import tampered
from safeside.ledger.store import Row, Rows
from safeside.records import Part

_PART: Final = 5000
_RECENT: Final = 100


class Entry(Part, frozen=True, kw_only=True):
    """A reservation as the index holds it: where its words stand, and what came of it since."""

    number: int
    digest: str
    words: tuple[int, str]
    stage: Stage
    manifest: str | None = None
    alarms: int | None = None
    fingerprint: str | None = None
    returned: Fraction | None = None
    recharged: bool = False
    resumed: bool = False
    stopped: bool = False


_SINCE: Final = tuple(name for name in Entry.__struct_fields__ if name not in ("number", "digest", "words"))
"""What came of a reservation, under the same names there and here."""


@dataclass(kw_only=True)
class Account:
    """Everything that follows from the events read so far."""

    source: Rows = field(default_factory=lambda: Rows(lambda *_: []))
    """Where an account that began at a checkpoint finds what came before: the transaction that is open."""
    folding: bool = False
    """Whether an event is being folded: then nothing may be replaced under it."""
    base: Head = events.NOTHING
    """The checkpoint it began at; where it is the beginning, everything is in memory."""
    checkpoint: Head = events.NOTHING
    """The last checkpoint of the chain."""
    kept: Head = events.NOTHING
    """The last checkpoint whose snapshot is in the database, as far as this account relies on it."""
    ledger_id: str = ""
    key: str = ""
    """The digest of the key under which input files are fingerprinted."""
    head: Head = events.NOTHING
    time: datetime | None = None
    recent: deque[Event] = field(default_factory=lambda: deque(maxlen=_RECENT))
    """The last events, with which the witnesses are compared word for word."""
    digests: dict[int, str] = field(default_factory=dict)
    datasets: dict[str, Dataset] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    tallies: dict[str, Tally] = field(default_factory=dict)
    stopped: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """Requests that stopped at a limit: their dataset, and the time that stays closed."""
    index: Index = field(default_factory=Index)
    """What is looked up by a key: requests, releases, files, questions, documents, refusals."""
    cached: dict[str, Reservation] = field(default_factory=dict)
    """Reservations in memory; all of them where the account began at the beginning."""
    changed: set[str] = field(default_factory=set)
    """Those of them that the index does not hold as they are now."""
    asking: dict[str, list[str]] = field(default_factory=dict)
    """Requests by what they ask, those that the index does not hold."""
    paid: dict[str, str] = field(default_factory=dict)
    """Under which request id the charge of an event stands, by its digest. This and what follows is complete
    only where the account began at the beginning."""
    ended: dict[str, Reservation] = field(default_factory=dict)
    """Reservations that went back in full, by that digest: charged again if one turns out to be drawn."""
    accounted: set[str] = field(default_factory=set)
    """Digests of events of other branches whose words stand in a `found` event of this one."""

    def holds(self, head: Head) -> bool:
        """Whether this chain passes through that event, or has accounted for it since."""
        if head.number == 0 or head.digest in self.accounted or self.passes(head):
            return True
        if self.base.number:
            self.complete()
        return head.digest in self.accounted

    def passes(self, head: Head) -> bool:
        """Whether that event is one of this chain's own: below the base, by its digests read backwards."""
        if 0 < head.number <= self.base.number and head.number not in self.digests:
            self._walk_back(head.number)
        return self.digests.get(head.number) == head.digest

    def _walk_back(self, number: int) -> None:
        lowest = min(self.digests)
        previous = self.digests[lowest]
        for row in reversed(self.source.events(number, lowest)):
            at, digest, _ = row
            if digest != previous:
                raise tampered(at, "it does not lead to the checkpoint after it")
            self.digests[at], previous = digest, events.stored(*row).previous
        if number not in self.digests:
            raise tampered(number, "it is missing")

    def complete(self) -> None:
        """Know everything, not only what follows from a checkpoint."""
        raise NotImplementedError

    def lookup(self, kind: str, name: str) -> Any:
        """What the index holds under a name; None where it is certain that it holds nothing."""
        try:
            return self.index.get(f"{kind} {name}")
        except Broken:
            if self.folding:
                raise
            self.complete()
            return self.index.get(f"{kind} {name}")

    def reservation(self, request: str) -> Reservation | None:
        """The reservation made for a request, at its present stage."""
        if request not in self.cached and self.base.number:
            entry = self.lookup("request", request)
            if entry is not None and self.base.number:
                self.cached[request] = self._load(request, records.convert(Entry, entry))
        return self.cached.get(request)

    def asked(self, same: str) -> list[str]:
        """The requests that asked this of the same time, oldest first."""
        # One that went back and was asked again stands here twice.
        return list(dict.fromkeys([*(self.lookup("asks", same) or []), *self.asking.get(same, ())]))

    def settle(self) -> None:
        """Bring the index up to date."""
        self.index.soon = [f"asks {same}" for same in self.asking]
        for same in self.asking:
            self.index.set(f"asks {same}", self.asked(same))
        self.asking.clear()
        for request in self.changed:
            one = self.cached[request]
            since = {name: getattr(one, name) for name in _SINCE}
            words = (one.words.number, one.words.digest)
            entry = Entry(number=one.number, digest=one.digest, words=words, **since)
            self.index.set(f"request {request}", records.to_json(entry))
        self.changed.clear()
        self.index.settle()

    def reservations(self) -> list[Reservation]:
        """Every reservation, oldest first."""
        self.complete()
        return list(self.cached.values())

    def _load(self, request: str, entry: Entry) -> Reservation:
        """A reservation from the words of its event, which the index names by their digest."""
        words = event_at(self.source, *entry.words)
        at = event_at(self.source, entry.number, entry.digest)
        paid = words.action.lost().action if isinstance(words.action, events.Found) else words.action
        assert isinstance(paid, events.Charged)
        since = {name: getattr(entry, name) for name in _SINCE}
        return replace(self.made(paid, at, request, words.head), **since)

    def known(self, request: str, digest: str) -> Reservation:
        """The reservation of that digest at its present stage."""
        found = self.reservation(request)
        if found is None or found.digest != digest:
            raise LedgerForked(
                f'The reservation for the request "{request}" is not in this ledger.',
                "Nothing was published. The ledger was restored or replaced since: run "
                "`safeside.recover_ledger(...)`, then run the same command again.",
            )
        return found

    def dataset(self, name: str) -> Dataset:
        """The dataset of that name, or the names there are."""
        if name in self.datasets:
            return self.datasets[name]
        there = ", ".join(f'"{one}"' for one in sorted(self.datasets)) or "none"
        near = [one for one in self.datasets if skeleton(one) == skeleton(name)]
        hint = f'Did you mean "{near[0]}"? ' if near else ""
        raise LedgerMissing(
            f'The ledger has no dataset called "{name}".',
            f"{hint}It has: {there}. A dataset is made with `ledger.create_dataset(...)`; publishing never "
            "makes one.",
        )

    def group(self, dataset: str) -> Group:
        """The account a dataset draws on."""
        self.dataset(dataset)
        return self.groups[dataset]

    def made(self, action: events.Charged, event: Event, request: str, words: Head) -> Reservation:
        return Reservation(
            ledger_id=self.ledger_id,
            request=request,
            reference=action.reference,
            dataset=action.dataset,
            question=action.question,
            cost=action.cost,
            charged=action.charged,
            number=event.number,
            digest=event.digest,
            time=event.time,
            words=words,
        )


def event_at(source: Rows, number: int, digest: str) -> Event:
    """The event of that number, if it is the one of that digest; LedgerTampered where it is not."""
    rows = source.events(number, number)
    if not rows or rows[0][1] != digest:
        raise tampered(number, "it is not what was written")
    return events.stored(*rows[0])


def in_parts(source: Rows, last: int) -> Iterator[Row]:
    """Every row up to a number, not all of them in memory at once."""
    for first in range(1, last + 1, _PART):
        yield from source.events(first, min(last, first + _PART - 1))


def links(source: Rows, last: Head) -> Iterator[Event]:
    """Every event up to the last, each shown to lead to the next; LedgerTampered where one does not."""
    previous = events.BEFORE_ALL
    for row in in_parts(source, last.number):
        event = events.stored(*row)
        if event.previous != previous:
            raise tampered(event.number, "it is not what was written")
        previous = event.digest
        yield event
    if previous != last.digest:
        raise tampered(last.number, "it is not what was written")


def check_documents(rows: Rows, event: Event) -> None:
    """Every long part of a question is there, and is what was asked."""
    for key in events.documents_of(event.action):
        body = rows.document(key)
        if body is None or events.digest(body) != key:
            raise tampered(event.number, "a part of its question is missing or was altered")
