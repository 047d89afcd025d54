"""statement.txt: the release in words, for a press office, a lawyer or a citizen."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Final

from safeside.decisions.states import State
from safeside.releases import wording
from safeside.releases.wording import Manifest

_WIDTH: Final = 96


def render(manifest: Manifest) -> bytes:
    """The statement, from the manifest alone."""
    question, banner = manifest["question"], wording.simulation(manifest)
    say = wording.words(question)
    parts = [
        *([] if banner is None else [banner.upper(), ""]),
        say("title.headline", said=wording.thresholds(question), when=wording.when(question)),
        "",
        *_section(say("statement.said"), summary(manifest)),
        *_section(say("statement.reading"), [*wording.error_side(manifest), *wording.scope(manifest)]),
        *_section(say("statement.promised"), wording.promise(manifest)),
        *_section(say("statement.not-promised"), not_promised(manifest)),
        *_section(say("statement.made"), wording.making(manifest)),
        wording.footer(manifest),
        "",
    ]
    return "\n".join(parts).encode()


def parts(manifest: Manifest) -> list[tuple[State, str, int]]:
    """What is said of the places: a state, its words, and how often it is said on the public map."""
    question = manifest["question"]
    published, number = (
        question["publish_at_least"],
        {state: manifest["answers"][state.name] for state in State},
    )
    listed = [(State.AT_MOST, wording.thresholds(question), number[State.AT_MOST])]
    if published:
        listed.append((State.AT_LEAST, wording.at_least(question), number[State.AT_LEAST]))
    unclear = number[State.UNCLEAR] + (0 if published else number[State.AT_LEAST])
    listed.append((State.UNCLEAR, wording.cannot_say(question), unclear))
    if wording.in_turn(manifest):
        listed.append((State.NOT_ASKED, wording.not_asked(question), number[State.NOT_ASKED]))
    return listed


def summary(manifest: Manifest) -> list[str]:
    """How many places each answer was given for."""
    question = manifest["question"]
    (_, certain, number), *others = parts(manifest)
    lines = [(certain, wording.answers_of(question, number))]
    lines += [(words, wording.answers(question, number)) for _, words, number in others]
    say = wording.words(question)
    return [say("statement.line", said=words, n=number) for words, number in lines]


def not_promised(manifest: Manifest) -> list[str]:
    """What a reader, or a person in the data, might wrongly expect."""
    say = wording.words(manifest["question"])
    absence = [say("not-promised.absence")] if manifest["guarantee"]["kind"] == "adp" else []
    return [say("not-promised.more"), *absence, say("not-promised.in-dataset")]


def _section(title: str, paragraphs: Iterable[str]) -> list[str]:
    lines = [title, "-" * len(title)]
    for text in paragraphs:
        lines += [*textwrap.wrap(text, _WIDTH), ""]
    return lines
