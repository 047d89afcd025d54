"""Times, dates and coordinates written as text, parsed by Polars.

The format is the declared one, or ISO 8601 in the shape of the first value. A value of another shape becomes
null, which the row checks find.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Final

import polars as pl

from safeside.errors import BadQuestion
from safeside.visits.read.format import VisitFormat
from safeside.visits.times.window import PER_SECOND
from safeside.zones import find_zone

_ISO: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}(?P<gap>[T ])\d{2}:\d{2}(?P<seconds>:\d{2}([.]\d+)?)?(?P<zone>Z|[+-]\d{2}(:?\d{2})?)?"
)
_NUMBER: Final = re.compile(r"[0-9]+([.][0-9]+)?")
_ISO_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_STRICT: Final = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-5][0-9]([.][0-9]+)?)?(Z|[+-][0-9:]+)?$"
)
_STRICT_DATE: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_HOURS: Final = re.compile(r"%[-_0]?[HIklTRXc+r]")
_FINE: Final = r"[.,][0-9]{6}[0-9]*[1-9]"
_DIRECTIVE: Final = re.compile(r"%[-_0:#.]*[0-9]?[A-Za-z+%]")
_UTC: Final = ("Z", "z", "UTC", "GMT", "utc", "gmt", "UT", "UCT", "+00:00", "+0000", "+00", "-00:00", "-0000")
_WRITTEN_ZONE: Final = re.compile(
    r"(?<![A-Za-z])(?:UTC|GMT|UT|UCT|Z|utc|gmt|z|[A-Z]{2,4}T|ME?S?Z|MSK|[A-Z][a-z]+/[A-Z][A-Za-z_]+)(?![A-Za-z])"
    r"|[+-][0-9]{2}:?[0-9]{2}(?![0-9-])|[+-][0-9]{1,2}\s*$"
)
"""A zone among the letters of a format: by a letter, an abbreviation, its name or an offset."""
CLOCKS_OF_UTC: Final = ("UTC", "Etc/UTC", "GMT", "Etc/GMT", "Zulu")
_LOOK: Final = 1000
_YEARS: Final = range(1970, 2038)
NAIVE_LOOK: Final = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]+)?)?$"


def read_text(
    frame: pl.LazyFrame, kinds: Mapping[str, str], called: Mapping[str, str], declared: VisitFormat
) -> pl.LazyFrame:
    """Replace text columns by what they say; the text is kept beside them as `ROLE text`.

    `kinds` names, for each text column, what it should be: time, end, date or number; `called` what its owner
    calls it.
    """
    first = (
        frame.select(pl.col(role).drop_nulls().first() for role in kinds).head(1).collect(engine="streaming")
    )
    times = [role for role, kind in kinds.items() if kind in ("start", "end", "time")]
    if declared.epoch is not None and times and _fractions(frame.select(times)):
        kinds = {**kinds, **dict.fromkeys(times, "fraction")}
    read = [
        _read(pl.col(role), called[role], kind, first[role][0], declared).alias(role)
        for role, kind in kinds.items()
    ]
    return frame.with_columns(pl.col(role).alias(text_of(role)) for role in kinds).with_columns(read)


def _read(text: pl.Expr, column: str, kind: str, sample: str | None, declared: VisitFormat) -> pl.Expr:
    if kind == "number":
        return text.str.strip_chars().cast(pl.Float64, strict=False)
    if kind == "fraction":
        return _moments_since_1970(text, PER_SECOND[declared.epoch or "s"])
    if kind == "date" or (kind in ("start", "end") and _of_days(sample, declared)):
        layout = _date_format(column, sample, declared)
        day = text.str.to_date(layout, strict=False)
        return day if declared.time_format else pl.when(text.str.contains(_STRICT_DATE)).then(day)
    if declared.epoch is not None:
        return text.cast(pl.Int64, strict=False)
    layout = _time_format(column, sample, declared)
    moment = _parsed(text, layout)
    if kind == "end" and ("%.f" in layout or "9f" in layout):
        # Digits beyond microseconds are dropped; an end is then moved up, so that no stay is made shorter.
        finer = text.str.contains(_FINE) if "%9f" not in layout else pl.lit(value=True)
        moment = pl.when(finer).then(moment + pl.duration(microseconds=1)).otherwise(moment)
    fine = ~_leap(text, layout) if declared.time_format else text.str.contains(_STRICT)
    return pl.when(fine).then(moment)


def _fractions(times: pl.LazyFrame) -> bool:
    """Whether any of the first times has decimals; later ones that alone do become null and stop the work."""
    some = times.head(_LOOK).collect(engine="streaming")
    return any(some[name].str.contains(".", literal=True).any() for name in some.columns)


def _moments_since_1970(text: pl.Expr, per_second: int) -> pl.Expr:
    """Decimal numbers since 1970 in integer arithmetic, to the nanosecond; null if finer or too large."""
    nanoseconds, places = 10**9 // per_second, len(str(10**9 // per_second)) - 1
    decimals = rf"(?:[.](?<part>[0-9]{{1,{places}}}))?" if places else "(?<part>)"
    written = text.str.extract_groups(f"^(?<sign>-?)(?<whole>[0-9]+){decimals}$")
    sign = pl.when(written.struct.field("sign") == "-").then(-1).otherwise(1)
    whole = written.struct.field("whole").cast(pl.Int64, strict=False)
    part = written.struct.field("part").str.pad_end(places, "0").cast(pl.Int64, strict=False).fill_null(0)
    number = sign * (whole * nanoseconds + part)
    return pl.when(whole < (2**63 - 1) // nanoseconds).then(number).cast(pl.Datetime("ns", "UTC"))


def _of_days(sample: str | None, declared: VisitFormat) -> bool:
    """Whether the start or end of a stay is a date: the whole of that day."""
    layout = declared.time_format
    if layout is None:
        return sample is not None and _ISO_DATE.fullmatch(sample) is not None
    return declared.epoch is None and "%" in layout and not _HOURS.search(layout)


def text_of(role: str) -> str:
    """The name under which the text of a column is kept."""
    return f"{role} text"


def _leap(text: pl.Expr, layout: str) -> pl.Expr:
    """Whether the time has a second 60, which the parser carries into the next minute (and day): detected by
    replacing 60 by 59 and comparing.
    """
    some = pl.when(text.str.contains("60", literal=True)).then(text)
    moment = _parsed(some, layout)
    others = [
        some.str.replace(*change) for change in (("60", "59"), ("^(.*)60", "${1}59"), ("60([.,])", "59$1"))
    ]
    second = pl.duration(seconds=1)
    return pl.any_horizontal(
        (moment - _parsed(each, layout) == second).fill_null(value=False) for each in others
    )


def _parsed(text: pl.Expr, layout: str) -> pl.Expr:
    return text.str.to_datetime(layout, time_unit="us", strict=False, ambiguous="earliest")


def _time_format(column: str, sample: str | None, declared: VisitFormat) -> str:
    if declared.time_format is not None:
        return _declared_format(declared.time_format, declared.timezone)
    if sample is None:
        return "%Y-%m-%dT%H:%M:%S%.f%#z"
    if _NUMBER.fullmatch(sample):
        raise epoch_not_declared(column)
    shape = _ISO.fullmatch(sample)
    if shape is None:
        raise BadQuestion(
            f"The times in column {column} are not written as ISO 8601.",
            'Declare their format (`time_format="%d/%m/%Y %H:%M"`), or map a column of dates as date.',
        )
    seconds = ":%S%.f" if shape["seconds"] else ""
    return f"%Y-%m-%d{shape['gap']}%H:%M{seconds}{'%#z' if shape['zone'] else ''}"


def _declared_format(layout: str, clock: str | None) -> str:
    """The declared format in the dialect of the engine, where `.%f` and `%z` mean something narrower."""
    if "%" not in layout:
        raise _not_understood(layout)
    if not _HOURS.search(layout):
        raise BadQuestion(
            f"The time format {layout!r} has no hours.",
            "Give the whole format (%Y-%m-%d %H:%M:%S), or map the column as a date.",
        )
    if "%Z" in layout:
        raise BadQuestion(
            "Names of zones such as CST mean several zones.",
            "Write the offset (%z) into the data, or declare `timezone=`.",
        )
    # A zone among the format's own letters is matched and forgotten: the hours would move by the offset.
    zones = {zone.strip() for zone in _WRITTEN_ZONE.findall(_DIRECTIVE.sub(" ", layout))}
    if zones and not zones <= _names_of(clock):
        raise BadQuestion(
            f"The time format {layout!r} has a zone in it, which would be read as mere letters.",
            'Write %z in place of Z or an offset; or declare the zone that it names (`timezone="UTC"`).',
        )
    for written, meant in ((".%f", "%.f"), ("%f", "%6f"), ("%#z", "%z"), ("%:z", "%z"), ("%z", "%#z")):
        layout = layout.replace(written, meant)
    try:
        pl.Series([""]).str.to_datetime(layout, strict=False)
    except pl.exceptions.PolarsError:
        raise _not_understood(layout) from None
    return layout


def _names_of(clock: str | None) -> set[str]:
    """Names of the declared zone that may stand in a format: its own, and its abbreviation if that is the
    same all year.
    """
    if clock is None:
        return set()
    if clock in CLOCKS_OF_UTC:
        return {*_UTC, clock}
    zone = find_zone(clock)
    letters = {datetime(year, month, 1, tzinfo=zone).tzname() for year in _YEARS for month in range(1, 13)}
    return {clock, *(name for name in letters if name and len(letters) == 1)}


def _not_understood(layout: str) -> BadQuestion:
    return BadQuestion(
        f"The time format {layout!r} is not understood.", "Write it as %Y-%m-%d %H:%M:%S%z, or as epoch-s."
    )


def epoch_not_declared(column: str) -> BadQuestion:
    """The refusal of numeric times without a declared unit."""
    return BadQuestion(
        f"The times in column {column} are numbers.",
        'Say what they count: `time_format="epoch-s"`, "epoch-ms", "epoch-us" or "epoch-ns".',
    )


def _date_format(column: str, sample: str | None, declared: VisitFormat) -> str:
    if declared.time_format is not None:
        if _HOURS.search(declared.time_format) or declared.epoch:
            raise BadQuestion(
                f"The format {declared.time_format!r} is of a time, and column {column} is mapped as a date.",
                "Give the format of the date alone (%d/%m/%Y), or map the column as time.",
            )
        return declared.time_format
    if sample is not None and not _ISO_DATE.fullmatch(sample):
        raise BadQuestion(
            f"The dates in column {column} are not written as 2024-03-01.",
            'Declare their format (`time_format="%d/%m/%Y"`), or map a column with hours as time.',
        )
    return "%Y-%m-%d"
