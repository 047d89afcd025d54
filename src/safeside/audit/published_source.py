"""Where the randomness of a release comes from: the system, whatever variables are set."""

from __future__ import annotations

import os
from typing import Any, Final

from safeside.audit.published import AT_A, PLACES
from safeside.audit.publishing import desk, replaced
from safeside.noise.entropy import system_entropy

_OWN: Final = "SAFESIDE"
"""The variables that a release looks at by itself begin so."""
_FILLERS: Final = (50, 128, 200)
"""Bytes of which each leads to another value of the noise."""


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


def published_from_the_system() -> str | None:
    """What `publish` draws by itself follows from the system's bytes."""
    drawn = set()
    with desk(PLACES, (1, 0)) as table:
        for filler in _FILLERS:
            with (
                replaced(os, "environ", OwnVariables(os.environ)),
                replaced(os, "urandom", lambda n, filler=filler: bytes([filler]) * n),
            ):
                made = table.publish((AT_A, AT_A), None, {"epsilon": "1/10"})
            drawn.add(made.files["answers.csv"])
    same = "publish draws the same although the system's bytes differ"
    return None if len(drawn) == len(_FILLERS) else same
