"""The list that a question is about, as its number and digest: the identifiers stand beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from safeside import records
from safeside.records import Part


class Targets(Part, frozen=True, kw_only=True):
    """How many there are, and which."""

    number: Annotated[int, msgspec.Meta(ge=1)]
    sha256: str

    @classmethod
    def of(cls, targets: Sequence[str]) -> Targets:
        """Those of this list, in this order."""
        return cls(number=len(targets), sha256=places_digest(targets))


def places_digest(places: Sequence[str]) -> str:
    """What stands for the list of places in a question."""
    # As JSON, so that no two lists are one text, whatever stands in an identifier.
    return records.digest(records.canonical(list(places)))
