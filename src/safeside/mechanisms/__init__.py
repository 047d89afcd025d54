"""Mechanisms, one idea a file: each has release(), a guarantee, an exact pmf() and error bounds."""

from safeside.mechanisms.additive import NOT_COUNTED, AGeo, TwoSidedGeometric
from safeside.mechanisms.competitor import virtual_beta
from safeside.mechanisms.decision import Decided, OptimalDecision
from safeside.mechanisms.grid import ALap, Laplace
from safeside.mechanisms.noisy import Noisy, Tail
from safeside.mechanisms.padded import PaddedGeo
from safeside.mechanisms.response import Mangat, Responses, UtilityOptimised, Warner
from safeside.mechanisms.sequences import Answer, Said, kappa_of, kappa_of_levels
from safeside.mechanisms.sparse import PaperSALap, SAGeo, SALap, Sparse
from safeside.mechanisms.svt import SparseVector

__all__ = [
    "NOT_COUNTED",
    "AGeo",
    "ALap",
    "Answer",
    "Decided",
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
    "Sparse",
    "SparseVector",
    "Tail",
    "TwoSidedGeometric",
    "UtilityOptimised",
    "Warner",
    "kappa_of",
    "kappa_of_levels",
    "virtual_beta",
]
