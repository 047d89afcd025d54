"""Is this what was published, by whom it says, and does it hold together?

Five things are checked, each by itself enough to stop: the signature, the digest of every file, the schema,
that every state follows from the bounds that are published with it, and that noise, guarantee and price are
what the question and the mechanism make them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from safeside.errors import BadRelease
from safeside.ledger import Ledger
from safeside.releases import manifest
from safeside.releases.check_claims import check_charged, check_claims
from safeside.releases.check_files import check_files, check_pages
from safeside.releases.manifest import bad
from safeside.releases.release import Release, load_release
from safeside.releases.signature import Signature, check_signature
from safeside.releases.signing import PublicKey, load_public


def verify(
    directory: Path | str, key: Path | str | Sequence[PublicKey], *, ledger: Ledger | None = None
) -> Release:
    """The release, if all of it is true; otherwise BadSignature or BadRelease says what is not.

    Whoever has the ledger can have it checked too that it paid for this release what the release says.

    Example
        >>> import polars as pl
        >>> from safeside import Account, ask, create_key, create_ledger, publish, verify
        >>> visits = pl.DataFrame({
        ...     "person": ["ana", "ben", "chi"],
        ...     "place": ["museum", "museum", "bar"],
        ...     "start": ["2024-03-03T17:00Z"] * 3,
        ...     "end": ["2024-03-03T19:00Z"] * 3,
        ... })
        >>> with create_ledger("ledger.db") as ledger:
        ...     made = ledger.create_dataset("city", "person", epsilon=2)
        >>> key = create_key("safeside.key")
        >>> account = Account(dataset="city", ledger="ledger.db", key="safeside.key", out="release")
        >>> inquiry = ask(places=["bar", "museum"], when="2024-03-03T18:00Z", at_most=2, epsilon=1)
        >>> release = publish(visits, inquiry, account, covers="2024-03-03T00Z/P1D")
        >>> verify("release", key="safeside.key.pub").id == release.id
        True
    """
    keys = load_public(key) if isinstance(key, Path | str) else tuple(key)
    release = load_release(directory)
    if release.simulated:
        raise BadRelease(
            f'"{release.directory}" is a simulation, not a release: it was charged to no ledger and promises '
            "nothing.",
            "Use `safeside.publish(...)` to make a release.",
        )
    signature = check_signature(release.directory, manifest.FILE, keys)
    if signature.sha256 != release.digest:
        raise bad("release.json was replaced while it was looked at")
    check_files(release)
    check_claims(release)
    _check_receipt(release, signature)
    check_pages(release)
    if ledger is not None:
        check_charged(release, ledger)
    return release


def _check_receipt(release: Release, signature: Signature) -> None:
    charged = release.charged()
    if (signature.ledger, signature.reference) != (charged.ledger_id, charged.reference):
        raise bad("the ledger's receipt in signature.json is not of the ledger it names")
