"""Findings: what is wrong with the visits or worth knowing; counts and row numbers, never values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from safeside.errors import BadFile


class Doubt(StrEnum):
    """The kinds of findings."""

    EMPTY = "empty file"
    NO_ROWS = "no rows"
    BYTE_ORDER_MARK = "byte order mark"
    ENCODING = "encoding"
    CUT_OFF = "cut off"
    BLANK_LINE = "blank line"
    LINE_ENDS = "line ends"
    QUOTES = "quotes"
    LINE_BREAK = "line break in quotes"
    FIELDS = "fields in a line"
    UNREADABLE = "unreadable file"
    UNUSED_COLUMNS = "columns not used"
    MISSING = "missing value"
    TIME = "unreadable time"
    NAIVE = "time without a zone"
    IMPLAUSIBLE = "implausible time"
    SKIPPED = "time the clock skipped"
    REVERSED = "ends before it starts"
    COORDINATE = "unreadable coordinate"
    RANGE = "coordinate out of range"
    SWAPPED = "swapped coordinates"
    ORIGIN = "coordinate 0, 0"
    STATE = "unknown state"
    ROUNDED_ID = "rounded identifier"
    NOT_AN_ID = "word for missing"
    MIXED_ZEROS = "mixed leading zeros"
    UNKNOWN_PLACE = "unknown place"
    UNKNOWN_GROUP = "unknown group"
    OTHER_VALUE = "value outside its domain"
    TWICE = "person twice"
    TWO_GROUPS = "two groups"
    OTHER_SIZE = "other size than listed"
    LEFT_OUT = "left out"
    TWO_PLACES = "two places at once"
    TOO_MANY_PLACES = "too many places"
    NOBODY = "nobody in the window"
    COVERAGE = "window not covered"
    ROWS = "rows"
    PEOPLE = "people"


LEGIBLE: Final = (Doubt.CUT_OFF, Doubt.NO_ROWS, Doubt.LINE_BREAK)
"""Findings that stop a count, although the rows of the file can be parsed: some may be lost, which is settled
where their number is as declared.
"""


@dataclass(frozen=True, kw_only=True)
class RowLocation:
    """A row: its file, and the line it begins on (text files) or its number (tables), both from 1."""

    file: str
    line: int
    unit: str = "line"

    def __str__(self) -> str:
        return f"{self.file} {self.unit} {self.line}".lstrip()


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One kind of doubt in one column: how many rows, the first of them, the reason, and what to do."""

    doubt: Doubt
    reason: str
    do: str
    column: str = ""
    rows: int = 0
    first: tuple[RowLocation, ...] = ()
    stops: bool = True

    def sentence(self) -> str:
        """One line for a person."""
        column = f"column {self.column}: " if self.column else ""
        rows = f" ({amount(self.rows, 'row', 'rows')})" if self.rows else ""
        first = f"; first at {', '.join(map(str, self.first))}" if self.first else ""
        return f"{column}{self.reason}{rows}{first}."


def stop_on(findings: Iterable[Finding], error: type[BadFile] = BadFile) -> None:
    """Raise one error that lists everything found, if anything of it stops the work."""
    wrong = [(finding.sentence(), finding.do) for finding in findings if finding.stops]
    raise_all(wrong, "", "People cannot be counted for certain", error)


def raise_all(wrong: list[tuple[str, str]], alone: str, several: str, error: type[BadFile] = BadFile) -> None:
    """Raise what is wrong, and what to do, as one error; said of a single thing and of several."""
    if len(wrong) == 1:
        what = f"{alone}{wrong[0][0]}"
        raise error(what[:1].upper() + what[1:], wrong[0][1])
    if wrong:
        listed = "\n".join(f"  - {what}" for what, _ in wrong)
        advice = "\n".join(f"  - {do}" for do in dict.fromkeys(do for _, do in wrong))
        raise error(f"{several}:\n{listed}", f"\n{advice}")


def article(noun: str) -> str:
    """A time, an end."""
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


def amount(number: int, one: str, many: str) -> str:
    """1 row, 2 rows."""
    return f"{number:,} {one if number == 1 else many}"
