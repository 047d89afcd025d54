"""Sparse answers over a long sequence: "at most t" is free, only an alarm costs.

Queries are asked one after another, in an order that may depend on earlier *outputs*. Where the noisy count
is at most the query's threshold the output is quiet (written ⊥ in the proofs); otherwise it is the noisy
count itself, an alarm. After `alarms` of them the release stops, and what was not reached is "not asked".
Quiet costs nothing because a person's presence can only make it rarer.

A query may be a place, a region (its *distinct* people, never a sum) or the same place in another window: all
of them are counted in max_conditions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeside import exact
from safeside.errors import BadCounts, BadNumber
from safeside.exact import Ball, Number, evaluate
from safeside.mechanisms.counts import MOST_PEOPLE, compact_copy, people_counts, thresholds_for
from safeside.mechanisms.guarantees import UnderPolicy
from safeside.mechanisms.laws import Integers, Up
from safeside.mechanisms.published import Published, Tail, carried
from safeside.mechanisms.sequences import (
    Alarm,
    Answer,
    Order,
    Transcript,
    every_transcript,
    run_queries,
)
from safeside.noise.entropy import Entropy, system_entropy
from safeside.privacy.direction import CountQuery, max_conditions
from safeside.privacy.guarantee import Direction, Guarantee

NO_VALUE: Final = -1
_FIRST_BLOCK: Final = 1 << 12
_BLOCK: Final = 1 << 17


@dataclass(frozen=True, kw_only=True, eq=False)
class Sparse(Published):
    """Published answers, one for each query listed.

    `at_most` are the thresholds it was released with, `answers` codes of `Answer`. `values` are the alarms in
    whole numbers of `step`, and -1 where there is none. An alarm's value is a certain upper bound and has no
    unbiased estimate.
    """

    at_most: NDArray[np.integer]
    answers: NDArray[np.int8]
    values: Integers
    asked: int
    step: Fraction = Fraction(1)

    @property
    def alarms(self) -> int:
        """How many queries gave an alarm."""
        return int(np.count_nonzero(self.answers == Answer.ALARM))


Ran = tuple[NDArray[np.int8], Integers, int]
People = TypeVar("People", int, NDArray[np.int64])


@dataclass(frozen=True, kw_only=True)
class SparseQueries(UnderPolicy):
    """Everything that follows from the grid on which the noise lies and from the rule for quiet."""

    name: ClassVar[str] = "sparse"
    epsilon_each: Number
    alarms: int = 1
    max_conditions: int | None = None
    """The most of all queries that may be asked which one possible person satisfies; None where unknown."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon_each", exact.epsilon(self.epsilon_each, "epsilon_each"))
        object.__setattr__(self, "alarms", exact.whole(self.alarms, "alarms", least=1))
        if self.max_conditions is not None:
            object.__setattr__(
                self, "max_conditions", exact.whole(self.max_conditions, "max_conditions", least=1)
            )

    @classmethod
    def _found(cls, queries: Sequence[CountQuery], direction: Direction, moved: int) -> dict[str, Any]:  # noqa: ARG003
        most = max_conditions([query.condition for query in queries], queries[0].vectors)
        return {"max_conditions": max(1, most)}

    @property
    def steps(self) -> int:
        """How many steps of the noise's grid make up one person."""
        return 1

    @property
    def _beyond(self) -> int:
        """How many steps beyond t are still quiet."""
        return 0

    @property
    def price(self) -> int:
        """How many times `epsilon_each` the whole costs, whatever happens: min(alarms, max_conditions)."""
        return self.alarms if self.max_conditions is None else min(self.alarms, self.max_conditions)

    @property
    def guarantee(self) -> Guarantee:
        """What is promised of the whole sequence."""
        return Guarantee(
            epsilon=exact.fraction(self.epsilon_each) * self.price,
            policy=self.policy,
            direction=Direction.DECREASING,
        )

    alpha: ClassVar[Fraction] = Fraction(0)
    """How often "at most t" is wrong: never."""

    def rate(self, sensitivity: int = 1) -> Fraction:
        """The rate of the noise for each step, for a query one person moves by `sensitivity`."""
        return exact.fraction(self.epsilon_each) / (sensitivity * self.steps)

    def beta(self, t: int, count: int, sensitivity: int = 1) -> Ball:
        """Pr[quiet | asked] at this true count."""
        room = self._last_quiet(exact.whole(t, "at_most")) - exact.whole(count, "count") * self.steps
        return evaluate(lambda: Up(self.rate(sensitivity)).at_most(room))

    def reached(self, counts: ArrayLike, thresholds: ArrayLike) -> NDArray[np.float64]:
        """Pr[asked] of each query in the order given, as floats: to plan on public or simulated counts."""
        values = people_counts(counts)
        room = self._last_quiet(thresholds_for(values.size, thresholds)) - values * self.steps
        quiet = np.where(room < 0, 0.0, -np.expm1(-float(self.rate()) * (room + 1.0)))
        if self.alarms == 1:
            reached: NDArray[np.float64] = np.concatenate(([1.0], np.cumprod(quiet[:-1])))
            return reached
        share = np.zeros(self.alarms)
        share[0] = 1.0
        asked = np.empty(values.size)
        for i, stays in enumerate(quiet):
            asked[i] = share.sum()
            loud = share[:-1] * (1 - stays)
            share *= stays
            share[1:] += loud
        return asked

    def refund(self, alarms: int, alarmed_conditions: int | None = None) -> Fraction:
        """The part of the reservation that may go back, from the *published* alarms and nothing else.

        What was priced by the number of alarms is refunded by their number. What was priced by a smaller
        max_conditions is refunded by how many of the alarmed queries one possible record satisfies, which is
        at most their number. The guarantee of the whole stays the total reserved beforehand: this is a
        filter, never a stronger promise.
        """
        heard = exact.whole(alarms, "alarms")
        if heard > self.alarms:
            raise BadNumber(
                f"{heard} alarms were published where the release stops at {self.alarms}.",
                "Give the number of alarms in the published answers.",
            )
        used = heard
        if self.price < self.alarms:
            used = min(heard, self.price)
            if alarmed_conditions is not None:
                used = min(used, exact.whole(alarmed_conditions, "alarmed_conditions", least=min(heard, 1)))
        return exact.fraction(self.epsilon_each) * (self.price - used)

    def release(
        self,
        counts: ArrayLike,
        thresholds: ArrayLike,
        *,
        order: Order | None = None,
        sensitivities: ArrayLike = 1,
        entropy: Entropy | None = None,
    ) -> Sparse:
        """The answers, in the order given unless `order` chooses, stopped at the last alarm allowed."""
        values, limits, moves = self._given(counts, thresholds, sensitivities)
        drawn = entropy or system_entropy()
        run = self._in_turn if order is None else partial(self._chosen, order)
        answers, noisy, asked = run(values, limits, moves, drawn)
        return Sparse(
            at_most=compact_copy(limits),
            answers=answers,
            values=noisy,
            asked=asked,
            step=Fraction(1, self.steps),
            **carried(self, drawn),
        )

    def distribution(
        self,
        counts: ArrayLike,
        thresholds: ArrayLike,
        horizon: int,
        *,
        order: Order | None = None,
        sensitivities: ArrayLike = 1,
    ) -> dict[Transcript, Ball]:
        """Every transcript with its probability; alarms of `horizon` people or more are one event.

        Compare datasets whose counts are at most `horizon` at the same horizon: the ratio is constant there.
        """
        values, limits, moves = self._given(counts, thresholds, sensitivities)
        if horizon < int(values.max()) or horizon <= int(limits.max()):
            raise BadNumber(
                f"The horizon {horizon} does not lie above every threshold and every count.",
                "Give a larger horizon, the same for all datasets compared.",
            )
        outcomes = [
            self._outcomes(int(f), int(t), int(move), horizon)
            for f, t, move in zip(values, limits, moves, strict=True)
        ]
        return every_transcript(outcomes, self.alarms, order)

    def _outcomes(self, count: int, limit: int, move: int, horizon: int) -> dict[Alarm | None, Ball]:
        law, end = Up(self.rate(move)), horizon * self.steps
        quiet, true = self._last_quiet(limit), count * self.steps
        with exact.precision(exact.PMF_BITS):
            masses: dict[Alarm | None, Ball] = {None: law.at_most(quiet - true)}
            for z in range(max(quiet + 1, true), end):
                masses[self._shown(z)] = law.exactly(z - true)
            masses[Tail(horizon)] = law.at_least(end - true)
            return {alarm: mass for alarm, mass in masses.items() if mass != 0}

    def _in_turn(self, counts: Integers, limits: Integers, moves: Integers, entropy: Entropy) -> Ran:
        answers = np.zeros(counts.size, dtype=np.int8)
        values = np.empty(counts.size, dtype=np.int64)
        start, left, size = 0, self.alarms, _FIRST_BLOCK
        while start < counts.size and left:
            block = slice(start, start + size)
            noisy = self._draw(counts[block], moves[block], entropy)
            loud = noisy > self._last_quiet(limits[block])
            heard = int(np.count_nonzero(loud))
            if heard >= left:
                # What was drawn past the last alarm allowed is dropped here and never leaves.
                heard, last = left, int(np.flatnonzero(loud)[left - 1])
                noisy, loud = noisy[: last + 1], loud[: last + 1]
            end = start + noisy.size
            np.add(loud, np.int8(Answer.QUIET), out=answers[start:end])
            # -1 is all ones: "or" with it hides a quiet query's noise, without a branch for each query.
            np.bitwise_or(noisy, np.subtract(loud, 1, dtype=np.int64), out=values[start:end])
            start, left, size = end, left - heard, _BLOCK
        values[start:] = NO_VALUE
        return answers, values, start

    def _chosen(
        self, order: Order, counts: Integers, limits: Integers, moves: Integers, entropy: Entropy
    ) -> Ran:
        answers = np.zeros(counts.size, dtype=np.int8)
        values = np.full(counts.size, NO_VALUE, dtype=np.int64)

        def ask(query: int) -> Alarm | None:
            only = slice(query, query + 1)
            noisy = int(self._draw(counts[only], moves[only], entropy)[0])
            loud = noisy > self._last_quiet(int(limits[query]))
            answers[query] = Answer.ALARM if loud else Answer.QUIET
            values[query] = noisy if loud else NO_VALUE
            return self._shown(noisy) if loud else None

        return answers, values, len(run_queries(order, self.alarms, counts.size, ask))

    def _draw(self, counts: Integers, moves: Integers, entropy: Entropy) -> Integers:
        """Noisy counts in steps; queries that share a sensitivity are drawn together."""
        scaled = counts if self.steps == 1 else counts * self.steps
        # One sensitivity given for all is a broadcast scalar: there is nothing to look through.
        if moves.strides == (0,) or bool((moves == moves[0]).all()):
            return Up(self.rate(int(moves[0]))).add_to(scaled, entropy)
        noisy = np.empty_like(counts)
        for move in np.unique(moves):
            here = np.flatnonzero(moves == move)
            noisy[here] = Up(self.rate(int(move))).add_to(scaled[here], entropy)
        return noisy

    def _last_quiet(self, threshold: People) -> People:
        """The largest noisy count, in steps, that is quiet."""
        if self.steps == 1 and self._beyond == 0:
            return threshold
        return threshold * self.steps + self._beyond

    def _shown(self, noisy: int) -> int | Fraction:
        return noisy if self.steps == 1 else Fraction(noisy, self.steps)

    def _given(
        self, counts: ArrayLike, thresholds: ArrayLike, sensitivities: ArrayLike
    ) -> tuple[Integers, Integers, Integers]:
        values = people_counts(counts)
        limits = thresholds_for(values.size, thresholds)
        moves = thresholds_for(values.size, sensitivities, name="sensitivities")
        if int((moves[:1] if moves.strides == (0,) else moves).min()) < 1:
            raise BadNumber("A sensitivity is 0.", "Give each query a sensitivity of at least 1.")
        if self.steps > 1 and (max(int(values.max()), int(limits.max())) + 1) * self.steps > MOST_PEOPLE:
            raise BadCounts(
                "A count or threshold is more than 2^62 steps of the grid.",
                "Use a coarser grid, or SAGeo, whose grid is one person.",
            )
        return values, limits, moves
