from .audit import audit_mechanism, audit_procedure
from .decisions.planning import plan
from .decisions.sanitizers import decide
from .decisions.states import State
from .errors import (
    BadCounts,
    BadFile,
    BadNumber,
    BadQuestion,
    BadRelease,
    BadSignature,
    CannotWrite,
    ClockBackwards,
    InputError,
    LedgerDamaged,
    LedgerError,
    LedgerForked,
    LedgerMissing,
    LedgerTampered,
    LimitBroken,
    MadeByNewer,
    MissingExtra,
    NotMonotone,
    NowhereElse,
    OverBudget,
    PrivacyError,
    ReleaseError,
    RequestConflict,
    SafesideError,
    SimulationOnly,
    StoreUnavailable,
    UnknownPolicy,
    UnsafeFile,
)
from .ledger import Budget, Dataset, Ledger, Status, open_ledger
from .mechanisms.ageo import AGeo
from .mechanisms.alap import ALap
from .mechanisms.geometric import TwoSidedGeometric
from .mechanisms.laplace import Laplace
from .mechanisms.mangat import Mangat
from .mechanisms.optimal_decision import OptimalDecision
from .mechanisms.paddedgeo import PaddedGeo
from .mechanisms.sageo import SAGeo
from .mechanisms.salap import SALap
from .mechanisms.sparse_vector import SparseVector
from .mechanisms.utility_optimised import UtilityOptimised
from .mechanisms.warner import Warner
from .privacy.guarantee import Direction, Guarantee, Neighbours, Unit
from .privacy.policy import Policy
from .privacy.risk import risk
from .releases.asking import Inquiry, ask
from .releases.choosing import plan_places
from .releases.earlier import create_ledger, recover_ledger
from .releases.group_plan import plan_groups
from .releases.preview import Preview
from .releases.publish import Account, publish, quote
from .releases.question import Question
from .releases.release import Answer, Release, load_release
from .releases.signing import PrivateKey, PublicKey, create_key, rotate_key
from .releases.simulate import simulate
from .releases.verify import verify
from .visits import (
    Counts,
    Expected,
    LeftOut,
    Places,
    Report,
    StayRule,
    VisitFormat,
    Window,
    check_visits,
    count_visits,
    read_places,
)
from .words import Subject

__version__: str

__all__ = [
    "AGeo",
    "ALap",
    "Account",
    "Answer",
    "BadCounts",
    "BadFile",
    "BadNumber",
    "BadQuestion",
    "BadRelease",
    "BadSignature",
    "Budget",
    "CannotWrite",
    "ClockBackwards",
    "Counts",
    "Dataset",
    "Direction",
    "Expected",
    "Guarantee",
    "InputError",
    "Inquiry",
    "Laplace",
    "Ledger",
    "LedgerDamaged",
    "LedgerError",
    "LedgerForked",
    "LedgerMissing",
    "LedgerTampered",
    "LeftOut",
    "LimitBroken",
    "MadeByNewer",
    "Mangat",
    "MissingExtra",
    "Neighbours",
    "NotMonotone",
    "NowhereElse",
    "OptimalDecision",
    "OverBudget",
    "PaddedGeo",
    "Places",
    "Policy",
    "Preview",
    "PrivacyError",
    "PrivateKey",
    "PublicKey",
    "Question",
    "Release",
    "ReleaseError",
    "Report",
    "RequestConflict",
    "SAGeo",
    "SALap",
    "SafesideError",
    "SimulationOnly",
    "SparseVector",
    "State",
    "Status",
    "StayRule",
    "StoreUnavailable",
    "Subject",
    "TwoSidedGeometric",
    "Unit",
    "UnknownPolicy",
    "UnsafeFile",
    "UtilityOptimised",
    "VisitFormat",
    "Warner",
    "Window",
    "__version__",
    "ask",
    "audit_mechanism",
    "audit_procedure",
    "check_visits",
    "count_visits",
    "create_key",
    "create_ledger",
    "decide",
    "load_release",
    "open_ledger",
    "plan",
    "plan_groups",
    "plan_places",
    "publish",
    "quote",
    "read_places",
    "recover_ledger",
    "risk",
    "rotate_key",
    "simulate",
    "verify",
]
