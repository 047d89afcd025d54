"""Windows in words: one of them, a series of them, and one among many, on the clock they were asked in."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Any, Final

from safeside.words import Words
from safeside.zones import find_zone

_DAY: Final = timedelta(days=1)
_HOUR: Final = timedelta(hours=1)
_WEEK_DAYS: Final = 7
_EACH: Final = (("hour", _HOUR), ("minute", timedelta(minutes=1)), ("second", timedelta(seconds=1)))


@dataclass(frozen=True, kw_only=True)
class Span:
    """A window on its own clock; both moments are the same for an instant."""

    start: datetime
    end: datetime
    instant: bool

    @classmethod
    def of(cls, text: str, zone: tzinfo | None = None) -> Span:
        """A window as it is written, on this clock or on that of the offsets it carries."""
        first, _, last = text.partition("/")
        start, end = datetime.fromisoformat(first), datetime.fromisoformat(last or first)
        if zone is not None:
            start, end = start.astimezone(zone), end.astimezone(zone)
        return cls(start=start, end=end, instant=not last)

    @property
    def days(self) -> int:
        """How many days on the calendar, from midnight to midnight; 0 where it is no whole days."""
        whole = not self.instant and self.start.time() == self.end.time() == time()
        return (self.end.date() - self.start.date()).days if whole else 0

    @property
    def length(self) -> timedelta:
        """How long it takes, whatever the clocks show."""
        return timedelta(seconds=self.end.timestamp() - self.start.timestamp())


def clock(window: str, timezone: str | None) -> tzinfo:
    """The clock that a window was asked in: its zone, or its offset."""
    zone = find_zone(timezone) if timezone else Span.of(window).start.tzinfo
    assert zone is not None, "windows are written with their offsets"
    return zone


@lru_cache(maxsize=64)
def _spans(windows: tuple[str, ...], timezone: str | None) -> tuple[Span, ...]:
    zone = clock(windows[0], timezone)
    return tuple(Span.of(one, zone) for one in windows)


def when(windows: Sequence[str], timezone: str | None, words: Words, *, so_far: bool = False) -> str:
    """The time asked about, in words: Sunday 22 December 2013, each hour (Asia/Tokyo)."""
    spans = _spans(tuple(windows), timezone)
    whole = Span(start=spans[0].start, end=spans[-1].end, instant=spans[0].instant)
    form, values = _form(whole, words)
    values["clock"] = timezone or str(spans[0].start.tzname())
    if len(spans) == 1:
        text = words(f"when.{form}", **values)
    else:
        series = {"whole-day": "series-day"}.get(form, f"series-{form}")
        text = words(f"when.{series}", each=_each(spans, words), **values)
    return words("when.so-far", when=text) if so_far else text


def _form(span: Span, words: Words) -> tuple[str, dict[str, str]]:
    """Which sentence a window needs, and what is put into it."""
    last = span.end.replace(tzinfo=None) - _DAY if span.days else span.end
    values = {
        "day": words.day(span.start),
        "last": words.day(last),
        "time": clock_time(span.start),
        "end": clock_time(span.end),
    }
    if span.instant:
        return "instant", values
    if span.days:
        return "whole-day" if span.days == 1 else "days", values
    return "interval" if span.start.date() == span.end.date() else "long-interval", values


def _each(spans: Sequence[Span], words: Words) -> str:
    """Each hour, every 2 days: where windows of one length follow one another; otherwise how many.

    The last may be shorter: an interval that is cut into windows ends where it ends.
    """
    days, lengths = [one.days for one in spans], [one.length for one in spans]
    following = all(one.end == two.start for one, two in itertools.pairwise(spans))
    if following and all(days) and _alike(days):
        whole_weeks = days[0] % _WEEK_DAYS == 0
        name, number = ("week", days[0] // _WEEK_DAYS) if whole_weeks else ("day", days[0])
    elif following and _alike(lengths):
        name, unit = next((name, unit) for name, unit in _EACH if not lengths[0] % unit)
        number = lengths[0] // unit
    else:
        return words("each.windows", n=len(spans))
    alone = number == 1 and name != "second"
    return words(f"each.{name}") if alone else words(f"each.{name}s", n=number)


def _alike(lengths: Sequence[Any]) -> bool:
    *most, last = lengths
    return len(set(most)) == 1 and last <= most[0]


def clock_time(moment: datetime) -> str:
    """18:00, with seconds where there are some."""
    return f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"


def on_the_map(windows: Sequence[str], words: Words) -> list[dict[str, str]]:
    """For each window its day and its time in words, both together, and a short name for an axis."""
    spans = [Span.of(text) for text in windows]
    times = [_time(one, words) for one in spans]
    # When clocks are set back an hour comes twice: then the offset tells the two apart.
    often = Counter((one.start.date(), at) for one, at in zip(spans, times, strict=True))
    listed = []
    for span, at in zip(spans, times, strict=True):
        start, whole = span.start, span.days == 1
        day, twice = words.day(start), often[start.date(), at] > 1
        told = words("window.clock", time=at, clock=f"{start:%:z}") if twice else at
        listed.append(
            {
                "day": words.day(start, "month") if whole else day,
                "time": day if whole else told,
                "label": day if whole else words("window.label", day=day, time=told),
                "short": words.day(start, "axis") if whole else clock_time(start),
            }
        )
    return listed


def units(windows: Sequence[str], words: Words) -> list[str]:
    """What the windows are: one of them, and many."""
    spans = [Span.of(text) for text in windows]
    hours, days = all(one.length == _HOUR for one in spans), all(one.days == 1 for one in spans)
    name = "hour" if hours else "day" if days else "time"
    return [words(f"unit.{name}"), words(f"unit.{name}s")]


def _time(span: Span, words: Words) -> str:
    if span.instant:
        return clock_time(span.start)
    values = {"time": clock_time(span.start), "end": clock_time(span.end)}
    same_day = span.start.date() == span.end.date()
    if same_day or (span.end.time() == time() and span.length <= _DAY):
        return words("window.hours", **values)
    return words("window.long", last=words.day(span.end), **values)
