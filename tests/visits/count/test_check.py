"""What a check reports: everything at once, each thing once, where it is, and never what it says."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.visits import plain
from tests.visits.count.test_row_checks import ALSO, FIXES, GOOD, RADIUS, listed, rows
from tests.visits.making import (
    DAY,
    ENGINES,
    NOON,
    PLACES,
    check_visits,
    count_visits,
    places,
    table,
    write_parquet,
)
from tests.visits.plain import Stay

from safeside.errors import BadFile, BadQuestion
from safeside.visits import Doubt, Expected, VisitFormat, Window
from safeside.visits.count import check, scan


def test_a_column_may_be_called_like_the_numbers_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(
        rows(GOOD, ALSO.replace("ben", "")).replace(b"\n", b",1\n").replace(b",1", b",row number", 1)
    )
    with pytest.raises(BadFile, match=r"no person \(1 row\); first at visits.csv line 3"):
        count_visits(path, places(), DAY)


def test_two_places_at_once(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(rows(GOOD, GOOD.replace("bar", "gym")))
    inside = Window.parse("2024-03-03T10:30Z")
    assert [found.doubt for found in check_visits(path, places(), inside).errors] == [Doubt.TWO_PLACES]
    with pytest.raises(BadFile, match="two places at the instant"):
        count_visits(path, places(), inside)
    later = Window.parse("2024-03-03T11:30Z")
    assert check_visits(path, places(), later).fine
    assert check_visits(path, places(), DAY).findings == ()


def test_ids_are_looked_at_where_they_count(tmp_path: Path) -> None:
    """Counting looks at who is in the window, and so does a check of one; without one, at everybody."""
    path = tmp_path / "visits.csv"
    path.write_bytes(rows(GOOD, ALSO.replace("2024-03-03", "2024-02-03").replace("ben", "NULL")))
    assert count_visits(path, places(), DAY).values.tolist() == [1, 0, 0, 0, 0]
    assert check_visits(path, places(), DAY).fine
    assert [found.doubt for found in check_visits(path, places()).errors] == [Doubt.NOT_AN_ID]
    february = Window.parse("2024-02-03", "Asia/Tokyo")
    assert [found.doubt for found in check_visits(path, places(), february).errors] == [Doubt.NOT_AN_ID]


def test_times_are_looked_at_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(
        rows(GOOD, ALSO.replace("2024-03-03T11", "2023-03-03T11").replace("2024-03-03T10", "20x3-03-03T10"))
    )
    with pytest.raises(BadFile, match=r"[Cc]olumn start"):
        count_visits(path, places(), DAY)


def test_the_declared_number_of_rows_settles_a_missing_line_end(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    before, _, last = rows(GOOD, ALSO)[:-1].rpartition(b",")
    path.write_bytes(before + b',"' + last + b'"')
    counted = count_visits(path, places(), DAY, expected=Expected(rows=2))
    assert counted.values.sum() == 2
    assert [found.doubt for found in counted.findings] == [Doubt.CUT_OFF]
    assert check_visits(path, places(), DAY, expected=Expected(rows=2)).fine
    with pytest.raises(BadFile, match="cut off"):
        count_visits(path, places(), DAY, expected=Expected(rows=3))


def test_no_rows_may_be_declared(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(rows())
    declared = VisitFormat(timezone="UTC")
    assert count_visits(path, places(), DAY, declared, expected=Expected(rows=0)).values.sum() == 0
    assert check_visits(path, places(), DAY, declared, expected=Expected(rows=0)).fine


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
    (found,) = check_visits(path, places(), expected=Expected(rows=3)).errors
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
    report = check_visits(path, places())
    assert report.fine
    assert (report.files, report.rows, report.people) == (1, 3, 2)
    assert report.findings == ()


@pytest.mark.parametrize("ids", ["numbers", "words"])
def test_a_check_of_a_window_holds_no_more_than_its_count(ids: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In as many passes, which bring home as many bytes; rows are looked at again only if one is doubtful."""
    held: list[int] = []
    for room in (check, scan):
        real = room.collect

        def noted(*given: Any, real: Any = real, **named: Any) -> list[pl.DataFrame]:
            answers: list[pl.DataFrame] = real(*given, **named)
            held.extend(int(answer.estimated_size()) for answer in answers)
            return answers

        monkeypatch.setattr(room, "collect", noted)
    people = [f"{number}{'x' if ids == 'words' else ''}" for number in range(1000)]
    stays = table([Stay(who, place, DAY.start, DAY.end) for who in people for place in PLACES[:3]])
    count_visits(stays, places(), DAY)
    counted = held.copy()
    held.clear()
    assert check_visits(stays, places(), DAY).fine
    assert held == counted


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


@pytest.mark.parametrize(
    ("column", "values", "declared", "said"),
    [
        ("arrival", ["3 March"], {}, "The times in column arrival are not written as ISO 8601."),
        ("day", ["3 March"], {}, "The dates in column day are not written as 2024-03-01."),
        (
            "day",
            ["2024-03-03"],
            {"time_format": "%H:%M"},
            "The format '%H:%M' is of a time, and column day is mapped as a date.",
        ),
        (
            "patient",
            [1.5],
            {},
            "The identifiers in column patient are floating-point numbers: large ones merge.",
        ),
        ("patient", [True], {}, "Column patient holds Boolean, which cannot be compared as identifiers."),
        ("venue", [1.5], {}, "The identifiers in column venue are floating-point numbers: large ones merge."),
        ("venue", [True], {}, "Column venue holds Boolean, which cannot be compared as identifiers."),
    ],
)
def test_columns_are_called_as_their_owner_calls_them(
    column: str, values: list[Any], declared: dict[str, Any], said: str
) -> None:
    roles = {"person": "patient", "place": "venue"}
    roles |= {"date": "day"} if column == "day" else {"start": "arrival", "end": "departure"}
    good = {"patient": ["ana"], "venue": ["bar"], "day": [DAY.start.date()]}
    good |= {"arrival": [DAY.start], "departure": [DAY.end]}
    frame = pl.DataFrame({name: good[name] for name in roles.values()} | {column: values})
    fmt = VisitFormat(columns=roles, timezone="UTC", **declared)
    for act in (count_visits, check_visits):
        with pytest.raises(BadQuestion) as refused:
            act(frame, places(), DAY, fmt)
        assert refused.value.what == said


def fixes(**changed: Any) -> pl.DataFrame:
    fix = {"person": ["ana"], "latitude": [35.68], "longitude": [139.76], "accuracy": [8.0]}
    return pl.DataFrame({**fix, "time": [NOON.start], **{name: [value] for name, value in changed.items()}})


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize("value", [float("nan"), float("inf"), None])
@pytest.mark.parametrize("role", ["latitude", "longitude", "accuracy"])
def test_what_is_no_number_is_reported_once(engine: str, value: float | None, role: str) -> None:
    frame = fixes().vstack(fixes(**{role: value}).cast({role: pl.Float64}))
    report = check_visits(ENGINES[engine](frame), listed(), DAY, RADIUS)
    assert [(found.doubt, found.column, found.rows) for found in report.errors] == [(Doubt.MISSING, role, 1)]
    with pytest.raises(BadFile, match=f"no {role}"):
        count_visits(ENGINES[engine](frame), listed(), DAY, RADIUS)


@pytest.mark.parametrize("text", ["nan", "inf", "NaN"])
def test_what_is_no_number_in_text_is_reported_once(tmp_path: Path, text: str) -> None:
    path = tmp_path / "visits.csv"
    path.write_text(f"{FIXES}ben,{text},139.7,2024-03-03T10:00:00Z\n")
    assert [found.doubt for found in check_visits(path, listed(), DAY, RADIUS).errors] == [Doubt.COORDINATE]


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_a_negative_accuracy_is_no_matter_of_degrees(engine: str) -> None:
    (found,) = check_visits(ENGINES[engine](fixes(accuracy=-1.0)), listed(), DAY, RADIUS).errors
    assert (found.doubt, found.column, found.reason) == (Doubt.RANGE, "accuracy", "an accuracy below 0 m")


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize("nobody", [[], [None], [""], [None, "", None]])
def test_rows_without_a_person_are_nobodys(engine: str, nobody: list[str | None]) -> None:
    stays = [Stay(who, "bar", DAY.start, DAY.end) for who in ("ana", "ben", "ana", *nobody)]
    visits = ENGINES[engine](table(stays))
    assert check_visits(visits, places()).people == 2
    later = Window.parse("2030-01-01", "UTC")
    counts = count_visits(visits, places(), later, expected=Expected(people=2))
    assert counts.people == 2


@pytest.mark.parametrize("engine", ["polars", "pandas", "pyarrow"])
def test_start_and_end_in_different_zones_are_checked_like_any_other(engine: str) -> None:
    stays = [Stay("ana", place, DAY.start, DAY.end) for place in ("bar", "gym")]
    end = pl.col("end").dt.convert_time_zone("Europe/Berlin")
    visits = ENGINES[engine](table(stays).with_columns(end))
    assert count_visits(visits, places(), DAY).values.tolist() == [1, 0, 1, 0, 0]
    assert check_visits(visits, places(), DAY).findings == ()


@pytest.mark.parametrize("separator", ["\t", r"\t", "tab"])
def test_tabs_as_they_are_typed(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "visits.tsv"
    path.write_bytes(rows(GOOD, ALSO).replace(b",", b"\t"))
    counts = count_visits(path, places(), DAY, VisitFormat(separator=separator))
    assert counts.values.tolist() == [1, 0, 1, 0, 0]


@pytest.mark.parametrize("separator", ["", ";;", '"', "\n", "\0", "§", "\u3001", "TAB TAB"])
def test_separators_that_are_none(separator: str) -> None:
    with pytest.raises(BadQuestion, match="separator is not one plain character"):
        VisitFormat(separator=separator)


@pytest.mark.parametrize(
    ("hold", "said"),
    [
        ("15min", "15 minutes"),
        ("1h", "1 hour"),
        ("PT1H30M", "1 hour and 30 minutes"),
        ("P1DT2H3M4S", "1 day, 2 hours, 3 minutes and 4 seconds"),
        ("0s", "no time"),
        (timedelta(microseconds=1), "1 microsecond"),
    ],
)
def test_holding_times_are_said_in_words(hold: Any, said: str) -> None:
    seen = pl.DataFrame({"person": ["ana"], "place": ["bar"], "time": [NOON.start]})
    reading = check_visits(seen, places(), DAY, VisitFormat(hold=hold)).reading
    assert reading == f"A visit is a sighting at the place, which holds for {said} after it."


@pytest.mark.parametrize(("others", "said"), [(["GYM"], "it looks"), (["GYM", "Bar", "x"], "2 of them look")])
def test_places_almost_listed_are_counted_in_words(others: list[str], said: str) -> None:
    frame = table([Stay("ana", place, DAY.start, DAY.end) for place in others])
    (found,) = check_visits(frame, places()).errors
    assert f"not listed; {said} like a listed one written in another way" in found.reason
