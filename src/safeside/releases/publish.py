"""The way in: from a question and an account to a publication that can be looked at, and then made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from safeside import records, untrusted
from safeside.errors import BadQuestion, LedgerMissing, MadeByNewer, ReleaseError
from safeside.ledger import Ledger, Published, Stage, open_ledger
from safeside.ledger.rules import SLACK
from safeside.noise.entropy import Entropy
from safeside.progress import Progress, quiet
from safeside.releases.asking import ARGUMENTS, Inquiry, ask, require_declared
from safeside.releases.basemap import backdrop
from safeside.releases.earlier import remember
from safeside.releases.preview import Preview
from safeside.releases.publication import Publication
from safeside.releases.question import Targets
from safeside.releases.record import FILE, read
from safeside.releases.release import Release, load_release
from safeside.releases.signature import check_signature
from safeside.releases.signing import (
    KEY,
    Ask,
    PrivateKey,
    PublicKey,
    keyring_path,
    load_private,
    load_public,
)
from safeside.releases.staging import Staging
from safeside.visits import Confirm, Expected, never_confirm

_ID: Final = 24
SUPERSEDE_WARNING: Final = (
    "A release may supersede another only on a schedule that was fixed beforehand, all places together, "
    "whether or not anything changed. It gets fresh noise and is charged in full. If what the data now say "
    "is the reason for this release, stop here: publishing it would tell everybody what they say."
)


@dataclass(frozen=True, kw_only=True)
class Account:
    """Where a release is paid for, signed and put, and what it says beside its answers.

    Example
        >>> from safeside import Account
        >>> Account(dataset="city", ledger="ledger.db", out="release").key
        'safeside.key'
    """

    ledger: str | Path | Ledger
    dataset: str
    out: str | Path
    key: str | Path | PrivateKey = KEY
    request_id: str | None = None
    """Your own name for the request; the same id pays once."""
    again: bool = False
    """Pay for a question although it was answered before."""
    known_on: datetime | None = None
    """The moment the data speak from; now, if left out."""
    supersedes: str | Path | None = None
    scheduled: bool = False
    """That the release supersedes another on a schedule that was fixed beforehand."""
    basemap: str | Path | None = None

    def __post_init__(self) -> None:
        """What becomes known later must not be claimed to be counted: that is how "never wrong" would end."""
        moment = self.known_on
        if moment is not None and (moment.tzinfo is None or moment > datetime.now(UTC) + SLACK):
            raise BadQuestion(
                "The moment the data speak from lies in the future, or has no time zone.",
                "Give `known_on=` as a moment that has passed, or leave it out.",
            )
        if self.supersedes is not None and not self.scheduled:
            raise BadQuestion(
                "A release supersedes another only on a schedule, and nobody declared that this one does.",
                f"Declare it with `scheduled=True`, if it is true. {SUPERSEDE_WARNING}",
            )


_ACCOUNT: Final = frozenset(one.name for one in fields(Account))


@contextmanager
def prepare(
    visits: Any,
    question: Inquiry | None = None,
    account: Account | None = None,
    *,
    allow_nobody: bool = False,
    expected: Expected | None = None,
    covers: str | None = None,
    entropy: Entropy | None = None,
    ask_passphrase: Ask | None = None,
    **given: Any,
) -> Iterator[Publication]:
    """Check the question, the list of places, the ledger, the key and the directory; open no private data.

    The question and the account may be given by their arguments instead: see `ask` and `Account`.
    """
    asked, paying = _split(given, question, account)
    account = account or Account(**paying)
    path = None if isinstance(account.key, PrivateKey) else Path(account.key)
    signing = account.key
    if not isinstance(signing, PrivateKey):
        signing = load_private(signing, ask=ask_passphrase)
    with ExitStack() as closing:
        lent = account.ledger
        book = lent if isinstance(lent, Ledger) else closing.enter_context(open_ledger(lent))
        known = book.dataset(account.dataset)
        inquiry = question or ask(**asked, dataset=known)
        require_declared(inquiry.question, known)
        _require_forecast(inquiry)
        _require_published(inquiry.question.method.builds_on, book)
        keys = [signing.public]
        if path is not None:
            remember(path, book)
            keys += load_public(keyring_path(path)) if keyring_path(path).is_file() else ()
        target = _directory(Path(account.out))
        siblings, doubtful = _siblings(target, book, keys)
        book.reconcile(siblings)
        earlier = None if account.supersedes is None else _earlier(account.supersedes, inquiry, book)
        request = account.request_id or _request(account, inquiry, target, earlier)
        _require_plain((account.dataset, request, *inquiry.format.stay_states))
        declared = expected or Expected()
        publication = Publication(
            inquiry=inquiry,
            visits=visits,
            allow_nobody=allow_nobody,
            expected=declared if covers is None else replace(declared, covers=covers),
            ledger=book,
            dataset=known,
            request=request,
            staging=Staging(out=target, request=request),
            key=signing,
            known_on=account.known_on,
            supersedes=earlier,
            again=account.again,
            basemap=backdrop(account.basemap, inquiry.places),
            entropy=entropy,
            doubtful=tuple(doubtful),
        )
        publication.require_time()
        yield publication


def publish(
    visits: Any,
    question: Inquiry | None = None,
    account: Account | None = None,
    *,
    expected: Expected | None = None,
    covers: str | None = None,
    allow_nobody: bool = False,
    entropy: Entropy | None = None,
    confirm: Confirm = never_confirm,
    progress: Progress = quiet,
    **given: Any,
) -> Release:
    """Publish what can be said of every place, once, and pay for it.

    The question and the account are made by `ask` and `Account`, or given by their arguments at once:
    `publish(visits, places=..., when=..., at_most=2, epsilon=1, ledger=..., dataset=..., out=...)`.

    Running it again with the same arguments, for instance after a crash, returns the same release and spends
    nothing more; the same question for another directory is refused unless it is asked `again`, and paid
    again. `expected` declares what is known of the visits and is not published, such as what the export
    `covers`; `allow_nobody` that there may have been nobody anywhere. What is left out because its place is
    not listed is shown to `confirm`. docs/releases.md has the order of the steps; docs/promise.md what is
    promised.

    Example
        >>> import polars as pl
        >>> from safeside import Account, ask, create_key, create_ledger, publish
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
        >>> print(release.summary())
        Sunday 3 March 2024, 18:00 (UTC).
        At most 2 known infected visitors: ... of 2 places.
        Cannot say: ...
    """
    with prepare(
        visits,
        question,
        account,
        expected=expected,
        covers=covers,
        allow_nobody=allow_nobody,
        entropy=entropy,
        **given,
    ) as publication:
        return publication.run(progress, confirm=confirm)


def quote(
    question: Inquiry | None = None,
    account: Account | None = None,
    *,
    now: datetime | None = None,
    **given: Any,
) -> Preview:
    """What a release would promise, show and cost; no visits are read, and nothing is spent.

    Example
        >>> from safeside import create_key, create_ledger, quote
        >>> with create_ledger("ledger.db") as ledger:
        ...     made = ledger.create_dataset("city", "person", epsilon=2)
        >>> key = create_key("safeside.key")
        >>> asked = {"places": ["bar", "museum"], "when": "2024-03-03T18:00Z", "at_most": 2, "epsilon": 1}
        >>> print(quote(**asked, dataset="city", ledger="ledger.db", out="release").question)
        At most 2 known infected visitors? At each of 2 places, Sunday 3 March 2024, 18:00 (UTC).
    """
    with prepare(None, question, account, **given) as publication:
        return publication.preview(now or datetime.now(UTC))


def _split(
    given: Mapping[str, Any], question: Inquiry | None, account: Account | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments of the question and those of the account; what would be ignored is refused."""
    # The dataset is one of the account; the question is told of its limits.
    asked = {name: value for name, value in given.items() if name in ARGUMENTS - _ACCOUNT}
    paying = {name: value for name, value in given.items() if name in _ACCOUNT}
    for name in given.keys() - asked.keys() - paying.keys():
        raise TypeError(f"publish() got an unexpected keyword argument '{name}'")
    for whole, parts, called in ((question, asked, "question"), (account, paying, "account")):
        if whole is not None and parts:
            raise BadQuestion(
                f"`{min(parts)}=` was given beside a whole {called}, and would be ignored.",
                f"Put it into the {called}, or give every argument of the {called} separately.",
            )
    return asked, paying


def _directory(out: Path) -> Path:
    """The directory itself, with a name: it appears by a rename, which a link or a dot would not survive."""
    return out.resolve() if out.is_symlink() or out.name in ("", "..") else out


def _request(account: Account, inquiry: Inquiry, out: Path, supersedes: str | None) -> str:
    """The same question for the same directory is the same request, so that a repeated command is a retry."""
    moment = account.known_on
    asked = {
        "dataset": account.dataset,
        # Other words for how the same visits are read do not make it another request.
        "question": msgspec.structs.replace(inquiry.question, reading={}),
        "out": str(out.resolve()),
        "supersedes": supersedes,
        "known_on": None if moment is None else moment.astimezone(UTC).isoformat(),
    }
    return f"r-{records.digest(records.canonical(asked))[:_ID]}"


def _siblings(out: Path, ledger: Ledger, keys: Sequence[PublicKey]) -> tuple[list[Published], list[Path]]:
    """The releases beside this one that the ledger forgot, and those that only say they are of it.

    The first are signed, and must be on the ledger's account. Anybody who may write there can make one of
    the second: it is named to the curator, and stops nothing. A release that the ledger committed to is known
    by the digest of its release.json and not looked at further: there may be thousands.
    """
    found, doubtful = [], []
    for directory in _unknown(out.parent, ledger):
        try:
            release = load_release(directory)
            if release.simulated or release.charged().ledger_id != ledger.ledger_id:
                continue
        except (ReleaseError, MadeByNewer):
            continue
        with suppress(ReleaseError):
            if check_signature(directory, FILE, keys).sha256 == release.digest:
                found.append(release.charged())
                continue
        doubtful.append(directory)
    return found, doubtful


def _unknown(parent: Path, ledger: Ledger) -> list[Path]:
    """The directories with a release.json that this ledger did not commit to."""
    there = [one for one in parent.iterdir() if not one.name.startswith(".")] if parent.is_dir() else []
    digests = {}
    for directory in sorted(there):
        with suppress(OSError, ReleaseError):
            digests[directory] = records.digest(read(directory, FILE))
    known = ledger.committed_of(digests.values())
    return [directory for directory, digest in digests.items() if digest not in known]


def _require_plain(texts: Iterable[str]) -> None:
    """A release is read in terminals: what it is called by must not paint there."""
    if any(map(untrusted.CONTROL.search, texts)):
        raise BadQuestion(
            "The name of the dataset, the request id or a state of the visits holds a control character.",
            "Use letters, digits and marks that can be seen.",
        )


def _require_forecast(inquiry: Inquiry) -> None:
    """The forecast that is used is the one whose digest is recorded: refused before anything is paid."""
    named, known = inquiry.question.forecast, inquiry.known
    if named is not None and (known is None or inquiry.question.method.forecast(known) != named):
        raise BadQuestion(
            "The forecast is not the one that the question names by its digest.",
            "Use the question as `safeside.ask` made it.",
        )


def _require_published(digests: Sequence[str], ledger: Ledger) -> None:
    """What a forecast was learned from are outputs, paid for here; anything else may come from the data."""
    if ledger.committed_of(digests) != set(digests):
        raise BadQuestion(
            "A release that the forecast was learned from is not one that this ledger published.",
            "Give `learn_from=` releases of this ledger, as they were published.",
        )


def _earlier(supersedes: str | Path, inquiry: Inquiry, ledger: Ledger) -> str:
    """The release that is superseded: one this ledger published, about the same places and time."""
    directory = Path(supersedes)
    named = load_release(directory).id if directory.is_dir() else str(supersedes)
    known = ledger.reservation(named)
    if known is None or known.stage is not Stage.COMMITTED:
        raise LedgerMissing(
            f'The ledger knows of no published release "{named}" that could be superseded.',
            "Give the directory of a release of this ledger, or its id (`release` in release.json).",
        )
    earlier = ledger.question(known)
    about = earlier.get("window"), Targets.of(earlier.get("targets") or ())
    if about != (inquiry.question.time, inquiry.question.targets):
        raise BadQuestion(
            f'The release "{named}" is about other places or another time.',
            "A release is superseded as a whole: ask about the same places and the same time.",
        )
    return named
