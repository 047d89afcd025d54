"""What is said when visits cannot be counted, and what to do about it: every message, word for word.

The last test reads the source: a message that nobody asserts here does not pass.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.messages import (
    visits_extent,
    visits_files,
    visits_frames,
    visits_questions,
    visits_room,
    visits_rows,
)
from tests.messages.visits_acts import FIX, GOOD, HEADER, POINTS, ROWS
from tests.visits.making import DAY, check_visits, count_visits, places, table, write_parquet

import safeside.visits
from safeside.errors import BadFile, MissingExtra, SafesideError
from safeside.progress import quiet
from safeside.visits import VisitFormat, Window, read_places
from safeside.visits.count.scan import require_all_rows
from safeside.visits.read.source import open_paths, open_visits

SAID = {
    f"{part.__name__.rpartition('_')[2]}: {name}": case
    for part in (visits_questions, visits_frames, visits_files, visits_room, visits_rows, visits_extent)
    for name, case in part.SAID.items()
}


@pytest.mark.parametrize("name", SAID)
def test_every_message(tmp_path: Path, name: str) -> None:
    act, error, what, do = SAID[name]
    with pytest.raises(error) as caught:
        act(tmp_path)
    assert type(caught.value) is error
    assert caught.value.what.replace(str(tmp_path), "{folder}") == what
    assert caught.value.do.replace(str(tmp_path), "{folder}") == do


NOON_UTC = Window.parse("2024-03-03T10:30Z/PT10M")


def notes(
    folder: Path, content: str, window: Window = DAY, rows: int | None = None, **more: Any
) -> list[str]:
    (folder / "visits.csv").write_text(content)
    expected = safeside.visits.Expected(rows=rows, unlisted="50%")
    report = check_visits(folder / "visits.csv", places(), window, expected=expected, **more)
    assert report.fine
    return [note.sentence() for note in report.notes] + [note.do for note in report.notes]


def test_every_note(tmp_path: Path) -> None:
    assert notes(tmp_path, "\ufeff" + HEADER + GOOD) == [
        "visits.csv begins with a byte order mark, which was skipped.",
        "Nothing, or save the file as UTF-8 without one.",
    ]
    assert notes(tmp_path, HEADER.replace("\n", ",colour\n") + GOOD.replace("\n", ",red\n")) == [
        "columns not used: colour.",
        "Nothing, unless one of them says which rows should not count.",
    ]
    quoted = (HEADER + GOOD)[:-1].replace("2024-03-03T11:00:00Z", '"2024-03-03T11:00:00Z"')
    assert notes(tmp_path, quoted, rows=1) == [
        "the last line of visits.csv does not end, so the file may have been cut off;"
        " the declared number of rows agrees.",
        "Nothing.",
    ]
    assert notes(tmp_path, HEADER + GOOD.replace("ana", '"an\na"'), rows=1) == [
        "a line break inside quotes, where a stray quote may have swallowed rows;"
        " the declared number of rows agrees; first at visits.csv line 2.",
        "Nothing.",
    ]
    assert notes(tmp_path, HEADER + GOOD, Window.parse("2025-01-01T00:00Z")) == [
        "no visit touches the window.",
        "Check the window and its time zone; if nobody was anywhere, all counts are zero.",
    ]
    unlisted = HEADER + GOOD + GOOD.replace("ana,bar", "ben,home")
    assert notes(tmp_path, unlisted, NOON_UTC, exclude_unknown_places=True) == [
        "column place: 1 of 2 rows (50 %), of 1 person, at 1 place not listed, are left out.",
        "Nothing, if these are homes and other places that are not asked about.",
    ]


def said(act: Callable[[], object], error: type[SafesideError]) -> tuple[str, str]:
    with pytest.raises(error) as caught:
        act()
    return caught.value.what, caught.value.do


def test_a_file_that_changes(tmp_path: Path) -> None:
    path = write_parquet(table(ROWS), tmp_path / "visits.parquet")
    opened = open_paths(path, VisitFormat(), key=None, progress=quiet)
    assert opened is not None
    write_parquet(table(ROWS * 2), path)
    assert said(opened.require_unchanged, BadFile) == (
        "A file changed while it was read.",
        "Try again once nothing writes to the files.",
    )


def test_a_folder_that_changes(tmp_path: Path) -> None:
    write_parquet(table(ROWS), tmp_path / "visits.parquet")
    opened = open_paths(tmp_path, VisitFormat(), key=None, progress=quiet)
    assert opened is not None
    write_parquet(table(ROWS), tmp_path / "more.parquet")
    assert said(opened.require_unchanged, BadFile) == (
        "Files came or went while the visits were read.",
        "Try again once nothing writes to the folder, or name the files that are meant.",
    )


def test_a_table_whose_pages_are_damaged(tmp_path: Path) -> None:
    path = write_parquet(table(ROWS * 50), tmp_path / "visits.parquet")
    content = bytearray(path.read_bytes())
    content[4:60] = b"\xff" * 56
    path.write_bytes(content)
    what, do = said(lambda: count_visits(path, places(), DAY), BadFile)
    assert what.startswith("The visits cannot be read to the end (")
    assert do == "Export the files again; one of them is damaged or cut off."


def test_a_parser_that_loses_rows(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text(HEADER + GOOD)
    opened = open_paths(path, VisitFormat(), key=None, progress=quiet)
    source = open_visits(path, opened, VisitFormat())
    require_all_rows(source, 1)
    assert said(lambda: require_all_rows(source, 0), BadFile) == (
        "The files hold 1 row, and 0 were read.",
        "Export the files again, without line breaks or quotes inside fields.",
    )


MISSING = {
    "scipy.spatial": (
        lambda: count_visits(FIX, read_places(POINTS), DAY, VisitFormat(radius=50, hold="1h")),
        "Finding places by a radius needs the package scipy.",
        "Run: pip install 'safeside[geo]'",
    ),
    "h3.api.basic_int": (
        lambda: count_visits(FIX, read_places(POINTS), DAY, VisitFormat(h3_resolution=9, hold="1h")),
        "Finding places by H3 cells needs the package h3.",
        "Run: pip install 'safeside[geo]'",
    ),
    "h3": (
        lambda: read_places([f"8930{number:02}a2d3fffff" for number in range(10, 20)]),
        "Telling whether places that are H3 cells cover an area needs the package h3.",
        "Run: pip install 'safeside[geo]'",
    ),
}


@pytest.mark.parametrize("package", MISSING)
def test_packages_that_are_not_there(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    act, what, do = MISSING[package]
    for name in [name for name in sys.modules if name.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    assert said(act, MissingExtra) == (what, do)
