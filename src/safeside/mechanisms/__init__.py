"""Mechanisms, one a file, found by its name: each has release(), a guarantee, exact probabilities and bounds.

`Mechanism` is the shape they share, `MECHANISMS` the list of those that are shipped.
"""

from typing import Final

from safeside.mechanisms.ageo import AGeo
from safeside.mechanisms.alap import ALap
from safeside.mechanisms.block_test import BlockTest
from safeside.mechanisms.geometric import TwoSidedGeometric
from safeside.mechanisms.ladder import Component, Ladder
from safeside.mechanisms.laplace import Laplace
from safeside.mechanisms.mangat import Mangat
from safeside.mechanisms.mechanism import Mechanism
from safeside.mechanisms.optimal_decision import OptimalDecision
from safeside.mechanisms.paddedgeo import PaddedGeo
from safeside.mechanisms.paper_salap import PaperSALap
from safeside.mechanisms.sageo import SAGeo
from safeside.mechanisms.salap import SALap
from safeside.mechanisms.selection import Selection
from safeside.mechanisms.selection_plan import plan_selection
from safeside.mechanisms.sparse_vector import SparseVector
from safeside.mechanisms.utility_optimised import UtilityOptimised
from safeside.mechanisms.warner import Warner

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
    "AGeo",
    "ALap",
    "BlockTest",
    "Component",
    "Ladder",
    "Laplace",
    "Mangat",
    "Mechanism",
    "OptimalDecision",
    "PaddedGeo",
    "PaperSALap",
    "SAGeo",
    "SALap",
    "Selection",
    "SparseVector",
    "TwoSidedGeometric",
    "UtilityOptimised",
    "Warner",
    "plan_selection",
]
