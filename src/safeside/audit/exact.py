"""The exact audit: every ordered pair of neighbours of a small universe, every output.

What is measured is not estimated. Probabilities are balls that contain the true ones, so the epsilon that is
reported lies between two certified numbers; a claim is kept only if the upper one does not exceed it. An
output that one neighbour can give and the other cannot costs an infinite epsilon, and is shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, Protocol

from safeside import exact
from safeside.audit.channel import Independent, Probability, outcome_of, respond
from safeside.audit.ratios import Ratio, approximate, clearly_above, excess, pure
from safeside.errors import BadQuestion
from safeside.exact import Ball, Number
from safeside.progress import Progress, quiet

TOLERANCE: Final = 1e-9
_PAIRS_BETWEEN_REPORTS: Final = 256


class Relation(Protocol):
    """Which ordered pairs of datasets a definition compares."""

    def neighbours(self, universe: Any, n: int, /) -> Iterable[tuple[Any, Any]]: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """What an audit measured, and where.

    `epsilon` is what the claimed delta needs, `delta` what the claimed epsilon needs, each between two
    certified numbers. `worst` is the ordered pair that needs the most and `witness` the output (with a
    delta: the outputs) that shows it.
    """

    claimed_epsilon: Fraction
    claimed_delta: Fraction
    epsilon_low: float
    epsilon_high: float
    delta_low: float
    delta_high: float
    worst: tuple[Any, Any]
    witness: Any
    pairs: int

    @property
    def measured(self) -> float:
        """The epsilon that is needed, rounded up; infinite where nothing would do."""
        return self.epsilon_high

    @property
    def holds(self) -> bool:
        """Whether the claim is kept, for certain, up to a rounding of 1e-9."""
        if self.epsilon_high > self.claimed_epsilon + TOLERANCE:
            return False
        return self.delta_high <= self.claimed_delta * (1 + TOLERANCE) or self.claimed_delta == 0

    @property
    def broken(self) -> bool:
        """Whether the claim is violated, for certain."""
        if self.epsilon_low > self.claimed_epsilon + TOLERANCE:
            return True
        return self.claimed_delta > 0 and self.delta_low > self.claimed_delta * (1 + TOLERANCE)

    @property
    def tight(self) -> bool:
        """Whether no smaller epsilon would do."""
        return self.epsilon_low >= self.claimed_epsilon - TOLERANCE


Comparison = tuple[Ratio, Ball | None]
"""Of one ordered pair: the ratio at the claimed delta, and, where one is claimed, the delta at epsilon."""


def measure(
    pairs: Iterable[tuple[Any, Any]],
    compare: Callable[[Any, Any], Comparison],
    epsilon: Fraction,
    delta: Fraction,
    progress: Progress = quiet,
) -> Finding:
    """The worst of all ordered pairs."""
    low = high = delta_low = delta_high = exact.ball(0)
    worst: tuple[Any, Any] | None = None
    witness: Any = None
    seen = 0
    for left, right in pairs:
        if seen % _PAIRS_BETWEEN_REPORTS == 0:
            progress(None, f"{seen:,} pairs compared")
        seen += 1
        ratio, beyond = compare(left, right)
        if beyond is not None:
            delta_low, delta_high = delta_low.max(beyond.lower()), delta_high.max(beyond.upper())
        if worst is None or clearly_above(ratio.low, low):
            worst, witness = (left, right), ratio.witness
        low, high = low.max(ratio.low), high.max(ratio.high)
    if worst is None:
        raise BadQuestion(
            "No dataset of this universe has a neighbour, so there is nothing to audit.",
            "Use a universe with at least two records that the relation connects.",
        )
    return Finding(
        claimed_epsilon=epsilon,
        claimed_delta=delta,
        epsilon_low=_epsilon(low, exact.float_down),
        epsilon_high=_epsilon(high, exact.float_up),
        delta_low=exact.float_down(delta_low),
        delta_high=exact.float_up(delta_high),
        worst=worst,
        witness=witness,
        pairs=seen,
    )


def _epsilon(ratio: Ball, rounded: Callable[[Ball], float]) -> float:
    """The logarithm of a ratio; never negative, since the set of all outputs has the ratio 1."""
    if not ratio.is_finite():
        return math.inf
    return max(0.0, rounded(ratio.log())) if ratio > 0 else 0.0


def audit_channel(
    channel: Mapping[Any, Mapping[Any, Probability] | Independent],
    pairs: Iterable[tuple[Hashable, Hashable]],
    claimed_epsilon: Number,
    claimed_delta: Number = 0,
    *,
    progress: Progress = quiet,
) -> Finding:
    """Measure the epsilon (at the claimed delta) of a table of probabilities over ordered pairs of inputs."""
    epsilon = exact.fraction(claimed_epsilon, "the claimed epsilon")
    delta = exact.delta(claimed_delta)
    with exact.precision(exact.PMF_BITS):
        outcomes = {given: outcome_of(outcome, given) for given, outcome in channel.items()}

        def compare(left: Any, right: Any) -> Comparison:
            here, there = outcomes[left], outcomes[right]
            if delta == 0:
                return pure(here, there), None
            return approximate(here, there, delta), excess(here, there, epsilon)

        return measure(pairs, compare, epsilon, delta, progress)


def audit_mechanism(
    mechanism: object,
    query: Callable[[Any], Any],
    relation: Relation,
    universe: Any,
    people: int,
    claimed_epsilon: Number,
    claimed_delta: Number = 0,
    *,
    outputs: Iterable[Any] | None = None,
    progress: Progress = quiet,
) -> Finding:
    """Audit `mechanism` on `query` over all ordered neighbours among datasets of `people` records.

    The query maps a dataset (a tuple of records) to a count, a tuple of counts or anything the mechanism
    understands; `channel.respond` lists the forms a mechanism may have. Datasets with the same query result
    have the same distribution, so each pair of results is compared once.

    Example
        >>> from safeside import AGeo, audit_mechanism
        >>> from safeside.privacy.records import visits
        >>> from safeside.privacy.relations import ADP
        >>> cafe = lambda people: sum("café" in person for person in people)
        >>> policy, people = ADP.not_visited(["café"]), visits(["café"])
        >>> finding = audit_mechanism(AGeo(epsilon=1), cafe, policy, people, 2, claimed_epsilon=1)
        >>> finding.holds, finding.tight
        (True, True)
    """
    pairs = pairs_of(relation.neighbours(universe, people), query, {})
    results = {result for pair in pairs for result in pair}
    with exact.precision(exact.PMF_BITS):
        answer = respond(mechanism, results, outputs)
        channel = {result: answer(result) for result in results}
    finding = audit_channel(channel, pairs, claimed_epsilon, claimed_delta, progress=progress)
    return replace(finding, worst=pairs[finding.worst])


def pairs_of(
    neighbours: Iterable[tuple[Any, Any]], view: Callable[[Any], Any], views: dict[Any, Any]
) -> dict[tuple[Any, Any], tuple[Any, Any]]:
    """Each ordered pair of views with the first datasets that have it; `views` collects them all."""
    pairs: dict[tuple[Any, Any], tuple[Any, Any]] = {}
    for left, right in neighbours:
        for dataset in (left, right):
            if dataset not in views:
                views[dataset] = view(dataset)
        pairs.setdefault((views[left], views[right]), (left, right))
    return pairs
