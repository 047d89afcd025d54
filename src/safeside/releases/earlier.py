"""What a publisher still has of a ledger that is gone: the releases it paid for, and the memory of the key.

Beside the signing key stands `NAME.ledgers`, a line for each ledger and address it has signed for. Together
with releases that carry its signature it shows that there was a ledger, where every witness is lost.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from safeside import disk, untrusted
from safeside import ledger as ledgers
from safeside.errors import CannotWrite, SafesideError, UnsafeFile
from safeside.ledger import Ledger, Rebuilt, Recovery
from safeside.ledger.addresses import kept_elsewhere
from safeside.releases.record import FILE
from safeside.releases.release import load_release
from safeside.releases.signature import check_signature
from safeside.releases.signing import KEY, keyring_path, load_public
from safeside.releases.verify import verify

_RECORD: Final = ".ledgers"
_DEPTHS: Final = ("*", "*/*")
_MOST: Final = 1000
"""Of so many directories of releases enough are looked at to know."""


def create_ledger(url: str | Path, *, key: str | Path = KEY, now: datetime | None = None) -> Ledger:
    """Make a new ledger, at a file (`ledger.db`, `sqlite:///...`) or a database (`postgresql://...`).

    It is refused where a witness, the memory of the signing key or a release that it signed shows that there
    was a ledger before: a budget must not come back because a file was deleted.

    Example
        >>> from safeside import create_ledger
        >>> with create_ledger("ledger.db") as ledger:
        ...     print([dataset.name for dataset in ledger.datasets()])
        []
    """
    beside = Path(str(url).removeprefix("sqlite:///")).expanduser().parent
    return ledgers.create_ledger(
        url,
        traces_of=lambda places: traces(beside if beside.is_dir() else Path(), Path(key), places),
        now=now,
    )


def recover_ledger(
    url: str | Path,
    *,
    releases: Iterable[str | Path] = (),
    key: str | Path | None = None,
    witnesses: Sequence[str | Path] = (),
    accept_clock: bool = False,
    now: datetime | None = None,
) -> tuple[Recovery, Rebuilt | None]:
    """Make a ledger whole again after a crash, a restored backup or a lost database.

    `releases` are directories of releases it may have forgotten; each is verified first, with the public
    `key` (the keyring of the signing key, if left out). `witnesses` are those of other machines.

    Example
        >>> from safeside import create_ledger, recover_ledger
        >>> with create_ledger("ledger.db") as ledger:
        ...     made = ledger.create_dataset("city", "person", epsilon=2)
        >>> recovery, rebuilt = recover_ledger("ledger.db")
        >>> print(recovery.restored, rebuilt)  # nothing was missing
        0 None
    """
    ring = keyring_path(Path(KEY)) if key is None else key
    # A price is believed only where signature, files and claims hold.
    published = [verify(directory, ring).published() for directory in releases]
    return ledgers.recover_ledger(
        url, published, witnesses=[Path(one) for one in witnesses], accept_clock=accept_clock, now=now
    )


def record_path(key: Path) -> Path:
    """Where the ledgers stand that a key has signed for."""
    return key.with_name(key.name + _RECORD)


def remember(key: Path, ledger: Ledger) -> None:
    """Write down that this key signs for this ledger; a directory that cannot be written is left alone."""
    path = record_path(key)
    wanted = [f"{ledger.ledger_id} {address}\n" for address in ledger.addresses]
    with suppress(CannotWrite, OSError, UnicodeError):
        known = path.read_text(encoding="utf-8") if path.exists() else ""
        new = [line for line in wanted if line not in known.splitlines(keepends=True)]
        if new:
            disk.replace(path, "".join([known, *new]).encode(), mode=disk.PRIVATE)


def traces(beside: Path, key: Path, addresses: Sequence[str]) -> list[Path]:
    """What shows, in this directory and beside this key, that a ledger was kept at one of these addresses."""
    records = {one.resolve(): one for one in (*sorted(beside.glob(f"*{_RECORD}")), record_path(key))}
    found = [record for record in records.values() if _recalled(record, addresses)]
    return [*found, *itertools.islice(_signed(beside, key, addresses), 1)]


def _recalled(record: Path, addresses: Sequence[str]) -> bool:
    try:
        data = untrusted.read(record, untrusted.KEY_BYTES, follow=True)
    except (OSError, UnsafeFile):
        return False
    lines = data.decode(errors="replace").splitlines()
    return any(line.partition(" ")[2] in addresses for line in lines)


def _signed(beside: Path, key: Path, addresses: Sequence[str]) -> Iterator[Path]:
    """Releases that the key signed, of a ledger that is kept nowhere else."""
    try:
        keys = load_public(keyring_path(key))
    except SafesideError:
        return
    candidates = (one for depth in _DEPTHS for one in beside.glob(f"{depth}/{FILE}"))
    for path in itertools.islice(candidates, _MOST):
        try:
            release = load_release(path.parent)
            check_signature(path.parent, FILE, keys)
            ledger_id = release.charged().ledger_id
        except (SafesideError, OSError):
            continue
        if not kept_elsewhere(ledger_id, addresses):
            yield path.parent
