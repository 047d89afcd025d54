"""Fingerprints of files: keyed digests, by which a ledger recognises what was read before."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import polars as pl

from safeside.errors import BadQuestion
from safeside.progress import Progress
from safeside.visits.read.csv_bytes import CHUNK

_PIECES_AHEAD: Final = 16
"""How many pieces of a file wait for their digest at most."""


class _Pieces:
    """The digest of a file: keyed, of the SHA-256 of each piece of it, which several threads take at once."""

    def __init__(self, whole: hashlib.blake2b, pool: Executor) -> None:
        self._whole, self._pool = whole, pool
        self._begun: deque[Future[bytes]] = deque()
        self._rest = bytearray()

    def update(self, data: bytes) -> None:
        """The bytes that follow."""
        if not self._rest and len(data) == CHUNK:
            self._begin(sha256_of, data)
            return
        self._rest += data
        while len(self._rest) >= CHUNK:
            self._begin(sha256_of, bytes(self._rest[:CHUNK]))
            del self._rest[:CHUNK]

    def read(self, path: Path, size: int) -> Iterator[int]:
        """Take all bytes of a file, each thread reading its own pieces; yields how much was handed out."""
        for begin in range(0, size, CHUNK):
            self._begin(_sha256_at, path, begin)
            yield min(begin + CHUNK, size)

    def digest(self) -> bytes:
        """Of all bytes so far, which are all there are."""
        if self._rest:
            self._begin(sha256_of, bytes(self._rest))
            self._rest.clear()
        while self._begun:
            self._whole.update(self._begun.popleft().result())
        return self._whole.digest()

    def _begin(self, digest: Callable[..., bytes], *piece: Any) -> None:
        self._begun.append(self._pool.submit(digest, *piece))
        if len(self._begun) > _PIECES_AHEAD:
            self._whole.update(self._begun.popleft().result())


def sha256_of(piece: bytes) -> bytes:
    """The digest of one piece."""
    return hashlib.sha256(piece).digest()


def _sha256_at(path: Path, begin: int) -> bytes:
    with path.open("rb") as stream:
        stream.seek(begin)
        try:
            return sha256_of(stream.read(CHUNK))
        except OSError as error:
            # Reading does not name the file, as opening does.
            raise OSError(error.errno, error.strerror, str(path)) from error


class Fingerprint:
    """Keyed digests of the files' bytes, by which the holder of the key recognises files used before."""

    def __init__(self, key: bytes | None) -> None:
        self._key = None if key is None else short_key(key)
        self._pool = ThreadPoolExecutor(pl.thread_pool_size())
        self._files: list[_Pieces] = []

    def file(self, size: int) -> Callable[[bytes], object] | None:
        """Begin the digest of a file; what takes its bytes, None without a key."""
        if self._key is None:
            return None
        self._files.append(_Pieces(self._hash(f"file {size}\n"), self._pool))
        return self._files[-1].update

    def read(self, path: Path, size: int, progress: Progress) -> None:
        """Take the digest of a file whose bytes nobody hands over; nothing without a key."""
        if self.file(size) is not None:
            for done in self._files[-1].read(path, size):
                progress(done / size, f"Reading {path.name}")

    def files(self, rows: Iterable[int]) -> tuple[str, ...]:
        """The fingerprints of files that hold rows; those of empty files say nothing."""
        return tuple(file.digest().hex() for file, held in zip(self._files, rows, strict=False) if held)

    @property
    def digests(self) -> tuple[bytes, ...]:
        """Of each file apart; none where no fingerprint is wanted."""
        return tuple(file.digest() for file in self._files)

    def text(self) -> str | None:
        """One fingerprint of all files."""
        if self._key is None:
            return None
        return self._hash("".join(f"{file.digest().hex()}\n" for file in self._files)).hexdigest()

    def _hash(self, first: str) -> hashlib.blake2b:
        assert self._key is not None
        return hashlib.blake2b(first.encode(), key=self._key, digest_size=32, person=b"safeside visits")


def short_key(key: bytes) -> bytes:
    """The key, shortened to the 64 bytes that BLAKE2 takes."""
    if len(key) < 16:
        raise BadQuestion(
            "The key is shorter than 16 bytes.",
            "Make one of 32 random bytes (`os.urandom(32)`), and keep it secret.",
        )
    return key if len(key) <= 64 else hashlib.blake2b(key).digest()
