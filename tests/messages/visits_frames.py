"""Messages about dataframes and about times written as text."""

from __future__ import annotations

import duckdb
import pandas as pd
import polars as pl
from tests.messages.visits_acts import FIX, POINTS, ROWS, SEEN, Said, asked, timed, written
from tests.visits.making import DAY, count_visits, places, table

from safeside.errors import BadFile, BadQuestion
from safeside.visits import Expected, StayRule, VisitFormat, read_places
from safeside.visits.read.engines import join_batches

SAID: Said = {
    # Dataframes
    "no dataframe": (
        asked(7),
        BadQuestion,
        "Visits cannot be read from a int.",
        "Give a path, a glob, or a pandas, Polars, PyArrow, DuckDB or PySpark dataframe.",
    ),
    "two of one name": (
        asked(pd.DataFrame([[1, 2]], columns=["person", "person"])),
        BadQuestion,
        "Two columns have the same name.",
        "Rename one of them.",
    ),
    "a name that is a number": (
        asked(pd.DataFrame([["ana", "bar"]])),
        BadQuestion,
        "The name of a column is not text.",
        "Rename the columns to text.",
    ),
    "objects of several kinds": (
        asked(table(ROWS * 2).to_pandas().assign(person=pd.Series([1, "a"], dtype=object))),
        BadQuestion,
        "Column person holds values of several kinds, or of one that cannot be read.",
        "Turn the whole column into text, whole numbers or timestamps, keeping missing values missing.",
    ),
    "a database that fails": (
        asked(
            duckdb.sql("select cast('x' as int) as person, 'bar' as place, now() as start, now() as \"end\"")
        ),
        BadFile,
        "The visits cannot be read to the end (ConversionException).",
        "Look at the dataframe with its own engine; columns of the same kind must have the same type.",
    ),
    "an answer that is not whole": (
        lambda _: join_batches(table(ROWS).clear(), [table(ROWS)], ["place"], 2),
        BadFile,
        "What was delivered is not what was counted: rows are missing, twice or out of order.",
        "Count again once nothing writes to the data; if it happens again, report it.",
    ),
    "no rows": (
        asked(table(ROWS).clear()),
        BadFile,
        "The dataframe has no rows.",
        "Look at how it was made, or declare that there are no rows (`Expected(rows=0)`).",
    ),
    "files of a dataframe": (
        lambda _: count_visits(table(ROWS), places(), DAY, expected=Expected(files=1)),
        BadFile,
        "1 file is declared, and the visits are a dataframe.",
        "Leave the number of files out.",
    ),
    "text in a database": (
        asked(duckdb.sql("select 'a' as person, 'bar' as place, 'x' as start, 'x' as \"end\"")),
        BadQuestion,
        "Times or coordinates in the duckdb dataframe are text.",
        "Cast them to timestamps, dates or numbers in the dataframe first.",
    ),
    "no coordinate": (
        asked(FIX.with_columns(latitude=pl.lit(value=True)), radius=50, hold="1h"),
        BadQuestion,
        "Column latitude holds Boolean, not a coordinate.",
        "Give latitude and longitude as decimal degrees.",
    ),
    "different times": (
        asked(table(ROWS).with_columns(end=pl.col("end").dt.date()), timezone="UTC"),
        BadQuestion,
        "Start and end tell the time in different ways.",
        "Give both as timestamps, or both as dates.",
    ),
    "numbers": (
        asked(table(ROWS).with_columns(pl.col("start", "end").dt.epoch("s"))),
        BadQuestion,
        "The times in column start are numbers.",
        'Say what they count: `time_format="epoch-s"`, "epoch-ms", "epoch-us" or "epoch-ns".',
    ),
    "not a time": (
        asked(SEEN.with_columns(time=pl.lit(value=True)), hold="1h"),
        BadQuestion,
        "Column time holds Boolean, which is not a time.",
        "Map timestamps as start and end or as time, and dates as date.",
    ),
    "not a date": (
        asked(SEEN.rename({"time": "date"})),
        BadQuestion,
        "Column date holds Datetime(time_unit='us', time_zone='UTC'), which is not a date.",
        "Map timestamps as start and end or as time, and dates as date.",
    ),
    "no zone": (
        asked(table(ROWS).with_columns(pl.col("start", "end").dt.replace_time_zone(None))),
        BadQuestion,
        "The times in column start have no zone, and none is declared.",
        'Declare the zone whose clock they show (`timezone="Asia/Tokyo"`).',
    ),
    "floats": (
        asked(table(ROWS).with_columns(person=pl.lit(1.0))),
        BadQuestion,
        "The identifiers in column person are floating-point numbers: large ones merge.",
        "Read the column as text, or as whole numbers if none is missing, and try again.",
    ),
    "no identifiers": (
        asked(table(ROWS).with_columns(place=pl.lit(value=True))),
        BadQuestion,
        "Column place holds Boolean, which cannot be compared as identifiers.",
        "Turn every identifier into text (or whole numbers), keeping missing ones missing.",
    ),
    "detected without a zone": (
        lambda _: count_visits(
            FIX.with_columns(pl.col("time").dt.replace_time_zone(None)),
            read_places(POINTS),
            DAY,
            VisitFormat(radius=50, stay_rule=StayRule(minutes=5, longest_gap="1h"), timezone="UTC"),
        ),
        BadQuestion,
        "Stay detection needs times with a zone.",
        "Convert the time column to zoned timestamps first.",
    ),
    "accuracy in cells": (
        lambda _: count_visits(
            FIX.with_columns(accuracy=pl.lit(5.0)),
            read_places(POINTS),
            DAY,
            VisitFormat(h3_resolution=9, hold="1h"),
        ),
        BadQuestion,
        "An accuracy in metres cannot be added to H3 cells.",
        "Declare a radius instead of H3 cells, or leave the accuracy out.",
    ),
    # Text times
    "not ISO": (
        timed("03/03/2024 10:00"),
        BadQuestion,
        "The times in column start are not written as ISO 8601.",
        'Declare their format (`time_format="%d/%m/%Y %H:%M"`), or map a column of dates as date.',
    ),
    "no hours": (
        written("person,place,time\nana,bar,2024-03-03\n", time_format="%Y-%m-%d", hold="1h"),
        BadQuestion,
        "The time format '%Y-%m-%d' has no hours.",
        "Give the whole format (%Y-%m-%d %H:%M:%S), or map the column as a date.",
    ),
    "names of zones": (
        timed("x", time_format="%Y-%m-%d %H:%M %Z"),
        BadQuestion,
        "Names of zones such as CST mean several zones.",
        "Write the offset (%z) into the data, or declare `timezone=`.",
    ),
    "a zone in letters": (
        timed("x", time_format="%Y-%m-%dT%H:%MZ", timezone="Asia/Tokyo"),
        BadQuestion,
        "The time format '%Y-%m-%dT%H:%MZ' has a zone in it, which would be read as mere letters.",
        'Write %z in place of Z or an offset; or declare the zone that it names (`timezone="UTC"`).',
    ),
    "half a time": (
        timed("x", time_format="%Y-%m-%d %H", timezone="UTC"),
        BadQuestion,
        "The time format '%Y-%m-%d %H' is not understood.",
        "Write it as %Y-%m-%d %H:%M:%S%z, or as epoch-s.",
    ),
    "a date with hours": (
        written("person,place,date\nana,bar,x\n", time_format="%Y-%m-%d %H:%M", timezone="UTC"),
        BadQuestion,
        "The format '%Y-%m-%d %H:%M' is of a time, and column date is mapped as a date.",
        "Give the format of the date alone (%d/%m/%Y), or map the column as time.",
    ),
    "a date otherwise": (
        written("person,place,date\nana,bar,03.03.2024\n", timezone="UTC"),
        BadQuestion,
        "The dates in column date are not written as 2024-03-01.",
        'Declare their format (`time_format="%d/%m/%Y"`), or map a column with hours as time.',
    ),
}
