"""The account: what the events add up to, and which event may come next.

There is no table of balances that could disagree with the list of events. Every process folds the list
itself, and the same rules decide whether a new event is allowed and whether an old one can be true.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from typing import Any, Final

from safeside import exact
from safeside.errors import BadQuestion, LedgerTampered
from safeside.ledger import events, lost
from safeside.ledger.account import PUBLIC, Dataset, Group, Impossible, Reservation, Stage
from safeside.ledger.events import UNREADABLE, Event, Head
from safeside.ledger.money import ZERO, Budget
from safeside.ledger.periods import check_periods
from safeside.privacy.guarantee import Unit

_OfARequest = (
    events.Resumed | events.Committed | events.Returned | events.Refused | events.Stopped | events.Withdrawn
)
SLACK_SECONDS: Final = 120
"""Clocks of several machines differ a little; an event is never dated before the one it follows."""


@dataclass(kw_only=True, slots=True)
class State:
    """Everything that follows from the events read so far."""

    ledger_id: str = ""
    key: str = ""
    """The digest of the key under which input files are fingerprinted."""
    head: Head = events.NOTHING
    time: datetime | None = None
    digests: list[str] = field(default_factory=list)
    datasets: dict[str, Dataset] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    reservations: dict[str, Reservation] = field(default_factory=dict)
    refusals: dict[str, events.Refused] = field(default_factory=dict)
    files: dict[str, set[str]] = field(default_factory=dict)
    """For which datasets an input file, by its fingerprint, was read."""
    paid: dict[str, str] = field(default_factory=dict)
    """Under which request id the charge of a `reserve` event stands, by the digest of that event."""
    ended: dict[str, Reservation] = field(default_factory=dict)
    """Reservations that went back in full, by that digest: charged again if one turns out to be drawn."""
    accounted: set[str] = field(default_factory=set)
    """Digests of events of other branches whose words stand in a `found` event of this one."""

    def read(self, number: int, digest: str, body: str) -> Event:
        """Fold one stored row; LedgerTampered names the first event that cannot be true."""
        expected = self.head.number + 1
        if number != expected:
            raise tampered(expected, "it is missing")
        if events.digest(body) != digest:
            raise tampered(number, "it is not what was written")
        try:
            event = events.parse(body)
        except UNREADABLE:
            raise tampered(number, "it cannot be read") from None
        if event.previous != self.head.digest or event.number != number:
            raise tampered(number, "it does not follow the event before it")
        try:
            self.apply(event)
        except Impossible as why:
            raise tampered(number, str(why)) from None
        except (BadQuestion, *UNREADABLE):
            raise tampered(number, "its terms are not the ledger's") from None
        return event

    def apply(self, event: Event) -> None:
        """Fold the next event in, or raise `Impossible`."""
        what = event.what
        if self.time is not None and event.time < self.time and not isinstance(what, events.ClockSet):
            raise Impossible("it is dated before the event it follows")
        if (self.head.number == 0) != isinstance(what, events.LedgerCreated):
            raise Impossible("a ledger begins once")
        match what:
            case events.LedgerCreated():
                self.ledger_id, self.key = what.ledger, what.key
            case events.DatasetCreated():
                self.create(what, event)
            case events.Reserved():
                self._reserve(what, event)
            case events.FilesRead():
                self.read_files(what)
            case events.Resumed():
                self._resume(what)
            case events.Committed():
                self._commit(what)
            case events.Returned():
                self._give_back(what)
            case events.Withdrawn():
                self._withdraw(what)
            case events.Refused():
                self._refuse(what)
            case events.Stopped():
                self._stop(what)
            case events.Linked():
                self._link(what, event)
            case events.Recharged():
                self._recharge(what, event)
            case events.Found():
                lost.fold(self, what, event)
        self.head, self.time = event.head, event.time
        self.digests.append(event.digest)

    def holds(self, head: Head) -> bool:
        """Whether this chain passes through that event, or has accounted for it since."""
        return head.number == 0 or head.digest in self.accounted or self.passes(head)

    def passes(self, head: Head) -> bool:
        """Whether that event is one of this chain's own."""
        return head.number <= len(self.digests) and self.digests[head.number - 1] == head.digest

    def group(self, dataset: str) -> Group:
        """The account a dataset draws on."""
        return self.groups[dataset]

    def last(self, dataset: str) -> Reservation | None:
        """The newest reservation of a dataset."""
        own = [one for one in self.reservations.values() if one.dataset == dataset]
        return max(own, key=lambda one: one.number, default=None)

    def returnable(self, reservation: Reservation) -> Fraction:
        """What of a reservation may come back (THEORY section 4).

        Only what published alarms show was not used; and, where datasets were linked since, nothing: their
        common total was not fixed before the draw, which is what makes a refund sound.
        """
        if reservation.alarms is None or reservation.returned is not None:
            return ZERO
        if reservation.number <= self.group(reservation.dataset).linked or reservation.recharged:
            return ZERO
        return reservation.cost.unused(reservation.alarms)

    def create(self, what: events.DatasetCreated, event: Event) -> None:
        if what.name in self.datasets:
            raise Impossible("a dataset of that name exists already")
        cap = Budget(epsilon=exact.epsilon(what.epsilon), delta=exact.delta(what.delta))
        unit = Unit(what.unit)
        self.datasets[what.name] = Dataset(
            name=what.name,
            unit=unit,
            timezone=what.timezone,
            cap=cap,
            created=event.time,
            public_balance=what.balance == PUBLIC,
            max_places_per_person=what.max_places_per_person,
            people=what.people,
        )
        self.groups[what.name] = Group(members=(what.name,), unit=unit, timezone=what.timezone, cap=cap)

    def _reserve(self, what: events.Reserved, event: Event) -> None:
        group = self._chargeable(what)
        if what.request in self.reservations:
            raise Impossible("its request was reserved before")
        periods, amount = check_periods(group.unit, what.cost.periods), what.amount
        if not all(amount.fits(group.remaining(period)) for period in periods):
            raise Impossible("it spends more than was left")
        group.charge(periods, amount)
        self.remember(what, event)

    def _recharge(self, what: events.Recharged, event: Event) -> None:
        self.charge_again(what, event, what.request, stage=Stage.COMMITTED, manifest=what.manifest)

    def _chargeable(self, what: events.Charged) -> Group:
        """The account that pays; what enters it is what the price converts to, not a word more or less."""
        if what.dataset not in self.datasets:
            raise Impossible("its dataset does not exist")
        if what.amount != what.cost.converted():
            raise Impossible("it charges another amount than its price")
        return self.group(what.dataset)

    def charge_again(self, what: events.Charged, event: Event, request: str, **more: Any) -> Reservation:
        """Charge what was published or may have been, whether or not it fits; nothing of it comes back."""
        group = self._chargeable(what)
        if request in self.reservations:
            raise Impossible("its request was reserved before")
        if not group.closed:
            check_periods(group.unit, what.cost.periods)
        group.charge(what.cost.accounts, what.amount)
        again = replace(self.remember(what, event, request), recharged=True, **more)
        self.reservations[request] = again
        if again.stage is Stage.COMMITTED:
            group.published = group.published.then(again.reference)
        return again

    def remember(self, what: events.Charged, event: Event, request: str | None = None) -> Reservation:
        """The reservation that an event has paid for."""
        made = Reservation(
            ledger_id=self.ledger_id,
            request=request or what.request,
            reference=what.reference,
            dataset=what.dataset,
            question=what.question,
            cost=what.cost,
            charged=what.amount,
            number=event.number,
            digest=event.digest,
            time=event.time,
        )
        self.reservations[made.request] = made
        self.paid[event.digest] = made.request
        return made

    def read_files(self, what: events.FilesRead) -> None:
        """These files belong to a dataset."""
        if what.dataset not in self.datasets:
            raise Impossible("its dataset does not exist")
        for file in what.files:
            self.files.setdefault(file, set()).add(what.dataset)

    def _resume(self, what: events.Resumed) -> None:
        reservation = self._known(what)
        if not self.endable(reservation):
            raise Impossible("its reservation cannot go back anyway")
        self.reservations[what.request] = replace(reservation, resumed=True)

    def _commit(self, what: events.Committed) -> None:
        reservation = self._known(what)
        if reservation.stage is not Stage.RESERVED:
            raise Impossible("its reservation was committed before")
        self.fix(reservation, what)

    def fix(self, reservation: Reservation, what: events.Committed) -> None:
        """This is what was drawn under an open reservation."""
        if (what.alarms is None) != (reservation.cost.each is None):
            raise Impossible("it has alarms without being sparse, or the other way round")
        group = self.group(reservation.dataset)
        group.published = group.published.then(reservation.reference)
        self.reservations[reservation.request] = replace(
            reservation,
            stage=Stage.COMMITTED,
            stopped=False,
            manifest=what.manifest,
            alarms=what.alarms,
            fingerprint=what.fingerprint,
        )

    def _give_back(self, what: events.Returned) -> None:
        reservation = self._known(what)
        if not 0 < what.epsilon <= self.returnable(reservation):
            raise Impossible("it returns what was used")
        group = self.group(reservation.dataset)
        group.credit(reservation.cost.accounts, what.epsilon)
        self.reservations[what.request] = replace(reservation, returned=what.epsilon)

    def endable(self, reservation: Reservation) -> bool:
        """Whether a reservation may go back in full when its question is refused before anything is drawn.

        Only while a single run knows of it: of any other nobody can say that it has not drawn.
        """
        members = self.group(reservation.dataset).members
        public = any(self.datasets[name].public_balance for name in members)
        alone = not reservation.recharged and not reservation.resumed and not reservation.stopped
        return reservation.stage is Stage.RESERVED and alone and not public

    def _refuse(self, what: events.Refused) -> None:
        if what.ends is not None:
            reservation = self._known(what)
            same = (reservation.digest, reservation.dataset) == (what.ends, what.dataset)
            if not same or not self.endable(reservation):
                raise Impossible("it returns what may have been drawn")
            group = self.group(reservation.dataset)
            group.undo(reservation.cost.accounts, reservation.charged)
            self.ended[reservation.digest] = self.reservations.pop(what.request)
            del self.paid[reservation.digest]
        self.refusals[what.request] = what

    def _stop(self, what: events.Stopped) -> None:
        reservation = self._known(what)
        if reservation.stage is not Stage.RESERVED:
            raise Impossible("it stops what was drawn")
        self.reservations[what.request] = replace(reservation, stopped=True)

    def _withdraw(self, what: events.Withdrawn) -> None:
        reservation = self._known(what)
        if reservation.stage is not Stage.COMMITTED:
            raise Impossible("it withdraws what was not published")
        self.reservations[what.request] = replace(reservation, stage=Stage.WITHDRAWN)

    def _link(self, what: events.Linked, event: Event) -> None:
        if what.first not in self.groups or what.second not in self.groups:
            raise Impossible("its datasets do not exist")
        one, two = self.group(what.first), self.group(what.second)
        if one is two or (one.unit, one.timezone) != (two.unit, two.timezone):
            raise Impossible("its datasets cannot share a budget")
        self.unite(one, two, event)

    def unite(self, one: Group, two: Group, event: Event) -> None:
        """Two accounts of the same people become one, with the smaller caps."""
        both = Group(
            members=tuple(sorted(one.members + two.members)),
            unit=one.unit,
            timezone=one.timezone,
            cap=one.cap.least(two.cap),
            peak=one.peak.most(two.peak),
            published=one.published.together(two.published),
            linked=event.number,
            closed=one.closed or two.closed,
        )
        # What came back before the link is not counted: see `returnable`.
        for group in (one, two):
            for period, amount in group.gross.items():
                both.charge((period,), amount)
        for name in both.members:
            self.groups[name] = both

    def _known(self, what: _OfARequest) -> Reservation:
        """The reservation that an event speaks of; the digest it gives, if any, must be of that one."""
        known = self.reservations.get(what.request)
        if known is None:
            raise Impossible("its reservation does not exist")
        if getattr(what, "reservation", known.digest) != known.digest:
            raise Impossible("it is of another reservation")
        return known


def tampered(number: int, why: str) -> LedgerTampered:
    """The error for an event that cannot be true."""
    return LedgerTampered(
        f"The ledger was altered: event {number} cannot be trusted ({why}).",
        "Publish nothing from it. Run `safeside.recover_ledger(...)`, which keeps this database aside and "
        "makes the ledger anew from its witness.",
    )
