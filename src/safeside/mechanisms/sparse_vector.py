"""The sparse vector technique under ordinary DP, in a variant that is private, to compare SAGeo with.

Most published variants are not (Lyu, Su and Li, "Understanding the sparse vector technique", 2017). This one
draws the threshold's noise once, gives each query's noise a scale that grows with the number of alarms, keeps
drawing fresh noise for each query, stops after the last alarm allowed, and never publishes the noisy value
that was compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from safeside import exact
from safeside.errors import BadNumber
from safeside.exact import Ball, Number, ball, least_power
from safeside.mechanisms.counts import compact_copy, people_counts, thresholds_for
from safeside.mechanisms.laws import Both, Integers
from safeside.mechanisms.published import carried
from safeside.mechanisms.sequences import (
    Answer,
    Order,
    Reply,
    Transcript,
    every_transcript,
    in_given_order,
    run_queries,
)
from safeside.mechanisms.sparse import NO_VALUE, Sparse
from safeside.noise.entropy import Entropy, system_entropy
from safeside.privacy.guarantee import Guarantee, Neighbours, one_of

_NEGLIGIBLE = Fraction(1, 1 << 240)
"""Threshold noise rarer than this is not added up; it widens the ball instead."""


@dataclass(frozen=True, kw_only=True)
class SparseVector:
    """An alarm where count + noise >= t + 1 + threshold noise; both kinds of noise two-sided geometric.

    Guarantee
        epsilon-DP for the whole sequence, under the neighbours that are stated. Neither answer is certain.
    Assumes
        Each count moves by at most 1 between neighbours; `same_direction` only where all counts move the same
        way, as they do when a person is added or removed; thresholds are public; the order uses earlier
        outputs only.
    Proof
        docs/proofs/svt.md
    Example
        >>> from safeside import SparseVector
        >>> technique = SparseVector(epsilon=1)
        >>> print(f"{float(technique.alpha):.3f}")  # how often "quiet" is wrong, at worst
        0.458
    """

    name: ClassVar[str] = "svt"
    epsilon: Number
    alarms: int = 1
    threshold_share: Number = Fraction(1, 2)
    """The part of epsilon spent on the threshold's noise."""
    same_direction: bool = False
    neighbours: Neighbours = Neighbours.REPLACE

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact.epsilon(self.epsilon))
        object.__setattr__(self, "alarms", exact.whole(self.alarms, "alarms", least=1))
        share = exact.positive(self.threshold_share, "threshold_share")
        if share >= 1:
            raise BadNumber(
                f"threshold_share is {exact.show(share)}, which leaves nothing for the queries.",
                "Give the part of epsilon spent on the threshold, above 0 and below 1.",
            )
        object.__setattr__(self, "threshold_share", share)
        object.__setattr__(self, "neighbours", one_of(Neighbours, self.neighbours, "neighbours"))
        if self.same_direction and self.neighbours is not Neighbours.ADD_REMOVE:
            raise BadNumber(
                "same_direction was stated, but replacing a record can move one count up and another down.",
                "Leave same_direction out, or use Neighbours.ADD_REMOVE.",
            )

    @property
    def guarantee(self) -> Guarantee:
        """What is promised of the whole sequence."""
        return Guarantee(epsilon=exact.fraction(self.epsilon), neighbours=self.neighbours)

    @property
    def threshold_law(self) -> Both:
        """The noise added once to every threshold."""
        return Both(exact.fraction(self.epsilon) * exact.fraction(self.threshold_share))

    @property
    def query_law(self) -> Both:
        """The noise added to each count."""
        left = exact.fraction(self.epsilon) * (1 - exact.fraction(self.threshold_share))
        return Both(left / (self.alarms * (1 if self.same_direction else 2)))

    def release(
        self,
        counts: ArrayLike,
        thresholds: ArrayLike,
        *,
        order: Order | None = None,
        entropy: Entropy | None = None,
    ) -> Sparse:
        """Alarm or quiet for each query, in the order given unless `order` chooses."""
        values = people_counts(counts)
        limits = thresholds_for(values.size, thresholds)
        drawn = entropy or system_entropy()
        shared = int(self.threshold_law.add_to(np.zeros(1, dtype=np.int64), drawn)[0])
        loud = self.query_law.add_to(values, drawn) > limits + shared
        ask = in_given_order(values.size) if order is None else order
        said = run_queries(ask, self.alarms, values.size, lambda query: True if loud[query] else None)
        answers = np.zeros(values.size, dtype=np.int8)
        for one in said:
            answers[one.query] = Answer.QUIET if one.alarm is None else Answer.ALARM
        return Sparse(
            at_most=compact_copy(limits),
            answers=answers,
            values=np.full(values.size, NO_VALUE, dtype=np.int64),
            asked=len(said),
            **carried(self, drawn),
        )

    def distribution(
        self, counts: ArrayLike, thresholds: ArrayLike, *, order: Order | None = None
    ) -> dict[Transcript, Ball]:
        """Every transcript with its probability, certified: a sum over the threshold's noise."""
        values = people_counts(counts)
        limits = thresholds_for(values.size, thresholds)
        possible = every_transcript([{None: ball(1), True: ball(1)}] * values.size, self.alarms, order)
        with exact.precision(exact.PMF_BITS):
            return self._added_up(values, limits, list(possible))

    def beta(self, t: int, count: int) -> Ball:
        """Pr[quiet | asked first] at this true count; at t + 1 this is how often quiet is wrong."""
        return self.distribution([count], [t])[(Reply(0, None),)]

    @property
    def alpha(self) -> Ball:
        """The most that quiet can be wrong with, of a query asked first: its value at count t + 1."""
        return self.beta(0, 1)

    def _added_up(
        self, counts: Integers, limits: Integers, possible: list[Transcript]
    ) -> dict[Transcript, Ball]:
        """Sum over the shared draw; what lies beyond `far` on either side has a bounded, tiny mass."""
        law, noise = self.threshold_law, self.query_law
        far = least_power(law.rate, _NEGLIGIBLE)
        unknown = Ball(0).union(2 * law.at_least(far + 1))
        totals = dict.fromkeys(possible, unknown)
        for shared in range(-far, far + 1):
            mass = law.exactly(shared)
            gaps = [int(t) + 1 + shared - int(f) for f, t in zip(counts, limits, strict=True)]
            loud = [noise.at_least(gap) for gap in gaps]
            quiet = [noise.at_most(gap - 1) for gap in gaps]
            for shape in possible:
                product = mass
                for one in shape:
                    product *= quiet[one.query] if one.alarm is None else loud[one.query]
                totals[shape] = totals[shape] + product
        return totals
