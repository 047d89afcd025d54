"""From a draw in memory to a release in its place, encrypted before a byte of it reaches a disk.

The key is made in memory. The ledger stores it in the very transaction that commits to the draw, and forgets
it once the release has appeared. So a process that dies before the commit leaves bytes that nobody can ever
read, and a retry may draw again; one that dies after it leaves a draw that this ledger alone can open. The
encryption is authenticated and bound to the reservation: bytes that open were sealed by whoever held the key,
for this very question, and by nobody else. It is as long as public knowledge says: the length of what was
drawn depends on the draw, and anybody who may list a directory sees the length of a file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from safeside import disk, records, untrusted
from safeside.errors import BadRelease, CannotWrite, UnsafeFile
from safeside.ledger import Draw, Ledger, Reservation, steps
from safeside.releases import publish_steps
from safeside.releases.record import FILE, SIGNATURE, bad
from safeside.releases.release import Release, hold, load_release
from safeside.releases.signature import sign
from safeside.releases.signing import PrivateKey
from safeside.releases.staging import Staging
from safeside.releases.verify import check_files

_KEY_BITS: Final = 256
_NONCE: Final = bytes(12)
"""A key seals once, so one nonce is enough."""
_FIXED: Final = 1 << 18
_EACH_CONDITION: Final = 512
_COPIES: Final = 8


def bound_to(reservation: Reservation) -> bytes:
    """Everything a draw belongs to: the ledger, the event that paid for it, and the whole question.

    The digest of the event covers the question already; it is named again so that this needs no argument.
    """
    return records.canonical(
        {
            "ledger": reservation.ledger_id,
            "reservation": reservation.digest,
            "request": reservation.request,
            "dataset": reservation.dataset,
            "question": records.digest(records.canonical(reservation.question)),
        }
    )


def room(conditions: int, *public: str) -> int:
    """Bytes that every draw for so many conditions fits in; `public` is what a release says besides.

    It is generous: each public text may stand in several files, and a condition has an answer in each.
    """
    return _FIXED + _EACH_CONDITION * conditions + _COPIES * sum(len(text.encode()) for text in public)


def seal(files: Mapping[str, bytes], key: bytes, bound: bytes, room: int) -> bytes:
    """All files in one piece that only the key opens, of the length `room` or a multiple of it."""
    sizes = records.canonical([[name, len(data)] for name, data in files.items()])
    content = b"\n".join((sizes, b"".join(files.values())))
    return AESGCM(key).encrypt(_NONCE, content.ljust(-(-len(content) // room) * room, b"\0"), bound)


def unseal(data: bytes, key: bytes, bound: bytes) -> dict[str, bytes] | None:
    """The files, or nothing where these are not the bytes that were sealed with this key for this."""
    try:
        opened = AESGCM(key).decrypt(_NONCE, data, bound)
    except (InvalidTag, ValueError):
        return None
    sizes, _, rest = opened.partition(b"\n")
    files, at = {}, 0
    for name, size in untrusted.parse(sizes):
        files[name] = rest[at : at + size]
        at += size
    return files


def seal_into(
    sealed: BinaryIO, path: Path, files: Mapping[str, bytes], reservation: Reservation, room: int
) -> Draw:
    """Everything that was drawn on the disk, under a key that is nowhere but in what this returns."""
    key = AESGCM.generate_key(_KEY_BITS)
    data = seal(files, key, bound_to(reservation), room)
    with disk.writing(path):
        sealed.write(data)
        sealed.flush()
        steps.reached(publish_steps.WRITTEN)
        os.fsync(sealed.fileno())
    disk.flush(path.parent)
    return Draw(file=path.name, size=len(data), key=key)


def appeared(out: Path, reservation: Reservation) -> Release | None:
    """The release that the ledger has committed to, where it stands in its place already."""
    if not out.is_dir() or not any(out.iterdir()):
        return None
    release = load_release(out)
    if release.digest != reservation.manifest:
        raise bad("it is not the release the ledger has committed to")
    check_files(release)
    return release


def appear(
    drawn: Mapping[str, bytes] | None,
    reservation: Reservation,
    ledger: Ledger,
    staging: Staging,
    key: PrivateKey,
) -> Release:
    """Sign the bytes that were checked, and put them in their place; None: those an earlier run left."""
    if drawn is None:
        drawn = _unsealed(reservation, ledger, staging.out)
    steps.reached(publish_steps.COMMITTED)
    receipt = {"ledger": ledger.ledger_id, "reference": reservation.reference}
    files = {**drawn, SIGNATURE: sign(drawn[FILE], key, file=FILE, **receipt)}
    steps.reached(publish_steps.SIGNED)
    try:
        staging.appear(files)
    except CannotWrite:
        # On a directory that machines share, another may have been faster.
        there = appeared(staging.out, reservation)
        if there is None:
            raise
        return there
    return hold(staging.out, files)


def _unsealed(reservation: Reservation, ledger: Ledger, out: Path) -> Mapping[str, bytes]:
    """What an earlier run drew, if the ledger's key opens it and it is what the ledger committed to."""
    draw, files = ledger.draws().get(reservation.digest), None
    if draw is not None:
        with suppress(OSError, UnsafeFile):
            data = untrusted.read(out.parent / draw.file, draw.size)
            files = unseal(data, draw.key, bound_to(reservation))
    if files is None or records.digest(files[FILE]) != reservation.manifest:
        raise BadRelease(
            f'The release for the request "{reservation.request}" was committed, and what was drawn for '
            f'it is not beside "{out}", or was altered.',
            "If it was published, take it from where it was published. If another machine began it, run "
            "the command there. If it is lost, the budget stays spent, because noise is never drawn "
            "twice under one payment: ask anew, with another `request_id=` and `again=True`, which is "
            "charged anew.",
        )
    check_files(hold(out, files))
    return files
