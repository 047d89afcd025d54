"""The account of a dataset: what it may spend, what was charged to it, and for which questions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from typing import Any, Final

from safeside.ledger.money import NONE, Budget, Cost
from safeside.privacy.guarantee import Unit

PRIVATE: Final = "private"
PUBLIC: Final = "public"


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
    max_places_per_person: int | None = None
    """The most places one person is counted at over an interval; whoever is at more stops a release."""
    people: int | None = None
    """A public number that no count exceeds."""


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
    stopped: bool = field(default=False, compare=False)
    """A record broke a limit of the dataset, and nothing was published under it since."""
    fresh: bool = field(default=False, compare=False)
    """Made by the very call that answered with it: nobody else can have drawn under it yet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Releases:
    """How many releases were published from the same people, and one digest that names them in their order.

    It starts at 64 zeros; each release makes it the SHA-256 of the text so far followed by its reference.
    Where datasets are linked, it goes on from the SHA-256 of both digests, the smaller text first. So it
    takes no longer with many releases, and anybody who has the history can compute it (docs/ledger.md).
    """

    number: int = 0
    digest: str = "0" * 64

    def then(self, reference: str) -> Releases:
        """With one more release."""
        return Releases(number=self.number + 1, digest=_sha256(self.digest + reference))

    def together(self, other: Releases) -> Releases:
        """Those of two datasets that are linked."""
        number = self.number + other.number
        if not number:
            return self
        return Releases(number=number, digest=_sha256("".join(sorted((self.digest, other.digest)))))


NO_RELEASES: Final = Releases()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


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

    def close(self) -> None:
        """Nothing more is published from these datasets, and nothing is promised of what was."""
        self.cap, self.peak, self.closed = NONE, self.peak.most(Budget(delta=Fraction(1))), True

    @property
    def standing(self) -> Budget:
        """What holds for everything published so far: the caps, or more where a charge was forced.

        Never net of what came back (THEORY sections 4 and 7).
        """
        return self.cap.most(self.peak)


class Impossible(Exception):
    """An event that the rules do not allow at its place."""
