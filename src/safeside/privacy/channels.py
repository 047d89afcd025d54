"""Channels: one distribution over outputs for each record, in fractions or in balls.

A mechanism, seen from the one person whose privacy is at stake, is a channel: everybody else is fixed.
Fractions stay fractions; as soon as one probability is a ball, the arithmetic is done in balls.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from safeside import exact
from safeside.errors import BadNumber
from safeside.exact import Ball
from safeside.privacy.relations import Relation

R = TypeVar("R", bound=Hashable)
Z = TypeVar("Z", bound=Hashable)
Probability = Fraction | Ball
Channel = Mapping[R, Mapping[Z, Probability]]
Value = Fraction | Ball | float
"""An exact ratio, a ball that holds it, or `math.inf`; no other float."""

BITS = 2 * exact.PMF_BITS


def outputs(channel: Channel[R, Z]) -> list[Z]:
    """Every output that some record can lead to."""
    return list(dict.fromkeys(output for row in channel.values() for output in row))


def chance(channel: Channel[R, Z], record: R, output: Z) -> Probability:
    """Pr[output | record]; an output the record's row leaves out is impossible for it."""
    return channel[record].get(output, Fraction(0))


def require_channel(channel: Channel[R, Z]) -> None:
    """Refuse rows that are not distributions."""
    for row in channel.values():
        whole = total(row.values())
        if not (whole.contains(1) if isinstance(whole, Ball) else whole == 1):
            raise BadNumber(
                "The probabilities of the outputs of one record do not add up to 1.",
                "Give every output of every record; aggregate a tail into one event.",
            )


def total(terms: Iterable[Probability]) -> Probability:
    """The sum of the terms."""
    rational = Fraction(0)
    real = Ball(0)
    some = False
    with exact.precision(BITS):
        for term in terms:
            if isinstance(term, Ball):
                real, some = real + term, True
            else:
                rational += term
        return real + exact.ball(rational) if some else rational


def times(one: Probability, other: Probability) -> Probability:
    """The product."""
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one * other
    with exact.precision(BITS):
        return as_ball(one) * as_ball(other)


def over(top: Probability, bottom: Probability) -> Value:
    """The ratio of a number above zero to one that may be zero."""
    return math.inf if is_zero(bottom) else quotient(top, bottom)


def quotient(top: Probability, bottom: Probability) -> Probability:
    """The ratio to a number that is not zero."""
    if isinstance(top, Fraction) and isinstance(bottom, Fraction):
        return top / bottom
    with exact.precision(BITS):
        return as_ball(top) / as_ball(bottom)


def as_ball(number: Probability) -> Ball:
    """The number as a ball."""
    return number if isinstance(number, Ball) else exact.ball(number)


def is_zero(number: Probability) -> bool:
    """Whether a probability is zero; a ball that holds zero among others cannot say."""
    if isinstance(number, Fraction) or number == 0:
        return number == 0
    if number.contains(0):
        raise BadNumber(
            "A probability is too uncertain to tell whether its output is possible at all.",
            "Give impossible outputs the probability 0 exactly, or leave them out of the row.",
        )
    return False


def most(value: Value) -> Fraction | float:
    """A number that is not below the value."""
    return exact.upper(value) if isinstance(value, Ball) else value


def least(value: Value) -> Fraction | float:
    """A number that is not above the value."""
    return exact.lower(value) if isinstance(value, Ball) else value


@dataclass(frozen=True, kw_only=True)
class Factor(Generic[R, Z]):
    """The least e^eps with which a channel satisfies a definition, and where it is attained."""

    value: Value
    pair: tuple[R, R] | None
    witness: Z | None


def factor(channel: Channel[R, Z], relation: Relation[R]) -> Factor[R, Z]:
    """The greatest ratio along an allowed step: e^eps of the channel under the relation."""
    require_channel(channel)
    best = Factor[R, Z](value=Fraction(1), pair=None, witness=None)
    every = outputs(channel)
    for x, x2 in itertools.permutations(channel, 2):
        if not relation.step(x, x2):
            continue
        for output in every:
            top = chance(channel, x, output)
            if is_zero(top):
                continue
            value = over(top, chance(channel, x2, output))
            if most(value) > most(best.value):
                best = Factor(value=value, pair=(x, x2), witness=output)
    return best
