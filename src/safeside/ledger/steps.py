"""Named points on the way from a question to a release.

Each is a moment at which the power may fail. Nothing happens here: a test replaces `reached` in a process of
its own and kills that process at the point it names, so that "a crash at any step" is a list, not a hope.
Call it as `steps.reached(name)`, never by a name imported from here, or a replacement would go unnoticed.
"""

from __future__ import annotations

from typing import Final

BEGUN: Final = "begun"
"""The ledger is locked and has been read; nothing was decided."""
APPENDED: Final = "appended"
"""The event is written inside a transaction that is still open."""
STORED: Final = "stored"
"""The transaction is on the disk; the witness does not know of it."""
WITNESSED: Final = "witnessed"
"""The witness knows too; the caller does not."""
OF_AN_EVENT: Final = (BEGUN, APPENDED, STORED, WITNESSED)


def of(kind: str, step: str) -> str:
    """The name of a step of recording one kind of event."""
    return f"{kind}: {step}"


def reached(name: str) -> None:
    """Say that this point was reached."""
