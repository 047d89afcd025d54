"""Exact choice of one outcome among finitely many, each with a weight that is known as a ball.

The weights need not add up to one, and may differ by millions of binary orders of magnitude: outcome k is
chosen with probability weight k over the sum of all, exactly, by inversion with lazily extended bits.

Proof: docs/proofs/sampler.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from flint import ctx

from safeside.exact import Ball, ball
from safeside.noise.entropy import Entropy
from safeside.noise.inversion import Inversion

Weights = Callable[[], Sequence[Ball]]
"""Weights of at least 0, one of them above it, evaluated anew at the precision that is being worked at."""


def choose(weights: Weights, size: int, entropy: Entropy) -> int:
    """One of 0..size-1, chosen with probability proportional to its weight."""
    words = entropy.uint16(4).view("<u8").astype(np.uint64)
    return int(Inversion(_Cuts(weights), size).values(words, entropy)[0])


class _Cuts:
    """Pr[outcome < k] for each k, from sums that are made once for each precision."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._bits = 0
        self._sums: list[Ball] = []

    def __call__(self, k: int) -> Ball:
        if self._bits != ctx.prec:
            total = ball(0)
            self._sums = [total]
            for weight in self._weights():
                total = total + weight
                self._sums.append(total)
            self._bits = ctx.prec
        # A ball of a quotient may reach beyond 1 by its own width; what it stands for does not.
        return (self._sums[k] / self._sums[-1]).min(ball(1))
