"""The steps of a publication by name, in their order: between any two of them a process may be killed."""

from __future__ import annotations

from typing import Final

from safeside.releases.appearing import APPEARED, CLEARED, COMMITTED, FORGOTTEN, SIGNED, WRITTEN
from safeside.releases.staging import FLUSHED, MADE, PLACED

ASKED: Final = "publish: the question is checked"
RESERVED: Final = "publish: the reservation is paid"
COUNTED: Final = "publish: people are counted"
ORDERED: Final = "publish: the order is fixed"
OPENED: Final = "publish: a file for the draw is made"
DRAWN: Final = "publish: noise is drawn"
COMPOSED: Final = "publish: files are composed and checked"
SEALED: Final = "publish: the draw is on the disk, encrypted"
RETURNED: Final = "publish: unused budget is returned"
STEPS: Final = (
    *(ASKED, RESERVED, COUNTED, ORDERED, OPENED, DRAWN, COMPOSED, WRITTEN, SEALED, COMMITTED, SIGNED),
    *(MADE, PLACED, FLUSHED, APPEARED, CLEARED, FORGOTTEN, RETURNED),
)
