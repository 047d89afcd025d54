"""Columns of pandas that hold Python objects: of which kind they are, all the way down.

Engines look at the first values of such a column and take the rest for the same. Then 1, True and 1.0 are
one person, since Python takes them for equal. Here every value is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import narwhals as nw

from safeside.errors import BadQuestion
from safeside.visits.read.format import Roles

_ANY: Final = ("string", "empty")
_IDS: Final = (*_ANY, "bytes", "integer", "decimal")
_KINDS: Final = {
    "person": _IDS,
    "place": _IDS,
    "state": _ANY,
    "start": (*_ANY, "integer", "datetime64", "datetime", "date"),
    "end": (*_ANY, "integer", "datetime64", "datetime", "date"),
    "time": (*_ANY, "integer", "datetime64", "datetime"),
    "date": (*_ANY, "datetime64", "datetime", "date"),
}
_NUMBERS: Final = (*_ANY, "floating", "integer", "mixed-integer-float", "decimal")


def hold_objects(chosen: nw.DataFrame[Any], roles: Roles) -> bool:
    """Whether a column of pandas holds objects other than text, all of one kind; a refusal where they are of
    several, or of a kind that cannot play the role.
    """
    if not chosen.implementation.is_pandas():
        return False
    from pandas.api.types import infer_dtype

    table, found = chosen.to_native(), False
    for role, column in roles.columns.items():
        values = table[role]
        categories = getattr(values.dtype, "categories", None)
        held = values if categories is None else categories
        if held.dtype != object:
            continue
        kind = infer_dtype(held, skipna=True)
        if kind not in _KINDS.get(role, _NUMBERS) or (categories is not None and kind not in _ANY):
            raise several_kinds([column])
        found = found or kind not in _ANY
    return found


def several_kinds(columns: Iterable[str]) -> BadQuestion:
    """What is said of a column whose values are no numbers, no times and no text, or some of each."""
    return BadQuestion(
        f"Column {' or '.join(columns)} holds values of several kinds, or of one that cannot be read.",
        "Turn the whole column into text, whole numbers or timestamps, keeping missing values missing.",
    )
