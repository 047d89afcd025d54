"""Messages about rows, about the list of places, and about what was declared and is not so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
from tests.messages.visits_acts import GOOD, HEADER, POINTS, ROWS, Act, Said, listed, written
from tests.visits.making import DAY, NOON, count_visits, places, table
from tests.visits.plain import Stay

from safeside.errors import BadFile, BadQuestion, LimitBroken
from safeside.visits import Expected, Places, VisitFormat, Window, read_places

NO_TABLE = "The dataframe of places has two columns of one name, or text and numbers in one column."
FIXES = "person,latitude,longitude,time\nana,35.68,139.76,2024-03-03T10:00:00Z\n"


def row(text: str, **declared: Any) -> Act:
    """One good row, and this one after it."""
    return written(HEADER + GOOD + text + "\n", **declared)


def fix(text: str, **declared: Any) -> Act:
    def act(folder: Path) -> object:
        (folder / "visits.csv").write_text(f"{FIXES}{text},2024-03-03T10:00:00Z\n")
        form = VisitFormat(radius=50, hold="1h", **declared)
        return count_visits(folder / "visits.csv", read_places(POINTS), DAY, form)

    return act


def declared(frame: pl.DataFrame, window: Window = DAY, **more: Any) -> Act:
    return lambda _: count_visits(frame, places(), window, **more)


def made(make: Callable[[], object]) -> Act:
    return lambda _: make()


START, END = "2024-03-03T10:00:00Z", "2024-03-03T11:00:00Z"
AGAIN = "Give every row {}; a row without one cannot be placed in or out of the count."
TRUST = (
    "Correct the rows or the mapping, or declare that they are right as they are (`trust_coordinates=True`)."
)
LIST = "Correct the list: every place once, each with its identifier."

SAID: Said = {
    "no person": (
        row(f",bar,{START},{END}"),
        BadFile,
        "Column person: no person (1 row); first at visits.csv line 3.",
        "Give every row the identifier of a person; people without one would be counted as one.",
    ),
    "no place": (
        row(f"ben,,{START},{END}"),
        BadFile,
        "Column place: no place (1 row); first at visits.csv line 3.",
        AGAIN.format("a place"),
    ),
    "no end": (
        row(f"ben,bar,{START},"),
        BadFile,
        "Column end: no end (1 row); first at visits.csv line 3.",
        AGAIN.format("an end"),
    ),
    "rounded": (
        row(f"1E+5,bar,{START},{END}"),
        BadFile,
        "Column person: identifiers in scientific notation or with decimals, as if rounded (1 row);"
        " first at visits.csv line 3.",
        "Export the identifiers as text from the original, or declare that they are right "
        "(`trust_ids=True`).",
    ),
    "a word": (
        row(f"null,bar,{START},{END}"),
        BadFile,
        "Column person: a word or a number for a missing value instead of an identifier (1 row);"
        " first at visits.csv line 3.",
        "Give every row the identifier of a person, or declare that these are identifiers "
        "(`trust_ids=True`).",
    ),
    "a word for a place": (
        declared(table([*ROWS, Stay("ben", "(null)", DAY.start, DAY.end)]), exclude_unknown_places=True),
        BadFile,
        "Column place: a word or a number for a missing value instead of a place; first at row 2.",
        "Give every row the identifier of a place, or declare that these are places (`trust_places=True`).",
    ),
    "a rounded place": (
        declared(table([*ROWS, Stay("ben", "1,2E+11", DAY.start, DAY.end)]), exclude_unknown_places=True),
        BadFile,
        "Column place: places in scientific notation or with decimals, as if rounded; first at row 2.",
        "Export the places as text from the original, or declare that they are right (`trust_places=True`).",
    ),
    "zeros": (
        written(HEADER + GOOD.replace("ana", "007") + GOOD.replace("ana", "42")),
        BadFile,
        "Column person: identifiers with leading zeros, and shorter numbers that may have lost theirs;"
        " first at visits.csv line 3.",
        "Export identifiers as text from the original, or declare that they are right (`trust_ids=True`).",
    ),
    "a time": (
        row(f"ben,bar,2024-13-03T10:00:00Z,{END}"),
        BadFile,
        "Column start: a time that cannot be read as the first one is written (1 row);"
        " first at visits.csv line 3.",
        "Correct the rows, or declare the format of the column (`time_format=`).",
    ),
    "a time in the declared format": (
        row("ben,bar,03/03/2024 10:00,3 March", time_format="%Y-%m-%dT%H:%M:%SZ", timezone="UTC"),
        BadFile,
        "People cannot be counted for certain:\n"
        "  - column start: a time that cannot be read in the declared format (1 row);"
        " first at visits.csv line 3.\n"
        "  - column end: a time that cannot be read in the declared format (1 row);"
        " first at visits.csv line 3.",
        "\n  - Correct the rows, or declare the format of the column (`time_format=`).",
    ),
    "a naive time": (
        row(f"ben,bar,2024-03-03T10:00:00,{END}"),
        BadFile,
        "Column start: a time without a zone among times with one (1 row); first at visits.csv line 3.",
        "Write every time with its offset from UTC.",
    ),
    "an odd time": (
        row(f"ben,bar,1024-03-03T10:00:00Z,{END}"),
        BadFile,
        "Column start: a time before 1900 or after 2199 (1 row); first at visits.csv line 3.",
        "Check the format and the unit of the times, or declare that they are right as they are"
        " (`trust_times=True`).",
    ),
    "a mistaken unit": (
        written(f"{HEADER}ana,bar,1709460000,1709460000\n", time_format="epoch-ms"),
        BadFile,
        "Column end: a time in 1970, as numbers become whose unit was mistaken (1 row);"
        " first at visits.csv line 2.",
        'Check the unit (`time_format="epoch-s"`), or declare that they are right as they are '
        "(`trust_times=True`).",
    ),
    "a skipped time": (
        lambda _: count_visits(
            pl.DataFrame({"person": ["a"], "place": ["bar"], "date": [None]})
            .drop("date")
            .with_columns(
                start=pl.lit("2024-03-31T02:30").str.to_datetime(),
                end=pl.lit("2024-03-31T04:00").str.to_datetime(),
            ),
            places(),
            Window.parse("2024-03-31", "Europe/Berlin"),
            VisitFormat(timezone="Europe/Berlin"),
        ),
        BadFile,
        "Column start: a local time that the clock skipped (1 row); first at row 1.",
        "Check the declared time zone, or give the times with their offset.",
    ),
    "reversed": (
        row(f"ben,bar,{END},{START}"),
        BadFile,
        "Column end: a stay that ends before it starts (1 row); first at visits.csv line 3.",
        "Correct the rows; in the hour that a clock repeats, give times with their offset.",
    ),
    "a state": (
        written("person,place,time,state\nana,bar,2024-03-03T10:00:00Z,PAUSE\n", hold="1h"),
        BadFile,
        "Column state: a state other than STAY and MOVE (1 row); first at visits.csv line 2.",
        "Declare every state that means staying or moving; or, if the column is something else, that there"
        ' is none (`columns={"state": ""}`).',
    ),
    "no number": (
        fix("ben,x,139.7"),
        BadFile,
        "Column latitude: a number that cannot be read (1 row); first at visits.csv line 3.",
        "Write coordinates as decimal degrees with a point.",
    ),
    "out of range": (
        fix("ben,35.1,500"),
        BadFile,
        "Column longitude: degrees that no place on Earth has (1 row); first at visits.csv line 3.",
        "Check which column is which.",
    ),
    "an accuracy below zero": (
        lambda _: count_visits(
            pl.DataFrame({"person": ["a"], "latitude": [35.68], "longitude": [139.76]}).with_columns(
                accuracy=-1.0, time=pl.lit(NOON.start)
            ),
            read_places(POINTS),
            DAY,
            VisitFormat(radius=50, hold="1h"),
        ),
        BadFile,
        "Column accuracy: an accuracy below 0 m (1 row); first at row 1.",
        "Give every fix an accuracy in metres, large enough where it is not known.",
    ),
    "one declared": (
        declared(table(ROWS * 3), expected=Expected(rows=1)),
        BadFile,
        "1 row is declared, and there are 3.",
        "Find out which rows are missing or too many, or correct the declaration.",
    ),
    "the origin": (
        fix("ben,0,0"),
        BadFile,
        "Column latitude: latitude 0 and longitude 0, which usually means unknown (1 row);"
        " first at visits.csv line 3.",
        TRUST,
    ),
    "exchanged": (
        fix("ben,8.0,50.0"),
        BadFile,
        "Column latitude: latitude and longitude that look exchanged (1 row); first at visits.csv line 3.",
        TRUST,
    ),
    "an unknown place": (
        row(f"ben,GYM,{START},{END}"),
        BadFile,
        "Column place: 1 place is visited and not listed; it looks like a listed one written in another way"
        " (capitals, blanks, zeros, something before or after it); first at visits.csv line 3.",
        "List every place that may be visited, or leave visits to others out "
        "(`exclude_unknown_places=True`).",
    ),
    "a place almost listed": (
        declared(table([*ROWS, Stay("ben", "GYM", DAY.start, DAY.end)]), exclude_unknown_places=True),
        BadFile,
        "Column place: 1 place looks like a listed place written in another way"
        " (capitals, blanks, zeros, something before or after it).",
        "Write them as the list does, or declare that they are other places (`trust_places=True`).",
    ),
    "too much left out": (
        declared(table([*ROWS, Stay("ben", "home", DAY.start, DAY.end)]), exclude_unknown_places=True),
        BadFile,
        "Column place: 1 of 2 rows (50 %), of 1 person, at 1 place not listed, are left out, more than 5 %.",
        "If these are homes and other places that are not asked about, declare how much of the rows may be"
        ' left out (`Expected(unlisted="50%")`); otherwise write places as the list does.',
    ),
    "a share that is none": (
        lambda _: Expected(unlisted="60"),
        BadQuestion,
        "The share of rows that may be left out is not written in per cent.",
        'Write it as 60% (`Expected(unlisted="60%")`).',
    ),
    "two places": (
        declared(table([*ROWS, Stay("ana", "gym", DAY.start, DAY.end)]), NOON),
        LimitBroken,
        "Someone is at two places at the instant asked about.",
        "Correct overlapping stays. Where places overlap, so that one can be at several, the dataset has to "
        "be made with `max_places_per_person=`.",
    ),
    "two places on a date": (
        lambda _: count_visits(
            pl.DataFrame({"person": ["a", "a"], "place": ["bar", "gym"], "date": [DAY.end.date()] * 2}),
            places(),
            NOON,
            VisitFormat(timezone="Asia/Tokyo"),
        ),
        LimitBroken,
        "Someone is at two places at the instant asked about.",
        "A date is the whole day: ask about days, with `max_alarms=`.",
    ),
    "too many places": (
        declared(table([*ROWS, Stay("ana", "gym", DAY.start, DAY.end)]), max_places_per_person=1),
        LimitBroken,
        "Someone visited more places than the declared 1.",
        "Correct rows that are wrong. Sparse answers (`max_alarms=`) need no such number.",
    ),
    "other rows": (
        declared(table(ROWS), expected=Expected(rows=2)),
        BadFile,
        "2 rows are declared, and there is 1.",
        "Find out which rows are missing or too many, or correct the declaration.",
    ),
    "other people": (
        declared(table(ROWS), expected=Expected(people=3000)),
        BadFile,
        "3,000 people are declared, and there is 1.",
        "Find out which people are missing or too many, or correct the declaration.",
    ),
    # The list of places
    "places out of order": (
        made(lambda: Places.of(("b", "a"))),
        BadQuestion,
        "The places are not in order, or one is there twice.",
        "Use read_places.",
    ),
    "a role of places": (
        made(lambda: read_places(POINTS, columns={"nam": "place"})),
        BadQuestion,
        "The list of places has no role 'nam'.",
        "There are: place, latitude, longitude, name, region, popularity, expected, at_most. "
        'Did you mean "name"?',
    ),
    "a column of places": (
        made(lambda: read_places(POINTS, columns={"place": "plac"})),
        BadQuestion,
        "The list of places has no column 'plac'.",
        'There are: place, latitude, longitude. Did you mean "place"?',
    ),
    "no column of places": (
        listed(venue=["a"]),
        BadQuestion,
        "The list of places has no column place. There are: venue.",
        "Name the column of identifiers place.",
    ),
    "no list": (
        made(lambda: read_places(7)),
        BadQuestion,
        "Places cannot be read from a int.",
        "Give a path, a dataframe or a list of text.",
    ),
    "a list of mixed types": (
        made(lambda: read_places(pd.DataFrame({"place": ["a", 1]}))),
        BadQuestion,
        NO_TABLE,
        "Give every column a name of its own, and one type.",
    ),
    "a list with two columns of one name": (
        made(lambda: read_places(pd.DataFrame([["a", "b"]], columns=["place", "place"]))),
        BadQuestion,
        NO_TABLE,
        "Give every column a name of its own, and one type.",
    ),
    "a list that is no text": (
        made(lambda: read_places(["a", "\udcff"])),
        BadQuestion,
        "An identifier in the list of places is not text that can be written as UTF-8.",
        "Decode the identifiers in the encoding they were written in.",
    ),
    "an empty list": (
        made(lambda: read_places([])),
        BadQuestion,
        "The list of places is empty.",
        "List the places that are to be answered.",
    ),
    "one coordinate": (
        listed(place=["a"], latitude=[1.0]),
        BadQuestion,
        "The list of places has one of latitude and longitude.",
        "Give both or neither.",
    ),
    "a bad number": (
        listed(place=["a", "b"], at_most=[1, -1]),
        BadFile,
        "In the list of places, at_most of 'b' is not a whole number from 0, or is missing (1 place).",
        "Give every place an at_most, or leave the column out.",
    ),
    "a word in the list": (
        listed(place=["a", "(null)"]),
        BadFile,
        "In the list of places, place is a word or a number for a missing value (1 row; first in row 2).",
        LIST,
    ),
    "several faults of a list": (
        listed(place=["a", "a", " b"]),
        BadFile,
        "The list of places cannot be used:\n"
        "  - place has blanks around it (1 row; first in row 3).\n"
        "  - place is there twice (1 row; first in row 2).",
        f"\n  - {LIST}",
    ),
    "a place twice": (
        listed(place=["a", "a"]),
        BadFile,
        "In the list of places, place is there twice (1 row; first in row 2).",
        LIST,
    ),
    "a place without a name": (
        listed(place=["a", None]),
        BadFile,
        "In the list of places, place is missing (1 row; first in row 2).",
        LIST,
    ),
    "blanks": (
        listed(place=["a "]),
        BadFile,
        "In the list of places, place has blanks around it (1 row; first in row 1).",
        LIST,
    ),
}
