"""What `soak.fuzz_visits` feeds to a count: rows whose truth is known, written in ways that lose it easily.

A row knows who is meant and at which listed place, whatever is written of it. Two rows whose identifier is a
word for "missing" or a rounded number are two people: a count that takes them for one is too small.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from soak._fuzz_rows import FORMS, SPARK, Case, Row, as_csv, changed, on_spark, some_rows
from tests.visits.making import AROUND, ENGINES, EVER, PLACES
from tests.visits.read.test_parquet import by_converted_type

from safeside.visits import Expected, VisitFormat

NUMBERS = ("7", "12", "120", "1200", "9001")
DISTINCT = ("ana", "ANA", "Ana", "ana ", " ana", "äna", "a\u0308na", "ａna", "ana\u200b", "x'y", 'x"y', "x,y")
"""All different people, as different engines see them in different ways."""
FAULTY = (
    *(
        "",
        " ",
        "null",
        "NULL",
        "(null)",
        "None",
        "nan",
        "NaN",
        "N/A",
        "n.a.",
        "N.A.",
        "#N/A",
        "#NAME?",
        "<NA>",
    ),
    *("undefined", "unknown", "不明", "-", "--", "?", "-1", "\\N", "00000000-0000-0000-0000-000000000000"),
    *("1.23457E+11", "1,23457E+11", "1e5", "123.0", "4711.", " 1.5E+10 ", "\u00a0null", '"null"'),
)
ODD_OBJECTS = (True, False, 1, 1.0, "1", b"1", Decimal(1), None, float("nan"), 2**60, [1], "ana")


def identifiers(dice: random.Random, *, spark: bool) -> Case:
    """People and places by text that engines tell apart in different ways, and words for "missing"."""
    rows = some_rows(dice)
    for number, row in enumerate(rows):
        if dice.random() < 0.5:
            who = dice.choice(DISTINCT)
            rows[number] = changed(row, who=who, person=who)
        elif dice.random() < 0.03:
            rows[number] = changed(row, who=("nobody", number), person=dice.choice(FAULTY))
    form = SPARK if spark else dice.choice(sorted(FORMS))
    make = (lambda rows, _: on_spark(rows)) if spark else FORMS[form]
    return Case(kind="identifiers", form=form, rows=rows, make=make)


def raw_bytes(dice: random.Random) -> Case:
    """People by bytes, of which some are text, some are not, and some look like the digits of others."""
    pool = (
        b"ana",
        b"ANA",
        b"\xff",
        b"\xfe\x00",
        b"0x616e61",
        b"0xff",
        b"\x00a",
        "äna".encode(),
        b"an",
        b"p17",
    )
    rows = []
    for number, row in enumerate(some_rows(dice)):
        if dice.random() < 0.02:
            written = dice.choice((b"", b"null", b"\x00" * 16, b"-1"))
            rows.append(changed(row, who=("nobody", number), person=written))
        else:
            who = dice.choice(pool)
            rows.append(changed(row, who=who, person=who))
    form = dice.choice(sorted({*ENGINES, "parquet"}))
    return Case(kind="bytes", form=form, rows=rows, make=FORMS[form])


def late_objects(dice: random.Random) -> Case:
    """A column of Python objects in pandas whose kind changes after its hundredth row."""
    rows = [row for _ in range(8) for row in some_rows(dice)][:160]
    numbers = dice.random() < 0.5
    rows = [
        changed(row, who=("int", repr(n % 9)), person=n % 9)
        if numbers
        else changed(row, who=("str", repr(row.person)))
        for n, row in enumerate(rows)
    ]
    role = dice.choice(("person", "person", "place", "start"))
    for number in range(100, len(rows)):
        if dice.random() < 0.05:
            rows[number] = _odd_object(dice, rows[number], number, role)

    def make(given: list[Row], _: Path) -> Any:
        import pandas as pd

        columns = {"person": "person", "place": "place", "start": "began", "end": "ended"}
        held = {name: [getattr(row, part) for row in given] for name, part in columns.items()}
        frame = pd.DataFrame({"end": pd.to_datetime(held["end"], utc=True)})
        for name in ("person", "place", "start"):
            frame[name] = pd.Series(held[name], dtype=object)
        return frame

    return Case(kind="objects", form="pandas", rows=rows, make=make)


def _odd_object(dice: random.Random, row: Row, number: int, role: str) -> Row:
    if role == "start":
        naive = row.start.replace(tzinfo=None)
        written = dice.choice((naive, row.start.isoformat(), naive.isoformat(), row.start.timestamp(), None))
        return changed(row, began=written)
    if role == "place":
        return changed(row, place=dice.choice((row.place.encode(), None, 5, ("bar",))))
    odd = dice.choice(ODD_OBJECTS)
    nobody = odd is None or odd != odd or isinstance(odd, list)
    return changed(row, who=("nobody", number) if nobody else (type(odd).__name__, repr(odd)), person=odd)


def parquet_times(dice: random.Random) -> Case:
    """Every way in which PyArrow writes the type of a time."""
    zoned, zone = dice.random() < 0.5, dice.choice(("UTC", "Asia/Tokyo", "America/New_York"))
    old, unit = dice.random() < 0.3, dice.choice(("ms", "us", "ns"))
    # Without logical types only the older, converted type is left, which there is for moments of UTC.
    converted = zoned and not old and unit != "ns" and dice.random() < 0.5
    options: dict[str, Any] = {
        "version": dice.choice(("1.0", "2.4", "2.6")),
        "store_schema": not converted and dice.random() < 0.5,
        "use_deprecated_int96_timestamps": old,
    }
    declared = dice.choice((None, "UTC", "Asia/Tokyo"))
    # The old kind has no zone, and is in UTC where Spark wrote it; others are on the clock that is declared.
    wall = ZoneInfo("UTC" if old else declared or "UTC")
    rows = [
        changed(row, start=start, end=max(start, row.end.replace(microsecond=0)))
        for row in some_rows(dice)
        for start in (row.start.replace(microsecond=0),)
    ]

    def make(given: list[Row], folder: Path) -> Path:
        kind = pa.timestamp(unit, tz=zone if zoned else None)
        times = {
            name: pa.array(
                [at if zoned else at.astimezone(wall).replace(tzinfo=None) for at in values], type=kind
            )
            for name, values in (("start", [r.start for r in given]), ("end", [r.end for r in given]))
        }
        text = {"person": [row.person for row in given], "place": [row.place for row in given]}
        pq.write_table(pa.table({**text, **times}), folder / "visits.parquet", **options)
        path = folder / "visits.parquet"
        return by_converted_type(path) if converted else path

    form = (
        f"{'converted' if converted else 'zoned' if zoned else 'naive'} {unit} {options} declared {declared}"
    )
    return Case(kind="parquet times", form=form, rows=rows, make=make, fmt=VisitFormat(timezone=declared))


def _leap(at: datetime) -> str:
    """A full minute as the sixtieth second of the one before, where it is one."""
    if at.second or at.microsecond:
        return at.isoformat()
    return f"{at - timedelta(minutes=1):%Y-%m-%dT%H:%M}:60+00:00"


SPELLINGS: dict[str, Callable[[datetime], str]] = {
    "iso": lambda at: at.isoformat(),
    "zulu": lambda at: at.isoformat().replace("+00:00", "Z"),
    "tokyo": lambda at: at.astimezone(ZoneInfo("Asia/Tokyo")).isoformat(),
    "blank": lambda at: at.isoformat(" "),
    "fine": lambda at: f"{at:%Y-%m-%dT%H:%M:%S.%f}000Z",
    "basic": lambda at: f"{at:%Y%m%dT%H%M%S.%f}Z",
    "leap": _leap,
    "small": lambda at: at.isoformat().replace("+00:00", "z").replace("T", "t"),
    "padded": lambda at: f" {at.isoformat()} ",
    "minutes": lambda at: at.isoformat() if at.second or at.microsecond else f"{at:%Y-%m-%dT%H:%M}Z",
    "slashes": lambda at: f"{at:%d/%m/%Y %H:%M:%S.%f}+00:00",
}


def time_spellings(dice: random.Random) -> Case:
    """Times as text, spelled in one way, or in another from some row on."""
    first, other = dice.choice(sorted(SPELLINGS)), dice.choice(sorted(SPELLINGS))
    share = dice.choice((0.0, 0.0, 0.1, 0.5))

    def spell(at: datetime) -> str:
        return SPELLINGS[other if dice.random() < share else first](at)

    rows = []
    for row in some_rows(dice):
        start = row.start.replace(second=0, microsecond=0) if dice.random() < 0.5 else row.start
        end = max(start, row.end)
        rows.append(changed(row, start=start, end=end, began=spell(start), ended=spell(end)))
    form = dice.choice(("csv", "polars", "pandas", "pyarrow"))

    def make(given: list[Row], folder: Path) -> Any:
        if form == "csv":
            return as_csv(given, folder)
        columns = {"person": "person", "place": "place", "start": "began", "end": "ended"}
        return ENGINES[form](
            pl.DataFrame({name: [getattr(row, part) for row in given] for name, part in columns.items()})
        )

    return Case(kind="spellings of times", form=f"{form}, {first} and {other}", rows=rows, make=make)


LIKE_NAMES: tuple[Callable[[str], str], ...] = (
    lambda name: f" {name}",
    lambda name: f"{name}\u00a0",
    lambda name: name.upper(),
    lambda name: f'"{name}"',
    lambda name: f"poi:{name}",
    lambda name: f"{name}_2024",
)
LIKE_NUMBERS: tuple[Callable[[str], str], ...] = (
    lambda name: f" {name}",
    lambda name: f"{name}.0",
    lambda name: f"{name},0",
    lambda name: f"00{name}",
    lambda name: f"fsq-{name}",
    lambda name: f"fsq{name}",
)


def unlisted(dice: random.Random) -> Case:
    """Places that are not listed are left out; those that are, in another spelling, must not be."""
    listed = dice.choice((PLACES, NUMBERS))
    rows = some_rows(dice, 60, listed)
    other, share = (
        dice.choice(LIKE_NAMES if listed is PLACES else LIKE_NUMBERS),
        dice.choice((0.0, 0.0, 0.05, 1.0)),
    )
    for number, row in enumerate(rows):
        if dice.random() < share and row.at is not None:
            rows[number] = changed(row, place=other(row.at))
        elif dice.random() < 0.4:
            rows[number] = changed(row, at=None, place=f"home of {row.who}")
    form = dice.choice(sorted({*ENGINES, "csv", "parquet"}))
    return Case(
        kind="unlisted places",
        form=form,
        rows=rows,
        make=FORMS[form],
        listed=listed,
        exclude=True,
        expected=Expected(covers=EVER, unlisted="100%"),
    )


def cut_exports(dice: random.Random) -> Case:
    """Exports of a part of the time: declared as what they are, or not at all. What was not exported is part
    of the truth, so that counting a window that is not covered counts too little.
    """
    begin, stop = sorted(
        dice.choice(AROUND) + timedelta(seconds=dice.choice((0, dice.randint(-200_000, 200_000))))
        for _ in range(2)
    )
    stop = max(stop, begin + timedelta(seconds=1))
    form = dice.choice(sorted({*ENGINES, "csv", "parquet"}))
    declared = dice.random() < 0.5

    def make(rows: list[Row], folder: Path) -> Any:
        return FORMS[form]([row for row in rows if _touches(row, begin, stop)], folder)

    return Case(
        kind="cut exports",
        form=f"{form}, {'declared' if declared else 'not declared'}, {begin} to {stop}",
        rows=some_rows(dice, 60),
        make=make,
        expected=Expected(covers=f"{begin.isoformat()}/{stop.isoformat()}" if declared else None),
    )


def missing_days(dice: random.Random) -> Case:
    """One file for each local day, named by it, of which some are not there."""
    first = datetime(2024, 3, 1, tzinfo=ZoneInfo("Asia/Tokyo"))
    days = [first + timedelta(days=number) for number in range(5) if dice.random() < 0.7] or [first]
    form = dice.choice(("csv", "parquet"))

    def make(rows: list[Row], folder: Path) -> Any:
        for day in days:
            of_it = [row for row in rows if _touches(row, day, day + timedelta(days=1))]
            if of_it:
                written = FORMS[form](of_it, folder)
                written.rename(folder / f"visits-{day:%Y-%m-%d}.{form}")
        return folder

    return Case(
        kind="missing days",
        form=f"{form}, {', '.join(f'{day:%d}' for day in days)}",
        rows=some_rows(dice, 60),
        make=make,
        fmt=VisitFormat(timezone="Asia/Tokyo"),
        expected=Expected(covers=f"visits-%Y-%m-%d.{form}"),
    )


def _touches(row: Row, begin: datetime, stop: datetime) -> bool:
    return row.start < stop and (row.end > begin or row.start >= begin)


KINDS: tuple[Callable[[random.Random], Case], ...] = (
    lambda dice: identifiers(dice, spark=False),
    raw_bytes,
    late_objects,
    parquet_times,
    time_spellings,
    unlisted,
    cut_exports,
    missing_days,
)
