"""statement.txt: the release in words, for a press office, a lawyer or a citizen."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Final

from safeside.releases import wording
from safeside.releases.wording import Manifest

_WIDTH: Final = 96


def render(manifest: Manifest) -> bytes:
    """The statement, from the manifest alone."""
    question = manifest["question"]
    parts: list[str] = []
    if manifest["simulated"]:
        parts += [wording.SIMULATION.upper(), ""]
    parts += [
        f"{wording.thresholds(question)}: {wording.when(question)}",
        "",
        *_section("What is said", summary(manifest)),
        *_section("How to read it", [*wording.error_side(manifest), *wording.scope(manifest)]),
        *_section("What is promised to the people in the data", wording.promise(manifest)),
        *_section("What is not promised", not_promised(manifest)),
        *_section("How it was made", wording.making(manifest)),
        wording.footer(manifest),
        "",
    ]
    return "\n".join(parts).encode()


def summary(manifest: Manifest) -> list[str]:
    """How many places each answer was given for."""
    question, answers = manifest["question"], manifest["answers"]
    unclear = answers["UNCLEAR"] + (0 if question["publish_at_least"] else answers["AT_LEAST"])
    lines = [
        f"{wording.thresholds(question)}: {answers['AT_MOST']:,} of {question['places']['number']:,} places."
    ]
    if question["publish_at_least"]:
        lines.append(f"{wording.at_least(question['at_least'])}: {wording.places(answers['AT_LEAST'])}.")
    lines.append(f"{wording.CANNOT_SAY}: {wording.places(unclear)}.")
    if manifest["mechanism"]["alarms"] is not None:
        lines.append(f"{wording.NOT_ASKED}: {wording.places(answers['NOT_ASKED'])}.")
    return lines


def not_promised(manifest: Manifest) -> list[str]:
    """What a reader, or a person in the data, might wrongly expect."""
    lines = [
        "That a place without the answer had more visitors, or that a place is without risk: people nobody "
        "knew of are not counted.",
    ]
    if manifest["guarantee"]["kind"] == "adp":
        lines.append(
            "That nobody can learn where somebody was not: an answer may show for certain that a person was "
            "not at a place. This is weaker than differential privacy, on purpose, in this one direction."
        )
    lines.append("That it stays hidden who is in the dataset, or what is known of a person from elsewhere.")
    return lines


def _section(title: str, paragraphs: Iterable[str]) -> list[str]:
    lines = [title, "-" * len(title)]
    for text in paragraphs:
        lines += [*textwrap.wrap(text, _WIDTH), ""]
    return lines
