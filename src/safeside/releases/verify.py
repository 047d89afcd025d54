"""Is this what was published, by whom it says, and does it hold together?

Five things are checked, each by itself enough to stop: the signature, the digest of every file, the schema,
that every state follows from the bounds that are published with it, and that noise, guarantee and price are
what the question and the mechanism make them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from safeside.errors import BadQuestion, BadRelease, BadSignature
from safeside.ledger import Ledger
from safeside.ledger.events import canonical
from safeside.releases import manifest
from safeside.releases.claims import check_charged, check_claims
from safeside.releases.contents import check_contents, check_pages
from safeside.releases.manifest import bad
from safeside.releases.release import Release, load
from safeside.releases.signing import ALGORITHM, PrivateKey, PublicKey, load_public
from safeside.untrusted import visible

SIGNATURE_SCHEMA: Final = "safeside-signature/1"
_KEY_SHOWN: Final = 16


def sign(data: bytes, receipt: dict[str, Any], key: PrivateKey) -> bytes:
    """signature.json for these bytes of release.json; the receipt is the ledger's, of having committed it."""
    unsigned = {
        "schema": SIGNATURE_SCHEMA,
        "algorithm": ALGORITHM,
        "key": key.public.id,
        "manifest": manifest.digest(data),
        "receipt": receipt,
    }
    signature = key.sign(_message(unsigned, data)).hex()
    return (json.dumps({**unsigned, "signature": signature}, indent=2, sort_keys=True) + "\n").encode()


def _message(unsigned: dict[str, Any], data: bytes) -> bytes:
    return canonical(unsigned).encode() + b"\n" + data


def verify(
    directory: Path | str, key: Path | str | Sequence[PublicKey], *, ledger: Ledger | None = None
) -> Release:
    """The release, if all of it is true; otherwise BadSignature or BadRelease says what is not.

    Whoever has the ledger can have it checked too that it paid for this release what the release says.
    """
    keys = load_public(key) if isinstance(key, Path | str) else tuple(key)
    release = load(directory)
    if release.simulated:
        raise BadRelease(
            f'"{release.directory}" is a simulation, not a release: it was charged to no ledger and promises '
            "nothing.",
            "Use `safeside publish` to make a release.",
        )
    if check_signature(release.directory, manifest.FILE, keys) != release.digest:
        raise bad("release.json was replaced while it was looked at")
    check_contents(release)
    check_claims(release)
    _check_receipt(release)
    check_pages(release)
    if ledger is not None:
        check_charged(release, ledger)
    return release


def _check_receipt(release: Release) -> None:
    receipt = _signature(release.directory).get("receipt")
    charged = release.charged()
    if receipt != {"ledger": charged.ledger_id, "reference": charged.reference}:
        raise bad("the ledger's receipt in signature.json is not of the ledger it names")


def check_signature(directory: Path, name: str, keys: Sequence[PublicKey]) -> str:
    """That one of these keys signed the manifest, or notice, of this name; the digest of what was signed."""
    try:
        data = manifest.read(directory, name)
    except OSError:
        raise bad(f"{name} is missing") from None
    record = _signature(directory)
    key = next((one for one in keys if one.id == record.get("key")), None)
    if key is None:
        other = visible(str(record.get("key")))[:_KEY_SHOWN]
        raise BadSignature(
            f"The release is signed with another key ({other}) than the one given.",
            "Get the publisher's .pub or .keyring file from a source you trust, not from the release itself.",
        )
    unsigned = {name: value for name, value in record.items() if name != "signature"}
    try:
        signature = bytes.fromhex(record["signature"])
        message = _message(unsigned, data)
    except (KeyError, ValueError, TypeError, BadQuestion):
        raise bad("signature.json cannot be read") from None
    if unsigned.get("manifest") != manifest.digest(data) or not key.signed(message, signature):
        raise BadSignature(
            f"The signature does not belong to this {name}: one of them was altered.",
            "Do not use the release. Ask the publisher for it again, and tell them what you found.",
        )
    return manifest.digest(data)


def _signature(directory: Path) -> dict[str, Any]:
    try:
        record = manifest.parse(manifest.read(directory, manifest.SIGNATURE), manifest.SIGNATURE)
    except (OSError, BadRelease):
        raise BadSignature(
            "The release has no signature that can be read.",
            "If publishing was interrupted, run the same command again; otherwise ask the publisher.",
        ) from None
    if not isinstance(record, dict):
        raise bad("signature.json cannot be read")
    return record
