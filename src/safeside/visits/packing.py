"""Distinct pairs of whole numbers, counted by sorting: each pair in one number, equal neighbours left out.

Engines count distinct values within groups by hashing: some 100 ns a row, and a set in memory for each group.
Sorting whole numbers takes a third of the time and half the memory, and the places of one person stand side
by side. Whatever does not fit into one number, and whatever is doubtful, is left to the general plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from safeside.progress import Progress
from safeside.visits.engines import collect
from safeside.visits.places import Places
from safeside.visits.sources import Frame, Source

_BITS: Final = 63
_MOST_PLACE_BITS: Final = 20
"""Larger numbers of places are left to the general plan: there is a counter for every number below."""
_SMALL: Final = 1 << 24
_LOOK: Final = 1000
_PARTS: Final = 8
_SOME: Final = 1000
_BLOCK: Final = 1 << 18
"""Keys looked at in one go, so that counting takes little memory beside them."""


@dataclass(frozen=True, kw_only=True)
class PairCounts:
    """People per place, as columns `place` and `people`, and the most places of one person where asked."""

    by_place: pl.DataFrame
    most_places: int | None


def count_packed(
    source: Source, pairs: Frame, places: Places, *, per_person: bool, progress: Progress
) -> PairCounts | None:
    """Count distinct pairs of `person` and `place`; None where that is for the general plan."""
    native = pairs.to_native()
    if not isinstance(native, pl.LazyFrame):
        return None
    types = pairs.collect_schema()
    if not all(kind.is_integer() for kind in types.dtypes()):
        return None
    bits = _place_bits(places)
    if bits is None:
        return None
    key = _key(bits, types)
    if (source.rows or 0) > _SMALL:
        # A first look, so that identifiers which never fit do not cost a whole reading of many rows.
        look = source.frame.to_native().head(_LOOK).select(key).collect(engine="streaming")
        if look["key"].null_count():
            return None
    (found,) = collect([nw.from_native(native.select(key))], progress, "Counting people")
    keys = found.drop_in_place("key")
    return None if keys.null_count() else count_keys(keys, bits, per_person=per_person)


def _place_bits(places: Places) -> int | None:
    """How many bits the listed places need, and one more for those that are not listed."""
    largest = places.column.cast(pl.Int64, strict=False).max()
    bits = largest.bit_length() + 1 if isinstance(largest, int) and largest >= 0 else None
    return bits if bits is not None and bits <= _MOST_PLACE_BITS else None


def _key(bits: int, types: nw.Schema) -> pl.Expr:
    """Person and place in one number; missing where either is missing or out of range."""
    person, place = (
        pl.col(name) if types[name] == nw.Int64 else pl.col(name).cast(pl.Int64, strict=False)
        for name in ("person", "place")
    )
    fits = (person >= 0) & (person < 1 << (_BITS - bits)) & (place >= 0) & (place < 1 << bits)
    return pl.when(fits).then(person * (1 << bits) + place).alias("key")


def count_keys(keys: pl.Series, bits: int, *, per_person: bool) -> PairCounts:
    """People per place, from a key for each row; in parts, so that never all of the keys are there twice."""
    counts, most = np.zeros(1 << bits, dtype=np.int64), 0
    for low, high in pairwise([None, *_cuts(keys, bits), None]):
        most = max(most, _count_part(_between(keys, low, high), bits, counts, per_person=per_person))
    visited = np.flatnonzero(counts)
    return PairCounts(
        by_place=pl.DataFrame({"place": visited, "people": counts[visited]}),
        most_places=most if per_person else None,
    )


def _cuts(keys: pl.Series, bits: int) -> list[int]:
    """Where to cut the keys into parts of about the same size, each with whole people."""
    some = keys.gather_every(max(1, len(keys) // _SOME)).sort()
    firsts = (some[len(some) * part // _PARTS] for part in range(1, _PARTS)) if len(some) else ()
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
