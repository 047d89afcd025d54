"""The paper's own SALap, whose rule for quiet throws one unit away: to study, not to use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from safeside.mechanisms.sparse import SparseQueries


@dataclass(frozen=True, kw_only=True)
class PaperSALap(SparseQueries):
    """The paper's Algorithm 1 on real-valued noise, with its rule: quiet where z <= t. To study, not to use.

    The whole part of a count plus exponential noise is the count plus geometric noise, and z <= t happens
    where the whole part is at most t - 1 (apart from probability 0). So this is exact: beta is
    1 - e^(-epsilon (t - f)), one unit less than the counts allow for "at most t", and all they allow for
    "fewer than t", which the paper's released code asks. An alarm is shown by its whole part.

    Guarantee
        As SAGeo.
    Assumes
        As SAGeo; queries are counts.
    Proof
        docs/proofs/sageo.md
    Example
        >>> from safeside.mechanisms import PaperSALap
        >>> print(f"{float(PaperSALap(epsilon_each=1).beta(2, 0)):.3f}")  # 0.950 with the better rule
        0.865
    """

    name: ClassVar[str] = "paper-salap"

    @property
    def _beyond(self) -> int:
        return -1
