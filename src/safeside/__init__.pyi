from .audit import audit_mechanism, audit_procedure
from .decisions.planning import plan
from .decisions.sanitizers import decide
from .decisions.states import State
from .errors import SafesideError
from .ledger import Ledger, open_ledger
from .mechanisms.additive import AGeo, TwoSidedGeometric
from .mechanisms.decision import OptimalDecision
from .mechanisms.grid import ALap, Laplace
from .mechanisms.padded import PaddedGeo
from .mechanisms.response import Mangat, UtilityOptimised, Warner
from .mechanisms.sparse import SAGeo, SALap
from .mechanisms.svt import SparseVector
from .privacy.guarantee import Direction, Guarantee, Neighbours, Unit
from .privacy.policy import Policy
from .privacy.risk import risk
from .releases.earlier import create_ledger
from .releases.publish import publish
from .releases.release import Release
from .releases.simulate import simulate
from .releases.verify import verify
from .visits import Manifest, VisitFormat, Window, check_visits, count_visits, read_places

__version__: str

__all__ = [
    "AGeo",
    "ALap",
    "Direction",
    "Guarantee",
    "Laplace",
    "Ledger",
    "Mangat",
    "Manifest",
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
