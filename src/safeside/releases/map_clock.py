"""The windows of a release as the clock of the map names them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from safeside.releases.times import clock_time
from safeside.words import Words

_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)


def windows(texts: Sequence[str], words: Words) -> list[dict[str, str]]:
    """For each window its day and its time in words, both together, and a short name for an axis."""
    read = [_moments(text) for text in texts]
    times = [_time(start, end, words) for start, end in read]
    days = [_whole_day(start, end) for start, end in read]
    # When clocks are set back an hour comes twice: then the offset tells the two apart.
    often = Counter((start.date(), time) for (start, _), time in zip(read, times, strict=True))
    listed = []
    for (start, _), time, whole in zip(read, times, days, strict=True):
        day, twice = words.day(start), often[start.date(), time] > 1
        told = words("window.clock", time=time, clock=f"{start:%:z}") if twice else time
        listed.append(
            {
                "day": words.day(start, "month") if whole else day,
                "time": day if whole else told,
                "label": day if whole else words("window.label", day=day, time=told),
                "short": words.day(start, "axis") if whole else clock_time(start),
            }
        )
    return listed


def units(texts: Sequence[str], words: Words) -> list[str]:
    """What the windows are: one of them, and many."""
    read = [_moments(text) for text in texts]
    if all(end - start == _HOUR for start, end in read):
        return [words("unit.hour"), words("unit.hours")]
    if all(_whole_day(start, end) for start, end in read):
        return [words("unit.day"), words("unit.days")]
    return [words("unit.time"), words("unit.times")]


def _moments(text: str) -> tuple[datetime, datetime]:
    """A window carries its offsets from UTC, which are those of the clock it was asked in."""
    start, _, end = text.partition("/")
    return datetime.fromisoformat(start), datetime.fromisoformat(end or start)


def _whole_day(start: datetime, end: datetime) -> bool:
    midnight = start.time() == end.time() == datetime.min.time()
    return midnight and end.replace(tzinfo=None) - start.replace(tzinfo=None) == _DAY


def _time(start: datetime, end: datetime, words: Words) -> str:
    if start == end:
        return clock_time(start)
    values = {"time": clock_time(start), "end": clock_time(end)}
    if start.date() == end.date() or (end.time() == datetime.min.time() and end - start <= _DAY):
        return words("window.hours", **values)
    return words("window.long", last=words.day(end), **values)
