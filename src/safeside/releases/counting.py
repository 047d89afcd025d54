"""What makes a person count, and whether the data can be about the time asked of."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from safeside.visits import Counts, VisitFormat, Window


def rule(window: Window) -> str:
    """The part of the counting rule that the question fixes."""
    touches = "covers that moment" if window.instant else "touches the time asked about"
    return f"A person is counted at a place, once, where a visit of theirs {touches}."


def sentences(counts: Counts) -> tuple[str, ...]:
    """The whole rule with every exclusion: part of what was counted, and so of every statement."""
    return (counts.reading, rule(counts.window), *counts.exclusions)


def declared(visits: VisitFormat, *, exclude_unknown_places: bool) -> dict[str, Any]:
    """How the data are to be read, as it is recorded before they are opened."""
    values = {field.name: getattr(visits, field.name) for field in fields(visits)}
    said = {name: _written(value) for name, value in values.items() if value not in (None, False)}
    return {**said, "exclude_unknown_places": exclude_unknown_places}


def _written(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): str(item) for key, item in value.items()}
    return [str(item) for item in value] if isinstance(value, tuple) else str(value)
