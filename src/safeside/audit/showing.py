"""Records, datasets and outputs in few characters, for tables and messages."""

from __future__ import annotations

from typing import Any


def show(value: object) -> str:
    """A record, dataset or output."""
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(str, value))) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(show, value)) + ")"
    return str(value)


def show_pair(pair: tuple[Any, Any]) -> str:
    """An ordered pair of datasets."""
    return f"{show(pair[0])} → {show(pair[1])}"
