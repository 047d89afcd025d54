"""The window of a question: an instant or a half-open interval, in UTC.

A local time that the clock skipped or showed twice, or without a declared zone, is refused and never guessed:
an error of an hour moves people out of the count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

from safeside.errors import BadQuestion
from safeside.zones import find_zone

EARLIEST: Final = datetime(1900, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(2200, 1, 1, tzinfo=UTC)
"""Times outside these years are a wrong unit or a wrapped number, not visits."""

PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DURATION: Final = re.compile(
    r"P(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+)S)?)?",
)
_SHORT: Final = re.compile(r"(?P<number>\d+)\s*(?P<unit>s|sec|min|m|h|d)")
_UNITS: Final = {
    "s": "seconds",
    "sec": "seconds",
    "min": "minutes",
    "m": "minutes",
    "h": "hours",
    "d": "days",
}
_TOO_FINE: Final = re.compile(r"[.,]\d{7}")
_DATE_ONLY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_ANY_DATE: Final = re.compile(r"\d{4}-?(?:\d{2}-?\d{2}|W\d{2}-?\d)")
_DATE_AND_TIME: Final = re.compile(rf"{_ANY_DATE.pattern}[Tt ]\d.*")
"""Stricter than `datetime.fromisoformat`, which takes any character between date and time and so reads the
offset of a bare date (2024-03-01+09:00) as nine o'clock.
"""


@dataclass(frozen=True, kw_only=True)
class Window:
    """An instant, or the moments from `start` up to but not including `end`.

    Example
        >>> from safeside import Window
        >>> day = Window.parse("2024-03-03", "Asia/Tokyo")
        >>> print(day.start, day.end)
        2024-03-02 15:00:00+00:00 2024-03-03 15:00:00+00:00
    """

    start: datetime
    end: datetime
    instant: bool
    text: str

    @classmethod
    def parse(cls, when: When, timezone: str | None = None) -> Window:
        """Read an ISO 8601 instant, an interval `A/B` or `A/P1D`, or one date: that whole local day.

        Python's own dates and times are read as the text they are written as; an interval is then a pair of
        its beginning and its end or length.
        """
        if isinstance(when, Window):
            return when
        text = written(when)
        zone = None if timezone is None else find_zone(timezone)
        halves = [_usual_date(half.strip()) for half in text.split("/")]
        if len(halves) > 2 or not all(halves):
            raise BadQuestion(
                f"The window {text!r} is neither an instant nor an interval.",
                "Write one instant (2024-03-01T18:00+09:00), an interval A/B, or one date.",
            )
        if len(halves) == 2:
            return cls._interval(halves[0], halves[1], zone)
        only = halves[0]
        if _DATE_ONLY.fullmatch(only):
            return cls._interval(only, "P1D", zone)
        moment = _moment(only, zone)
        return cls(start=moment, end=moment, instant=True, text=_show(moment, only, zone))

    @classmethod
    def _interval(cls, first: str, last: str, zone: tzinfo | None) -> Window:
        start = _moment(first, zone)
        end = _after(first, last, zone) if last.startswith("P") else _moment(last, zone)
        if end <= start:
            raise BadQuestion(
                "The window ends before or when it begins.",
                "Give an interval A/B with B after A; for one moment give the moment alone.",
            )
        text = f"{_show(start, first, zone)}/{_show(end, last, zone)}"
        return cls(start=start, end=end, instant=False, text=text)


Moment = str | datetime | date
When = Moment | tuple[Moment, Moment | timedelta] | Window
"""An instant, a day, or the beginning of an interval and its end or length."""


def written(when: When) -> str:
    """A moment, a day or an interval as text."""
    match when:
        case str():
            return when
        case Window():
            return when.text
        case date():  # or datetime, which is one
            return when.isoformat()
        case (first, timedelta() as length):
            fine = f".{length.microseconds:06}" if length.microseconds else ""
            return f"{written(first)}/P{length.days}DT{length.seconds}{fine}S"
        case (first, last):
            return f"{written(first)}/{written(last)}"
    raise BadQuestion(
        f"A time is given as a {type(when).__name__}.",
        "Give text, a datetime, a date, or a pair of the beginning and the end or length.",
    )


def parse_duration(value: str | timedelta, name: str) -> timedelta:
    """A length of time: PT15M, 15min, 2h, or a timedelta; zero or more."""
    length = value if isinstance(value, timedelta) else _read_duration(value)
    if length is None or length < timedelta(0):
        raise BadQuestion(
            f"{name[:1].upper()}{name[1:]} is not a length of time.",
            f"Give {name} as 15min, 2h, 1d or PT1H30M.",
        )
    return length


def _read_duration(text: str) -> timedelta | None:
    short = _SHORT.fullmatch(text.strip().lower())
    long = _DURATION.fullmatch(text.strip().upper())
    parts = {k: int(v) for k, v in long.groupdict().items() if v is not None} if long else {}
    if short:
        parts = {_UNITS[short["unit"]]: int(short["number"])}
    try:
        return timedelta(**parts) if parts else None
    except OverflowError:
        return None


def _usual_date(text: str) -> str:
    """Other ISO 8601 dates (20240301, 2024-W09-5) as 2024-03-01; any other text unchanged."""
    try:
        return date.fromisoformat(text).isoformat() if _ANY_DATE.fullmatch(text) else text
    except ValueError:  # reported by `_moment`
        return text


def _moment(text: str, zone: tzinfo | None) -> datetime:
    """One moment on the real clock, in UTC; a bare date is where its local day begins."""
    try:
        if zone is not None and _DATE_ONLY.fullmatch(text):
            return _plausible(local_midnight(date.fromisoformat(text), zone), text)
        if not _DATE_ONLY.fullmatch(text) and not _DATE_AND_TIME.fullmatch(text):
            raise ValueError
        read = datetime.fromisoformat(text)
    except ValueError:
        raise BadQuestion(
            f"{text!r} is not an ISO 8601 time.",
            "Write it as 2024-03-01T18:00+09:00, or 2024-03-01 for a day.",
        ) from None
    if _TOO_FINE.search(text):
        raise BadQuestion(
            f"{text!r} is finer than a microsecond.", "Give the window in whole microseconds or coarser."
        )
    if read.tzinfo is None:
        read = _localise(read, text, zone)
    return _plausible(read.astimezone(UTC), text)


def _plausible(moment: datetime, text: str) -> datetime:
    if not EARLIEST <= moment <= LATEST:
        raise BadQuestion(f"{text!r} is not between 1900 and 2200.", "Check the year of the window.")
    return moment


def _localise(read: datetime, text: str, zone: tzinfo | None) -> datetime:
    if zone is None:
        raise BadQuestion(
            f"The time {text!r} has no zone.",
            'Add an offset (2024-03-01T18:00+09:00) or declare the zone (`timezone="Asia/Tokyo"`).',
        )
    early, late = (read.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if early != late:
        skipped = early.astimezone(zone).replace(tzinfo=None) != read
        raise BadQuestion(
            f"The clock {'skipped' if skipped else 'showed twice'} the local time {text!r}.",
            "Write it with its offset from UTC, so that it is one moment.",
        )
    return early


def _after(first: str, length: str, zone: tzinfo | None) -> datetime:
    """The end of `first/length`: whole days are days of the local calendar, hours are hours."""
    match = _DURATION.fullmatch(length)
    duration = _read_duration(length)
    if match is None or not duration:
        raise BadQuestion(f"{length!r} is not a length of time.", "Write it as P1D, P1W or PT12H.")
    try:
        read = datetime.fromisoformat(first)
        days = timedelta(days=int(match["days"] or 0), weeks=int(match["weeks"] or 0))
        shifted = read + days
        bare = _DATE_ONLY.fullmatch(first) is not None
        begins = _moment(shifted.date().isoformat() if bare else shifted.isoformat(), zone)
        return _plausible(begins + (duration - days), f"{first}/{length}")
    except (ValueError, OverflowError):
        raise BadQuestion(f"{first}/{length} is not an interval.", "Write it as 2024-03-01/P1D.") from None


def _show(moment: datetime, text: str, zone: tzinfo | None) -> str:
    """The moment as its asker wrote it: in the declared zone, or with the offset that was given."""
    if zone is not None:
        return moment.astimezone(zone).isoformat()
    return moment.isoformat() if text.startswith("P") else datetime.fromisoformat(text).isoformat()


def local_midnight(day: date, zone: tzinfo) -> datetime:
    """The first moment of a local day, also where the clock skips midnight or shows it twice."""
    return datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)
