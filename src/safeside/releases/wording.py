"""The words readers see. "Safe" and "dangerous" are not among them.

Everything here speaks from the manifest alone, that is, from what is published anyway.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, Final
from zoneinfo import ZoneInfo

from safeside import exact

Manifest = Mapping[str, Any]

CANNOT_SAY: Final = "Cannot say"
NOT_ASKED: Final = "Not asked"
SIMULATION: Final = "Simulation: made-up or given counts, no ledger, no promise to anybody. Not a release."
_DAY: Final = timedelta(days=1)


def visitors(number: int) -> str:
    """One visitor, two visitors."""
    return "known infected visitor" if number == 1 else "known infected visitors"


def at_most(threshold: int | None) -> str:
    """The certain answer; without a number where places have thresholds of their own."""
    if threshold is None:
        return "At most the number set for the place"
    return f"At most {threshold} {visitors(threshold)}"


def at_least(threshold: int) -> str:
    """The answer that may be wrong, rarely."""
    return f"At least {threshold} {visitors(threshold)}"


def places(number: int) -> str:
    """1 place, 2 places."""
    return f"{number:,} place" if number == 1 else f"{number:,} places"


def local(moment: str, question: Manifest) -> datetime:
    """A moment of the manifest on the clock the question was asked in: its zone, or its offset."""
    if question["timezone"]:
        return datetime.fromisoformat(moment).astimezone(ZoneInfo(question["timezone"]))
    return datetime.fromisoformat(moment).astimezone(datetime.fromisoformat(question["start"]).tzinfo)


def clock(question: Manifest) -> str:
    """That clock's name."""
    if question["timezone"]:
        return str(question["timezone"])
    return str(datetime.fromisoformat(question["start"]).tzname())


def day(moment: datetime) -> str:
    """Wednesday 3 June 2020."""
    return f"{moment:%A} {moment.day} {moment:%B %Y}"


def when(question: Manifest) -> str:
    """The window in words, on its own clock."""
    start, end = local(question["start"], question), local(question["end"], question)
    named = f" ({clock(question)}){', so far' if question['so_far'] else ''}"
    if question["instant"]:
        return f"{day(start)}, {_clock(start)}{named}"
    if (start.hour, start.minute, start.second) == (0, 0, 0) == (end.hour, end.minute, end.second):
        last = (end.replace(tzinfo=None) - _DAY).date()
        if last == start.date():
            return f"{day(start)}, the whole day{named}"
        return f"{day(start)} to {day(end - _DAY)}{named}"
    if start.date() == end.date():
        return f"{day(start)}, {_clock(start)} to {_clock(end)}{named}"
    return f"{day(start)}, {_clock(start)} to {day(end)}, {_clock(end)}{named}"


def _clock(moment: datetime) -> str:
    return f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"


def known_on(manifest: Manifest) -> str:
    """The moment the answers speak from."""
    moment = local(manifest["known_on"], manifest["question"])
    return f"{moment.day} {moment:%B %Y}, {moment:%H:%M}"


def thresholds(question: Manifest) -> str:
    """The certain answer of this question."""
    return at_most(None if question["at_most_of"] else question["at_most"])


def title(manifest: Manifest) -> str:
    """For the top of a browser window."""
    marked = "Simulation: " if manifest["simulated"] else ""
    return f"{marked}{thresholds(manifest['question'])}, {when(manifest['question'])}"


def error_side(manifest: Manifest) -> list[str]:
    """On which side the answers may err, and on which they cannot."""
    question, mechanism = manifest["question"], manifest["mechanism"]
    sentences = [
        f'"{thresholds(question)}" is certain: it is never said of a place where more people, known at the '
        "moment named, were counted.",
        f'"{CANNOT_SAY}" is no warning: such a place may have had many, few or none. Noise is added to '
        "protect the people counted, and it can only make a quiet place unclear, never a busy one quiet.",
    ]
    if mechanism["alarms"] is not None:
        sentences.append(
            f'"{NOT_ASKED}": places are asked in an order fixed from public knowledge, and asking stops when '
            f"it could not be said {_times(mechanism['alarms'])}; about the rest nothing was asked."
        )
    if question["publish_at_least"]:
        sentences.append(
            f'"{at_least(question["at_least"])}" may be wrong: the probability that it is wrong for any '
            f"place of this release is at most {number(question['alpha'])}."
        )
    return sentences


def _times(count: int) -> str:
    return "once" if count == 1 else "twice" if count == 2 else f"{count} times"


_SO_FAR: Final = (
    "The time asked about was not over at that moment: the answers are about it so far, and say nothing of "
    "what came after."
)


def scope(manifest: Manifest) -> list[str]:
    """What is counted, and so what the answers are about."""
    return [
        f"The answers are about people, and from data, known on {known_on(manifest)}. People who were "
        "infected without anybody knowing are not counted, and what became known later does not change this "
        "page.",
        *([_SO_FAR] if manifest["question"]["so_far"] else []),
        *manifest["question"]["counted"],
    ]


def sentences(text: str) -> list[str]:
    """One text as its sentences, so that each can stand by itself."""
    return re.split(r"(?<=\.) (?=[A-Z])", text)


def promise(manifest: Manifest) -> list[str]:
    """The promise, and the places and times it speaks of."""
    guarantee = manifest["guarantee"]
    if manifest["simulated"]:
        return list(guarantee["promise"])
    asked, earlier = manifest["question"], guarantee["earlier"]
    many = earlier["number"]
    which = "no earlier one" if not many else f"{many:,} earlier {'one' if many == 1 else 'ones'}"
    here = f"{asked['when']}: {places(asked['places']['number'])}"
    named = f", which release.json names by the digest {earlier['digest'][:16]}..." if many else ""
    return [
        *guarantee["promise"],
        f"The places and times are those of this release ({here}) and of {which} from this dataset{named}.",
    ]


def no_slider(manifest: Manifest) -> str:
    """Why the threshold of this release cannot be moved."""
    if manifest["mechanism"]["alarms"] is not None:
        return (
            "The number cannot be moved here: each place was asked one question, and the answer says nothing "
            "about a smaller number."
        )
    return "The number cannot be moved here: one bit was published for each place, for this number alone."


def making(manifest: Manifest) -> list[str]:
    """How the answers were made, for those who want to know."""
    question, mechanism, guarantee = manifest["question"], manifest["mechanism"], manifest["guarantee"]
    lines = [f"{_mechanism(mechanism)} {guarantee['sentence']}"]
    if question["people"] is not None:
        lines.append(
            f"It was declared beforehand that no more than {question['people']:,} people are counted."
        )
    if mechanism["order"] is not None:
        lines.append(mechanism["order"]["text"])
    if question["at_least"] is not None and not question["publish_at_least"]:
        lines.append(
            f'The data files also say "{at_least(question["at_least"])}", each wrong with probability '
            f"at most {number(question['alpha_of_each_place'])}; this page does not show it."
        )
    zero = manifest["answers"]["certified_at_zero"]
    lines.append(
        f"{zero:,} of {question['places']['number']:,} places are shown, for certain, to have had no known "
        "infected visitor: facts about everybody."
    )
    if manifest["supersedes"]:
        lines.append(
            f"It supersedes the release {manifest['supersedes']}, with fresh noise. Its publisher declared "
            "that it does so on a schedule fixed beforehand, whether or not anything had changed."
        )
    if manifest["ledger"]:
        lines.append(
            f"Charged to the dataset {manifest['ledger']['dataset']} in the ledger "
            f"{manifest['ledger']['id']}, reference {manifest['ledger']['reference']}."
        )
    return lines


_NAMES: Final = {
    "ageo": "Each count was raised by geometric noise (AGeo)",
    "sageo": "Each place asked was answered through geometric noise on its count (SAGeo)",
    "padded": "Each count was raised by noise of limited size (PaddedGeo)",
    "decision": "Each answer is one random bit, the best that differential privacy allows (optimal decision)",
}


def _mechanism(mechanism: Manifest) -> str:
    name = _NAMES.get(mechanism["name"], mechanism["name"])
    spent = f"epsilon = {number(mechanism['epsilon'])}"
    if mechanism["delta"] != "0":
        spent += f", delta = {number(mechanism['delta'])}"
    return f"{name}, {spent}, drawn once."


def number(text: str) -> str:
    """An exact number as people write it."""
    value = Fraction(text)
    plain = exact.show(value)
    return plain if len(plain) <= 12 else f"{text} (about {float(value):.3g})"


def footer(manifest: Manifest) -> str:
    """What made the page and how to check it."""
    software = f"Made with {manifest['software']['name']} {manifest['software']['version']}."
    if manifest["simulated"]:
        return f"{SIMULATION} {software}"
    return f"Release {manifest['release']}. {software} Signed: check it with `safeside verify`."
