"""Windows in words: one of them, a series of them, and one among many, on the clock they were asked in."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from functools import lru_cache
from typing import Any, Final

from safeside.words import Words
from safeside.zones import find_zone

_DAY: Final = timedelta(days=1)
_WEEK_DAYS: Final = 7
_EACH: Final = (
    ("hour", timedelta(hours=1)),
    ("minute", timedelta(minutes=1)),
    ("second", timedelta(seconds=1)),
)


@dataclass(frozen=True, kw_only=True)
class Span:
    """A window on its own clock; both moments are the same for an instant."""

    start: datetime
    end: datetime
    instant: bool

    @property
    def whole_days(self) -> bool:
        """From midnight to midnight."""
        return not self.instant and self.start.time() == self.end.time() == time()

    @property
    def last(self) -> datetime:
        """A moment of the last day it touches."""
        return self.end.replace(tzinfo=None) - _DAY if self.whole_days else self.end

    @property
    def days(self) -> int:
        """How many days on the calendar, for whole days."""
        return (self.end.date() - self.start.date()).days


def local(moment: str, window: str, timezone: str | None) -> datetime:
    """A moment on the clock that a window was asked in: its zone, or its offset."""
    read = datetime.fromisoformat(moment)
    if timezone:
        return read.astimezone(find_zone(timezone))
    return read.astimezone(datetime.fromisoformat(window.partition("/")[0]).tzinfo)


@lru_cache(maxsize=64)
def _spans(windows: tuple[str, ...], timezone: str | None) -> tuple[Span, ...]:
    return tuple(
        Span(
            start=local(one.partition("/")[0], windows[0], timezone),
            end=local(one.rpartition("/")[2], windows[0], timezone),
            instant="/" not in one,
        )
        for one in windows
    )


def when(windows: Sequence[str], timezone: str | None, words: Words, *, so_far: bool = False) -> str:
    """The time asked about, in words: Sunday 22 December 2013, each hour (Asia/Tokyo)."""
    spans = _spans(tuple(windows), timezone)
    whole = Span(start=spans[0].start, end=spans[-1].end, instant=spans[0].instant)
    form, values = _form(whole, words)
    clock = timezone or str(spans[0].start.tzname())
    if len(spans) == 1:
        text = words(f"when.{form}", clock=clock, **values)
    else:
        series = {"whole-day": "series-day"}.get(form, f"series-{form}")
        text = words(f"when.{series}", clock=clock, each=_each(spans, words), **values)
    return words("when.so-far", when=text) if so_far else text


def _form(span: Span, words: Words) -> tuple[str, dict[str, str]]:
    """Which sentence a window needs, and what is put into it."""
    values = {
        "day": words.day(span.start),
        "last": words.day(span.last),
        "time": clock_time(span.start),
        "end": clock_time(span.end),
    }
    if span.instant:
        return "instant", values
    if span.whole_days:
        return "whole-day" if span.days == 1 else "days", values
    return "interval" if span.start.date() == span.end.date() else "long-interval", values


def _each(spans: Sequence[Span], words: Words) -> str:
    """Each hour, every 2 days: where windows of one length follow one another; otherwise how many.

    The last may be shorter: an interval that is cut into windows ends where it ends.
    """
    first = spans[0]
    following = all(one.end == two.start for one, two in itertools.pairwise(spans))
    if following and all(one.whole_days for one in spans) and _alike([one.days for one in spans]):
        days = first.days
        name, number = ("week", days // _WEEK_DAYS) if days % _WEEK_DAYS == 0 else ("day", days)
        return words(f"each.{name}") if number == 1 else words(f"each.{name}s", n=number)
    lengths = [timedelta(seconds=one.end.timestamp() - one.start.timestamp()) for one in spans]
    if following and _alike(lengths):
        name, unit = next((name, unit) for name, unit in _EACH if not lengths[0] % unit)
        number = lengths[0] // unit
        alone = number == 1 and name != "second"
        return words(f"each.{name}") if alone else words(f"each.{name}s", n=number)
    return words("each.windows", n=len(spans))


def _alike(lengths: Sequence[Any]) -> bool:
    *most, last = lengths
    return len(set(most)) == 1 and last <= most[0]


def clock_time(moment: datetime) -> str:
    """18:00, with seconds where there are some."""
    return f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"
