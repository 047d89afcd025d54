"""Certify many conditions at once at one epsilon, whatever the number of places one person visits.

Public blocks that are expected to be quiet are tested first, quietest first; a pass is free. The first
failure ends the release. Where all pass, the ladder makes one claim about the rest.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeside import exact
from safeside.errors import BadCounts, BadNumber
from safeside.exact import Ball, ball
from safeside.mechanisms.block_test import BlockTest, smallest_margin
from safeside.mechanisms.counts import compact_copy, people_counts, thresholds_for
from safeside.mechanisms.guarantees import Certifying
from safeside.mechanisms.ladder import BOTTOM, NO_BOUND, Claim, Ladder
from safeside.mechanisms.published import Published, carried
from safeside.mechanisms.selection_plan import SelectionPlan
from safeside.noise.entropy import Entropy, system_entropy

Found = TypeVar("Found", np.int64, np.float64)
Outcome = tuple[int, Claim | None]
"""What is published: how many blocks passed, and the ladder's claim, or None where a test failed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Selected(Published):
    """Published: how many blocks passed and, where all did, the ladder's claim about the rest.

    `bounds` is a certain upper bound on each count, in the order the conditions were given, and -1 where
    nothing is said. "At most t" is certified where the bound is at most the threshold.
    """

    at_most: NDArray[np.integer]
    bounds: NDArray[np.int64]
    passed: int
    component: int | None
    level: int | None

    @property
    def certified(self) -> NDArray[np.bool_]:
        """Where "at most t" is certain."""
        certified: NDArray[np.bool_] = (self.bounds != NO_BOUND) & (self.bounds <= self.at_most)
        return certified


@dataclass(frozen=True, kw_only=True)
class Selection(Certifying):
    """Tests of public blocks, then the ladder on the rest.

    Guarantee
        (epsilon, policy)-ADP for everything together, however many conditions (places, hours) one person
        satisfies. What is certified is never wrong. Nothing is refunded once the ladder was drawn.
    Assumes
        Every condition is decreasing along each step the policy allows, and moves by at most 1. The plan and
        the thresholds are public, or follow from earlier outputs, and are fixed before the data are read.
    Proof
        docs/proofs/selection.md
    Example
        >>> from safeside.mechanisms import Selection, plan_selection
        >>> plan = plan_selection([1, 2, 3, 4, 5], at_most=2, epsilon=1)  # from public scores
        >>> selection = Selection(epsilon=1, plan=plan)
        >>> [f"{chance:.2f}" for chance in selection.expected([0] * 5, 2)]
        ['0.95', '0.90', '0.63', '0.40', '0.00']
    """

    name: ClassVar[str] = "selection"
    plan: SelectionPlan
    bottom: int = BOTTOM

    def __post_init__(self) -> None:
        super().__post_init__()
        ends = (0, *self.plan.blocks)
        rest = self.plan.order.size - self.plan.tested
        if rest < 0 or any(one >= two for one, two in itertools.pairwise(ends)):
            raise BadNumber(
                "The blocks of a plan are empty or reach beyond its conditions.",
                "Use a plan made by plan_selection for as many conditions.",
            )

    def release(self, counts: ArrayLike, at_most: ArrayLike, *, entropy: Entropy | None = None) -> Selected:
        """Draw, exactly; what is published is `bounds`, `passed`, `component` and `level`."""
        ranked, limits = self._ranked(counts, at_most)
        drawn = entropy or system_entropy()
        bounds = np.full(limits.size, NO_BOUND, np.int64)
        passed, component, level = 0, None, None
        for block in self._blocks():
            if not self._test.release(ranked[block], limits[block], entropy=drawn).passed:
                break
            bounds[block] = limits[block]
            passed += 1
        else:
            if self.ladder is not None:
                rest = slice(self.plan.tested, None)
                claim = self.ladder.release(ranked[rest], limits[rest], entropy=drawn)
                bounds[rest] = claim.bounds
                component, level = claim.component, claim.level
        return Selected(
            at_most=compact_copy(thresholds_for(limits.size, at_most)),
            bounds=self._as_given(bounds),
            passed=passed,
            component=component,
            level=level,
            **carried(self, drawn),
        )

    def distribution(self, counts: ArrayLike, at_most: ArrayLike) -> dict[Outcome, Ball]:
        """Every outcome with its probability; ranks in a claim are counted from the last block."""
        ranked, limits = self._ranked(counts, at_most)
        found: dict[Outcome, Ball] = {}
        with exact.precision(exact.PMF_BITS):
            reached = ball(1)
            for number, block in enumerate(self._blocks()):
                passes = self._test.beta(smallest_margin(ranked[block], limits[block]))
                found[number, None] = reached * (1 - passes)
                reached = reached * passes
            rest = slice(self.plan.tested, None)
            passed = len(self.plan.blocks)
            if self.ladder is None:
                found[passed, None] = reached
            else:
                for claim, share in self.ladder.distribution(ranked[rest], limits[rest]).items():
                    found[passed, claim] = reached * share
        return {outcome: share for outcome, share in found.items() if not share.is_zero()}

    def expected(self, counts: ArrayLike, at_most: ArrayLike) -> NDArray[np.float64]:
        """Pr[certified at most t] of each condition, as floats: to plan on public or simulated counts."""
        ranked, limits = self._ranked(counts, at_most)
        chances = np.zeros(ranked.size)
        reached = 1.0
        for block in self._blocks():
            reached *= float(self._test.beta(smallest_margin(ranked[block], limits[block])).mid())
            chances[block] = reached
        rest = slice(self.plan.tested, None)
        if self.ladder is not None:
            chances[rest] = reached * self.ladder.expected(ranked[rest], limits[rest])
        return self._as_given(chances)

    def moments(self, counts: ArrayLike, at_most: ArrayLike) -> tuple[float, float]:
        """The mean of the number certified at most t, and its standard deviation, as floats."""
        ranked, limits = self._ranked(counts, at_most)
        mean = square = 0.0
        reached, certified = 1.0, 0
        for block in self._blocks():
            passes = float(self._test.beta(smallest_margin(ranked[block], limits[block])).mid())
            mean += reached * (1 - passes) * certified
            square += reached * (1 - passes) * certified**2
            reached *= passes
            certified = block.stop
        rest = slice(self.plan.tested, None)
        first, second = (0.0, 0.0) if self.ladder is None else self.ladder.moments(ranked[rest], limits[rest])
        mean += reached * (certified + first)
        square += reached * (certified**2 + 2 * certified * first + second)
        return mean, float(np.sqrt(max(0.0, square - mean**2)))

    @property
    def _test(self) -> BlockTest:
        return BlockTest(epsilon=self.epsilon, policy=self.policy)

    @property
    def ladder(self) -> Ladder | None:
        """What the rest is chosen by; None where the blocks are everything, or nothing can be included."""
        if self.plan.tested == self.plan.order.size or not self.plan.components:
            return None
        return Ladder(
            epsilon=self.epsilon, components=self.plan.components, bottom=self.bottom, policy=self.policy
        )

    def _blocks(self) -> list[slice]:
        ends = (0, *self.plan.blocks)
        return [slice(start, end) for start, end in itertools.pairwise(ends)]

    def _ranked(self, counts: ArrayLike, at_most: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Counts and thresholds in the order of the plan."""
        values, order = people_counts(counts), self.plan.order
        if values.size != order.size:
            raise BadCounts(
                f"The plan is for {order.size} conditions, and there are {values.size} counts.",
                "Make the plan from one score for each condition, in the same order.",
            )
        return values[order], thresholds_for(values.size, at_most)[order]

    def _as_given(self, ranked: NDArray[Found]) -> NDArray[Found]:
        """What was found by rank, in the order in which the conditions were given."""
        found = np.empty_like(ranked)
        found[self.plan.order] = ranked
        return found
