"""The optimal decision: one bit, "at most t", under ordinary (epsilon, delta)-DP.

The probability b_k of saying True, k steps from the nearest dataset of which it is false, climbs as fast as
both inequalities of the definition allow (section 6); no mechanism does better at any k.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeside import exact
from safeside.exact import Ball, Number, ball, evaluate, exp
from safeside.mechanisms.counts import people_counts, thresholds_for
from safeside.mechanisms.noisy import source
from safeside.noise.entropy import Entropy
from safeside.noise.inversion import bernoulli
from safeside.privacy.guarantee import Direction, Guarantee, Neighbours
from safeside.privacy.policy import Policy


@dataclass(frozen=True, kw_only=True, eq=False)
class Decided:
    """One published bit for each count: True says "at most t"."""

    values: NDArray[np.bool_]
    at_most: NDArray[np.int64]
    guarantee: Guarantee
    mechanism: str
    simulated: bool


def climbing(epsilon: Fraction, delta: Fraction, alpha: Fraction) -> Iterator[Ball]:
    """b_0, b_1, ... at the working precision: from alpha, each the most that both inequalities allow."""
    up, down, slack = exp(epsilon), exp(-epsilon), ball(delta)
    b = ball(alpha)
    while True:
        yield b
        if b + slack >= 1:
            b = ball(1)
        elif alpha or delta:
            b = (up * b + slack).min(1 - down * (1 - b - slack)).min(ball(1))


def climb(steps: int, epsilon: Fraction, delta: Fraction, alpha: Fraction) -> Ball:
    """b_k at the working precision."""
    return next(islice(climbing(epsilon, delta, alpha), steps, None))


@dataclass(frozen=True, kw_only=True)
class OptimalDecision:
    """True with probability b_k where k = t + 1 - f, and with probability alpha where f > t.

    `epsilon` and `delta` are those of each count. One bit is for one t: another t is another release.

    Guarantee
        (kappa epsilon, kappa delta)-DP for all bits when one person is added or removed; under replacement
        both double. With alpha = 0, True is never wrong.
    Assumes
        One person changes at most `kappa` of the counts, each by 1. Thresholds are public.
    Proof
        docs/proofs/decision.md
    """

    name: ClassVar[str] = "decision"
    epsilon: Number
    delta: Number
    alpha: Number = 0
    kappa: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact.epsilon(self.epsilon))
        object.__setattr__(self, "delta", exact.delta(self.delta))
        object.__setattr__(self, "alpha", exact.alpha(self.alpha))
        object.__setattr__(self, "kappa", exact.whole(self.kappa, "kappa", least=1))

    @property
    def guarantee(self) -> Guarantee:
        """What is promised of all bits of one release together."""
        return Guarantee(
            epsilon=self.kappa * exact.exact(self.epsilon),
            delta=self.kappa * exact.exact(self.delta),
            policy=Policy.none(),
            neighbours=Neighbours.ADD_REMOVE,
            direction=Direction.DECREASING if self.alpha == 0 else Direction.NEITHER,
        )

    def release(self, counts: ArrayLike, at_most: ArrayLike, *, entropy: Entropy | None = None) -> Decided:
        """One bit for each count, drawn exactly."""
        values = people_counts(counts)
        thresholds = thresholds_for(values.size, at_most)
        drawn = source(entropy)
        steps = np.maximum(0, thresholds + 1 - values)
        answers = np.zeros(values.size, dtype=np.bool_)
        for k in np.unique(steps):
            here = np.flatnonzero(steps == k)
            answers[here] = bernoulli(partial(self._climb, int(k)), here.size, drawn)
        return Decided(
            values=answers,
            at_most=thresholds,
            guarantee=self.guarantee,
            mechanism=self.name,
            simulated=drawn.simulated,
        )

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
        return climb(steps, exact.exact(self.epsilon), exact.exact(self.delta), exact.exact(self.alpha))
