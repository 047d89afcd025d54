"""Every check: a file that trips it, on the right line; the same file made good; and never an undercount."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pytest
from tests.visits.making import DAY, PLACES, check_visits, count_visits

from safeside.errors import BadFile
from safeside.visits import Doubt, VisitFormat, Window, read_places

HEADER = "person,place,start,end\n"
GOOD = "ana,bar,2024-03-03T10:00:00Z,2024-03-03T11:00:00Z\n"
ALSO = "ben,gym,2024-03-03T10:00:00Z,2024-03-03T11:00:00Z\n"


@dataclass(frozen=True)
class Case:
    """Bytes that trip a check, what is found where, and bytes that differ only in being right."""

    doubt: Doubt
    bad: bytes
    good: bytes
    line: int
    column: str = ""
    declared: VisitFormat = field(default_factory=VisitFormat)


def rows(*lines: str, header: str = HEADER) -> bytes:
    return (header + "".join(lines)).encode()


def with_times(start: str, end: str) -> str:
    return f"chi,bar,{start},{end}\n"


FIXES = "person,latitude,longitude,time\nana,35.68,139.76,2024-03-03T10:00:00Z\n"
ACCURATE = b"person,latitude,longitude,accuracy,time\nana,35.68,139.76,8.5,2024-03-03T10:00:00Z\n"
RADIUS = VisitFormat(radius=50, hold="1h")
MOVEMENT = "person,place,time,state\nana,bar,2024-03-03T10:00:00Z,STAY\n"
HELD = VisitFormat(hold="1h")
BERLIN = VisitFormat(timezone="Europe/Berlin")

CASES = {
    "no person": Case(Doubt.MISSING, rows(GOOD, ALSO.replace("ben", "")), rows(GOOD, ALSO), 3, "person"),
    "quoted nothing": Case(
        Doubt.MISSING, rows(GOOD, ALSO.replace("ben", '""')), rows(GOOD, ALSO), 3, "person"
    ),
    "no place": Case(Doubt.MISSING, rows(GOOD, ALSO.replace("gym", "")), rows(GOOD, ALSO), 3, "place"),
    "no start": Case(
        Doubt.MISSING, rows(GOOD, with_times("", "2024-03-03T11:00:00Z")), rows(GOOD, ALSO), 3, "start"
    ),
    "no end": Case(
        Doubt.MISSING, rows(GOOD, with_times("2024-03-03T11:00:00Z", "")), rows(GOOD, ALSO), 3, "end"
    ),
    "no such time": Case(
        Doubt.TIME,
        rows(GOOD, with_times("2024-02-30T10:00:00Z", "2024-03-03T11:00:00Z")),
        rows(GOOD, with_times("2024-02-29T10:00:00Z", "2024-03-03T11:00:00Z")),
        3,
        "start",
    ),
    "another format": Case(
        Doubt.TIME,
        rows(GOOD, with_times("03/03/2024 10:00Z", "2024-03-03T11:00:00Z")),
        rows(GOOD, ALSO),
        3,
        "start",
    ),
    "a naive time": Case(
        Doubt.NAIVE,
        rows(GOOD, with_times("2024-03-03T10:00:00", "2024-03-03T11:00:00Z")),
        rows(GOOD, with_times("2024-03-03T10:00:00+00:00", "2024-03-03T11:00:00Z")),
        3,
        "start",
    ),
    "milliseconds taken for seconds": Case(
        Doubt.IMPLAUSIBLE,
        rows("ana,bar,1709460000000,1709460000000\n"),
        rows("ana,bar,1709460000,1709460000\n"),
        2,
        "start",
        VisitFormat(time_format="epoch-s"),
    ),
    "a skipped hour": Case(
        Doubt.SKIPPED,
        rows("ana,bar,2024-03-31T02:30:00,2024-03-31T04:00:00\n"),
        rows("ana,bar,2024-03-31T03:30:00,2024-03-31T04:00:00\n"),
        2,
        "start",
        BERLIN,
    ),
    "reversed": Case(
        Doubt.REVERSED,
        rows(GOOD, with_times("2024-03-03T11:00:00Z", "2024-03-03T10:00:00Z")),
        rows(GOOD, with_times("2024-03-03T11:00:00Z", "2024-03-03T11:00:00Z")),
        3,
        "end",
    ),
    "scientific notation": Case(
        Doubt.ROUNDED_ID,
        rows(GOOD, ALSO.replace("ben", "1.23457E+11")),
        rows(GOOD, ALSO.replace("ben", "123457000000")),
        3,
        "person",
    ),
    "a float": Case(
        Doubt.ROUNDED_ID,
        rows(GOOD, ALSO.replace("ben", "1001.0")),
        rows(GOOD, ALSO.replace("ben", "1001")),
        3,
        "person",
    ),
    "a word": Case(
        Doubt.NOT_AN_ID,
        rows(GOOD, ALSO.replace("ben", "NaN")),
        rows(GOOD, ALSO.replace("ben", "Nanette")),
        3,
        "person",
    ),
    "blanks": Case(Doubt.NOT_AN_ID, rows(GOOD, ALSO.replace("ben", "  ")), rows(GOOD, ALSO), 3, "person"),
    "lost zeros": Case(
        Doubt.MIXED_ZEROS,
        rows(GOOD.replace("ana", "0042"), ALSO.replace("ben", "137")),
        rows(GOOD.replace("ana", "0042"), ALSO.replace("ben", "0137")),
        3,
        "person",
    ),
    "an unknown place": Case(
        Doubt.UNKNOWN_PLACE, rows(GOOD, ALSO.replace("gym", "GYM")), rows(GOOD, ALSO), 3, "place"
    ),
    "latitude out of range": Case(
        Doubt.RANGE,
        (FIXES + "ben,95.0,139.7,2024-03-03T10:00:00Z\n").encode(),
        FIXES.encode(),
        3,
        "latitude",
        RADIUS,
    ),
    "exchanged": Case(
        Doubt.SWAPPED,
        (FIXES + "ben,50.0,8.0,2024-03-03T10:00:00Z\n" + "chi,8.0,50.0,2024-03-03T10:00:00Z\n").encode(),
        (FIXES + "ben,50.0,8.0,2024-03-03T10:00:00Z\n" + "chi,50.0,8.0,2024-03-03T10:00:00Z\n").encode(),
        4,
        "latitude",
        RADIUS,
    ),
    "an accuracy below zero": Case(
        Doubt.RANGE,
        ACCURATE.replace(b"8.5", b"-1"),
        ACCURATE,
        2,
        "accuracy",
        RADIUS,
    ),
    "nowhere": Case(
        Doubt.ORIGIN,
        (FIXES + "ben,0,0,2024-03-03T10:00:00Z\n").encode(),
        FIXES.encode(),
        3,
        "latitude",
        RADIUS,
    ),
    "no number": Case(
        Doubt.COORDINATE,
        (FIXES + "ben,35°,139.7,2024-03-03T10:00:00Z\n").encode(),
        FIXES.encode(),
        3,
        "latitude",
        RADIUS,
    ),
    "not finite": Case(
        Doubt.COORDINATE,
        (FIXES + "ben,35.1,nan,2024-03-03T10:00:00Z\n").encode(),
        FIXES.encode(),
        3,
        "longitude",
        RADIUS,
    ),
    "no coordinate": Case(
        Doubt.MISSING,
        (FIXES + "ben,,139.7,2024-03-03T10:00:00Z\n").encode(),
        FIXES.encode(),
        3,
        "latitude",
        RADIUS,
    ),
    "an unknown state": Case(
        Doubt.STATE,
        (MOVEMENT + "ben,gym,2024-03-03T10:00:00Z,PAUSE\n").encode(),
        (MOVEMENT + "ben,,2024-03-03T10:00:00Z,MOVE\n").encode(),
        3,
        "state",
        HELD,
    ),
    "a stay without a place": Case(
        Doubt.MISSING,
        (MOVEMENT + "ben,,2024-03-03T10:00:00Z,STAY\n").encode(),
        (MOVEMENT + "ben,gym,2024-03-03T10:00:00Z,STAY\n").encode(),
        3,
        "place",
        HELD,
    ),
    "cut off in a field": Case(Doubt.CUT_OFF, rows(GOOD, ALSO)[:-1], rows(GOOD, ALSO), 0, "end"),
    "cut off in a line": Case(Doubt.FIELDS, rows(GOOD, ALSO)[:-25], rows(GOOD, ALSO), 3),
    "another encoding": Case(
        Doubt.ENCODING,
        rows(GOOD) + b"\xe8ve,bar,2024-03-03T10:00:00Z,2024-03-03T11:00:00Z\n",
        rows(GOOD, ALSO.replace("ben", "ève")),
        3,
    ),
    "joined files": Case(
        Doubt.BYTE_ORDER_MARK,
        rows(GOOD) + "\ufeff".encode() + rows(ALSO),
        b"\xef\xbb\xbf" + rows(GOOD, ALSO),
        3,
    ),
    "an empty file": Case(Doubt.EMPTY, b"", rows(GOOD), 0),
    "no rows": Case(Doubt.NO_ROWS, rows(), rows(GOOD), 0),
    "a stray quote": Case(
        Doubt.QUOTES,
        rows(GOOD.replace("ana", 'a"na'), ALSO.replace("ben", 'b"en')),
        rows(GOOD, ALSO.replace("ben", '"b""en"')),
        2,
    ),
    "a line break in quotes": Case(
        Doubt.LINE_BREAK,
        rows(GOOD, ALSO.replace("ben", '"b\nen"')),
        rows(GOOD, ALSO.replace("ben", '"ben"')),
        3,
    ),
    "a blank line": Case(Doubt.BLANK_LINE, rows(GOOD, "\n", ALSO), rows(GOOD, ALSO), 3),
    "a long line": Case(Doubt.FIELDS, rows(GOOD, ALSO.replace("\n", ",x\n")), rows(GOOD, ALSO), 3),
    "a long line and a short one": Case(
        Doubt.FIELDS,
        rows(GOOD, ALSO.replace("\n", ",x\n"), "chi,bar,2024-03-03T10:00:00Z\n"),
        rows(GOOD, ALSO),
        3,
    ),
    "old line ends": Case(
        Doubt.LINE_ENDS, rows(GOOD, ALSO).replace(b"\n", b"\r"), rows(GOOD, ALSO).replace(b"\n", b"\r\n"), 1
    ),
}


def listed() -> object:
    frame = pl.DataFrame(
        {
            "place": list(PLACES),
            "latitude": [35.68, 51.0, 50.0, 49.0, 48.0],
            "longitude": [139.76, 7.0, 8.0, 9.0, 9.5],
        }
    )
    return read_places(frame)


def window_of(case: Case) -> Window:
    return Window.parse("2024-03-31", "Europe/Berlin") if case.declared is BERLIN else DAY


@pytest.mark.parametrize("name", sorted(CASES))
def test_what_trips_a_check(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    path = tmp_path / "visits.csv"
    path.write_bytes(case.bad)
    report = check_visits(path, listed(), window_of(case), case.declared)
    assert not report.fine
    (found,) = [finding for finding in report.errors if finding.doubt is case.doubt]
    assert found.column == case.column
    if case.line:
        assert (found.first[0].file, found.first[0].line) == ("visits.csv", case.line)
    with pytest.raises(BadFile):
        count_visits(path, listed(), window_of(case), case.declared)


@pytest.mark.parametrize("name", sorted(CASES))
def test_what_must_not_trip_it(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    path = tmp_path / "visits.csv"
    path.write_bytes(case.good)
    report = check_visits(path, listed(), window_of(case), case.declared)
    assert report.fine, report.errors
    assert count_visits(path, listed(), window_of(case), case.declared).values.sum() >= 1


@pytest.mark.parametrize("name", sorted(CASES))
def test_what_is_wrong_is_never_quoted(tmp_path: Path, name: str) -> None:
    """Of the data a report says where, never what."""
    case = CASES[name]
    path = tmp_path / "visits.csv"
    path.write_bytes(case.bad)
    report = check_visits(path, listed(), window_of(case), case.declared)
    said = " ".join(finding.sentence() + finding.do for finding in report.findings)
    values = {
        value
        for line in case.bad.decode("latin-1").split("\n")[1:]
        for value in line.split(",")
        if len(value) > 2
    }
    assert not [value for value in values if value in said and value not in ("STAY", "MOVE")]
