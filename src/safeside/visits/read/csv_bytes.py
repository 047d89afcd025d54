"""Validation of a CSV file's bytes before it is parsed.

A parser that meets a stray quote, a cut-off line or a byte that is not UTF-8 may silently lose rows. So one
vectorised pass over the bytes checks the encoding, the pairing of quotes and the number of fields of every
record; it also counts the records, and the parser must then find exactly as many.

Two stray quotes may pair up over several rows, which every parser then reads as one field with line breaks.
So a line break inside quotes stops the work until the number of rows is declared.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from safeside.errors import BadFile
from safeside.progress import Progress
from safeside.visits.findings import Doubt, Finding, RowLocation

CHUNK: Final = 1 << 20
_BOM: Final = codecs.BOM_UTF8
_WIDE_BOMS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_PACKED: Final = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"BZh", b"\xfd7zXZ")
_NEWLINE: Final = 10
_RETURN: Final = 13
_QUOTE: Final = 34
_Positions = NDArray[np.intp]
SHOWN: Final = 3
"""How many lines are named of each thing that is wrong."""


@dataclass(frozen=True, kw_only=True)
class TextFile:
    """Columns, number of records and findings of a text file."""

    path: Path
    columns: tuple[str, ...]
    records: int
    ended: bool
    """Whether the last line ends."""
    closed: bool
    """Whether the last field is complete: its line ends, or it ends with a quote."""
    findings: tuple[Finding, ...]


@dataclass(kw_only=True)
class _Tally:
    """State carried from one chunk to the next."""

    separator: int
    quotes: bool
    """Whether fields may stand in quotes."""
    records: int = 0
    """Complete records, the header among them."""
    separators: int = 0
    """Separators in the incomplete record."""
    fields: int | None = None
    """Separators in the header, and so in every record."""
    inside_quotes: bool = False
    lines: int = 0
    """Complete lines, as an editor numbers them."""
    began: int = 1
    """The line on which the incomplete record began."""
    last: int = _NEWLINE
    before_last: int = 0
    wrong: dict[Doubt, list[int]] = field(default_factory=dict)
    """What is wrong, and the first lines on which it is."""

    def flag(self, doubt: Doubt, lines: Iterable[int]) -> None:
        if found := {*lines, *self.wrong.get(doubt, ())}:
            self.wrong[doubt] = sorted(found)[:SHOWN]


@dataclass(frozen=True, kw_only=True)
class _Lines:
    """Where lines and records end in a chunk."""

    tally: _Tally
    newlines: _Positions
    ends: _Positions

    def of(self, positions: _Positions) -> list[int]:
        """The lines on which these bytes stand."""
        return _few(self.tally.lines + 1 + np.searchsorted(self.newlines, positions))

    def of_records(self, positions: _Positions) -> list[int]:
        """The lines on which the records begin in which these bytes stand."""
        begins = self.tally.lines + 2 + np.searchsorted(self.newlines, self.ends)
        return _few(np.concatenate([[self.tally.began], begins])[np.searchsorted(self.ends, positions)])


def _few(lines: _Positions) -> list[int]:
    # Most files have none, and np.unique imports more of NumPy.
    return [int(line) for line in np.unique(lines)[:SHOWN]] if len(lines) else []


def inspect_text(
    path: Path,
    separator: str,
    *,
    feed: Callable[[bytes], object] | None = None,
    progress: Progress,
    quotes: bool = True,
    chunk_bytes: int = CHUNK,
) -> TextFile:
    """Read a CSV file's bytes once; `feed` is given each chunk, so that a fingerprint costs no second
    reading. Without `quotes`, a quote is a letter like any other.
    """
    size = path.stat().st_size
    tally = _Tally(separator=ord(separator), quotes=quotes)
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    with path.open("rb") as stream:
        head = stream.read(8)
        refused = _refuse_outright(path, head)
        mark = _BOM if head.startswith(_BOM) else b""
        stream.seek(len(mark))
        if feed is not None and mark:
            feed(mark)
        while not refused and (chunk := stream.read(chunk_bytes)):
            if feed is not None:
                feed(chunk)
            _decode(decoder, chunk, tally)
            _look(chunk, tally)
            progress(stream.tell() / size if size else None, f"Reading {path.name}")
    if refused:
        return TextFile(path=path, columns=(), records=0, ended=True, closed=True, findings=refused)
    if Doubt.ENCODING not in tally.wrong and decoder.getstate()[0]:
        tally.flag(Doubt.ENCODING, [tally.lines + 1])
    return _conclude(path, separator, head, tally)


def _refuse_outright(path: Path, head: bytes) -> tuple[Finding, ...]:
    if not head or head == _BOM:
        doubt, what = Doubt.EMPTY, "empty"
    elif head.startswith(_WIDE_BOMS):
        doubt, what = Doubt.ENCODING, "written in UTF-16 or UTF-32"
    elif head.startswith(_PACKED):
        doubt, what = Doubt.UNREADABLE, "compressed, or a spreadsheet, not text"
    else:
        return ()
    return (Finding(doubt=doubt, reason=f"{path.name} is {what}", do=_DO[doubt]),)


def _decode(decoder: codecs.IncrementalDecoder, chunk: bytes, tally: _Tally) -> None:
    """Flag bytes that are not UTF-8, and byte order marks inside the file."""
    if Doubt.ENCODING in tally.wrong:
        return
    wrong = chunk.find(0)
    pending: bytes = decoder.getstate()[0]
    if wrong < 0 and not pending and chunk.isascii():
        return
    try:
        text = decoder.decode(chunk if wrong < 0 else chunk[:wrong])
    except UnicodeDecodeError as error:
        wrong = max(0, error.start - len(pending))
        text = error.object[: error.start].decode("utf-8")
    if wrong >= 0:
        tally.flag(Doubt.ENCODING, [tally.lines + 1 + chunk.count(b"\n", 0, wrong)])
    at = text.find("\ufeff")
    for _ in range(SHOWN if at >= 0 else 0):
        tally.flag(Doubt.BYTE_ORDER_MARK, [tally.lines + 1 + text.count("\n", 0, at)])
        line_end = text.find("\n", at)
        at = text.find("\ufeff", line_end)
        if line_end < 0 or at < 0:
            break


def _look(chunk: bytes, tally: _Tally) -> None:
    """Count separators and records outside quotes; flag blank lines, stray quotes and carriage returns."""
    bytes_ = np.frombuffer(chunk, dtype=np.uint8)
    padded = np.concatenate([np.array([tally.before_last, tally.last], dtype=np.uint8), bytes_])
    newlines, marks = np.flatnonzero(bytes_ == _NEWLINE), np.flatnonzero(bytes_ == tally.separator)
    returns = np.flatnonzero(bytes_ == _RETURN) if b"\r" in chunk else np.zeros(0, dtype=np.intp)
    if tally.quotes and (tally.inside_quotes or b'"' in chunk or tally.last == _QUOTE):
        quotes = bytes_ == _QUOTE
        # For every byte that is no quote itself, whether it stands inside quotes.
        inside = np.bitwise_xor.accumulate(quotes.view(np.uint8)) ^ np.uint8(tally.inside_quotes) == 1
        lines = _Lines(tally=tally, newlines=newlines, ends=newlines[~inside[newlines]])
        _pair(np.flatnonzero(quotes), bytes_, padded, lines)
        breaks = np.concatenate([newlines[inside[newlines]], returns[inside[returns]]])
        tally.flag(Doubt.LINE_BREAK, lines.of_records(breaks))
        marks, returns = marks[~inside[marks]], returns[~inside[returns]]
        outside_before, tally.inside_quotes = not tally.inside_quotes, bool(inside[-1])
    else:
        lines, outside_before = _Lines(tally=tally, newlines=newlines, ends=newlines), True
    _measure(marks, lines)
    before, two_before = padded[lines.ends + 1], padded[lines.ends]
    blank = (before == _NEWLINE) | ((before == _RETURN) & (two_before == _NEWLINE))
    tally.flag(Doubt.BLANK_LINE, lines.of(lines.ends[blank]))
    inner = returns[returns < len(bytes_) - 1]
    tally.flag(Doubt.LINE_ENDS, lines.of(inner[bytes_[inner + 1] != _NEWLINE]))
    if tally.last == _RETURN and outside_before and bytes_[0] != _NEWLINE:
        tally.flag(Doubt.LINE_ENDS, [tally.lines + 1])
    if len(lines.ends):
        tally.began = tally.lines + 2 + int(np.searchsorted(newlines, lines.ends[-1]))
    tally.lines += len(newlines)
    tally.before_last, tally.last = int(padded[-2]), int(padded[-1])


def _pair(at: _Positions, bytes_: NDArray[np.uint8], padded: NDArray[np.uint8], lines: _Lines) -> None:
    """Flag quotes that open or close where none can; opening and closing ones alternate."""
    tally = lines.tally
    first = int(tally.inside_quotes)
    opening, closing = at[first::2], at[1 - first :: 2]
    may_open = np.isin(padded[opening + 1], (tally.separator, _NEWLINE, _QUOTE))
    tally.flag(Doubt.QUOTES, lines.of_records(opening[~may_open]))
    # The last byte of the chunk before may have been a quote that closed, too.
    closing = closing[closing < len(bytes_) - 1]
    if tally.last == _QUOTE and not first:
        closing = np.concatenate([[-1], closing])
    may_follow = np.isin(bytes_[closing + 1], (tally.separator, _NEWLINE, _RETURN, _QUOTE))
    tally.flag(Doubt.QUOTES, lines.of_records(closing[~may_follow]))


def _measure(marks: _Positions, lines: _Lines) -> None:
    """Count the fields of every record that ends in this chunk; carry those of the incomplete one."""
    tally, ends = lines.tally, lines.ends
    before = np.searchsorted(marks, ends)
    if len(ends):
        each = np.diff(before, prepend=0)
        each[0] += tally.separators
        tally.fields = int(each[0]) if tally.fields is None else tally.fields
        tally.flag(Doubt.FIELDS, lines.of_records(ends[each != tally.fields]))
        tally.separators = 0
    tally.records += len(ends)
    tally.separators += len(marks) - (int(before[-1]) if len(ends) else 0)


def _conclude(path: Path, separator: str, head: bytes, tally: _Tally) -> TextFile:
    ended = tally.last == _NEWLINE
    tally.flag(Doubt.QUOTES, [tally.began] if tally.inside_quotes else [])
    tally.flag(Doubt.LINE_ENDS, [tally.lines + 1] if tally.last == _RETURN else [])
    records = tally.records + (not ended)
    columns = () if Doubt.ENCODING in tally.wrong else _header(path, separator, quotes=tally.quotes)
    if not ended and tally.fields not in (None, tally.separators):
        tally.flag(Doubt.FIELDS, [tally.began])
    if {Doubt.QUOTES, Doubt.BLANK_LINE} & set(tally.wrong):
        tally.wrong.pop(Doubt.FIELDS, None)
    if Doubt.QUOTES in tally.wrong:
        tally.wrong.pop(Doubt.LINE_BREAK, None)
    findings = [
        Finding(
            doubt=doubt,
            reason=_REASONS[doubt],
            do=_DO[doubt],
            first=tuple(RowLocation(file=path.name, line=line) for line in tally.wrong[doubt]),
        )
        for doubt in Doubt
        if doubt in tally.wrong
    ]
    if head.startswith(_BOM):
        reason = f"{path.name} begins with a byte order mark, which was skipped"
        do = "Nothing, or save the file as UTF-8 without one."
        findings.append(Finding(doubt=Doubt.BYTE_ORDER_MARK, reason=reason, do=do, stops=False))
    return TextFile(
        path=path,
        columns=columns,
        records=records - 1,
        ended=ended,
        closed=ended or (tally.quotes and tally.last == _QUOTE),
        findings=tuple(findings),
    )


def _header(path: Path, separator: str, *, quotes: bool) -> tuple[str, ...]:
    """The names in the first line; where it ends inside quotes, the last of them has the line break in it."""
    with path.open("rb") as stream:
        first = stream.readline().removeprefix(_BOM).decode("utf-8", "replace")
    if not quotes:
        return tuple(first.rstrip("\r\n").split(separator))
    try:
        return tuple(next(csv.reader(io.StringIO(first, newline=""), delimiter=separator), ()))
    except csv.Error:
        raise BadFile(f"The first line of {path.name} does not name columns.", _NAMES) from None


_NAMES: Final = "Write the names of the columns into the first line: person,place,start,end."
_REASONS: Final = {
    Doubt.ENCODING: "bytes that are not UTF-8 text",
    Doubt.BYTE_ORDER_MARK: "a byte order mark in the middle, as if files had been joined",
    Doubt.BLANK_LINE: "a blank line",
    Doubt.LINE_ENDS: "a carriage return that does not end a line",
    Doubt.QUOTES: "a quote where none can stand, or one that is never closed",
    Doubt.LINE_BREAK: "a line break inside quotes, where a stray quote may have swallowed rows",
    Doubt.FIELDS: "a line with more or fewer fields than the header",
}
_DO: Final = {
    Doubt.EMPTY: "Export the file again, or leave it out.",
    Doubt.UNREADABLE: "Unpack it, or export it as CSV or Parquet.",
    Doubt.ENCODING: "Save the file as UTF-8.",
    Doubt.BYTE_ORDER_MARK: "Give the files separately, each with its own header.",
    Doubt.BLANK_LINE: "Delete blank lines, or export the file again.",
    Doubt.LINE_ENDS: "Save the file with ordinary line ends (LF or CRLF).",
    Doubt.QUOTES: "Export the file again with every quote inside a field doubled; or, if no field is written"
    " in quotes, say so (`no_quotes=True`).",
    Doubt.LINE_BREAK: "Take the line breaks out of the fields; or, if they belong there, declare how many"
    " rows there are in all files, from where they were exported (`Expected(rows=)`).",
    Doubt.FIELDS: "Export the file again; a short last line means that it was cut off.",
}


def lines_of(path: Path, records: list[int], *, broken: bool) -> list[int]:
    """The lines on which the given records (numbered from 0, the header not counted) begin.

    Where no record is `broken` by line breaks, each is one line.
    """
    if not broken:
        return [record + 2 for record in records]
    wanted = set(records)
    lines: dict[int, int] = {}
    record, inside_quotes = -1, False
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if not inside_quotes and record in wanted:
                lines[record] = number
            inside_quotes ^= line.count(b'"') % 2 == 1
            record += not inside_quotes
            if len(lines) == len(wanted):
                break
    return [lines[number] for number in records if number in lines]
