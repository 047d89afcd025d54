"""Whether what a release claims follows from its question, its budget and its mechanism.

The question in release.json is checked by the rules it was asked by, and everything that was computed when
it was asked (the noise, the margin, the guarantee, the price) has to come out as it stands there: there is
one way to compute each of them, and no second one that could be wrong in another way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

import msgspec

from safeside.decisions.states import State
from safeside.errors import SafesideError
from safeside.ledger import Budget, Ledger, Releases, Stage
from safeside.ledger.account import NO_RELEASES
from safeside.ledger.state import SLACK_SECONDS
from safeside.privacy.guarantee import Unit
from safeside.records import Part, canonical
from safeside.releases.manifest import bad
from safeside.releases.methods import Conditions
from safeside.releases.question import common_threshold
from safeside.releases.record import Promised, ReleaseRecord, written
from safeside.releases.release import Release

_KNOWN: Final[Mapping[str, str]] = {
    "rate": "the noise is not what its epsilon needs",
    "pad": "the noise is not what its delta needs",
    "margin": "the margin of its lower bounds is not what alpha needs",
    "promise": "its promise is not that of its dataset's caps",
    "earlier": "it does not name the releases before it by a number and their digest",
}
_NO_MOMENT: Final = "the moment it speaks from is not one, or not written as safeside writes it"
_DIGEST: Final = re.compile("[0-9a-f]{64}")
_WORDS: Final = frozenset({"sentence", "promise"})


def check_claims(release: Release) -> None:
    """That noise, guarantee, price, promise and moment are what the question makes them."""
    record = release.record
    asked = _checked_question(release)
    _check_moment(record)
    mechanism = record.question.method.stated(asked)
    _compare(record.mechanism, mechanism, "its mechanism ({}) is not what its question and its epsilon need")
    if record.guarantee.caps is None or record.ledger is None:
        raise bad("it names no ledger, or not its dataset's caps")
    caps, unit = record.guarantee.caps, record.guarantee.unit
    try:
        promised = Promised.of(asked, unit=unit, caps=caps, earlier=_earlier(record))
    except (SafesideError, ValueError):
        raise bad("its unit of privacy, or its dataset's caps, are none") from None
    skipped = frozenset() if record.same_words else _WORDS
    says = "the guarantee it claims ({}) is not what its mechanism gives"
    _compare(record.guarantee, promised, says, skipped)
    _check_price(record, asked, caps)


def _checked_question(release: Release) -> Conditions:
    asked, question = release.conditions, release.record.question
    common = common_threshold(asked.targets, asked.at_most[: len(asked.targets)])
    if common != (question.at_most, question.at_most_of):
        raise bad("its question (at_most) is not as it would be asked")
    shares = None if question.groups is None else question.groups.limits()
    if shares is not None and asked.at_most.tolist() != [*shares.tolist()] * len(question.measures):
        raise bad("its thresholds are not the share it names of the sizes it lists")
    if question.forecast != question.method.forecast(asked.known):
        raise bad("its question (forecast) is not as it would be asked")
    return asked


def _check_moment(record: ReleaseRecord) -> None:
    """The moment it speaks from, to the second; nothing is known of a time that had not come."""
    try:
        known_on = datetime.fromisoformat(record.known_on)
        if known_on.tzinfo is None or written(known_on) != record.known_on:
            raise ValueError
    except ValueError:
        raise bad(_NO_MOMENT) from None
    question, window = record.question, record.question.each_window[-1]
    over = window.start if question.so_far else window.end
    if known_on < over.replace(microsecond=0):
        raise bad("it speaks from a moment before the time it is about was over, and does not say so")
    if question.so_far and known_on > window.end + timedelta(seconds=SLACK_SECONDS):
        raise bad("it speaks from a moment when the time it is about was over, and says so far")


def _earlier(record: ReleaseRecord) -> Releases:
    """As it is written, where it may be true: only no release has the digest of none."""
    given = record.guarantee.earlier
    said = Releases(number=given.number, digest=given.digest)
    plain = _DIGEST.fullmatch(said.digest) is not None
    return said if plain and (said.number == 0) == (said.digest == NO_RELEASES.digest) else NO_RELEASES


def _compare(given: Part, made: Part, says: str, skipped: frozenset[str] = frozenset()) -> None:
    for name, value in sorted(msgspec.structs.asdict(made).items()):
        if getattr(given, name) != value and name not in skipped:
            raise bad(_KNOWN.get(name, says.format(name)))


def _check_price(record: ReleaseRecord, asked: Conditions, caps: Budget) -> None:
    """What was reserved is the price of the whole, within the caps, whatever came back (docs/ledger.md)."""
    assert record.ledger is not None
    given = record.ledger.cost
    made = record.question.method.cost(asked, given.periods)
    _compare(given, made, "what it says was charged ({}) is not what its mechanism costs")
    if (record.guarantee.unit is Unit.PERSON) != (not given.periods):
        raise bad("the days or weeks it was charged to are not those of its unit of privacy")
    if not made.under_policy().fits(caps):
        raise bad("it cost more than its dataset's caps allow")


def check_charged(release: Release, ledger: Ledger) -> None:
    """That this ledger committed to this very release, at this price, and returned no more than may be."""
    charged, where = release.charged(), ledger.where
    known = ledger.committed(release.digest)
    if charged.ledger_id != ledger.ledger_id or known is None:
        raise bad(f"{where} has not committed to it")
    if known.stage is Stage.WITHDRAWN:
        raise bad(f"{where} says that it was withdrawn")
    if known.reference != charged.reference:
        raise bad(f"{where} knows its reservation by another reference")
    if (known.dataset, known.cost) != (charged.dataset, charged.cost):
        raise bad(f"{where} charged another price, or another dataset")
    asked = ledger.question(known).get("question")
    if asked is not None and canonical(asked) != canonical(release.record.question.recorded()):
        raise bad(f"{where} has recorded another question")
    alarms = release.record.answers[State.UNCLEAR.name]
    if known.returned is not None and known.returned > known.cost.unused(alarms):
        raise bad(f"{where} has returned more than its alarms leave unused")
