"""What leaves a mechanism: an output that carries its guarantee and says whether it is real."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safeside.noise.entropy import Entropy, system_entropy
from safeside.privacy.guarantee import Guarantee


@dataclass(frozen=True, kw_only=True, eq=False)
class Published:
    """What every output carries: its guarantee, the mechanism's name, and whether it is only simulated.

    `simulated` is true where the noise came from a seed; such an output protects nobody.
    """

    guarantee: Guarantee
    mechanism: str
    simulated: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Noisy(Published):
    """Noisy values, one for each count, in the order they were given; whole numbers of `step`."""

    values: NDArray[np.int64]
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


def entropy_or_system(entropy: Entropy | None) -> Entropy:
    """The entropy to draw from: the system's own unless a test or a simulation says otherwise."""
    return system_entropy() if entropy is None else entropy
