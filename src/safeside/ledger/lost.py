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
| return, refuse, clock | none |
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from safeside.ledger import events
from safeside.ledger.account import PUBLIC, Impossible, Reservation, Stage
from safeside.ledger.events import Event
from safeside.ledger.money import Budget

if TYPE_CHECKING:
    from safeside.ledger.state import State


def fold(state: State, what: events.Found, event: Event) -> None:
    """Account for the lost event that `what` holds; `event` is its answer on this chain."""
    gone = what.lost()
    if state.holds(gone.head):
        raise Impossible("it answers an event that was not lost")
    _carry(state, gone, event)


def free(state: State, request: str, mark: str) -> str:
    """The request id, marked where this chain used the same one for a reservation of its own."""
    while request in state.reservations:
        request = f"{request} [{mark[:12]}]"
    return request


def reservation(state: State, digest: str) -> Reservation | None:
    """The reservation that an event of that digest paid for, on this chain or on a branch found since."""
    if digest in state.paid:
        return state.reservations[state.paid[digest]]
    return state.ended.get(digest)


def _carry(state: State, gone: Event, event: Event) -> None:
    match gone.what:
        case events.LedgerCreated():
            raise Impossible("a ledger begins once")
        case events.DatasetCreated() as what:
            _dataset(state, what, gone)
        case events.Reserved() as what:
            again = state.charge_again(what, event, free(state, what.request, gone.digest))
            state.paid[gone.digest] = again.request
        case events.Recharged() as what:
            request = free(state, what.request, gone.digest)
            state.charge_again(what, event, request, stage=Stage.COMMITTED, manifest=what.manifest)
        case events.FilesRead() as what:
            state.read_files(what)
        case events.Committed() as what:
            _commit(state, what, gone, event)
        case events.Resumed() as what:
            known = _revived(state, what.reservation, event)
            if known is not None and state.endable(known):
                state.reservations[known.request] = replace(known, resumed=True)
        case events.Stopped() as what:
            known = _revived(state, what.reservation, event)
            if known is not None and known.stage is Stage.RESERVED:
                state.reservations[known.request] = replace(known, stopped=True)
        case events.Withdrawn() as what:
            known = _revived(state, what.reservation, event)
            if known is not None and known.stage is Stage.COMMITTED:
                state.reservations[known.request] = replace(known, stage=Stage.WITHDRAWN)
        case events.Linked() as what:
            _link(state, what, event)
        case events.Found() as what:
            inner = what.lost()
            if not state.holds(inner.head):
                _carry(state, inner, event)
    state.accounted.add(gone.digest)


def _dataset(state: State, what: events.DatasetCreated, gone: Event) -> None:
    """Two datasets of one name are one promise to the same people: the smaller of each cap.

    Where they protect different units their charges cannot be added up, so nothing more is published.
    """
    known = state.datasets.get(what.name)
    if known is None:
        state.create(what, gone)
        return
    cap = Budget(epsilon=what.epsilon, delta=what.delta)
    public = known.public_balance or what.balance == PUBLIC
    most, people = known.max_places_per_person, known.people
    state.datasets[what.name] = replace(
        known,
        cap=known.cap.least(cap),
        public_balance=public,
        max_places_per_person=most if most == what.max_places_per_person else None,
        people=people if people == what.people else None,
    )
    group = state.group(what.name)
    group.cap = group.cap.least(cap)
    if (str(known.unit), known.timezone) != (what.unit, what.timezone):
        group.close()


def _commit(state: State, what: events.Committed, gone: Event, event: Event) -> None:
    known = _revived(state, what.reservation, event)
    if known is None:
        if any(one.manifest == what.manifest for one in state.reservations.values()):
            return  # The witness has a hole; the release itself said what it cost.
        raise Impossible("nothing says what its release cost")
    if known.stage is Stage.RESERVED:
        state.fix(known, what)
    elif known.manifest != what.manifest or _fewer(known, what):
        # Both branches drew under the same reservation: that is two releases, so it is paid twice.
        request = free(state, known.request, gone.digest)
        _again(state, known, event, request, stage=Stage.COMMITTED, manifest=what.manifest)


def _fewer(known: Reservation, what: events.Committed) -> bool:
    """Whether more may have come back here than the alarms that were witnessed allow."""
    return not known.recharged and (known.alarms or 0) < (what.alarms or 0)


def _revived(state: State, digest: str, event: Event) -> Reservation | None:
    """The reservation, charged again if it went back here: somebody took it up on the other branch."""
    known = reservation(state, digest)
    if known is None or digest in state.paid:
        return known
    del state.ended[digest]
    again = _again(state, known, event, free(state, known.request, digest))
    state.paid[digest] = again.request
    return again


def _again(
    state: State,
    known: Reservation,
    event: Event,
    request: str,
    *,
    stage: Stage = Stage.RESERVED,
    manifest: str | None = None,
) -> Reservation:
    what = events.Reserved(
        request=known.request,
        reference=known.reference,
        dataset=known.dataset,
        question=known.question,
        cost=known.cost,
        epsilon=known.charged.epsilon,
        delta=known.charged.delta,
    )
    return state.charge_again(what, event, request, stage=stage, manifest=manifest)


def _link(state: State, what: events.Linked, event: Event) -> None:
    if what.first not in state.groups or what.second not in state.groups:
        raise Impossible("its datasets do not exist")
    one, two = state.group(what.first), state.group(what.second)
    if one is two:
        return
    state.unite(one, two, event)
    if (one.unit, one.timezone) != (two.unit, two.timezone):
        state.group(what.first).close()
