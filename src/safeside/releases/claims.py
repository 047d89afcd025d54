"""Whether what a release claims follows from its question, its budget and its mechanism.

The question that release.json describes is asked anew, of the places in answers.csv. Everything that was
computed when it was asked (the noise, the margin, the guarantee, the price) has to come out as it stands
there: so there is one way to compute each of them, and no second one that could be wrong in another way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from safeside.decisions.states import State
from safeside.errors import SafesideError
from safeside.ledger import Budget, Ledger, Releases, Stage
from safeside.ledger.account import NO_RELEASES
from safeside.ledger.state import SLACK_SECONDS
from safeside.ledger.status import promise_of
from safeside.privacy.guarantee import Unit
from safeside.releases.composing import Setting, draft
from safeside.releases.contents import same_words
from safeside.releases.follows import amount, thresholds
from safeside.releases.manifest import bad
from safeside.releases.order import KINDS, Order
from safeside.releases.question import ADP, DP, Question, Terms, ask
from safeside.releases.release import Release
from safeside.releases.wording import Manifest
from safeside.visits import Places, Window
from safeside.zones import find_zone

_ORDINARY: Final = frozenset({"padded", "decision"})
_ONE_BIT: Final = "decision"
_SAYS: Final[Mapping[str, str]] = {
    "question": "its question ({}) is not as it would be asked",
    "mechanism": "its mechanism ({}) is not what its question and its epsilon need",
    "guarantee": "the guarantee it claims ({}) is not what its mechanism gives",
    "cost": "what it says was charged ({}) is not what its mechanism costs",
}
_KNOWN: Final = {
    ("mechanism", "rate"): "the noise is not what its epsilon needs",
    ("mechanism", "pad"): "the noise is not what its delta needs",
    ("mechanism", "margin"): "the margin of its lower bounds is not what alpha needs",
    ("guarantee", "promise"): "its promise is not that of its dataset's caps",
    ("guarantee", "earlier"): "it does not name the releases before it by a number and their digest",
}
_NO_MOMENT: Final = "the moment it speaks from is not one, or not written as safeside writes it"
_DIGEST: Final = re.compile("[0-9a-f]{64}")
_WORDS: Final = frozenset({"sentence", "promise"})


def check_claims(release: Release) -> None:
    """That noise, guarantee, price, promise and moment are what the question makes them."""
    record = release.manifest
    _check_order(record)
    question = _asked_anew(record, release.answers.places)
    known_on = _known_on(record, question)
    made = draft(question, _setting(record, known_on))
    for part in ("question", "mechanism", "guarantee"):
        _compare(part, record[part], made[part], words=same_words(record))
    if made["known_on"] != record["known_on"]:
        raise bad(_NO_MOMENT)
    _check_price(record, question)


def _asked_anew(record: Manifest, places: tuple[str, ...]) -> Question:
    asked, mechanism = record["question"], record["mechanism"]
    name, order = mechanism["name"], mechanism["order"]
    terms = Terms(
        epsilon=amount(mechanism["epsilon"]),
        delta=amount(mechanism["delta"]),
        guarantee=DP if name in _ORDINARY else ADP,
        max_places_per_person=mechanism["places_per_person"],
        max_alarms=mechanism["alarms"],
        at_least=asked["at_least"],
        alpha=None if asked["alpha"] is None else amount(asked["alpha"]),
        publish_at_least=asked["publish_at_least"],
        people=asked["people"],
        decision=name == _ONE_BIT,
        # Which order it was does not matter to what is claimed; order.csv is compared with the answers.
        order=None if order is None else "random",
        so_far=asked["so_far"],
    )
    try:
        # The moments carry their offsets, so that the zones of this machine have no say in them.
        window = Window.parse(asked["when"])
        if asked["timezone"] is not None:
            find_zone(asked["timezone"])
        listed = Places.of(places, at_most=thresholds(record, places))
        counted = tuple(asked["counted"])
        question = ask(listed, window, terms, timezone=asked["timezone"], counted=counted)
    except SafesideError as error:
        raise bad(f"its question is one that is refused ({error.what.rstrip('.')})") from None
    if order is None:
        return question
    return replace(question, order=Order(kind=order["kind"], text=order["text"], ranks=None))


def _check_order(record: Manifest) -> None:
    order = record["mechanism"]["order"]
    if (order is None) != (record["mechanism"]["alarms"] is None) or (
        order is not None and order["kind"] not in KINDS
    ):
        raise bad("the order in which places were asked is not recorded as it must be")


def _known_on(record: Manifest, question: Question) -> datetime:
    """The moment it speaks from, to the second; nothing is known of a time that had not come."""
    try:
        known_on = datetime.fromisoformat(record["known_on"])
    except ValueError:
        raise bad(_NO_MOMENT) from None
    if known_on.tzinfo is None:
        raise bad(_NO_MOMENT)
    window = question.window
    over = window.start if question.so_far else window.end
    if known_on < over.replace(microsecond=0):
        raise bad("it speaks from a moment before the time it is about was over, and does not say so")
    if question.so_far and known_on > window.end + timedelta(seconds=SLACK_SECONDS):
        raise bad("it speaks from a moment when the time it is about was over, and says so far")
    return known_on


def _setting(record: Manifest, known_on: datetime) -> Setting:
    guarantee, ledger = record["guarantee"], record["ledger"]
    if guarantee["caps"] is None or ledger is None:
        raise bad("it names no ledger, or not its dataset's caps")
    caps = Budget(epsilon=amount(guarantee["caps"]["epsilon"]), delta=amount(guarantee["caps"]["delta"]))
    try:
        unit = Unit(guarantee["unit"])
        promise = promise_of(caps, unit)
    except (SafesideError, ValueError):
        raise bad("its unit of privacy, or its dataset's caps, are none") from None
    return Setting(
        release=record["release"],
        known_on=known_on,
        simulated=False,
        promise=promise,
        earlier=_earlier(guarantee["earlier"]),
        unit=unit,
        caps=caps,
        ledger=ledger,
        supersedes=record["supersedes"],
    )


def _earlier(given: Manifest) -> Releases:
    """As it is written, where it may be true: only no release has the digest of none."""
    said = Releases(number=given["number"], digest=given["digest"])
    plain = said.number >= 0 and _DIGEST.fullmatch(said.digest) is not None
    return said if plain and (said.number == 0) == (said.digest == NO_RELEASES.digest) else NO_RELEASES


def _compare(part: str, given: Manifest, made: Mapping[str, Any], *, words: bool) -> None:
    for name, value in sorted(made.items()):
        if given[name] != value and (words or name not in _WORDS):
            raise bad(_KNOWN.get((part, name), _SAYS[part].format(name)))


def _check_price(record: Manifest, question: Question) -> None:
    """What was reserved is the price of the whole, within the caps, whatever came back later (section 4)."""
    given = record["ledger"]["cost"]
    made = question.design.cost(tuple(given["periods"]))
    _compare("cost", given, made.to_json(), words=True)
    unit, caps = Unit(record["guarantee"]["unit"]), record["guarantee"]["caps"]
    if (unit is Unit.PERSON) != (not given["periods"]):
        raise bad("the days or weeks it was charged to are not those of its unit of privacy")
    room = Budget(epsilon=amount(caps["epsilon"]), delta=amount(caps["delta"]))
    if not made.converted().fits(room):
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
    alarms = release.manifest["answers"][State.UNCLEAR.name]
    if known.returned is not None and known.returned > known.cost.unused(alarms):
        raise bad(f"{where} has returned more than its alarms leave unused")
