"""Every check: a file that trips it, on the right line; the same file made good; and never an undercount."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pytest
from tests.visits import plain
from tests.visits.making import DAY, NOON, PLACES, places, table, write_parquet
from tests.visits.plain import Stay

from safeside.errors import BadFile
from safeside.visits import Doubt, Manifest, VisitFormat, Window, check_visits, count_visits, read_places

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
    "cut off in a field": Case(Doubt.CUT_OFF, rows(GOOD, ALSO)[:-1], rows(GOOD, ALSO), 0),
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


def test_two_places_at_once(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(rows(GOOD, GOOD.replace("bar", "gym")))
    inside = Window.parse("2024-03-03T10:30Z")
    assert [found.doubt for found in check_visits(path, places(), inside).errors] == [Doubt.TWO_PLACES]
    with pytest.raises(BadFile, match="two places at the instant"):
        count_visits(path, places(), inside)
    later = Window.parse("2024-03-03T11:30Z")
    assert check_visits(path, places(), later).fine
    day = check_visits(path, places(), DAY)
    assert day.fine
    assert [found.doubt for found in day.notes] == [Doubt.OVERLAP]


def test_ids_are_looked_at_where_they_count(tmp_path: Path) -> None:
    """Counting looks at who is in the window; a check looks at everybody."""
    path = tmp_path / "visits.csv"
    path.write_bytes(rows(GOOD, ALSO.replace("2024-03-03", "2024-02-03").replace("ben", "NULL")))
    assert count_visits(path, places(), DAY).values.tolist() == [1, 0, 0, 0, 0]
    assert [found.doubt for found in check_visits(path, places(), DAY).errors] == [Doubt.NOT_AN_ID]


def test_times_are_looked_at_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(
        rows(GOOD, ALSO.replace("2024-03-03T11", "2023-03-03T11").replace("2024-03-03T10", "20x3-03-03T10"))
    )
    with pytest.raises(BadFile, match=r"[Cc]olumn start"):
        count_visits(path, places(), DAY)


def test_the_declared_number_of_rows_settles_a_missing_line_end(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(rows(GOOD, ALSO)[:-1])
    counted = count_visits(path, places(), DAY, manifest=Manifest(rows=2))
    assert counted.values.sum() == 2
    assert [found.doubt for found in counted.findings] == [Doubt.CUT_OFF]
    assert check_visits(path, places(), DAY, manifest=Manifest(rows=2)).fine
    with pytest.raises(BadFile, match="cut off"):
        count_visits(path, places(), DAY, manifest=Manifest(rows=3))


def test_no_rows_may_be_declared(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(rows())
    declared = VisitFormat(timezone="UTC")
    assert count_visits(path, places(), DAY, declared, manifest=Manifest(rows=0)).values.sum() == 0
    assert check_visits(path, places(), DAY, declared, manifest=Manifest(rows=0)).fine


def test_rows_of_tables_are_numbered(tmp_path: Path) -> None:
    good = Stay("ana", "bar", DAY.start, DAY.end)
    write_parquet(table([good, good]), tmp_path / "a.parquet")
    write_parquet(table([good, Stay("", "bar", DAY.start, DAY.end)]), tmp_path / "b.parquet")
    with pytest.raises(BadFile, match=r"no person \(1 row\); first at b.parquet row 2"):
        count_visits(tmp_path, places(), DAY)


def test_lines_are_those_of_an_editor(tmp_path: Path) -> None:
    """Records that span lines do not shift the numbers."""
    path = tmp_path / "visits.csv"
    header = "note,person,place,start,end\n"
    path.write_bytes(
        (header + '"two\nlines",' + GOOD + '"x",' + GOOD + "y," + ALSO.replace("ben", "")).encode()
    )
    (found,) = check_visits(path, places(), manifest=Manifest(rows=3)).errors
    assert [str(where) for where in found.first] == ["visits.csv line 5"]


def test_only_the_first_rows_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(rows(*[GOOD.replace("ana", "")] * 9))
    (found,) = check_visits(path, places()).errors
    assert found.rows == 9
    assert [where.line for where in found.first] == [2, 3, 4]


def test_everything_is_reported_at_once(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(
        rows(GOOD.replace("ana", ""), ALSO.replace("11:00", "09:00"), ALSO.replace("gym", "?"))[:-1]
    )
    found = {finding.doubt for finding in check_visits(path, places(), NOON).errors}
    assert found == {Doubt.MISSING, Doubt.REVERSED, Doubt.UNKNOWN_PLACE, Doubt.CUT_OFF}


def test_a_clean_check_says_what_there_is(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(rows(GOOD, ALSO, GOOD))
    report = check_visits(path, places(), DAY)
    assert report.fine
    assert (report.files, report.rows, report.people, report.most_places_per_person) == (1, 3, 2, 1)
    assert report.findings == ()


def test_nobody_in_the_window_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(rows(GOOD))
    report = check_visits(path, places(), Window.parse("2025-03-03", "Asia/Tokyo"))
    assert [found.doubt for found in report.notes] == [Doubt.NOBODY]


def test_what_stops_at_nothing_counts_everybody(tmp_path: Path) -> None:
    """Trusting identifiers changes what is said, not what is counted."""
    path = tmp_path / "visits.csv"
    path.write_bytes(rows(GOOD.replace("ana", "1E5"), ALSO.replace("ben", "NA").replace("gym", "bar")))
    counted = count_visits(path, places(), DAY, VisitFormat(trust_ids=True))
    stays = [Stay(who, "bar", DAY.start, DAY.end) for who in ("1E5", "NA")]
    assert counted.values.tolist() == plain.count(stays, PLACES, DAY)
