"""Exact rational values plus noise on a grid: what ALap and the Laplace mechanism have in common.

A continuous exponential cannot be drawn, published or compared exactly; its floor on a grid can, and is a
geometric number of steps. Values must be exact: a sum of floats depends on the order of the rows, and a
difference in its last bit can break both the guarantee and the certainty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from safeside import exact
from safeside.errors import BadCounts, BadNumber
from safeside.exact import Ball, Number, evaluate
from safeside.mechanisms.exact_values import Rounding, Values, exact_values, rounded
from safeside.mechanisms.guarantees import AddsNoise
from safeside.mechanisms.published import Noisy, Tail, carried
from safeside.noise.entropy import Entropy, system_entropy


@dataclass(frozen=True, kw_only=True)
class OnGrid(AddsNoise):
    """z = grid * (rounded(f / grid) + K): everything that follows from the grid and the law of K."""

    name: ClassVar[str] = "grid"
    sensitivity: Number = 1
    grid: Number = 1
    """A power of two."""
    coordinates: int = 1
    """How many values can change between neighbours: rounding may widen each change by almost one step."""
    multiple_of: Number | None = None
    """Declared where every value the *query* can take is a multiple of this; 1 for a count."""

    def __post_init__(self) -> None:
        super().__post_init__()
        grid = exact.positive(self.grid, "grid")
        if grid.numerator & (grid.numerator - 1) or grid.denominator & (grid.denominator - 1):
            raise BadNumber(
                f"The grid is {exact.show(grid)}, not a power of two.",
                "Give a grid such as 1, 1/2 or 1/1024.",
            )
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "sensitivity", exact.positive(self.sensitivity, "sensitivity"))
        object.__setattr__(self, "coordinates", exact.whole(self.coordinates, "coordinates", least=1))
        if self.multiple_of is not None:
            object.__setattr__(self, "multiple_of", exact.positive(self.multiple_of, "multiple_of"))

    @cached_property
    def step(self) -> Fraction:
        """The grid, exactly."""
        return exact.fraction(self.grid)

    @cached_property
    def rate(self) -> Fraction:
        """epsilon over the most steps by which all rounded values together can move (docs/proofs/alap.md)."""
        steps = exact.fraction(self.sensitivity) / self.step
        if self._unit is None or (self._unit / self.step).denominator != 1:
            steps = Fraction(math.ceil(steps) + self.coordinates - 1)
        return exact.fraction(self.epsilon) / steps

    def rounded(self, value: Number) -> int:
        """The value in steps, rounded to the side on which the answer may err."""
        return rounded(exact.fraction(value, "the value") / self.step, self._rounding)

    def release(self, values: Values, *, entropy: Entropy | None = None) -> Noisy:
        """Each exact value with fresh noise; the answer counts steps of the grid."""
        found = exact_values(values)
        steps = found.in_steps(self.step, self._rounding)
        if self._unit is not None and not found.multiples_of(self._unit):
            raise BadCounts(
                f"A value is not a multiple of {exact.show(self._unit)}, as was declared of the query.",
                "Declare no multiple_of, or one that every value the query can take is a multiple of.",
            )
        drawn = entropy or system_entropy()
        return Noisy(values=self.law.add_to(steps, drawn), step=self.step, **carried(self, drawn))

    def pmf(self, output: Number, value: Number) -> Ball:
        """Pr[z = output] where the true value is `value`."""
        steps = exact.fraction(output, "the output") / self.step
        if steps.denominator != 1:
            return exact.ball(0)
        return evaluate(lambda: self.law.exactly(int(steps) - self.rounded(value)))

    def distribution(self, value: Number, horizon: int) -> dict[Fraction | Tail, Ball]:
        """Every output within `horizon` steps of zero with its probability, and each tail as one event."""
        centre = self.rounded(value)
        if abs(centre) > horizon:
            raise BadNumber(
                f"The horizon of {horizon} steps lies below the value.",
                "Give a horizon of at least the largest value compared, in steps of the grid.",
            )
        return self._masses(centre, horizon, self.step)

    def interval(self, z: Number, confidence: Number) -> tuple[Fraction, Fraction]:
        """Bounds low < f < high, or f = the bound that is certain, at this confidence fixed beforehand."""
        above, below = self._margins(confidence)
        value, law = exact.fraction(z, "z"), self.law
        if law.least is not None:
            return value - above * self.step, value
        if law.most is not None:
            return value, value + below * self.step
        half = self.step / 2
        return value - (above - 1) * self.step - half, value + (below - 1) * self.step + half

    def upper_bound(self, z: Number) -> Fraction | None:
        """A bound the true value never exceeds, or None where noise may fall below it."""
        return None if self.law.least is None else exact.fraction(z, "z")

    def says_at_most(self, z: Number, t: Number) -> bool:
        """Whether z shows for certain that f <= t: z <= t, or below the next value that f can take."""
        return self.law.least is not None and exact.fraction(z, "z") < self._end(t)

    def beta(self, t: Number, value: Number) -> Ball:
        """Pr[z shows that f <= t] where the true value is `value`."""
        if self.law.least is None:
            return exact.ball(0)
        last = math.ceil(self._end(t) / self.step) - 1 - self.rounded(value)
        return evaluate(lambda: self.law.at_most(last))

    def _end(self, t: Number) -> Fraction:
        """Every z strictly below this is at most every value above t."""
        unit = self._unit or self.step
        return (math.floor(exact.fraction(t, "at_most") / unit) + 1) * unit

    @property
    def _unit(self) -> Fraction | None:
        """What every value is declared to be a multiple of, exactly."""
        return None if self.multiple_of is None else exact.fraction(self.multiple_of)

    @property
    def _rounding(self) -> Rounding:
        if self.law.least is not None:
            return "up"
        return "nearest" if self.law.most is None else "down"
