"""Publishing under ordinary differential privacy, audited: every transcript through the real `publish`.

Neighbours have one person more or less, and whoever publishes under a policy beside them also needs the
policy's own (docs/proofs/conversions.md). All that can be drawn is listed: the noise of a padded count is
bounded, and a decision is one bit. There is a delta, so the ledger must hold epsilon and delta of the whole
for every transcript.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np

from safeside import exact
from safeside.audit.case import Case
from safeside.audit.published import AT_A, AT_B, AT_BOTH, NOBODY, PLACES, Pairs, Region, Way, exactly
from safeside.audit.publishing import (
    CELLS,
    TWO_HOURS,
    TWO_PLACES_A_PERSON,
    Condition,
    just_above,
    just_below,
    words_that_draw,
)
from safeside.exact import Ball
from safeside.mechanisms.laws import Padded
from safeside.mechanisms.optimal_decision import OptimalDecision
from safeside.mechanisms.paddedgeo import PaddedGeo
from safeside.noise.geometric import truncated_geometric

_ADDED: Final[Pairs] = (
    ((AT_A, AT_A), (AT_A,)),
    ((AT_A, AT_B), (AT_A,)),
    ((AT_A,), ()),
)
"""Somebody is there or is not; each both ways."""
_TERMS: Final[Mapping[str, Any]] = {"epsilon": 1, "guarantee": "dp"}


@dataclass(frozen=True, kw_only=True)
class Ordinary(Way):
    """One way to publish under the standard definition."""

    pairs: Pairs = (*_ADDED, *((right, left) for left, right in _ADDED), ((AT_A, AT_A), (NOBODY, AT_A)))
    whole: bool = True
    tight: bool


class PaddedCounts(Ordinary):
    """Every value of the noise at A and B, and the most probable one at the steady place."""

    def regions(self, _true: Mapping[Condition, int]) -> Iterator[Region]:
        most = self.conditions_of_one
        law = PaddedGeo(epsilon=self.epsilon / most, delta=self.delta / most).law
        assert isinstance(law, Padded)
        words = words_of(law)
        for noise in itertools.product(words, repeat=len(PLACES)):
            with exact.precision(exact.PMF_BITS):
                mass = exact.ball(1)
                for value in noise:
                    mass = mass * law.exactly(value)
            # First the bits that say on which side, then all steps up, then all steps down.
            sides, *steps = zip(*(words[value] for value in (*noise, law.pad)), strict=True)
            drawn = (*itertools.chain.from_iterable(sides), *itertools.chain.from_iterable(steps))
            yield Region(words=drawn, mass=mass)


def words_of(law: Padded) -> dict[int, tuple[tuple[int, ...], int, int]]:
    """For each value of the noise: the bits of its side, the word of the steps up, and that of those down."""
    rises = law.at_least(law.pad)
    up, down = bits_of(rises, True), bits_of(rises, False)
    above, below = (
        words_that_draw(partial(truncated_geometric(law.rate, size).draw, CELLS), size - 1)
        for size in (law.pad + 1, law.pad)
    )
    return {
        value: (up, above[value - law.pad], below[0])
        if value >= law.pad
        else (down, above[0], below[law.pad - 1 - value])
        for value in range(2 * law.pad + 1)
    }


class Decisions(Ordinary):
    """Every bit at every place."""

    def regions(self, true: Mapping[Condition, int]) -> Iterator[Region]:
        limits, counts = np.array([*self.limits, 1]), np.array(list(true.values()))
        most = self.conditions_of_one
        decision = OptimalDecision(epsilon=self.epsilon / most, delta=self.delta / most)
        says = [decision.beta(int(limit), int(count)) for limit, count in zip(limits, counts, strict=True)]
        # Places as far from their thresholds are drawn together, the nearest first.
        order = np.argsort(np.maximum(0, limits + 1 - counts), kind="stable")
        for bits in itertools.product(*(_possible(probability) for probability in says)):
            with exact.precision(exact.PMF_BITS):
                mass = exact.ball(1)
                for bit, probability in zip(bits, says, strict=True):
                    mass = mass * (probability if bit else 1 - probability)
            words = itertools.chain.from_iterable(bits_of(says[at], bits[at]) for at in order)
            yield Region(words=tuple(words), mass=mass)


def _possible(probability: Ball) -> Sequence[bool]:
    return (True, False) if probability > 0 else (False,)


def bits_of(probability: Ball, value: bool) -> tuple[int, ...]:
    """A number that draws this truth value, near the border to the other."""
    with exact.precision(exact.PMF_BITS):
        border = 1 - probability
    return just_above(border, probability) if value else just_below(border, border)


_BOTH_ADDED: Final[Pairs] = (((AT_BOTH, AT_A), (AT_A,)), ((AT_A,), (AT_BOTH, AT_A)))
ORDINARY: Final = (
    PaddedCounts(
        name="padded",
        terms={**_TERMS, "delta": "1/4"},
        delta=Fraction(1, 4),
        tight=False,
    ),
    PaddedCounts(
        name="padded, two places a person",
        terms={**_TERMS, "delta": "1/2", **TWO_HOURS, **TWO_PLACES_A_PERSON},
        delta=Fraction(1, 2),
        each=Fraction(1, 2),
        pairs=_BOTH_ADDED,
        of_dataset=TWO_PLACES_A_PERSON,
        tight=False,
    ),
    Decisions(
        name="decision",
        terms={**_TERMS, "delta": "1/10", "decision": True},
        delta=Fraction(1, 10),
        tight=True,
    ),
    Decisions(
        name="decision, two places a person",
        terms={**_TERMS, "delta": "1/5", "decision": True, **TWO_HOURS, **TWO_PLACES_A_PERSON},
        delta=Fraction(1, 5),
        each=Fraction(1, 2),
        pairs=_BOTH_ADDED,
        of_dataset=TWO_PLACES_A_PERSON,
        tight=False,
    ),
)


def ordinary() -> Iterator[Case]:
    """Every row about publishing under the standard definition."""
    for way in ORDINARY:
        setting = f"eps = 1, delta = {exact.show(way.delta)}; {way.name}: every transcript through publish"
        yield Case(name="published", setting=setting, tight=way.tight, run=partial(exactly, way))
