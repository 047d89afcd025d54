"""The statistical audit: draws of a sampler against the distribution it should have.

An exact audit reads probabilities; this one looks at what comes out. Every cut point k turns a sample into a
binomial count with a known success probability F(k), and a Chernoff bound that holds for every sample size
(no normal approximation) gives the range the count stays in, but for the stated probability of a false alarm.
Disjoint pairs of draws, neighbours and such as are a power of two apart, are tested in the same way, so that
noise used twice does not pass.
A value that is impossible fails at once: the support needs no statistics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from safeside import exact
from safeside.errors import BadCounts, BadNumber
from safeside.exact import Ball, Number
from safeside.mechanisms.laws import Law

FALSE_ALARM: Final = Fraction(1, 10**9)
DRAWS: Final = 250_000
_MOST_CUTS: Final = 64
_HALVINGS: Final = 60
_RARE: Final = Fraction(1, 10**6)
_APART: Final = (1, 1 << 16, 1 << 17)
"""How far the draws of a pair are apart: samplers work in blocks of such sizes."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One event, its probability, and how often it may happen among `of` independent trials."""

    name: str
    at: int
    apart: int
    """How far from each other both draws of a pair are; 0 where it is about single draws."""
    probability: float
    of: int
    room: float
    least: int
    most: int

    def standing(self, seen: int) -> float:
        """How surprising this number is, in parts of the surprise that is allowed: above 1 is too much."""
        return _divergence(seen / self.of, self.probability) / self.room


@dataclass(frozen=True, kw_only=True, slots=True)
class SamplerFinding:
    """The cut that stands worst, and whether anything failed."""

    passed: bool
    worst: str
    standing: float
    seen: int
    least: int
    most: int


@dataclass(frozen=True, kw_only=True)
class SamplerTest:
    """A test of draws against `pmf`, the exact probabilities of a run of consecutive values.

    `below` is the probability of all smaller values; what is then missing from 1 belongs to larger ones. The
    probability that a correct sampler fails is at most `false_alarm`, whatever the sample size.
    """

    pmf: Mapping[int, Ball]
    below: Ball = field(default_factory=lambda: exact.ball(0))
    draws: int = DRAWS
    false_alarm: Number = FALSE_ALARM

    def __post_init__(self) -> None:
        if not self.pmf or sorted(self.pmf) != list(range(min(self.pmf), max(self.pmf) + 1)):
            raise BadNumber(
                "The probabilities of a sampler must be listed for a run of consecutive whole numbers.",
                "List every value from the least to the largest, with probability 0 where it cannot come.",
            )
        rate = exact.error_rate(self.false_alarm, "false_alarm")
        if rate == 0:
            raise BadNumber(
                "A test that never gives a false alarm finds nothing.", "Give false_alarm above 0."
            )
        exact.whole(self.draws, "draws", least=2)

    @classmethod
    def of(cls, law: Law, *, draws: int = DRAWS, false_alarm: Number = FALSE_ALARM) -> SamplerTest:
        """The test of a law of integer noise, listed until its tails are too rare to matter."""
        least = law.least if law.least is not None else -_reach(lambda k: law.at_most(-k))
        most = law.most if law.most is not None else _reach(law.at_least)
        with exact.precision(exact.PMF_BITS):
            pmf = {k: law.exactly(k) for k in range(least, most + 1)}
            return cls(pmf=pmf, below=law.at_most(least - 1), draws=draws, false_alarm=false_alarm)

    @cached_property
    def cumulative(self) -> dict[int, float]:
        """Pr[value <= k] for every k listed."""
        with exact.precision(exact.PMF_BITS):
            total = self.below
            table = {}
            for value in sorted(self.pmf):
                total = total + self.pmf[value]
                table[value] = min(1.0, max(0.0, float(total.mid())))
        return table

    @cached_property
    def cuts(self) -> tuple[Cut, ...]:
        """Single draws at up to 64 cut points, and disjoint pairs at one, of each distance."""
        inner = [k for k, share in self.cumulative.items() if 0.0 < share < 1.0]
        chosen = _spread(inner, self.cumulative)
        middle = min(inner, key=lambda k: abs(self.cumulative[k] - 0.5), default=None)
        pairs = {apart: _pairs(self.draws, apart) for apart in _APART if middle is not None}
        pairs = {apart: number for apart, number in pairs.items() if number}
        error = float(exact.fraction(self.false_alarm)) / (2 * max(1, len(chosen) + len(pairs)))
        single = [_cut(f"at most {k}", k, 0, self.cumulative[k], self.draws, error) for k in chosen]
        paired = [
            _cut(f"two {_distance(apart)} at most {k}", k, apart, self.cumulative[k] ** 2, number, error)
            for apart, number in pairs.items()
            for k in ([] if middle is None else [middle])
        ]
        return (*single, *paired)

    def check(self, values: NDArray[np.int64]) -> SamplerFinding:
        """Hold this many draws against the distribution."""
        if len(values) != self.draws:
            raise BadCounts(
                f"The test was made for {self.draws:,} draws and got {len(values):,}.",
                "Draw as many as the test was made for: its error bound depends on it.",
            )
        outside = self._impossible(values)
        if outside:
            return SamplerFinding(
                passed=False, worst="impossible values", standing=math.inf, seen=outside, least=0, most=0
            )
        found = [(cut, _count(cut, values)) for cut in self.cuts]
        if not found:
            return SamplerFinding(
                passed=True, worst="a constant", standing=0.0, seen=self.draws, least=0, most=self.draws
            )
        cut, seen = max(found, key=lambda one: one[0].standing(one[1]))
        return SamplerFinding(
            passed=all(one.least <= number <= one.most for one, number in found),
            worst=cut.name,
            standing=cut.standing(seen),
            seen=seen,
            least=cut.least,
            most=cut.most,
        )

    def power(self, other: Mapping[int, Ball], below: Ball | None = None) -> float:
        """A lower bound on the probability that draws from `other` fail this test."""
        wrong = SamplerTest(pmf=other, below=below or exact.ball(0), draws=self.draws).cumulative
        passing = 1.0
        for cut in self.cuts:
            truth = wrong.get(cut.at, 1.0 if cut.at > max(wrong) else 0.0)
            passing = min(passing, _passes(cut, truth**2 if cut.apart else truth))
        return 1.0 - passing

    def _impossible(self, values: NDArray[np.int64]) -> int:
        least, largest = min(self.pmf), max(self.pmf)
        never = [k for k, probability in self.pmf.items() if probability.is_zero()]
        bad = np.isin(values, never)
        if self.below.is_zero():
            bad |= values < least
        with exact.precision(exact.PMF_BITS):
            rest = 1 - self.below - sum(self.pmf.values(), start=exact.ball(0))
        if rest.contains(0):
            bad |= values > largest
        return int(bad.sum())


def _reach(tail: Callable[[int], Ball]) -> int:
    """How far out a tail still holds a draw in a million."""
    with exact.precision(exact.PMF_BITS):
        reach = 1
        while tail(reach) > exact.ball(_RARE):
            reach *= 2
    return reach


def _spread(points: list[int], cumulative: Mapping[int, float]) -> list[int]:
    """At most so many cut points, evenly spread in probability."""
    if len(points) <= _MOST_CUTS:
        return points
    targets = np.linspace(0, 1, _MOST_CUTS + 2)[1:-1]
    shares = np.array([cumulative[k] for k in points])
    return sorted({points[int(i)] for i in np.searchsorted(shares, targets).clip(0, len(points) - 1)})


def _cut(name: str, at: int, apart: int, probability: float, of: int, error: float) -> Cut:
    room = -math.log(error) / of
    most = math.ceil(of * _edge(probability, 1.0, room))
    least = math.floor(of * _edge(probability, 0.0, room))
    return Cut(name, at, apart, probability, of, room, least, most)


def _edge(probability: float, end: float, room: float) -> float:
    """The share towards `end` where the Chernoff exponent reaches `room`; beyond it is a failure."""
    if _divergence(end, probability) <= room:
        return end
    near, far = probability, end
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        if _divergence(middle, probability) < room:
            near = middle
        else:
            far = middle
    return far


def _passes(cut: Cut, truth: float) -> float:
    """An upper bound on the probability that a binomial with success probability `truth` stays in the cut."""
    least, most = cut.least / cut.of, cut.most / cut.of
    if least <= truth <= most:
        return 1.0
    edge = least if truth < least else most
    return math.exp(-cut.of * _divergence(edge, truth))


def _divergence(share: float, probability: float) -> float:
    """Kullback-Leibler divergence of two coins, in nats."""
    if probability in (0.0, 1.0):
        return 0.0 if share == probability else math.inf
    total = 0.0
    if share > 0:
        total += share * math.log(share / probability)
    if share < 1:
        total += (1 - share) * math.log((1 - share) / (1 - probability))
    return total


def _pairs(number: int, apart: int) -> int:
    """How many disjoint pairs of draws so far apart there are."""
    whole, rest = divmod(number, 2 * apart)
    return whole * apart + max(0, rest - apart)


def _distance(apart: int) -> str:
    return "in a row" if apart == 1 else f"{apart:,} apart"


def _count(cut: Cut, values: NDArray[np.int64]) -> int:
    low = values <= cut.at
    if not cut.apart:
        return int(low.sum())
    first = np.arange(low.size) // cut.apart % 2 == 0
    first[max(0, low.size - cut.apart) :] = False
    (starts,) = first.nonzero()
    return int((low[starts] & low[starts + cut.apart]).sum())
