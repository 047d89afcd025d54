"""After a crash, a restored backup or a fork: say what happened, and charge again what was lost.

Three things are told apart. A reservation without a release is a crash: it stays paid, and repeating the
request finishes it for nothing. Events that the witness holds and that follow the chain exactly are put back
as they were. Whatever else was stored or published once, on a copy of this ledger, is charged again in full,
whether or not it fits (`other_branch`): the people in the data have already paid.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from safeside.errors import LedgerError, LedgerForked
from safeside.ledger import events, other_branch, rules
from safeside.ledger.account import Impossible, Reservation, Stage
from safeside.ledger.chain import Chain, Recorded
from safeside.ledger.events import Committed, Event
from safeside.ledger.refusals import exchanged
from safeside.ledger.state import State
from safeside.ledger.witness import Line
from safeside.privacy.account import Cost


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


def recover(
    chain: Chain, published: Iterable[Published], *, accept_clock: bool, now: datetime | None
) -> Recovery:
    """Make the ledger whole again and explain what is left open. Doing it twice changes nothing."""
    chain.read_everything()
    clock_set = accept_clock and _set_clock(chain, now)
    with chain.reading() as (state, _):
        before = {one.request for one in state.reservations()}
    restored = _put_back(chain)
    given = {one.manifest: one for one in published}
    # The other branch of a fork, event by event, each in a transaction of its own.
    for event in [_parsed(line) for line in chain.lost()]:
        _answer(chain, event, given, now)
    for one in given.values():
        _charge_published(chain, one, now)
    returned = _return_unused(chain, now)
    # Everything was read: from here on nobody has to, and each witness knows all of it.
    reservations = chain.record(events.Checkpoint, lambda _: (), now).reservations()
    chain.testify()
    return Recovery(
        restored=restored,
        recharged=tuple(one for one in reservations if one.recharged and one.request not in before),
        returned=returned,
        unfinished=tuple(one for one in reservations if one.stage is Stage.RESERVED),
        clock_set=clock_set,
    )


def _set_clock(chain: Chain, now: datetime | None) -> bool:
    action = events.ClockSet(reason="the clock was wrong before and is right now")
    moment = now or datetime.now(UTC)
    before = chain.head()

    def decide(state: State) -> Recorded:
        return action if state.time is not None and moment < state.time else ()

    return chain.record(events.ClockSet, decide, moment, recovering=True).head != before


def _put_back(chain: Chain) -> int:
    """Events that follow the chain exactly are appended as they were, digest and all."""
    restored = 0
    for line in chain.lost():
        if line.head.number == 1:
            raise exchanged()
        if _parsed(line).previous == chain.head().digest:
            chain.restore(line)
            restored += 1
    return restored


def _parsed(line: Line) -> Event:
    try:
        return events.parse(line.body)
    except ValueError:
        raise LedgerForked(
            f"A witness holds an event, number {line.head.number}, that this safeside cannot read.",
            "Use the version of safeside that wrote it, or put back the witness from a backup.",
        ) from None


def _answer(chain: Chain, event: Event, given: Mapping[str, Published], now: datetime | None) -> None:
    found = events.Found.of(event)
    documents = {one: chain.find_document(one) for one in events.documents_of(found)}

    def decide(state: State) -> Recorded:
        return () if state.holds(event.head) else found

    if isinstance(event.action, Committed):
        _require_price(chain, event.action, given, now)
    try:
        chain.record(events.Found, decide, now, documents=documents, recovering=True)
    except Impossible as why:
        raise LedgerForked(
            f"A witness holds an event, number {event.number}, that cannot be answered here ({why}): lines "
            "are missing from it, or it was altered.",
            "Put back the witness from a backup, or restore the ledger from a later backup; then run "
            "`safeside.recover_ledger(...)` again.",
        ) from None


def _require_price(
    chain: Chain, action: Committed, given: Mapping[str, Published], now: datetime | None
) -> None:
    """Where the witness has lost the reservation of a release, only the release can say what it cost."""
    with chain.reading() as (state, _):
        if other_branch.paid_by(state, action.reservation) is not None:
            return
    if action.manifest not in given:
        raise LedgerForked(
            f'The release for the request "{action.request}" was committed on a copy of this ledger, and '
            "its price is not known here.",
            'Run `safeside.recover_ledger(..., releases=["DIR"])` with the directory of that release.',
        )
    _charge_published(chain, given[action.manifest], now)


def _commit_published(state: State, one: Published) -> Committed | None:
    """The release that an open reservation of this chain paid for, where the ledger forgot the commit.

    Nothing of a sparse one comes back: how many alarms it had is not the ledger's own knowledge.
    """
    known = state.reservation(one.request)
    paid = (Stage.RESERVED, one.reference, one.dataset, one.cost)
    if known is None or (known.stage, known.reference, known.dataset, known.cost) != paid:
        return None
    each = known.cost.epsilon_each
    return Committed(
        request=one.request,
        reservation=known.digest,
        manifest=one.manifest,
        alarms=None if each is None else int(known.cost.epsilon / each),
    )


def _charge_published(chain: Chain, one: Published, now: datetime | None) -> None:
    if one.ledger_id != chain.identity.ledger_id:
        raise LedgerError(
            f'The release for the request "{one.request}" was charged to another ledger.',
            "Give only releases of this ledger; the ledger's id is in release.json.",
        )
    question, documents = events.shorten(one.question)

    def decide(state: State) -> Recorded:
        state.dataset(one.dataset)
        # A reservation alone is not enough: it would pay for this release and for whatever is drawn next.
        if state.lookup("manifest", one.manifest) is not None:
            return ()
        return _commit_published(state, one) or events.Recharged(
            request=other_branch.free_request(state, one.request, one.manifest),
            reference=one.reference,
            dataset=one.dataset,
            question=question,
            cost=one.cost,
            charged=one.cost.under_policy(),
            manifest=one.manifest,
        )

    chain.record(events.Recharged, decide, now, documents=documents, recovering=True)


def _return_unused(chain: Chain, now: datetime | None) -> tuple[tuple[str, Fraction], ...]:
    """What published alarms show was not used, where a crash came before it could be returned."""
    returned: list[events.Returned] = []

    def decide(state: State) -> Recorded:
        returned.extend(
            events.Returned(request=one.request, reservation=one.digest, epsilon=amount)
            for one in state.reservations()
            if (amount := rules.returnable(state, one))
        )
        return returned

    chain.record(events.Returned, decide, now)
    return tuple((action.request, action.epsilon) for action in returned)
