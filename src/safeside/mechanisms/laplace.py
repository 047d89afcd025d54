"""The Laplace mechanism of ordinary differential privacy on a grid, to compare ALap with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from safeside.mechanisms.grid import OnGrid
from safeside.mechanisms.guarantees import Ordinary


@dataclass(frozen=True, kw_only=True)
class Laplace(Ordinary, OnGrid):
    """The Laplace mechanism of ordinary differential privacy, on a grid: the baseline.

    Guarantee
        epsilon-DP for the whole vector, under the neighbours that are stated.
    Assumes
        All values together move by at most `sensitivity` between neighbours, in at most `coordinates` of
        them; values are exact.
    Proof
        docs/proofs/laplace.md
    Example
        >>> from safeside import Laplace
        >>> low, high = Laplace(epsilon=1, grid="1/2").interval(3, confidence="0.95")
        >>> print(low, high)
        -1/4 25/4
    """

    name: ClassVar[str] = "laplace"
