"""What the command line borrows from the package beside the core, where that is installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from safeside.errors import MissingExtra


@contextmanager
def needs_studies(command: str) -> Iterator[None]:
    """Import from the studies inside the block; where they are not installed, say what to install."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "safeside_studies":
            raise
        raise MissingExtra(
            f"`safeside {command}` needs the package safeside-studies, which is not installed.",
            "Run: pip install safeside-studies",
        ) from missing
