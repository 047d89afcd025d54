"""What every study is told: how much to draw, where to write, whom to tell."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from safeside.progress import Progress, quiet


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One run of the studies."""

    out: Path
    quick: bool = False
    progress: Progress = quiet

    def repeats(self, full: int, quick: int) -> int:
        """How many times to draw."""
        return quick if self.quick else full
