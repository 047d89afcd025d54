"""Whether the files of a release are those that release.json names, and say one thing between them."""

from __future__ import annotations

import os
from itertools import islice
from typing import Final

import polars as pl

from safeside.releases import files
from safeside.releases.answers import Answers
from safeside.releases.files import FILE, SIGNATURE
from safeside.releases.files.answers import CSV
from safeside.releases.manifest import bad
from safeside.releases.methods.base import Mask
from safeside.releases.record import counted, described
from safeside.releases.release import Release
from safeside.releases.targets import Targets
from safeside.untrusted import visible

_MOST_NAMES: Final = 100
"""More names than any release has files; of a directory with millions no more are listed."""


def check_files(release: Release) -> None:
    """That the files are those of the record, that the answers hold, and that their copies agree."""
    _check_digests(release)
    _check_answers(release)
    _check_copies(release, pages=False)


def check_pages(release: Release) -> None:
    """That the pages say what release.json and the answers say, where this version has the same words."""
    if release.record.same_words:
        _check_copies(release, pages=True)


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
    if counted(answers) != release.record.answers:
        raise bad("the numbers of answers are not those of answers.csv")
    asked, method = release.conditions, question.method
    if not release.record.outcome.keys() <= method.outcomes:
        raise bad("it publishes what its method does not")
    if not (
        _possible(answers, question.people) & method.follows(asked, answers, release.record.outcome)
    ).all():
        raise bad("a state in answers.csv does not follow from its bounds")
    wrong = method.why_impossible(asked, answers, release.record.outcome)
    if wrong is not None:
        raise bad(wrong)


def _possible(answers: Answers, people: int | None) -> Mask:
    possible = (answers.lower >= 0) & (~answers.bounded | (answers.lower <= answers.upper))
    if people is not None:
        possible &= ~answers.bounded | (answers.upper <= people)
    return possible
