"""ALap, for exact rational values: exponential noise on a grid, on the side that errs safely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from safeside.mechanisms.grid import OnGrid
from safeside.mechanisms.guarantees import Asymmetric


@dataclass(frozen=True, kw_only=True)
class ALap(Asymmetric, OnGrid):
    """The asymmetric Laplace mechanism on a grid: exponential noise on the side that errs safely.

    Guarantee
        (epsilon, policy)-ADP for the whole vector. For a decreasing query f <= z is certain, for an
        increasing one f >= z.
    Assumes
        The stated direction along every step the policy allows; all values together move by at most
        `sensitivity`, in at most `coordinates` of them; values are exact; `multiple_of` is a property of the
        query, not of the data.
    Proof
        docs/proofs/alap.md
    Example
        >>> from safeside import ALap
        >>> noise = ALap(epsilon=1, grid="1/4")
        >>> noise.release([3]).exact()[0] >= 3  # never below the truth
        True
        >>> noise.upper_bound("3.25")
        Fraction(13, 4)
    """

    name: ClassVar[str] = "alap"
