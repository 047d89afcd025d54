"""The footer of a Parquet file: which columns hold times of the old kind, 96 bits that know no zone.

Spark writes that kind unless told otherwise, always in UTC; others write what the clock on the wall shows.
A reader only sees times without a zone. Whoever then declares the zone of the people, as one does, moves
Spark's times by hours, and visits out of the window. So such columns must be known, and no engine tells.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

_INT96: Final = 3
_SCHEMA: Final = 2
_TYPE: Final = 1
_NAME: Final = 4
_END: Final = 8
"""Bytes after the footer: its length and the file's mark."""
_BINARY, _LIST, _SET, _MAP, _STRUCT = range(8, 13)
_FIXED: Final = {1: 0, 2: 0, 3: 1, 7: 8}
"""Types of fixed length; a boolean is told by its type."""
_LONG: Final = 15


def old_times(path: Path) -> frozenset[str]:
    """The columns whose values are 96 bits long."""
    with path.open("rb") as stream:
        stream.seek(-_END, 2)
        length = int.from_bytes(stream.read(4), "little")
        stream.seek(-_END - length, 2)
        footer = _Compact(stream.read(length))
    for number, kind in footer.fields():
        if number == _SCHEMA and kind == _LIST:
            columns = [footer.column() for _ in range(footer.size()[0])]
            return frozenset(name for name, physical in columns if physical == _INT96)
        footer.skip(kind)
    return frozenset()


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

    def column(self) -> tuple[str, int | None]:
        """One column's name, and its physical type where it has one."""
        name, physical = "", None
        for number, kind in self.fields():
            if number == _TYPE:
                physical = self._signed()
            elif number == _NAME:
                name = self._take(self._whole()).decode("utf-8", "replace")
            else:
                self.skip(kind)
        return name, physical

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
