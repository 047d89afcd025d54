"""The Parquet footer: row groups, and columns of two legacy timestamp types that engines read as naive.

*INT96.* Spark writes it by default, in UTC; other writers use local time. Read with the declared zone of the
people, Spark's times would move by hours, and visits out of the window.

*TIMESTAMP_MILLIS and TIMESTAMP_MICROS* as converted types without a logical type: by the specification these
are instants in UTC.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

_INT96: Final = 3
_MOMENTS: Final = (9, 10)
_SCHEMA: Final = 2
_ROW_GROUPS: Final = 4
_ROWS: Final = 3
_TYPE: Final = 1
_NAME: Final = 4
_CHILDREN: Final = 5
_CONVERTED: Final = 6
_LOGICAL: Final = 10
_END: Final = 8
"""Bytes after the footer: its length and the file's mark."""
_BEGIN: Final = 4
"""Bytes before the first page: the file's mark."""
_BINARY, _LIST, _SET, _MAP, _STRUCT = range(8, 13)
_FIXED: Final = {1: 0, 2: 0, 3: 1, 7: 8}
"""Types of fixed length; a boolean is told by its type."""
_LONG: Final = 15
_MOST_ROWS: Final = 1 << 62
"""More than any file holds."""
Element = TypeVar("Element")
_Column = dict[int, Any]
"""One element of the schema, by the numbers of its fields."""


@dataclass(frozen=True, kw_only=True)
class LegacyTimes:
    """The INT96 columns, and those of a converted type that means UTC."""

    int96: frozenset[str]
    utc: frozenset[str]


def legacy_times(path: Path) -> LegacyTimes:
    """Which columns of a file have a legacy timestamp type."""
    columns = list(_outermost(_elements(path, _SCHEMA, CompactReader.column)))
    return LegacyTimes(
        int96=frozenset(one[_NAME] for one in columns if one.get(_TYPE) == _INT96),
        utc=frozenset(
            one[_NAME] for one in columns if one.get(_CONVERTED) in _MOMENTS and _LOGICAL not in one
        ),
    )


def only_footer(path: Path) -> bool:
    """Whether a file holds no page, whatever its footer says of rows."""
    with path.open("rb") as stream:
        end = stream.seek(-_END, 2)
        return end - int.from_bytes(stream.read(4), "little") == _BEGIN


def row_groups(path: Path) -> list[int]:
    """How many rows each row group has, as the footer claims; nothing where it claims what cannot be."""
    try:
        rows = _elements(path, _ROW_GROUPS, lambda footer: footer.number(_ROWS))
    except EOFError:
        # An engine may read a footer that this reader does not.
        return []
    return rows if min(rows, default=0) >= 0 and sum(rows) < _MOST_ROWS else []


def _elements(path: Path, wanted: int, read: Callable[[CompactReader], Element]) -> list[Element]:
    """The elements of a list that is a field of the footer; none where it is not there."""
    with path.open("rb") as stream:
        stream.seek(-_END, 2)
        length = int.from_bytes(stream.read(4), "little")
        stream.seek(-_END - length, 2)
        footer = CompactReader(stream.read(length))
    for number, kind in footer.fields():
        if number == wanted and kind == _LIST:
            return [read(footer) for _ in range(footer.size()[0])]
        footer.skip(kind)
    return []


def _outermost(columns: list[_Column]) -> Iterator[_Column]:
    """The top-level columns: the schema lists the root first, and each column before those nested in it."""
    inside = 0
    for column in columns[1:]:
        if not inside:
            yield column
        inside += column.get(_CHILDREN, 0) - bool(inside)


class CompactReader:
    """A reader of Thrift's compact protocol, as far as the footer needs it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 0

    def fields(self) -> Iterator[tuple[int, int]]:
        """The number and the type of each field; its value is for the caller to read."""
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            yield number, head & 15

    def column(self) -> _Column:
        """One column: its name, and the fields that tell its type; of others only that they are there."""
        said: _Column = {_NAME: ""}
        for number, kind in self.fields():
            if number in (_TYPE, _CHILDREN, _CONVERTED):
                said[number] = self._signed()
            elif number == _NAME:
                said[number] = self._take(self._whole()).decode("utf-8", "replace")
            else:
                said[number] = None
                self.skip(kind)
        return said

    def number(self, wanted: int) -> int:
        """The whole number in one field of a struct; 0 where it is not there."""
        found = 0
        for number, kind in self.fields():
            if number == wanted:
                found = self._signed()
            else:
                self.skip(kind)
        return found

    def size(self) -> tuple[int, int]:
        """How many elements a list has, and of which type."""
        head = self._byte()
        return (self._whole() if head >> 4 == _LONG else head >> 4), head & 15

    def skip(self, kind: int) -> None:
        """Pass over a value of the type."""
        if kind == _STRUCT:
            for _, inner in self.fields():
                self.skip(inner)
        elif kind in (_LIST, _SET):
            elements, inner = self.size()
            for _ in range(elements):
                self.skip(3 if inner in (1, 2) else inner)
        elif kind == _MAP:
            pairs = self._whole()
            kinds = self._byte() if pairs else 0
            for _ in range(pairs):
                self.skip(kinds >> 4)
                self.skip(kinds & 15)
        elif kind == _BINARY:
            self._take(self._whole())
        elif kind in _FIXED:
            self._take(_FIXED[kind])
        else:
            self._whole()

    def _byte(self) -> int:
        if self.position >= len(self._data):
            raise EOFError
        self.position += 1
        return self._data[self.position - 1]

    def _take(self, length: int) -> bytes:
        taken = self._data[self.position : self.position + length]
        if len(taken) < length:
            raise EOFError
        self.position += length
        return taken

    def _whole(self) -> int:
        number, shift = 0, 0
        while (byte := self._byte()) >= 128:
            number |= (byte & 127) << shift
            shift += 7
        return number | byte << shift

    def _signed(self) -> int:
        number = self._whole()
        return number >> 1 ^ -(number & 1)
