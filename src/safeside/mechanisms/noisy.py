"""What leaves a mechanism: noisy values that carry their guarantee and say whether they are real."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safeside.noise.entropy import Entropy, system_entropy
from safeside.privacy.guarantee import Guarantee


@dataclass(frozen=True, kw_only=True, eq=False)
class Noisy:
    """Published values, one for each count, in the order they were given.

    `values` are whole numbers of `step`; `simulated` is true where the noise came from a seed, and such a
    release protects nobody.
    """

    values: NDArray[np.int64]
    guarantee: Guarantee
    mechanism: str
    simulated: bool
    step: Fraction = Fraction(1)

    def exact(self) -> tuple[Fraction, ...]:
        """The values as exact numbers."""
        return tuple(int(value) * self.step for value in self.values)


@dataclass(frozen=True, slots=True)
class Tail:
    """Every output from `at` on, upwards or downwards, taken as one.

    Beyond every count compared, the probabilities of two datasets have one constant ratio, so that nothing an
    audit could find is lost by the sum.
    """

    at: Hashable
    upwards: bool = True

    def __str__(self) -> str:
        return f"{self.at} or {'more' if self.upwards else 'less'}"


def source(entropy: Entropy | None) -> Entropy:
    """The entropy to draw from: the system's own unless a test or a simulation says otherwise."""
    return system_entropy() if entropy is None else entropy
