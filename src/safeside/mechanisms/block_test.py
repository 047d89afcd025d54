"""One public block of conditions, tested as a whole: "each of these is at most its t", or nothing.

A block is decided by its smallest margin t + 1 - f, which one person moves by at most 1 however many of the
conditions they satisfy. Passing can only become likelier when somebody leaves, so a pass costs nothing; a
failure costs epsilon. Only pass or fail is ever published, never how near it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeside import exact
from safeside.exact import Ball, evaluate
from safeside.mechanisms.counts import people_counts, thresholds_for
from safeside.mechanisms.guarantees import Certifying
from safeside.mechanisms.laws import Up
from safeside.mechanisms.published import Published, carried
from safeside.noise.entropy import Entropy, system_entropy
from safeside.noise.inversion import bernoulli


@dataclass(frozen=True, kw_only=True, eq=False)
class Tested(Published):
    """Whether the block passed: then every condition of it is at most its threshold, for certain."""

    passed: bool
    at_most: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class BlockTest(Certifying):
    """Passes with probability 1 - e^(-epsilon k), k the smallest t + 1 - f in the block; never where k <= 0.

    Guarantee
        (epsilon, policy)-ADP however many conditions one person satisfies. A pass is never wrong, and is
        free: in a sequence of tests that ends at the first failure, only that failure costs epsilon.
    Assumes
        Every condition is decreasing along each step the policy allows, and moves by at most 1. The block and
        the thresholds are public, or follow from earlier outputs.
    Proof
        docs/proofs/selection.md
    Example
        >>> from safeside.mechanisms import BlockTest
        >>> test = BlockTest(epsilon=1)
        >>> test.release([0, 1, 5], at_most=2).passed  # 5 is above 2: it does not pass
        False
        >>> print(f"{float(test.beta(3)):.3f}")  # three people would have to come
        0.950
    """

    name: ClassVar[str] = "block-test"

    def beta(self, margin: int) -> Ball:
        """Pr[pass] where the smallest margin t + 1 - f is this."""
        return evaluate(lambda: self._passes(margin))

    def distribution(self, counts: ArrayLike, at_most: ArrayLike) -> dict[bool, Ball]:
        """Pass and fail with their probabilities."""
        passes = self.beta(smallest_margin(people_counts(counts), at_most))
        return {True: passes, False: evaluate(lambda: 1 - passes)}

    def release(self, counts: ArrayLike, at_most: ArrayLike, *, entropy: Entropy | None = None) -> Tested:
        """Test the block, exactly."""
        values = people_counts(counts)
        drawn = entropy or system_entropy()
        margin = smallest_margin(values, at_most)
        return Tested(
            passed=bool(bernoulli(lambda: self._passes(margin), 1, drawn)[0]),
            at_most=thresholds_for(values.size, at_most).copy(),
            **carried(self, drawn),
        )

    def _passes(self, margin: int) -> Ball:
        return Up(exact.fraction(self.epsilon)).at_most(margin - 1)


def smallest_margin(values: NDArray[np.int64], at_most: ArrayLike) -> int:
    """The smallest t + 1 - f: how many people must be added before something in the block is above its t.

    Not the number of distinct people in the block: the largest count decides, and nothing else.
    """
    return int((thresholds_for(values.size, at_most) + 1 - values).min())
