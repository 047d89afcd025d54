"""Files are recognised by their bytes, however they were read, and by nobody without the key."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest
from tests.visits.making import DAY, count_visits, places, table
from tests.visits.plain import Stay

from safeside.errors import BadFile
from safeside.progress import quiet
from safeside.visits.read import fingerprint
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


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, len(BYTES), 20 * CHUNK + 5])
def test_a_file_that_is_read_has_the_digest_of_its_bytes(tmp_path: Path, size: int) -> None:
    """Each thread reads pieces of it: which comes first changes nothing."""
    path, done = tmp_path / "file", list[Any]()
    path.write_bytes((BYTES * 11)[:size])
    made = Fingerprint(KEY)
    made.read(path, size, lambda how_far, _: done.append(how_far))
    assert made.digests == (digest(path.read_bytes()),)
    assert done == sorted(done)
    assert done[-1:] == ([1] if size else [])


def test_files_are_digested_one_beside_the_other(tmp_path: Path) -> None:
    made, paths = Fingerprint(KEY), [tmp_path / str(number) for number in range(5)]
    for number, path in enumerate(paths):
        path.write_bytes(BYTES[number:])
        made.read(path, len(BYTES) - number, quiet)
    assert made.digests == tuple(digest(path.read_bytes()) for path in paths)


def test_a_file_that_became_shorter_has_another_digest(tmp_path: Path) -> None:
    path, made = tmp_path / "file", Fingerprint(KEY)
    path.write_bytes(BYTES[:CHUNK])
    made.read(path, len(BYTES), quiet)
    nothing = hashlib.sha256(b"").digest()
    whole = hashlib.blake2b(
        f"file {len(BYTES)}\n".encode(), key=KEY, digest_size=32, person=b"safeside visits"
    )
    whole.update(hashlib.sha256(BYTES[:CHUNK]).digest() + nothing + nothing)
    assert made.digests == (whole.digest(),)


def test_a_disk_that_cannot_be_read_is_said_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "visits.parquet"
    table([Stay("ana", "bar", DAY.start, DAY.end)]).write_parquet(path)

    def fail(_: bytes) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(fingerprint, "sha256_of", fail)
    with pytest.raises(BadFile, match=r"visits\.parquet cannot be opened or read"):
        count_visits(path, places(), DAY, key=KEY)


def test_without_a_key_no_file_is_read(tmp_path: Path) -> None:
    made = Fingerprint(None)
    made.read(tmp_path / "there is none", 5, quiet)
    assert (made.digests, made.text()) == ((), None)
