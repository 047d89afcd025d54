"""The rule by which people are counted, in sentences: part of the question, and of every statement."""

from __future__ import annotations

from datetime import timedelta

from safeside.visits.format import VisitFormat
from safeside.visits.window import Window


def rule(window: Window, visits: VisitFormat, *, exclude_unknown_places: bool) -> tuple[str, ...]:
    """What makes a person count at a place, and what was declared to be left out."""
    seen = "sighting" if visits.hold is not None else "stay"
    touches = "covers that moment" if window.instant else "touches the time asked about"
    sentences = [f"A person is counted at a place where a {seen} of theirs {touches}, and only once."]
    if visits.held is not None:
        sentences.append(f"A sighting is taken to last {length(visits.held)}.")
    if visits.radius is not None:
        sentences.append(f"A position counts for every place within {visits.radius:g} m of it.")
    if visits.h3_resolution is not None:
        sentences.append(
            f"A position counts for every place within {visits.h3_rings} rings of its cell (H3, resolution "
            f"{visits.h3_resolution})."
        )
    if visits.at_least is not None:
        sentences.append(visits.at_least.sentence())
    if exclude_unknown_places:
        sentences.append("Visits to places that are not on the list are left out.")
    return tuple(sentences)


def length(duration: timedelta) -> str:
    """15 minutes, 1 hour 30 minutes."""
    seconds = int(duration.total_seconds())
    parts = [(seconds // 3600, "hour"), (seconds // 60 % 60, "minute"), (seconds % 60, "second")]
    said = [f"{number} {unit}{'' if number == 1 else 's'}" for number, unit in parts if number]
    return " ".join(said) or "no time"
