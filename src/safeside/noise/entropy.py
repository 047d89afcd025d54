"""Where random bits come from: bytes and keys of the operating system, or, for simulations only, a seed.

Nothing here is a default. A caller names its source, and a seeded source says so of itself, so that what was
drawn from it can be marked and refused where a real release is wanted.

A short request gets bytes of `os.urandom` themselves; for a longer one 32 bytes of `os.urandom` are the key
under which AES-256 in counter mode makes the stream. No key outlives the request that drew it: there is no
state that a forked child, a second thread or a restored snapshot could use again.
"""

from __future__ import annotations

import hashlib
import os
from typing import Final, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from numpy.typing import NDArray

from safeside.exact import whole

DIRECT: Final = 1 << 10
"""The most numbers taken from the system as they are: for more, a cipher is faster (measured)."""
_BLOCK: Final = 16
_ZEROS: Final = memoryview(bytes(1 << 18))
"""What is encrypted: the stream is the encryption of zeros. Its length keeps both ends of a step in cache."""
_SIMULATED: Final = b"safeside simulated entropy, never for a release: "


class Entropy(Protocol):
    """Independent uniform bits."""

    @property
    def simulated(self) -> bool:
        """Whether somebody who knows a seed knows every bit."""

    def uint16(self, n: int) -> NDArray[np.uint16]:
        """A new array of n uniform 16-bit numbers."""

    def bits(self, n: int) -> int:
        """A uniform number below 2^n."""


class _System:
    """Fresh bytes or a fresh key for each request; see the module's docstring for why it holds none."""

    __slots__ = ()
    simulated: Final = False

    def uint16(self, n: int) -> NDArray[np.uint16]:
        if n <= DIRECT:
            return np.frombuffer(bytearray(os.urandom(2 * n)), "<u2")
        return _stream(_cipher(os.urandom(32)), n)

    def bits(self, n: int) -> int:
        return int.from_bytes(os.urandom((n + 7) // 8), "little") >> (-n % 8)


class _Simulated:
    """One stream, the same on every machine for the same seed."""

    __slots__ = ("_cipher",)
    simulated: Final = True

    def __init__(self, seed: int) -> None:
        self._cipher = _cipher(hashlib.sha256(_SIMULATED + str(seed).encode()).digest())

    def uint16(self, n: int) -> NDArray[np.uint16]:
        return _stream(self._cipher, n)

    def bits(self, n: int) -> int:
        return int.from_bytes(self._cipher.update(bytes((n + 7) // 8)), "little") >> (-n % 8)


def system_entropy() -> Entropy:
    """Bytes of the operating system, or AES-256 under its keys: the only source a release may use."""
    return _System()


def simulated_entropy(seed: int) -> Entropy:
    """Bits that anyone can repeat, for tests and simulations; whatever they make is not private.

    There is no default seed and no way to ask for this source other than by calling this function. It is for
    one thread, and a forked child repeats its parent's stream, as a repeatable source must.
    """
    return _Simulated(whole(seed, "seed"))


def _cipher(key: bytes) -> CipherContext:
    """AES-256 in counter mode. A key is used for one stream only, so its counter may start at zero."""
    return Cipher(AES(key), CTR(bytes(_BLOCK))).encryptor()


def _stream(cipher: CipherContext, n: int) -> NDArray[np.uint16]:
    """The next 2n bytes of the stream, written straight into the array that is returned."""
    size = 2 * n
    # The cipher asks for room for one more block than it writes.
    out = np.empty(size + _BLOCK - 1, np.uint8)
    for start in range(0, size, len(_ZEROS)):
        step = min(len(_ZEROS), size - start)
        cipher.update_into(_ZEROS[:step], out[start : start + step + _BLOCK - 1].data)
    return out[:size].view("<u2")
