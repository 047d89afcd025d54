"""What all files of a release have in common: the names of two of them, reading one, and refusing one."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from safeside import untrusted
from safeside.errors import BadRelease, UnsafeFile

FILE: Final = "release.json"
SIGNATURE: Final = "signature.json"


def read(directory: Path, name: str, limit: int = untrusted.MANIFEST_BYTES) -> bytes:
    """A file of a release; OSError where there is none, BadRelease where it is not one a release has."""
    try:
        return untrusted.read(directory / name, limit)
    except UnsafeFile as error:
        raise bad(error.what.rstrip(".")) from None


def bad(why: str) -> BadRelease:
    """The release is not what was published."""
    return BadRelease(
        f"This release was altered or is incomplete: {why}.",
        "Do not use it. Ask the publisher for the release again, and tell them what you found.",
    )
