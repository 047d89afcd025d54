"""Sentences by key, in one language, with nouns and numbers put in.

A language is a file of this directory, `CODE.toml`; tests hold every one to the keys and the names of en.toml
(docs/decisions/words.md). Nothing here chooses what is said: that is for whoever asks for a key.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from importlib import resources
from typing import Any, Final

from safeside.errors import BadQuestion
from safeside.words.subject import NOUNS, Subject

ENGLISH: Final = "en"
_BY_NUMBER: Final = frozenset({"zero", "one", "two", "few", "many", "other"})
_BY_VERB: Final = frozenset({"visited", "belong"})
Table = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Language:
    """What a language says, by key, and which variant of a sentence goes with a number."""

    load: Callable[[], Table]
    """The sentences as their file has them, in tables."""
    variant: Callable[[int], str]

    @cached_property
    def entries(self) -> Table:
        """Everything by its whole key; an entry with variants is a mapping of them."""
        return dict(_flat(self.load(), ""))


def _english() -> Table:
    return tomllib.loads(resources.files("safeside.words").joinpath("en.toml").read_text(encoding="utf-8"))


LANGUAGES: Final[dict[str, Language]] = {
    ENGLISH: Language(load=_english, variant=lambda number: {1: "one", 2: "two"}.get(number, "other")),
}
"""Every language that a release can speak."""


def _flat(table: Table, before: str) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict) and not (value.keys() <= _BY_NUMBER or value.keys() <= _BY_VERB):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield before + name, value


class Sentence(str):
    """A sentence in English that knows how it was made, so that it can be said in another language."""

    __slots__ = ("key", "values")
    key: str
    values: Mapping[str, Any]


def said(key: str, /, **values: Any) -> Sentence:
    """The sentence in English, about the usual subject; `Words.again` says it of another, or otherwise."""
    made = Sentence(Words()(key, **values))
    made.key, made.values = key, values
    return made


def length(time: timedelta) -> Sentence:
    """1 day, 2 hours and 15 minutes."""
    minutes, seconds = divmod(time.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    named = {"day": time.days, "hour": hours, "minute": minutes, "second": seconds}
    named["microsecond"] = time.microseconds
    parts = [said(f"length.{name}", n=number) for name, number in named.items() if number]
    if not parts:
        return said("length.none")
    *most, last = parts
    return said("length.and", first=most, last=last) if most else last


class _Open(dict[str, Any]):
    """Leaves the names that have no value yet."""

    def __missing__(self, name: str) -> str:
        return f"{{{name}}}"


@dataclass(frozen=True, kw_only=True)
class Words:
    """The sentences of one language about one subject: `words("key", n=3)`.

    Whole numbers are written as the language writes them; what was `said` elsewhere is said again.

    Example
        >>> from safeside.words import Words
        >>> words = Words()
        >>> words("answer.at-most", n=1200)
        'At most 1,200 known infected visitors'
    """

    subject: Subject = field(default_factory=Subject)
    language: str = ENGLISH

    def __call__(self, key: str, /, **values: Any) -> str:
        entry = self._variant(self._known.entries[key])
        if isinstance(entry, dict):
            entry = entry.get(self._known.variant(values["n"]), entry["other"])
        filled: str = entry.format_map(self._nouns | {name: self._text(one) for name, one in values.items()})
        return filled

    @property
    def _known(self) -> Language:
        return LANGUAGES[self.language]

    @cached_property
    def _nouns(self) -> dict[str, str]:
        usual = {name: self._known.entries[f"noun.{name}"] for name in NOUNS}
        return self.subject.nouns(usual)

    def _variant(self, entry: Any) -> Any:
        return entry[self.subject.verb] if isinstance(entry, dict) and entry.keys() <= _BY_VERB else entry

    def _text(self, value: Any) -> str:
        if isinstance(value, int):
            return self.number(value)
        if isinstance(value, list):
            return ", ".join(map(self._text, value))
        return self.again(value if isinstance(value, str) else str(value))

    def again(self, sentence: str) -> str:
        """What was said in English, in this language and of this subject; any other text as it is."""
        return self(sentence.key, **sentence.values) if isinstance(sentence, Sentence) else sentence

    def number(self, value: int) -> str:
        """A whole number, with its thousands apart."""
        return f"{value:,}".replace(",", self._known.entries["thousands"])

    def day(self, moment: datetime, form: str = "full") -> str:
        """Wednesday 3 June 2020, or what another form of `[day]` makes of it."""
        known, month = self._known.entries, moment.month - 1
        return self(
            f"day.{form}",
            weekday=known["weekdays"][moment.weekday()],
            day=str(moment.day),
            month=known["months"][month],
            short_month=known["short-months"][month],
            year=str(moment.year),
        )

    def table(self, *sections: str) -> dict[str, Any]:
        """Whole sections, for the script of a page: nouns are put in, and what is not known yet left open."""
        nouns = _Open(self._nouns)

        def filled(entry: Any) -> Any:
            if isinstance(entry, dict):
                return {name: filled(text) for name, text in entry.items()}
            return entry.format_map(nouns)

        chosen = (one for one in self._known.entries.items() if one[0].partition(".")[0] in sections)
        return {key: filled(self._variant(entry)) for key, entry in chosen}


def require_language(language: str) -> None:
    """Refuse a language that nobody has written the sentences in."""
    if language not in LANGUAGES:
        raise BadQuestion(
            f'There are no sentences in the language "{language}".',
            f"Give one of {', '.join(sorted(LANGUAGES))}.",
        )
