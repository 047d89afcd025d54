"""Laws of integer noise: what is added to a count, with exact probabilities of every event that matters.

A law knows how probable each value is and how to be drawn. A mechanism is a law, a gate for what it is added
to, and a guarantee. All probabilities are balls at the working precision.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from safeside.exact import Ball, ball, ceiling, exp, is_at_most, least_power
from safeside.noise.entropy import Entropy
from safeside.noise.geometric import Noise, geometric, truncated_geometric, two_sided_geometric
from safeside.noise.inversion import bernoulli
from safeside.privacy.guarantee import Direction, one_of

Integers = NDArray[np.int64]


class Law(Protocol):
    """An integer random variable K."""

    @property
    def least(self) -> int | None:
        """The least value K takes, or None where there is none."""

    @property
    def most(self) -> int | None:
        """The largest value K takes, or None where there is none."""

    def exactly(self, k: int) -> Ball:
        """Pr[K = k]."""

    def at_least(self, k: int) -> Ball:
        """Pr[K >= k]."""

    def at_most(self, k: int) -> Ball:
        """Pr[K <= k]."""

    def mean(self) -> Ball:
        """E[K]."""

    def variance(self) -> Ball:
        """Var[K]."""

    def margin_up(self, alpha: Fraction) -> int | None:
        """The least m >= 1 with Pr[K >= m] <= alpha, for certain; None where there is none."""

    def margin_down(self, alpha: Fraction) -> int | None:
        """The least m >= 1 with Pr[K <= -m] <= alpha, for certain; None where there is none."""

    def add_to(self, values: Integers, entropy: Entropy) -> Integers:
        """Each value plus a fresh draw of K."""


@dataclass(frozen=True)
class _Geometric:
    """Noise of one rate, drawn from tables that are made once; r = e^-rate."""

    rate: Fraction
    sign: ClassVar[int] = 1

    @cached_property
    def _noise(self) -> Noise:
        return geometric(self.rate)

    def add_to(self, values: Integers, entropy: Entropy) -> Integers:
        return self._noise.add_to(values, entropy, sign=self.sign)


@dataclass(frozen=True)
class Up(_Geometric):
    """Geometric: Pr[K = k] = (1-r) r^k for k >= 0, with r = e^-rate."""

    least = 0
    most = None

    def exactly(self, k: int) -> Ball:
        return _one_minus_r(self.rate) * exp(-self.rate * k) if k >= 0 else ball(0)

    def at_least(self, k: int) -> Ball:
        return exp(-self.rate * k) if k > 0 else ball(1)

    def at_most(self, k: int) -> Ball:
        return _one_minus_r(self.rate * (k + 1)) if k >= 0 else ball(0)

    def mean(self) -> Ball:
        return 1 / ball(self.rate).expm1()

    def variance(self) -> Ball:
        return exp(-self.rate) / _one_minus_r(self.rate) ** 2

    def margin_up(self, alpha: Fraction) -> int | None:
        return max(1, least_power(self.rate, alpha)) if alpha > 0 else None

    def margin_down(self, alpha: Fraction) -> int | None:  # noqa: ARG002  (never below the truth)
        return 1


@dataclass(frozen=True)
class Down(_Geometric):
    """The mirror image of `Up`: K <= 0."""

    sign = -1
    least = None
    most = 0

    def exactly(self, k: int) -> Ball:
        return Up(self.rate).exactly(-k)

    def at_least(self, k: int) -> Ball:
        return Up(self.rate).at_most(-k)

    def at_most(self, k: int) -> Ball:
        return Up(self.rate).at_least(-k)

    def mean(self) -> Ball:
        return -Up(self.rate).mean()

    def variance(self) -> Ball:
        return Up(self.rate).variance()

    def margin_up(self, alpha: Fraction) -> int | None:  # noqa: ARG002  (never above the truth)
        return 1

    def margin_down(self, alpha: Fraction) -> int | None:
        return Up(self.rate).margin_up(alpha)


@dataclass(frozen=True)
class Both(_Geometric):
    """Two-sided geometric: Pr[K = k] = (1-r)/(1+r) r^|k|."""

    least = None
    most = None

    def exactly(self, k: int) -> Ball:
        return _one_minus_r(self.rate) / (1 + exp(-self.rate)) * exp(-self.rate * abs(k))

    def at_least(self, k: int) -> Ball:
        if k > 0:
            return exp(-self.rate * k) / (1 + exp(-self.rate))
        return 1 - self.at_least(1 - k)

    def at_most(self, k: int) -> Ball:
        return self.at_least(-k)

    def mean(self) -> Ball:
        return ball(0)

    def variance(self) -> Ball:
        return 2 * Up(self.rate).variance()

    def margin_up(self, alpha: Fraction) -> int | None:
        if alpha == 0:
            return None
        return max(1, ceiling(lambda: -(ball(alpha) * (1 + exp(-self.rate))).log() / ball(self.rate)))

    def margin_down(self, alpha: Fraction) -> int | None:
        return self.margin_up(alpha)

    @cached_property
    def _noise(self) -> Noise:
        return two_sided_geometric(self.rate)


@dataclass(frozen=True, slots=True)
class Padded:
    """A two-sided geometric cut to -pad..pad and moved up by `pad`: K on 0..2 pad, Pr[K=j] in proportion to
    r^|j - pad|."""

    rate: Fraction
    pad: int
    least = 0

    @property
    def most(self) -> int | None:
        return 2 * self.pad

    def exactly(self, k: int) -> Ball:
        return exp(-self.rate * abs(k - self.pad)) / self._total() if 0 <= k <= 2 * self.pad else ball(0)

    def at_most(self, k: int) -> Ball:
        if k < 0:
            return ball(0)
        if k >= 2 * self.pad:
            return ball(1)
        if k <= self.pad:
            return exp(-self.rate * (self.pad - k)) * self._powers(k + 1) / self._total()
        return 1 - self.at_most(2 * self.pad - k - 1)

    def at_least(self, k: int) -> Ball:
        return self.at_most(2 * self.pad - k)

    def mean(self) -> Ball:
        return ball(self.pad)

    def variance(self) -> Ball:
        r, last = exp(-self.rate), ball(self.pad)
        ends = (last + 1) ** 2 - (2 * last**2 + 2 * last - 1) * r + last**2 * r**2
        squares = r * (1 + r - exp(-self.rate * self.pad) * ends) / _one_minus_r(self.rate) ** 3
        return 2 * squares / self._total()

    def margin_up(self, alpha: Fraction) -> int | None:
        return least_where(
            lambda m: is_at_most(lambda: self.at_least(m), lambda: ball(alpha)), 2 * self.pad + 1
        )

    def margin_down(self, alpha: Fraction) -> int | None:  # noqa: ARG002  (never below the truth)
        return 1

    def add_to(self, values: Integers, entropy: Entropy) -> Integers:
        if self.pad == 0:
            return values.copy()
        # From the middle, up (0 steps or more) or down (1 or more): each side is a truncated geometric.
        up = bernoulli(lambda: self._powers(self.pad + 1) / self._total(), values.size, entropy)
        above = truncated_geometric(self.rate, self.pad + 1).draw(values.size, entropy)
        below = truncated_geometric(self.rate, self.pad).draw(values.size, entropy)
        return values + np.where(up, self.pad + above, self.pad - 1 - below)

    def _powers(self, number: int) -> Ball:
        """1 + r + ... + r^(number-1)."""
        return _one_minus_r(self.rate * number) / _one_minus_r(self.rate)

    def _total(self) -> Ball:
        return 2 * self._powers(self.pad + 1) - 1


def law_of(direction: Direction, rate: Fraction) -> Law:
    """Noise on the side opposite to where the query can move: there it never errs on the unsafe side."""
    match one_of(Direction, direction, "direction"):
        case Direction.DECREASING:
            return Up(rate)
        case Direction.INCREASING:
            return Down(rate)
        case Direction.NEITHER:
            return Both(rate)


def least_where(holds: Callable[[int], bool], most: int) -> int:
    """The least m in 1..most with `holds(m)`, which must stay true once it is and be true at `most`."""
    return 1 + bisect_left(range(1, most), True, key=holds)


def first_where(holds: Callable[[int], bool], most: float = math.inf) -> int:
    """The least k >= 0 with `holds(k)`, or `most`; nothing far beyond it is looked at."""
    if most == 0 or holds(0):
        return 0
    reach = 1
    while reach < most and not holds(reach):
        reach *= 2
    return least_where(holds, int(min(reach, most)))


def _one_minus_r(rate: Fraction) -> Ball:
    return -ball(-rate).expm1()
