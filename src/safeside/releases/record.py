"""release.json: what was asked, how it was answered, what is promised, and the digest of every file.

Its SHA-256, which the ledger keeps and the signature covers, stands for the whole release. docs/releases.md
describes the fields; docs/decisions/records.md how they may change.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import ClassVar, Final

import msgspec

from safeside import __version__, records, untrusted
from safeside.errors import BadRelease, MadeByNewer, SafesideError, UnsafeFile
from safeside.ledger.account import NO_RELEASES, Releases
from safeside.ledger.status import promise_of
from safeside.privacy.account import Budget, Cost
from safeside.privacy.guarantee import Neighbours, Unit
from safeside.records import Part, PlainText, Record
from safeside.releases import wording
from safeside.releases.methods import Conditions, Mechanism
from safeside.releases.methods.base import Number
from safeside.releases.question import Question

FILE: Final = "release.json"
SIGNATURE: Final = "signature.json"


class File(Part, frozen=True, kw_only=True):
    """A published file, by its size and digest."""

    bytes: Number
    sha256: str


def described(data: bytes) -> File:
    """The file with this content."""
    return File(bytes=len(data), sha256=records.digest(data))


class Software(Part, frozen=True, kw_only=True):
    """What made a file."""

    name: PlainText = "safeside"
    version: PlainText


class Earlier(Part, frozen=True, kw_only=True):
    """The releases from the same people before this one, by their number and one digest."""

    number: Number
    digest: str


class Promised(Part, frozen=True, kw_only=True):
    """What this release guarantees by itself, and what holds for everything from its dataset."""

    kind: PlainText
    unit: Unit
    neighbours: Neighbours
    epsilon: Fraction
    delta: Fraction
    sentence: PlainText
    caps: Budget | None = None
    promise: tuple[PlainText, ...]
    earlier: Earlier

    @classmethod
    def of(
        cls,
        asked: Conditions,
        *,
        unit: Unit = Unit.PERSON,
        caps: Budget | None = None,
        earlier: Releases = NO_RELEASES,
    ) -> Promised:
        """What follows from the question, and from the caps of the dataset; nothing without caps."""
        words = asked.question.words
        alone = replace(asked.question.method.mechanism(asked).guarantee, unit=unit)
        no_promise = (words("simulation.promise"), words("simulation.nothing"))
        return cls(
            kind="adp" if len(alone.policy) else "dp",
            unit=unit,
            neighbours=alone.neighbours,
            epsilon=alone.epsilon,
            delta=alone.delta,
            sentence=alone.sentence(words),
            caps=caps,
            promise=no_promise if caps is None else promise_of(caps, unit, words),
            earlier=Earlier(number=earlier.number, digest=earlier.digest),
        )


class Paid(Part, frozen=True, kw_only=True):
    """Where it was charged; nothing of it depends on other releases or on the data."""

    id: PlainText
    dataset: PlainText
    reference: PlainText
    cost: Cost


class ReleaseRecord(Record, frozen=True, kw_only=True):
    """Everything that a release says of itself."""

    kind: ClassVar[str] = "release"

    release: PlainText
    simulated: bool = False
    supersedes: PlainText | None = None
    known_on: PlainText
    question: Question
    counted: tuple[PlainText, ...]
    """What was counted, in sentences, with every exclusion."""
    mechanism: Mechanism
    outcome: dict[PlainText, int] = msgspec.field(default_factory=dict)
    """What was drawn of all conditions together, where the method publishes such a thing."""
    guarantee: Promised
    software: Software = Software(version=__version__)
    ledger: Paid | None = None
    answers: dict[str, Number] = msgspec.field(default_factory=dict)
    """How many conditions have each state, and how many are certified at 0."""
    files: dict[str, File] = msgspec.field(default_factory=dict)

    @property
    def same_words(self) -> bool:
        """Whether this version of the program made it: only then can its words be compared with ours."""
        return self.software == Software(version=__version__)


def read(directory: Path, name: str, limit: int = untrusted.MANIFEST_BYTES) -> bytes:
    """A file of a release; OSError where there is none, BadRelease where it is not one a release has."""
    try:
        return untrusted.read(directory / name, limit)
    except UnsafeFile as error:
        raise bad(error.what.rstrip(".")) from None


def bad(why: str) -> BadRelease:
    """The release is not what was published."""
    return BadRelease(
        f"This release was altered or is incomplete: {why}.",
        "Do not use it. Ask the publisher for the release again, and tell them what you found.",
    )


def written(moment: datetime) -> str:
    """A moment as release.json has it."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def decode(data: bytes) -> ReleaseRecord:
    """The record these bytes spell; BadRelease where they spell none, MadeByNewer where a later one did."""
    try:
        return records.decode(ReleaseRecord, data)
    except MadeByNewer:
        raise
    except (ValueError, SafesideError) as error:
        why = untrusted.visible(str(error).splitlines()[0])
        raise bad(f"{FILE} is not as a release has it ({why})") from None


def in_words(recorded: object) -> str | None:
    """A question as the ledger recorded it, in a sentence; none where this version cannot read it."""
    try:
        question = records.upgraded(Question, recorded) if isinstance(recorded, dict) else None
    except (ValueError, SafesideError):
        return None
    return None if question is None else wording.asked(question)
