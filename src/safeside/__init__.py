"""Publish "at most t known infected people were here", never be wrong, and protect everybody in the data."""

from safeside.audit import audit_mechanism, audit_procedure
from safeside.decisions.planning import plan
from safeside.decisions.sanitizers import decide
from safeside.decisions.states import State
from safeside.errors import SafesideError
from safeside.ledger import Ledger, create_ledger, open_ledger
from safeside.mechanisms.additive import AGeo, TwoSidedGeometric
from safeside.mechanisms.decision import OptimalDecision
from safeside.mechanisms.grid import ALap, Laplace
from safeside.mechanisms.padded import PaddedGeo
from safeside.mechanisms.response import Mangat, UtilityOptimised, Warner
from safeside.mechanisms.sparse import SAGeo, SALap
from safeside.mechanisms.svt import SparseVector
from safeside.privacy.guarantee import Direction, Guarantee, Neighbours, Unit
from safeside.privacy.policy import Policy
from safeside.privacy.risk import risk
from safeside.releases.publish import publish
from safeside.releases.release import Release
from safeside.releases.simulate import simulate
from safeside.releases.verify import verify
from safeside.visits import VisitFormat, Window, check_visits, count_visits, read_places

__version__ = "0.1.0"

__all__ = [
    "AGeo",
    "ALap",
    "Direction",
    "Guarantee",
    "Laplace",
    "Ledger",
    "Mangat",
    "Neighbours",
    "OptimalDecision",
    "PaddedGeo",
    "Policy",
    "Release",
    "SAGeo",
    "SALap",
    "SafesideError",
    "SparseVector",
    "State",
    "TwoSidedGeometric",
    "Unit",
    "UtilityOptimised",
    "VisitFormat",
    "Warner",
    "Window",
    "__version__",
    "audit_mechanism",
    "audit_procedure",
    "check_visits",
    "count_visits",
    "create_ledger",
    "decide",
    "open_ledger",
    "plan",
    "publish",
    "read_places",
    "risk",
    "simulate",
    "verify",
]
