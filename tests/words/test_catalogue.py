"""One catalogue: every sentence is in it, each is used, and a second language misses none."""

from __future__ import annotations

import html
import re
import string
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.releases.making import DAY, INSTANT, KINDS, places, signed, table
from tests.words.pretended import CODE, PUPILS, WIDE, left, widened

import safeside
from safeside import ask, simulate
from safeside.errors import BadQuestion
from safeside.ledger import Budget
from safeside.privacy.guarantee import Unit
from safeside.releases import preview as previewing
from safeside.releases.record import Promised, ReleaseRecord, plain, written
from safeside.releases.signing import create_key, load_private
from safeside.releases.withdraw import notice_sentences
from safeside.words import LANGUAGES, Language, Subject, Words

SOURCE = Path(safeside.__file__).parent
ENGLISH = LANGUAGES["en"].entries
NAMES = ("weekdays", "months", "short-months", "thousands")
# What stands in pages and is no sentence: identifiers, moments, the names of programs and mechanisms.
CODES = (
    r'not\s+"p\d+"\s+in\s+[-\dT:+/]+',
    r"[\d]{4}-\d\d-\d\dT[\d:+/-]+",
    r"\b(UTC|Asia/Tokyo|safeside( verify)?|r-[0-9a-f]+|city)\b",
    r"\b(ageo|sageo|padded|decision|selection)\b",
    r"Café \d+ <b>|Quarter \d+|\bp\d+\b|\b[0-9a-f]{8,}\b|max_alarms=|out=",
)


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(LANGUAGES, CODE, WIDE)
    return CODE


def braces(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def texts(entry: Any) -> list[str]:
    return list(entry.values()) if isinstance(entry, dict) else [entry]


@pytest.mark.parametrize("language", [*LANGUAGES.values(), WIDE])
def test_every_language_has_every_sentence_with_the_same_names_in_braces(language: Language) -> None:
    assert language.entries.keys() == ENGLISH.keys()
    for key, entry in ENGLISH.items():
        if key not in NAMES:
            named = {frozenset(braces(text)) for text in texts(entry)}
            assert all(frozenset(braces(one)) in named for one in texts(language.entries[key])), key
            assert not isinstance(entry, dict) or "other" in entry or entry.keys() == {"visited", "belong"}, (
                key
            )


def read(*endings: str) -> str:
    paths = [path for ending in endings for path in SOURCE.rglob(f"*.{ending}")]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def asked_for() -> tuple[set[str], list[re.Pattern[str]]]:
    """The keys that the program, the templates and the scripts ask for: whole, or with parts filled in."""
    text, scripts, part = read("py", "html", "js"), read("js"), "[a-z]+[a-z_-]*"
    keys = set(re.findall(f'"({part}(?:[.]{part})+)"', text))
    keys |= {f"script.{name}" for name in re.findall(f'"({part})"', scripts)}
    formed = re.findall(f'f"({part}[.][^" ]*[{{][^" ]*)"', text)
    formed += [one.replace("$", "") for one in re.findall(f"`({part}[.][^`]*[$][^`]*)`", scripts)]
    shapes = [re.compile(re.sub(r"\\\{.*?\\\}", "[a-z-]*", re.escape(one))) for one in formed]
    return keys, shapes


def test_no_sentence_is_left_that_nobody_says() -> None:
    keys, shapes = asked_for()
    unused = [
        key
        for key in ENGLISH
        if key not in keys and key not in NAMES and not any(one.fullmatch(key) for one in shapes)
    ]
    assert unused == []


def test_every_key_that_templates_and_scripts_ask_for_is_there() -> None:
    for key in re.findall('say[(]"([^"]+)"', read("html", "js")):
        assert (key if "." in key else f"script.{key}") in ENGLISH, key


@pytest.mark.parametrize("path", [*SOURCE.rglob("*.html")], ids=lambda path: path.name)
def test_no_template_says_anything_itself(path: Path) -> None:
    text = re.sub(r"\{%.*?%\}|\{\{.*?\}\}|<(script|style)\b.*?</\1>", "", path.read_text(encoding="utf-8"))
    shown = re.sub(r"<[^>]*>", "\n", text)
    spoken = re.findall(r'(?:aria-label|placeholder|title|alt)="([^"]+)"', text)
    assert left(shown + "\n".join(spoken), r"answers\.csv", "&[a-z]+;") == []


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_a_release_says_bypasses_the_catalogue(wide: str, tmp_path: Path, kind: str) -> None:
    create_key(tmp_path / "key")
    when = DAY if "max_places_per_person" in KINDS[kind] else INSTANT
    made = signed(
        tmp_path / "r",
        [0, 1, 9, 2],
        dict(epsilon=1, language=wide, **KINDS[kind]),
        load_private(tmp_path / "key"),
        when=when,
        subject=PUPILS,
    )
    for name in ("statement.txt", "report.html", "map.html"):
        page = re.sub(r"<(script|style)\b.*?</\1>", "", made.file(name).decode(), flags=re.DOTALL)
        spoken = re.findall(r'(?:aria-label|placeholder|alt)="([^"]+)"', page)
        shown = html.unescape(re.sub(r"<[^>]+>", "\n", page) + "\n".join(spoken))
        assert left(shown, *CODES, r"answers\.csv") == [], name
        assert widened("pupils") in shown
    assert f'<html lang="{wide}">' in made.file("map.html").decode()
    for one in made.manifest["guarantee"]["promise"]:
        assert left(one, *CODES) == []
    assert left(made.summary(), *CODES) == []


@pytest.mark.parametrize("kind", KINDS)
def test_no_preview_bypasses_the_catalogue(wide: str, kind: str) -> None:
    when = DAY if "max_places_per_person" in KINDS[kind] else INSTANT
    terms = dict(epsilon=1, language=wide, **KINDS[kind])
    inquiry = ask(places=table(places()), when=when, exclude_unknown_places=True, **terms)
    inquiry = replace(inquiry, question=msgspec.structs.replace(inquiry.question, subject=PUPILS))
    asked = inquiry.conditions
    draft = ReleaseRecord(
        release="r-0",
        known_on=written(datetime(2021, 6, 10, tzinfo=UTC)),
        question=inquiry.question,
        counted=(),
        mechanism=inquiry.question.method.stated(asked),
        guarantee=Promised.of(asked, caps=Budget(epsilon=3)),
    )
    plain(draft)
    shown = previewing.preview(
        draft, inquiry, inquiry.question.method.cost(asked, ()), Budget(epsilon=3), Budget(epsilon=2)
    )
    assert left(shown.text(), *CODES) == []


def test_the_notice_and_the_promise_of_days_and_weeks_do_not_bypass_it(wide: str) -> None:
    from safeside.ledger.status import promise_of

    words = Words(language=wide, subject=PUPILS)
    said = [*notice_sentences("r-0", words)]
    for unit in Unit:
        for delta in ("0", "1/1000"):
            caps = msgspec.convert(
                {"epsilon": "1", "delta": delta}, Budget, dec_hook=lambda kind, one: kind(one)
            )
            said += promise_of(caps, unit, words)
    assert left("\n".join(said), *CODES) == []


def test_sentences_said_elsewhere_are_said_again_in_the_language_and_of_the_subject(wide: str) -> None:
    from datetime import timedelta

    from safeside.words import length, said

    whole = said("counted.sighting", at=said("counted.place"), length=length(timedelta(days=1, minutes=15)))
    assert str(whole) == "A visit is a sighting at the place, which holds for 1 day and 15 minutes after it."
    assert left(Words(language=wide, subject=PUPILS).again(whole)) == []
    assert Words(language=wide).again("as it is") == "as it is"


def test_the_promise_speaks_of_the_subject() -> None:
    pupils = Subject(one="pupil", many="pupils", verb="belong", place="school", places="schools")
    whole, odds, *_ = Promised.of(
        ask(places=["a"], when=INSTANT, at_most=1, epsilon=1).conditions, caps=Budget(epsilon=1)
    ).promise
    assert "had you visited none of them" in whole
    assert "the odds that you visited at least one of them" in odds
    inquiry = ask(places=["a"], when=INSTANT, at_most=1, epsilon=1)
    question = msgspec.structs.replace(inquiry.question, subject=pupils)
    asked = replace(inquiry.conditions, question=question)
    whole, odds, *_ = Promised.of(asked, caps=Budget(epsilon=1)).promise
    assert "about the schools and times named here" in whole
    assert "had you been one of those counted in none of them" in whole
    assert "that you are one of them in at least one of these schools" in odds


def test_a_noun_is_what_those_who_are_counted_are_called_everywhere(tmp_path: Path) -> None:
    made = simulate({"a": 0, "b": 9}, epsilon=1, at_most=1, noun="guest / guests", out=tmp_path / "r", seed=1)
    assert made.record.question.subject == Subject(one="guest", many="guests")
    for name in ("statement.txt", "report.html", "map.html", "answers.geojson"):
        assert "At most 1 guest" in made.file(name).decode(), name
        assert "infected" not in made.file(name).decode(), name


@pytest.mark.parametrize(
    "noun", ["guest", "guest/", "/guests", "a/b/c", "a\x1b/b", "x" * 50 + "/" + "y" * 50]
)
def test_a_noun_that_is_not_one_and_many_is_refused(noun: str) -> None:
    with pytest.raises(BadQuestion, match="one of them and many"):
        ask(places=["a"], when=INSTANT, at_most=1, epsilon=1, noun=noun)


def test_a_language_that_nobody_has_written_is_refused() -> None:
    with pytest.raises(BadQuestion, match='no sentences in the language "tlh"'):
        ask(places=["a"], when=INSTANT, at_most=1, epsilon=1, language="tlh")
