"""What was spent: events, budget arithmetic, stores; reserve, draw, commit."""

from safeside.ledger.account import Dataset, Releases, Reservation, Stage
from safeside.ledger.address import create_ledger, open_ledger, recover_ledger
from safeside.ledger.chain import Checked
from safeside.ledger.events import Action, Event, Head
from safeside.ledger.ledger import Ledger
from safeside.ledger.rebuild import Rebuilt
from safeside.ledger.recovery import Published, Recovery
from safeside.ledger.status import Leak, Status
from safeside.ledger.store import Draw
from safeside.privacy.account import Budget, Caps, Cost, Kind

__all__ = [
    "Action",
    "Budget",
    "Caps",
    "Checked",
    "Cost",
    "Dataset",
    "Draw",
    "Event",
    "Head",
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
