"""The public list of places. It does not come from the visits, and every place on it is answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from safeside.errors import BadQuestion
from safeside.visits.places.lists import COORDINATES, ListOf, read_list, whole_from
from safeside.visits.places.venues import require_venues

KNOWN: Final = ("place", "latitude", "longitude", "name", "region", "popularity", "expected", "at_most")
KINDS: Final = ("kind", "category", "type")
PLACES: Final = ListOf(
    one="place",
    many="places",
    columns=KNOWN,
    numbers={
        **COORDINATES,
        "popularity": (lambda v: v >= 0, "is not a number from 0"),
        "expected": (lambda v: v >= 0, "is not a number from 0"),
        "at_most": whole_from(0),
    },
    kinds=KINDS,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Places:
    """Places sorted by identifier; columns that were not given are None.

    Kept in the columns of `table`, a tenth of the memory of Python strings.

    Example
        >>> from safeside import Places
        >>> places = Places.of(["library", "museum"])
        >>> print(len(places), places.ids[0])
        2 library
    """

    table: pl.DataFrame = field(repr=False)

    def __post_init__(self) -> None:
        ids = self.column
        if not len(ids) or ids.null_count() or not (ids.head(-1) < ids.tail(-1)).all():
            raise BadQuestion("The places are not in order, or one is there twice.", "Use read_places.")

    @classmethod
    def of(cls, ids: Sequence[str], **columns: Any) -> Places:
        """Places from identifiers in order, and columns by the names in `KNOWN`; those that are None are left
        out.
        """
        given = {role: pl.Series(role, values) for role, values in columns.items() if values is not None}
        return cls(table=pl.DataFrame([pl.Series("place", ids, dtype=pl.String), *given.values()]))

    def __len__(self) -> int:
        return self.table.height

    @property
    def column(self) -> pl.Series:
        """The identifiers as a series."""
        return self.table["place"]

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The identifiers."""
        return tuple(self.column)

    @cached_property
    def name(self) -> tuple[str, ...] | None:
        """What people call each place."""
        return self._words("name")

    @cached_property
    def region(self) -> tuple[str, ...] | None:
        """The part of the world each place lies in."""
        return self._words("region")

    @cached_property
    def latitude(self) -> NDArray[np.float64] | None:
        """Degrees north."""
        return self._numbers("latitude")

    @cached_property
    def longitude(self) -> NDArray[np.float64] | None:
        """Degrees east."""
        return self._numbers("longitude")

    @cached_property
    def popularity(self) -> NDArray[np.float64] | None:
        """Public knowledge of how many people come, on any scale."""
        return self._numbers("popularity")

    @cached_property
    def expected(self) -> NDArray[np.float64] | None:
        """Public knowledge of how many counted people are expected at each place in one window."""
        return self._numbers("expected")

    @property
    def at_most(self) -> NDArray[np.int64] | None:
        """A threshold of each place's own."""
        return self.table["at_most"].to_numpy() if "at_most" in self.table.columns else None

    @property
    def size(self) -> NDArray[np.int64] | None:
        """Of groups of people: how many people are publicly known to be in each."""
        return self.table["size"].to_numpy() if "size" in self.table.columns else None

    def _words(self, role: str) -> tuple[str, ...] | None:
        return tuple(self.table[role]) if role in self.table.columns else None

    def _numbers(self, role: str) -> NDArray[np.float64] | None:
        return self.table[role].to_numpy() if role in self.table.columns else None


def read_places(
    source: Any, *, columns: dict[str, str] | None = None, separator: str | None = None
) -> Places:
    """Read the list of targets from a CSV or Parquet file, a dataframe, or plain identifiers.

    Example
        >>> from safeside import read_places
        >>> len(read_places(["museum", "library"]))
        2
    """
    read = read_list(source, PLACES, columns=columns, separator=separator)
    kinds: dict[str, pl.Series] = {
        kind: read.drop_in_place(kind).unique() for kind in KINDS if kind in read.columns
    }
    places = Places(table=read)
    require_venues(
        ids=places.column,
        names=places.table["name"] if "name" in places.table.columns else None,
        kinds=kinds,
        latitude=places.latitude,
        longitude=places.longitude,
    )
    return places
