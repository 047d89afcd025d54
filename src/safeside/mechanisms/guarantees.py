"""What is promised: the parts of a mechanism that state a guarantee, each written once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, Self, TypeVar

from safeside import exact
from safeside.exact import Ball, Number
from safeside.mechanisms.laws import Both, Law, law_of
from safeside.mechanisms.published import Tail
from safeside.privacy.direction import CountQuery, Formula, require_direction
from safeside.privacy.guarantee import Direction, Guarantee, Neighbours
from safeside.privacy.policy import Policy

Step = TypeVar("Step", int, Fraction)
NOT_COUNTED: Final = Policy(propositions=frozenset({"not counted, for each of the counts"}))
"""The policy when none is named: of each count, that you are not among those counted may leak."""


@dataclass(frozen=True, kw_only=True)
class OneEpsilon:
    """An epsilon for everything that is published together."""

    epsilon: Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact.epsilon(self.epsilon))


@dataclass(frozen=True, kw_only=True)
class UnderPolicy:
    """What is promised under a policy, and for which queries that can be."""

    policy: Policy = NOT_COUNTED

    @classmethod
    def for_queries(
        cls,
        queries: Sequence[CountQuery],
        policy: Policy,
        *,
        written: Mapping[str, Formula] | None = None,
        **given: Any,
    ) -> Self:
        """The mechanism for these queries and no others, with what enumeration finds of them.

        Refused where noise would not be private on one of them, with the pair of records that shows it.
        """
        direction, moved = require_direction(queries, policy, cls._wanted, written)
        return cls(**{"policy": policy, **cls._found(queries, direction, moved), **given})

    _wanted: ClassVar[Direction | None] = Direction.DECREASING
    """The direction every query must have; None where any will do."""

    @classmethod
    def _found(cls, queries: Sequence[CountQuery], direction: Direction, moved: int) -> dict[str, Any]:  # noqa: ARG003
        """The parameters that follow from the queries."""
        return {}


@dataclass(frozen=True, kw_only=True)
class Certifying(UnderPolicy, OneEpsilon):
    """A guarantee of epsilon under the policy however many conditions one person satisfies, and no error."""

    @property
    def guarantee(self) -> Guarantee:
        """What is promised of all that is published together."""
        return Guarantee(
            epsilon=exact.fraction(self.epsilon), policy=self.policy, direction=Direction.DECREASING
        )

    alpha: ClassVar[Fraction] = Fraction(0)
    """How often what is certified is wrong: never."""


@dataclass(frozen=True, kw_only=True)
class AddsNoise(OneEpsilon):
    """Values plus integer noise: what follows from the law of the noise alone."""

    @cached_property
    def rate(self) -> Fraction:
        """Neighbouring values of the noise differ in probability by a factor e^rate."""
        raise NotImplementedError

    @cached_property
    def law(self) -> Law:
        """The law of the noise."""
        raise NotImplementedError

    @cached_property
    def step(self) -> Fraction:
        """What one unit of the noise is."""
        return Fraction(1)

    @cached_property
    def guarantee(self) -> Guarantee:
        """What is promised of one release of the whole vector."""
        raise NotImplementedError

    @property
    def alpha(self) -> Fraction | None:
        """0 where one of the two answers, "at most" or "at least", is never wrong; otherwise None."""
        return None if self.law.least is None and self.law.most is None else Fraction(0)

    @property
    def bias(self) -> Ball:
        """E[z] minus the value, or minus the *rounded* value on a grid, where no estimate is unbiased."""
        return exact.evaluate(lambda: exact.ball(self.step) * self.law.mean())

    @property
    def variance(self) -> Ball:
        """Var[z]."""
        return exact.evaluate(lambda: exact.ball(self.step) ** 2 * self.law.variance())

    def _margins(self, confidence: Number) -> tuple[int, int]:
        """Margins up and down at this confidence; a side noise cannot cross leaves its error to the other."""
        error = 1 - exact.error_rate(confidence, "confidence")
        share = error / 2 if self.alpha is None else error
        return self.law.margin_up(share) or 1, self.law.margin_down(share) or 1

    def _masses(self, centre: int, horizon: int, step: Step) -> dict[Step | Tail, Ball]:
        """Pr[output] in steps, of every output strictly within the horizon and of the tails beyond it."""
        law, end = self.law, horizon * step
        with exact.precision(exact.PMF_BITS):
            masses: dict[Step | Tail, Ball] = {
                z * step: law.exactly(z - centre) for z in range(1 - horizon, horizon)
            }
            masses[Tail(end)] = law.at_least(horizon - centre)
            masses[Tail(-end, upwards=False)] = law.at_most(-horizon - centre)
            return {output: mass for output, mass in masses.items() if mass != 0}


@dataclass(frozen=True, kw_only=True)
class Asymmetric(UnderPolicy, AddsNoise):
    """Noise on the side that errs safely, under a policy."""

    direction: Direction = Direction.DECREASING
    _wanted: ClassVar[Direction | None] = None

    @classmethod
    def _found(cls, queries: Sequence[CountQuery], direction: Direction, moved: int) -> dict[str, Any]:  # noqa: ARG003
        return {"direction": direction, "sensitivity": max(1, moved)}

    @cached_property
    def law(self) -> Law:
        return law_of(self.direction, self.rate)

    @cached_property
    def guarantee(self) -> Guarantee:
        return Guarantee(epsilon=exact.fraction(self.epsilon), policy=self.policy, direction=self.direction)


@dataclass(frozen=True, kw_only=True)
class Ordinary(AddsNoise):
    """Noise on both sides, under ordinary differential privacy."""

    neighbours: Neighbours = Neighbours.REPLACE

    @cached_property
    def law(self) -> Law:
        return Both(self.rate)

    @cached_property
    def guarantee(self) -> Guarantee:
        return Guarantee(epsilon=exact.fraction(self.epsilon), neighbours=self.neighbours)


def of_each_count(epsilon: Number, delta: Number, max_conditions: int, direction: Direction) -> Guarantee:
    """What is promised of all counts where each alone is (epsilon, delta)-DP under adding or removing."""
    return Guarantee(
        epsilon=max_conditions * exact.fraction(epsilon),
        delta=max_conditions * exact.fraction(delta),
        neighbours=Neighbours.ADD_REMOVE,
        direction=direction,
    )
