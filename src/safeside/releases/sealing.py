"""What was drawn, encrypted under a key of its own before a byte of it reaches a disk.

The key is made in memory. The ledger stores it in the very transaction that commits to the draw, and forgets
it once the release has appeared. So a process that dies before the commit leaves bytes that nobody can ever
read, and a retry may draw again; one that dies after it leaves a draw that this ledger alone can open. The
encryption is authenticated and bound to the reservation: bytes that open were sealed by whoever held the key,
for this very question, and by nobody else. It is as long as public knowledge says: the length of what was
drawn depends on the draw, and anybody who may list a directory sees the length of a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from safeside import records, untrusted
from safeside.ledger import Reservation

_KEY_BITS: Final = 256
_NONCE: Final = bytes(12)
"""A key seals once, so one nonce is enough."""
_FIXED: Final = 1 << 18
_EACH_CONDITION: Final = 512
_COPIES: Final = 8


def new_key() -> bytes:
    """A key for one draw."""
    return AESGCM.generate_key(_KEY_BITS)


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
