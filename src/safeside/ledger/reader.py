"""Reading a ledger: what is left, what was asked, what is promised. Nothing here adds an event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from safeside.ledger import events, questions
from safeside.ledger.account import Dataset, Reservation
from safeside.ledger.chain import Chain
from safeside.ledger.events import Event, Head
from safeside.ledger.money import Budget, Cost
from safeside.ledger.periods import check_periods, periods_of
from safeside.ledger.recovery import Published, reconcile
from safeside.ledger.rules import find_dataset, over_budget, require_open
from safeside.ledger.state import State
from safeside.ledger.status import Status, status, verify
from safeside.ledger.store import Draw, Rows, Store


class Reader:
    """An open ledger, read only. Safe to use from many threads and processes; close it, or use `with`."""

    def __init__(self, store: Store) -> None:
        self._chain = Chain(store)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database."""
        self._chain.store.close()

    @property
    def ledger_id(self) -> str:
        """The ledger's own name, which every release carries."""
        return self._chain.identity.ledger_id

    @property
    def fingerprint_key(self) -> bytes:
        """The key under which input files are fingerprinted; it never leaves the ledger."""
        return bytes.fromhex(self._chain.identity.fingerprint_key)

    @property
    def where(self) -> str:
        """How messages name this ledger."""
        return self._chain.store.where

    @property
    def places(self) -> tuple[str, ...]:
        """Where it is kept, as it is remembered; never with a password."""
        return self._chain.places

    @property
    def chain(self) -> Chain:
        """The events themselves, for reports and recovery."""
        return self._chain

    @property
    def head(self) -> Head:
        """The last event."""
        return self._chain.head()

    def _state(self) -> AbstractContextManager[tuple[State, Rows]]:
        return self._chain.reading()

    def dataset(self, name: str) -> Dataset:
        """A dataset by name; publishing never makes one."""
        with self._state() as (state, _):
            return find_dataset(state, name)

    def datasets(self) -> tuple[Dataset, ...]:
        """All datasets, by name."""
        with self._state() as (state, _):
            return tuple(state.datasets[name] for name in sorted(state.datasets))

    def periods(self, dataset: str, start: datetime, end: datetime) -> tuple[str, ...]:
        """The days or weeks to charge for [start, end), by the dataset's unit and time zone."""
        known = self.dataset(dataset)
        return periods_of(known.unit, known.timezone, start, end)

    def remaining(self, dataset: str, periods: Iterable[str] = ()) -> Budget:
        """What is left, in the period of the given ones that has least."""
        with self._state() as (state, _):
            find_dataset(state, dataset)
            group = state.group(dataset)
            each = check_periods(group.unit, tuple(periods))
            rooms = [group.remaining(period) for period in each]
        least = rooms[0]
        for room in rooms[1:]:
            least = least.least(room)
        return least

    def preview(self, dataset: str, cost: Cost) -> Budget:
        """What would be left after such a release; OverBudget where it does not fit. Nothing is recorded."""
        with self._state() as (state, _):
            find_dataset(state, dataset)
            over = over_budget(state, dataset, cost)
        if over is not None:
            raise over
        return self.remaining(dataset, cost.periods) - cost.converted()

    def require_open(self, dataset: str, request_id: str, question: Mapping[str, Any]) -> None:
        """LedgerError where a question looks at a time that a stop at a limit has closed."""
        stored, _ = questions.shorten(question)
        with self._state() as (state, _):
            find_dataset(state, dataset)
            require_open(state, dataset, request_id, stored)

    def reservation(self, request_id: str) -> Reservation | None:
        """The reservation made for a request, at its present stage."""
        with self._state() as (state, _):
            return state.reservations.get(request_id)

    def committed(self, manifest: str) -> Reservation | None:
        """The reservation that paid for the release with this digest."""
        with self._state() as (state, _):
            return next((one for one in state.reservations.values() if one.manifest == manifest), None)

    def committed_of(self, manifests: Iterable[str]) -> set[str]:
        """Which of these digests are of releases that the ledger committed to."""
        with self._state() as (state, _):
            return {one.manifest for one in state.reservations.values() if one.manifest} & set(manifests)

    def reservations(self, dataset: str | None = None) -> tuple[Reservation, ...]:
        """Every reservation, oldest first."""
        with self._state() as (state, _):
            found = [one for one in state.reservations.values() if dataset in (None, one.dataset)]
        return tuple(found)

    def question(self, reservation: Reservation) -> dict[str, Any]:
        """The question in full, with its long parts put back."""
        with self._state() as (_, rows):
            return {name: questions.lengthen(rows, value) for name, value in reservation.question.items()}

    def draws(self) -> dict[str, Draw]:
        """Draws that were committed and have not appeared, by the digest of their reservations."""
        with self._state() as (_, rows):
            return rows.draws()

    def history(self) -> tuple[Event, ...]:
        """Every event, oldest first."""
        with self._state() as (_, rows):
            return tuple(events.parse(body) for _, _, body in rows.events(1))

    def show(self, dataset: str) -> Status:
        """What is left of a dataset, what is promised, and what may have become known."""
        return status(self._chain, dataset)

    def forgotten(self) -> int:
        """How many events a witness holds and this ledger does not; while there are any, none is added."""
        with self._state():
            return len(self._chain.lost())

    def untold(self) -> dict[Path, int]:
        """Witnesses that lack events, and the first that each lacks; the next event completes them."""
        return self._chain.untold()

    def verify(self) -> int:
        """Check every event from the beginning; the number of events, or LedgerTampered."""
        return verify(self._chain)

    def reconcile(self, published: Iterable[Published]) -> None:
        """LedgerForked if one of these releases was never charged here."""
        reconcile(self._chain, published)
