"""Ed25519 keys: made, read, replaced, and used to sign what is published.

A key is three files side by side: the private key (readable by its owner alone), `NAME.pub`, the public key
to hand out, and `NAME.keyring`, every public key there ever was, newest first, so that a release signed
before a rotation can still be verified.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from safeside import disk, untrusted
from safeside.errors import BadSignature, CannotWrite

KEY: Final = "safeside.key"
"""Where the signing key is looked for when none is named."""
_BLOCK: Final = re.compile(rb"-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----\s*")
_OTHERS: Final = 0o077
_LOCKED: Final = b"-----BEGIN ENCRYPTED PRIVATE KEY-----"
PASSPHRASE_VARIABLE: Final = "SAFESIDE_KEY_PASSPHRASE"
"""Where the passphrase of the private key is taken from, if it is set."""
Ask = Callable[[], str | None]
"""Asks somebody for the passphrase; None where there is nobody."""


@dataclass(frozen=True, kw_only=True)
class PublicKey:
    """What readers hold: checks signatures, and has a short name of its own.

    Example
        >>> from safeside import create_key
        >>> create_key("safeside.key").pem.splitlines()[0]
        b'-----BEGIN PUBLIC KEY-----'
    """

    raw: bytes

    @property
    def id(self) -> str:
        """A short name that no other key has."""
        return hashlib.sha256(self.raw).hexdigest()[:16]

    @property
    def pem(self) -> bytes:
        """The key as text, in the form other programs read."""
        return Ed25519PublicKey.from_public_bytes(self.raw).public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )

    def signed(self, message: bytes, signature: bytes) -> bool:
        """Whether the signature over this message was made with this key."""
        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, message)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, kw_only=True)
class PrivateKey:
    """What the publisher holds. The bytes never appear in a representation or an error.

    Example
        >>> from safeside import create_key
        >>> from safeside.releases.signing import load_private
        >>> public = create_key("safeside.key")
        >>> load_private("safeside.key").public == public
        True
    """

    _key: Ed25519PrivateKey

    @property
    def public(self) -> PublicKey:
        """The half that readers hold."""
        return PublicKey(raw=self._key.public_key().public_bytes_raw())

    def pem(self, passphrase: str | None) -> bytes:
        """The private key as it is stored: under a passphrase, or readable for whoever has the file."""
        return self._key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption()
            if passphrase is None
            else serialization.BestAvailableEncryption(passphrase.encode()),
        )

    def sign(self, message: bytes) -> bytes:
        """The signature; the same message always gives the same one, so a retry changes nothing."""
        return self._key.sign(message)

    def __repr__(self) -> str:
        return f"PrivateKey({self.public.id})"


def public_path(path: Path) -> Path:
    """Where the public half of the key at `path` stands."""
    return path.with_name(path.name + ".pub")


def keyring_path(path: Path) -> Path:
    """Where every public key there ever was for the key at `path` stands."""
    return path.with_name(path.name + ".keyring")


def create_key(path: Path | str, *, passphrase: str | None = None, now: datetime | None = None) -> PublicKey:
    """Make a key pair, under a passphrase if one is given; a key that exists is never overwritten.

    Example
        >>> from pathlib import Path
        >>> from safeside import create_key
        >>> public = create_key("safeside.key")
        >>> print(len(public.id), Path("safeside.key.pub").exists())
        16 True
    """
    path = Path(path)
    if path.exists():
        raise CannotWrite(
            f'A key exists already at "{path}".',
            "Use `safeside.rotate_key(...)` to replace it, or choose another name.",
        )
    if passphrase == "":
        raise BadSignature("The passphrase is empty.", "Give one, or make a key without a passphrase.")
    key = PrivateKey(_key=Ed25519PrivateKey.generate())
    disk.write(path, key.pem(passphrase), mode=disk.PRIVATE)
    _publish_half(path, key.public, now)
    return key.public


def rotate_key(path: Path | str, *, ask: Ask | None = None, now: datetime | None = None) -> PublicKey:
    """Replace the private key, under the same passphrase; the keyring keeps every public key.

    Example
        >>> from safeside import create_key, rotate_key
        >>> old = create_key("safeside.key")
        >>> rotate_key("safeside.key").id == old.id
        False
    """
    path = Path(path)
    _, passphrase = _unlocked(path, ask)
    key = PrivateKey(_key=Ed25519PrivateKey.generate())
    # The new public key is in the keyring before anything can be signed with it.
    _publish_half(path, key.public, now)
    disk.replace(path, key.pem(passphrase), mode=disk.PRIVATE)
    return key.public


def _publish_half(path: Path, public: PublicKey, now: datetime | None) -> None:
    moment = (now or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    ring = keyring_path(path)
    older = untrusted.read(ring, untrusted.KEY_BYTES, follow=True) if ring.exists() else b""
    line = f"# safeside key {public.id}, made {moment}\n".encode()
    disk.replace(ring, line + public.pem + older)
    disk.replace(public_path(path), public.pem)


def _read(path: Path, missing: BadSignature) -> bytes:
    """The bytes of a file of keys; whoever named it may have named a link, as mounted secrets are."""
    try:
        return untrusted.read(path, untrusted.KEY_BYTES, follow=True)
    except FileNotFoundError:
        raise missing from None
    except OSError as error:
        raise BadSignature(
            f'"{path}" cannot be read ({os.strerror(error.errno or 0)}).',
            "Make the file readable for the user who runs this, and for nobody else if it is a private key.",
        ) from error


def load_private(path: Path | str, *, ask: Ask | None = None) -> PrivateKey:
    """The private key, refused where anybody but its owner could read it.

    The passphrase of one that has one is taken from the environment (SAFESIDE_KEY_PASSPHRASE) or else asked
    for with `ask`; this library asks nobody by itself.
    """
    return _unlocked(Path(path), ask)[0]


def _unlocked(path: Path, ask: Ask | None) -> tuple[PrivateKey, str | None]:
    """The key, and the passphrase it was stored under."""
    data = _read(
        path,
        BadSignature(
            f'There is no key at "{path}".',
            "Make one with `safeside.create_key(...)`, or give the path of yours with `key=`.",
        ),
    )
    if path.stat().st_mode & _OTHERS:
        raise BadSignature(
            f'The private key "{path}" can be read by others than its owner.',
            f"Run `chmod 600 {path}`; if others may have copied it, run `safeside.rotate_key(...)` as well.",
        )
    locked = _LOCKED in data
    passphrase = _passphrase(path, ask) if locked else None
    try:
        password = None if passphrase is None else passphrase.encode()
        key = serialization.load_pem_private_key(data, password=password)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        if locked:
            raise BadSignature(
                f'The passphrase does not open the private key "{path}".',
                f"Type it again, or correct {PASSPHRASE_VARIABLE}; nobody can open the key without it.",
            ) from None
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise BadSignature(
            f'"{path}" is not an Ed25519 private key.',
            "Give the private key that `safeside.create_key(...)` made (the file without .pub or .keyring).",
        )
    return PrivateKey(_key=key), passphrase


def _passphrase(path: Path, ask: Ask | None) -> str:
    given = os.environ.get(PASSPHRASE_VARIABLE)
    if given is None and ask is not None:
        given = ask()
    if given is None:
        raise BadSignature(
            f'The private key "{path}" has a passphrase, and there is nobody to ask for it.',
            f"Set {PASSPHRASE_VARIABLE} for this command, or run it on a terminal.",
        )
    return given


def load_public(path: Path | str) -> tuple[PublicKey, ...]:
    """Every public key in a `.pub` or `.keyring` file, newest first."""
    path = Path(path)
    data = _read(
        path,
        BadSignature(
            f'There is no public key at "{path}".',
            "Ask the publisher for the .pub or .keyring file, from somewhere other than the release itself.",
        ),
    )
    keys = []
    for block in _BLOCK.findall(data):
        with suppress(ValueError):
            key = serialization.load_pem_public_key(block)
            if isinstance(key, Ed25519PublicKey):
                keys.append(PublicKey(raw=key.public_bytes_raw()))
    if not keys:
        raise BadSignature(
            f'"{path}" holds no Ed25519 public key.',
            "Give the .pub or .keyring file that `safeside.create_key(...)` made.",
        )
    return tuple(keys)
