"""Small mechanisms in exact fractions. A factor stands for e^eps, so that nothing is rounded."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction

Law = Mapping[Hashable, Fraction]
"""The probability of each output."""


def excess(law: Law, other: Law, factor: Fraction) -> Fraction:
    """The least delta for which Pr[Z] <= factor Pr'[Z] + delta holds for every set Z of outputs.

    The worst set is that of the outputs whose own difference is positive.
    """
    differences = (chance - factor * other.get(output, Fraction(0)) for output, chance in law.items())
    return sum((one for one in differences if one > 0), Fraction(0))


def worst(
    laws: Mapping[Hashable, Law], steps: Iterable[tuple[Hashable, Hashable]], factor: Fraction
) -> Fraction:
    """The least delta over all steps."""
    return max(excess(laws[one], laws[other], factor) for one, other in steps)


def random_law(dice: random.Random, outputs: Iterable[Hashable]) -> dict[Hashable, Fraction]:
    """Any law, some of its outputs impossible."""
    weights = {output: dice.choice([0, 0, 1, 1, 2, 3, 5, 8]) for output in outputs}
    total = sum(weights.values())
    if not total:
        return random_law(dice, weights)
    return {output: Fraction(weight, total) for output, weight in weights.items()}
