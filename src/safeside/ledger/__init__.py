"""What was spent: events, budget arithmetic, stores; reserve, draw, commit.

Six ideas, each in a few files, and each built on those above it:

    what happened          events (the vocabulary and its chain), periods (days and weeks), steps (where a
                           test may cut the power)
    what it adds up to     account (datasets, reservations, sums), checkpoint and lookup (the account without
                           reading everything), rules (what is allowed), state (the fold), other_branch (what
                           an event of a copy does to it)
    where it is kept       store, with its queue, sqlite, postgres and forks; witness; addresses; refusals
    one list for all       chain: the store, the witnesses and the account, always in the same order
    after a disaster       recovery (events lost or forked), rebuild (the database lost)
    what others call       opening, ledger (adds events), reader and status (add none)
"""

from safeside.ledger.account import Dataset, Releases, Reservation, Stage
from safeside.ledger.events import Event
from safeside.ledger.ledger import Ledger
from safeside.ledger.opening import create_ledger, open_ledger, recover_ledger
from safeside.ledger.rebuild import Rebuilt
from safeside.ledger.recovery import Published, Recovery
from safeside.ledger.status import Leak, Status
from safeside.ledger.store import Draw
from safeside.privacy.account import Budget, Caps, Cost, Kind

__all__ = [
    "Budget",
    "Caps",
    "Cost",
    "Dataset",
    "Draw",
    "Event",
    "Kind",
    "Leak",
    "Ledger",
    "Published",
    "Rebuilt",
    "Recovery",
    "Releases",
    "Reservation",
    "Stage",
    "Status",
    "create_ledger",
    "open_ledger",
    "recover_ledger",
]
