"""Files are recognised by their bytes, however they were read, and by nobody without the key."""

from __future__ import annotations

import hashlib

import pytest

from safeside.visits.read.csv_bytes import CHUNK
from safeside.visits.read.fingerprint import Fingerprint

KEY = b"the key of a ledger, of 32 bytes"
BYTES = bytes(range(256)) * (2 * CHUNK // 256) + b"and a little more"


def digest(data: bytes, *, key: bytes = KEY, size: int | None = None, parts: int = CHUNK) -> bytes:
    made = Fingerprint(key)
    feed = made.file(len(data) if size is None else size)
    assert feed is not None
    for begin in range(0, len(data), parts):
        feed(data[begin : begin + parts])
    (found,) = made.digests
    assert made.digests == (found,), "asked again it is the same"
    return found


def test_it_is_the_keyed_digest_of_the_digests_of_pieces() -> None:
    pieces = [hashlib.sha256(BYTES[begin : begin + CHUNK]).digest() for begin in range(0, len(BYTES), CHUNK)]
    whole = hashlib.blake2b(
        f"file {len(BYTES)}\n".encode(), key=KEY, digest_size=32, person=b"safeside visits"
    )
    whole.update(b"".join(pieces))
    assert digest(BYTES) == whole.digest()


@pytest.mark.parametrize("parts", [1000, CHUNK - 1, CHUNK + 1, 3 * CHUNK, len(BYTES)])
def test_it_does_not_depend_on_how_the_bytes_come(parts: int) -> None:
    assert digest(BYTES, parts=parts) == digest(BYTES)


def test_any_other_byte_size_or_key_is_another_fingerprint() -> None:
    swapped = BYTES[CHUNK:] + BYTES[:CHUNK]
    others = [b"", BYTES[:-1], BYTES + b"\0", b"\1" + BYTES[1:], swapped]
    found = {digest(BYTES), *map(digest, others), digest(BYTES, size=1), digest(BYTES, key=KEY[::-1])}
    assert len(found) == len(others) + 3


def test_many_files_are_more_pieces_than_wait_at_once() -> None:
    many = BYTES * 20
    assert digest(many) == digest(many, parts=7 * CHUNK)
