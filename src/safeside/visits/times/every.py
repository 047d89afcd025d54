"""Many windows of one interval: every hour of a day, every day of a week, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from safeside.errors import BadQuestion
from safeside.visits.times.window import Window, local_midnight, parse_duration
from safeside.zones import find_zone

MOST_WINDOWS: Final = 10_000
_DAY: Final = timedelta(days=1)


def split(window: Window, every: str | timedelta, timezone: str | None = None) -> tuple[Window, ...]:
    """The interval cut into windows of this length, each written with the offset of its own moment.

    Hours are hours of the real clock, so that a local day has 23 or 25 of them where its clock jumps. Whole
    days are days of the local calendar. What is left at the end is a shorter window: nothing is left out.
    """
    length = parse_duration(every, "the length of each window")
    if window.instant:
        raise BadQuestion(
            "An instant has no parts.", "Ask about an interval, such as one day, or leave `every=` out."
        )
    if length < timedelta(minutes=1):
        raise BadQuestion(
            "Each window would be shorter than a minute.", "Give `every=` as a minute or more, such as 1h."
        )
    if (window.end - window.start) / length > MOST_WINDOWS:
        raise BadQuestion(
            f"The interval has more than {MOST_WINDOWS:,} windows of this length.",
            "Ask about a shorter interval, or longer windows.",
        )
    zone = None if timezone is None else find_zone(timezone)
    edges = [window.start, *_between(window, length, zone), window.end]
    shown = [edge.astimezone(_clock(window, zone)).isoformat() for edge in edges]
    return tuple(
        Window(start=start, end=end, instant=False, text=f"{first}/{last}")
        for start, end, first, last in zip(edges, edges[1:], shown, shown[1:], strict=False)
    )


def _between(window: Window, length: timedelta, zone: tzinfo | None) -> Iterator[datetime]:
    """Where one window ends and the next begins."""
    if zone is None or length % _DAY:
        edge = window.start + length
        while edge < window.end:
            yield edge
            edge += length
        return
    local = window.start.astimezone(zone)
    if local_midnight(local.date(), zone) != window.start:
        raise BadQuestion(
            "Windows of whole days begin at midnight, and the interval does not.",
            "Begin the interval with a date, or give `every=` in hours.",
        )
    day = local.date() + length
    while (edge := local_midnight(day, zone)) < window.end:
        yield edge
        day += length


def _clock(window: Window, zone: tzinfo | None) -> tzinfo:
    """The clock in which windows are written: the declared one, or that of the question."""
    return zone or datetime.fromisoformat(window.text.split("/")[0]).tzinfo or UTC
