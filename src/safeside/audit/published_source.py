"""Where the randomness of a release comes from: the system, whatever variables are set."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from safeside.audit.published import AT_A, NOBODY, PLACES, POPULARITY
from safeside.audit.publishing import desk, replaced
from safeside.noise.entropy import system_entropy

_OWN: Final = "SAFESIDE"
"""The variables that a release looks at by itself begin so."""
_FILLERS: Final = (50, 128, 250)
"""Bytes of which some lead to other answers."""
DRAWN: Final[Mapping[str, Mapping[str, Any]]] = {
    "counts": {"epsilon": "1/10"},
    "sparse": {"epsilon": "1/10", "max_alarms": 1},
    "padded": {"epsilon": 1, "guarantee": "dp", "delta": "0.01"},
    "decision": {"epsilon": 1, "guarantee": "dp", "delta": "0.1", "decision": True},
    "selection": {"epsilon": 1, "method": "selection"},
}
"""Every way to draw."""


class EveryVariable(dict[str, str]):
    """An environment in which every variable is set."""

    def __contains__(self, key: object) -> bool:
        return True

    def __getitem__(self, key: str) -> str:
        return super().__getitem__(key) if super().__contains__(key) else "1"

    def get(self, key: str, _default: Any = None) -> Any:
        return self[key]


def only_from_the_system() -> str | None:
    """What the system's source gives follows from the system's bytes, whatever variables are set."""
    for size in (8, 5000):
        drawn = []
        for filler in (1, 2, 1):
            with (
                replaced(os, "environ", EveryVariable(os.environ)),
                replaced(os, "urandom", lambda n, filler=filler: bytes([filler]) * n),
            ):
                source = system_entropy()
                drawn.append((source.uint16(size).tobytes(), source.bits(64)))
        if drawn[0][0] == drawn[1][0] or drawn[0][1] == drawn[1][1]:
            return "the system's source gives the same bits although the system's bytes differ"
        if drawn[0] != drawn[2]:
            return "the system's source takes bits from elsewhere than the system"
    return None


class OwnVariables(EveryVariable):
    """An environment in which every variable of this program's own is set; the others are as they were."""

    def __contains__(self, key: object) -> bool:
        return str(key).startswith(_OWN) or dict.__contains__(self, key)

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if self.__contains__(key) else default


def published_from_the_system(terms: Mapping[str, Any]) -> str | None:
    """What `publish` draws by itself follows from the system's bytes, and from nothing else."""
    drawn: dict[int, set[bytes]] = {}
    with desk(PLACES, (1, 0), POPULARITY) as table:
        for filler in (*_FILLERS, _FILLERS[0]):
            with (
                replaced(os, "environ", OwnVariables(os.environ)),
                replaced(os, "urandom", lambda n, filler=filler: bytes([filler]) * n),
            ):
                made = table.publish((AT_A, NOBODY), None, terms)
            drawn.setdefault(filler, set()).add(made.files["answers.csv"])
    if any(len(answers) > 1 for answers in drawn.values()):
        return "publish takes what it draws from elsewhere than the system"
    different = len(set.union(*drawn.values()))
    same = "publish draws the same although the system's bytes differ"
    return None if different > 1 else same
