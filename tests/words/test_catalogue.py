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
import polars as pl
import pytest
from tests.releases.making import DAY, INSTANT, KINDS, places, signed, table
from tests.words.pretended import CODE, PUPILS, WIDE, left, widened

import safeside
from safeside import Account, Expected, ask, create_ledger, publish, simulate
from safeside.errors import BadQuestion
from safeside.ledger import Budget
from safeside.privacy.guarantee import Unit
from safeside.releases import preview as previewing
from safeside.releases.record import Promised, ReleaseRecord, written
from safeside.releases.release import Release
from safeside.releases.signing import create_key, load_private
from safeside.releases.withdraw import notice_sentences
from safeside.words import LANGUAGES, Language, Subject, Words
from safeside.words.subject import NOUNS

SOURCE = Path(safeside.__file__).parent
ENGLISH = LANGUAGES["en"].entries
NAMES = ("weekdays", "months", "short-months", "thousands")
# What stands in pages and is no sentence: identifiers, moments, the names of programs and mechanisms.
CODES = (
    r'not\s+"p\d+"\s+in\s+[-\dT:+/]+',
    r'not\s+"\w+"\s+in\s+"?\w+"?\s+on\s+[-\d]+',
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
    text = re.sub(
        r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<(script|style)\b.*?</\1>", "", path.read_text(encoding="utf-8")
    )
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
        shown = spoken(made, name)
        assert left(shown, *CODES, r"answers\.csv") == [], name
        assert widened("pupils") in shown
    assert f'<html lang="{wide}">' in made.file("map.html").decode()
    for one in made.manifest["guarantee"]["promise"]:
        assert left(one, *CODES) == []
    assert left(made.summary(), *CODES) == []


def spoken(made: Release, name: str) -> str:
    """What a page says to eyes and to screen readers, before its script runs."""
    page = re.sub(r"<(script|style)\b.*?</\1>", "", made.file(name).decode(), flags=re.DOTALL)
    labels = re.findall(r'(?:aria-label|placeholder|alt)="([^"]+)"', page)
    return html.unescape(re.sub(r"<[^>]+>", "\n", page) + "\n".join(labels))


@pytest.fixture
def account(tmp_path: Path) -> Account:
    create_key(tmp_path / "key")
    with create_ledger(tmp_path / "ledger.db") as ledger:
        ledger.create_dataset("city", "person", epsilon=3)
    return Account(dataset="city", ledger=tmp_path / "ledger.db", key=tmp_path / "key", out=tmp_path / "r")


NAMED = {"noun": f"{PUPILS.one}/{PUPILS.many}", "epsilon": 1}
SCHOOLS = pl.DataFrame({"group": ["p1", "p2", "p3"], "size": [30, 40, 30]})


def test_what_was_counted_is_said_from_the_catalogue(wide: str, account: Account) -> None:
    fixes = pl.DataFrame(
        {"person": ["x", "y"], "place": ["p1", "p9"], "time": ["2021-06-03T17:55:00+09:00"] * 2}
    )
    made = publish(
        fixes,
        account=account,
        **{"places": ["p1", "p2"], "when": INSTANT, "at_most": 1, "hold": "15min", "language": wide, **NAMED},
        exclude_unknown_places=True,
        covers=DAY,
        expected=Expected(unlisted="100%"),
    )
    assert len(made.record.counted) == 3
    shown = "\n".join(spoken(made, name) for name in ("statement.txt", "report.html", "map.html"))
    assert left(shown, *CODES, r"answers\.csv") == []


def test_the_usual_nouns_are_those_of_the_language(wide: str) -> None:
    usual = Subject()
    assert {name: ENGLISH[f"noun.{name}"] for name in NOUNS} == {name: getattr(usual, name) for name in NOUNS}
    assert left(Words(language=wide)("answer.at-most", n=2)) == []


def test_groups_speak_from_the_catalogue(wide: str, account: Account) -> None:
    people = pl.DataFrame({"person": [f"x{at}" for at in range(9)], "group": ["p1", "p2", "p3"] * 3})
    group_noun = f"{PUPILS.place}/{PUPILS.places}"
    made = publish(
        people,
        account=account,
        **{"groups": SCHOOLS, "as_of": "2021-06-03", "at_most": "5%", "group_noun": group_noun},
        **{"language": wide, **NAMED},
    )
    for name in ("statement.txt", "report.html", "map.html"):
        assert left(spoken(made, name), *CODES, r"answers\.csv", r"\bcounted\b") == [], name


ALLOWED = {"hint when", "hint day-text", "Enter", "Escape", "11px system-ui, sans-serif"}
"""Texts of scripts that look like words and are classes, keys and a font."""


@pytest.mark.parametrize("path", [*SOURCE.rglob("*.js")], ids=lambda path: path.name)
def test_no_script_says_anything_itself(path: Path) -> None:
    code = re.sub("//.*", "", path.read_text(encoding="utf-8"))
    written = re.findall('"([^"]*)"', code) + [
        re.sub("[$][{][^}]*[}]", "", one) for one in re.findall("`([^`]*)`", code)
    ]
    words = {one for one in written if re.search("[A-Za-z]{2,} [A-Za-z]{2,}|^[A-Z][a-z]{2,}$", one)}
    assert words <= ALLOWED


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
