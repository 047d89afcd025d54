"""Taking back a whole release, for a fault of the software or a formal one of the curator.

A correction is an output (THEORY section 8). A release that is withdrawn, marked or repeated because of what
the data now say tells the world what they say, without noise and unpaid. So the reasons are few and none is
about the data, withdrawing takes back everything, what was spent stays spent, and the public notice reads
the same for every reason: the ledger alone keeps it.
"""

from __future__ import annotations

import html
import json
import os
import textwrap
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from safeside import __version__
from safeside.errors import BadQuestion, BadRelease, LedgerForked
from safeside.ledger import Ledger, Stage
from safeside.releases import durable, manifest, pages
from safeside.releases.release import MAP, REPORT, STATEMENT, WITHDRAWN, Release, load
from safeside.releases.signing import PrivateKey, PublicKey
from safeside.releases.staging import Staging
from safeside.releases.verify import check_signature, sign
from safeside.untrusted import visible

REASONS: Final = ("software-fault", "wrong-file", "wrong-option")
SCHEMA: Final = "safeside-withdrawal/1"
_PAGES: Final = frozenset({MAP, REPORT, STATEMENT})
_WIDTH: Final = 96
_SHAPE: Final[Mapping[str, object]] = {
    "schema": str,
    "release": str,
    "manifest": str,
    "withdrawn": str,
    "ledger": {"id": str, "dataset": str},
    "software": {"name": str, "version": str},
    "files": manifest.FILES,
}
WARNING: Final = (
    "A release must not be withdrawn, marked or repeated because of what the data now say: that would tell "
    "everybody what they say. Later findings do not make a release wrong, because every answer speaks from "
    "the moment it names. Withdraw only what a fault of the software, or a formal mistake (the wrong file, a "
    "wrong option), spoilt, and only if you would do so whatever the answers are. It is taken back whole, "
    "what was spent stays spent, and the public notice does not say which of these it was."
)


def require_reason(reason: str) -> None:
    """One of the few there are."""
    if reason not in REASONS:
        raise BadQuestion(
            f'"{reason}" is not a reason to withdraw a release.',
            f"The reasons are {', '.join(REASONS[:-1])} and {REASONS[-1]}. {WARNING}",
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
        if os.path.lexists(directory / WITHDRAWN):
            _require_withdrawn(directory, ledger, key)
        else:
            release = load(directory)
            _require_known(release, ledger)
            ledger.withdraw(release.id, reason, now=now)
            durable.remove(notice)
            _write_notice(notice, release, ledger, key, now or datetime.now(UTC))
            durable.move(directory, old)
            durable.move(notice, directory)
        durable.remove(old)
    return directory


def _require_withdrawn(directory: Path, ledger: Ledger, key: PrivateKey) -> None:
    """A notice that stands there already is ours, or somebody wants us to believe that all is done."""
    record = read_notice(directory, [key.public])
    known = ledger.reservation(record["release"])
    if known is None or known.stage is not Stage.WITHDRAWN or known.manifest != record["manifest"]:
        raise LedgerForked(
            f'The notice in "{directory}" speaks of a release that was not withdrawn in {ledger.where}.',
            "Give the ledger it was charged to; if the directory was exchanged, put the release back first.",
        )


def _require_known(release: Release, ledger: Ledger) -> None:
    known = ledger.reservation(release.id)
    if release.charged().ledger_id != ledger.ledger_id or known is None or known.stage is Stage.RESERVED:
        raise LedgerForked(
            f'The release in "{release.directory}" was not charged to {ledger.where}.',
            "Give the ledger it was charged to: its id is in release.json.",
        )
    if known.manifest != release.digest:
        raise manifest.bad("it is not the release the ledger has committed to")


def _write_notice(notice: Path, release: Release, ledger: Ledger, key: PrivateKey, now: datetime) -> None:
    """The same words whatever the reason, which only the ledger keeps: a reason would be an output too."""
    record: dict[str, Any] = {
        "schema": SCHEMA,
        "release": release.id,
        "manifest": release.digest,
        "withdrawn": now.astimezone(UTC).isoformat(timespec="seconds"),
        "ledger": {"id": ledger.ledger_id, "dataset": release.charged().dataset},
        "software": {"name": "safeside", "version": __version__},
    }
    page = _page(record)
    files = {MAP: page, REPORT: page, STATEMENT: _statement(record)}
    record["files"] = {name: manifest.file_entry(data) for name, data in files.items()}
    data = (json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()
    receipt = {"ledger": ledger.ledger_id, "reference": release.charged().reference}
    with durable.writing(notice):
        notice.mkdir()
    for name, content in {**files, WITHDRAWN: data, manifest.SIGNATURE: sign(data, receipt, key)}.items():
        durable.write(notice / name, content)
    durable.flush(notice)


def notice_sentences(record: Mapping[str, Any]) -> list[str]:
    """What the public is told in the place of a release."""
    return [
        f"The release {record['release']} was withdrawn as a whole. Do not use it, nor copies of it.",
        "A release is withdrawn because of a fault of the software that made it or of a formal mistake in "
        "making it, such as the wrong file or a wrong option. Which of these it was is not published, and "
        "this notice reads the same for each. It says nothing about any place or person.",
    ]


def _statement(record: Mapping[str, Any]) -> bytes:
    told = [f"Withdrawn on {record['withdrawn']}.", *notice_sentences(record)]
    lines = [line for text in told for line in (*textwrap.wrap(text, _WIDTH), "")]
    return "\n".join(lines).encode()


def _page(record: Mapping[str, Any]) -> bytes:
    """The notice where the map and the report were, so that a link to either still leads to an answer."""
    moment = datetime.fromisoformat(record["withdrawn"])
    return pages.fill(
        "notice.html",
        {
            "csp": html.escape(pages.policy(None)),
            "version": html.escape(record["software"]["version"]),
            "title": "This release was withdrawn",
            "style": pages.asset("report.css"),
            "when_iso": html.escape(record["withdrawn"]),
            "when_text": f"{moment.day} {moment:%B %Y, %H:%M} UTC",
            "notice": pages.paragraphs(notice_sentences(record)),
            "footer": f"Made with safeside {html.escape(record['software']['version'])}. "
            "Signed: check it with <code>safeside verify</code>.",
        },
    )


def read_notice(directory: Path | str, keys: Sequence[PublicKey]) -> dict[str, Any]:
    """The notice that stands where a release was, if one of these keys signed it and its pages."""
    directory = Path(directory)
    check_signature(directory, WITHDRAWN, keys)
    record = manifest.parse(manifest.read(directory, WITHDRAWN), WITHDRAWN)
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        raise BadRelease(
            f'"{WITHDRAWN}" cannot be read.', "Ask the publisher whether the release was withdrawn."
        )
    manifest.check_shape(record, _SHAPE, WITHDRAWN)
    for name, entry in record["files"].items():
        try:
            found = manifest.file_entry(manifest.read(directory, name))
        except OSError:
            found = None
        if name not in _PAGES or found != entry:
            raise manifest.bad(f"{visible(name)} is not the notice that was signed")
    return record
