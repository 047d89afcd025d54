"""Mechanisms, one a file, found by its name: each has release(), a guarantee, exact probabilities and bounds.

`Mechanism` is the shape they share, `MECHANISMS` the list of those that are shipped.
"""

from typing import Final

from safeside.mechanisms.ageo import AGeo
from safeside.mechanisms.alap import ALap
from safeside.mechanisms.block_test import BlockTest, Tested
from safeside.mechanisms.geometric import TwoSidedGeometric
from safeside.mechanisms.guarantees import NOT_COUNTED
from safeside.mechanisms.ladder import Climbed, Component, Ladder
from safeside.mechanisms.laplace import Laplace
from safeside.mechanisms.mangat import Mangat
from safeside.mechanisms.mechanism import Mechanism
from safeside.mechanisms.optimal_decision import Decided, OptimalDecision
from safeside.mechanisms.paddedgeo import PaddedGeo
from safeside.mechanisms.paper_salap import PaperSALap
from safeside.mechanisms.published import Noisy, Published, Tail
from safeside.mechanisms.sageo import SAGeo
from safeside.mechanisms.salap import SALap
from safeside.mechanisms.selection import Selected, Selection
from safeside.mechanisms.selection_plan import SelectionPlan, plan_selection
from safeside.mechanisms.sequences import Answer, Reply, max_conditions_of_levels
from safeside.mechanisms.sparse import Sparse
from safeside.mechanisms.sparse_vector import SparseVector
from safeside.mechanisms.utility_optimised import UtilityOptimised
from safeside.mechanisms.warner import Warner
from safeside.mechanisms.yes_no import Responses

MECHANISMS: Final[tuple[type[Mechanism], ...]] = (
    AGeo,
    ALap,
    TwoSidedGeometric,
    Laplace,
    SAGeo,
    SALap,
    PaperSALap,
    BlockTest,
    Ladder,
    Selection,
    SparseVector,
    Mangat,
    Warner,
    UtilityOptimised,
    PaddedGeo,
    OptimalDecision,
)

__all__ = [
    "MECHANISMS",
    "NOT_COUNTED",
    "AGeo",
    "ALap",
    "Answer",
    "BlockTest",
    "Climbed",
    "Component",
    "Decided",
    "Ladder",
    "Laplace",
    "Mangat",
    "Mechanism",
    "Noisy",
    "OptimalDecision",
    "PaddedGeo",
    "PaperSALap",
    "Published",
    "Reply",
    "Responses",
    "SAGeo",
    "SALap",
    "Selected",
    "Selection",
    "SelectionPlan",
    "Sparse",
    "SparseVector",
    "Tail",
    "Tested",
    "TwoSidedGeometric",
    "UtilityOptimised",
    "Warner",
    "max_conditions_of_levels",
    "plan_selection",
]
