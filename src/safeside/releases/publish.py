"""The way in: from what a person types to a publication that can be looked at, and then made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from safeside import untrusted
from safeside.errors import BadQuestion, LedgerMissing, ReleaseError
from safeside.exact import Number
from safeside.ledger import Ledger, Published, Stage, open_ledger
from safeside.ledger.events import canonical, digest
from safeside.ledger.rules import PEOPLE_FLOOR
from safeside.ledger.state import SLACK_SECONDS
from safeside.noise.entropy import Entropy
from safeside.progress import Progress, quiet
from safeside.releases import counting
from safeside.releases import manifest as manifests
from safeside.releases.artefacts import places_digest
from safeside.releases.basemap import read_basemap
from safeside.releases.earlier import remember
from safeside.releases.limits import with_limits
from safeside.releases.manifest import FILE as RELEASE_FILE
from safeside.releases.publication import Publication, Sources
from safeside.releases.question import ADP, NOT_VISITED, Question, Terms, ask
from safeside.releases.release import Release, load
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
from safeside.visits import (
    Confirm,
    Expected,
    Places,
    VisitFormat,
    Window,
    never_confirm,
    read_places,
    require_free_ground,
)

_ID: Final = 24
SUPERSEDE_WARNING: Final = (
    "A release may supersede another only on a schedule that was fixed beforehand, all places together, "
    "whether or not anything changed. It gets fresh noise and is charged in full. If what the data now say "
    "is the reason for this release, stop here: publishing it would tell everybody what they say."
)


@contextmanager
def prepare(
    visits: Any,
    *,
    places: Any,
    when: str,
    terms: Terms,
    dataset: str,
    ledger: str | Path | Ledger,
    out: str | Path,
    visit_format: VisitFormat | None = None,
    exclude_unknown_places: bool = False,
    allow_nobody: bool = False,
    expected: Expected | None = None,
    key: str | Path | PrivateKey = KEY,
    known_on: datetime | None = None,
    supersedes: str | Path | None = None,
    scheduled: bool = False,
    request_id: str | None = None,
    again: bool = False,
    basemap: str | Path | None = None,
    entropy: Entropy | None = None,
    ask_passphrase: Ask | None = None,
) -> Iterator[Publication]:
    """Check the question, the list of places, the ledger, the key and the directory; open no private data."""
    _require_past(known_on)
    form = visit_format or VisitFormat()
    # A list that was put together by hand is looked at like any other.
    listed = read_places(places.table if isinstance(places, Places) else places)
    require_free_ground(listed, form)
    window = Window.parse(when, form.timezone)
    signing = key if isinstance(key, PrivateKey) else load_private(key, ask=ask_passphrase)
    backdrop = None if basemap is None else read_basemap(basemap)
    book = ledger if isinstance(ledger, Ledger) else open_ledger(ledger)
    try:
        known = book.dataset(dataset)
        question = ask(
            listed,
            window,
            with_limits(terms, known, window),
            timezone=form.timezone,
            counted=(counting.rule(window),),
        )
        if not isinstance(key, PrivateKey):
            remember(Path(key), book)
        target = _directory(Path(out))
        siblings, doubtful = _siblings(target, book, _keys(key, signing))
        book.reconcile(siblings)
        if supersedes is not None and not scheduled:
            raise BadQuestion(
                "A release supersedes another only on a schedule, and nobody declared that this one does.",
                f"Declare it with `scheduled=True`, if it is true. {SUPERSEDE_WARNING}",
            )
        earlier = None if supersedes is None else _earlier(supersedes, question, book)
        request = request_id or _request(dataset, question, target, earlier, known_on)
        _require_plain((dataset, request, *form.stay_states))
        publication = Publication(
            question=question,
            sources=Sources(
                visits=visits,
                format=form,
                exclude_unknown_places=exclude_unknown_places,
                allow_nobody=allow_nobody,
                expected=expected,
            ),
            ledger=book,
            dataset=known,
            request=request,
            staging=Staging(out=target, request=request),
            key=signing,
            known_on=known_on,
            supersedes=earlier,
            again=again,
            basemap=backdrop,
            entropy=entropy,
            doubtful=tuple(doubtful),
        )
        publication.require_time()
        yield publication
    finally:
        if not isinstance(ledger, Ledger):
            book.close()


def publish(
    visits: Any,
    *,
    places: Any,
    when: str,
    epsilon: Number,
    dataset: str,
    ledger: str | Path | Ledger,
    out: str | Path,
    at_most: int | None = None,
    delta: Number = 0,
    guarantee: str = ADP,
    policy: str = NOT_VISITED,
    max_places_per_person: int | None = None,
    max_alarms: int | None = None,
    at_least: int | None = None,
    alpha: Number | None = None,
    publish_at_least: bool = False,
    people: int | None = None,
    people_floor: int = PEOPLE_FLOOR,
    decision: bool = False,
    order: str | None = None,
    so_far: bool = False,
    columns: Mapping[str, str] | str | None = None,
    time_format: str | None = None,
    timezone: str | None = None,
    hold: timedelta | str | None = None,
    radius: float | None = None,
    visit_format: VisitFormat | None = None,
    covers: str | None = None,
    exclude_unknown_places: bool = False,
    allow_nobody: bool = False,
    expected: Expected | None = None,
    key: str | Path | PrivateKey = KEY,
    known_on: datetime | None = None,
    supersedes: str | Path | None = None,
    scheduled: bool = False,
    request_id: str | None = None,
    again: bool = False,
    basemap: str | Path | None = None,
    entropy: Entropy | None = None,
    confirm: Confirm = never_confirm,
    progress: Progress = quiet,
) -> Release:
    """Publish what can be said of every place, once, and pay for it.

    Running it again with the same arguments, for instance after a crash, returns the same release and spends
    nothing more; the same question for another directory is refused unless it is asked `again`, and paid
    again. `visit_format` declares everything about the visits at once, instead of the separate arguments;
    `expected` what is known of them and is not published, such as what the export `covers`. What is left out
    because its place is not listed is shown to `confirm`. docs/releases.md has the order of the steps;
    docs/promise.md what is promised.
    """
    given = locals()
    terms = Terms(**{one.name: given[one.name] for one in fields(Terms)})
    form = visit_format or VisitFormat(
        columns=columns or {}, time_format=time_format, timezone=timezone, hold=hold, radius=radius
    )
    known = expected or Expected()
    with prepare(
        visits,
        places=places,
        when=when,
        terms=terms,
        dataset=dataset,
        ledger=ledger,
        out=out,
        visit_format=form,
        exclude_unknown_places=exclude_unknown_places,
        allow_nobody=allow_nobody,
        expected=known if covers is None else replace(known, covers=covers),
        key=key,
        known_on=known_on,
        supersedes=supersedes,
        scheduled=scheduled,
        request_id=request_id,
        again=again,
        basemap=basemap,
        entropy=entropy,
    ) as publication:
        return publication.run(progress, confirm=confirm)


def _directory(out: Path) -> Path:
    """The directory itself, with a name: it appears by a rename, which a link or a dot would not survive."""
    return out.resolve() if out.is_symlink() or out.name in ("", "..") else out


def _require_past(known_on: datetime | None) -> None:
    """What becomes known later must not be claimed to be counted: that is how "never wrong" would end."""
    if known_on is None:
        return
    if known_on.tzinfo is None or known_on > datetime.now(UTC) + timedelta(seconds=SLACK_SECONDS):
        raise BadQuestion(
            "The moment the data speak from lies in the future, or has no time zone.",
            "Give `known_on=` as a moment that has passed, or leave it out.",
        )


def _request(
    dataset: str, question: Question, out: Path, supersedes: str | None, known_on: datetime | None
) -> str:
    """The same question for the same directory is the same request, so that a repeated command is a retry."""
    asked = {
        "dataset": dataset,
        "question": question.recorded(),
        "out": str(out.resolve()),
        "supersedes": supersedes,
        "known_on": None if known_on is None else known_on.astimezone(UTC).isoformat(),
    }
    return f"r-{digest(canonical(asked))[:_ID]}"


def _keys(key: str | Path | PrivateKey, signing: PrivateKey) -> tuple[PublicKey, ...]:
    """Every public key of this publisher: the one in use, and those of the keyring beside it."""
    ring = None if isinstance(key, PrivateKey) else keyring_path(Path(key))
    return (signing.public, *(load_public(ring) if ring is not None and ring.is_file() else ()))


def _siblings(out: Path, ledger: Ledger, keys: Sequence[PublicKey]) -> tuple[list[Published], list[Path]]:
    """The releases beside this one that the ledger forgot, and those that only say they are of it.

    The first are signed, and must be on the ledger's account. Anybody who may write there can make one of
    the second: it is named to the curator, and stops nothing. A release that the ledger committed to is known
    by the digest of its release.json and not looked at further: there may be thousands.
    """
    found, doubtful = [], []
    for directory in _unknown(out.parent, ledger):
        try:
            release = load(directory)
            if release.simulated or release.charged().ledger_id != ledger.ledger_id:
                continue
        except ReleaseError:
            continue
        try:
            signed = check_signature(directory, RELEASE_FILE, keys).sha256 == release.digest
        except ReleaseError:
            signed = False
        if signed:
            found.append(release.charged())
        else:
            doubtful.append(directory)
    return found, doubtful


def _unknown(parent: Path, ledger: Ledger) -> list[Path]:
    """The directories with a release.json that this ledger did not commit to."""
    there = [one for one in parent.iterdir() if not one.name.startswith(".")] if parent.is_dir() else []
    digests = {}
    for directory in sorted(there):
        with suppress(OSError, ReleaseError):
            digests[directory] = manifests.digest(manifests.read(directory, RELEASE_FILE))
    known = ledger.committed_of(digests.values())
    return [directory for directory, digest in digests.items() if digest not in known]


def _require_plain(texts: Iterable[str]) -> None:
    """A release is read in terminals: what it is called by must not paint there."""
    if any(map(untrusted.CONTROL.search, texts)):
        raise BadQuestion(
            "The name of the dataset, the request id or a state of the visits holds a control character.",
            "Use letters, digits and marks that can be seen.",
        )


def _earlier(supersedes: str | Path, question: Question, ledger: Ledger) -> str:
    """The release that is superseded: one this ledger published, about the same places and time."""
    directory = Path(supersedes)
    named = load(directory).id if directory.is_dir() else str(supersedes)
    known = ledger.reservation(named)
    if known is None or known.stage is not Stage.COMMITTED:
        raise LedgerMissing(
            f'The ledger knows of no published release "{named}" that could be superseded.',
            "Give the directory of a release of this ledger, or its id (`release` in release.json).",
        )
    earlier = ledger.question(known)
    same = (earlier.get("window"), places_digest(earlier.get("targets") or ())) == (
        question.window.text,
        places_digest(question.places.ids),
    )
    if not same:
        raise BadQuestion(
            f'The release "{named}" is about other places or another time.',
            "A release is superseded as a whole: ask about the same places and the same time.",
        )
    return named
