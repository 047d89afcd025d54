"""One claim about many conditions, chosen by a one-sided exponential mechanism over levels and components.

A claim is a set A of conditions and a level j: "each of these is at most t + 1 - j". In the maximum norm one
person changes every count by at most 1, however many conditions they satisfy, so one claim costs one epsilon
whatever the number of places a person visits.

A *component* is a public way to leave conditions out: the condition of rank r is left out with probability
2^-s(r), its exponent, independently of all others. It costs weight only for conditions that are truly too
busy for the level, and then exactly s(r) bits, so that every weight is a power of two times a power of e.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeside import exact
from safeside.errors import BadNumber
from safeside.exact import Ball, ball, exp
from safeside.mechanisms.counts import people_counts, thresholds_for
from safeside.mechanisms.guarantees import Certifying
from safeside.mechanisms.published import Published, carried
from safeside.noise.choice import choose
from safeside.noise.entropy import Entropy, system_entropy

Bools = NDArray[np.bool_]
Claim = tuple[int, int, frozenset[int]]
"""What is published: the component, the level, and the ranks that the claim is about."""
MOST_EXPONENT: Final = 32
"""Bits of the random word that each condition gets: an exponent is at most this."""
BOTTOM: Final = 64
NO_BOUND: Final = -1
MOST_LEVEL: Final = 1 << 12
"""The highest level there is. A lower one than a margin allows loses a little, and never more than that."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Component:
    """How conditions are left out: rank r has as many halvings as there are `cuts` above r.

    `cuts` do not increase, so lower ranks, which are expected to be quieter, are left out less often. Its
    weight among the components is 2^-halvings.
    """

    cuts: tuple[int, ...]
    halvings: int = 0

    def __post_init__(self) -> None:
        ordered = all(one >= two >= 0 for one, two in itertools.pairwise((*self.cuts, 0)))
        if not ordered or len(self.cuts) > MOST_EXPONENT or self.halvings < 0:
            raise BadNumber(
                "A component's cuts increase, are negative or too many, or its weight is above 1.",
                f"Give at most {MOST_EXPONENT} ranks, none above the one before it, and 0 or more halvings.",
            )

    def exponents(self, size: int) -> NDArray[np.uint32]:
        """The exponent of each rank."""
        steps = np.zeros(size + 1, np.int64)
        for cut in self.cuts:
            steps[0] += 1
            steps[min(cut, size)] -= 1
        return np.cumsum(steps[:size]).astype(np.uint32)

    def kept(self, size: int) -> Fraction:
        """The expected number of conditions that are not left out, if all were quiet."""
        return sum(
            (Fraction(min(cut, size), 1 << s) for s, cut in enumerate(self.cuts, start=1)), Fraction(0)
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Climbed(Published):
    """One published claim: each of some conditions is at most its t + 1 - level, for certain."""

    component: int
    level: int
    bounds: NDArray[np.int64]
    """The certain upper bound on each count; -1 where nothing is said."""


@dataclass(frozen=True, kw_only=True)
class Ladder(Certifying):
    """Chooses (component h, level j) with weight omega_h c_j 2^-(exponents of what is too busy for level j).

    Then every condition that is quiet enough for the level is included unless its own random word, drawn for
    every condition alike, says to leave it out.

    Guarantee
        (epsilon, policy)-ADP however many conditions one person satisfies; component and level may be
        published with the set. A claim is never wrong. Nothing is ever refunded.
    Assumes
        Every condition is decreasing along each step the policy allows, and moves by at most 1. Components,
        ranks and thresholds are public, or follow from earlier outputs. The lowest level is -bottom, where
        nothing is said.
    Proof
        docs/proofs/selection.md
    Example
        >>> from safeside.mechanisms import Component, Ladder
        >>> ladder = Ladder(epsilon=1, components=(Component(cuts=(3, 3)),))
        >>> claim = ladder.release([0, 0, 9], at_most=2)
        >>> bool(claim.bounds[2] == -1 or claim.bounds[2] >= 9)  # nothing is said, or what is true
        True
    """

    name: ClassVar[str] = "ladder"
    components: tuple[Component, ...]
    bottom: int = BOTTOM
    top: int | None = None
    """The highest level; the largest t + 1 where none is given."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "bottom", exact.whole(self.bottom, "bottom", least=1))
        if self.top is not None:
            object.__setattr__(self, "top", exact.whole(self.top, "top", least=1))
        if not self.components:
            raise BadNumber("There is no component.", "Give at least one: how conditions are left out.")

    def release(self, counts: ArrayLike, at_most: ArrayLike, *, entropy: Entropy | None = None) -> Climbed:
        """Draw the claim, exactly; counts and thresholds stand in the order of the ranks."""
        limits, levels, margins = self._asked(counts, at_most)
        drawn = entropy or system_entropy()
        busy = self.exponents_of_busy(margins, levels)
        chosen = choose(lambda: self._weights(levels, busy), busy.size, drawn)
        component, step = divmod(chosen, len(levels))
        words = drawn.uint16(2 * margins.size).view("<u4")
        halvings = self.components[component].exponents(margins.size)
        mask = ((np.uint64(1) << halvings.astype(np.uint64)) - np.uint64(1)).astype(np.uint32)
        included = (margins >= levels[step]) & ((words & mask) != 0)
        return Climbed(
            component=component,
            level=levels[step],
            bounds=self.bounds(included, limits, levels[step]),
            **carried(self, drawn),
        )

    def bounds(self, included: Bools, limits: NDArray[np.int64], level: int) -> NDArray[np.int64]:
        """What a claim says of each condition, from what is published alone."""
        if level == -self.bottom:
            return np.full(included.size, NO_BOUND, np.int64)
        # A condition whose threshold is below the level was never included: the bound is at least 0.
        return np.where(included, limits + 1 - level, NO_BOUND)

    def probabilities(self, counts: ArrayLike, at_most: ArrayLike) -> dict[tuple[int, int], Ball]:
        """Pr[component, level]."""
        _, levels, margins = self._asked(counts, at_most)
        busy = self.exponents_of_busy(margins, levels)
        with exact.precision(exact.PMF_BITS):
            weights = self._weights(levels, busy)
            total = sum(weights, ball(0))
            shares = [weight / total for weight in weights]
        return dict(zip(itertools.product(range(len(self.components)), levels), shares, strict=True))

    def distribution(self, counts: ArrayLike, at_most: ArrayLike) -> dict[Claim, Ball]:
        """Every claim with its probability: two to the number of conditions for each component and level."""
        _, _, margins = self._asked(counts, at_most)
        found: dict[Claim, Ball] = {}
        for (component, level), share in self.probabilities(counts, at_most).items():
            halvings = self.components[component].exponents(margins.size)
            quiet = np.flatnonzero(margins >= level).tolist()
            for size in range(len(quiet) + 1):
                for some in itertools.combinations(quiet, size):
                    left = sum(int(halvings[rank]) for rank in quiet if rank not in some)
                    odds = Fraction(1, 1 << left)
                    for rank in some:
                        odds *= 1 - Fraction(1, 1 << int(halvings[rank]))
                    if odds:
                        with exact.precision(exact.PMF_BITS):
                            found[component, level, frozenset(some)] = share * ball(odds)
        return found

    def expected(self, counts: ArrayLike, at_most: ArrayLike) -> NDArray[np.float64]:
        """Pr[certified at most t] of each condition, as floats: to plan on public or simulated counts."""
        _, levels, margins = self._asked(counts, at_most)
        shares = np.array([float(one.mid()) for one in self.probabilities(counts, at_most).values()])
        certified = np.zeros(margins.size)
        for component, by_level in zip(
            self.components, shares.reshape(len(self.components), -1), strict=True
        ):
            useful = np.where(np.array(levels) >= 1, by_level, 0.0)
            reached = np.cumsum(useful)[margins + self.bottom]
            certified += reached * (1 - 0.5 ** component.exponents(margins.size))
        return certified

    def moments(self, counts: ArrayLike, at_most: ArrayLike) -> tuple[float, float]:
        """The mean of the number certified at most t, and of its square, as floats: to plan with."""
        margins = self._asked(counts, at_most)[2] + self.bottom
        mean = square = 0.0
        shares = self.probabilities(counts, at_most)
        for number, component in enumerate(self.components):
            kept = 1 - 0.5 ** component.exponents(margins.size)
            # From the highest level down: a level's set holds that of every level above it.
            by_level = [np.bincount(margins, weights=one)[::-1].cumsum()[::-1] for one in (kept, kept**2)]
            for level in range(1, by_level[0].size - self.bottom):
                share = float(shares[number, level].mid())
                expected, squares = (one[level + self.bottom] for one in by_level)
                mean += share * expected
                square += share * (expected**2 + expected - squares)
        return mean, square

    def levels(self, limits: NDArray[np.int64]) -> tuple[int, ...]:
        """-bottom .. top."""
        top = min(int(limits.max()) + 1, MOST_LEVEL) if self.top is None else self.top
        return tuple(range(-self.bottom, top + 1))

    def _asked(
        self, counts: ArrayLike, at_most: ArrayLike
    ) -> tuple[NDArray[np.int64], tuple[int, ...], NDArray[np.int64]]:
        """Thresholds, levels, and margins: the highest level that each condition is quiet enough for."""
        values = people_counts(counts)
        limits = thresholds_for(values.size, at_most)
        levels = self.levels(limits)
        return limits, levels, np.clip(limits + 1 - values, levels[0], levels[-1])

    def exponents_of_busy(self, margins: NDArray[np.int64], levels: Sequence[int]) -> NDArray[np.int64]:
        """For each component and level, the sum of the exponents of the conditions too busy for the level."""
        size, number = margins.size, len(levels)
        # Where the exponents of any component change.
        cuts = sorted({0, size, *(min(cut, size) for one in self.components for cut in one.cuts)})
        place = {cut: where for where, cut in enumerate(cuts)}
        cells = np.repeat(np.arange(len(cuts) - 1) * number, np.diff(cuts)) + (margins - levels[0])
        found = np.bincount(cells, minlength=(len(cuts) - 1) * number).reshape(-1, number)
        below = np.zeros((len(cuts), number), np.int64)
        # Too busy for level j is a margin below j; then summed over all ranks before each cut.
        below[1:, 1:] = np.cumsum(np.cumsum(found, axis=1), axis=0)[:, :-1]
        own = ([place[min(cut, size)] for cut in one.cuts] for one in self.components)
        return np.stack([below[places].sum(axis=0) for places in own]).astype(np.int64)

    def _weights(self, levels: Sequence[int], busy: NDArray[np.int64]) -> list[Ball]:
        """omega_h c_j 2^-(exponents), at the working precision."""
        rungs = self._rungs(levels)
        return [
            # 2^-exponent, exactly, however large the exponent.
            rung * Ball((1, -component.halvings - int(halvings)))
            for component, by_level in zip(self.components, busy, strict=True)
            for rung, halvings in zip(rungs, by_level, strict=True)
        ]

    def _rungs(self, levels: Sequence[int]) -> list[Ball]:
        """c_j: the sum up to level m is e^(epsilon m)."""
        rate = exact.fraction(self.epsilon)
        step = 1 - exp(-rate)
        return [exp(rate * levels[0]), *(exp(rate * level) * step for level in levels[1:])]
