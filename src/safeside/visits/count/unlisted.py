"""What a count leaves out because its place is not listed, and whether that was expected.

The exclusion is declared (`exclude_unknown_places`) and part of every answer; *how much* is left out is shown
to the curator only. In movement data it is often the larger part, homes above all; but a prefix in one of two
exports looks the same. So more than a twentieth is left out only if that share was declared or confirmed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

import narwhals as nw
import polars as pl

from safeside.visits.findings import Doubt, Finding, amount
from safeside.visits.places.lookalikes import resembling
from safeside.visits.places.places import Places
from safeside.visits.read.dataframes import Frame

DEFAULT_SHARE: Final = Fraction(5, 100)
"""The share of rows that may be left out without a declaration: the same for all data."""
_SHOWN: Final = 5


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """Rows in the window whose place is not listed. For the curator only: none of it is published.

    `examples` and `alike` quote the data, and are not part of its `repr`.

    Example
        >>> import polars as pl
        >>> from safeside import check_visits, read_places
        >>> visits = pl.DataFrame({
        ...     "person": ["ana", "ben"],
        ...     "place": ["museum", "harbour"],
        ...     "start": ["2024-03-03T17:00Z", "2024-03-03T17:30Z"],
        ...     "end": ["2024-03-03T19:00Z", "2024-03-03T18:30Z"],
        ... })
        >>> left_out = check_visits(visits, read_places(["museum"]), exclude_unknown_places=True).left_out
        >>> print(left_out.rows, "of", left_out.of_rows)
        1 of 2
    """

    rows: int
    of_rows: int
    people: int
    places: int = 0
    most: Fraction = DEFAULT_SHARE
    """The largest share that is expected."""
    examples: tuple[str, ...] = field(default=(), repr=False)
    """Some of the places."""
    resembling: int = 0
    """How many of the places look like a listed one."""
    alike: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Some of those, each with the listed one."""

    def described(
        self, names: list[str], places: Places, *, trusted: bool, most: Fraction | None = None
    ) -> LeftOut:
        """With examples of these places; lookalikes of listed ones are looked for unless `trusted`."""
        others = pl.Series(names, dtype=pl.String)
        alike = [] if trusted else resembling(others, places.column).rows()
        return replace(
            self,
            places=len(names),
            most=DEFAULT_SHARE if most is None else most,
            examples=tuple(others.sort().gather_every(max(1, len(others) // _SHOWN)).head(_SHOWN)),
            resembling=len(alike),
            alike=tuple((other, listed) for other, listed in alike[:_SHOWN]),
        )

    @property
    def too_many(self) -> bool:
        """Whether more is left out than was expected."""
        return self.rows > self.most * self.of_rows

    def sentence(self) -> str:
        """How much is left out, without a value of the data."""
        share = Fraction(100 * self.rows, self.of_rows) if self.of_rows else Fraction(0)
        rows = f"{self.rows:,} of {amount(self.of_rows, 'row', 'rows')} ({_percent(share)})"
        people, places = amount(self.people, "person", "people"), amount(self.places, "place", "places")
        return f"{rows}, of {people}, at {places} not listed, are left out"

    def finding(self, column: str, *, whole_input: bool = False) -> Finding:
        """The same for a report: it stops the work where it is more than was expected of a window."""
        stops = self.too_many and not whole_input
        do = "Nothing, if these are homes and other places that are not asked about."
        if stops:
            share = -(-100 * self.rows // self.of_rows)
            do = (
                "If these are homes and other places that are not asked about, declare how much of the rows "
                f'may be left out (`Expected(unlisted="{share}%")`); otherwise write places as the list does.'
            )
        if self.resembling:
            do = "Write places as the list does, and look again."
        more = f", more than {_percent(100 * self.most)}" if stops else ""
        reason = f"{self.sentence()}{more}"
        return Finding(doubt=Doubt.LEFT_OUT, column=column, reason=reason, do=do, stops=stops)


Confirm = Callable[[LeftOut], bool]
"""Shown what is left out; says whether to go on where it is more than expected."""


def never_confirm(_: LeftOut) -> bool:
    """The default: nobody was asked, so nothing is confirmed."""
    return False


def unlisted_query(pairs: Frame, places: Places) -> Frame:
    """Rows and people at listed places, and at others; those without a place are neither."""
    place = nw.col("place")
    if pairs.collect_schema()["place"] != nw.String:
        place = place.cast(nw.String)
    flagged = pairs.filter(~nw.col("place").is_null()).select(
        "person", place.is_in(places.ids).alias("listed")
    )
    return flagged.group_by("listed").agg(nw.len().alias("rows"), nw.col("person").n_unique().alias("people"))


def read_unlisted(answer: pl.DataFrame) -> LeftOut:
    """The result of `unlisted_query`."""
    others, of_rows = answer.filter(~pl.col("listed")), int(answer["rows"].sum())
    return LeftOut(rows=int(others["rows"].sum()), of_rows=of_rows, people=int(others["people"].sum()))


def _percent(share: Fraction) -> str:
    """One decimal, rounded up: 97.6 %."""
    tenths = -(-10 * share.numerator // share.denominator)
    return f"{tenths // 10:,}{f'.{tenths % 10}' if tenths % 10 else ''} %"
