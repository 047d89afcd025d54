"""SALap: sparse answers with exponential noise on a grid finer than one person."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from safeside import exact
from safeside.errors import BadNumber
from safeside.exact import Number
from safeside.mechanisms.sparse import SparseQueries


@dataclass(frozen=True, kw_only=True)
class SALap(SparseQueries):
    """Sparse answers with exponential noise on a grid: quiet where z < t + 1, otherwise the alarm z.

    Guarantee
        As SAGeo, at the same epsilon_each; the alarm is a multiple of the grid.
    Assumes
        As SAGeo; queries are counts, and the grid is a power of two of at most 1.
    Proof
        docs/proofs/sageo.md
    Example
        >>> from safeside import SALap
        >>> sparse = SALap(epsilon_each=1, grid="1/8")
        >>> sparse.release([9], [2]).step
        Fraction(1, 8)
        >>> print(f"{float(sparse.beta(2, 0)):.3f}")
        0.950
    """

    name: ClassVar[str] = "salap"
    grid: Number = Fraction(1, 1024)

    def __post_init__(self) -> None:
        super().__post_init__()
        grid = exact.positive(self.grid, "grid")
        if grid.numerator != 1 or grid.denominator & (grid.denominator - 1):
            raise BadNumber(
                f"The grid is {exact.show(grid)}, not a power of two of at most 1.",
                "Give a grid such as 1, 1/2 or 1/1024.",
            )
        object.__setattr__(self, "grid", grid)

    @property
    def steps(self) -> int:
        return exact.fraction(self.grid).denominator

    @property
    def _beyond(self) -> int:
        return self.steps - 1
