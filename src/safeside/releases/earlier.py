"""What a publisher still has of a ledger that is gone: the releases it paid for, and the memory of the key.

Beside the signing key stands `NAME.ledgers`, a line for each ledger and address it has signed for. Together
with releases that carry its signature it shows that there was a ledger, where every witness is lost.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from safeside.errors import CannotWrite, SafesideError
from safeside.ledger import Ledger
from safeside.ledger.places import kept_elsewhere
from safeside.releases import durable, manifest
from safeside.releases.release import load
from safeside.releases.signing import keyring_path, load_public
from safeside.releases.verify import check_signature

_DEPTHS: Final = ("*", "*/*")
_MOST: Final = 1000
"""Of so many directories of releases enough are looked at to know."""


def record_path(key: Path) -> Path:
    """Where the ledgers stand that a key has signed for."""
    return key.with_name(key.name + ".ledgers")


def remember(key: Path, ledger: Ledger) -> None:
    """Write down that this key signs for this ledger; a directory that cannot be written is left alone."""
    path = record_path(key)
    wanted = [f"{ledger.ledger_id} {place}\n" for place in ledger.places]
    with suppress(CannotWrite, OSError, UnicodeError):
        known = path.read_text(encoding="utf-8") if path.exists() else ""
        new = [line for line in wanted if line not in known.splitlines(keepends=True)]
        if new:
            durable.replace(path, "".join([known, *new]).encode(), mode=durable.PRIVATE)


def traces(beside: Path, key: Path, places: Sequence[str]) -> list[Path]:
    """What shows, in this directory and beside this key, that a ledger was kept at one of these places."""
    found = [record_path(key)] if _recalled(key, places) else []
    return [*found, *itertools.islice(_signed(beside, key, places), 1)]


def _recalled(key: Path, places: Sequence[str]) -> bool:
    try:
        lines = record_path(key).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return any(line.partition(" ")[2] in places for line in lines)


def _signed(beside: Path, key: Path, places: Sequence[str]) -> Iterator[Path]:
    """Releases that the key signed, of a ledger that is kept nowhere else."""
    try:
        keys = load_public(keyring_path(key))
    except SafesideError:
        return
    candidates = (one for depth in _DEPTHS for one in beside.glob(f"{depth}/{manifest.FILE}"))
    for path in itertools.islice(candidates, _MOST):
        try:
            release = load(path.parent)
            check_signature(path.parent, manifest.FILE, keys)
            ledger_id = release.charged().ledger_id
        except (SafesideError, OSError):
            continue
        if not kept_elsewhere(ledger_id, places):
            yield path.parent
