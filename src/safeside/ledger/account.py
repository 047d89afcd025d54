"""The account of a dataset: what it may spend, what was charged to it, and for which questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from functools import reduce
from typing import Any, Final

import msgspec

from safeside import records
from safeside.ledger.events import Head, canonical, digest
from safeside.privacy.account import NONE, ZERO, Budget, Caps, Cost, Kind
from safeside.privacy.guarantee import Neighbours, Unit

LOOKED_AT: Final = "looked_at"
"""The part of a question that says from when until when the counting rule looks."""
ASKS: Final = "asks"
"""The part of a question that stands for what is asked, apart from the time."""
QUESTION: Final = "question"
"""Under this name of a recorded question stands the question itself."""
TARGETS: Final = "targets"
"""The part of a question that lists what was asked about."""
WINDOW: Final = "window"
"""The part of a question that says when."""
_RECENT: Final = 20
_ALIKE: Final = str.maketrans("01i|", "olll")


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
    """A dataset as it was created. The caps never change.

    Example
        >>> from safeside import create_ledger
        >>> with create_ledger("ledger.db") as ledger:
        ...     print(ledger.create_dataset("city", "person", epsilon=2).name)
        city
    """

    name: str
    caps: Caps
    created: datetime
    public_balance: bool = False
    """Whether outsiders see what is left, so that a stopped release has to stay charged."""
    max_places_per_person: int | None = None
    """The most places one person is counted at over an interval; whoever is at more stops a release."""
    people: int | None = None
    """A public number that no count exceeds."""

    @property
    def unit(self) -> Unit:
        """What one budget covers."""
        return self.caps.unit

    @property
    def timezone(self) -> str | None:
        """Where its days or weeks begin."""
        return self.caps.timezone

    @property
    def cap(self) -> Budget:
        """All that may be spent in each period."""
        return self.caps.budget


class Reservation(msgspec.Struct, frozen=True, kw_only=True):
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
    words: Head
    """The event in which the question and its price stand; another one where it was charged again."""
    stage: Stage = Stage.RESERVED
    manifest: str | None = None
    alarms: int | None = None
    fingerprint: str | None = None
    returned: Fraction | None = None
    recharged: bool = False
    resumed: bool = False
    """Taken up by a second run: from then on neither knows what the other has drawn."""
    stopped: bool = False
    """A record broke a limit of the dataset, and nothing was published under it since."""
    fresh: bool = False
    """Made by the very call that answered with it: nobody else can have drawn under it yet."""

    @property
    def targets(self) -> str:
        """The list it is about, as text: itself, or the name of the document that holds it."""
        return canonical(self.question.get(TARGETS)).decode()

    @property
    def window(self) -> str:
        """When it is about, as it was asked."""
        return "unknown" if self.question.get(WINDOW) is None else str(self.question[WINDOW])


@dataclass(frozen=True, kw_only=True, slots=True)
class Releases:
    """How many releases were published from the same people, and one digest that names them in their order.

    It starts at 64 zeros; each release makes it the SHA-256 of the text so far followed by its reference.
    Where datasets with releases are linked, it goes on from the SHA-256 of both, the smaller text first. So
    it takes no longer with many releases, and the history is enough to compute it (docs/ledger.md).
    """

    number: int = 0
    digest: str = "0" * 64

    def then(self, reference: str) -> Releases:
        """With one more release."""
        return Releases(number=self.number + 1, digest=digest(self.digest + reference))

    def together(self, other: Releases) -> Releases:
        """Those of two datasets that are linked."""
        if not self.number or not other.number:
            return self if self.number else other
        both = "".join(sorted((self.digest, other.digest)))
        return Releases(number=self.number + other.number, digest=digest(both))


NO_RELEASES: Final = Releases()


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
    published: Releases = NO_RELEASES
    linked: int = 0
    closed: bool = False
    """Its amounts are not in one currency: two copies of the ledger gave its dataset different units."""

    def remaining(self, period: str) -> Budget:
        """What is left for a period; below zero where something was charged that did not fit."""
        return self.cap - self.spent.get(period, NONE)

    def room(self, periods: Iterable[str]) -> Budget:
        """What is left in all of these periods: of each amount the least."""
        return reduce(Budget.least, map(self.remaining, periods), self.cap)

    def charge(self, periods: tuple[str, ...], cost: Budget) -> None:
        for period in periods:
            before, gross = self.spent.get(period, NONE), self.gross.get(period, NONE)
            self.spent[period] = after = before + cost
            # The same as long as nothing has come back, and exact sums are slow.
            self.gross[period] = after if gross is before or gross == before else gross + cost
            self.peak = after if self.peak.fits(after) else self.peak.most(after)

    def credit(self, periods: tuple[str, ...], amount: Budget, *, undo: bool = False) -> None:
        """Give back a part of a charge; or undo one under which nothing was drawn."""
        for period in periods:
            self.spent[period] = self.spent[period] - amount
            if undo:
                self.gross[period] = self.gross[period] - amount

    def close(self) -> None:
        """Nothing more is published from these datasets, and nothing is promised of what was."""
        self.cap, self.peak, self.closed = NONE, self.peak.most(Budget(delta=Fraction(1))), True

    @property
    def standing(self) -> Budget:
        """What holds for everything published so far: the caps, or more where a charge was forced.

        Never net of what came back (docs/proofs/refunds.md).
        """
        return self.cap.most(self.peak)


@dataclass(kw_only=True, slots=True)
class Asked:
    """How often one list of targets was asked about, and the first and the last time that was named."""

    questions: int
    first: str
    last: str


@dataclass(kw_only=True, slots=True)
class Tally:
    """What the reservations of one dataset add up to, so that nobody has to read all of them to say it."""

    stages: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)
    returned: Fraction = ZERO
    ordinary: dict[str, dict[str, Budget]] = field(default_factory=dict)
    """What releases under ordinary differential privacy add up to by themselves: by neighbours, by period."""
    asked: dict[str, Asked] = field(default_factory=dict)
    """By the list of targets, as the question has it."""
    recent: list[str] = field(default_factory=list)
    """The newest requests, oldest first: the last may go back, and then the one before is the last."""

    def add(self, one: Reservation) -> None:
        """Count a reservation at its present stage."""
        self._count(one, 1)
        if one.request not in self.recent:
            self.recent = [*self.recent, one.request][-_RECENT:]
        when = one.window
        if (key := one.targets) not in self.asked:
            self.asked[key] = Asked(questions=0, first=when, last=when)
        known = self.asked[key]
        known.questions += 1
        known.first, known.last = min(known.first, when), max(known.last, when)

    def remove(self, one: Reservation) -> None:
        """Forget a reservation that went back in full."""
        self._count(one, -1)
        self.recent = [request for request in self.recent if request != one.request]
        key = one.targets
        self.asked[key].questions -= 1
        if not self.asked[key].questions:
            del self.asked[key]

    def change(self, before: Reservation, after: Reservation) -> None:
        """The same reservation at another stage."""
        self._stage(before.stage, -1)
        self._stage(after.stage, 1)
        if after.returned != before.returned:
            self.returned += (after.returned or ZERO) - (before.returned or ZERO)

    def _stage(self, stage: Stage, many: int) -> None:
        self.stages[stage] = self.stages.get(stage, 0) + many

    def _count(self, one: Reservation, many: int) -> None:
        self._stage(one.stage, many)
        self.kinds[one.cost.kind] = self.kinds.get(one.cost.kind, 0) + many
        if one.returned:
            self.returned += many * one.returned
        for neighbours in Neighbours if one.cost.kind is not Kind.ADP else ():
            alone = one.cost.alone(neighbours)
            if alone is None:
                continue
            sums = self.ordinary.setdefault(neighbours, {})
            for period in one.cost.accounts:
                before = sums.get(period, NONE)
                sums[period] = before + alone if many > 0 else before - alone


def looked_at(question: Mapping[str, Any]) -> tuple[str, str]:
    """In UTC and of one shape, so that text compares as time does; all time where a question does not say."""
    said = question.get(LOOKED_AT)
    return (str(said[0]), str(said[1])) if isinstance(said, list) and len(said) == 2 else ("", "~")


def same_question(question: Mapping[str, Any]) -> str | None:
    """One text for questions that ask the same of the same time; None where a question does not say."""
    if question.get(ASKS) is None:
        return None
    return records.digest(canonical([question[ASKS], question.get(LOOKED_AT)]))


def skeleton(name: str) -> str:
    """The name as the eye takes it: no capitals, and one letter for those that look alike."""
    alike = name.casefold().translate(_ALIKE).replace("m", "rn").replace("w", "vv")
    return re.sub(r"[^a-z0-9]+", "-", alike).strip("-") or "-"


class Impossible(Exception):
    """An event that the rules do not allow at its place."""
