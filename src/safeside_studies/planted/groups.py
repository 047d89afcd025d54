"""Publishing about groups with one thing spoilt: each bug is in the running program while its audit lasts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from safeside.audit.published import exactly
from safeside.audit.published_groups import GROUPED, doubtful
from safeside.audit.publishing import replaced
from safeside.groups import Measures, count
from safeside.groups.table import people_checks
from safeside.releases import grouped
from safeside.releases.files import answers
from safeside.releases.methods import Conditions, Drawn
from safeside.releases.methods.counts import NoisyCounts
from safeside.visits import Doubt
from safeside_studies.planted.mechanisms import Caught, named
from safeside_studies.planted.procedures import caught
from safeside_studies.planted.published import said

_APART, _AT_ONCE, _IN_TWO_GROUPS, _LISTED = GROUPED


def share_rounded_up() -> Caught:
    """The number of people that a share is of a group is rounded to the nearest, or up."""

    def up(sizes: Any, share: Fraction) -> Any:
        return np.array([-(-int(size) * share.numerator // share.denominator) for size in sizes], np.int64)

    with replaced(grouped, "limits", up):
        return caught(exactly(_LISTED))


def one_measure_where_a_person_is_in_two() -> Caught:
    """Noise for one count, although the domains allow one person in two of the measures."""
    with replaced(Measures, "most_of_a_person", property(lambda _self: 1)):
        return caught(exactly(replace(_AT_ONCE, each=None)))


def size_from_the_data() -> Caught:
    """Bounds stop at the number of people in the table, as if that were the public size."""
    draw, seen = NoisyCounts.draw, [np.zeros(1, np.int64)]

    def drawn(self: NoisyCounts, asked: Conditions, counts: Any, source: Any = None) -> Drawn:
        seen[0] = counts
        return draw(self, asked, counts, source)

    with (
        replaced(NoisyCounts, "draw", drawn),
        replaced(Conditions, "most", property(lambda _self: seen[0])),
    ):
        return caught(exactly(_LISTED))


def condition_that_skips_missing_values() -> Caught:
    """Whoever has no value in the column of a condition is taken for somebody who does not meet it."""

    def lenient(*given: Any) -> Any:
        return [check for check in people_checks(*given) if check.doubt is not Doubt.MISSING]

    with replaced(count, "people_checks", lenient):
        return said(doubtful())


def share_shown_rounded_down() -> Caught:
    """The share that is published beside a bound is rounded to the nearest, or down."""

    def down(count: int, size: int) -> int:
        return 1000 * min(count, size) // size

    with replaced(answers, "tenths_at_most", down):
        return caught(exactly(_LISTED))


GROUPS: Final = named(
    share_rounded_up,
    share_shown_rounded_down,
    one_measure_where_a_person_is_in_two,
    size_from_the_data,
    condition_that_skips_missing_values,
)
