"""A text file, byte by byte, before anything is parsed.

A parser that meets a stray quote, a cut-off line or a foreign byte may swallow rows and say nothing. So the
bytes are looked at first, in one pass at the speed of memory: the file must be UTF-8, its quotes must pair
up where quotes may stand, and every line must have as many fields as the header. Then the number of records
is known without any parser, and the one that follows must find exactly as many.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from safeside.progress import Progress
from safeside.visits.report import Doubt, Finding, Where

CHUNK: Final = 1 << 22
_BOM: Final = codecs.BOM_UTF8
_WIDE_BOMS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_PACKED: Final = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"BZh", b"\xfd7zXZ")
_NEWLINE: Final = 10
_RETURN: Final = 13
_QUOTE: Final = 34


@dataclass(frozen=True, kw_only=True)
class TextFile:
    """What the bytes of a file say: its columns, how many records follow them, and what is wrong."""

    path: Path
    columns: tuple[str, ...]
    records: int
    ended: bool
    findings: tuple[Finding, ...]


@dataclass(kw_only=True)
class _Tally:
    """Carried from one chunk to the next."""

    separator: int
    newlines: int = 0
    separators: int = 0
    """In the line that has not ended yet."""
    fields: int | None = None
    """Separators in the header: as many as in every line."""
    inside_quotes: bool = False
    last: int = _NEWLINE
    before_last: int = 0
    wrong: dict[Doubt, bool] = field(default_factory=dict)

    def flag(self, doubt: Doubt, found: object) -> None:
        if found:
            self.wrong[doubt] = True


def inspect_text(
    path: Path,
    separator: str,
    *,
    feed: Callable[[bytes], object] | None = None,
    progress: Progress,
) -> TextFile:
    """Read a CSV file's bytes once; `feed` is given each chunk, so that a fingerprint costs no second
    reading.
    """
    size = path.stat().st_size
    tally = _Tally(separator=ord(separator))
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    with path.open("rb") as stream:
        head = stream.read(8)
        refused = _refuse_outright(path, head)
        mark = _BOM if head.startswith(_BOM) else b""
        stream.seek(len(mark))
        if feed is not None and mark:
            feed(mark)
        while not refused and (chunk := stream.read(CHUNK)):
            if feed is not None:
                feed(chunk)
            _decode(decoder, chunk, tally)
            _look(np.frombuffer(chunk, dtype=np.uint8), chunk, tally)
            progress(stream.tell() / size if size else None, f"Reading {path.name}")
    if refused:
        return TextFile(path=path, columns=(), records=0, ended=True, findings=refused)
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        tally.flag(Doubt.ENCODING, True)
    return _conclude(path, separator, head, tally)


def _refuse_outright(path: Path, head: bytes) -> tuple[Finding, ...]:
    if not head or head == _BOM:
        return (Finding(doubt=Doubt.EMPTY, reason=f"{path.name} is empty", do=_DO[Doubt.EMPTY]),)
    if head.startswith(_WIDE_BOMS):
        reason = f"{path.name} is written in UTF-16 or UTF-32"
        return (Finding(doubt=Doubt.ENCODING, reason=reason, do=_DO[Doubt.ENCODING]),)
    if head.startswith(_PACKED):
        reason = f"{path.name} is compressed, or a spreadsheet, not text"
        return (
            Finding(doubt=Doubt.UNREADABLE, reason=reason, do="Unpack it, or export it as CSV or Parquet."),
        )
    return ()


def _decode(decoder: codecs.IncrementalDecoder, chunk: bytes, tally: _Tally) -> None:
    if Doubt.ENCODING in tally.wrong:
        return
    pending = decoder.getstate()[0]
    if not pending and chunk.isascii():
        return
    try:
        tally.flag(Doubt.BYTE_ORDER_MARK, "\ufeff" in decoder.decode(chunk))
    except UnicodeDecodeError:
        tally.flag(Doubt.ENCODING, True)


def _look(bytes_: NDArray[np.uint8], chunk: bytes, tally: _Tally) -> None:
    """Count what stands outside quotes, and notice what may stand nowhere."""
    if not len(bytes_):
        return
    tally.flag(Doubt.ENCODING, b"\x00" in chunk)
    quotes = bytes_ == _QUOTE
    if tally.inside_quotes or quotes.any() or tally.last == _QUOTE:
        _look_with_quotes(bytes_, quotes, tally)
    else:
        joined = bytes([tally.before_last, tally.last]) + chunk
        _measure(bytes_ == _NEWLINE, bytes_ == tally.separator, tally)
        tally.flag(Doubt.BLANK_LINE, b"\n\n" in joined[1:] or b"\n\r\n" in joined)
        if b"\r" in chunk or tally.last == _RETURN:
            tally.flag(Doubt.LINE_ENDS, joined[1:-1].count(b"\r") != joined[1:].count(b"\r\n"))
    tally.before_last = int(bytes_[-2]) if len(bytes_) > 1 else tally.last
    tally.last = int(bytes_[-1])


def _look_with_quotes(bytes_: NDArray[np.uint8], quotes: NDArray[np.bool_], tally: _Tally) -> None:
    """The same, where quotes decide what is text and what is structure."""
    before = np.concatenate([[tally.last], bytes_[:-1]]).astype(np.uint8)
    count = np.cumsum(quotes)
    inside = (count - quotes + int(tally.inside_quotes)) % 2 == 1
    opening = quotes & ~inside
    may_open = (before == tally.separator) | (before == _NEWLINE) | (before == _QUOTE)
    # A quote that closes is known by the byte after it, which stands outside and has a quote before it.
    closed_before = (before == _QUOTE) & ~inside
    may_follow = (bytes_ == tally.separator) | (bytes_ == _NEWLINE) | (bytes_ == _RETURN) | quotes
    tally.flag(Doubt.QUOTES, (opening & ~may_open).any() or (closed_before & ~may_follow).any())
    newline = (bytes_ == _NEWLINE) & ~inside
    _measure(newline, (bytes_ == tally.separator) & ~inside, tally)
    two_before = np.concatenate([[tally.before_last, tally.last], bytes_[:-2]])[: len(bytes_)]
    blank = newline & ((before == _NEWLINE) | ((before == _RETURN) & (two_before == _NEWLINE)))
    tally.flag(Doubt.BLANK_LINE, blank.any())
    returned = (before == _RETURN) & ~inside & (bytes_ != _NEWLINE)
    tally.flag(Doubt.LINE_ENDS, returned.any())
    tally.inside_quotes ^= bool(count[-1] & 1)


def _measure(newline: NDArray[np.bool_], separator: NDArray[np.bool_], tally: _Tally) -> None:
    """Count the fields of every line that ends here, and carry those of the one that does not."""
    ends, marks = np.flatnonzero(newline), np.flatnonzero(separator)
    before = np.searchsorted(marks, ends)
    if len(ends):
        each = np.diff(before, prepend=0)
        each[0] += tally.separators
        tally.fields = int(each[0]) if tally.fields is None else tally.fields
        tally.flag(Doubt.FIELDS, (each != tally.fields).any())
        tally.separators = 0
    tally.newlines += len(ends)
    tally.separators += len(marks) - (int(before[-1]) if len(ends) else 0)


def _conclude(path: Path, separator: str, head: bytes, tally: _Tally) -> TextFile:
    ended = tally.last == _NEWLINE
    tally.flag(Doubt.QUOTES, tally.inside_quotes)
    tally.flag(Doubt.LINE_ENDS, tally.last == _RETURN)
    lines = tally.newlines + (not ended)
    columns = () if Doubt.ENCODING in tally.wrong else _header(path, separator)
    if not ended and tally.fields is not None:
        tally.flag(Doubt.FIELDS, tally.separators != tally.fields)
    if {Doubt.QUOTES, Doubt.BLANK_LINE} & set(tally.wrong):
        tally.wrong.pop(Doubt.FIELDS, None)
    findings = [_finding(path, separator, doubt) for doubt in Doubt if doubt in tally.wrong]
    if head.startswith(_BOM):
        reason = f"{path.name} begins with a byte order mark, which was skipped"
        do = "Nothing, or save the file as UTF-8 without one."
        findings.append(Finding(doubt=Doubt.BYTE_ORDER_MARK, reason=reason, do=do, stops=False))
    return TextFile(path=path, columns=columns, records=lines - 1, ended=ended, findings=tuple(findings))


def _header(path: Path, separator: str) -> tuple[str, ...]:
    _, record = next(_records(path), (1, b""))
    try:
        return tuple(
            next(csv.reader(io.StringIO(record.decode("utf-8", "replace")), delimiter=separator), ())
        )
    except csv.Error:
        return ()


_REASONS: Final = {
    Doubt.ENCODING: "bytes that are not UTF-8 text",
    Doubt.BYTE_ORDER_MARK: "a byte order mark in the middle, as if files had been joined",
    Doubt.BLANK_LINE: "a blank line",
    Doubt.LINE_ENDS: "a carriage return that does not end a line",
    Doubt.QUOTES: "a quote where none can stand, or one that is never closed",
    Doubt.FIELDS: "a line with more or fewer fields than the header",
}
_DO: Final = {
    Doubt.EMPTY: "Export the file again, or leave it out.",
    Doubt.ENCODING: "Save the file as UTF-8.",
    Doubt.BYTE_ORDER_MARK: "Give the files separately, each with its own header.",
    Doubt.BLANK_LINE: "Delete blank lines, or export the file again.",
    Doubt.LINE_ENDS: "Save the file with ordinary line ends (LF or CRLF).",
    Doubt.QUOTES: "Export the file again with every quote inside a field doubled.",
    Doubt.FIELDS: "Export the file again; a short last line means that it was cut off.",
}


def _finding(path: Path, separator: str, doubt: Doubt) -> Finding:
    lines = [line for line, found in _offences(path, separator) if found is doubt][:3]
    first = tuple(Where(file=path.name, line=line) for line in lines)
    return Finding(doubt=doubt, reason=_REASONS[doubt], do=_DO[doubt], first=first)


def _records(path: Path) -> Iterator[tuple[int, bytes]]:
    """Each record with the line it begins on; slow, and used only once something is wrong."""
    began, parts, open_quote = 1, list[bytes](), False
    with path.open("rb") as stream:
        for number, raw in enumerate(stream, start=1):
            line = raw.removeprefix(_BOM) if number == 1 else raw
            began = began if parts else number
            parts.append(line)
            open_quote ^= line.count(b'"') % 2 == 1
            if not open_quote:
                yield began, b"".join(parts)
                parts = []
    if parts:
        yield began, b"".join(parts)


def _offences(path: Path, separator: str) -> Iterator[tuple[int, Doubt]]:
    """On which line each thing is wrong."""
    fields: int | None = None
    for began, record in _records(path):
        for number, line in enumerate(record.split(b"\n"), start=began):
            yield from ((number, doubt) for doubt in _offences_in(line))
        tally = _Tally(separator=ord(separator))
        bytes_ = np.frombuffer(record, dtype=np.uint8)
        _look_with_quotes(bytes_, bytes_ == _QUOTE, tally)
        if Doubt.QUOTES in tally.wrong or tally.inside_quotes:
            yield began, Doubt.QUOTES
        elif not record.strip(b"\r\n"):
            yield began, Doubt.BLANK_LINE
        else:
            width = tally.separators if tally.fields is None else tally.fields
            fields = width if fields is None else fields
            if width != fields:
                yield began, Doubt.FIELDS


def _offences_in(line: bytes) -> Iterator[Doubt]:
    if b"\x00" in line:
        yield Doubt.ENCODING
    elif not line.isascii():
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            yield Doubt.ENCODING
    if _BOM in line:
        yield Doubt.BYTE_ORDER_MARK
    if b"\r" in line.removesuffix(b"\r"):
        yield Doubt.LINE_ENDS


def lines_of(path: Path, records: list[int]) -> list[int]:
    """The lines on which the given records (numbered from 0, the header not counted) begin."""
    wanted = set(records)
    lines: dict[int, int] = {}
    for number, (began, _) in enumerate(_records(path), start=-1):
        if number in wanted:
            lines[number] = began
            if len(lines) == len(wanted):
                break
    return [lines[number] for number in records if number in lines]
