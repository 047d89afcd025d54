"""Taking back a whole release, for a fault of the software and for nothing else.

A correction is an output (THEORY section 8). A release that is withdrawn, marked or repeated because of what
the data now say tells the world what they say, without noise and unpaid. So there is one reason, it takes
back everything, and what was spent stays spent.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from safeside.errors import BadQuestion, BadRelease, LedgerForked
from safeside.ledger import Ledger, Stage
from safeside.releases import durable, manifest
from safeside.releases.release import STATEMENT, WITHDRAWN, Release, load
from safeside.releases.signing import PrivateKey, PublicKey
from safeside.releases.staging import Staging
from safeside.releases.verify import check_signature, sign

SOFTWARE_FAULT: Final = "software-fault"
SCHEMA: Final = "safeside-withdrawal/1"
WARNING: Final = (
    "A release must not be withdrawn, marked or repeated because of what the data now say: that would tell "
    "everybody what they say. Later findings do not make a release wrong, because every answer speaks from "
    "the moment it names. Withdraw only what a fault of the software spoilt; it is taken back whole, and "
    "what was spent stays spent."
)
SUPERSEDE_WARNING: Final = (
    "A release may supersede another only on a schedule that was fixed beforehand, all places together, "
    "whether or not anything changed. It gets fresh noise and is charged in full. If what the data now say "
    "is the reason for this release, stop here: publishing it would tell everybody what they say."
)


def require_reason(reason: str) -> None:
    """The one reason there is."""
    if reason != SOFTWARE_FAULT:
        raise BadQuestion(
            f'"{reason}" is not a reason to withdraw a release.',
            f"The only reason is --reason {SOFTWARE_FAULT}. {WARNING}",
        )


def withdraw(
    directory: Path | str, *, reason: str, ledger: Ledger, key: PrivateKey, now: datetime | None = None
) -> Path:
    """Replace a release by a signed notice that it was withdrawn. Doing it twice changes nothing."""
    require_reason(reason)
    directory = Path(directory)
    staging = Staging(out=directory, request=f"withdraw {directory.resolve()}")
    with staging.turn():
        notice, old = staging.beside("notice"), staging.beside("old")
        if old.exists() and not directory.exists():
            # A crash came between the two renames below.
            durable.move(notice, directory)
        if not (directory / WITHDRAWN).is_file():
            release = load(directory)
            _require_known(release, ledger)
            ledger.withdraw(release.id, reason, now=now)
            durable.remove(notice)
            _write_notice(notice, release, reason, ledger, key, now or datetime.now(UTC))
            durable.move(directory, old)
            durable.move(notice, directory)
        durable.remove(old)
    return directory


def _require_known(release: Release, ledger: Ledger) -> None:
    known = ledger.reservation(release.id)
    if release.charged().ledger_id != ledger.ledger_id or known is None or known.stage is Stage.RESERVED:
        raise LedgerForked(
            f'The release in "{release.directory}" was not charged to {ledger.where}.',
            "Give the ledger it was charged to: its id is in release.json.",
        )
    if known.manifest != release.digest:
        raise manifest.bad("it is not the release the ledger has committed to")


def _write_notice(
    notice: Path, release: Release, reason: str, ledger: Ledger, key: PrivateKey, now: datetime
) -> None:
    record = {
        "schema": SCHEMA,
        "release": release.id,
        "manifest": release.digest,
        "reason": reason,
        "withdrawn": now.astimezone(UTC).isoformat(timespec="seconds"),
        "ledger": {"id": ledger.ledger_id, "dataset": release.charged().dataset},
    }
    data = (json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()
    receipt = {"ledger": ledger.ledger_id, "reference": release.charged().reference}
    with durable.writing(notice):
        notice.mkdir()
    durable.write(notice / WITHDRAWN, data)
    durable.write(notice / STATEMENT, _statement(record).encode())
    durable.write(notice / manifest.SIGNATURE, sign(data, receipt, key))
    durable.flush(notice)


def _statement(record: dict[str, Any]) -> str:
    text = (
        f"The release {record['release']} was withdrawn on {record['withdrawn']} because of a fault of the "
        "software that made it. It was withdrawn as a whole. This says nothing about any place or person: no "
        "release is ever withdrawn because of what the data say."
    )
    return "\n".join([*textwrap.wrap(text, 96), ""])


def read_notice(directory: Path | str, keys: Sequence[PublicKey]) -> dict[str, Any]:
    """The notice that stands where a release was, if one of these keys signed it."""
    directory = Path(directory)
    check_signature(directory, WITHDRAWN, keys)
    record = manifest.parse(manifest.read(directory, WITHDRAWN), WITHDRAWN)
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        raise BadRelease(
            f'"{WITHDRAWN}" cannot be read.', "Ask the publisher whether the release was withdrawn."
        )
    return record
