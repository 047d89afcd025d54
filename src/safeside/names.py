"""Suggestions for a name that is almost right."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], also: Iterable[str] = ()) -> str:
    """A sentence to put after an instruction, or nothing; `also` are other words for what is meant."""
    lowered = {each.lower(): each for each in sorted(known)}
    close = difflib.get_close_matches(name.lower(), lowered, n=3, cutoff=0.75)
    for word in (_letters(name.lower()), *also):
        close += [each for each in lowered if word and word in _words(each) and each not in close]
    if not close:
        return ""
    return " Did you mean " + " or ".join(f'"{lowered[each]}"' for each in close[:3]) + "?"


def _words(name: str) -> set[str]:
    """The words of a name, and what stands behind its last slash as one: new, york and newyork."""
    return {*re.split(r"[^a-z]+", name), _letters(name.rpartition("/")[2])}


def _letters(name: str) -> str:
    return re.sub(r"[^a-z]", "", name)
