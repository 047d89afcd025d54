"""The account: what the events add up to, and which event may come next.

There is no table of balances that could disagree with the list of events. Every process folds the list
itself, from its beginning or from a checkpoint that the witnesses know, and the rules that decide whether a
new event is allowed (`rules`) are those by which an old one is believed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from safeside import records
from safeside.errors import LedgerTampered, MadeByNewer, SafesideError
from safeside.ledger import checkpoint, events, other_branch, rules
from safeside.ledger.account import (
    Dataset,
    Group,
    Impossible,
    Reservation,
    Stage,
    Tally,
    looked_at,
    same_question,
)
from safeside.ledger.checkpoint import Broken
from safeside.ledger.events import Event, Head
from safeside.ledger.lookup import Account, event_at, in_parts
from safeside.ledger.refusals import tampered
from safeside.ledger.store import Row, Rows
from safeside.privacy.account import Budget

_AT_ONCE: Final = 4
"""So many events are folded between two pauses."""


@dataclass(kw_only=True)
class State(Account):
    """The account as a fold of events."""

    @classmethod
    def at(cls, head: Head, rows: Rows) -> State | None:
        """The account at a checkpoint that the witnesses know; None where what is stored is not that one."""
        snapshot = rows.snapshot(head.number)
        try:
            event = event_at(rows, head.number, head.digest)
            action = event.action
            if not isinstance(action, events.Checkpoint) or events.digest(snapshot) != action.snapshot:
                return None
            state = cls(source=rows, base=head, checkpoint=head, kept=head, head=head, time=event.time)
            checkpoint.load(state, snapshot.encode())
        except (LedgerTampered, ValueError):
            # For instance a sum with more digits than are read: the events themselves are added up instead.
            return None
        state.digests[head.number] = head.digest
        return state

    def read_all(self, rows: Sequence[Row], pause: Callable[[], object] = lambda: None) -> None:
        """Fold rows, with a pause now and then. What they look up is fetched in few steps, not one by one."""
        found: list[Event] = []
        with suppress(SafesideError):
            # What cannot be read is found in its turn.
            found.extend(events.stored(*row) for row in rows if self.base.number)
        paid = [one.action for one in found if isinstance(one.action, events.Reserved)]
        self.index.soon = [f"request {one.request}" for one in paid]
        for number, event in enumerate(found):
            if number % _AT_ONCE == 0:
                pause()
            self._add(event)
        for row in rows[len(found) :]:
            self.read(*row)

    def read(self, number: int, digest: str, body: str) -> Event:
        """Fold one stored row; LedgerTampered names the first event that cannot be true."""
        return self._add(events.stored(number, digest, body))

    def _add(self, event: Event) -> Event:
        number, expected = event.number, self.head.number + 1
        if number != expected:
            raise tampered(expected, "it is missing")
        if event.previous != self.head.digest:
            raise tampered(number, "it does not follow the event before it")
        try:
            self.apply(event)
        except MadeByNewer:
            raise
        except Impossible as why:
            raise tampered(number, str(why)) from None
        except SafesideError as error:
            raise tampered(number, error.what.rstrip(".")) from None
        except (ValueError, RecursionError):
            raise tampered(number, "its terms are not the ledger's") from None
        if self.base.number and isinstance(event.action, events.Checkpoint):
            # Whoever wrote it stored its snapshot with it.
            self.index.stored()
            self.kept = event.head
        return event

    def apply(self, event: Event) -> None:
        """Fold the next event in; an error where the rules do not allow it."""
        self.folding = True
        try:
            self._fold(event)
        except Broken:
            # Whatever was half done goes with the rest.
            self.complete()
            self._fold(event)
        finally:
            self.folding = False

    def _fold(self, event: Event) -> None:
        action = event.action
        rules.may_follow(self, action, event.time)
        match action:
            case events.LedgerCreated():
                self.ledger_id, self.key = action.ledger, action.key
            case events.DatasetCreated():
                rules.may_create(self, action)
                self.add_dataset(action, event)
            case events.Reserved():
                rules.may_reserve(self, action)
                self.charge(action, event, action.request, event.head)
            case events.OfReservation():
                self._under(self.known(action.request, action.reservation), action)
            case events.Recharged():
                self.charge_again(action, event, action.request, event.head, manifest=action.manifest)
            case events.FilesRead():
                rules.require_own_files(self, action.dataset, action.files)
                self.add_files(action)
            case events.Refused():
                self._refuse(action)
            case events.Linked():
                rules.may_link(self, action.first, action.second)
                self.unite(self.group(action.first), self.group(action.second), event)
            case events.Found():
                self.complete()
                other_branch.carry_over(self, action, event)
            case events.Checkpoint():
                if records.digest(checkpoint.snapshot(self)) != action.snapshot:
                    raise Impossible("it is not the checkpoint of the account at its place")
                self.checkpoint = event.head
        for document in events.documents_of(action):
            if self.lookup("document", document) is None:
                self.index.set(f"document {document}", event.number)
        self.head, self.time = event.head, event.time
        self.digests[event.number] = event.digest
        self.recent.append(event)

    def complete(self) -> None:
        """Fold everything from the beginning, where the checkpoint is not enough."""
        if self.base.number == 0:
            return
        whole = State()
        for row in in_parts(self.source, self.head.number):
            whole.read(*row)
        if whole.head != self.head:
            raise tampered(whole.head.number + 1, "it is missing")
        for one in fields(self):
            if one.name not in ("source", "folding"):
                setattr(self, one.name, getattr(whole, one.name))

    def snapshot(self) -> bytes:
        """What a checkpoint at this place stands for."""
        try:
            return checkpoint.snapshot(self)
        except Broken:
            self.complete()
            return checkpoint.snapshot(self)

    def add_dataset(self, action: events.DatasetCreated, event: Event) -> None:
        """A dataset with an account of its own."""
        caps = rules.usable(action.caps)
        declared = msgspec.structs.asdict(action) | {"caps": caps}
        self.datasets[action.name] = Dataset(created=event.time, **declared)
        self.groups[action.name] = Group(
            members=(action.name,), unit=caps.unit, timezone=caps.timezone, cap=caps.budget
        )
        self.tallies[action.name] = Tally()

    def charge(self, action: events.Charged, event: Event, request: str, words: Head) -> Reservation:
        """Take the price from the account, whether or not it fits."""
        made = self.made(action, event, request, words)
        self.group(action.dataset).charge(action.cost.accounts, action.charged)
        self.paid[event.digest] = request
        self._put(None, made)
        return made

    def charge_again(
        self, action: events.Charged, event: Event, request: str, words: Head, *, manifest: str | None = None
    ) -> Reservation:
        """Charge what was published or may have been, whether or not it fits; nothing of it comes back."""
        rules.may_charge_again(self, action, request)
        paid = self.charge(action, event, request, words)
        stage = Stage.RESERVED if manifest is None else Stage.COMMITTED
        return self.change(paid, recharged=True, stage=stage, manifest=manifest)

    def change(self, before: Reservation, **more: Any) -> Reservation:
        """The reservation with some of its fields changed."""
        after = replace(before, **more)
        self._put(before, after)
        return after

    def _put(self, before: Reservation | None, after: Reservation) -> None:
        tally, request = self.tallies[after.dataset], after.request
        self.cached[request] = after
        if before is None:
            tally.add(after)
            same = same_question(after.question)
            if same is not None:
                self.asking.setdefault(same, []).append(request)
        else:
            tally.change(before, after)
        if after.manifest is not None and (before is None or before.manifest is None):
            group = self.group(after.dataset)
            group.published = group.published.then(after.reference)
            self.index.set(f"manifest {after.manifest}", request)
        if after.stopped:
            self.stopped[request] = (after.dataset, *looked_at(after.question))
        else:
            self.stopped.pop(request, None)
        self.changed.add(request)

    def add_files(self, action: events.FilesRead) -> None:
        """These files belong to a dataset."""
        self.dataset(action.dataset)
        for file in action.files:
            owners = {*(self.lookup("file", file) or ()), action.dataset}
            self.index.set(f"file {file}", sorted(owners))

    def _under(self, one: Reservation, action: events.OfReservation) -> None:
        """What was done under a reservation."""
        match action:
            case events.Resumed():
                rules.require(rules.endable(self, one), "its reservation cannot go back anyway")
                self.change(one, resumed=True)
            case events.Committed():
                rules.may_commit(one, action)
                self.fix(one, action)
            case events.Returned():
                rules.may_return(self, one, action.epsilon)
                self.group(one.dataset).credit(one.cost.accounts, Budget(epsilon=action.epsilon))
                self.change(one, returned=action.epsilon)
            case events.Stopped():
                rules.require(rules.stoppable(one), "it stops what was drawn")
                self.change(one, stopped=True)
            case events.Withdrawn():
                rules.may_withdraw(one, one.request)
                self.change(one, stage=Stage.WITHDRAWN)

    def fix(self, one: Reservation, action: events.Committed) -> None:
        """This is what was drawn under an open reservation."""
        self.change(
            one,
            stage=Stage.COMMITTED,
            stopped=False,
            manifest=action.manifest,
            alarms=action.alarms,
            fingerprint=action.fingerprint,
        )

    def _refuse(self, action: events.Refused) -> None:
        if action.ends is not None:
            one = self.known(action.request, action.ends)
            own = rules.may_end(self, one, action.dataset)
            rules.require(own, "it returns what may have been drawn")
            self.group(one.dataset).credit(one.cost.accounts, one.charged, undo=True)
            self.tallies[one.dataset].remove(one)
            self.ended[one.digest] = self.cached.pop(action.request)
            self.paid.pop(one.digest, None)
            self.changed.discard(action.request)
            self.index.set(f"request {action.request}", None)
        self.index.set(f"refusal {action.request}", rules.refusal_key(action))

    def unite(self, one: Group, two: Group, event: Event) -> None:
        """Two accounts of the same people become one, with the smaller caps."""
        both = Group(
            members=tuple(sorted(one.members + two.members)),
            unit=one.unit,
            timezone=one.timezone,
            cap=one.cap.least(two.cap),
            peak=one.peak.most(two.peak),
            published=one.published.together(two.published),
            linked=event.number,
            closed=one.closed or two.closed,
        )
        # What came back before the link is not counted: see `rules.returnable`.
        for group in (one, two):
            for period, amount in group.gross.items():
                both.charge((period,), amount)
        for name in both.members:
            self.groups[name] = both
