"""Of how many groups "at most" is said, if so many people of each are counted, before anything is spent.

Only public knowledge goes in: the list, its sizes, and counts that are assumed, never those of the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from safeside import exact
from safeside.decisions.compare import certified_by_counts
from safeside.exact import Number
from safeside.groups import read_groups
from safeside.groups.shares import of_sizes
from safeside.releases.grouped import thresholds
from safeside.releases.methods import Whole

_STEPS: Final = 5
"""Into how many parts the number or share asked about is divided, to assume each."""


@dataclass(frozen=True, kw_only=True)
class GroupPlanRow:
    """What is assumed of every group, and what follows from it."""

    share: Fraction | None
    """Of the people of each group so many are counted, rounded up; None where a number is assumed."""
    count: int | None
    true: int
    """Of how many groups "at most" is then true."""
    certified: dict[Fraction, float]
    """Of how many it is expected to be said, by epsilon."""


@dataclass(frozen=True, kw_only=True)
class GroupPlan:
    """Every row, from nobody to the number or share asked about."""

    groups: int
    by_size_alone: int
    """Of how many it is true without any data: no more people are in them than asked about."""
    rows: tuple[GroupPlanRow, ...]


def plan_groups(
    groups: Any, *, at_most: int | str | None = None, epsilon: Number, max_conditions: int = 1
) -> GroupPlan:
    """Of how many groups it would be certified, if a share of each, or a number in each, were counted.

    `max_conditions` is how many of the counts one person can change: groups times measures that one person
    is in. A share that is assumed is rounded up to whole people, so that no more is promised than is kept.

    Example
        >>> import polars as pl
        >>> from safeside import plan_groups
        >>> schools = pl.DataFrame({"group": ["north", "south"], "size": [310, 80]})
        >>> made = plan_groups(schools, at_most="5%", epsilon=1)
        >>> [(str(row.share), row.true, round(row.certified[1], 2)) for row in made.rows[::5]]
        [('0', 2, 1.99), ('1/20', 1, 0.63)]
    """
    listed = read_groups(groups)
    limits, share = thresholds(listed, at_most)
    whole, most = exact.epsilon(epsilon), exact.whole(max_conditions, "`max_conditions=`", least=1)
    alone = np.zeros(len(listed), np.bool_) if listed.size is None else listed.size <= limits
    by_size, rest = int(alone.sum()), ~alone
    rows = []
    for part, number, assumed in _assumed(limits, listed.size, share):
        counts = np.where(alone, 0, assumed)
        certified = {
            one: by_size + certified_by_counts(counts[rest], limits[rest], one / most)
            for one in (whole, whole / 2, 2 * whole)
        }
        true = int((counts <= limits).sum())
        rows.append(GroupPlanRow(share=part, count=number, true=true, certified=certified))
    return GroupPlan(groups=len(listed), by_size_alone=by_size, rows=tuple(rows))


def _assumed(
    limits: Whole, sizes: Whole | None, share: Fraction | None
) -> list[tuple[Fraction | None, int | None, Whole]]:
    """Shares from none to the one asked about; or numbers from 0 to the largest asked about."""
    if share is not None and sizes is not None:
        parts = [share * step / _STEPS for step in range(_STEPS + 1)]
        return [(part, None, of_sizes(sizes, part)) for part in parts]
    largest = int(limits.max())
    step = max(1, -(-largest // _STEPS))
    numbers = sorted({*range(0, largest + 1, step), largest})
    most = np.full(limits.size, largest) if sizes is None else sizes
    return [(None, number, np.minimum(most, number)) for number in numbers]
