"""Mechanisms, one idea a file: each has release(), a guarantee, an exact pmf() and error bounds."""

from safeside.mechanisms.additive import NOT_COUNTED, AGeo, TwoSidedGeometric
from safeside.mechanisms.blocktest import BlockTest, Tested
from safeside.mechanisms.competitor import virtual_beta
from safeside.mechanisms.decision import Decided, OptimalDecision
from safeside.mechanisms.grid import ALap, Laplace
from safeside.mechanisms.ladder import Climbed, Component, Ladder
from safeside.mechanisms.noisy import Noisy, Tail
from safeside.mechanisms.padded import PaddedGeo
from safeside.mechanisms.response import Mangat, Responses, UtilityOptimised, Warner
from safeside.mechanisms.selection import Selected, Selection
from safeside.mechanisms.selection_plan import SelectionPlan, plan_selection
from safeside.mechanisms.sequences import Answer, Said, kappa_of, kappa_of_levels
from safeside.mechanisms.sparse import PaperSALap, SAGeo, SALap, Sparse
from safeside.mechanisms.svt import SparseVector

__all__ = [
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
    "Noisy",
    "OptimalDecision",
    "PaddedGeo",
    "PaperSALap",
    "Responses",
    "SAGeo",
    "SALap",
    "Said",
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
    "kappa_of",
    "kappa_of_levels",
    "plan_selection",
    "virtual_beta",
]
