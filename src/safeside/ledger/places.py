"""Which ledger was kept where: what is left when the database is gone.

A small file of the state directory for each address, made when a ledger is first used there and never
changed. So a ledger that was deleted, dropped or exchanged is missed, and its witness can be found.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from safeside import disk
from safeside.errors import StoreUnavailable
from safeside.ledger import events
from safeside.ledger.witness import STATE_VARIABLE, state_directory

SQLITE: Final = "sqlite"
"""How the address of a file begins."""
_SUFFIX: Final = ".place"
_OWNER_ONLY: Final = 0o600
_LONGEST: Final = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """What the state directory remembers of one address."""

    file: Path
    ledger_id: str


def note(places: Sequence[str], ledger_id: str) -> None:
    """Remember that this ledger is kept at these addresses; what is remembered already stays."""
    for place in places:
        path = _file(place)
        if path.exists():
            continue
        try:
            disk.make(path.parent)
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWNER_ONLY)
            try:
                os.write(handle, f"{ledger_id} {place}\n".encode())
                os.fsync(handle)
            finally:
                os.close(handle)
            disk.sync(path.parent)
        except FileExistsError:
            continue
        except OSError as error:
            raise _unusable(path, error) from error


def known(places: Sequence[str]) -> list[Known]:
    """The ledgers that were ever kept at these addresses; one whose name a crash cut off has no name."""
    found = []
    for place in places:
        path = _file(place)
        try:
            with path.open("rb") as file:
                text = file.read(_LONGEST).decode(errors="replace")
        except FileNotFoundError:
            continue
        except OSError as error:
            raise _unusable(path, error) from error
        found.append(Known(file=path, ledger_id=text.partition(" ")[0] if text.endswith("\n") else ""))
    return found


def others(places: Sequence[str], ledger_id: str) -> bool:
    """Whether another ledger than this one was kept at one of these addresses."""
    return any(one.ledger_id not in ("", ledger_id) for one in known(places))


def kept_elsewhere(ledger_id: str, places: Sequence[str]) -> bool:
    """Whether that ledger is remembered at an address that is none of these and not gone."""
    notes = (path.read_text(encoding="utf-8", errors="replace") for path in _notes())
    for text in notes:
        name, _, place = text.partition("\n")[0].partition(" ")
        kind, _, where = place.partition(" ")
        there = Path(where).exists() if kind == SQLITE else True
        if name == ledger_id and place not in places and there:
            return True
    return False


def _notes() -> Iterator[Path]:
    return state_directory().glob(f"*{_SUFFIX}")


def _file(place: str) -> Path:
    return state_directory() / (events.digest(place)[:32] + _SUFFIX)


def _unusable(path: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(
        f'The state directory cannot be used: "{path}" ({os.strerror(error.errno or 0)}).',
        f"Make it writable for this user, or set {STATE_VARIABLE} to a directory that lasts; then run the "
        "same command again with the same request id.",
    )
