"""What a release says, sentence by sentence. "Safe" and "dangerous" are not among its words.

Everything here speaks from the manifest alone, that is, from what is published anyway; the sentences stand in
the catalogue (`safeside.words`), by language and with the nouns of the question's subject.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import msgspec

from safeside import exact
from safeside.decisions.states import State
from safeside.releases import times
from safeside.words import Subject, Words

Manifest = Mapping[str, Any]
_DIGEST_SHOWN: Final = 16
_LONG_NUMBER: Final = 12


def words(question: Manifest) -> Words:
    """The catalogue, in the language of the question and about its subject."""
    return _words(question["language"], tuple(sorted(question["subject"].items())))


@lru_cache(maxsize=64)
def _words(language: str, subject: tuple[tuple[str, str], ...]) -> Words:
    return Words(language=language, subject=msgspec.convert(dict(subject), Subject))


def at_most(question: Manifest, threshold: int | None) -> str:
    """The certain answer; without a number where places have thresholds of their own."""
    say = words(question)
    return say("answer.at-most-own") if threshold is None else say("answer.at-most", n=threshold)


def at_least(question: Manifest) -> str:
    """The answer that may be wrong, rarely."""
    return words(question)("answer.at-least", n=question["at_least"] or 0)


def cannot_say(question: Manifest) -> str:
    """The answer where nothing is certain."""
    return words(question)("answer.cannot-say")


def not_asked(question: Manifest) -> str:
    """The answer where nothing was asked."""
    return words(question)("answer.not-asked")


def thresholds(question: Manifest) -> str:
    """The certain answer of this question."""
    grouped = question["groups"]
    if grouped and grouped["share"] is not None:
        return words(question)("answer.at-most-share", share=_percent(grouped["share"]))
    return at_most(question, None if question["at_most_of"] else question["at_most"])


def when(question: Manifest) -> str:
    """The time asked about, on its own clock: one window, or a series of them; of groups the date."""
    if question["groups"]:
        return words(question)("when.as-of", day=date(question))
    return times.when(question["windows"], question["timezone"], words(question), so_far=question["so_far"])


def places(question: Manifest, number: int) -> str:
    """1 place, 2 places."""
    return words(question)("places.number", n=number)


def answers(question: Manifest, number: int) -> str:
    """How many of the places an answer was given for; of the answers, where there are many windows."""
    say, one = words(question), repeats(question) == 1
    return say("places.number" if one else "places.answers", n=number)


def answers_of(question: Manifest, number: int) -> str:
    """The same, and of how many."""
    say, each = words(question), repeats(question)
    total = question["places"]["number"] * each
    return say("places.of" if each == 1 else "places.answers-of", n=number, total=total)


def repeats(question: Manifest) -> int:
    """How many answers each place has."""
    return len(question["windows"]) * len(question["measures"])


def _percent(share: str) -> str:
    return f"{exact.show(Fraction(share) * 100)} %"


def date(question: Manifest) -> str:
    """The date of a question about groups: 1 September 2026."""
    return words(question).day(datetime.fromisoformat(question["groups"]["as_of"]), "short")


def asked_about(question: Manifest) -> str:
    """How many places, and in how many windows."""
    say, listed = words(question), places(question, question["places"]["number"])
    if len(question["measures"]) > 1:
        return say("places.measured", places=listed, n=len(question["measures"]))
    if len(question["windows"]) == 1:
        return listed
    return say("places.in-windows", places=listed, windows=say("each.windows", n=len(question["windows"])))


def asked(question: Manifest) -> str:
    """The question, as one."""
    listed = places(question, question["places"]["number"])
    said, time = thresholds(question), when(question)
    return words(question)("preview.asked", said=said, places=listed, when=time)


def known_on(manifest: Manifest) -> str:
    """The moment the answers speak from."""
    question = manifest["question"]
    moment = times.local(manifest["known_on"], question["windows"][0], question["timezone"])
    say = words(question)
    return say("day.moment", day=say.day(moment, "short"), time=f"{moment:%H:%M}")


def title(manifest: Manifest) -> str:
    """For the top of a browser window."""
    question, kind = manifest["question"], "simulation" if manifest["simulated"] else "release"
    return words(question)(f"title.{kind}", said=thresholds(question), when=when(question))


def simulation(manifest: Manifest) -> str | None:
    """What every page of a simulation says first."""
    return words(manifest["question"])("simulation.banner") if manifest["simulated"] else None


def in_turn(manifest: Manifest) -> bool:
    """Whether places are asked one after the other, so that some may not be asked at all."""
    return State.NOT_ASKED.name in manifest["possible"]


def error_side(manifest: Manifest) -> list[str]:
    """On which side the answers may err, and on which they cannot."""
    question = manifest["question"]
    say = words(question)
    sentences = [
        say("reading.certain", said=thresholds(question)),
        say("reading.cannot-say", said=cannot_say(question)),
    ]
    if manifest["level"]:
        sentences.append(say("reading.level"))
    if in_turn(manifest):
        sentences.append(say("reading.not-asked", said=not_asked(question), n=question["method"]["alarms"]))
    if question["publish_at_least"]:
        sentences.append(
            say("reading.at-least", said=at_least(question), alpha=number(question, question["alpha"]))
        )
    return sentences


def scope(manifest: Manifest) -> list[str]:
    """What is counted, and so what the answers are about."""
    question = manifest["question"]
    say = words(question)
    so_far = [say("reading.so-far")] if question["so_far"] else []
    grouped = question["groups"]
    sizes = [say("reading.sizes", day=date(question))] if grouped and grouped["sizes"] else []
    return [say("reading.scope", known=known_on(manifest)), *so_far, *manifest["counted"], *sizes]


def promise(manifest: Manifest) -> list[str]:
    """The promise, and the places and times it speaks of."""
    guarantee, question = manifest["guarantee"], manifest["question"]
    if manifest["simulated"]:
        return list(guarantee["promise"])
    say, earlier = words(question), guarantee["earlier"]
    here = say("promise.where", when=when(question), places=asked_about(question))
    if not earlier["number"]:
        return [*guarantee["promise"], say("promise.here-first", here=here)]
    digest = earlier["digest"][:_DIGEST_SHOWN]
    return [*guarantee["promise"], say("promise.here", here=here, n=earlier["number"], digest=digest)]


def short_promise(manifest: Manifest) -> str:
    """The promise in one sentence, for pages that lead to the whole."""
    told = manifest["guarantee"]["promise"]
    sentence: str = told[-1] if manifest["simulated"] else told[0]
    return sentence


def no_slider(manifest: Manifest) -> str | None:
    """Why the threshold of this release cannot be moved."""
    if manifest["mechanism"]["slider"]:
        return None
    return words(manifest["question"])(f"no-slider.{manifest['question']['method']['name']}")


def making(manifest: Manifest) -> list[str]:
    """How the answers were made, for those who want to know."""
    question, guarantee = manifest["question"], manifest["guarantee"]
    say = words(question)
    lines = [
        say(
            "making.noise-delta" if guarantee["delta"] != "0" else "making.noise",
            mechanism=say(f"mechanism.{manifest['mechanism']['name']}"),
            epsilon=number(question, guarantee["epsilon"]),
            delta=number(question, guarantee["delta"]),
            guarantee=guarantee["sentence"],
        )
    ]
    if question["people"] is not None:
        lines.append(say("making.people", n=question["people"]))
    order = question["method"].get("order")
    if order is not None:
        lines.append(say(f"order.{order['kind']}", release=order["release"]))
    if question["at_least"] is not None and not question["publish_at_least"]:
        alpha = number(question, question["alpha_of_each_place"])
        lines.append(say("making.at-least", said=at_least(question), alpha=alpha))
    lines.append(_zero(manifest))
    if manifest["supersedes"]:
        lines.append(say("making.supersedes", release=manifest["supersedes"]))
    if (paid := manifest["ledger"]) is not None:
        charged = {"dataset": paid["dataset"], "ledger": paid["id"], "reference": paid["reference"]}
        lines.append(say("making.charged", **charged))
    return lines


def _zero(manifest: Manifest) -> str:
    question, each = manifest["question"], repeats(manifest["question"])
    return words(question)(
        "making.zero" if each == 1 else "making.zero-answers",
        n=manifest["answers"]["certified_at_zero"],
        total=question["places"]["number"] * each,
    )


def number(question: Manifest, text: str) -> str:
    """An exact number as people write it."""
    value = Fraction(text)
    plain = exact.show(value)
    if len(plain) <= _LONG_NUMBER:
        return plain
    return words(question)("making.about", n=text, rounded=f"{float(value):.3g}")


def footer(manifest: Manifest) -> str:
    """What made the page and how to check it."""
    say, software = words(manifest["question"]), manifest["software"]
    made = {"software": software["name"], "version": software["version"]}
    if manifest["simulated"]:
        return say("footer.simulation", banner=say("simulation.banner"), **made)
    return say("footer.release", release=manifest["release"], command="safeside verify", **made)
