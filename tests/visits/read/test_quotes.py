"""Stray quotes: two of them may make one field of many rows. Then there is no count, or the true one."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.visits import plain
from tests.visits.making import DAY, PLACES, check_visits, count_visits, places, stays
from tests.visits.plain import Stay

from safeside.errors import BadFile, SafesideError
from safeside.progress import quiet
from safeside.visits import Doubt, Expected, VisitFormat, read_places
from safeside.visits.read.csv_bytes import inspect_text

HEADER = ["note", "person", "place", "start", "end", "remark"]
NOTES = ["", "x", "o'clock", "two words", "é"]
SEPARATORS = [",", ";", "\t", "|"]


def text(rows: list[Stay], notes: list[str], separator: str, line_end: str, quoting: int) -> str:
    """Visits as an exporter writes them, between two columns that nobody uses."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator=line_end, quoting=quoting)
    writer.writerow(HEADER)
    for number, row in enumerate(rows):
        times = [f"{time.isoformat(timespec='microseconds')}" for time in (row.start, row.end)]
        writer.writerow([notes[number % len(notes)], row.person, row.place, *times, notes[-1]])
    return out.getvalue()


def inject(data: st.DataObject, content: str, separator: str) -> str:
    """One to three quotes more, half of them where a field begins or ends."""
    for _ in range(data.draw(st.integers(1, 3))):
        edges = [0, len(content)]
        edges += [i + side for i, c in enumerate(content) if c in (separator, "\r", "\n") for side in (0, 1)]
        anywhere = st.integers(0, len(content))
        at = data.draw(st.one_of(st.sampled_from(edges), anywhere))
        content = content[:at] + '"' + content[at:]
    return content


def counted(content: str, separator: str, rows: int | None) -> list[int] | None:
    """The counts of a file with these bytes, or None where the work stopped."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "visits.csv"
        path.write_bytes(content.encode())
        try:
            found = count_visits(
                path, places(), DAY, VisitFormat(separator=separator), expected=Expected(rows=rows)
            )
        except SafesideError:
            return None
        return list(found.values.tolist())


@given(
    stays,
    st.data(),
    st.sampled_from(SEPARATORS),
    st.sampled_from(["\n", "\r\n"]),
    st.lists(st.sampled_from(NOTES), min_size=1, max_size=5),
)
@settings(max_examples=300)
def test_quotes_added_anywhere(
    rows: list[Stay], data: st.DataObject, separator: str, line_end: str, notes: list[str]
) -> None:
    """In a file without quotes, quotes around a whole field change nothing, and all others stop the work.

    Declaring the true number of rows does not let a swallowed row through either.
    """
    truth = plain.count(rows, PLACES, DAY)
    content = inject(data, text(rows, notes, separator, line_end, csv.QUOTE_NONE), separator)
    declared = data.draw(st.sampled_from([None, len(rows)]))
    assert counted(content, separator, declared) in (None, truth)


@given(stays, st.data(), st.sampled_from(SEPARATORS), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=150)
def test_quotes_added_where_all_fields_have_some(
    rows: list[Stay], data: st.DataObject, separator: str, line_end: str
) -> None:
    """In a file with quotes, two more may become part of a name: nobody is lost by that."""
    truth = plain.count(rows, PLACES, DAY)
    notes = ["", "a,b;c|d\te", 'say "hi"']
    content = inject(data, text(rows, notes, separator, line_end, csv.QUOTE_ALL), separator)
    found = counted(content, separator, data.draw(st.sampled_from([None, len(rows)])))
    assert found is None or all(here >= there for here, there in zip(found, truth, strict=True))


START, END = "2024-03-03T10:00:00Z", "2024-03-03T11:00:00Z"


def file(folder: Path, *lines: str, end: str = "\n", header: str = "note,person,place,start,end") -> Path:
    path = folder / "visits.csv"
    path.write_bytes("".join(line + end for line in (header, *lines)).encode())
    return path


def row(person: str, note: str = "", after: str = "") -> str:
    return f"{note},{person},bar,{START},{END}{after}"


SWALLOWED = {
    "in a column that is not used": [row("ana", '"hm'), row("ben"), row("chi"), row("dev", 'hm"')],
    "from a field alone": [row("ana", '"'), row("ben"), row("chi"), row("dev", '"')],
    "in the names": [f'x,"ana,bar,{START},{END}', row("ben"), f'y,dev",bar,{START},{END}'],
    "around a quoted field": [row("ana", '"hm'), row("ben", '""hm""'), row("dev", 'hm"')],
    "after an escaped quote": [row("ana", '"""hm'), row("ben"), row("dev", 'hm"')],
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", sorted(SWALLOWED))
def test_rows_between_two_stray_quotes(tmp_path: Path, name: str, end: str) -> None:
    lines = SWALLOWED[name]
    path = file(tmp_path, row("eva"), *lines, row("fay"), end=end)
    report = check_visits(path, places(), DAY)
    (found,) = [finding for finding in report.errors if finding.doubt is Doubt.LINE_BREAK]
    assert [str(where) for where in found.first] == ["visits.csv line 3"]
    with pytest.raises(BadFile, match="line break inside quotes"):
        count_visits(path, places(), DAY)
    # Who knows how many rows there are is told that there are fewer.
    with pytest.raises(BadFile, match="line break inside quotes"):
        count_visits(path, places(), DAY, expected=Expected(rows=2 + len(lines)))


def test_rows_up_to_the_end_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text(f'person,place,start,end,note\nana,bar,{START},{END},"x\nben,bar,{START},{END},y"')
    found = {finding.doubt: finding.first for finding in check_visits(path, places(), DAY).errors}
    assert [where.line for where in found[Doubt.LINE_BREAK]] == [2]
    assert Doubt.CUT_OFF in found


@pytest.mark.parametrize("header", ['"note,person,place,start,end', 'note,person,place,start,"end'])
def test_a_quote_in_the_header(tmp_path: Path, header: str) -> None:
    path = file(tmp_path, row("ana"), row("ben", after='"'), row("chi"), header=header)
    for act in (count_visits, check_visits):
        with pytest.raises(BadFile) as stopped:
            act(path, places(), DAY, expected=Expected(rows=1))
        assert stopped.value.what == "The header of visits.csv has a line break inside quotes."


def test_a_separator_between_stray_quotes(tmp_path: Path) -> None:
    path = file(tmp_path, row("ana"), f'x,"ben,bar",{START},{END}')
    assert [finding.doubt for finding in check_visits(path, places()).errors] == [Doubt.FIELDS]


@pytest.mark.parametrize("between", ["\n", "\r\n", "\r"])
def test_line_breaks_that_belong_there_are_declared(tmp_path: Path, between: str) -> None:
    path = file(tmp_path, row("ana", f'"two{between}lines"'), row("ben"))
    with pytest.raises(BadFile, match=r"line break inside quotes.*first at visits.csv line 2\."):
        count_visits(path, places(), DAY)
    with pytest.raises(BadFile, match="line break inside quotes"):
        count_visits(path, places(), DAY, expected=Expected(rows=3))
    counts = count_visits(path, places(), DAY, expected=Expected(rows=2))
    assert counts.values.tolist() == [2, 0, 0, 0, 0]
    (note,) = [finding for finding in counts.findings if finding.doubt is Doubt.LINE_BREAK]
    assert (note.stops, [where.line for where in note.first]) == (False, [2])
    assert check_visits(path, places(), DAY, expected=Expected(rows=2)).fine


def test_single_quotes_are_letters(tmp_path: Path) -> None:
    path = file(tmp_path, row("'ana", "'"), row("ben'"), row("'chi'", "o'"))
    assert count_visits(path, places(), DAY).values.tolist() == [3, 0, 0, 0, 0]


def test_lists_of_places_are_read_no_less_strictly(tmp_path: Path) -> None:
    (tmp_path / "places.csv").write_text('place,name\nbar,"The\ngym,A\nmuseum,bar"\n')
    with pytest.raises(BadFile, match="line break inside quotes"):
        read_places(tmp_path / "places.csv")


@given(
    st.lists(st.sampled_from(["ana", '"b\nb"', '"c\r\n\r\nc"', '"d\rd"', '""', "e"]), max_size=12),
    st.integers(1, 9),
)
@example(["ana", '"b\nb"', "e", '"c\r\n\r\nc"', '"d\rd"', "e", '"b\nb"'], 3)
@settings(max_examples=200)
def test_records_with_line_breaks_are_found_in_chunks_of_any_size(fields: list[str], chunk: int) -> None:
    """The first three of them, by the lines on which they begin."""
    begins, line = [], 2
    for written in fields:
        begins += [line] if "\n" in written or "\r" in written else []
        line += 1 + written.count("\n")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "visits.csv"
        path.write_bytes("".join(f"{written},x\n" for written in ["a", *fields]).encode())
        found = inspect_text(path, ",", progress=quiet, chunk_bytes=chunk).findings
    lines = [where.line for finding in found if finding.doubt is Doubt.LINE_BREAK for where in finding.first]
    assert lines == begins[:3]
