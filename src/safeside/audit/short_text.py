"""Records, datasets and outputs in few characters, for tables and messages."""

from __future__ import annotations

from typing import Any

from safeside.mechanisms.sequences import Alarm, Reply


def show(value: object) -> str:
    """A record, dataset or output."""
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(str, value))) + "}"
    if isinstance(value, Reply):
        return f"{value.query}: {'⊥' if value.alarm is None else show_alarm(value.alarm)}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(show, value)) + ")"
    return str(value)


def show_pair(pair: tuple[Any, Any]) -> str:
    """An ordered pair of datasets."""
    return f"{show(pair[0])} → {show(pair[1])}"


def show_alarm(alarm: Alarm) -> str:
    """An alarm: its value, or ⊤ where none is shown."""
    return "⊤" if alarm is True else str(alarm)
