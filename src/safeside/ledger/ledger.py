"""The ledger: what may still be asked of a dataset, what was asked, and what it cost.

The order is always the same. `reserve` records the question and pays for it before any data is read;
`commit` fixes what was drawn; `give_back` returns what a sparse release did not use. A crash between two of
them leaves money spent and nothing published, never the other way round.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from typing import Any, Final

from safeside import exact
from safeside.errors import (
    BadQuestion,
    LedgerError,
    LedgerMissing,
    OverBudget,
    RequestConflict,
    SimulationOnly,
)
from safeside.exact import Number, show
from safeside.ledger import events, questions
from safeside.ledger.account import PRIVATE, PUBLIC, Dataset, Reservation, Stage
from safeside.ledger.chain import Decision
from safeside.ledger.money import ZERO, Cost
from safeside.ledger.reader import Reader
from safeside.ledger.recovery import Published, Recovery, recover
from safeside.ledger.rules import (
    check_name,
    find_dataset,
    find_reservation,
    find_unit,
    over_budget,
    refusal,
    require_floor,
    require_new_name,
    require_open,
    require_own_files,
    require_same,
    timezone_of,
    unit_of,
)
from safeside.ledger.state import State
from safeside.ledger.store import Draw, Identity, Store
from safeside.privacy.guarantee import Unit

_REFERENCE_BYTES: Final = 16


class Ledger(Reader):
    """An open ledger. Safe to use from many threads and processes at once; close it, or use `with`."""

    @classmethod
    def create(cls, store: Store, software: str, now: datetime) -> Ledger:
        """A new, empty ledger."""
        identity = Identity(ledger_id=secrets.token_hex(16), fingerprint_key=secrets.token_hex(32))
        what = events.LedgerCreated(
            ledger=identity.ledger_id, key=events.digest(identity.fingerprint_key), software=software
        )
        store.create(identity, [events.make(events.NOTHING, now, what)], {})
        made = cls(store)
        made.chain.testify()
        return made

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
        check_name(name, "dataset")
        protected = find_unit(unit)
        what = events.DatasetCreated(
            name=name,
            unit=str(protected),
            timezone=timezone_of(protected, timezone),
            epsilon=exact.epsilon(epsilon),
            delta=exact.delta(delta),
            balance=PUBLIC if public_balance else PRIVATE,
            max_places_per_person=None
            if max_places_per_person is None
            else exact.whole(max_places_per_person, "`max_places_per_person=`", least=1),
            people=None if people is None else require_floor(people),
        )

        def decide(state: State) -> Decision:
            require_new_name(state, name)
            return Decision(happenings=(what,))

        return self._chain.record(what.kind, decide, now).datasets[name]

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
        check_name(request_id, "request id")
        stored, documents = questions.shorten(question)
        refused: list[OverBudget] = []
        made: list[events.Reserved] = []

        def decide(state: State) -> Decision:
            find_dataset(state, dataset)
            known = state.reservations.get(request_id)
            if known is not None:
                require_same(known, dataset, stored, cost)
                require_open(state, dataset, request_id, stored)
                # Whoever made it must know, before it returns the money, that somebody else may have drawn.
                joined = events.Resumed(request=request_id, reservation=known.digest)
                return Decision(happenings=(joined,)) if state.endable(known) else Decision()
            require_open(state, dataset, request_id, stored)
            over = over_budget(state, dataset, cost)
            if over is not None:
                refused.append(over)
                return refusal(state, request_id, dataset, stored, over.what)
            amount = cost.converted()
            what = events.Reserved(
                request=request_id,
                reference=secrets.token_hex(_REFERENCE_BYTES),
                dataset=dataset,
                question=stored,
                cost=cost,
                epsilon=amount.epsilon,
                delta=amount.delta,
            )
            made.append(what)
            return Decision(happenings=(what,), documents=documents)

        state = self._chain.record(events.Reserved.kind, decide, now)
        if refused:
            raise refused[0]
        return replace(state.reservations[request_id], fresh=bool(made))

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
        if (alarms is None) != (reservation.cost.each is None):
            raise BadQuestion(
                "The number of alarms belongs to sparse releases, and to all of them.",
                "Give `alarms` exactly where the reservation has a price for each alarm.",
            )
        what = events.Committed(
            request=reservation.request,
            reservation=reservation.digest,
            manifest=manifest_digest,
            fingerprint=fingerprint,
            alarms=None if alarms is None else exact.whole(alarms, "the number of alarms"),
        )

        def decide(state: State) -> Decision:
            known = find_reservation(state, reservation, self.where)
            if known.stage is Stage.RESERVED:
                # Another run may have stopped at a limit while this one was drawing.
                require_open(state, known.dataset, known.request, known.question)
                return Decision(happenings=(what,), draws={} if draw is None else {known.digest: draw})
            if known.manifest == manifest_digest:
                return Decision()
            raise RequestConflict(
                f'The request "{known.request}" was committed before, with another release.',
                "Keep the release that was committed and delete this one: noise is drawn once.",
            )

        return self._chain.record(what.kind, decide, now).reservations[reservation.request]

    def forget_draw(self, reservation: Reservation) -> None:
        """The release has appeared: nothing needs the key of its draw any more."""
        if reservation.digest in self.draws():
            self._chain.forget_draw(reservation.digest)

    def give_back(
        self, reservation: Reservation, epsilon: Number | None = None, *, now: datetime | None = None
    ) -> Fraction:
        """Return what a committed sparse release did not use; all of it unless told otherwise.

        What comes back can be reserved again; the promise stays at the dataset's cap.
        """
        wanted = None if epsilon is None else exact.fraction(epsilon, "the amount to return")

        def decide(state: State) -> Decision:
            known = find_reservation(state, reservation, self.where)
            if known.returned is not None and wanted in (None, known.returned):
                return Decision()
            most = state.returnable(known)
            amount = most if wanted is None else wanted
            if not 0 <= amount <= most:
                raise LedgerError(
                    f'{show(amount)} cannot be returned of the request "{known.request}": at most '
                    f"{show(most)} was paid for, published as not used, and not returned before.",
                    "Return only what the published alarms of a committed sparse release show was not used.",
                )
            if not amount:
                return Decision()
            return Decision(happenings=(events.Returned(request=known.request, epsilon=amount),))

        state = self._chain.record(events.Returned.kind, decide, now)
        return state.reservations[reservation.request].returned or ZERO

    def withdraw(self, request_id: str, reason: str, *, now: datetime | None = None) -> Reservation:
        """Take back a whole release. It stays charged: what was seen cannot be unseen."""

        def decide(state: State) -> Decision:
            known = state.reservations.get(request_id)
            if known is not None and known.stage is Stage.WITHDRAWN:
                return Decision()
            if known is None or known.stage is Stage.RESERVED:
                raise LedgerMissing(
                    f'The ledger knows of no release published for the request "{request_id}".',
                    "Look up the request id in release.json, or in `ledger.history()`.",
                )
            what = events.Withdrawn(request=request_id, reservation=known.digest, reason=reason)
            return Decision(happenings=(what,))

        return self._chain.record(events.Withdrawn.kind, decide, now).reservations[request_id]

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
        check_name(request_id, "request id")
        stored, _ = questions.shorten(question)

        def decide(state: State) -> Decision:
            find_dataset(state, dataset)
            known = state.reservations.get(request_id)
            ours = known is not None and known.dataset == dataset and known == unused and unused.fresh
            ends = known.digest if known is not None and ours and state.endable(known) else None
            return refusal(state, request_id, dataset, stored, reason, ends=ends)

        return request_id not in self._chain.record(events.Refused.kind, decide, now).reservations

    def read_files(
        self, reservation: Reservation, files: Iterable[str], *, now: datetime | None = None
    ) -> None:
        """Bind input files, by their keyed fingerprints, to the dataset, before anything is drawn from them.

        BadFile where one of them belongs to a dataset that is not linked to this one.
        """
        given = tuple(dict.fromkeys(files))

        def decide(state: State) -> Decision:
            dataset = find_reservation(state, reservation, self.where).dataset
            require_own_files(state, dataset, given)
            new = tuple(one for one in given if dataset not in state.files.get(one, ()))
            return Decision(happenings=(events.FilesRead(dataset=dataset, files=new),) if new else ())

        self._chain.record(events.FilesRead.kind, decide, now)

    def stop(self, reservation: Reservation, *, now: datetime | None = None) -> None:
        """Record that a record broke a limit: it stays charged, and its time closed to other questions."""

        def decide(state: State) -> Decision:
            known = find_reservation(state, reservation, self.where)
            if known.stopped or known.stage is not Stage.RESERVED:
                return Decision()
            what = events.Stopped(request=known.request, reservation=known.digest)
            return Decision(happenings=(what,))

        self._chain.record(events.Stopped.kind, decide, now)

    def link(self, first: str, second: str, *, now: datetime | None = None) -> tuple[str, ...]:
        """Two datasets hold the same people: from here on they share the smaller of their budgets.

        It is a fact, so it is recorded even where they have spent more than that together: then nothing more
        fits, and the promise is what was spent.
        """
        what = events.Linked(first=first, second=second)

        def decide(state: State) -> Decision:
            one, two = find_dataset(state, first), find_dataset(state, second)
            if state.group(first) is state.group(second):
                return Decision()
            if (one.unit, one.timezone) != (two.unit, two.timezone):
                raise LedgerError(
                    f'"{first}" protects a {unit_of(one)}, "{second}" a {unit_of(two)}: their budgets do '
                    "not add up.",
                    "Link only datasets with the same unit of privacy and the same time zone.",
                )
            return Decision(happenings=(what,))

        return self._chain.record(what.kind, decide, now).group(first).members

    def recover(
        self, published: Iterable[Published] = (), *, accept_clock: bool = False, now: datetime | None = None
    ) -> Recovery:
        """Put back or charge again what a restored or copied ledger has lost; explain what is unfinished."""
        return recover(self._chain, published, accept_clock=accept_clock, now=now)
