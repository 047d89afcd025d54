"""A text file, byte by byte, before anything is parsed.

A parser that meets a stray quote, a cut-off line or a foreign byte may swallow rows and say nothing. So the
bytes are looked at first, in one pass at the speed of memory: the file must be UTF-8, its quotes must pair
up where quotes may stand, and every line must have as many fields as the header. Then the number of records
is known without any parser, and the one that follows must find exactly as many.

Two stray quotes may pair up too, one at the beginning of a field and one, rows later, at the end of another:
to every parser that is one long field, and the rows between are gone. It cannot be told from a field that
truly has line breaks in it. So a line break inside quotes stops the work until somebody who knows the number
of rows has declared it.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from safeside.progress import Progress
from safeside.visits.report import Doubt, Finding, Where

CHUNK: Final = 1 << 20
_BOM: Final = codecs.BOM_UTF8
_WIDE_BOMS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_PACKED: Final = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"BZh", b"\xfd7zXZ")
_NEWLINE: Final = 10
_RETURN: Final = 13
_QUOTE: Final = 34
SHOWN: Final = 3
"""How many lines are named of each thing that is wrong."""


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
    lines: int = 0
    """That have ended, in the file as an editor numbers them."""
    began: int = 1
    """The line on which the record began that has not ended yet."""
    broken: list[int] = field(default_factory=list)
    """The lines on which the first records began that have a line break inside quotes."""
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
    if tally.inside_quotes or b'"' in chunk or tally.last == _QUOTE:
        _look_with_quotes(bytes_, tally)
    else:
        joined = bytes([tally.before_last, tally.last]) + chunk
        ends = np.flatnonzero(bytes_ == _NEWLINE)
        _measure(ends, np.flatnonzero(bytes_ == tally.separator), tally)
        tally.lines += len(ends)
        tally.began = tally.lines + 1 if len(ends) else tally.began
        tally.flag(Doubt.BLANK_LINE, b"\n\n" in joined[1:] or b"\n\r\n" in joined)
        if b"\r" in chunk or tally.last == _RETURN:
            tally.flag(Doubt.LINE_ENDS, joined[1:-1].count(b"\r") != joined[1:].count(b"\r\n"))
    tally.before_last = int(bytes_[-2]) if len(bytes_) > 1 else tally.last
    tally.last = int(bytes_[-1])


def _look_with_quotes(bytes_: NDArray[np.uint8], tally: _Tally) -> None:
    """The same, where quotes decide what is text and what is structure."""
    quotes = bytes_ == _QUOTE
    carried = int(tally.inside_quotes)
    # For every byte that is no quote itself, whether it stands inside quotes.
    inside = (np.bitwise_xor.accumulate(quotes.view(np.uint8)) ^ carried).astype(np.bool_)
    padded = np.concatenate([np.array([tally.before_last, tally.last], dtype=np.uint8), bytes_])
    at = np.flatnonzero(quotes)
    opening, closing = at[carried::2], at[1 - carried :: 2]
    tally.flag(Doubt.QUOTES, ~np.isin(padded[opening + 1], (tally.separator, _NEWLINE, _QUOTE)).all())
    following = bytes_[closing[closing < len(bytes_) - 1] + 1]
    if tally.last == _QUOTE and not carried:
        following = np.append(following, bytes_[0])
    may_follow = (tally.separator, _NEWLINE, _RETURN, _QUOTE)
    tally.flag(Doubt.QUOTES, not np.isin(following, may_follow).all())
    newlines = np.flatnonzero(bytes_ == _NEWLINE)
    ends = newlines[~inside[newlines]]
    marks = np.flatnonzero(bytes_ == tally.separator)
    _measure(ends, marks[~inside[marks]], tally)
    before, two_before = padded[ends + 1], padded[ends]
    blank = (before == _NEWLINE) | ((before == _RETURN) & (two_before == _NEWLINE))
    tally.flag(Doubt.BLANK_LINE, blank.any())
    returns = np.flatnonzero(bytes_ == _RETURN)
    after_return = bytes_[returns[~inside[returns] & (returns < len(bytes_) - 1)] + 1]
    if tally.last == _RETURN and not carried:
        after_return = np.append(after_return, bytes_[0])
    tally.flag(Doubt.LINE_ENDS, (after_return != _NEWLINE).any())
    breaks = np.concatenate([newlines[inside[newlines]], returns[inside[returns]]])
    _note_breaks(breaks, newlines, ends, tally)
    tally.inside_quotes = bool(inside[-1])


def _note_breaks(
    breaks: NDArray[np.intp], newlines: NDArray[np.intp], ends: NDArray[np.intp], tally: _Tally
) -> None:
    """On which lines records begin that have line breaks inside quotes."""
    begins = np.concatenate([[tally.began], tally.lines + 2 + np.searchsorted(newlines, ends)])
    if len(breaks):
        tally.flag(Doubt.LINE_BREAK, found=True)
        lines = {*tally.broken, *begins[np.searchsorted(ends, breaks)].tolist()}
        tally.broken = sorted(lines)[:SHOWN]
    tally.began = int(begins[-1])
    tally.lines += len(newlines)


def _measure(ends: NDArray[np.intp], marks: NDArray[np.intp], tally: _Tally) -> None:
    """Count the fields of every line that ends here, and carry those of the one that does not."""
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
    if Doubt.QUOTES in tally.wrong:
        tally.wrong.pop(Doubt.LINE_BREAK, None)
    findings = _findings(path, separator, tally)
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
    Doubt.LINE_BREAK: "a line break inside quotes, where a stray quote may have swallowed rows",
    Doubt.FIELDS: "a line with more or fewer fields than the header",
}
_DO: Final = {
    Doubt.EMPTY: "Export the file again, or leave it out.",
    Doubt.ENCODING: "Save the file as UTF-8.",
    Doubt.BYTE_ORDER_MARK: "Give the files separately, each with its own header.",
    Doubt.BLANK_LINE: "Delete blank lines, or export the file again.",
    Doubt.LINE_ENDS: "Save the file with ordinary line ends (LF or CRLF).",
    Doubt.QUOTES: "Export the file again with every quote inside a field doubled.",
    Doubt.LINE_BREAK: "Take the line breaks out of the fields; or, if they belong there, declare how many"
    " rows there are in all files, from where they were exported (--expect-rows).",
    Doubt.FIELDS: "Export the file again; a short last line means that it was cut off.",
}


def _findings(path: Path, separator: str, tally: _Tally) -> list[Finding]:
    lines = _first_lines(path, separator, set(tally.wrong) - {Doubt.LINE_BREAK})
    lines[Doubt.LINE_BREAK] = tally.broken
    return [
        Finding(
            doubt=doubt,
            reason=_REASONS[doubt],
            do=_DO[doubt],
            first=tuple(Where(file=path.name, line=line) for line in lines[doubt]),
        )
        for doubt in Doubt
        if doubt in tally.wrong
    ]


def _first_lines(path: Path, separator: str, doubts: Collection[Doubt]) -> dict[Doubt, list[int]]:
    """Where each thing is wrong first; slow, and used only once something is."""
    lines: dict[Doubt, list[int]] = {doubt: [] for doubt in doubts}
    missing = set(doubts)
    for line, doubt in _offences(path, separator) if missing else ():
        if doubt in missing:
            lines[doubt].append(line)
            if len(lines[doubt]) == SHOWN:
                missing.remove(doubt)
        if not missing:
            break
    return lines


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
        _look_with_quotes(np.frombuffer(record, dtype=np.uint8), tally)
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
