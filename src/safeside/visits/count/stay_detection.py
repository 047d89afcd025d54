"""Stay detection: only ever with an answer that reads "stays of at least M minutes".

A stay is a run of a person's fixes, one after the other, of which any two are at most so many metres apart
and between which there is no silence longer than was declared. It lasts until the next fix elsewhere, or to
its own last fix where silence follows. Fixes of no stay that is long enough are left out, and that is the
whole of the exclusion: a stay counts at every place any of its fixes may have been at, for its whole length.

Of fixes at one moment nobody knows which came first, and an answer must not depend on the order of rows. So
they are taken together: a moment is near another if any of its fixes is, and belongs to a run with all of
them. That holds whatever runs any order of them would give, and where they differ it counts more.

Two things follow from "any two", which a rule that measures from the first fix does not have:

- *A part of a run is a run.* So it is enough to look at fixes up to M minutes and one silence before and
  after the window: of a stay that begins earlier and touches the window, the part that is seen is still at
  least M minutes long. No stay is cut before its length is tested, and no fix further away is ever read.
- *Dropping all fixes of one day only takes stays away*, or shortens them: what is left on either side was a
  run before, because no silence that belongs to a stay is as long as a day.
"""

from __future__ import annotations

import math
from datetime import timedelta

import numpy as np
import polars as pl
from numpy.typing import NDArray

from safeside.errors import BadQuestion
from safeside.visits.places.coordinates import SMALLEST_RADIUS, on_sphere
from safeside.visits.read.format import StayRule

Whole = NDArray[np.int64]


def detect_stays(fixes: pl.DataFrame, rule: StayRule) -> pl.DataFrame:
    """Fixes (person, time, latitude, longitude, accuracy if there is one), once for each stay they are part
    of, with its start and end.
    """
    if not isinstance(fixes.schema["time"], pl.Datetime) or fixes.schema["time"].time_zone is None:
        raise BadQuestion(
            "Stay detection needs times with a zone.", "Convert the time column to zoned timestamps first."
        )
    table = fixes.sort("person", "time")
    every = table["time"].dt.epoch("us").to_numpy()
    someone = (table["person"] != table["person"].shift(1)).fill_null(value=True).to_numpy()
    begins = np.flatnonzero(someone | (np.diff(every, prepend=every[:1]) > 0))
    # Where the fixes of each moment begin; then also where those of the last one end.
    time, begins = every[begins], np.append(begins, len(every))
    alone = someone[begins[:-1]] | (np.diff(time, prepend=time[:1]) > _micros(rule.silence))
    points = on_sphere(table["latitude"].to_numpy(), table["longitude"].to_numpy())
    first, last = _runs(points, begins, alone, rule.metres)
    # The next moment of the same person, unless there is none or it comes after too long a silence.
    follows = np.append(~alone, [False])[last + 1]
    end = np.where(follows, np.append(time, [0])[last + 1], time[last])
    long = end - time[first] >= _micros(timedelta(minutes=rule.minutes))
    first, last, end, follows = first[long], last[long], end[long], follows[long]
    size = begins[last + 1] - begins[first]
    within = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
    rows: pl.DataFrame = table[np.repeat(begins[first], size) + within].drop("time")
    # At its own last fix the person was still there: such a stay is given a microsecond more.
    over = end + ~follows
    return rows.with_columns(
        _moments("start", np.repeat(time[first], size)), _moments("end", np.repeat(over, size))
    )


def _runs(
    points: NDArray[np.float64], begins: Whole, alone: NDArray[np.bool_], metres: float
) -> tuple[Whole, Whole]:
    """The first and the last moment of every run that cannot be made longer.

    `alone` are the moments before which a run must begin; the points of each begin at `begins`.
    """
    chord = 2 * math.sin(metres / SMALLEST_RADIUS / 2)
    first: list[int] = []
    last: list[int] = []
    begin = 0
    for at in range(1, len(alone)):
        again = begin
        if alone[at]:
            again = at
        else:
            earlier, here = points[begins[begin] : begins[at]], points[begins[at] : begins[at + 1]]
            near = (((earlier[:, None] - here) ** 2).sum(axis=2) <= chord**2).any(axis=1)
            apart = ~np.logical_or.reduceat(near, begins[begin:at] - begins[begin])
            if apart.any():
                again = at - int(np.argmax(apart[::-1]))
        if again != begin:
            first.append(begin)
            last.append(at - 1)
            begin = again
    if len(alone):
        first.append(begin)
        last.append(len(alone) - 1)
    return np.array(first, dtype=np.int64), np.array(last, dtype=np.int64)


def _micros(length: timedelta) -> int:
    return length // timedelta(microseconds=1)


def _moments(name: str, micros: Whole) -> pl.Series:
    return pl.Series(name, micros, dtype=pl.Int64).cast(pl.Datetime("us", "UTC"))
