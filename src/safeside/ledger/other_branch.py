"""What an event of another branch does to the account of this one: it takes, and never gives.

A lost event is answered by a `found` event that holds it word for word, so nobody can answer a charge with
less than the charge. Whatever it may have spent is spent here too, whether or not it fits; what it gave back
there, a return or a refusal, gives nothing back here, since this branch may have gone on otherwise.

| lost event | its effect here |
| --- | --- |
| dataset | made; where there is one of that name, the smaller caps hold, and limits only where they agree |
| reserve | charged again, under a request id of its own if this one is taken |
| recharge | the same, and its release with it |
| read | its files belong to their dataset |
| commit | its reservation is drawn; charged again where another draw stands, or it had gone back |
| resume | its reservation no longer goes back; charged again where it had |
| stop | its time is closed; its reservation charged again where it had gone back |
| withdraw | its release is withdrawn |
| link | the datasets share a budget |
| found | the event that it holds, unless this chain has that one |
| return, refuse, clock, checkpoint | none |
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from safeside.ledger import events, rules
from safeside.ledger.account import Reservation, Stage
from safeside.ledger.events import Event

if TYPE_CHECKING:
    from safeside.ledger.state import State


def carry_over(state: State, action: events.Found, event: Event) -> None:
    """Account for the lost event that `action` holds; `event` is its answer on this chain."""
    lost = action.lost()
    rules.require(not state.holds(lost.head), "it answers an event that was not lost")
    _carry(state, lost, event)


def free_request(state: State, request: str, mark: str) -> str:
    """The request id, marked where this chain used the same one for a reservation of its own."""
    while state.reservation(request) is not None:
        request = f"{request} [{mark[:12]}]"
    return request


def paid_by(state: State, digest: str) -> Reservation | None:
    """The reservation that an event of that digest paid for, on this chain or on a branch found since."""
    state.complete()
    if digest in state.paid:
        return state.cached[state.paid[digest]]
    return state.ended.get(digest)


def _carry(state: State, lost: Event, event: Event) -> None:
    named = {getattr(lost.action, name, None) for name in ("dataset", "first", "second")} - {None}
    rules.require(named <= state.datasets.keys(), "its dataset does not exist")
    rules.require(not isinstance(lost.action, events.LedgerCreated), "a ledger begins once")
    match lost.action:
        case events.DatasetCreated() as action:
            _dataset(state, action, lost)
        case events.Reserved() as action:
            request = free_request(state, action.request, lost.digest)
            state.paid[lost.digest] = state.charge_again(action, event, request, event.head).request
        case events.Recharged() as action:
            request = free_request(state, action.request, lost.digest)
            state.charge_again(action, event, request, event.head, manifest=action.manifest)
        case events.FilesRead() as action:
            state.add_files(action)
        case events.Linked() as action:
            one, two = state.group(action.first), state.group(action.second)
            if one is not two:
                state.unite(one, two, event)
                if (one.unit, one.timezone) != (two.unit, two.timezone):
                    state.group(action.first).close()
        case events.Found() as action:
            inner = action.lost()
            if not state.holds(inner.head):
                _carry(state, inner, event)
        case events.Committed() as action:
            _commit(state, action, lost, event)
        case events.Resumed() | events.Stopped() | events.Withdrawn() as action:
            known = _revived(state, action.reservation, event)
            if known is not None:
                _under(state, known, action)
    state.accounted.add(lost.digest)


def _under(state: State, known: Reservation, action: events.OfReservation) -> None:
    match action:
        case events.Resumed() if rules.endable(state, known):
            state.change(known, resumed=True)
        case events.Stopped() if known.stage is Stage.RESERVED:
            state.change(known, stopped=True)
        case events.Withdrawn() if known.stage is Stage.COMMITTED:
            state.change(known, stage=Stage.WITHDRAWN)


def _dataset(state: State, action: events.DatasetCreated, lost: Event) -> None:
    """Two datasets of one name are one promise to the same people: the smaller of each cap.

    Where they protect different units their charges cannot be added up, so nothing more is published.
    """
    known = state.datasets.get(action.name)
    if known is None:
        state.add_dataset(action, lost)
        return
    least = known.cap.least(action.caps.budget)
    state.datasets[action.name] = replace(
        known,
        caps=msgspec.structs.replace(known.caps, epsilon=least.epsilon, delta=least.delta),
        public_balance=known.public_balance or action.public_balance,
        max_places_per_person=_agreed(known.max_places_per_person, action.max_places_per_person),
        people=_agreed(known.people, action.people),
    )
    group = state.group(action.name)
    group.cap = group.cap.least(action.caps.budget)
    if (known.unit, known.timezone) != (action.caps.unit, action.caps.timezone):
        group.close()


def _agreed(one: int | None, two: int | None) -> int | None:
    return one if one == two else None


def _commit(state: State, action: events.Committed, lost: Event, event: Event) -> None:
    known = _revived(state, action.reservation, event)
    if known is None:
        # The witness has a hole; only where the release itself has said what it cost is that enough.
        charged = state.lookup("manifest", action.manifest) is not None
        rules.require(charged, "nothing says what its release cost")
    elif known.stage is Stage.RESERVED:
        rules.require_alarms(known, action)
        state.fix(known, action)
    else:
        # With fewer alarms more may have come back here than those that were witnessed allow.
        fewer = not known.recharged and (known.alarms or 0) < (action.alarms or 0)
        if known.manifest != action.manifest or fewer:
            # Both branches drew under the same reservation: that is two releases, so it is paid twice.
            _again(state, known, event, lost.digest, action.manifest)


def _revived(state: State, digest: str, event: Event) -> Reservation | None:
    """The reservation, charged again if it went back here: somebody took it up on the other branch."""
    known = paid_by(state, digest)
    if known is None or digest in state.paid:
        return known
    del state.ended[digest]
    again = _again(state, known, event, digest)
    state.paid[digest] = again.request
    return again


def _again(
    state: State, known: Reservation, event: Event, mark: str, manifest: str | None = None
) -> Reservation:
    words = {name: getattr(known, name) for name in events.Reserved.__struct_fields__}
    request = free_request(state, known.request, mark)
    return state.charge_again(events.Reserved(**words), event, request, known.words, manifest=manifest)
