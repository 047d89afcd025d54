"""The optimal decision: one bit, "at most t", under ordinary (epsilon, delta)-DP.

The probability b_k of saying True, k steps from the nearest dataset of which it is false, climbs as fast as
both inequalities of the definition allow (docs/proofs/decision.md); no mechanism does better at any k.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeside import exact
from safeside.exact import Ball, Number, ball, evaluate, exp
from safeside.mechanisms.counts import people_counts, thresholds_for
from safeside.mechanisms.guarantees import of_each_count
from safeside.mechanisms.laws import first_where
from safeside.mechanisms.published import Published, carried
from safeside.noise.entropy import Entropy, system_entropy
from safeside.noise.inversion import bernoulli
from safeside.privacy.guarantee import Direction, Guarantee


@dataclass(frozen=True, kw_only=True, eq=False)
class Decided(Published):
    """One published bit for each count: True says "at most t"."""

    values: NDArray[np.bool_]
    at_most: NDArray[np.int64]


def climb(steps: int, epsilon: Fraction, delta: Fraction, alpha: Fraction) -> Ball:
    """b_k at the working precision: j steps along the first inequality, then k - j along the second.

    In closed form (docs/proofs/decision.md), since a threshold may be in the millions. The turn is where b_j
    passes (1-delta)/(1+e^epsilon). Where balls cannot tell on which side, j and its neighbours are as good.
    """
    if alpha == 0 and delta == 0:
        return ball(0)
    grown, slack = ball(epsilon).expm1(), ball(delta)
    turn = (1 - slack) / (1 + exp(epsilon))

    def first(j: int) -> Ball:
        return ball(alpha) * exp(epsilon * j) + slack * ball(epsilon * j).expm1() / grown

    def second(n: int, b: Ball) -> Ball:
        gone = -ball(-epsilon * n).expm1()
        return gone + exp(-epsilon * n) * b + slack * gone / grown

    j = first_where(lambda j: bool(first(j) > turn), steps)
    least = ball(1)
    for along in range(max(0, j - 1), min(steps, j + 1) + 1):
        least = least.min(second(steps - along, first(along)))
    return least


@dataclass(frozen=True, kw_only=True)
class OptimalDecision:
    """True with probability b_k where k = t + 1 - f, and with probability alpha where f > t.

    `epsilon` and `delta` are those of each count. One bit is for one t: another t is another release.

    Guarantee
        (max_conditions * epsilon, max_conditions * delta)-DP for all bits when one person is added or
        removed; under replacement both double. With alpha = 0, True is never wrong.
    Assumes
        One person changes at most `max_conditions` of the counts, each by 1. Thresholds are public.
    Proof
        docs/proofs/decision.md
    Example
        >>> from safeside import OptimalDecision
        >>> decision = OptimalDecision(epsilon=1, delta="1e-4")
        >>> [f"{float(decision.beta(t, 0)):.2f}" for t in (5, 8, 9)]
        ['0.02', '0.47', '0.81']
        >>> decision.release([11], 10).values  # 11 is above 10: it is not said
        array([False])
    """

    name: ClassVar[str] = "decision"
    epsilon: Number
    delta: Number
    alpha: Number = 0
    max_conditions: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact.epsilon(self.epsilon))
        object.__setattr__(self, "delta", exact.delta(self.delta))
        object.__setattr__(self, "alpha", exact.alpha(self.alpha))
        exact.whole(self.max_conditions, "max_conditions", least=1)

    @property
    def guarantee(self) -> Guarantee:
        """What is promised of all bits of one release together."""
        direction = Direction.DECREASING if self.alpha == 0 else Direction.NEITHER
        return of_each_count(self.epsilon, self.delta, self.max_conditions, direction)

    def release(self, counts: ArrayLike, at_most: ArrayLike, *, entropy: Entropy | None = None) -> Decided:
        """One bit for each count, drawn exactly."""
        values = people_counts(counts)
        thresholds = thresholds_for(values.size, at_most)
        drawn = entropy or system_entropy()
        steps = np.maximum(0, thresholds + 1 - values)
        answers = np.zeros(values.size, dtype=np.bool_)
        for k in np.unique(steps):
            here = np.flatnonzero(steps == k)
            answers[here] = bernoulli(partial(self._climb, int(k)), here.size, drawn)
        return Decided(values=answers, at_most=thresholds.copy(), **carried(self, drawn))

    def beta(self, t: int, count: int) -> Ball:
        """Pr[True] at this true count."""
        steps = exact.whole(t, "at_most") + 1 - exact.whole(count, "count")
        return evaluate(lambda: self._climb(max(0, steps)))

    def pmf(self, output: bool, count: int, t: int) -> Ball:
        """Pr[the bit is `output`] at this true count, for this threshold."""
        says = self.beta(t, count)
        return says if output else evaluate(lambda: 1 - says)

    def distribution(self, count: int, t: int) -> dict[bool, Ball]:
        """Both answers with their probabilities."""
        return {answer: self.pmf(answer, count, t) for answer in (True, False)}

    def _climb(self, steps: int) -> Ball:
        return climb(
            steps, exact.fraction(self.epsilon), exact.fraction(self.delta), exact.fraction(self.alpha)
        )
