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


Label = tuple[str, ...]
"""What a condition is called: its target; its window and its measure too, where there are several."""


def labels(targets: Sequence[str], windows: Sequence[str], measures: Sequence[str]) -> list[Label]:
    """The label of every condition, in the order of the answers."""
    return [
        (target, *([window] if len(windows) > 1 else []), *([measure] if len(measures) > 1 else []))
        for window in windows
        for measure in measures
        for target in targets
    ]


def places_digest(places: Sequence[str]) -> str:
    """What stands for the list of places in a question."""
    # As JSON, so that no two lists are one text, whatever stands in an identifier.
    return records.digest(records.canonical(list(places)))
