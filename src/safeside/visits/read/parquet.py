"""The footer of a Parquet file: which columns hold times of the two old kinds, whose zone no engine tells.

*96 bits.* Spark writes them unless told otherwise, always in UTC; others write what the clock on the wall
shows. A reader only sees times without a zone. Whoever then declares the zone of the people, as one does,
moves Spark's times by hours, and visits out of the window.

*TIMESTAMP_MILLIS and TIMESTAMP_MICROS*, without the logical type that newer files have beside it: by the
format's own definition these are moments of UTC, and readers take them for times without a zone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

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
_BINARY, _LIST, _SET, _MAP, _STRUCT = range(8, 13)
_FIXED: Final = {1: 0, 2: 0, 3: 1, 7: 8}
"""Types of fixed length; a boolean is told by its type."""
_LONG: Final = 15


@dataclass(frozen=True, kw_only=True)
class _Column:
    """What the footer says of one column, or of one that has others in it."""

    name: str
    children: int
    old: bool
    utc: bool


@dataclass(frozen=True, kw_only=True)
class LegacyTimes:
    """The columns whose values are 96 bits long, and those that are moments of UTC without saying so."""

    int96: frozenset[str]
    utc: frozenset[str]


def legacy_times(path: Path) -> LegacyTimes:
    """Which columns of a file hold times of an old kind."""
    columns = _columns(path)
    return LegacyTimes(
        int96=frozenset(column.name for column in columns if column.old),
        utc=frozenset(column.name for column in columns if column.utc),
    )


def row_groups(path: Path) -> list[int]:
    """How many rows each row group has, by the footer's word."""
    footer = _footer(path)
    for number, kind in footer.fields():
        if number == _ROW_GROUPS and kind == _LIST:
            return [footer.number(_ROWS) for _ in range(footer.size()[0])]
        footer.skip(kind)
    return []


def _footer(path: Path) -> _Compact:
    with path.open("rb") as stream:
        stream.seek(-_END, 2)
        length = int.from_bytes(stream.read(4), "little")
        stream.seek(-_END - length, 2)
        return _Compact(stream.read(length))


def _columns(path: Path) -> list[_Column]:
    footer = _footer(path)
    for number, kind in footer.fields():
        if number == _SCHEMA and kind == _LIST:
            return list(_outermost([footer.column() for _ in range(footer.size()[0])]))
        footer.skip(kind)
    return []


def _outermost(columns: list[_Column]) -> Iterator[_Column]:
    """The columns that stand in no other: each is followed by those in it, the table itself first of all."""
    inside = 0
    for column in columns[1:]:
        if not inside:
            yield column
        inside += column.children - bool(inside)


class _Compact:
    """Thrift's compact protocol, as much of it as leads to the names and types of columns."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def fields(self) -> Iterator[tuple[int, int]]:
        """The number and the type of each field; its value is for the caller to read."""
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            yield number, head & 15

    def column(self) -> _Column:
        """One column."""
        name, said = "", dict[int, int]()
        for number, kind in self.fields():
            if number in (_TYPE, _CHILDREN, _CONVERTED):
                said[number] = self._signed()
            elif number == _NAME:
                name = self._take(self._whole()).decode("utf-8", "replace")
            else:
                said[number] = kind
                self.skip(kind)
        return _Column(
            name=name,
            children=said.get(_CHILDREN, 0),
            old=said.get(_TYPE) == _INT96,
            utc=said.get(_CONVERTED) in _MOMENTS and _LOGICAL not in said,
        )

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
        return self._take(1)[0]

    def _take(self, length: int) -> bytes:
        taken = self._data[self._at : self._at + length]
        if len(taken) < length:
            raise EOFError
        self._at += length
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
