"""The account: what the events add up to, and which event may come next.

There is no table of balances that could disagree with the list of events. Every process folds the list
itself, and the same rules decide whether a new event is allowed and whether an old one can be true.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from typing import Any, Final

from safeside.errors import BadQuestion, LedgerTampered
from safeside.ledger import events
from safeside.ledger.events import Event, Head
from safeside.ledger.money import NONE, ZERO, Budget, Cost
from safeside.ledger.periods import check_periods
from safeside.privacy.guarantee import Unit


class Stage(StrEnum):
    """How far a reservation has come."""

    RESERVED = "reserved"
    """Paid for; nothing was published under it, as far as the ledger knows."""
    COMMITTED = "committed"
    """Published, or about to be: what was drawn is fixed."""
    WITHDRAWN = "withdrawn"
    """Published and taken back whole; still charged."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Dataset:
    """A dataset as it was created. The caps never change."""

    name: str
    unit: Unit
    timezone: str | None
    cap: Budget
    created: datetime
    public_balance: bool = False
    """Whether outsiders see what is left, so that a stopped release has to stay charged."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reservation:
    """One paid question: `number` and `digest` are its event; `reference` is what its release calls it."""

    ledger_id: str
    request: str
    reference: str
    dataset: str
    question: Mapping[str, Any]
    cost: Cost
    charged: Budget
    number: int
    digest: str
    time: datetime
    stage: Stage = Stage.RESERVED
    manifest: str | None = None
    alarms: int | None = None
    fingerprint: str | None = None
    returned: Fraction | None = None
    recharged: bool = False
    resumed: bool = field(default=False, compare=False)
    """Taken up by a second run: from then on neither knows what the other has drawn."""
    fresh: bool = field(default=False, compare=False)
    """Made by the very call that answered with it: nobody else can have drawn under it yet."""


@dataclass(kw_only=True, slots=True)
class Group:
    """Datasets of the same people, and their common account, period by period.

    `spent` is net of what came back; `gross` is not; `peak` is the most any period ever reached.
    """

    members: tuple[str, ...]
    unit: Unit
    timezone: str | None
    cap: Budget
    spent: dict[str, Budget] = field(default_factory=dict)
    gross: dict[str, Budget] = field(default_factory=dict)
    peak: Budget = NONE
    linked: int = 0

    def remaining(self, period: str) -> Budget:
        """What is left for a period; below zero where something was charged that did not fit."""
        return self.cap - self.spent.get(period, NONE)

    def charge(self, periods: tuple[str, ...], cost: Budget) -> None:
        for period in periods:
            self.spent[period] = self.spent.get(period, NONE) + cost
            self.gross[period] = self.gross.get(period, NONE) + cost
            self.peak = self.peak.most(self.spent[period])

    def credit(self, periods: tuple[str, ...], epsilon: Fraction) -> None:
        for period in periods:
            self.spent[period] = self.spent[period] - Budget(epsilon=epsilon)

    def undo(self, periods: tuple[str, ...], cost: Budget) -> None:
        """Take back a charge under which nothing was drawn."""
        for period in periods:
            self.spent[period] = self.spent[period] - cost
            self.gross[period] = self.gross[period] - cost

    @property
    def standing(self) -> Budget:
        """What holds for everything published so far: the caps, or more where a charge was forced.

        Never net of what came back (THEORY sections 4 and 7).
        """
        return self.cap.most(self.peak)


class Impossible(Exception):
    """An event that the rules do not allow at its place."""


PRIVATE: Final = "private"
PUBLIC: Final = "public"
SLACK_SECONDS: Final = 120
"""Clocks of several machines differ a little; an event is never dated before the one it follows."""


@dataclass(kw_only=True, slots=True)
class State:
    """Everything that follows from the events read so far."""

    ledger_id: str = ""
    head: Head = events.NOTHING
    time: datetime | None = None
    digests: list[str] = field(default_factory=list)
    datasets: dict[str, Dataset] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    reservations: dict[str, Reservation] = field(default_factory=dict)
    refusals: dict[str, events.Refused] = field(default_factory=dict)
    accounted: set[str] = field(default_factory=set)

    def read(self, number: int, digest: str, body: str) -> Event:
        """Fold one stored row; LedgerTampered names the first event that cannot be true."""
        expected = self.head.number + 1
        if number != expected:
            raise tampered(expected, "it is missing")
        if events.digest(body) != digest:
            raise tampered(number, "it is not what was written")
        try:
            event = events.parse(body)
        except (ValueError, KeyError, TypeError):
            raise tampered(number, "it cannot be read") from None
        if event.previous != self.head.digest or event.number != number:
            raise tampered(number, "it does not follow the event before it")
        try:
            self.apply(event)
        except Impossible as why:
            raise tampered(number, str(why)) from None
        except (BadQuestion, ValueError):
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
                self.ledger_id = what.ledger
            case events.DatasetCreated():
                self._dataset(what, event)
            case events.Reserved():
                self._reserve(what, event)
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
            case events.Linked():
                self._link(what, event)
            case events.Recharged():
                self._recharge(what, event)
            case events.Adopted():
                self.accounted.add(what.lost)
        self.head, self.time = event.head, event.time
        self.digests.append(event.digest)

    def holds(self, head: Head) -> bool:
        """Whether this chain passes through that event, or has accounted for it since."""
        if head.number == 0 or head.digest in self.accounted:
            return True
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

    def _dataset(self, what: events.DatasetCreated, event: Event) -> None:
        if what.name in self.datasets:
            raise Impossible("a dataset of that name exists already")
        cap = Budget(epsilon=what.epsilon, delta=what.delta)
        unit = Unit(what.unit)
        self.datasets[what.name] = Dataset(
            name=what.name,
            unit=unit,
            timezone=what.timezone,
            cap=cap,
            created=event.time,
            public_balance=what.balance == PUBLIC,
        )
        self.groups[what.name] = Group(members=(what.name,), unit=unit, timezone=what.timezone, cap=cap)

    def _reserve(self, what: events.Reserved, event: Event) -> None:
        if what.dataset not in self.datasets or what.request in self.reservations:
            raise Impossible("its dataset does not exist, or its request was reserved before")
        group = self.group(what.dataset)
        periods = check_periods(group.unit, what.cost.periods)
        amount = Budget(epsilon=what.epsilon, delta=what.delta)
        if not all(amount.fits(group.remaining(period)) for period in periods):
            raise Impossible("it spends more than was left")
        group.charge(periods, amount)
        self._remember(what, event)

    def _remember(self, what: events.Charged, event: Event) -> None:
        self.reservations[what.request] = Reservation(
            ledger_id=self.ledger_id,
            request=what.request,
            reference=what.reference,
            dataset=what.dataset,
            question=what.question,
            cost=what.cost,
            charged=Budget(epsilon=what.epsilon, delta=what.delta),
            number=event.number,
            digest=event.digest,
            time=event.time,
        )

    def _resume(self, what: events.Resumed) -> None:
        reservation = self._known(what.request)
        if not self.endable(reservation):
            raise Impossible("its reservation cannot go back anyway")
        self.reservations[what.request] = replace(reservation, resumed=True)

    def _commit(self, what: events.Committed) -> None:
        reservation = self._known(what.request)
        if reservation.stage is not Stage.RESERVED:
            raise Impossible("its reservation was committed before")
        if (what.alarms is None) != (reservation.cost.each is None):
            raise Impossible("it has alarms without being sparse, or the other way round")
        self.reservations[what.request] = replace(
            reservation,
            stage=Stage.COMMITTED,
            manifest=what.manifest,
            alarms=what.alarms,
            fingerprint=what.fingerprint,
        )

    def _give_back(self, what: events.Returned) -> None:
        reservation = self._known(what.request)
        if not 0 < what.epsilon <= self.returnable(reservation):
            raise Impossible("it returns what was used")
        group = self.group(reservation.dataset)
        group.credit(check_periods(group.unit, reservation.cost.periods), what.epsilon)
        self.reservations[what.request] = replace(reservation, returned=what.epsilon)

    def endable(self, reservation: Reservation) -> bool:
        """Whether a reservation may go back in full when its question is refused before anything is drawn.

        Only while a single run knows of it: of any other nobody can say that it has not drawn.
        """
        members = self.group(reservation.dataset).members
        public = any(self.datasets[name].public_balance for name in members)
        alone = not reservation.recharged and not reservation.resumed
        return reservation.stage is Stage.RESERVED and alone and not public

    def _refuse(self, what: events.Refused) -> None:
        if what.ends is not None:
            reservation = self._known(what.request)
            same = (reservation.digest, reservation.dataset) == (what.ends, what.dataset)
            if not same or not self.endable(reservation):
                raise Impossible("it returns what may have been drawn")
            group = self.group(reservation.dataset)
            group.undo(check_periods(group.unit, reservation.cost.periods), reservation.charged)
            del self.reservations[what.request]
        self.refusals[what.request] = what

    def _withdraw(self, what: events.Withdrawn) -> None:
        reservation = self._known(what.request)
        if reservation.stage is not Stage.COMMITTED:
            raise Impossible("it withdraws what was not published")
        self.reservations[what.request] = replace(reservation, stage=Stage.WITHDRAWN)

    def _link(self, what: events.Linked, event: Event) -> None:
        if what.first not in self.groups or what.second not in self.groups:
            raise Impossible("its datasets do not exist")
        one, two = self.group(what.first), self.group(what.second)
        if one is two or (one.unit, one.timezone) != (two.unit, two.timezone):
            raise Impossible("its datasets cannot share a budget")
        both = Group(
            members=tuple(sorted(one.members + two.members)),
            unit=one.unit,
            timezone=one.timezone,
            cap=one.cap.least(two.cap),
            linked=event.number,
        )
        # What came back before the link is not counted: see `returnable`.
        for group in (one, two):
            for period, amount in group.gross.items():
                both.charge((period,), amount)
        for name in both.members:
            self.groups[name] = both

    def _recharge(self, what: events.Recharged, event: Event) -> None:
        if what.dataset not in self.datasets or what.request in self.reservations:
            raise Impossible("its dataset does not exist, or its request was reserved before")
        group = self.group(what.dataset)
        amount = Budget(epsilon=what.epsilon, delta=what.delta)
        group.charge(check_periods(group.unit, what.cost.periods), amount)
        self._remember(what, event)
        self.reservations[what.request] = replace(
            self.reservations[what.request],
            recharged=True,
            manifest=what.manifest,
            stage=Stage.RESERVED if what.manifest is None else Stage.COMMITTED,
        )
        self.accounted.add(what.lost)

    def _known(self, request: str) -> Reservation:
        if request not in self.reservations:
            raise Impossible("its reservation does not exist")
        return self.reservations[request]


def tampered(number: int, why: str) -> LedgerTampered:
    """The error for an event that cannot be true."""
    return LedgerTampered(
        f"The ledger was altered: event {number} cannot be trusted ({why}).",
        "Publish nothing from it. Restore the ledger from a backup, then run `safeside ledger recover`, "
        "which charges again what was published since.",
    )
