"""Ways of answering a question, one in each file; a release names its method by the tag it has here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_args

from safeside.errors import BadQuestion
from safeside.releases.methods.base import Conditions, Drawn, Mechanism, Method, Whole
from safeside.releases.methods.counts import NoisyCounts
from safeside.releases.methods.decision import OneBitDecisions
from safeside.releases.methods.selection import SelectedConditions
from safeside.releases.methods.sparse import SparseCounts

AnyMethod = NoisyCounts | SparseCounts | OneBitDecisions | SelectedConditions
__all__ = ["METHODS", "AnyMethod", "Conditions", "Drawn", "Mechanism", "Method", "Whole", "chosen"]
METHODS: Final[Mapping[str, type[Method]]] = {kind.tag(): kind for kind in get_args(AnyMethod)}
"""By name; the first is the one that is taken where nothing else is asked for."""


def chosen(name: str | None, given: Mapping[str, Any]) -> type[Method]:
    """The method of this name, or the one to which an argument that was given belongs."""
    if name is not None and name not in METHODS:
        raise BadQuestion(f'There is no method "{name}".', f"Give `method=` as one of {', '.join(METHODS)}.")
    wanted = [kind for kind in METHODS.values() if any(_given(given[one]) for one in kind.own_arguments)]
    kind = METHODS[name] if name is not None else wanted[0] if wanted else next(iter(METHODS.values()))
    for other in wanted:
        if other is not kind:
            named = " and ".join(f"`{one}=`" for one in other.own_arguments)
            raise BadQuestion(
                f'{named} belong to the method "{other.tag()}", and "{kind.tag()}" was asked for.',
                "Leave one of the two out.",
            )
    return kind


def _given(value: object) -> bool:
    return value is not None and value is not False
