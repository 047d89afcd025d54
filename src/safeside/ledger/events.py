"""The vocabulary of the ledger: what can happen, how it is written down, how it is chained.

An event is written once, as canonical JSON that holds its own number and the digest of the event before it;
its own digest is the SHA-256 of those bytes. So a row that is changed, dropped, inserted or moved is found by
reading the list once, and the last digest stands for everything before it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, ClassVar, Final

from safeside.errors import BadQuestion
from safeside.ledger import money
from safeside.ledger.money import Budget, Cost

BEFORE_ALL: Final = "0" * 64
"""What the first event names as its predecessor."""
DOCUMENT: Final = "document"
"""A long value of a question is kept apart, once, and named by its digest under this word."""
UNREADABLE: Final = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What reading words that are no event may raise."""
_TIME: Final = "%Y-%m-%dT%H:%M:%S.%fZ"


def canonical(value: object) -> str:
    """JSON with one spelling for each value: sorted, no spaces, no floating point."""
    _refuse_floats(value)
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadQuestion(
            "A text holds half a character, which no file can hold.",
            "Read the input in its own encoding; UTF-8 is usual.",
        ) from None
    return text


def _refuse_floats(value: object) -> None:
    if value is None or isinstance(value, str | int):
        return
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        for item in value.values():
            _refuse_floats(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _refuse_floats(item)
    else:
        raise BadQuestion(
            f"A {type(value).__name__} cannot be written in the ledger exactly.",
            "Write amounts and coordinates in a question as text; use only text, whole numbers, lists and "
            "mappings.",
        )


def digest(text: str) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class Happening:
    """What an event says; each kind is a subclass. Fields are read and written by their type."""

    kind: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """As it stands in the event, without number, time and predecessor."""
        return {field.name: _write(getattr(self, field.name)) for field in dataclasses.fields(self)}


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerCreated(Happening):
    """The first event; `key` is the digest of the fingerprint key, which nobody can then exchange."""

    kind: ClassVar[str] = "ledger"
    ledger: str
    key: str
    software: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasetCreated(Happening):
    """A dataset with its unit of privacy, its caps and its limits, none of which ever change.

    `balance` says who can see what is left: "private", or "public", where a release that stops for bad input
    stays charged, because a balance that goes up again would tell. `max_places_per_person` and `people` are
    published with what needs them; chosen later, they could be chosen by what is in the data.
    """

    kind: ClassVar[str] = "dataset"
    name: str
    unit: str
    timezone: str | None
    epsilon: Fraction
    delta: Fraction
    balance: str
    max_places_per_person: int | None
    people: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Charged(Happening):
    """A question and what it costs.

    `cost` is the price under the release's own definition; `epsilon` and `delta` entered the account.
    `reference` is drawn by chance: the release names its reservation by it, because a number or a digest of
    the chain would tell the public how many events came before, and would depend on the input's fingerprint.
    """

    request: str
    reference: str
    dataset: str
    question: Mapping[str, Any]
    cost: Cost
    epsilon: Fraction
    delta: Fraction

    @property
    def amount(self) -> Budget:
        """What entered the account."""
        return Budget(epsilon=self.epsilon, delta=self.delta)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reserved(Charged):
    """A question, recorded and paid for before the data is read."""

    kind: ClassVar[str] = "reserve"


@dataclass(frozen=True, kw_only=True, slots=True)
class Resumed(Happening):
    """A second run took up a reservation, perhaps on another machine: either may draw under it now."""

    kind: ClassVar[str] = "resume"
    request: str
    reservation: str


@dataclass(frozen=True, kw_only=True, slots=True)
class FilesRead(Happening):
    """Keyed fingerprints of files that were read for a dataset, and for no other that is not linked to it."""

    kind: ClassVar[str] = "read"
    dataset: str
    files: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Committed(Happening):
    """What was drawn for a reservation is the release with this manifest, and nothing else.

    Here, as in `resume` and `withdraw`, `reservation` is the digest of the event that reserved: a request id
    may stand for another reservation on a copy of the ledger, a digest never does.
    """

    kind: ClassVar[str] = "commit"
    request: str
    reservation: str
    manifest: str
    fingerprint: str | None
    alarms: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Returned(Happening):
    """Budget a sparse release did not use, by its published alarms."""

    kind: ClassVar[str] = "return"
    request: str
    epsilon: Fraction


@dataclass(frozen=True, kw_only=True, slots=True)
class Withdrawn(Happening):
    """A whole release taken back; it stays charged."""

    kind: ClassVar[str] = "withdraw"
    request: str
    reservation: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused(Happening):
    """A question that was not answered, and why.

    `ends` is the digest of the reservation that goes back in full with it: nothing was drawn under it, so
    nothing is spent, and the request may be made again.
    """

    kind: ClassVar[str] = "refuse"
    request: str
    dataset: str
    question: str
    reason: str
    ends: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Stopped(Happening):
    """A record broke a limit of its dataset. The reservation stays charged, and the time it looked at is
    closed to every other question: one that passes would tell what this one met.
    """

    kind: ClassVar[str] = "stop"
    request: str
    reservation: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Linked(Happening):
    """Two datasets hold the same people and share a budget from here on."""

    kind: ClassVar[str] = "link"
    first: str
    second: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Recharged(Charged):
    """A release of which no event is left, charged again at its own price, whether or not it fits."""

    kind: ClassVar[str] = "recharge"
    manifest: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Found(Happening):
    """An event this chain had lost, word for word: what it spent is spent here too.

    Its digest follows from its words, so a lost charge can be answered by that very charge and by no other.
    """

    kind: ClassVar[str] = "found"
    event: Mapping[str, Any]

    @classmethod
    def of(cls, lost: Event) -> Found:
        """The answer to a lost event."""
        return cls(event=json.loads(lost.body))

    def lost(self) -> Event:
        """The event that was lost; what `parse` raises where it is none."""
        return parse(canonical(self.event))


@dataclass(frozen=True, kw_only=True, slots=True)
class ClockSet(Happening):
    """Somebody confirmed that the clock, though behind the last event, is right."""

    kind: ClassVar[str] = "clock"
    reason: str


KINDS: Final[Mapping[str, type[Happening]]] = {
    one.kind: one
    for one in (
        *(
            LedgerCreated,
            DatasetCreated,
            Reserved,
            FilesRead,
            Committed,
            Returned,
            Withdrawn,
            Refused,
            Stopped,
        ),
        *(Linked, Recharged, Found, ClockSet, Resumed),
    )
}


def documents_of(what: Happening) -> list[str]:
    """The documents an event speaks of."""
    if isinstance(what, Found):
        return documents_of(what.lost().what)
    if not isinstance(what, Charged):
        return []
    return [
        value[DOCUMENT] for value in what.question.values() if isinstance(value, dict) and DOCUMENT in value
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Head:
    """The last event, which stands for all before it."""

    number: int
    digest: str


NOTHING: Final = Head(number=0, digest=BEFORE_ALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """A happening in its place in the chain, with the bytes that were hashed."""

    number: int
    previous: str
    time: datetime
    what: Happening
    body: str
    digest: str

    @property
    def head(self) -> Head:
        """The chain up to and including this event."""
        return Head(number=self.number, digest=self.digest)

    def to_json(self) -> dict[str, Any]:
        """For people and programs that read the history."""
        fields: dict[str, Any] = json.loads(self.body)
        return {**fields, "digest": self.digest}


def make(head: Head, time: datetime, what: Happening) -> Event:
    """The next event after `head`."""
    body = canonical(
        {
            "number": head.number + 1,
            "previous": head.digest,
            "time": time.astimezone(UTC).strftime(_TIME),
            "kind": what.kind,
            **what.to_json(),
        }
    )
    return Event(
        number=head.number + 1,
        previous=head.digest,
        time=time.astimezone(UTC),
        what=what,
        body=body,
        digest=digest(body),
    )


def parse(body: str) -> Event:
    """An event from its bytes; one of `UNREADABLE` where they are not one."""
    fields = json.loads(body)
    time = datetime.strptime(fields.pop("time"), _TIME).replace(tzinfo=UTC)
    number, previous = int(fields.pop("number")), str(fields.pop("previous"))
    kind = KINDS[fields.pop("kind")]
    readers = _READERS[kind.kind]
    if fields.keys() != readers.keys():
        raise ValueError(f"a {kind.kind} event with other fields")
    what = kind(**{name: reader(fields[name]) for name, reader in readers.items()})
    return Event(number=number, previous=previous, time=time, what=what, body=body, digest=digest(body))


def _write(value: object) -> object:
    if isinstance(value, Fraction):
        return money.written(value)
    if isinstance(value, Cost):
        return value.to_json()
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("text was expected")
    return value


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError("a count was expected")
    return value


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("a mapping was expected")
    return value


_BY_TYPE: Final[Mapping[str, Callable[[Any], Any]]] = {
    "str": _text,
    "str | None": lambda value: None if value is None else _text(value),
    "int | None": lambda value: None if value is None else _count(value),
    "tuple[str, ...]": lambda value: tuple(_text(one) for one in value),
    "Fraction": money.read,
    "Cost": Cost.from_json,
    "Mapping[str, Any]": _mapping,
}
_READERS: Final = {
    name: {field.name: _BY_TYPE[str(field.type)] for field in dataclasses.fields(kind)}
    for name, kind in KINDS.items()
}
