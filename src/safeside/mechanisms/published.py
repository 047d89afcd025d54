"""What leaves a mechanism: an output that carries its guarantee and says whether it is real."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypedDict

import numpy as np
from numpy.typing import NDArray

from safeside.noise.entropy import Entropy
from safeside.privacy.guarantee import Guarantee

if TYPE_CHECKING:
    from safeside.mechanisms.mechanism import Mechanism


@dataclass(frozen=True, kw_only=True, eq=False)
class Published:
    """What every output carries: its guarantee, the mechanism's name, and whether it is only simulated.

    `simulated` is true where the noise came from a seed; such an output protects nobody.
    """

    guarantee: Guarantee
    mechanism: str
    simulated: bool


class Carried(TypedDict):
    """The same by name, to be given to an output when it is made."""

    guarantee: Guarantee
    mechanism: str
    simulated: bool


def carried(by: Mechanism, drawn: Entropy) -> Carried:
    """What an output of this mechanism carries, if it was drawn from there."""
    return {"guarantee": by.guarantee, "mechanism": by.name, "simulated": drawn.simulated}


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
