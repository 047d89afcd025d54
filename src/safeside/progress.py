"""How long work says how far it is, without knowing who listens."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called with the share done (0 to 1, or None where unknown) and a few plain words."""

    def __call__(self, done: float | None, what: str) -> None: ...


def quiet(done: float | None, what: str) -> None:
    """Say nothing."""
