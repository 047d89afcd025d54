"""What was spent: events, budget arithmetic, stores; reserve, draw, commit."""

from safeside.ledger.address import create_ledger, open_ledger
from safeside.ledger.events import Event, Head
from safeside.ledger.ledger import Ledger
from safeside.ledger.money import Budget, Cost
from safeside.ledger.state import Dataset, Reservation, Stage
from safeside.privacy.account import Kind

__all__ = [
    "Budget",
    "Cost",
    "Dataset",
    "Event",
    "Head",
    "Kind",
    "Ledger",
    "Reservation",
    "Stage",
    "create_ledger",
    "open_ledger",
]
