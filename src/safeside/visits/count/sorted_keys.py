"""People and places packed into 63-bit keys, counted by sorting.

A key is made of the person, the place, and the first and the last window of the visit: a visit that touches
many windows is one key, and those of one person to one place are adjacent, in the order of time. Of each,
only windows beyond the last one so far are new; they are noted as one step up and one step down, and the sums
of the steps are the counts. With one window that is the number of distinct pairs.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from safeside.visits.count.spans import SPAN

BITS: Final = 63
_MOST_CELLS_A_THREAD: Final = 1 << 20
"""Where there are more places and windows, one thread counts: each needs a counter of its own for them."""
_NONE: Final = np.empty(0, np.int64)


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """Sizes that change time and memory, and never a count."""

    pack: bool = True
    batch: int = 1 << 15
    """Keys in a batch: few enough that intermediate arrays stay in the cache."""
    sample: int = 1000
    """Keys from which cut points are taken."""
    peek_above: int = 1 << 24
    """Rows above which integers are peeked at before a scan; text always is."""
    hash_bits: int = BITS


USUAL: Final = Tuning()


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The bits of a key, from the high ones down: person, place, first window, last window."""

    place: int
    """Bits of the number of a place."""
    windows: int = 1

    @property
    def window(self) -> int:
        """Bits of the number of a window."""
        return (self.windows - 1).bit_length()

    @property
    def span(self) -> int:
        """Bits below person and place."""
        return 2 * self.window

    @property
    def rest(self) -> int:
        """Bits below the person."""
        return self.place + self.span

    @property
    def person(self) -> int:
        """Bits of the number of a person."""
        return BITS - self.rest

    def key(self) -> pl.Expr:
        """The key of a row; null where a number does not fit."""
        number, place = pl.col("number"), pl.col("place")
        fits = (number >= 0) & (number < 1 << self.person) & (place >= 0) & (place < 1 << self.place)
        key = number * (1 << self.place) + place
        for name in SPAN if self.windows > 1 else ():
            fits = fits & (pl.col(name) >= 0) & (pl.col(name) < self.windows)
            key = key * (1 << self.window) + pl.col(name)
        return pl.when(fits).then(key).alias("key")


@dataclass(kw_only=True)
class Counted:
    """What sorted keys say."""

    steps: NDArray[np.signedinteger]
    """People in each window (rows) for each place number (columns)."""
    most: int = 0
    """The most places of one person, each once for every window."""
    again: NDArray[np.int64]
    """The leading bits that more than one key has, each value once."""


def count_keys(
    keys: pl.Series,
    layout: Layout,
    *,
    per_person: bool,
    parts: int,
    shared: int | None = None,
    tuning: Tuning = USUAL,
) -> Counted:
    """Count the keys; `most` where `per_person` asks for it, `again` where `shared` says how many last bits
    do not matter.

    In several parts the sorted copy of the keys is smaller, and several threads count at once.
    """
    fits = len(keys) <= np.iinfo(np.int32).max  # as many people there are at most
    bounds = list(pairwise([None, *_cuts(keys, layout.rest, parts, tuning.sample), None]))
    threads = pl.thread_pool_size() if layout.windows << layout.place <= _MOST_CELLS_A_THREAD else 1

    def count(thread: int) -> Counted:
        steps = np.zeros((layout.windows, 1 << layout.place), dtype=np.int32 if fits else np.int64)
        found, again = Counted(steps=steps, again=_NONE), [_NONE]
        for low, high in bounds[thread::threads]:
            ordered = _between(keys, low, high).sort(multithreaded=False).to_numpy()
            most = _count_part(ordered, layout, steps, per_person=per_person, batch=tuning.batch)
            found.most = max(found.most, most)
            if shared is not None:
                again.append(_again(ordered >> shared))
        found.again = np.concatenate(again)
        return found

    with ThreadPoolExecutor(threads) as pool:
        counted, *others = pool.map(count, range(threads))
    for other in others:
        counted.steps += other.steps
        counted.most = max(counted.most, other.most)
    # No part divides a person, so none shares anything with another.
    counted.again = np.concatenate([counted.again, *(other.again for other in others)])
    for window in range(1, layout.windows):
        counted.steps[window] += counted.steps[window - 1]
    return counted


def _again(ordered: NDArray[np.int64]) -> NDArray[np.int64]:
    """Every number that stands several times among these, once."""
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    first = np.ones(repeated.size, np.bool_)
    np.not_equal(repeated[1:], repeated[:-1], out=first[1:])
    once: NDArray[np.int64] = repeated[first]
    return once


def _cuts(keys: pl.Series, bits: int, parts: int, sample: int) -> list[int]:
    """Cut points for parts of about the same size that do not divide a person."""
    some = keys.gather_every(max(1, len(keys) // sample)).sort()
    firsts = (some[len(some) * part // parts] for part in range(1, parts)) if len(some) else ()
    return sorted({first >> bits << bits for first in firsts})


def _between(keys: pl.Series, low: int | None, high: int | None) -> pl.Series:
    if low is None:
        return keys if high is None else keys.filter(keys < high)
    return keys.filter(keys >= low if high is None else (keys >= low) & (keys < high))


def _count_part(
    ordered: NDArray[np.int64],
    layout: Layout,
    steps: NDArray[np.signedinteger],
    *,
    per_person: bool,
    batch: int,
) -> int:
    """Add the steps of a part, batch by batch; the most places of one person in it, where asked."""
    flat, one = steps.reshape(-1), steps.dtype.type(1)  # of one type: anything else is slow
    most, run, last, reached = 0, 0, -1, -1
    for begin in range(0, len(ordered), batch):
        starts, ends, reached = _fresh(ordered[begin : begin + batch], layout.window, reached)
        np.add.at(flat, _cells(starts, layout), one)
        if layout.windows > 1:
            after = _cells(ends, layout) + (1 << layout.place)
            np.subtract.at(flat, after[after < flat.size], one)
        if per_person and len(starts):
            people = starts >> layout.place + layout.window
            longest, run = _runs(people, ends - starts + 1, last, run)
            last = int(people[-1])
            most = max(most, longest)
    return most


def _cells(numbers: NDArray[np.int64], layout: Layout) -> NDArray[np.int64]:
    """Where the place and window of a number stand among all windows of all places."""
    place = numbers >> layout.window & (1 << layout.place) - 1
    return (numbers & (1 << layout.window) - 1) << layout.place | place if layout.window else place


def _fresh(
    block: NDArray[np.int64], bits: int, reached: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Where the windows begin and end that sorted keys add to those before, and how far all of them reach.

    A person at a place in a window is one number here, and the windows of a pair are consecutive. Pairs
    ascend: what is reached by a lower pair lies below every window of this one.
    """
    starts = block >> bits
    ends = block >> 2 * bits << bits | block & (1 << bits) - 1 if bits else block
    before = np.empty_like(ends)
    before[0] = reached
    np.maximum.accumulate(ends[:-1], out=before[1:])
    np.maximum(before, reached, out=before)
    np.maximum(starts, before + 1, out=starts)
    fresh = starts <= ends
    return starts[fresh], ends[fresh], max(int(before[-1]), int(ends[-1]))


def _runs(people: NDArray[np.int64], sizes: NDArray[np.int64], before: int, run: int) -> tuple[int, int]:
    """The largest sum of one person's sizes, and the last person's, continued from `before` and `run`."""
    if not len(people):
        return run, run
    starts = np.flatnonzero(people[1:] != people[:-1]) + 1
    sums = np.add.reduceat(sizes, np.append([0], starts))
    sums[0] += run if people[0] == before else 0
    return int(sums.max()), int(sums[-1])
