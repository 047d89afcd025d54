"""The two-sided geometric mechanism of ordinary differential privacy, to compare AGeo with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from safeside.mechanisms.additive import Additive
from safeside.mechanisms.guarantees import Ordinary


@dataclass(frozen=True, kw_only=True)
class TwoSidedGeometric(Ordinary, Additive):
    """The geometric mechanism of ordinary differential privacy: the baseline, never certain of anything.

    Guarantee
        epsilon-DP for the whole vector, under the neighbours that are stated.
    Assumes
        All counts together move by at most `sensitivity` between neighbours: for places at one instant that
        is 1 when a person is added or removed, and 2 when a record is replaced.
    Proof
        docs/proofs/geometric.md
    Example
        >>> from safeside import TwoSidedGeometric
        >>> noise = TwoSidedGeometric(epsilon=1)
        >>> print(noise.upper_bound([3]))  # nothing is certain
        None
        >>> print(f"{float(noise.beta(2, 0, alpha='0.05')):.3f}")  # wrong with at most 0.05
        0.731
    """

    name: ClassVar[str] = "geometric"
