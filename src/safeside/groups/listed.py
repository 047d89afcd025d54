"""The public list of groups: who is asked about, and how many people are known to be in each on a date."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from safeside.visits import Places
from safeside.visits.places.lists import COORDINATES, ListOf, read_list, whole_from

GROUPS: Final = ListOf(
    one="group",
    many="groups",
    columns=("group", "name", "size", "at_most", "latitude", "longitude", "region"),
    numbers={**COORDINATES, "size": whole_from(1), "at_most": whole_from(0)},
    whole=("size", "at_most"),
)


def read_groups(
    source: Any, *, columns: Mapping[str, str] | None = None, separator: str | None = None
) -> Places:
    """Read the public list of groups from a CSV or Parquet file, a dataframe, or plain identifiers.

    `size` is how many people are publicly known to be in a group on the date asked about. It never comes from
    the data.

    Example
        >>> from safeside.groups import read_groups
        >>> read_groups(["north school", "south school"]).ids
        ('north school', 'south school')
    """
    return Places(table=read_list(source, GROUPS, columns=columns, separator=separator))
