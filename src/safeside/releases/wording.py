"""What a release says, sentence by sentence. "Safe" and "dangerous" are not among its words.

Everything here speaks from the record alone, that is, from what is published anyway; the sentences stand in
the catalogue (`safeside.words`), by language and with the nouns of the question's subject.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from safeside import exact
from safeside.decisions.states import State
from safeside.groups import shares
from safeside.releases import times
from safeside.releases.answers import STATES

if TYPE_CHECKING:
    from safeside.releases.question import Question
    from safeside.releases.record import ReleaseRecord

_ANSWERS: Final = {
    State.AT_LEAST: "answer.at-least",
    State.UNCLEAR: "answer.cannot-say",
    State.NOT_ASKED: "answer.not-asked",
}
FLOAT_ERROR: Final = 1e-9
"""More than the arithmetic of a probability can be wrong by."""
_DIGEST_SHOWN: Final = 16
_LONG_NUMBER: Final = 12
_WIDTH: Final = 96


def answer(question: Question, state: State, threshold: int | None = None) -> str:
    """What a state says: of a place with this threshold, or of all places together."""
    if state is not State.AT_MOST:
        return question.words(_ANSWERS[state], n=question.at_least or 0)
    return thresholds(question) if threshold is None else question.words("answer.at-most", n=threshold)


def thresholds(question: Question) -> str:
    """The certain answer of this question; without a number where places have thresholds of their own."""
    if question.share is not None:
        return question.words("answer.at-most-share", share=percent(question.share))
    if question.at_most_of:
        return question.words("answer.at-most-own")
    return question.words("answer.at-most", n=question.at_most)


def at_most_of(question: Question, upper: int, size: int) -> str:
    """A certain bound as a share of those who are publicly listed."""
    share = shares.at_most(upper, size)
    return question.words("answer.at-most-of", n=upper, size=size, date=date(question), share=share)


def percent(share: Fraction) -> str:
    """A share that was asked about: 5 %."""
    return f"{exact.show(share * 100)} %"


def when(question: Question) -> str:
    """The time asked about, on its own clock: one window, or a series of them; of groups the date."""
    if question.groups is not None:
        return question.words("when.as-of", day=date(question))
    return times.when(question.windows, question.timezone, question.words, so_far=question.so_far)


def heading(question: Question) -> str:
    """The time asked about, where it begins a line."""
    said = when(question)
    return f"{said[:1].upper()}{said[1:]}"


def date(question: Question) -> str | None:
    """The date of a question about groups: 1 September 2026."""
    if question.groups is None:
        return None
    return question.words.day(datetime.fromisoformat(question.groups.as_of), "short")


def answers(question: Question, number: int) -> str:
    """How many of the places an answer was given for; of the answers, where each place has several."""
    return question.words("places.answers" if question.repeats > 1 else "places.number", n=number)


def answers_of(question: Question, number: int) -> str:
    """The same, and of how many."""
    key = "places.answers-of" if question.repeats > 1 else "places.of"
    return question.words(key, n=number, total=question.number)


def rounded_down(share: float) -> str:
    """In per cent: never shown as more, or more certain, than it is."""
    return f"{max(0, math.floor((share - FLOAT_ERROR) * 1000)) / 10:.1f} %"


def asked(question: Question) -> str:
    """The question, as one."""
    say = question.words
    listed = say("places.number", n=question.targets.number)
    return say("preview.asked", said=thresholds(question), places=listed, when=when(question))


def known_on(record: ReleaseRecord) -> str:
    """The moment the answers speak from."""
    question = record.question
    zone = times.clock(question.windows[0], question.timezone)
    moment = datetime.fromisoformat(record.known_on).astimezone(zone)
    say = question.words
    return say("day.moment", day=say.day(moment, "short"), time=f"{moment:%H:%M}")


def title(record: ReleaseRecord) -> str:
    """For the top of a browser window."""
    question, kind = record.question, "simulation" if record.simulated else "release"
    return question.words(f"title.{kind}", said=thresholds(question), when=when(question))


def in_turn(question: Question) -> bool:
    """Whether places are asked one after the other, so that some may not be asked at all."""
    return State.NOT_ASKED in question.method.possible


def reading(record: ReleaseRecord) -> list[str]:
    """How the answers are to be read: on which side they may err, and what they are about."""
    question, say = record.question, record.question.words
    so_far = [say("reading.so-far")] if question.so_far else []
    about = [say("reading.scope", known=known_on(record)), *so_far, *record.counted]
    return [*error_side(question), *about, *_sizes(question)]


def error_side(question: Question) -> list[str]:
    """On which side the answers may err, and on which they cannot."""
    say = question.words
    sentences = [
        say("reading.certain", said=thresholds(question)),
        say("reading.cannot-say", said=answer(question, State.UNCLEAR)),
    ]
    if question.method.level:
        sentences.append(say("reading.level"))
    if in_turn(question):
        alarms = getattr(question.method, "alarms", None)
        sentences.append(say("reading.not-asked", said=answer(question, State.NOT_ASKED), n=alarms))
    if question.publish_at_least:
        alpha = number(question, question.alpha)
        sentences.append(say("reading.at-least", said=answer(question, State.AT_LEAST), alpha=alpha))
    return sentences


def _sizes(question: Question) -> list[str]:
    """What the public sizes of groups mean for the answers."""
    grouped = question.groups
    if grouped is None or not grouped.sizes:
        return []
    said = [question.words("reading.sizes", day=date(question))]
    if grouped.share is None and min(grouped.sizes) <= question.largest_threshold:
        said.append(question.words("reading.sizes-alone"))
    return said


def promise(record: ReleaseRecord) -> list[str]:
    """The promise, and the places and times it speaks of."""
    told, earlier, say = record.guarantee.promise, record.guarantee.earlier, record.question.words
    if record.simulated:
        return list(told)
    here = say("promise.where", when=when(record.question), places=_asked_about(record.question))
    if not earlier.number:
        return [*told, say("promise.here-first", here=here)]
    digest = earlier.digest[:_DIGEST_SHOWN]
    return [*told, say("promise.here", here=here, n=earlier.number, digest=digest)]


def _asked_about(question: Question) -> str:
    """How many places, and in how many windows."""
    say, listed = question.words, question.words("places.number", n=question.targets.number)
    if len(question.measures) > 1:
        return say("places.measured", places=listed, n=len(question.measures))
    if len(question.windows) == 1:
        return listed
    return say("places.in-windows", places=listed, windows=say("each.windows", n=len(question.windows)))


def short_promise(record: ReleaseRecord) -> str:
    """The promise in one sentence, for pages that lead to the whole."""
    return record.guarantee.promise[-1 if record.simulated else 0]


def not_promised(record: ReleaseRecord) -> list[str]:
    """What a reader, or a person in the data, might wrongly expect."""
    say = record.question.words
    absence = [say("not-promised.absence")] if record.guarantee.kind == "adp" else []
    return [say("not-promised.more"), *absence, say("not-promised.in-dataset")]


def no_slider(record: ReleaseRecord) -> str:
    """Why the threshold cannot be moved, where it cannot."""
    return record.question.words(f"no-slider.{record.question.method.tag()}")


def making(record: ReleaseRecord) -> list[str]:
    """How the answers were made, for those who want to know."""
    question, guarantee, paid = record.question, record.guarantee, record.ledger
    say, several = question.words, question.repeats > 1
    lines = [
        say(
            "making.noise-delta" if guarantee.delta else "making.noise",
            mechanism=say(f"mechanism.{record.mechanism.name}"),
            epsilon=number(question, guarantee.epsilon),
            delta=number(question, guarantee.delta),
            guarantee=guarantee.sentence,
        )
    ]
    if question.people is not None:
        lines.append(say("making.people", n=question.people))
    order = getattr(question.method, "order", None)
    if order is not None:
        lines.append(say(f"order.{order.kind}", release=order.release))
    if question.at_least is not None and not question.publish_at_least:
        alpha = number(question, question.alpha_each)
        lines.append(say("making.at-least", said=answer(question, State.AT_LEAST), alpha=alpha))
    at_zero = {"n": record.answers["certified_at_zero"], "total": question.number}
    lines.append(say("making.zero-answers" if several else "making.zero", **at_zero))
    if record.supersedes:
        lines.append(say("making.supersedes", release=record.supersedes))
    if paid is not None:
        lines.append(say("making.charged", dataset=paid.dataset, ledger=paid.id, reference=paid.reference))
    return lines


def number(question: Question, value: Fraction | None) -> str:
    """An exact number as people write it."""
    assert value is not None, "asked for only where there is one"
    plain = exact.show(value)
    if len(plain) <= _LONG_NUMBER:
        return plain
    return question.words("making.about", n=str(value), rounded=f"{float(value):.3g}")


def footer(record: ReleaseRecord) -> str:
    """What made the page and how to check it."""
    say = record.question.words
    made = {"software": record.software.name, "version": record.software.version}
    if record.simulated:
        return say("footer.simulation", banner=say("simulation.banner"), **made)
    return say("footer.release", release=record.release, command="safeside verify", **made)


def shown(question: Question) -> list[State]:
    """Every state that the public map of this release can show, whether or not it does."""
    hidden = set() if question.publish_at_least else {State.AT_LEAST}
    return [state for state in STATES if state in question.method.possible - hidden]


def parts(record: ReleaseRecord) -> list[tuple[State, str, int]]:
    """What is said of the places: a state, its words, and how often it is said on the public map."""
    question, often = record.question, dict(record.answers)
    if not question.publish_at_least:
        often[State.UNCLEAR.name] += often[State.AT_LEAST.name]
    return [(state, answer(question, state), often[state.name]) for state in shown(question)]


def summary(record: ReleaseRecord) -> list[str]:
    """How many places each answer was given for."""
    question, say = record.question, record.question.words
    (_, certain, number), *others = parts(record)
    lines = [(certain, answers_of(question, number))]
    lines += [(words, answers(question, number)) for _, words, number in others]
    return [say("statement.line", said=words, n=number) for words, number in lines]


def statement(record: ReleaseRecord) -> bytes:
    """statement.txt: the release in words, for a press office, a lawyer or a citizen."""
    question, say = record.question, record.question.words
    lines = [
        *([say("simulation.banner").upper(), ""] if record.simulated else []),
        say("title.headline", said=thresholds(question), when=when(question)),
        "",
        *_section(say("statement.said"), summary(record)),
        *_section(say("statement.reading"), reading(record)),
        *_section(say("statement.promised"), promise(record)),
        *_section(say("statement.not-promised"), not_promised(record)),
        *_section(say("statement.made"), making(record)),
        footer(record),
        "",
    ]
    return "\n".join(lines).encode()


def _section(title: str, paragraphs: Iterable[str]) -> list[str]:
    return [title, "-" * len(title), *wrapped(paragraphs)]


def wrapped(paragraphs: Iterable[str]) -> list[str]:
    """Lines of a text file, with an empty one after each paragraph."""
    return [line for text in paragraphs for line in (*textwrap.wrap(text, _WIDTH), "")]
