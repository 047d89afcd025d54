"""Counts plus integer noise: what AGeo, PaddedGeo and the two-sided geometric mechanism have in common.

A published z is never truncated. All that is said from it (bounds, estimates, decisions) is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeside import exact
from safeside.errors import BadNumber
from safeside.exact import Ball, Number, evaluate
from safeside.mechanisms.counts import people_counts, published_values
from safeside.mechanisms.guarantees import AddsNoise
from safeside.mechanisms.laws import Integers
from safeside.mechanisms.published import Noisy, Tail, carried
from safeside.noise.entropy import Entropy, system_entropy


@dataclass(frozen=True, kw_only=True)
class Additive(AddsNoise):
    """z = f + K for integer counts f: everything that follows from the law of K alone."""

    name: ClassVar[str] = "additive"
    sensitivity: int = 1
    people: int | None = None
    """A public number that no count exceeds, declared beforehand; never one taken from the data."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "sensitivity", exact.whole(self.sensitivity, "sensitivity", least=1))
        if self.people is not None:
            object.__setattr__(self, "people", exact.whole(self.people, "people"))

    @cached_property
    def rate(self) -> Fraction:
        """epsilon over sensitivity: neighbouring values of the noise differ by a factor e^rate."""
        return exact.fraction(self.epsilon) / self.sensitivity

    def release(self, counts: ArrayLike, *, entropy: Entropy | None = None) -> Noisy:
        """Each count with fresh noise, from the system's entropy unless a simulation gives its own."""
        values = people_counts(counts, self.people)
        drawn = entropy or system_entropy()
        return Noisy(values=self.law.add_to(values, drawn), **carried(self, drawn))

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
        return self._masses(count, horizon, 1)

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
        above, below = self._margins(confidence)
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
        room, always = exact.whole(t, "at_most") - self._count(count), self._always(t)
        margin = self.law.margin_down(exact.alpha(alpha))
        if always or margin is None:
            return exact.ball(int(always))
        return evaluate(lambda: self.law.at_most(room + 1 - margin))

    def beta_at_least(self, t: int, count: int, alpha: Number = 0) -> Ball:
        """Pr[the answer is "at least t+1"] at this true count, by the rule that errs with at most `alpha`."""
        room = exact.whole(t, "at_most") - self._count(count)
        margin = self.law.margin_up(exact.alpha(alpha))
        if self._always(t) or margin is None:
            return exact.ball(0)
        return evaluate(lambda: self.law.at_least(room + margin))

    def _always(self, t: int) -> bool:
        """Whether "at most t" follows from the declared number of people alone."""
        return self.people is not None and self.people <= t

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
