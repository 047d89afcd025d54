"""A language that nobody speaks: English in wide letters. What bypassed the catalogue stands out."""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from typing import Any

from safeside.words import Language, Subject

CODE = "xx"
_WIDE = {code: code + 0xFEE0 for code in (*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1))}


def widened(text: str) -> str:
    """Every letter wide, but for the names in braces."""
    parts = re.split(r"(\{\w+\})", text)
    return "".join(part if part.startswith("{") else part.translate(_WIDE) for part in parts)


def _translated(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _translated(one) for name, one in value.items()}
    return [_translated(one) for one in value] if isinstance(value, list) else widened(value)


def _load() -> dict[str, Any]:
    english = resources.files("safeside.words").joinpath("en.toml").read_text(encoding="utf-8")
    translated: dict[str, Any] = _translated(tomllib.loads(english))
    return translated


WIDE = Language(load=_load, variant=lambda number: "one" if number == 1 else "other")
PUPILS = Subject(
    one=widened("pupil"),
    many=widened("pupils"),
    verb="belong",
    place=widened("school"),
    places=widened("schools"),
)


def left(text: str, *allowed: str) -> list[str]:
    """The words in ordinary letters, apart from those that are no sentence: names, numbers and codes."""
    for one in allowed:
        text = re.sub(one, " ", text)
    return re.findall("[A-Za-z]{2,}.{0,40}", text)
