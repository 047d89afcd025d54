"""SAGeo: sparse answers with geometric noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from safeside.mechanisms.sparse import SparseQueries


@dataclass(frozen=True, kw_only=True)
class SAGeo(SparseQueries):
    """Sparse answers with geometric noise: quiet where z <= t, otherwise the alarm z.

    Guarantee
        (epsilon_each * min(alarms, max_conditions), policy)-ADP for the whole sequence; where max_conditions
        is not given, (epsilon_each * alarms, policy)-ADP. Quiet is never wrong; z is a certain upper bound.
    Assumes
        Every query is decreasing along each step the policy allows, and moves by at most its sensitivity;
        max_conditions counts all that may be asked, repeats, regions and windows included; thresholds are
        public; the order uses earlier outputs only.
    Proof
        docs/proofs/sageo.md
    Example
        >>> from safeside import SAGeo
        >>> sparse = SAGeo(epsilon_each=1, alarms=2)
        >>> answers = sparse.release([0, 0, 50], [2, 2, 2])
        >>> bool(answers.values[2] == -1 or answers.values[2] >= 50)  # not reached, or an alarm
        True
        >>> print(sparse.guarantee.epsilon, sparse.refund(alarms=1))
        2 1
    """

    name: ClassVar[str] = "sageo"
