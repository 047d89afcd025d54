"""The ledger: what may still be asked of a dataset, what was asked, and what it cost.

The order is always the same. `reserve` records the question and pays for it before any data is read;
`commit` fixes what was drawn; `give_back` returns what a sparse release did not use. A crash between two of
them leaves money spent and nothing published, never the other way round.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from datetime import datetime
from fractions import Fraction
from typing import Any

from msgspec.structs import replace

from safeside import exact, records
from safeside.errors import OverBudget, SimulationOnly
from safeside.exact import Number
from safeside.ledger import events, rules
from safeside.ledger.account import Dataset, Reservation, Stage
from safeside.ledger.chain import Recorded
from safeside.ledger.reader import Reader
from safeside.ledger.recovery import Published, Recovery, recover
from safeside.ledger.state import State
from safeside.ledger.store import Draw
from safeside.privacy.account import ZERO, Caps, Cost
from safeside.privacy.guarantee import Unit


class Ledger(Reader):
    """An open ledger, for many threads and one process: others open their own. Close it, or use `with`.

    Example
        >>> from safeside import create_ledger
        >>> with create_ledger("ledger.db") as ledger:
        ...     made = ledger.create_dataset("city", "person", epsilon=2)
        ...     print(ledger.remaining("city").epsilon, len(ledger.history()))
        2 2
    """

    def create_dataset(
        self,
        name: str,
        unit: Unit | str,
        epsilon: Number,
        delta: Number = 0,
        *,
        timezone: str | None = None,
        public_balance: bool = False,
        max_places_per_person: int | None = None,
        people: int | None = None,
        now: datetime | None = None,
    ) -> Dataset:
        """Declare a dataset, whose data one unit of privacy covers, with caps and limits that never change.

        Where outsiders see what is left, say so with `public_balance`: a release that stops for bad input
        then stays charged. Questions that need a limit, on the places of one person or on the people there
        are, are asked with the one that is declared here; instants and sparse answers need none.
        """
        whose, most = rules.find_unit(unit), max_places_per_person
        caps = Caps(unit=whose, timezone=timezone, epsilon=exact.epsilon(epsilon), delta=exact.delta(delta))
        action = events.DatasetCreated(
            name=name,
            caps=rules.usable(caps),
            public_balance=public_balance,
            max_places_per_person=None if most is None else exact.whole(most, "`max_places_per_person=`"),
            people=None if people is None else exact.whole(people, "`people=`"),
        )
        with self.chain.held:
            return self.chain.record(events.DatasetCreated, lambda _: action, now).dataset(name)

    def reserve(
        self,
        dataset: str,
        request_id: str,
        question: Mapping[str, Any],
        cost: Cost,
        *,
        now: datetime | None = None,
    ) -> Reservation:
        """Record a question and pay for it, before any data is read.

        The same request id with the same question is the same reservation, paid once, at whatever stage it
        now is. `now` is for tests: the clock is read when the reservation is made.
        """
        rules.check_name(request_id, "request id")
        stored, documents = events.shorten(question)
        action = events.Reserved(
            request=request_id,
            reference=secrets.token_hex(16),
            dataset=dataset,
            question=stored,
            cost=cost,
            charged=cost.under_policy(),
        )
        refused: list[OverBudget] = []

        def decide(state: State) -> Recorded:
            state.dataset(dataset)
            known = state.reservation(request_id)
            if known is not None:
                rules.require_same(known, dataset, stored, cost)
                rules.require_open(state, dataset, request_id, stored)
                # Whoever made it must know, before it returns the money, that somebody else may have drawn.
                joined = events.Resumed(request=request_id, reservation=known.digest)
                return joined if rules.endable(state, known) else ()
            try:
                rules.may_reserve(state, action)
            except OverBudget as over:
                refused.append(over)
                return _refusal(state, request_id, dataset, stored, over.what, None)
            return action

        with self.chain.held:
            state = self.chain.record(events.Reserved, decide, now, documents=documents)
            reservation = state.reservation(request_id)
        if refused:
            raise refused[0]
        assert reservation is not None
        return replace(reservation, fresh=reservation.reference == action.reference)

    def commit(
        self,
        reservation: Reservation,
        manifest_digest: str,
        *,
        fingerprint: str | None = None,
        alarms: int | None = None,
        simulated: bool = False,
        draw: Draw | None = None,
        now: datetime | None = None,
    ) -> Reservation:
        """Fix what was drawn: from here on this manifest, and no other, is what the reservation paid for.

        For a sparse release give the number of alarms that it publishes. `draw` is stored in the same
        transaction, or not at all: whoever can open the draw knows that it is the one that counts.
        """
        if simulated:
            raise SimulationOnly(
                "The noise of this release came from a seed, so anybody could subtract it.",
                "Draw it with system entropy, or use `safeside.simulate(...)`, which needs no ledger.",
            )
        action = events.Committed(
            request=reservation.request,
            reservation=reservation.digest,
            manifest=manifest_digest,
            fingerprint=fingerprint,
            alarms=None if alarms is None else exact.whole(alarms, "the number of alarms"),
        )
        rules.require_alarms(reservation, action)

        def decide(state: State) -> Recorded:
            known = state.known(reservation.request, reservation.digest)
            if known.manifest == manifest_digest:
                return ()
            # Another run may have stopped at a limit while this one was drawing.
            rules.require_open(state, known.dataset, known.request, known.question)
            return action

        with self.chain.held:
            state = self.chain.record(events.Committed, decide, now, draw=draw)
            return state.known(reservation.request, reservation.digest)

    def forget_draw(self, reservation: Reservation) -> None:
        """The release has appeared: nothing needs the key of its draw any more."""
        if reservation.digest in self.draws():
            self.chain.forget_draw(reservation.digest)

    def give_back(
        self, reservation: Reservation, epsilon: Number | None = None, *, now: datetime | None = None
    ) -> Fraction:
        """Return what a committed sparse release did not use; all of it unless told otherwise.

        What comes back can be reserved again; the promise stays at the dataset's cap.
        """
        wanted = None if epsilon is None else exact.fraction(epsilon, "the amount to return")

        def decide(state: State) -> Recorded:
            known = state.known(reservation.request, reservation.digest)
            if known.returned is not None and wanted in (None, known.returned):
                return ()
            amount = rules.returnable(state, known) if wanted is None else wanted
            action = events.Returned(request=known.request, reservation=known.digest, epsilon=amount)
            return action if amount else ()

        with self.chain.held:
            state = self.chain.record(events.Returned, decide, now)
            return state.known(reservation.request, reservation.digest).returned or ZERO

    def withdraw(self, request_id: str, reason: str, *, now: datetime | None = None) -> Reservation:
        """Take back a whole release. It stays charged: what was seen cannot be unseen."""

        def decide(state: State) -> Recorded:
            known = state.reservation(request_id)
            if known is not None and known.stage is Stage.WITHDRAWN:
                return ()
            known = rules.may_withdraw(known, request_id)
            return events.Withdrawn(request=request_id, reservation=known.digest, reason=reason)

        with self.chain.held:
            withdrawn = self.chain.record(events.Withdrawn, decide, now).reservation(request_id)
        assert withdrawn is not None
        return withdrawn

    def refuse(
        self,
        dataset: str,
        request_id: str,
        question: Mapping[str, Any],
        reason: str,
        *,
        unused: Reservation | None = None,
        now: datetime | None = None,
    ) -> bool:
        """Record that a question was not answered, and why; True where nothing is spent.

        `unused` is the reservation the caller has just made and drawn nothing for: it goes back in full,
        unless outsiders see the balance. One that was made before, or taken up by another run since, stays:
        somebody may have drawn under it.
        """
        rules.check_name(request_id, "request id")
        stored, _ = events.shorten(question)

        def decide(state: State) -> Recorded:
            state.dataset(dataset)
            known, ends = state.reservation(request_id), None
            if known is not None and unused is not None and known.digest == unused.digest:
                ends = known.digest if unused.fresh and rules.may_end(state, known, dataset) else None
            return _refusal(state, request_id, dataset, stored, reason, ends)

        with self.chain.held:
            return self.chain.record(events.Refused, decide, now).reservation(request_id) is None

    def read_files(
        self, reservation: Reservation, files: Iterable[str], *, now: datetime | None = None
    ) -> None:
        """Bind input files, by their keyed fingerprints, to the dataset, before anything is drawn from them.

        BadFile where one of them belongs to a dataset that is not linked to this one.
        """
        given = tuple(dict.fromkeys(files))

        def decide(state: State) -> Recorded:
            dataset = state.known(reservation.request, reservation.digest).dataset
            rules.require_own_files(state, dataset, given)
            new = tuple(one for one in given if dataset not in (state.lookup("file", one) or ()))
            return events.FilesRead(dataset=dataset, files=new) if new else ()

        self.chain.record(events.FilesRead, decide, now)

    def stop(self, reservation: Reservation, *, now: datetime | None = None) -> None:
        """Record that a record broke a limit: it stays charged, and its time closed to other questions."""
        action = events.Stopped(request=reservation.request, reservation=reservation.digest)

        def decide(state: State) -> Recorded:
            known = state.known(reservation.request, reservation.digest)
            return action if rules.stoppable(known) else ()

        self.chain.record(events.Stopped, decide, now)

    def link(self, first: str, second: str, *, now: datetime | None = None) -> tuple[str, ...]:
        """Two datasets hold the same people: from here on they share the smaller of their budgets.

        It is a fact, so it is recorded even where they have spent more than that together: then nothing more
        fits, and the promise is what was spent.
        """
        action = events.Linked(first=first, second=second)

        def decide(state: State) -> Recorded:
            return () if state.group(first) is state.group(second) else action

        with self.chain.held:
            return self.chain.record(events.Linked, decide, now).group(first).members

    def recover(
        self, published: Iterable[Published] = (), *, accept_clock: bool = False, now: datetime | None = None
    ) -> Recovery:
        """Put back or charge again what a restored or copied ledger has lost; explain what is unfinished."""
        with self.chain.held:
            return recover(self.chain, published, accept_clock=accept_clock, now=now)


def _refusal(
    state: State, request: str, dataset: str, question: Mapping[str, Any], reason: str, ends: str | None
) -> Recorded:
    """The event of a refusal; none where the last one said the same."""
    asked = records.digest(events.canonical(question))
    action = events.Refused(request=request, dataset=dataset, question=asked, reason=reason, ends=ends)
    # Somebody who asks the same in a loop does not fill the ledger.
    same = state.lookup("refusal", request) == rules.refusal_key(action)
    return () if same else action
