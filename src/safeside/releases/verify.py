"""Is this what was published, by whom it says, and does it hold together?

Five things are checked, each by itself enough to stop: the signature, the digest of every file, the schema,
that every state follows from the bounds that are published with it, and that noise, guarantee and price are
what the question and the mechanism make them. The question is checked by the rules it was asked by, and
everything that was computed when it was asked has to come out as it stands in release.json: there is one way
to compute each of them, and no second one that could be wrong in another way.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import polars as pl

from safeside.decisions.states import State
from safeside.errors import BadRelease, SafesideError
from safeside.ledger import Budget, Ledger, Releases, Stage
from safeside.ledger.account import NO_RELEASES
from safeside.ledger.rules import SLACK
from safeside.privacy.guarantee import Unit
from safeside.records import Part, canonical
from safeside.releases import files
from safeside.releases.files.answers import CSV
from safeside.releases.methods import Conditions
from safeside.releases.question import Targets, common_threshold
from safeside.releases.record import FILE, SIGNATURE, Promised, ReleaseRecord, bad, described, written
from safeside.releases.release import Release, load_release
from safeside.releases.signature import check_signature
from safeside.releases.signing import PublicKey, load_public
from safeside.untrusted import visible

_MOST_NAMES: Final = 100
"""More names than any release has files; of a directory with millions no more are listed."""
_KNOWN: Final[Mapping[str, str]] = {
    "rate": "the noise is not what its epsilon needs",
    "pad": "the noise is not what its delta needs",
    "margin": "the margin of its lower bounds is not what alpha needs",
    "promise": "its promise is not that of its dataset's caps",
    "earlier": "it does not name the releases before it by a number and their digest",
}
_DIGEST: Final = re.compile("[0-9a-f]{64}")
_WORDS: Final = frozenset({"sentence", "promise"})


def verify(
    directory: Path | str, key: Path | str | Sequence[PublicKey], *, ledger: Ledger | None = None
) -> Release:
    """The release, if all of it is true; otherwise BadSignature or BadRelease says what is not.

    Whoever has the ledger can have it checked too that it paid for this release what the release says.

    Example
        >>> import polars as pl
        >>> from safeside import create_key, create_ledger, publish, verify
        >>> pupils = pl.DataFrame({"person": ["ana", "ben", "chi"], "group": ["north", "north", "south"]})
        >>> with create_ledger("ledger.db") as ledger:
        ...     made = ledger.create_dataset("pupils", "person", epsilon=2)
        >>> key = create_key("safeside.key")
        >>> asked = {"groups": ["north", "south"], "as_of": "2024-03-03", "at_most": 2, "epsilon": 1}
        >>> release = publish(pupils, **asked, dataset="pupils", ledger="ledger.db", out="release")
        >>> verify("release", key="safeside.key.pub").id == release.id
        True
    """
    keys = load_public(key) if isinstance(key, Path | str) else tuple(key)
    release = load_release(directory)
    if release.simulated:
        raise BadRelease(
            f'"{release.directory}" is a simulation, not a release: it was charged to no ledger and promises '
            "nothing.",
            "Use `safeside.publish(...)` to make a release.",
        )
    signature = check_signature(release.directory, FILE, keys)
    if signature.sha256 != release.digest:
        raise bad("release.json was replaced while it was looked at")
    check_files(release)
    check_claims(release)
    charged = release.charged()
    if (signature.ledger, signature.reference) != (charged.ledger_id, charged.reference):
        raise bad("the ledger's receipt in signature.json is not of the ledger it names")
    if release.record.same_words:
        # Another version says the same in other words.
        _check_copies(release, pages=True)
    if ledger is not None:
        check_charged(release, ledger)
    return release


def check_files(release: Release) -> None:
    """That the files are those of the record, that the answers hold, and that their copies agree."""
    _check_digests(release)
    _check_answers(release)
    _check_copies(release, pages=False)


def _check_copies(release: Release, *, pages: bool) -> None:
    for one in files.LIST:
        if one.agrees is None or one.page is not pages:
            continue
        try:
            same = one.agrees(release)
        except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError):
            same = False
        if not same:
            against = FILE if one.name == files.STATEMENT else CSV
            raise bad(f"{one.name} does not say what {against} says")


def _check_digests(release: Release) -> None:
    listed = release.record.files
    if listed.keys() != files.names(release.record):
        raise bad("release.json lists other files than a release has")
    strange = _names(release) - listed.keys() - {FILE, SIGNATURE}
    if strange:
        raise bad(f"it holds a file that is not part of it, {visible(min(strange))}")
    for name, entry in sorted(listed.items()):
        try:
            data = release.file(name)
        except OSError:
            raise bad(f"{name} is missing") from None
        if described(data) != entry:
            raise bad(f"{name} is not the file that was signed")


def _names(release: Release) -> set[str]:
    """The names of its files, or as many as show that it is no release."""
    if release.held is not None:
        return set(release.held)
    try:
        with os.scandir(release.directory) as entries:
            return {entry.name for entry in islice(entries, _MOST_NAMES)}
    except OSError:
        raise bad("its directory cannot be read") from None


def _check_answers(release: Release) -> None:
    """Every condition is answered, and every state and bound is one that its method can have led to."""
    answers, question = release.answers, release.record.question
    if len(answers.targets) != question.targets.number:
        raise bad("answers.csv does not list every place once in each window, in order")
    if Targets.of(answers.targets) != question.targets:
        raise bad("answers.csv is about other places than the question")
    if answers.counted() != release.record.answers:
        raise bad("the numbers of answers are not those of answers.csv")
    asked, method = release.conditions, question.method
    if not release.record.outcome.keys() <= method.outcomes:
        raise bad("it publishes what its method does not")
    most = np.iinfo(np.int64).max if question.people is None else question.people
    bounds = ~answers.bounded | ((answers.lower <= answers.upper) & (answers.upper <= most))
    possible = (answers.lower >= 0) & bounds & method.follows(asked, answers, release.record.outcome)
    if not possible.all():
        raise bad("a state in answers.csv does not follow from its bounds")
    wrong = method.why_impossible(asked, answers, release.record.outcome)
    if wrong is not None:
        raise bad(wrong)


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
        raise bad("the moment it speaks from is not one, or not written as safeside writes it") from None
    question, window = record.question, record.question.each_window[-1]
    over = window.start if question.so_far else window.end
    if known_on < over.replace(microsecond=0):
        raise bad("it speaks from a moment before the time it is about was over, and does not say so")
    if question.so_far and known_on > window.end + SLACK:
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
