"""Reading a ledger: what is left, what was asked, what is promised. Nothing here adds an event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, Self

from safeside.ledger import events
from safeside.ledger.account import Dataset, Reservation, Stage, same_question
from safeside.ledger.chain import Chain, Checked
from safeside.ledger.checkpoint import EVERY
from safeside.ledger.events import Event, Head
from safeside.ledger.lookup import links
from safeside.ledger.periods import check_periods, periods_of
from safeside.ledger.recovery import Published
from safeside.ledger.refusals import forked
from safeside.ledger.rules import require_open, require_within_budget
from safeside.ledger.status import Leak, Status, leaks, lengthen, status
from safeside.ledger.store import Draw, Store
from safeside.privacy.account import Budget, Cost


class Reader:
    """An open ledger, read only; for many threads, and one process. Close it, or use `with`."""

    def __init__(self, store: Store, *, checkpoint_every: int = EVERY) -> None:
        self.chain: Final = Chain(store, checkpoint_every=checkpoint_every)
        """The events themselves, for reports and recovery."""
        self.ledger_id: Final = self.chain.identity.ledger_id
        """The ledger's own name, which every release carries."""
        self.where: Final = store.where
        """How messages name this ledger."""
        self.addresses: Final = self.chain.addresses
        """Where it is kept, as it is remembered; never with a password."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database."""
        self.chain.store.close()

    @property
    def fingerprint_key(self) -> bytes:
        """The key under which input files are fingerprinted; it never leaves the ledger."""
        return bytes.fromhex(self.chain.identity.fingerprint_key)

    @property
    def head(self) -> Head:
        """The last event."""
        return self.chain.head()

    def dataset(self, name: str) -> Dataset:
        """A dataset by name; publishing never makes one."""
        with self.chain.reading() as (state, _):
            return state.dataset(name)

    def datasets(self) -> tuple[Dataset, ...]:
        """All datasets, by name."""
        with self.chain.reading() as (state, _):
            return tuple(state.datasets[name] for name in sorted(state.datasets))

    def periods(self, dataset: str, start: datetime, end: datetime) -> tuple[str, ...]:
        """The days or weeks to charge for [start, end), by the dataset's unit and time zone."""
        known = self.dataset(dataset)
        return periods_of(known.unit, known.timezone, start, end)

    def remaining(self, dataset: str, periods: Iterable[str] = ()) -> Budget:
        """What is left, in the period of the given ones that has least."""
        with self.chain.reading() as (state, _):
            group = state.group(dataset)
            return group.room(check_periods(group.unit, tuple(periods)))

    def preview(self, dataset: str, cost: Cost) -> Budget:
        """What would be left after such a release; OverBudget where it does not fit. Nothing is recorded."""
        amount = cost.under_policy()
        with self.chain.reading() as (state, _):
            require_within_budget(state, dataset, cost, amount)
            return state.group(dataset).room(cost.accounts) - amount

    def require_open(self, dataset: str, request_id: str, question: Mapping[str, Any]) -> None:
        """LedgerError where a question looks at a time that a stop at a limit has closed."""
        stored, _ = events.shorten(question)
        with self.chain.reading() as (state, _):
            require_open(state, dataset, request_id, stored)

    def reservation(self, request_id: str) -> Reservation | None:
        """The reservation made for a request, at its present stage."""
        with self.chain.reading() as (state, _):
            return state.reservation(request_id)

    def committed(self, manifest: str) -> Reservation | None:
        """The reservation that paid for the release with this digest."""
        with self.chain.reading() as (state, _):
            request = state.lookup("manifest", manifest)
            return None if request is None else state.reservation(request)

    def committed_of(self, manifests: Iterable[str]) -> set[str]:
        """Which of these digests are of releases that the ledger committed to."""
        with self.chain.reading() as (state, _):
            return {one for one in manifests if state.lookup("manifest", one) is not None}

    def asked(self, dataset: str, question: Mapping[str, Any]) -> Reservation | None:
        """The last release, or else unfinished request, of these people that asked the same of the same time.

        What a question asks is what it says under `asks`; one that says nothing is like no other.
        """
        same = same_question(events.shorten(question)[0])
        with self.chain.reading() as (state, _):
            members = state.group(dataset).members
            requests = [] if same is None else state.asked(same)
            known = [one for request in requests if (one := state.reservation(request)) is not None]
        found = [one for one in known if one.dataset in members and one.stage is not Stage.WITHDRAWN]
        return max(found, key=lambda one: (one.stage is Stage.COMMITTED, one.number), default=None)

    def reservations(self, dataset: str | None = None) -> tuple[Reservation, ...]:
        """Every reservation, oldest first."""
        with self.chain.reading() as (state, _):
            return tuple(one for one in state.reservations() if dataset in (None, one.dataset))

    def question(self, reservation: Reservation) -> dict[str, Any]:
        """The question in full, with its long parts put back."""
        with self.chain.reading() as (_, rows):
            return {name: lengthen(rows, value) for name, value in reservation.question.items()}

    def draws(self) -> dict[str, Draw]:
        """Draws that were committed and have not appeared, by the digest of their reservations."""
        with self.chain.reading() as (_, rows):
            return rows.draws()

    def history(self) -> tuple[Event, ...]:
        """Every event, oldest first."""
        with self.chain.reading() as (state, rows):
            return tuple(links(rows, state.head))

    def show(self, dataset: str) -> Status:
        """What is left of a dataset, what is promised, and what may have become known."""
        return status(self.chain, dataset)

    def leaks(self, dataset: str) -> tuple[Leak, ...]:
        """Every time that was asked about, with all places whose absence may have become known then."""
        return leaks(self.chain, dataset)

    def forgotten(self) -> int:
        """How many events a witness holds and this ledger does not; while there are any, none is added."""
        with self.chain.reading():
            return len(self.chain.lost())

    def check(self) -> Checked:
        """Read everything from the beginning and say what is missing; LedgerTampered where it is altered."""
        return self.chain.check()

    def verify(self) -> int:
        """The number of events, each checked from the beginning.

        LedgerTampered where one cannot be true, LedgerForked where a witness knows of others.
        """
        found = self.check()
        if found.forgotten:
            raise forked(self.where, found.forgotten)
        return found.events

    def reconcile(self, published: Iterable[Published]) -> None:
        """LedgerForked if one of these releases, of this ledger, was never charged to it."""
        ours = [one.manifest for one in published if one.ledger_id == self.ledger_id]
        known = self.committed_of(ours)
        unknown = [one for one in ours if one not in known]
        if unknown:
            raise forked(self.where, len(unknown))
