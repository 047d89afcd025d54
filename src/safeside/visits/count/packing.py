"""Distinct pairs of whole numbers, counted by sorting: each pair in one number, equal neighbours left out.

Engines count distinct values within groups by hashing: some 100 ns a row, and a set in memory for each group.
Sorting whole numbers takes a third of the time and half the memory, and the places of one person stand side
by side. Numbers that are written as text are counted as the numbers they are. For a person called by other
text stands a hash, and where rows share one their text is compared. If two people share it, or something does
not fit into one number, or is doubtful, all is left to the general plan: no count ever rests on a hash.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from safeside.visits.count.unlisted import Unlisted
from safeside.visits.places.places import Places
from safeside.visits.read.dataframes import Frame
from safeside.visits.read.roles import TimeForm
from safeside.visits.read.source import Source

_BITS: Final = 63
_MOST_PLACE_BITS: Final = 20
"""Larger numbers of places are left to the general plan: there is a counter for every number below."""
_SMALL: Final = 1 << 24
_LOOK: Final = 1000
_PARTS: Final = 8
_SOME: Final = 1000
_BLOCK: Final = 1 << 15
"""Keys looked at in one go: so few that what is made of them stays in the cache, in memory already used."""


_WRITTEN: Final = re.compile(r"((?:[A-Za-z].*?)?)([0-9]{1,18})")
"""What stands before the number begins with a letter, so that the whole is neither a number in scientific
notation nor a word for a missing value.
"""


@dataclass(frozen=True, kw_only=True)
class NumberText:
    """One way of writing whole numbers: all with the same words before, all with the same number of digits or
    all without zeros in front.
    """

    prefix: str
    width: int | None
    """How many digits each has; None where none has zeros in front."""

    @property
    def plain(self) -> bool:
        """Whether numbers are written as Python and every engine writes them."""
        return not self.prefix and self.width in (None, 1)

    def number(self, text: pl.Expr) -> pl.Expr:
        """The number; missing where a text is written in any other way."""
        # In the order of bytes a digit follows the prefix between these two, and only there.
        first = "1" if self.width is None else "0"
        alike = (text >= f"{self.prefix}{first}") & (text < f"{self.prefix}:")
        if self.width is None:
            alike = alike | (text == f"{self.prefix}0")
        else:
            alike = alike & (text.str.len_bytes() == len(self.prefix.encode()) + self.width)
        digits = text.str.slice(len(self.prefix)) if self.prefix else text
        # Where a digit comes first, Polars reads nothing but digits as a whole number.
        return pl.when(alike).then(digits.cast(pl.Int64, strict=False))

    def text(self, number: int) -> str:
        """What is written for a number."""
        return f"{self.prefix}{number:0{self.width or 1}}"


def number_text(texts: pl.Series) -> tuple[NumberText, NDArray[np.int64]] | None:
    """How these are written, and their numbers; None unless all of them are written in one such way."""
    found = _WRITTEN.fullmatch(texts[0] or "") if len(texts) else None
    if found is None:
        return None
    prefix, digits = found.groups()
    padded = texts.str.starts_with(f"{prefix}0") & (texts != f"{prefix}0")
    spelling = NumberText(prefix=prefix, width=len(digits) if padded.any() else None)
    numbers = texts.to_frame("text").select(spelling.number(pl.col("text")).alias("number"))["number"]
    return None if numbers.null_count() else (spelling, numbers.to_numpy())


@dataclass(frozen=True, kw_only=True)
class Packing:
    """How a person and a place go into one number: the place into its last bits."""

    keys: pl.LazyFrame
    """That number for each row, called `key`; missing where either is missing or does not fit. With `person`
    beside it where a hash stands for the person.
    """
    hashed: bool
    bits: int
    spelling: NumberText
    listed: NDArray[np.int64]
    """The numbers of the listed places."""

    def count(
        self, keys: pl.Series, *, per_person: bool, sparing: bool
    ) -> tuple[NDArray[np.int64], list[str], int]:
        """People at each listed place, visited places that are not listed, and the most places of one person
        where asked; from a key for each row, none missing. `sparing` takes less memory, and more time.
        """
        counts, most = count_keys(keys, self.bits, per_person=per_person, parts=_PARTS if sparing else 1)
        values = counts[self.listed]
        counts[self.listed] = 0
        return values, [self.spelling.text(number) for number in np.flatnonzero(counts).tolist()], most

    def hashes_are_distinct(self, keys: pl.Series, people: pl.Series, *, everywhere: bool) -> bool:
        """Whether no two people have the same hash, at one place or, if asked, at any two.

        Only text of rows that share a key, or a hash, has to be compared: mostly few.
        """
        shared = keys // (1 << self.bits) if everywhere else keys
        ordered = shared.sort().to_numpy()
        again = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
        alike = pl.DataFrame({"shared": shared, "person": people}).lazy()
        alike = alike.filter(pl.col("shared").is_in(pl.Series(again).implode()))
        return bool(alike.unique().select(pl.len()).collect(engine="streaming").item() == len(again))

    def unlisted(self, keys: pl.Series) -> Unlisted:
        """How much of the rows is at places that are not listed."""
        others = np.ones(1 << self.bits, dtype=np.bool_)
        others[self.listed] = False
        whole = keys.to_numpy()
        rows, people = 0, list[NDArray[np.int64]]()
        for begin in range(0, len(whole), _BLOCK):
            block = whole[begin : begin + _BLOCK]
            there = block[others[block & ((1 << self.bits) - 1)]] >> self.bits
            rows += len(there)
            people.append(np.unique(there))
        return Unlisted(
            of_rows=len(whole), rows=rows, people=len(np.unique(np.concatenate(people))) if people else 0
        )


def pack(source: Source, pairs: Frame, places: Places) -> Packing | None:
    """How to pack pairs of `person` and `place`; None where they are for the general plan."""
    native = pairs.to_native()
    if not isinstance(native, pl.LazyFrame):
        return None
    types = pairs.collect_schema()
    targets = number_text(places.column)
    if targets is None or not (types["place"] == nw.String or targets[0].plain):
        return None
    spelling, listed = targets
    bits = int(listed.max()).bit_length() + 1  # one more for places that are not listed
    if bits > _MOST_PLACE_BITS:
        return None
    first = native if source.engine != "polars" else source.frame.to_native()
    look = types["person"] == nw.String or (source.rows or 0) > _SMALL
    who = _person(types["person"], first if look else None, 1 << (_BITS - bits))
    where = _number("place", types["place"], spelling)
    # Sightings have many rows for one pair, which are better brought down to one while they are read.
    hashed = who is None and types["person"] == nw.String and source.roles.when is TimeForm.STAYS
    if hashed:
        who = _hash(bits)
    if who is None or where is None:
        return None
    number, place = pl.col("number"), pl.col("place")
    fits = (number >= 0) & (number < 1 << (_BITS - bits)) & (place >= 0) & (place < 1 << bits)
    key = pl.when(fits).then(number * (1 << bits) + place).alias("key")
    names = ["person"] if hashed else []
    keys = native.select(who.alias("number"), where, *names).select(key, *names)
    return Packing(keys=keys, hashed=hashed, bits=bits, spelling=spelling, listed=listed)


def _person(dtype: nw.dtypes.DType, rows: pl.LazyFrame | None, end: int) -> pl.Expr | None:
    """The person as a number; None where a first look shows that some are none, or none below the end.

    The look spares a whole reading of many rows where identifiers never fit.
    """
    if rows is None:
        return _number("person", dtype, None)
    some = rows.select("person").head(_LOOK).collect(engine="streaming")
    found = number_text(some["person"]) if dtype == nw.String else None
    person = _number("person", dtype, None if found is None else found[0])
    if (
        person is None
        or not some.select(((person >= 0) & (person < end)).fill_null(value=False).all()).item()
    ):
        return None
    return person


def _hash(bits: int) -> pl.Expr:
    """Of a person's text, as long as the bits of a place leave room for."""
    return (pl.col("person").hash() // (1 << (64 - _BITS + bits))).cast(pl.Int64)


def _number(name: str, dtype: nw.dtypes.DType, spelling: NumberText | None) -> pl.Expr | None:
    column = pl.col(name)
    if dtype == nw.String:
        return None if spelling is None else spelling.number(column).alias(name)
    if not dtype.is_integer():
        return None
    return column if dtype == nw.Int64 else column.cast(pl.Int64, strict=False)


def count_keys(keys: pl.Series, bits: int, *, per_person: bool, parts: int) -> tuple[NDArray[np.int64], int]:
    """People for each number of a place, and the most places of one person where asked.

    With several parts, never all of the keys are there twice.
    """
    counts, most = np.zeros(1 << bits, dtype=np.int64), 0
    for low, high in pairwise([None, *_cuts(keys, bits, parts), None]):
        most = max(most, _count_part(_between(keys, low, high), bits, counts, per_person=per_person))
    return counts, most


def _cuts(keys: pl.Series, bits: int, parts: int) -> list[int]:
    """Where to cut the keys into parts of about the same size, each with whole people."""
    some = keys.gather_every(max(1, len(keys) // _SOME)).sort()
    firsts = (some[len(some) * part // parts] for part in range(1, parts)) if len(some) else ()
    return sorted({first >> bits << bits for first in firsts})


def _between(keys: pl.Series, low: int | None, high: int | None) -> pl.Series:
    if low is None:
        return keys if high is None else keys.filter(keys < high)
    return keys.filter(keys >= low if high is None else (keys >= low) & (keys < high))


def _count_part(part: pl.Series, bits: int, counts: NDArray[np.int64], *, per_person: bool) -> int:
    """Add the people of a part to the counts of their places; the most places of one of them, where asked.

    Looked at in blocks, so that it takes little memory beside the part itself.
    """
    ordered = part.sort().to_numpy()
    del part
    last, most, run = -1, 0, 0
    for begin in range(0, len(ordered), _BLOCK):
        block = ordered[begin : begin + _BLOCK]
        fresh = np.empty(len(block), dtype=np.bool_)
        fresh[0] = block[0] != last
        np.not_equal(block[1:], block[:-1], out=fresh[1:])
        distinct = block[fresh]
        np.add.at(counts, distinct & ((1 << bits) - 1), 1)
        if per_person:
            longest, run = _runs(distinct >> bits, last >> bits, run)
            most = max(most, longest)
        last = int(block[-1])
    return most


def _runs(people: NDArray[np.int64], before: int, run: int) -> tuple[int, int]:
    """How often one person comes in a row at most, and how often the last one does so far.

    `before` is the person the rows before ended with, and `run` how often.
    """
    if not len(people):
        return run, run
    starts = np.flatnonzero(people[1:] != people[:-1]) + 1
    lengths = np.diff(starts, prepend=0, append=len(people))
    lengths[0] += run if people[0] == before else 0
    return int(lengths.max()), int(lengths[-1])
