"""One ledger as a process sees it: the store, the witnesses, and the account folded from both.

Everything that reads or adds events goes through `Chain`, so that three things are always done in the same
order: take the turn, read what others added, look for events that are missing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from safeside.errors import BadQuestion, ClockBackwards, LedgerForked
from safeside.ledger import events, places, steps
from safeside.ledger.events import Event, Happening, Head
from safeside.ledger.state import SLACK_SECONDS, State, tampered
from safeside.ledger.store import Draw, Identity, Row, Rows, Store, begin
from safeside.ledger.witness import Line, Witness, witness_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What to record, in order; nothing where what was asked is recorded already."""

    happenings: tuple[Happening, ...] = ()
    documents: dict[str, str] = field(default_factory=dict)
    draws: dict[str, Draw] = field(default_factory=dict)
    """Keys to store with them, by the digest of the reservation: no event and no witness may hold one."""


Decide = Callable[[State], Decision]


class Chain:
    """The list of events, shared with every other process that has it open."""

    def __init__(self, store: Store) -> None:
        self.store = store
        store.upgrade()
        with store.read() as rows:
            self.identity: Identity = rows.identity()
        paths = [witness_of(self.identity.ledger_id)]
        if store.beside is not None:
            paths.insert(0, store.beside)
        self._witnesses = [Witness(path) for path in paths]
        self._given: list[Witness] = []
        """Witnesses of other machines, which are read and not written."""
        self.places = store.places()
        self._exchanged = places.others(self.places, self.identity.ledger_id)
        self._state = State()
        self._stored: Head = events.NOTHING
        """Up to where the account in memory is known to be in the database."""
        self._seen: Head = events.NOTHING
        """The last event this process ever read: a memory that no backup can turn back."""
        self._heard: list[tuple[Witness, Line]] = []
        """Lines of witnesses that were read and not compared yet; an error in between must not lose them."""
        self._lost: dict[str, Line] = {}
        self._turn = threading.RLock()

    @contextmanager
    def reading(self) -> Iterator[tuple[State, Rows]]:
        """The account as it is now. The witnesses are read first, so they cannot be ahead by chance."""
        with self._turn:
            self._listen()
            with self._forgetting(), self.store.read() as rows:
                self._catch_up(rows)
                self._compare()
                yield self._state, rows

    def head(self) -> Head:
        """The last event."""
        with self.reading() as (state, _):
            return state.head

    def lost(self) -> list[Line]:
        """Events that were stored once and are not on this chain, oldest first."""
        return sorted(self._lost.values(), key=lambda line: (line.head.number, line.head.digest))

    def untold(self) -> dict[Path, int]:
        """The first event of this chain that a witness does not hold, for each that lacks one."""
        with self.reading() as (state, _):
            return {one.path: one.number + 1 for one in self._witnesses if one.number < state.head.number}

    def find_document(self, digest: str) -> str | None:
        """A document that the database has lost, from a witness."""
        for witness in (*self._witnesses, *self._given):
            if digest in witness.documents and (body := witness.document(digest)) is not None:
                return body
        return None

    def record(self, kind: str, decide: Decide, now: datetime | None, *, mend: bool = False) -> State:
        """Take the turn, decide on what is there, append, and let the witnesses know.

        The clock is read under the lock: read before it, it would be behind whoever came first. `mend` is
        for recovering alone, which works on a ledger that has lost events.
        """
        with self._turn:
            with self._forgetting(), self.store.write() as rows:
                self._catch_up(rows)
                self._listen()
                self._compare()
                if not mend:
                    self._require_whole()
                steps.reached(steps.of(kind, steps.BEGUN))
                decision = decide(self._state)
                if not decision.happenings:
                    return self._state
                behind = self._behind(rows)
                for digest, body in decision.documents.items():
                    rows.keep(digest, body)
                added = [self._append(rows, what, now) for what in decision.happenings]
                for digest, draw in decision.draws.items():
                    rows.keep_draw(digest, draw)
                steps.reached(steps.of(kind, steps.APPENDED))
            self._stored = self._seen = self._state.head
            steps.reached(steps.of(kind, steps.STORED))
            self._testify(behind, added, decision.documents)
            steps.reached(steps.of(kind, steps.WITNESSED))
            return self._state

    def hear(self, path: Path) -> None:
        """Compare with the witness of another machine, too."""
        with self._turn:
            given = Witness(path)
            self._given.append(given)
            self._heard.extend((given, line) for line in given.news())

    def testify(self) -> None:
        """Tell the witnesses what they have not been told, without adding anything."""
        with self._turn:
            with self.reading() as (_, rows):
                behind = self._behind(rows)
            self._testify(behind, [], {})

    def restore(self, line: Line) -> None:
        """Append a lost event exactly as it was; it follows the head, so the chain is what it was."""
        with self._turn, self._forgetting(), self.store.write() as rows:
            self._catch_up(rows)
            if events.parse(line.body).previous != self._state.head.digest:
                return
            event = self._state.read(line.head.number, line.head.digest, line.body)
            for digest in events.documents_of(event.what):
                body = self.find_document(digest)
                if body is not None:
                    rows.keep(digest, body)
            rows.append(event)
        self._stored = self._state.head

    def forget_draw(self, reservation: str) -> None:
        """Delete the key of a draw whose release has appeared."""
        with self._turn, self.store.write() as rows:
            rows.forget_draw(reservation)

    @contextmanager
    def _forgetting(self) -> Iterator[None]:
        """What was added in memory and not stored is not trusted, but all of it read again."""
        try:
            yield
        except BaseException:
            if self._state.head != self._stored:
                self._state = State()
            raise

    def _listen(self) -> None:
        for witness in self._witnesses:
            self._heard.extend((witness, line) for line in witness.news())

    def _catch_up(self, rows: Rows) -> None:
        """Fold what was added since; all of it again if the database is no longer the one that was read."""
        known, self._stored = self._state.head, events.NOTHING
        fetched = rows.events(max(1, known.number))
        if known.number and (not fetched or fetched[0][1] != known.digest):
            self._state, fetched = State(), rows.events(1)
            self._heard.clear()
            for witness in self._witnesses:
                witness.rewind()
            self._listen()
        for row in fetched:
            if row[0] > self._state.head.number:
                self._state.read(*row)
        head = rows.head()
        if head != self._state.head:
            raise tampered(min(head.number, self._state.head.number) + 1, "the ledger ends elsewhere")
        identity = rows.identity()
        if (self._state.ledger_id, self._state.key) != (
            identity.ledger_id,
            events.digest(identity.fingerprint_key),
        ):
            raise tampered(1, "it belongs to another ledger, or its fingerprint key was exchanged")
        self._stored = head
        if self._state.holds(self._seen):
            self._seen = head

    def _compare(self) -> None:
        """Which of the events that were ever stored are not here?"""
        if self._exchanged:
            raise exchanged()
        for witness, line in self._heard:
            if self._state.passes(line.head):
                witness.number += line.head.number == witness.number + 1
            elif line.whole() and not self._state.holds(line.head):
                self._lost[line.head.digest] = line
        self._heard.clear()
        for digest in [one for one, line in self._lost.items() if self._state.holds(line.head)]:
            del self._lost[digest]

    def _require_whole(self) -> None:
        if self._lost or not self._state.holds(self._seen):
            raise forked(self.store.where, max(1, len(self._lost)))

    def _append(self, rows: Rows, what: Happening, now: datetime | None) -> Event:
        event = events.make(self._state.head, self._time(what, now), what)
        try:
            self._state.apply(event)
        except BaseException:
            # Half of it may be in the account already.
            self._state, self._stored = State(), events.NOTHING
            raise
        rows.append(event)
        return event

    def _time(self, what: Happening, now: datetime | None) -> datetime:
        time = now or datetime.now(UTC)
        if time.tzinfo is None:
            raise BadQuestion("The moment has no time zone.", "Give it with one, for example in UTC.")
        last = self._state.time
        if last is None or time >= last or isinstance(what, events.ClockSet):
            return time
        if last - time <= timedelta(seconds=SLACK_SECONDS):
            return last
        raise ClockBackwards(
            f"The clock says {_minute(time)}, but the ledger's last event is of {_minute(last)}.",
            "Nothing was spent. Set the clock right and run the same command again; if it is right, and was "
            "wrong before, say so with `safeside.recover_ledger(..., accept_clock=True)`.",
        )

    def _behind(self, rows: Rows) -> dict[Witness, tuple[list[Row], dict[str, str]]]:
        """What each witness has not been told, for instance because a process was killed before it could."""
        told = {}
        for witness in self._witnesses:
            witness.ready()
            missed = rows.events(witness.number + 1) if witness.number < self._state.head.number else []
            wanted = {one for row in missed for one in events.documents_of(events.parse(row[2]).what)}
            found = {one: rows.document(one) for one in sorted(wanted - witness.documents)}
            told[witness] = (missed, {one: body for one, body in found.items() if body is not None})
        return told

    def _testify(
        self,
        behind: dict[Witness, tuple[list[Row], dict[str, str]]],
        added: list[Event],
        documents: dict[str, str],
    ) -> None:
        new = [(event.number, event.digest, event.body) for event in added]
        for witness, (missed, older) in behind.items():
            fresh = {one: body for one, body in documents.items() if one not in witness.documents}
            witness.add(self.identity.fingerprint_key, missed + new, older | fresh)
        places.note(self.places, self.identity.ledger_id)


def forked(where: str, lost: int) -> LedgerForked:
    """Something was published that this chain does not know."""
    return LedgerForked(
        f"{begin(where)} has forgotten {lost} event{'s' if lost > 1 else ''} that it once "
        "held: it was restored from a backup, or a copy of it was used.",
        "Nothing can be published until what was published since is charged again. Run "
        '`safeside.recover_ledger(...)`, with `releases=["DIR"]` for each release of which another copy of '
        "the ledger may know.",
    )


def exchanged() -> LedgerForked:
    """The witness, or what the state directory remembers of this address, is of another ledger."""
    return LedgerForked(
        "The witness belongs to another ledger than the one that is here now.",
        "Put back the ledger that was here, or move this one, without the witness, to a place of its own.",
    )


def _minute(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
