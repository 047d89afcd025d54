"""One ledger as a process sees it: the store, the witnesses, and the account folded from both.

Everything that reads or adds events goes through `Chain`, so that three things are always done in the same
order: take the turn, read what others added, look for events that are missing. A process begins at the last
checkpoint that every witness has (docs/decisions/ledger-checkpoint.md), and from the first event where there
is none: beginning later is only ever a shorter way to the same account.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from safeside import records
from safeside.errors import SafesideError
from safeside.ledger import addresses, checkpoint, events, rules, steps
from safeside.ledger.events import Action, Event, Head
from safeside.ledger.lookup import check_documents, in_parts
from safeside.ledger.refusals import exchanged, forked, tampered
from safeside.ledger.state import State
from safeside.ledger.store import Draw, Glance, Identity, Rows, Store
from safeside.ledger.witness import Line, Witness, witness_of

_GROWN: Final = 10_000
"""After so many events the account begins anew at a checkpoint, so that it does not fill the memory."""


Behind = tuple[Witness, int, list[Event], dict[str, str]]
"""A witness, its open file, and the events and documents that it has not been told."""
Recorded = Action | Sequence[Action]
"""What is to be added, in order; nothing where what was asked is recorded already."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """What reading everything found."""

    events: int
    head: Head
    forgotten: int
    """Events that a witness holds and this ledger does not; while there are any, none is added."""
    untold: dict[Path, int]
    """Witnesses that lack events, and the first that each lacks; the next event completes them."""


class Chain:
    """The list of events, shared with every other process that has it open."""

    def __init__(self, store: Store, *, checkpoint_every: int = checkpoint.EVERY) -> None:
        self.store = store
        store.upgrade()
        with store.read() as rows:
            self.identity: Identity = rows.identity()
        paths = [witness_of(self.identity.ledger_id)]
        if store.beside is not None:
            paths.insert(0, store.beside)
        self._witnesses = [Witness(path) for path in paths]
        store.queue = store.queue or paths[-1].with_suffix(".queue")
        self._given: list[Witness] = []
        """Witnesses of other machines, which are read and not written."""
        self.addresses = store.addresses()
        self._exchanged = addresses.others(self.addresses, self.identity.ledger_id)
        self._noted = False
        """Whether this process has seen to it that these addresses are remembered."""
        self._every = checkpoint_every
        self._state = State()
        self._begun = False
        """Whether it is decided where the account and the witnesses are read from."""
        self._everything = False
        """Whether that has to be the first event."""
        self._stored: Head = events.NOTHING
        """Up to where the account in memory is known to be in the database."""
        self._seen: Head = events.NOTHING
        """The last event this process ever read: a memory that no backup can turn back."""
        self._kept: set[str] = set()
        """Documents that this process saw or put into the database it reads. Whoever deletes one there again
        spoils what was recorded before, too: `verify` says so, and a witness has its words."""
        self._lost: dict[str, Line] = {}
        self.held = threading.RLock()
        """By one thread until it has looked at what it recorded: another folds what witnesses alone say."""

    @contextmanager
    def reading(self) -> Iterator[tuple[State, Rows]]:
        """The account as it is now. The witnesses are looked at first, so they cannot be ahead by chance."""
        with self.held:
            self._look()
            with self._forgetting(), self.store.read() as rows:
                self._catch_up(rows)
                yield self._state, rows

    def check(self) -> Checked:
        """Read every event, every document and every line of the witnesses; LedgerTampered names the first
        event that cannot be true."""
        with self.held:
            self._look()
            with self.store.read() as rows:
                state = State()
                for row in in_parts(rows, rows.glance(0).head.number):
                    check_documents(rows, state.read(*row))
                    if not events.is_canonical(row[2]):
                        raise tampered(row[0], "it is not canonical JSON")
                self._everything = True
                self._begin(state)
                self._catch_up(rows)
                last = state.head.number
                untold = {one.path: one.number + 1 for one in self._witnesses if one.number < last}
                return Checked(events=last, head=state.head, forgotten=len(self._lost), untold=untold)

    def read_everything(self) -> None:
        """Begin at the first event, and at the first line of each witness."""
        with self.held:
            self._everything, self._begun = True, False
            self.head()

    def head(self) -> Head:
        """The last event."""
        with self.reading() as (state, _):
            return state.head

    def lost(self) -> list[Line]:
        """Events that were stored once and are not on this chain, oldest first."""
        return sorted(self._lost.values(), key=lambda line: (line.head.number, line.head.digest))

    def find_document(self, digest: str) -> str | None:
        """A document that the database has lost, from a witness."""
        bodies = (one.document(digest) for one in (*self._witnesses, *self._given))
        return next((body for body in bodies if body is not None), None)

    def record(
        self,
        kind: type[Action],
        decide: Callable[[State], Recorded],
        now: datetime | None,
        *,
        documents: Mapping[str, str | None] | None = None,
        draw: Draw | None = None,
        recovering: bool = False,
    ) -> State:
        """Take the turn, decide on what is there, append, and let the witnesses know.

        Of the documents those are kept that what is recorded speaks of. The key of a draw is stored with its
        commit: no event and no witness may hold one. The clock is read under the lock: read before it, it
        would be behind whoever came first. `recovering` is for a ledger that has lost events, to which
        nothing else is added.
        """
        name = events.kind_of(kind)
        with self.held:
            if not self._begun:
                # The first reading is the longest: not while others wait for us.
                self.head()
            # Witnesses are flushed when the turn is over: whoever is next need not wait for that.
            with ExitStack() as told, self._forgetting(), self.store.turn(self._prepare):
                with self.store.alone() as rows:
                    self._look()
                    self._catch_up(rows)
                    if not recovering and (self._lost or not self._state.holds(self._seen)):
                        raise forked(self.store.where, max(1, len(self._lost)))
                    steps.reached(steps.of(name, steps.BEGUN))
                    decided = decide(self._state)
                    actions = [decided] if isinstance(decided, Action) else decided
                    length = self._state.head.number + len(actions) - self._state.kept.number
                    due = not recovering and length >= self._every
                    if not actions and not (due and kind is events.Checkpoint):
                        # It may have been recorded by a run that has not told the witnesses, and never will.
                        self._testify(self._behind(rows, {}, told), [])
                        return self._state
                    spoken_of = {one for action in actions for one in events.documents_of(action)}
                    found = (documents or {}).items()
                    new = {one: body for one, body in found if body is not None and one in spoken_of}
                    behind = self._behind(rows, new, told)
                    for digest, body in new.items():
                        if digest not in self._kept:
                            rows.keep(digest, body)
                    added = [self._append(rows, action, now) for action in actions]
                    if due:
                        added.append(self._append_checkpoint(rows, now))
                    for action in actions:
                        if draw is not None and isinstance(action, events.Committed):
                            rows.keep_draw(action.reservation, draw)
                    steps.reached(steps.of(name, steps.APPENDED))
                self._stored = self._seen = self._state.head
                self._kept |= new.keys()
                steps.reached(steps.of(name, steps.STORED))
                self._testify(behind, added)
            steps.reached(steps.of(name, steps.WITNESSED))
            return self._state

    def _prepare(self) -> None:
        """Fold what others have added while one of them still writes: little is left to do in our turn.

        It is read from the witnesses, which nobody has to lock; in our turn the database is asked whether it
        has the same. Where others have added much, a checkpoint may save reading it, and that is seen in our
        turn. Whatever is wrong is found again, and said, there.
        """
        try:
            if self._begun:
                self._look()
            if not self._begun:
                return
            with self.store.peek() as rows:
                state, self._stored = self._state, events.NOTHING
                state.source = rows
                for witness in self._witnesses:
                    new = witness.after(state.head.number)
                    if len(new) >= self._every:
                        return
                    # Whoever holds the turn may be waiting for this processor.
                    state.read_all(new, pause=os.sched_yield)
                self._compare()
        except BaseException as error:
            # Interrupted in the middle of an event, too, the account is not what it should be.
            self._begun = False
            if not isinstance(error, SafesideError):
                raise

    def hear(self, path: Path) -> None:
        """Compare with the witness of another machine, too."""
        with self.held:
            self._given.append(Witness(path))
            self.read_everything()

    def testify(self) -> None:
        """Tell the witnesses what they have not been told, without adding anything."""
        with self.held, ExitStack() as told:
            with self.reading() as (_, rows):
                behind = self._behind(rows, {}, told)
            self._testify(behind, [])

    def restore(self, line: Line) -> None:
        """Append a lost event exactly as it was; it follows the head, so the chain is what it was."""
        with self.held, self._forgetting(), self.store.write() as rows:
            self._catch_up(rows)
            if events.parse(line.body).previous != self._state.head.digest:
                return
            self._stored = events.NOTHING
            event = self._state.read(line.head.number, line.head.digest, line.body)
            for digest in events.documents_of(event.action):
                body = self.find_document(digest)
                if body is not None:
                    rows.keep(digest, body)
            rows.append(event)
        self._stored = self._state.head

    def forget_draw(self, reservation: str) -> None:
        """Delete the key of a draw whose release has appeared."""
        with self.held, self.store.write() as rows:
            rows.forget_draw(reservation)

    @contextmanager
    def _forgetting(self) -> Iterator[None]:
        """What was added in memory and not stored is not trusted, but read again."""
        try:
            yield
        except BaseException as error:
            # An interruption may come before the head has moved.
            if self._state.head != self._stored or not isinstance(error, SafesideError):
                self._begun = False
            raise

    def _look(self) -> None:
        """How long the witnesses are now; from the beginning where one is not the file that was read."""
        for witness in (*self._witnesses, *self._given):
            if not witness.refresh_size():
                self._begun = False

    def _catch_up(self, rows: Rows) -> None:
        """Fold what was added since; begin again if the database is no longer the one that was read."""
        self._stored = events.NOTHING
        there = rows.glance(self._state.head.number, ahead=self._every if self._begun else 0)
        new = there.new
        if not self._begun or not self._continues(there):
            for witness in self._witnesses:
                witness.find_marks()
            heads = [] if self._everything else [one for one in rows.snapshots() if self._is_vouched(one)]
            # The newest checkpoint that can be believed.
            states = (State.at(head, rows) for head in heads)
            self._begin(next((state for state in states if state is not None), State()))
            new = []
        state = self._state
        state.source = rows
        head, identity = there.head, there.identity
        state.read_all(new)
        if there.last > state.head.number:
            state.read_all(rows.events(state.head.number + 1))
        if head != state.head:
            raise tampered(min(head.number, state.head.number) + 1, "the ledger ends elsewhere")
        if (state.ledger_id, state.key) != (identity.ledger_id, events.digest(identity.fingerprint_key)):
            raise tampered(1, "it belongs to another ledger, or its fingerprint key was exchanged")
        self._stored = head
        if state.holds(self._seen):
            self._seen = head
        self._compare()

    def _begin(self, state: State) -> None:
        """From here on the account is this one, and the witnesses are read from where it begins."""
        self._state, self._begun = state, True
        self._kept.clear()
        for witness in self._witnesses:
            witness.begin(state.base if state.base in witness.marks else None)
        for witness in self._given:
            witness.begin()

    def _continues(self, there: Glance) -> bool:
        """Whether the account in memory is of the list that is there, and no checkpoint saves reading."""
        known, newest = self._state.head, there.snapshot
        if known.number and there.known != known.digest:
            return False
        if self._everything or newest is None:
            return True
        ahead = newest.number > known.number or newest.number > self._state.base.number + _GROWN
        return not ahead or not self._is_vouched(newest)

    def _is_vouched(self, head: Head) -> bool:
        """Whether every witness there is was compared with the chain up to this checkpoint."""
        there = [one for one in self._witnesses if one.size]
        return bool(there) and all(head in one.marks for one in there)

    def _compare(self) -> None:
        """Which of the events that were ever stored are not here?"""
        if self._exchanged:
            raise exchanged()
        state, self._begun = self._state, False
        for witness in (*self._witnesses, *self._given):
            for line in witness.news(state.recent, state.checkpoint):
                if line.head.number > state.checkpoint.number:
                    witness.is_later(line.start, state.checkpoint)
                if state.passes(line.head):
                    witness.number += line.head.number == witness.number + 1
                elif not state.holds(line.head):
                    self._lost[line.head.digest] = line
        # Lines that an error kept from being compared are read again.
        self._begun = True
        for digest in [one for one, line in self._lost.items() if state.holds(line.head)]:
            del self._lost[digest]

    def _append(self, rows: Rows, action: Action, now: datetime | None) -> Event:
        event = events.make(self._state.head, rules.date(self._state, action, now), action)
        self._stored = events.NOTHING
        self._state.apply(event)
        rows.append(event)
        return event

    def _append_checkpoint(self, rows: Rows, now: datetime | None) -> Event:
        state = self._state
        body = state.snapshot()
        event = self._append(rows, events.Checkpoint(snapshot=records.digest(body)), now)
        rows.keep_snapshot(event.head, body.decode(), state.index, whole=not state.kept.number)
        state.kept = event.head
        return event

    def _behind(self, rows: Rows, new: dict[str, str], told: ExitStack) -> list[Behind]:
        """What each witness has not been told, for instance because a process was killed before it could.

        One that cannot be written is refused now, before an event is stored; all are flushed with `told`.
        """
        behind = []
        for witness in self._witnesses:
            handle = told.enter_context(witness.opened())
            missed = rows.events(witness.number + 1) if witness.number < self._state.head.number else []
            known = [events.stored(*row) for row in missed]
            for event in known:
                # What lies before the checkpoint was not read: a witness is told nothing that is not true.
                if not self._state.passes(event.head):
                    raise tampered(event.number, "it is not what was written")
            wanted = {one for event in known for one in events.documents_of(event.action)}
            found = ((one, rows.document(one)) for one in sorted(wanted - new.keys()))
            # Nor words that are not what was asked: a line break in them would begin a line of its own.
            there = {one: body for one, body in found if body is not None and events.digest(body) == one}
            lacking = {one: body for one, body in (there | new).items() if self._lacks(witness, one)}
            behind.append((witness, handle, known, lacking))
        return behind

    def _lacks(self, witness: Witness, document: str) -> bool:
        """Whether a witness may not hold a document: it was not read there, and is of no earlier event."""
        first = self._state.lookup("document", document)
        return document not in witness.documents and (first is None or first > witness.base)

    def _testify(self, behind: list[Behind], added: list[Event]) -> None:
        last = self._state.checkpoint
        compared = last if last.number and not self._lost else None
        for witness, handle, missed, documents in behind:
            witness.add(handle, self.identity, missed + added, documents, compared)
        if not self._noted:
            addresses.note(self.addresses, self.identity.ledger_id)
            self._noted = True
