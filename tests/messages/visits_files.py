"""Messages about files: their names, their bytes, their columns."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from tests.messages.visits_acts import GOOD, HEADER, ROWS, Act, Said, raised, tables, two, written
from tests.visits.making import DAY, count_visits, places, table
from tests.visits.plain import Stay

from safeside.errors import BadFile, BadQuestion
from safeside.visits import Expected, read_places
from safeside.visits.read.source import row_not_found_again


def dangling(folder: Path) -> object:
    (folder / "visits.csv").symlink_to(folder / "gone.csv")
    return count_visits(str(folder / "*.csv"), places(), DAY)


def piped(folder: Path) -> object:
    os.mkfifo(folder / "visits.csv")
    return count_visits(folder / "visits.csv", places(), DAY)


def mixed_folder(folder: Path) -> object:
    (folder / "visits.xlsx").write_bytes(b"PK")
    (folder / "visits.csv").write_text(HEADER + GOOD)
    return count_visits(folder, places(), DAY)


def nameless_zone(folder: Path) -> object:
    pq.write_table(
        pa.table({"start": pa.array([0], pa.timestamp("us", "+05:30"))}), folder / "visits.parquet"
    )
    return count_visits(folder / "visits.parquet", places(), DAY)


def legacy_times(folder: Path) -> object:
    path = folder / "visits.parquet"
    pq.write_table(table(ROWS).to_arrow(), path, use_deprecated_int96_timestamps=True, store_schema=False)
    return count_visits(path, places(), DAY)


def whole_in_number(folder: Path) -> object:
    (folder / "visits.csv").write_text((HEADER + GOOD)[:-1])
    return count_visits(folder / "visits.csv", places(), DAY, expected=Expected(rows=1))


def listed(content: str) -> Act:
    def act(folder: Path) -> object:
        (folder / "places.csv").write_text(content)
        return read_places(folder / "places.csv")

    return act


def name_and_pattern(folder: Path) -> object:
    for name in ("v*.csv", "v1.csv"):
        (folder / name).write_text(HEADER + GOOD)
    return count_visits(folder / "v*.csv", places(), DAY)


def no_text(folder: Path) -> object:
    (folder / "caf\udce9.csv").write_text(HEADER + GOOD)
    return count_visits(folder, places(), DAY)


SAID: Said = {
    "a name that is no text": (
        no_text,
        BadFile,
        "The name of {folder}/caf\\udce9.csv is not text in UTF-8.",
        "Rename the file or its folder, and try again.",
    ),
    "a name and a pattern": (
        name_and_pattern,
        BadQuestion,
        "v*.csv is the name of a file and a pattern that others match.",
        "Give '{folder}/v[*].csv' for that file alone; for all of them, their folder or each by its name.",
    ),
    # Files
    "no file": (
        lambda folder: count_visits(folder / "visits.csv", places(), DAY),
        BadFile,
        "There is no file {folder}/visits.csv.",
        "Check the path or the pattern.",
    ),
    "an empty folder": (
        lambda folder: count_visits(folder, places(), DAY),
        BadFile,
        "{folder} holds no files.",
        "Check the path or the pattern.",
    ),
    "numbers for times": (
        written(f"{HEADER}ana,bar,1709460000,1709460000\n"),
        BadQuestion,
        "The times in column start are numbers.",
        'Say what they count: `time_format="epoch-s"`, "epoch-ms", "epoch-us" or "epoch-ns".',
    ),
    "a format that is none": (
        written(HEADER + GOOD, time_format="epoch"),
        BadQuestion,
        "The time format 'epoch' is not understood.",
        "Write it as %Y-%m-%d %H:%M:%S%z, or as epoch-s.",
    ),
    "a link that leads nowhere": (
        dangling,
        BadFile,
        "visits.csv cannot be opened or read.",
        "Check that the file exists and may be read, and that its disk is whole.",
    ),
    "another file in the folder": (
        mixed_folder,
        BadFile,
        "{folder} also holds visits.xlsx, which is neither CSV nor Parquet by its name.",
        "If the rest is all that is meant, give '{folder}/*.csv' instead of the folder;"
        " otherwise unpack or rename what is missing.",
    ),
    "far away": (
        lambda _: count_visits("s3://bucket/visits.csv", places(), DAY),
        BadQuestion,
        "Visits are opened from local files only.",
        "Copy the files, or give a dataframe.",
    ),
    "two kinds": (
        two(HEADER + GOOD, b"PAR1PAR1", ("a.csv", "b.parquet")),
        BadQuestion,
        "Some of the files are text and some are Parquet.",
        "Give files of one kind.",
    ),
    "twice": (
        two(HEADER, HEADER, ("a.csv", "a.csv")),
        BadQuestion,
        "A file is given twice.",
        "Give every file once.",
    ),
    "a short key": (
        lambda _: count_visits("x.csv", places(), DAY, key=b"secret"),
        BadQuestion,
        "The key is shorter than 16 bytes.",
        "Make one of 32 random bytes (`os.urandom(32)`), and keep it secret.",
    ),
    "other columns": (
        two(HEADER + GOOD, "person,place,end,start\n" + GOOD),
        BadFile,
        "The columns of b.csv differ from those of a.csv.",
        "Write all files with the same columns in the same order.",
    ),
    "columns without a name": (
        written("person,place,start,end,,\n" + GOOD.replace("\n", ",,\n")),
        BadFile,
        "visits.csv has two columns of the same name, or several without one.",
        "Give every column a name of its own in the first line.",
    ),
    "no names": (
        written(GOOD * 2),
        BadQuestion,
        "A column is called by a number or a time, as if a row stood where the names should.",
        "Write the names of the columns into the first line: person,place,start,end.",
    ),
    "a first line without end": (
        written(HEADER.replace("end", "end,note" + "e" * 200_000) + GOOD.replace("\n", ",\n")),
        BadFile,
        "The first line of visits.csv does not name columns.",
        "Write the names of the columns into the first line: person,place,start,end.",
    ),
    "blanks around names": (
        written((HEADER + GOOD).replace(",", ", ")),
        BadQuestion,
        "There is no column start, only one with blanks around its name.",
        "Export the file without blanks around names and values.",
    ),
    "no names, and a person by chance": (
        written("person,place,7\n" + "ana,bar,7\n"),
        BadQuestion,
        "A column is called by a number or a time, as if a row stood where the names should.",
        "Write the names of the columns into the first line: person,place,start,end.",
    ),
    "semicolons": (
        written((HEADER + GOOD).replace(",", ";")),
        BadFile,
        "visits.csv has one column when split at ,.",
        'Declare the separator (`separator=";"`).',
    ),
    "tabs": (
        written((HEADER + GOOD).replace(",", "\t")),
        BadFile,
        "visits.csv has one column when split at ,.",
        'Declare the separator (`separator="tab"`).',
    ),
    "an empty table": (
        written(b"", "visits.parquet"),
        BadFile,
        "visits.parquet is empty.",
        "Export the file again, or leave it out.",
    ),
    "no table": (
        written(HEADER, "visits.parquet"),
        BadFile,
        "visits.parquet is not a Parquet file.",
        "Give CSV files the ending .csv.",
    ),
    "a cut table": (
        written(b"PAR1....", "visits.parquet"),
        BadFile,
        "visits.parquet is cut off.",
        "Copy or export the file again.",
    ),
    "a damaged table": (
        written(b"PAR1....PAR1", "visits.parquet"),
        BadFile,
        "visits.parquet is damaged.",
        "Copy or export the file again.",
    ),
    "old times": (
        legacy_times,
        BadQuestion,
        "The times in column start are of an old kind (INT96), which Spark writes in UTC and others on"
        " a clock that nobody can tell.",
        'Declare `timezone="UTC"` if Spark wrote the files; otherwise write them again with zoned times.',
    ),
    "a zone without a name": (
        nameless_zone,
        BadFile,
        "visits.parquet tells the time of a zone that is not in the tz database, such as +05:30.",
        "Write the times in UTC, or in a zone with a name, such as Asia/Kolkata.",
    ),
    "other types": (
        tables(table(ROWS), table([Stay(7, "bar", DAY.start, DAY.end)])),
        BadFile,
        "Column person of 1.parquet is missing, or of another type than before.",
        "Write all files with the same columns and types.",
    ),
    "an empty file": (
        written(b""),
        BadFile,
        "Visits.csv is empty.",
        "Export the file again, or leave it out.",
    ),
    "another encoding": (
        written("visits".encode("utf-16")),
        BadFile,
        "Visits.csv is written in UTF-16 or UTF-32.",
        "Save the file as UTF-8.",
    ),
    "a packed file": (
        written(b"\x1f\x8b\x08\x00"),
        BadFile,
        "Visits.csv is compressed, or a spreadsheet, not text.",
        "Unpack it, or export it as CSV or Parquet.",
    ),
    "no rows": (
        written(HEADER, timezone="UTC"),
        BadFile,
        "Visits.csv has no rows.",
        "Export the file again, leave it out, or declare how many rows there are in all files"
        " (`Expected(rows=)`).",
    ),
    "no end of the line": (
        written((HEADER + GOOD)[:-1]),
        BadFile,
        "Column end: the last line of visits.csv does not end, so the file may have been cut off.",
        "Export the file again, or, if it is whole, end its last line with a line break.",
    ),
    "no end of the line after a quote": (
        written((HEADER + GOOD)[:-1].replace("2024-03-03T11:00:00Z", '"2024-03-03T11:00:00Z"')),
        BadFile,
        "The last line of visits.csv does not end, so the file may have been cut off.",
        "Export it again, or, if it is whole, declare the number of rows in all files (`Expected(rows=)`).",
    ),
    "a field that may be cut off": (
        whole_in_number,
        BadFile,
        "Column end: the last line of visits.csv does not end, so the file may have been cut off;"
        " the declared number of rows agrees, but its last field may be cut off.",
        "Export the file again, or, if it is whole, end its last line with a line break.",
    ),
    "bytes": (
        written((HEADER + GOOD).encode() + b"\xff"),
        BadFile,
        "People cannot be counted for certain:\n"
        "  - bytes that are not UTF-8 text; first at visits.csv line 3.\n"
        "  - a line with more or fewer fields than the header; first at visits.csv line 3.",
        "\n  - Save the file as UTF-8.\n"
        "  - Export the file again; a short last line means that it was cut off.",
    ),
    "joined": (
        written(HEADER + GOOD + "\ufeff" + GOOD),
        BadFile,
        "A byte order mark in the middle, as if files had been joined; first at visits.csv line 3.",
        "Give the files separately, each with its own header.",
    ),
    "a blank line": (
        written(HEADER + "\n" + GOOD),
        BadFile,
        "A blank line; first at visits.csv line 2.",
        "Delete blank lines, or export the file again.",
    ),
    "line ends": (
        written(HEADER + GOOD.replace("\n", "\r\r\n")),
        BadFile,
        "A carriage return that does not end a line; first at visits.csv line 2.",
        "Save the file with ordinary line ends (LF or CRLF).",
    ),
    "quotes": (
        written(HEADER + GOOD.replace("ana", 'a"n"a')),
        BadFile,
        "A quote where none can stand, or one that is never closed; first at visits.csv line 2.",
        "Export the file again with every quote inside a field doubled; or, if no field is written in quotes,"
        " say so (`no_quotes=True`).",
    ),
    "a pipe": (
        piped,
        BadFile,
        "{folder}/visits.csv is a pipe or a device, not a file: what it gives cannot be read twice.",
        "Write what it gives to a file, and give that.",
    ),
    "a line break in quotes": (
        written(HEADER + GOOD + GOOD.replace("ana", '"an\na"')),
        BadFile,
        "A line break inside quotes, where a stray quote may have swallowed rows;"
        " first at visits.csv line 3.",
        "Take the line breaks out of the fields; or, if they belong there, declare how many rows there are"
        " in all files, from where they were exported (`Expected(rows=)`).",
    ),
    "a line break in the list of places": (
        listed('place,name\nbar,"The\ngym,Bar"\n'),
        BadFile,
        "A line break inside quotes, where a stray quote may have swallowed rows;"
        " first at places.csv line 2.",
        "Take the line breaks out of the list of places, or look for a stray quote.",
    ),
    "a stray quote in a list": (
        listed('place,name\nbar,5" pipe\n'),
        BadFile,
        "A quote where none can stand, or one that is never closed; first at places.csv line 2.",
        "Export the list again with every quote inside a field doubled.",
    ),
    "a list of no places": (
        listed("place,name\n"),
        BadFile,
        "Places.csv has no rows.",
        "List the places that are to be answered.",
    ),
    "a header of two lines": (
        written(HEADER.replace("end", '"end') + GOOD.replace("\n", '"\n')),
        BadFile,
        "The header of visits.csv has a line break inside quotes.",
        "Look for a stray quote in the first line, or take the line break out of the name.",
    ),
    "fields": (
        written(HEADER + GOOD + "ana\n"),
        BadFile,
        "A line with more or fewer fields than the header; first at visits.csv line 3.",
        "Export the file again; a short last line means that it was cut off.",
    ),
    "lost": (
        lambda _: raised(row_not_found_again()),
        BadFile,
        "A doubtful row was seen, and not found again.",
        "Try again once nothing writes to the data; if it happens again, report it.",
    ),
}
