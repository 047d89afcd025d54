"""Taking back a whole release, for a fault of the software or a formal one of the curator.

A correction is an output (docs/definitions.md). A release that is withdrawn, marked or repeated because of
what the data now say tells the world what they say, without noise and unpaid. So the reasons are few and
none is about the data, withdrawing takes back everything, what was spent stays spent, and the public notice
reads the same for every reason: the ledger alone keeps it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar, Final

from safeside import __version__, disk, records
from safeside.errors import BadQuestion, BadRelease, LedgerForked
from safeside.ledger import Ledger, Stage
from safeside.records import Part, PlainText, Record
from safeside.releases import pages, wording
from safeside.releases.files import MAP, PAGES, REPORT, STATEMENT, WITHDRAWN
from safeside.releases.record import SIGNATURE, File, Software, bad, described, read, written
from safeside.releases.release import Release, load_release
from safeside.releases.signature import check_signature, sign
from safeside.releases.signing import PrivateKey, PublicKey
from safeside.releases.staging import Staging
from safeside.untrusted import visible
from safeside.words import Words

REASONS: Final = ("software-fault", "wrong-file", "wrong-option")
WARNING: Final = (
    "A release must not be withdrawn, marked or repeated because of what the data now say: that would tell "
    "everybody what they say. Later findings do not make a release wrong, because every answer speaks from "
    "the moment it names. Withdraw only what a fault of the software, or a formal mistake (the wrong file, a "
    "wrong option), spoilt, and only if you would do so whatever the answers are. It is taken back whole, "
    "what was spent stays spent, and the public notice does not say which of these it was."
)


class Charged(Part, frozen=True, kw_only=True):
    """The ledger and the dataset that paid."""

    id: PlainText
    dataset: PlainText


class Withdrawn(Record, frozen=True, kw_only=True):
    """withdrawn.json: the notice that stands in the place of a release. It has no place for a reason."""

    kind: ClassVar[str] = "withdrawn"
    release: PlainText
    manifest: str
    """The SHA-256 of the release.json that was withdrawn."""
    withdrawn: PlainText
    ledger: Charged
    software: Software
    files: dict[str, File]


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
            disk.move(notice, directory)
        if os.path.lexists(directory / WITHDRAWN):
            _require_withdrawn(directory, ledger, key)
        else:
            release = load_release(directory)
            _require_known(release, ledger)
            ledger.withdraw(release.id, reason, now=now)
            disk.remove(notice)
            _write_notice(notice, release, ledger, key, now or datetime.now(UTC))
            disk.move(directory, old)
            disk.move(notice, directory)
        disk.remove(old)
    return directory


def _require_withdrawn(directory: Path, ledger: Ledger, key: PrivateKey) -> None:
    """A notice that stands there already is ours, or somebody wants us to believe that all is done."""
    record = read_notice(directory, [key.public])
    known = ledger.reservation(record.release)
    if known is None or known.stage is not Stage.WITHDRAWN or known.manifest != record.manifest:
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
        raise bad("it is not the release the ledger has committed to")


def _write_notice(notice: Path, release: Release, ledger: Ledger, key: PrivateKey, now: datetime) -> None:
    """The same words whatever the reason, which only the ledger keeps: a reason would be an output too."""
    withdrawn = written(now)
    words = release.record.question.words
    page = _page(release.id, withdrawn, words)
    told = [words("notice.withdrawn", when=withdrawn), *notice_sentences(release.id, words)]
    files = {MAP: page, REPORT: page, STATEMENT: "\n".join(wording.wrapped(told)).encode()}
    charged = release.charged()
    data = records.encode(
        Withdrawn(
            release=release.id,
            manifest=release.digest,
            withdrawn=withdrawn,
            ledger=Charged(id=ledger.ledger_id, dataset=charged.dataset),
            software=Software(version=__version__),
            files={name: described(content) for name, content in files.items()},
        )
    )
    signature = sign(data, key, file=WITHDRAWN, ledger=ledger.ledger_id, reference=charged.reference)
    with disk.writing(notice):
        notice.mkdir()
    for name, content in {**files, WITHDRAWN: data, SIGNATURE: signature}.items():
        disk.write(notice / name, content)
    disk.flush(notice)


def notice_sentences(release: str, words: Words) -> list[str]:
    """What the public is told in the place of a release."""
    return [words("notice.whole", release=release), words("notice.why")]


def _page(release: str, withdrawn: str, words: Words) -> bytes:
    """The notice where the map and the report were, so that a link to either still leads to an answer."""
    moment = datetime.fromisoformat(withdrawn)
    return pages.page(
        "notice.html",
        words,
        style="report.css",
        title=words("title.notice"),
        when_iso=withdrawn,
        when_text=words("day.moment", day=words.day(moment, "short"), time=f"{moment:%H:%M} UTC"),
        notice=notice_sentences(release, words),
    )


def read_notice(directory: Path | str, keys: Sequence[PublicKey]) -> Withdrawn:
    """The notice that stands where a release was, if one of these keys signed it and its pages."""
    directory = Path(directory)
    check_signature(directory, WITHDRAWN, keys)
    try:
        notice = records.decode(Withdrawn, read(directory, WITHDRAWN))
    except ValueError:
        raise BadRelease(
            f'"{WITHDRAWN}" cannot be read.', "Ask the publisher whether the release was withdrawn."
        ) from None
    for name, file in notice.files.items():
        try:
            found = described(read(directory, name))
        except OSError:
            found = None
        if name not in PAGES or found != file:
            raise bad(f"{visible(name)} is not the notice that was signed")
    return notice
