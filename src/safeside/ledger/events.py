"""The vocabulary of the ledger: what can be done, how it is written down, how it is chained.

An event is written once, as a typed record (`safeside.records`) that holds its own number and the digest of
the event before it; its own digest is the SHA-256 of those bytes. So a row that is changed, dropped, inserted
or moved is found by reading the list once, and the last digest stands for everything before it. How the
records may change is in docs/decisions/records.md: a new field of an action is optional, and an event of a
newer version is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any, ClassVar, Final

import msgspec

from safeside import records, untrusted
from safeside.errors import BadQuestion, MadeByNewer, SafesideError
from safeside.ledger.refusals import tampered
from safeside.privacy.account import Budget, Caps, Cost
from safeside.records import Part, Record

BEFORE_ALL: Final = "0" * 64
"""What the first event names as its predecessor."""
DOCUMENT: Final = "document"
"""A long value of a question is kept apart, once, and named by its digest under this word."""
_TIME: Final = "%Y-%m-%dT%H:%M:%S.%fZ"
_TIME_LENGTH: Final = len("2021-03-04T12:00:00.000000Z")
_LONG: Final = 2048


class Action(Part, frozen=True, kw_only=True, tag_field="kind"):
    """What an event says was done; each kind is a subclass."""

    @property
    def kind(self) -> str:
        """The word by which an event names what was done."""
        return kind_of(type(self))


def kind_of(action: type[Action]) -> str:
    """The word for a kind of action."""
    return str(action.__struct_config__.tag)


class LedgerCreated(Action, frozen=True, kw_only=True, tag="ledger"):
    """The first event; `key` is the digest of the fingerprint key, which nobody can then exchange."""

    ledger: str
    key: str
    software: str


class DatasetCreated(Action, frozen=True, kw_only=True, tag="dataset"):
    """A dataset with its caps and its limits, none of which ever change.

    Where outsiders see what is left (`public_balance`), a release that stops for bad input stays charged,
    because a balance that goes up again would tell. `max_places_per_person` and `people` are published with
    what needs them; chosen later, they could be chosen by what is in the data.
    """

    name: str
    caps: Caps
    public_balance: bool = False
    max_places_per_person: int | None = None
    people: int | None = None


class Charged(Action, frozen=True, kw_only=True):
    """A question and what it costs.

    `cost` is the price under the release's own definition; `charged` entered the account. `reference` is
    drawn by chance: the release names its reservation by it, because a number or a digest of the chain would
    tell the public how many events came before, and would depend on the input's fingerprint.
    """

    request: str
    reference: str
    dataset: str
    question: Mapping[str, Any]
    cost: Cost
    charged: Budget


class Reserved(Charged, frozen=True, kw_only=True, tag="reserve"):
    """A question, recorded and paid for before the data is read."""


class Recharged(Charged, frozen=True, kw_only=True, tag="recharge"):
    """A release of which no event is left, charged again at its own price, whether or not it fits."""

    manifest: str


class OfReservation(Action, frozen=True, kw_only=True):
    """Something that was done under a reservation.

    `reservation` is the digest of the event that reserved: a request id may stand for another reservation on
    a copy of the ledger, a digest never does.
    """

    request: str
    reservation: str


class Resumed(OfReservation, frozen=True, kw_only=True, tag="resume"):
    """A second run took up a reservation, perhaps on another machine: either may draw under it now."""


class Committed(OfReservation, frozen=True, kw_only=True, tag="commit"):
    """What was drawn for a reservation is the release with this manifest, and nothing else."""

    manifest: str
    fingerprint: str | None = None
    alarms: int | None = None


class Returned(OfReservation, frozen=True, kw_only=True, tag="return"):
    """Budget a sparse release did not use, by its published alarms."""

    epsilon: Fraction


class Withdrawn(OfReservation, frozen=True, kw_only=True, tag="withdraw"):
    """A whole release taken back; it stays charged."""

    reason: str


class Stopped(OfReservation, frozen=True, kw_only=True, tag="stop"):
    """A record broke a limit of its dataset. The reservation stays charged, and the time it looked at is
    closed to every other question: one that passes would tell what this one met.
    """


class FilesRead(Action, frozen=True, kw_only=True, tag="read"):
    """Keyed fingerprints of files that were read for a dataset, and for no other that is not linked to it."""

    dataset: str
    files: tuple[str, ...]


class Refused(Action, frozen=True, kw_only=True, tag="refuse"):
    """A question that was not answered, and why; `question` is its digest.

    `ends` is the digest of the reservation that goes back in full with it: nothing was drawn under it, so
    nothing is spent, and the request may be made again.
    """

    request: str
    dataset: str
    question: str
    reason: str
    ends: str | None = None


class Linked(Action, frozen=True, kw_only=True, tag="link"):
    """Two datasets hold the same people and share a budget from here on."""

    first: str
    second: str


class Found(Action, frozen=True, kw_only=True, tag="found"):
    """An event this chain had lost, word for word: what it spent is spent here too.

    Its digest follows from its words, so a lost charge can be answered by that very charge and by no other.
    """

    event: Mapping[str, Any]

    @classmethod
    def of(cls, lost: Event) -> Found:
        """The answer to a lost event."""
        return cls(event=lost.fields())

    def lost(self) -> Event:
        """The event that was lost; ValueError where it is none."""
        return parse(records.canonical(self.event).decode())


class ClockSet(Action, frozen=True, kw_only=True, tag="clock"):
    """Somebody confirmed that the clock, though behind the last event, is right."""

    reason: str


class Checkpoint(Action, frozen=True, kw_only=True, tag="checkpoint"):
    """What the account is at this place, as the digest of its snapshot (docs/decisions/ledger-checkpoint.md).

    It changes nothing. Whoever folds the list up to here must come to the same digest.
    """

    snapshot: str


AnyAction = (
    LedgerCreated
    | DatasetCreated
    | Reserved
    | FilesRead
    | Committed
    | Returned
    | Withdrawn
    | Refused
    | Stopped
    | Linked
    | Recharged
    | Found
    | ClockSet
    | Resumed
    | Checkpoint
)


class EventRecord(Record, frozen=True, kw_only=True):
    """An event as it is written."""

    kind: ClassVar[str] = "event"
    number: int
    previous: str
    time: str
    action: AnyAction


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The last event, which stands for all before it."""

    number: int
    digest: str


NOTHING: Final = Head(number=0, digest=BEFORE_ALL)


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """An action in its place in the chain, with the bytes that were hashed."""

    number: int
    previous: str
    time: datetime
    action: Action
    body: str
    digest: str

    @property
    def head(self) -> Head:
        """The chain up to and including this event."""
        return Head(number=self.number, digest=self.digest)

    def fields(self) -> dict[str, Any]:
        """As it is written."""
        fields: dict[str, Any] = untrusted.parse(self.body.encode())
        return fields

    def to_json(self) -> dict[str, Any]:
        """For people and programs that read the history."""
        return {**self.fields(), "digest": self.digest}


def digest(text: str) -> str:
    """SHA-256 of a text, in hexadecimal."""
    return records.digest(text.encode())


def make(head: Head, time: datetime, action: Action) -> Event:
    """The next event after `head`."""
    assert isinstance(action, AnyAction)
    moment = time.astimezone(UTC)
    record = EventRecord(
        number=head.number + 1, previous=head.digest, time=moment.strftime(_TIME), action=action
    )
    body = records.encode(record).decode()
    return _event(record, moment, body, digest(body))


def parse(body: str, known: str | None = None) -> Event:
    """An event from its text; ValueError where it is none, MadeByNewer where a newer safeside wrote it.

    `known` is its digest, where that was computed before.
    """
    try:
        record = _decoded(body)
        moment = datetime.fromisoformat(record.time)
    except MadeByNewer:
        raise
    except SafesideError as error:
        # An amount that nobody can spend, for instance.
        raise ValueError(error.what) from None
    if len(record.time) != _TIME_LENGTH or moment.utcoffset() != timedelta(0):
        raise ValueError("a moment is not written as the ledger writes it")
    return _event(record, moment, body, known or digest(body))


def stored(number: int, said: str, body: str) -> Event:
    """The event of a row; LedgerTampered where the row is not what was written."""
    # A witness keeps it as one line.
    if digest(body) != said or "\n" in body:
        raise tampered(number, "it is not what was written")
    try:
        event = parse(body, said)
    except ValueError:
        raise tampered(number, "it cannot be read") from None
    if event.number != number:
        raise tampered(number, "it does not follow the event before it")
    return event


def _event(record: EventRecord, time: datetime, body: str, said: str) -> Event:
    return Event(
        number=record.number,
        previous=record.previous,
        time=time,
        action=record.action,
        body=body,
        digest=said,
    )


def _decoded(data: str) -> EventRecord:
    """The record. Only `is_canonical` looks at its spelling: there may be a hundred thousand events."""
    try:
        return records.of_today(EventRecord, data)
    except (ValueError, RecursionError):
        pass
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        raise ValueError("it is not JSON") from None
    if not isinstance(value, dict):
        raise ValueError("it is no mapping of names to values")
    return records.upgraded(EventRecord, value)


def is_canonical(body: str) -> bool:
    """Whether the text of an event is spelled in the one way."""
    try:
        return records.canonical(untrusted.parse(body.encode())) == body.encode()
    except ValueError:
        return False


def shorten(question: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The question as it is stored, and its long values, which are kept apart under their digests.

    A list of five thousand places asked about every hour would be most of the ledger.
    """
    stored: dict[str, Any] = {}
    documents = {}
    for name, value in question.items():
        data = canonical(value)
        # A short value that looks like a reference (a place may be called "document") is kept apart too.
        if len(data) > _LONG or (isinstance(value, Mapping) and DOCUMENT in value):
            key = records.digest(data)
            documents[key] = data.decode()
            stored[name] = {DOCUMENT: key, "length": len(data)}
        else:
            stored[name] = untrusted.parse(data)
    return stored, documents


def canonical(value: object) -> bytes:
    """The one spelling of a question or a part of it; BadQuestion where it has none."""
    try:
        return records.canonical(value)
    except ValueError as why:
        raise BadQuestion(
            f"A question cannot be written in the ledger exactly: {why}.",
            "Write amounts and coordinates in it as text; use only text that UTF-8 holds, whole numbers, "
            "lists and mappings.",
        ) from None


def documents_of(action: Action) -> list[str]:
    """The documents that an action speaks of."""
    if isinstance(action, Found):
        return documents_of(action.lost().action)
    if not isinstance(action, Charged):
        return []
    named = [value.get(DOCUMENT) for value in action.question.values() if isinstance(value, dict)]
    return [one for one in named if isinstance(one, str)]
