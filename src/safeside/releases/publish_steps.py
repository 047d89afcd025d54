"""The steps of a publication by name, in their order: between any two of them a process may be killed."""

from __future__ import annotations

from typing import Final

ASKED: Final = "publish: the question is checked"
RESERVED: Final = "publish: the reservation is paid"
COUNTED: Final = "publish: people are counted"
ORDERED: Final = "publish: the order is fixed"
OPENED: Final = "publish: a file for the draw is made"
DRAWN: Final = "publish: noise is drawn"
COMPOSED: Final = "publish: files are composed and checked"
WRITTEN: Final = "publish: the draw is written, encrypted"
SEALED: Final = "publish: the draw is on the disk, encrypted"
COMMITTED: Final = "publish: the ledger has committed"
SIGNED: Final = "publish: the release is signed"
MADE: Final = "publish: a directory is made"
PLACED: Final = "publish: a file is placed"
FLUSHED: Final = "publish: the directory is flushed"
APPEARED: Final = "publish: the release has appeared"
CLEARED: Final = "publish: the encrypted draw is deleted"
FORGOTTEN: Final = "publish: its key is deleted"
RETURNED: Final = "publish: unused budget is returned"
STEPS: Final = (
    *(ASKED, RESERVED, COUNTED, ORDERED, OPENED, DRAWN, COMPOSED, WRITTEN, SEALED, COMMITTED, SIGNED),
    *(MADE, PLACED, FLUSHED, APPEARED, CLEARED, FORGOTTEN, RETURNED),
)
