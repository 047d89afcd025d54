"""In which words a ledger is refused that is not there, cannot be reached, or cannot be trusted."""

from __future__ import annotations

from datetime import UTC, datetime

from safeside.errors import (
    ClockBackwards,
    LedgerDamaged,
    LedgerForked,
    LedgerMissing,
    LedgerTampered,
    StoreUnavailable,
)


def missing(where: str) -> LedgerMissing:
    """There is no ledger; nobody but `ledger create` makes one."""
    return LedgerMissing(
        f"{begin(where)} does not exist.",
        "Check the address. A ledger is made once, with `safeside.create_ledger(...)`; publishing never "
        "makes one.",
    )


def damaged(where: str) -> LedgerDamaged:
    """What is there is not, or no longer, a ledger."""
    return LedgerDamaged(
        f"{begin(where)} is not a ledger, or is damaged.",
        "Check the address; if it is right, run `safeside.recover_ledger(...)`, which keeps what is there "
        "aside and makes the ledger anew from its witness.",
    )


def gone(where: str, why: str) -> StoreUnavailable:
    """The database cannot be reached, or went away on the way."""
    return StoreUnavailable(
        f"{begin(where)} cannot be reached ({why}).",
        "Nothing was published. Bring the database back and run the same command again with the same request "
        "id: what was recorded before it went away is charged once, not twice.",
    )


def busy(where: str, seconds: float) -> StoreUnavailable:
    """Somebody else has held the ledger for too long."""
    return StoreUnavailable(
        f"{begin(where)} was busy for {seconds:g} seconds.",
        "Nothing was spent. Look for another safeside that hangs, then run the same command again.",
    )


def begin(where: str) -> str:
    """The name of a ledger at the beginning of a sentence."""
    return where[:1].upper() + where[1:]


def cannot_write(where: str, why: str) -> StoreUnavailable:
    """The file of a ledger can only be read."""
    return StoreUnavailable(
        f"{begin(where)} cannot be written ({why}).",
        "Nothing was spent. Give this user the right to write to the file and its directory, or choose "
        "another place.",
    )


def tampered(number: int, why: str) -> LedgerTampered:
    """The error for an event that cannot be true."""
    return LedgerTampered(
        f"The ledger was altered: event {number} cannot be trusted ({why}).",
        "Publish nothing from it. Run `safeside.recover_ledger(...)`, which keeps this database aside and "
        "makes the ledger anew from its witness.",
    )


def forked(where: str, lost: int) -> LedgerForked:
    """Something was published that this chain does not know."""
    return LedgerForked(
        f"{begin(where)} has forgotten {lost} event{'s' if lost > 1 else ''} that it once "
        "held: it was restored from a backup, or a copy of it was used.",
        "Nothing can be published until what was published since is charged again. Run "
        '`safeside.recover_ledger(...)`, with `releases=["DIR"]` for each release of which another copy of '
        "the ledger may know.",
    )


def exchanged() -> LedgerForked:
    """The witness, or what the state directory remembers of this address, is of another ledger."""
    return LedgerForked(
        "The witness belongs to another ledger than the one that is here now.",
        "Put back the ledger that was here, or move this one, without the witness, to a place of its own.",
    )


def clock_behind(now: datetime, last: datetime) -> ClockBackwards:
    """The clock says a moment before the last event."""
    here, there = (one.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC") for one in (now, last))
    return ClockBackwards(
        f"The clock says {here}, but the ledger's last event is of {there}.",
        "Nothing was spent. Set the clock right and run the same command again; if it is right, and was "
        "wrong before, say so with `safeside.recover_ledger(..., accept_clock=True)`.",
    )
