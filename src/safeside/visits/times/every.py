"""Many windows of one interval: every hour of a day, every day of a week, one after the other.

They are counted together (`count/spans.py`), which needs that each begins where the one before ends: then a
visit touches windows without a gap, from a first one to a last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Final, cast

from safeside.errors import BadQuestion
from safeside.visits.times.window import When, Window, local_midnight, parse_duration
from safeside.zones import find_zone

MOST_WINDOWS: Final = 10_000
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Windows:
    """What is counted together: one window, or intervals of which each begins where the one before ends."""

    each: tuple[Window, ...]

    @classmethod
    def of(cls, asked: When | Sequence[Window], timezone: str | None = None) -> Windows:
        """One window as it is read, or a sequence of them, if they can be counted together."""
        if isinstance(asked, list | tuple) and all(isinstance(part, Window) for part in asked):
            return cls(each=tuple(asked))
        return cls(each=(Window.parse(cast(When, asked), timezone),))

    def __post_init__(self) -> None:
        if len(self.each) > MOST_WINDOWS:
            raise BadQuestion(
                f"There are more than {MOST_WINDOWS:,} windows.",
                "Ask about a shorter interval, or longer windows.",
            )
        several = len(self.each) > 1
        apart = any(one.end != other.start for one, other in pairwise(self.each))
        if not self.each or apart or (several and any(window.instant for window in self.each)):
            raise BadQuestion(
                "The windows are no intervals of which each begins where the one before ends.",
                "Give one window, or an interval and how it is divided (`every=`).",
            )

    def __len__(self) -> int:
        return len(self.each)

    @property
    def edges(self) -> tuple[datetime, ...]:
        """Where windows begin and end."""
        return (*(window.start for window in self.each), self.each[-1].end)

    @property
    def whole(self) -> Window:
        """All the time asked about."""
        return hull(self.each)


def hull(windows: Sequence[Window]) -> Window:
    """The one window, or from the beginning of the first to the end of the last."""
    first, last = windows[0], windows[-1]
    if first is last:
        return first
    text = f"{first.text.split('/')[0]}/{last.text.split('/')[-1]}"
    return Window(start=first.start, end=last.end, instant=False, text=text)


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
    # On the declared clock, or that of the question.
    clock = zone or datetime.fromisoformat(window.text.split("/")[0]).tzinfo or UTC
    shown = [edge.astimezone(clock).isoformat() for edge in edges]
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
