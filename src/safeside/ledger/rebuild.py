"""A database that is lost or damaged is made anew from its witness, event by event, digests and all.

What is still there is kept under another name, never deleted, and its rows are used where they fit: each
event names the digest of the one before, so a row can fill a gap and cannot take the place of another. The
keys of draws are in the database alone: what was committed and had not appeared stays charged, unfinished.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from safeside.errors import LedgerMissing, LedgerTampered
from safeside.ledger import addresses, events
from safeside.ledger.events import Event, LedgerCreated
from safeside.ledger.refusals import begin
from safeside.ledger.state import State
from safeside.ledger.store import Identity, Row, Store
from safeside.ledger.witness import Witness, witness_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Rebuilt:
    """What was made anew."""

    events: int
    last: datetime
    """When the last event happened: another machine may know of later ones."""
    aside: str | None
    """Where the damaged database is kept, if there was any."""


def traces(store: Store) -> list[Path]:
    """What shows that there was a ledger at this address: its witnesses, and a note of the address."""
    found = [] if store.beside is None or not store.beside.exists() else [store.beside]
    for note, ledger_id in addresses.known(store.addresses()).items():
        witness = witness_of(ledger_id)
        found.append(witness if ledger_id and witness.exists() else note)
    return list(dict.fromkeys(found))


def rebuild(store: Store, given: Sequence[Path] = ()) -> Rebuilt:
    """Make the ledger anew; LedgerMissing or LedgerTampered where no witness has all of it."""
    kept_identity, rows = store.salvage()
    named = [*addresses.known(store.addresses()).values(), kept_identity.ledger_id if kept_identity else ""]
    own = [store.beside] if store.beside else []
    own += [witness_of(one) for one in named if one]
    witnesses = [Witness(path) for path in dict.fromkeys([*own, *given])]
    for witness in witnesses:
        witness.refresh_size()
    seen = [event for witness in witnesses for line in witness.news() if (event := _read(line.body))]
    if not seen:
        raise LedgerMissing(
            f"{begin(store.where)} cannot be made anew: no witness of it was found.",
            'Restore the database from a backup, or give a witness with `witnesses=["FILE"]`. Witnesses '
            "stand beside the database and in the state directory of every machine that used it.",
        )
    chain = _chain(seen, rows)
    documents = _documents(chain, witnesses)
    keys = {key for witness in witnesses for key in witness.keys}
    identity = _identity(chain[0], keys | ({kept_identity.fingerprint_key} if kept_identity else set()))
    aside = store.aside()
    store.create(identity, chain, documents)
    return Rebuilt(events=len(chain), last=chain[-1].time, aside=aside)


def _read(body: str) -> Event | None:
    with suppress(ValueError):
        return events.parse(body)
    return None


def _chain(seen: list[Event], rows: list[Row]) -> list[Event]:
    """The longest list that was witnessed, back to its beginning, and what the database has after it."""
    stored = [event for _, _, body in rows if (event := _read(body))]
    known = {event.digest: event for event in [*stored, *seen]}
    after = {event.previous: event for event in stored}
    last = max(seen, key=lambda event: (event.number, event.time, event.digest))
    chain = [last]
    while chain[-1].number > 1:
        before = known.get(chain[-1].previous)
        if before is None:
            raise _hole(chain[-1].number - 1)
        chain.append(before)
    chain.reverse()
    witnessed, state = len(chain), State()
    while (following := after.get(chain[-1].digest)) is not None:
        chain.append(following)
    for at, event in enumerate(chain):
        try:
            state.read(event.number, event.digest, event.body)
        except LedgerTampered:
            if at >= witnessed:
                return chain[:at]
            raise LedgerTampered(
                f"The ledger cannot be made anew: event {event.number} of its witness cannot be true.",
                _BACKUP,
            ) from None
    return chain


def _documents(chain: list[Event], witnesses: list[Witness]) -> dict[str, str]:
    found = {}
    for event in chain:
        for digest in events.documents_of(event.action):
            if digest not in found:
                bodies = (one.document(digest) for one in witnesses)
                body = next((one for one in bodies if one is not None), None)
                if body is None:
                    raise _hole(event.number)
                found[digest] = body
    return found


def _identity(first: Event, keys: set[str]) -> Identity:
    """The name and the key of the ledger; a key is known by its digest, which the first event holds."""
    assert isinstance(first.action, LedgerCreated)
    key = next((one for one in keys if events.digest(one) == first.action.key), None)
    if key is None:
        raise LedgerTampered(
            "The fingerprint key of the ledger is in no witness, so the ledger cannot be made anew: files "
            "could no longer be told apart.",
            _BACKUP,
        )
    return Identity(ledger_id=first.action.ledger, fingerprint_key=key)


def _hole(number: int) -> LedgerTampered:
    return LedgerTampered(
        f"The ledger cannot be made anew: event {number}, or a part of its question, is in no witness that "
        "was found.",
        _BACKUP,
    )


_BACKUP = (
    'Give the witness of another machine with `witnesses=["FILE"]`, or restore the database from a backup '
    "and run `safeside.recover_ledger(...)`. The database was left as it is."
)
