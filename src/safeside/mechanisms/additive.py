"""Counts plus integer noise: AGeo, the default, and the two-sided geometric mechanism to compare it with.

A published z is never truncated. All that is said from it (bounds, estimates, decisions) is post-processing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeside import exact
from safeside.errors import BadNumber
from safeside.exact import Ball, Number, evaluate
from safeside.mechanisms.bayes import Loss, best_guess, posterior
from safeside.mechanisms.counts import people_counts, published_values
from safeside.mechanisms.laws import Both, Integers, Law, law_of
from safeside.mechanisms.noisy import Noisy, Tail, source
from safeside.noise.entropy import Entropy
from safeside.privacy.guarantee import Direction, Guarantee, Neighbours
from safeside.privacy.policy import Policy

NOT_COUNTED: Final = Policy(propositions=frozenset({"not counted, for each of the counts"}))
"""The policy when none is named: of each count, that you are not among those counted may leak."""


@dataclass(frozen=True, kw_only=True)
class Additive:
    """z = f + K for integer counts f: everything that follows from the law of K alone."""

    name: ClassVar[str] = "additive"
    epsilon: Number
    sensitivity: int = 1
    people: int | None = None
    """A public number that no count exceeds, declared beforehand; never one taken from the data."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact.epsilon(self.epsilon))
        object.__setattr__(self, "sensitivity", exact.whole(self.sensitivity, "sensitivity", least=1))
        if self.people is not None:
            object.__setattr__(self, "people", exact.whole(self.people, "people"))

    @cached_property
    def rate(self) -> Fraction:
        """epsilon over sensitivity: neighbouring values of the noise differ by a factor e^rate."""
        return exact.exact(self.epsilon) / self.sensitivity

    @cached_property
    def law(self) -> Law:
        """The law of the noise."""
        raise NotImplementedError

    @cached_property
    def guarantee(self) -> Guarantee:
        """What is promised of one release of the whole vector."""
        raise NotImplementedError

    @property
    def alpha(self) -> Fraction | None:
        """0 where one of the two answers, "at most" or "at least", is never wrong; otherwise None."""
        certain = self.law.least is not None or self.law.most is not None
        return Fraction(0) if certain else None

    def release(self, counts: ArrayLike, *, entropy: Entropy | None = None) -> Noisy:
        """Each count with fresh noise, from the system's entropy unless a simulation gives its own."""
        values = people_counts(counts, self.people)
        drawn = source(entropy)
        return Noisy(
            values=self.law.add_to(values, drawn),
            guarantee=self.guarantee,
            mechanism=self.name,
            simulated=drawn.simulated,
        )

    def pmf(self, output: int, count: int) -> Ball:
        """Pr[z = output] where the true count is `count`."""
        return evaluate(lambda: self.law.exactly(output - self._count(count)))

    def distribution(self, count: int, horizon: int) -> dict[int | Tail, Ball]:
        """Every output between -horizon and horizon with its probability, and each tail beyond as one event.

        Compare counts up to `horizon` at the same horizon: the ratio is constant along each tail.
        """
        count = self._count(count)
        if count > horizon:
            raise BadNumber(
                f"The horizon {horizon} lies below the count {count}.",
                "Give a horizon of at least the largest count compared.",
            )
        law = self.law
        with exact.precision(exact.PMF_BITS):
            masses: dict[int | Tail, Ball] = {z: law.exactly(z - count) for z in range(1 - horizon, horizon)}
            masses[Tail(horizon)] = law.at_least(horizon - count)
            masses[Tail(-horizon, upwards=False)] = law.at_most(-horizon - count)
            return {z: mass for z, mass in masses.items() if mass != 0}

    @property
    def bias(self) -> Ball:
        """E[z - f]."""
        return evaluate(self.law.mean)

    @property
    def variance(self) -> Ball:
        """Var[z]."""
        return evaluate(self.law.variance)

    def upper_bound(self, z: ArrayLike) -> Integers | None:
        """A bound the true count never exceeds, or None where noise may fall below the truth."""
        return None if self.law.least is None else self._clip(z)

    def lower_bound(self, z: ArrayLike) -> Integers | None:
        """A bound the true count is never below, or None where noise may rise without end."""
        if self.law.most is None:
            return None
        return np.maximum(0, published_values(z) - self.law.most)

    def interval(self, z: ArrayLike, confidence: Number) -> tuple[Integers, Integers]:
        """Bounds that hold the true count with at least this probability, fixed before looking.

        A side that noise cannot cross is certain, and the other side gets the whole error.
        """
        error = 1 - exact.error_rate(confidence, "confidence")
        share = error / 2 if self.alpha is None else error
        above, below = self.law.margin_up(share) or 1, self.law.margin_down(share) or 1
        low, high = self._clip(z) - above + 1, self._clip(z) + below - 1
        return np.maximum(0, low), high if self.people is None else np.minimum(high, self.people)

    def estimate(self, z: ArrayLike) -> NDArray[np.float64]:
        """The unbiased estimate. Where one-sided noise passes a public bound, the bound itself is."""
        values, law = published_values(z), self.law
        guess: NDArray[np.float64] = values.astype(np.float64) - float(self.bias.mid())
        # Only noise without end on that side has no memory, on which this rests (docs/proofs/ageo.md).
        if law.least is not None and law.most is None and self.people is not None:
            guess = np.where(values >= self.people, float(self.people), guess)
        if law.most is not None and law.least is None:
            guess = np.where(values <= 0, 0.0, guess)
        return guess

    def beta(self, t: int, count: int, alpha: Number = 0) -> Ball:
        """Pr[the answer is "at most t"] at this true count, by the rule that errs with at most `alpha`."""
        t, count = exact.whole(t, "at_most"), self._count(count)
        if self.people is not None and self.people <= t:
            return exact.ball(1)
        margin = self.law.margin_down(exact.alpha(alpha))
        return exact.ball(0) if margin is None else evaluate(lambda: self.law.at_most(t + 1 - margin - count))

    def beta_at_least(self, t: int, count: int, alpha: Number = 0) -> Ball:
        """Pr[the answer is "at least t+1"] at this true count, by the rule that errs with at most `alpha`."""
        t, count = exact.whole(t, "at_most"), self._count(count)
        if self.people is not None and self.people <= t:
            return exact.ball(0)
        margin = self.law.margin_up(exact.alpha(alpha))
        return exact.ball(0) if margin is None else evaluate(lambda: self.law.at_least(t + margin - count))

    def _count(self, count: int) -> int:
        number = exact.whole(count, "count")
        if self.people is not None and number > self.people:
            raise BadNumber(
                f"The count {number} is above the {self.people} people that were declared.",
                "Give a count of at most the declared number of people.",
            )
        return number

    def _clip(self, z: ArrayLike) -> Integers:
        values = published_values(z)
        if self.law.least is None:
            values = np.maximum(values, 0)
        return values if self.people is None else np.minimum(values, self.people)


@dataclass(frozen=True, kw_only=True)
class AGeo(Additive):
    """The asymmetric geometric mechanism: noise on the side that errs safely, and on that side only.

    Guarantee
        (epsilon, policy)-ADP for the whole vector. Decreasing counts get z = f + G, so z is a certain upper
        bound; increasing ones z = f - G, a certain lower bound; what is neither gets two-sided noise.
    Assumes
        Each count has the stated direction along every step the policy allows, and all counts together move
        by at most `sensitivity` (sum of absolute changes). `people`, where given, is public.
    Proof
        docs/proofs/ageo.md
    """

    name: ClassVar[str] = "ageo"
    direction: Direction = Direction.DECREASING
    policy: Policy = NOT_COUNTED

    @cached_property
    def law(self) -> Law:
        return law_of(self.direction, self.rate)

    @cached_property
    def guarantee(self) -> Guarantee:
        return Guarantee(epsilon=exact.exact(self.epsilon), policy=self.policy, direction=self.direction)

    def bayes_estimate(self, z: int, prior: Sequence[Number], loss: Loss = "absolute") -> int:
        """The count of 0..n that costs least on average given z, for a public prior on 0..n (section 4)."""
        return best_guess(self.law, z, prior, loss)

    def posterior(self, z: int, prior: Sequence[Number]) -> tuple[Ball, ...]:
        """Pr[f | z] for each count of 0..n, from a public prior."""
        return posterior(self.law, z, prior)


@dataclass(frozen=True, kw_only=True)
class TwoSidedGeometric(Additive):
    """The geometric mechanism of ordinary differential privacy: the baseline, never certain of anything.

    Guarantee
        epsilon-DP for the whole vector, under the neighbours that are stated.
    Assumes
        All counts together move by at most `sensitivity` between neighbours: for places at one instant that
        is 1 when a person is added or removed, and 2 when a record is replaced.
    Proof
        docs/proofs/geometric.md
    """

    name: ClassVar[str] = "geometric"
    neighbours: Neighbours = Neighbours.REPLACE

    @cached_property
    def law(self) -> Law:
        return Both(self.rate)

    @cached_property
    def guarantee(self) -> Guarantee:
        return Guarantee(epsilon=exact.exact(self.epsilon), policy=Policy.none(), neighbours=self.neighbours)
