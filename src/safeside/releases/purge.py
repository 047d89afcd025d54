"""Deleting what retention rules say must go: data files, and what an interrupted release left behind.

The ledger stays, and so does every published release: what was spent and said is not personal data, and
without it nobody could say what still may be asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from safeside import disk
from safeside.errors import CannotWrite
from safeside.ledger import Ledger
from safeside.releases.files import WITHDRAWN
from safeside.releases.record import FILE
from safeside.releases.staging import APPEARING, SEALED

_LEFT: Final = re.compile(rf"\..+\.[0-9a-f]{{16}}\.[0-9a-f]{{16}}\.({SEALED}|{APPEARING})")
_SQLITE: Final = b"SQLite format 3\x00"


@dataclass(frozen=True, kw_only=True)
class Purged:
    """What was deleted, and what had to stay."""

    deleted: tuple[Path, ...]
    kept: tuple[tuple[Path, str], ...]


def purge(paths: Sequence[Path | str], *, ledger: Ledger | None = None, dry_run: bool = False) -> Purged:
    """Delete data files; of a directory, what interrupted releases left in it, hidden."""
    deleted: list[Path] = []
    kept: list[tuple[Path, str]] = []
    for path in map(Path, paths):
        if not path.is_dir() or path.is_symlink():
            _require_data(path)
            deleted.append(path)
            continue
        for left in sorted(one for one in path.iterdir() if _LEFT.fullmatch(one.name)):
            if why := _still_needed(left, ledger):
                kept.append((left, why))
            else:
                deleted.append(left)
    if not dry_run:
        for path in deleted:
            disk.remove(path)
    return Purged(deleted=tuple(deleted), kept=tuple(kept))


def _require_data(path: Path) -> None:
    """Refuse to delete what is not data, before anything is deleted."""
    if path.is_symlink():
        raise CannotWrite(
            f'"{path}" is a link: deleting it would leave the data where they are.',
            f'Give the file itself, "{path.resolve()}".',
        )
    if not path.is_file():
        raise CannotWrite(f'There is no file "{path}" to delete.', "Check the path; nothing was deleted.")
    with disk.writing(path), path.open("rb") as file:
        start = file.read(len(_SQLITE))
    beside = {child.name for child in path.parent.iterdir()}
    if start == _SQLITE or path.name.endswith(".witness"):
        what = "a ledger or its witness, which must outlive the data"
    elif start.startswith(b"-----BEGIN") or path.name.endswith((".keyring", ".pub")):
        what = "a key, without which releases cannot be verified"
    elif FILE in beside or WITHDRAWN in beside:
        what = "part of a release, which holds no personal data"
    else:
        return
    raise CannotWrite(
        f'"{path}" looks like {what}.', "Purge only data files and directories with interrupted releases."
    )


def _still_needed(left: Path, ledger: Ledger | None) -> str | None:
    """A draw that the ledger has committed to is finished, not deleted; any other can be read by nobody."""
    if left.is_symlink():
        return "it is a link, which safeside never makes: look at what it is, and delete it yourself"
    if not left.name.endswith(SEALED):
        return None
    if ledger is None:
        return (
            "it may hold a draw that was paid for: give `ledger=`, so that its reservation can be looked up"
        )
    if any(draw.file == left.name for draw in ledger.draws().values()):
        return "the ledger has committed to it: run the same `safeside.publish(...)` again to finish it"
    return None
