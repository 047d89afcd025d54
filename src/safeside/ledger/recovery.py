"""After a crash, a restored backup or a fork: say what happened, and charge again what was lost.

Three things are told apart. A reservation without a release is a crash: it stays paid, and repeating the
request finishes it for nothing. Events that the witness holds and that follow the chain exactly are put back
as they were. Whatever else was stored or published once, on a copy of this ledger, is charged again in full,
whether or not it fits: the people in the data have already paid.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from safeside.errors import LedgerError, LedgerForked
from safeside.ledger import events, questions
from safeside.ledger.chain import Chain, Decision, forked
from safeside.ledger.events import Committed, Event, Happening
from safeside.ledger.money import Budget, Cost
from safeside.ledger.rules import find_dataset
from safeside.ledger.state import Reservation, Stage, State
from safeside.ledger.witness import Line


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """What a release says of itself: the ledger it was charged to, under which reference, at what price."""

    ledger_id: str
    dataset: str
    request: str
    reference: str
    manifest: str
    cost: Cost
    question: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Recovery:
    """What recovering did, and what it found."""

    restored: int
    """Events put back exactly as they were."""
    recharged: tuple[Reservation, ...]
    """Reservations charged again."""
    returned: tuple[tuple[str, Fraction], ...]
    """Unused budget of sparse releases that a crash had kept from coming back."""
    unfinished: tuple[Reservation, ...]
    """Reservations under which nothing was published."""
    clock_set: bool


def reconcile(chain: Chain, published: Iterable[Published]) -> None:
    """Refuse to go on if one of these releases, of this ledger, was never charged to it."""
    with chain.reading() as (state, _):
        ours = [one for one in published if one.ledger_id == state.ledger_id]
        unknown = sum(not _charged(state, one) for one in ours)
    if unknown:
        raise forked(chain.store.where, unknown)


def recover(
    chain: Chain,
    published: Iterable[Published] = (),
    *,
    accept_clock: bool = False,
    now: datetime | None = None,
) -> Recovery:
    """Make the ledger whole again and explain what is left open. Doing it twice changes nothing."""
    clock_set = accept_clock and _set_clock(chain, now)
    before = {one.request for one in _reservations(chain)}
    restored = _put_back(chain)
    given = list(published)
    _charge_lost(chain, {one.manifest for one in given}, now)
    for one in given:
        _charge_published(chain, one, now)
    returned = _return_unused(chain, now)
    reservations = _reservations(chain)
    return Recovery(
        restored=restored,
        recharged=tuple(one for one in reservations if one.recharged and one.request not in before),
        returned=returned,
        unfinished=tuple(one for one in reservations if one.stage is Stage.RESERVED),
        clock_set=clock_set,
    )


def _reservations(chain: Chain) -> list[Reservation]:
    with chain.reading() as (state, _):
        return list(state.reservations.values())


def _set_clock(chain: Chain, now: datetime | None) -> bool:
    what = events.ClockSet(reason="the clock was wrong before and is right now")
    moment = now or datetime.now(UTC)
    before = chain.head()

    def decide(state: State) -> Decision:
        behind = state.time is not None and moment < state.time
        return Decision(happenings=(what,)) if behind else Decision()

    return chain.record(what.kind, decide, moment, mend=True).head != before


def _put_back(chain: Chain) -> int:
    """Events that follow the chain exactly are appended as they were, digest and all."""
    restored = 0
    while (line := _next(chain)) is not None:
        chain.restore(line)
        restored += 1
    return restored


def _next(chain: Chain) -> Line | None:
    with chain.reading() as (state, _):
        for line in chain.lost():
            if line.head.number == 1:
                raise LedgerForked(
                    "The witness belongs to another ledger than the one that is here now.",
                    "Put back the ledger that was here, or move this one, without the witness, to a place of "
                    "its own.",
                )
            if events.parse(line.body).previous == state.head.digest:
                return line
    return None


def _charge_lost(chain: Chain, given: set[str], now: datetime | None) -> None:
    """The other branch of a fork, event by event; each is accounted for in a transaction of its own."""
    lost = [events.parse(line.body) for line in chain.lost()]
    released = {
        event.what.request: event.what.manifest for event in lost if isinstance(event.what, events.Committed)
    }
    ended = {event.what.ends for event in lost if isinstance(event.what, events.Refused)}
    for event in lost:
        documents = _documents(chain, event)

        def decide(state: State, event: Event = event, documents: dict[str, str] = documents) -> Decision:
            if state.holds(event.head):
                return Decision()
            paid = isinstance(event.what, events.Committed) and event.what.manifest in given
            if paid or event.digest in ended:
                return Decision(happenings=(events.Adopted(lost=event.digest, what=event.what.kind),))
            return Decision(happenings=_account_for(state, event, released), documents=documents)

        chain.record(events.Recharged.kind, decide, now, mend=True)


def _documents(chain: Chain, event: Event) -> dict[str, str]:
    found = {one: chain.find_document(one) for one in events.documents_of(event.what)}
    return {one: body for one, body in found.items() if body is not None}


def _account_for(state: State, event: Event, released: Mapping[str, str]) -> tuple[Happening, ...]:
    what = event.what
    adopted = events.Adopted(lost=event.digest, what=what.kind)
    match what:
        case events.DatasetCreated():
            return (what, adopted) if _is_new(state, what) else (adopted,)
        case events.Linked():
            one, two = find_dataset(state, what.first), find_dataset(state, what.second)
            apart = state.group(one.name) is not state.group(two.name)
            return (what, adopted) if apart else (adopted,)
        case events.Reserved() | events.Recharged():
            return (_again(state, what, event.digest, released.get(what.request)),)
        case events.Committed():
            return _commit_again(state, what, event.digest, adopted)
        case events.Resumed():
            known = state.reservations.get(what.request)
            return (what, adopted) if known is not None and state.endable(known) else (adopted,)
        case events.Withdrawn():
            known = state.reservations.get(what.request)
            published = known is not None and known.stage is Stage.COMMITTED
            return (what, adopted) if published else (adopted,)
        case _:
            return (adopted,)


def _is_new(state: State, what: events.DatasetCreated) -> bool:
    known = state.datasets.get(what.name)
    if known is None:
        return True
    cap = Budget(epsilon=what.epsilon, delta=what.delta)
    if (str(known.unit), known.timezone, known.cap) != (what.unit, what.timezone, cap):
        raise LedgerError(
            f'Two copies of this ledger each made a dataset "{what.name}", with different budgets.',
            "Keep the copy with the smaller budget, and charge the releases of the other to it with "
            "`safeside ledger recover --release DIR`.",
        )
    return False


def _again(
    state: State, what: events.Reserved | events.Recharged, lost: str, manifest: str | None
) -> events.Recharged:
    known = what.manifest if isinstance(what, events.Recharged) else None
    return events.Recharged(
        request=_free(state, what.request, lost),
        reference=what.reference,
        dataset=what.dataset,
        question=what.question,
        cost=what.cost,
        epsilon=what.epsilon,
        delta=what.delta,
        lost=lost,
        manifest=manifest or known,
    )


def _free(state: State, request: str, lost: str) -> str:
    """The request id, marked where this chain used the same one for a reservation of its own."""
    return request if request not in state.reservations else f"{request} [{lost[:12]}]"


def _commit_again(
    state: State, what: events.Committed, lost: str, adopted: events.Adopted
) -> tuple[Happening, ...]:
    """A release whose reservation this chain may or may not have."""
    if any(one.manifest == what.manifest for one in state.reservations.values()):
        return (adopted,)
    known = state.reservations.get(what.request)
    if known is None:
        raise LedgerForked(
            f'The release for the request "{what.request}" was committed on a copy of this ledger, and '
            "its price is not known here.",
            "Run `safeside ledger recover --release DIR` with the directory of that release.",
        )
    if known.stage is Stage.RESERVED:
        return (what, adopted)
    # Both branches drew under the same reservation: that is two releases, so it is paid twice.
    twice = events.Reserved(
        request=known.request,
        reference=known.reference,
        dataset=known.dataset,
        question=known.question,
        cost=known.cost,
        epsilon=known.charged.epsilon,
        delta=known.charged.delta,
    )
    return (_again(state, twice, lost, what.manifest),)


def _charged(state: State, one: Published) -> bool:
    """Whether the ledger has committed to a release, or charged it again since.

    A reservation alone is not enough: it would pay for this release and for whatever is drawn next.
    """
    return any(known.manifest == one.manifest for known in state.reservations.values())


def _commit_published(state: State, one: Published) -> Committed | None:
    """The release that an open reservation of this chain paid for, where the ledger forgot the commit.

    Nothing of a sparse one comes back: how many alarms it had is not the ledger's own knowledge.
    """
    known = state.reservations.get(one.request)
    if known is None or known.stage is not Stage.RESERVED or known.reference != one.reference:
        return None
    all_of_them = None if known.cost.each is None else int(known.cost.epsilon / known.cost.each)
    return Committed(request=one.request, manifest=one.manifest, fingerprint=None, alarms=all_of_them)


def _charge_published(chain: Chain, one: Published, now: datetime | None) -> None:
    if one.ledger_id != chain.identity.ledger_id:
        raise LedgerError(
            f'The release for the request "{one.request}" was charged to another ledger.',
            "Give only releases of this ledger; the ledger's id is in release.json.",
        )
    question, documents = questions.shorten(one.question)

    def decide(state: State) -> Decision:
        find_dataset(state, one.dataset)
        if _charged(state, one):
            return Decision()
        forgotten = _commit_published(state, one)
        if forgotten is not None:
            return Decision(happenings=(forgotten,))
        amount = one.cost.converted()
        lost = events.Reserved(
            request=one.request,
            reference=one.reference,
            dataset=one.dataset,
            question=question,
            cost=one.cost,
            epsilon=amount.epsilon,
            delta=amount.delta,
        )
        again = _again(state, lost, one.manifest, one.manifest)
        return Decision(happenings=(again,), documents=documents)

    chain.record(events.Recharged.kind, decide, now, mend=True)


def _return_unused(chain: Chain, now: datetime | None) -> tuple[tuple[str, Fraction], ...]:
    """What published alarms show was not used, where a crash came before it could be returned."""
    returned: list[events.Returned] = []

    def decide(state: State) -> Decision:
        returned.extend(
            events.Returned(request=one.request, epsilon=amount)
            for one in state.reservations.values()
            if (amount := state.returnable(one))
        )
        return Decision(happenings=tuple(returned))

    chain.record(events.Returned.kind, decide, now)
    return tuple((what.request, what.epsilon) for what in returned)
