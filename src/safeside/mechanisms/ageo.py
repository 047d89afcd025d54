"""AGeo, the default for counts: noise on the side that errs safely, and on that side only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from safeside.exact import Ball, Number
from safeside.mechanisms.additive import Additive
from safeside.mechanisms.bayes import Loss, best_guess, posterior
from safeside.mechanisms.guarantees import Asymmetric


@dataclass(frozen=True, kw_only=True)
class AGeo(Asymmetric, Additive):
    """The asymmetric geometric mechanism: noise on the side that errs safely, and on that side only.

    Guarantee
        (epsilon, policy)-ADP for the whole vector. Decreasing counts get z = f + G, so z is a certain upper
        bound; increasing ones z = f - G, a certain lower bound; what is neither gets two-sided noise.
    Assumes
        Each count has the stated direction along every step the policy allows, and all counts together move
        by at most `sensitivity` (sum of absolute changes). `people`, where given, is public.
    Proof
        docs/proofs/ageo.md
    Example
        >>> from safeside import AGeo
        >>> noise = AGeo(epsilon=1)
        >>> released = noise.release([0, 3, 12])
        >>> (released.values >= [0, 3, 12]).all()  # never below the truth
        np.True_
        >>> print(f"{float(noise.beta(2, 0)):.3f}")  # how often "at most 2" is said where nobody was
        0.950
    """

    name: ClassVar[str] = "ageo"

    def bayes_estimate(self, z: int, prior: Sequence[Number], loss: Loss = "absolute") -> int:
        """The count of 0..n that costs least on average given z, for a public prior on 0..n."""
        return best_guess(self.law, z, prior, loss)

    def posterior(self, z: int, prior: Sequence[Number]) -> tuple[Ball, ...]:
        """Pr[f | z] for each count of 0..n, from a public prior."""
        return posterior(self.law, z, prior)
