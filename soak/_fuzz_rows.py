"""Rows whose truth is known, and the forms in which `soak.fuzz_visits` gives them to a count."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
from tests.visits.making import AROUND, DAY, ENGINES, EVER, PLACES

from safeside.visits import Expected, VisitFormat

ORDINARY = ("ana", "ben", "chi", "dev", "p17", "p18", "4711", "4712")


@dataclass(frozen=True, kw_only=True)
class Row:
    """What is so, and what is written."""

    who: object
    at: str | None
    start: datetime
    end: datetime
    person: Any
    place: Any
    began: Any
    ended: Any


@dataclass(frozen=True, kw_only=True)
class Case:
    """Rows, and how to make visits of them: again for fewer rows, when a failure is made smaller."""

    kind: str
    form: str
    rows: list[Row]
    make: Callable[[list[Row], Path], Any]
    listed: tuple[str, ...] = PLACES
    fmt: VisitFormat = field(default_factory=VisitFormat)
    exclude: bool = False
    expected: Expected = field(default_factory=lambda: Expected(covers=EVER))


def some_rows(dice: random.Random, most: int = 30, places: tuple[str, ...] = PLACES) -> list[Row]:
    """Ordinary stays around the window's edges."""
    rows = []
    for _ in range(dice.randint(1, most)):
        near = dice.choice((timedelta(0), timedelta(microseconds=dice.choice((-1, 1)))))
        far = timedelta(seconds=dice.randint(-90_000, 90_000))
        start = dice.choice(AROUND) + dice.choice((near, far))
        end = start + timedelta(seconds=dice.choice((0, dice.randint(1, 200_000))))
        who, place = dice.choice(ORDINARY), dice.choice(places)
        rows.append(
            Row(who=who, at=place, start=start, end=end, person=who, place=place, began=start, ended=end)
        )
    return rows


def changed(row: Row, **parts: Any) -> Row:
    """The row with other parts."""
    return Row(**{**row.__dict__, **parts})


def table(rows: list[Row]) -> pl.DataFrame:
    """As Polars holds them, where every column is of one type."""
    moment = pl.Datetime("us", "UTC")
    return pl.DataFrame(
        {
            "person": [row.person for row in rows],
            "place": [row.place for row in rows],
            "start": pl.Series([row.began for row in rows], dtype=moment),
            "end": pl.Series([row.ended for row in rows], dtype=moment),
        }
    )


def as_csv(rows: list[Row], folder: Path) -> Path:
    """Text, in quotes where it has to be."""
    path = folder / "visits.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("person", "place", "start", "end"))
        for row in rows:
            times = (at if isinstance(at, str) else at.isoformat() for at in (row.began, row.ended))
            writer.writerow((row.person, row.place, *times))
    return path


def as_parquet(rows: list[Row], folder: Path) -> Path:
    path = folder / "visits.parquet"
    table(rows).write_parquet(path, row_group_size=7)
    return path


def _duck(rows: list[Row], kind: str) -> Any:
    import duckdb

    connection = duckdb.connect()
    connection.register("plain", table(rows).to_arrow())
    if kind == "enum":
        for role in ("person", "place"):
            values = ", ".join(
                "'" + value.replace("'", "''") + "'" for value in sorted({getattr(r, role) for r in rows})
            )
            connection.execute(f"CREATE TYPE {role}s AS ENUM ({values})")
        connection.execute(
            'CREATE TABLE v AS SELECT person::persons AS person, place::places AS place, start, "end"'
            " FROM plain"
        )
    else:
        connection.execute("SET default_collation = 'NOCASE'") if kind == "default" else None
        collate = " COLLATE NOCASE" if kind == "nocase" else ""
        connection.execute(
            f"CREATE TABLE v(person VARCHAR{collate}, place VARCHAR{collate},"
            ' start TIMESTAMPTZ, "end" TIMESTAMPTZ)'
        )
        connection.execute("INSERT INTO v SELECT * FROM plain")
    return connection.sql("select * from v")


def _dictionary(rows: list[Row]) -> Any:
    whole = table(rows).to_arrow()
    for role in ("person", "place"):
        at = whole.schema.get_field_index(role)
        whole = whole.set_column(at, role, whole[role].cast(pa.string()).dictionary_encode())
    return whole


def _typed(rows: list[Row], dtype: Any) -> pl.DataFrame:
    return table(rows).with_columns(pl.col("person", "place").cast(dtype))


def _pandas_categories(rows: list[Row]) -> Any:
    return table(rows).to_pandas().astype({"person": "category", "place": "category"})


_spark: list[Any] = []


def on_spark(rows: list[Row]) -> Any:
    if not _spark:
        from pyspark.sql import SparkSession

        quiet = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        _spark.append(quiet.config("spark.sql.shuffle.partitions", "1").getOrCreate())
        _spark[0].sparkContext.setLogLevel("OFF")
    schema = "person string, place string, start timestamp, end timestamp"
    return _spark[0].createDataFrame([(r.person, r.place, r.began, r.ended) for r in rows], schema)


FORMS: dict[str, Callable[[list[Row], Path], Any]] = {
    **{name: (lambda rows, _, make=make: make(table(rows))) for name, make in ENGINES.items()},
    "csv": as_csv,
    "parquet": as_parquet,
    "duckdb enum": lambda rows, _: _duck(rows, "enum"),
    "duckdb nocase": lambda rows, _: _duck(rows, "nocase"),
    "duckdb nocase by default": lambda rows, _: _duck(rows, "default"),
    "arrow dictionary": lambda rows, _: _dictionary(rows),
    "polars categorical": lambda rows, _: _typed(rows, pl.Categorical),
    "pandas categories": lambda rows, _: _pandas_categories(rows),
}
SPARK = "spark"


def truth(case: Case, rows: list[Row]) -> list[int]:
    """Distinct people at each listed place, by what is so."""
    people: dict[str, set[object]] = {place: set() for place in case.listed}
    for row in rows:
        if row.at is not None and row.start < DAY.end and (row.end > DAY.start or row.start >= DAY.start):
            people[row.at].add(row.who)
    return [len(people[place]) for place in case.listed]
