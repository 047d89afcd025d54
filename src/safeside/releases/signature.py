"""signature.json: a DSSE envelope, so that it can be checked with the tools of others.

The payload is a small typed record: which file is signed, its SHA-256, and the ledger's receipt. Signed is
what DSSE signs, its pre-authentication encoding of the payload and the payload's type. docs/releases.md has
the steps for a reader who does not have safeside.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

import msgspec

from safeside import records, untrusted
from safeside.errors import BadRelease, BadSignature
from safeside.records import Part, Record
from safeside.releases.record import SIGNATURE, bad, read
from safeside.releases.signing import PrivateKey, PublicKey
from safeside.untrusted import visible

PAYLOAD_TYPE: Final = "application/vnd.safeside.signature+json"
_KEY_SHOWN: Final = 16


class Signature(Record, frozen=True, kw_only=True):
    """What a signature says: this file of a release, as it was committed to in this ledger."""

    kind: ClassVar[str] = "signature"
    file: str
    sha256: str
    ledger: str
    reference: str
    """The receipt: under which reference that ledger has the release."""


class Signed(Part, frozen=True, kw_only=True):
    """One key's signature; the id only helps to find the key."""

    keyid: str
    sig: bytes


class Envelope(Part, frozen=True, kw_only=True):
    """A DSSE envelope with one signature. Its names are DSSE's; bytes are written in base64."""

    payload: bytes
    payloadType: str
    signatures: tuple[Signed]


def pre_authentication_encoding(payload: bytes) -> bytes:
    """The bytes that DSSE signs."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sign(data: bytes, key: PrivateKey, *, file: str, ledger: str, reference: str) -> bytes:
    """signature.json for a file with these bytes; `ledger` and `reference` are the receipt."""
    signature = Signature(file=file, sha256=records.digest(data), ledger=ledger, reference=reference)
    payload = records.encode(signature)
    signed = Signed(keyid=key.public.id, sig=key.sign(pre_authentication_encoding(payload)))
    envelope = Envelope(payload=payload, payloadType=PAYLOAD_TYPE, signatures=(signed,))
    return msgspec.json.encode(envelope, order="sorted")


def check_signature(directory: Path, file: str, keys: Sequence[PublicKey]) -> Signature:
    """What one of these keys has signed of the file of this name, as it stands there now."""
    try:
        data = read(directory, file)
    except OSError:
        raise bad(f"{file} is missing") from None
    envelope = _envelope(directory)
    (signed,) = envelope.signatures
    key = next((one for one in keys if one.id == signed.keyid), None)
    if key is None:
        raise BadSignature(
            f"The release is signed with another key ({visible(signed.keyid)[:_KEY_SHOWN]}) than the one "
            "given.",
            "Get the publisher's .pub or .keyring file from a source you trust, not from the release itself.",
        )
    message, signature = pre_authentication_encoding(envelope.payload), None
    if envelope.payloadType == PAYLOAD_TYPE and key.signed(message, signed.sig):
        try:
            signature = records.decode(Signature, envelope.payload)
        except ValueError:
            raise bad(f"{SIGNATURE} cannot be read") from None
    if signature is None or (signature.file, signature.sha256) != (file, records.digest(data)):
        raise BadSignature(
            f"The signature does not belong to this {file}: one of them was altered.",
            "Do not use the release. Ask the publisher for it again, and tell them what you found.",
        )
    return signature


def _envelope(directory: Path) -> Envelope:
    try:
        data = read(directory, SIGNATURE)
        value = untrusted.parse(data)
    except (OSError, ValueError, BadRelease):
        raise BadSignature(
            "The release has no signature that can be read.",
            "If publishing was interrupted, run the same command again; otherwise ask the publisher.",
        ) from None
    try:
        envelope = records.convert(Envelope, value)
        if msgspec.json.encode(envelope, order="sorted") != data:
            raise ValueError("it is not canonical JSON (RFC 8785)")
    except ValueError:
        raise bad(f"{SIGNATURE} cannot be read") from None
    return envelope
