"""Names that survive a power cut: a new file or directory is there for certain once its parent is flushed."""

from __future__ import annotations

import os
from pathlib import Path


def flush(directory: Path) -> None:
    """Names created, renamed or deleted in the directory are on the disk."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make(directory: Path) -> None:
    """The directory, with those above it that are missing, all of them on the disk."""
    missing = [one for one in (directory, *directory.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(exist_ok=True)
        flush(one.parent)
