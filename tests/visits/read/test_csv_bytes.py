"""Bytes before parsers: what a text file holds is known without reading a single field."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safeside.progress import quiet
from safeside.visits.findings import Doubt
from safeside.visits.read.csv_bytes import TextFile, inspect_text, lines_of


def look(directory: Path, content: bytes, separator: str = ",", **more: int) -> TextFile:
    path = directory / "visits.csv"
    path.write_bytes(content)
    return inspect_text(path, separator, progress=quiet, **more)


def stopped(file: TextFile) -> dict[Doubt, list[int]]:
    return {found.doubt: [where.line for where in found.first] for found in file.findings if found.stops}


@pytest.mark.parametrize(
    ("content", "records"),
    [
        (b"a,b\n1,2\n3,4\n", 2),
        (b"a,b\r\n1,2\r\n3,4\r\n", 2),
        (b"a,b\n1,2\n3,4", 2),
        (b'a,b\n"1,1",2\n"x y",4\n', 2),
        (b'a,b\n"say ""hi""",2\n"",4\n', 2),
        (b'"a","b"\n1,2\n', 1),
        (b"\xef\xbb\xbfa,b\n1,2\n", 1),
        ("a,b\nÅ,日本\n".encode(), 1),
        (b"a\n1\n2\n", 2),
        (b"a,b\n,\n", 1),
    ],
)
def test_sound_files(tmp_path: Path, content: bytes, records: int) -> None:
    file = look(tmp_path, content)
    assert stopped(file) == {}
    assert file.records == records
    assert file.ended == content.endswith(b"\n")
    assert len(list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))) == records + 1


@pytest.mark.parametrize(
    ("content", "doubt", "lines"),
    [
        (b"", Doubt.EMPTY, []),
        (b"\xef\xbb\xbf", Doubt.EMPTY, []),
        (b"\xff\xfea\x00", Doubt.ENCODING, []),
        (b"\x1f\x8b\x08", Doubt.UNREADABLE, []),
        (b"PK\x03\x04....", Doubt.UNREADABLE, []),
        (b"a,b\n1,\xff\n3,4\n", Doubt.ENCODING, [2]),
        (b"a,b\n1,2\n3,\x00\n", Doubt.ENCODING, [3]),
        ("a,b\nÅ,1\n".encode() + b"\xc5,2\n", Doubt.ENCODING, [3]),
        (b"a,b\n1,2\xe3\x81", Doubt.ENCODING, [2]),
        (b"a,b\n1,2\n\xef\xbb\xbfa,b\n3,4\n", Doubt.BYTE_ORDER_MARK, [3]),
        (b"a,b\n1,2\n\n3,4\n", Doubt.BLANK_LINE, [3]),
        (b"a,b\r\n1,2\r\n\r\n3,4\r\n", Doubt.BLANK_LINE, [3]),
        (b"\na,b\n1,2\n", Doubt.BLANK_LINE, [1]),
        (b"a,b\n1,2\n\n", Doubt.BLANK_LINE, [3]),
        (b"a,b\r1,2\r3,4\r", Doubt.LINE_ENDS, [1]),
        (b"a,b\n1,2\r\r\n3,4\n", Doubt.LINE_ENDS, [2]),
        (b'a,b\n1,5" pipe\n2,6" pipe\n', Doubt.QUOTES, [2]),
        (b'a,b\n1,"open\n2,3\n', Doubt.QUOTES, [2]),
        (b'a,b\n1,"x"y\n2,3\n', Doubt.QUOTES, [2]),
        (b'a,b\n1,2\n3,"\n', Doubt.QUOTES, [3]),
        (b'a,b\n1,2\n"x\ny",4\n', Doubt.LINE_BREAK, [3]),
        (b'a,b\n1,2\n"x\r\ny",4\n5,"\r"\n', Doubt.LINE_BREAK, [3, 5]),
        (b"a,b\n1\n3,4\n", Doubt.FIELDS, [2]),
        (b"a,b\n1,2,3\n3,4\n", Doubt.FIELDS, [2]),
        (b'a,b\n"1,1"\n3,4\n', Doubt.FIELDS, [2]),
        (b"a,b\n1,2\n3", Doubt.FIELDS, [3]),
    ],
)
def test_what_is_wrong_and_on_which_line(
    tmp_path: Path, content: bytes, doubt: Doubt, lines: list[int]
) -> None:
    found = stopped(look(tmp_path, content))
    assert doubt in found
    assert found[doubt] == lines


def test_a_mark_at_the_beginning_is_only_noted(tmp_path: Path) -> None:
    file = look(tmp_path, b"\xef\xbb\xbfa,b\n1,2\n")
    assert file.columns == ("a", "b")
    assert [(found.doubt, found.stops) for found in file.findings] == [(Doubt.BYTE_ORDER_MARK, False)]


PIECES = [
    b"a",
    b"1",
    b",",
    b",",
    b"\n",
    b"\n",
    b'"',
    b'""',
    b"\r\n",
    b"\r",
    "é".encode(),
    b"\xff",
    b"\xef\xbb\xbf",
    b"\x00",
]


@given(st.lists(st.sampled_from(PIECES), max_size=30), st.integers(1, 7))
@settings(max_examples=400)
def test_chunks_do_not_matter_and_sound_means_sound(pieces: list[bytes], chunk: int) -> None:
    """Read in pieces of any size the verdict is the same; what is called sound, a strict reader finds so."""
    import tempfile

    content = b"a,b\n" + b"".join(pieces)
    with tempfile.TemporaryDirectory() as directory:
        whole = look(Path(directory), content)
        cut = look(Path(directory), content, chunk_bytes=chunk)
        assert stopped(whole) == stopped(cut)
        if stopped(whole):
            return
        assert whole == cut
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True))
        assert len(rows) == whole.records + 1
        fields = sum(len(row) for row in rows)
        assert fields == 2 * len(rows)
        starts = lines_of(Path(directory) / "visits.csv", list(range(whole.records)), broken=True)
        assert starts == list(range(2, whole.records + 2))


def test_lines_of_records_that_span_lines(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(b'a,b\n1,"x\ny\nz"\n2,3\n"p\nq",4\n5,6\n')
    assert lines_of(path, [0, 1, 2, 3], broken=True) == [2, 5, 6, 8]
    assert lines_of(path, [3, 9], broken=True) == [8]


def test_bytes_are_fed_once_and_in_order(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 100)
    fed: list[bytes] = []
    inspect_text(path, ",", feed=fed.append, progress=quiet)
    assert b"".join(fed) == path.read_bytes()
