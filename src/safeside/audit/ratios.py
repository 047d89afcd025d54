"""How far apart two distributions are: the epsilon they need, between two certified numbers.

A ratio is kept as the least and the greatest value it can have, given that probabilities are balls; either
may be infinite. Sets of outputs need no enumeration: without a delta the worst set is one output, with a
delta it is made of the outputs with the largest ratios.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from safeside import exact
from safeside.audit.channel import Independent, Outcome
from safeside.exact import Ball

DELTA_SLACK: Final = Fraction(1, 2**160)
"""Given to delta before an epsilon is solved for it: an event of probability exactly delta costs nothing."""
_STEP: Final = Fraction(1, 10**12)
"""By how much a solved epsilon is raised before it is verified."""
_CLEARLY: Final = 1 + Fraction(1, 2**64)
_MOST_STEP: Final = 1024
_SHOWN: Final = 6


@dataclass(frozen=True, slots=True)
class Ratio:
    """e^epsilon as an interval, and the output, or outputs, at which it is attained."""

    low: Ball
    high: Ball
    witness: Any = None


def pure(left: Outcome, right: Outcome) -> Ratio:
    """The largest probability ratio; of independent answers the product of their largest ones."""
    if not (isinstance(left, Independent) and isinstance(right, Independent)):
        return _largest(written_out(left), written_out(right))
    parts = [_largest(one, other) for one, other in zip(left.parts, right.parts, strict=True)]
    low, high = exact.ball(1), exact.ball(1)
    for part in parts:
        low, high = (low * part.low).lower(), (high * part.high).upper()
    return Ratio(low, high, tuple(part.witness for part in parts))


def _largest(left: Mapping[Any, Ball], right: Mapping[Any, Ball]) -> Ratio:
    nothing = low = high = exact.ball(0)
    witness = None
    for output, probability in left.items():
        least, most = _quotient(probability, right.get(output, nothing))
        if clearly_above(least, low):
            witness = output
        low, high = low.max(least), high.max(most)
    return Ratio(low, high, witness)


def clearly_above(ratio: Ball, other: Ball) -> bool:
    """Larger by more than rounding, so that of equal ratios the first is the one that is shown."""
    return bool(ratio > other * exact.ball(_CLEARLY))


def _quotient(probability: Ball, other: Ball) -> tuple[Ball, Ball]:
    """What the ratio is at least and at most; 0/0 is an output that never happens, and costs nothing."""
    if other > 0:
        ratio = probability / other
        return ratio.lower(), ratio.upper()
    if probability.is_zero():
        return exact.ball(0), exact.ball(0)
    infinite = Ball.pos_inf()
    if other.is_zero():
        return (infinite if probability > 0 else exact.ball(0)), infinite
    return (probability.lower() / other.upper()).lower().max(exact.ball(0)), infinite


def excess(left: Outcome, right: Outcome, epsilon: Fraction) -> Ball:
    """The delta that this epsilon needs: the sum of what each output has above e^epsilon times the other."""
    here, there = written_out(left), written_out(right)
    factor, nothing = exact.exp(epsilon), exact.ball(0)
    total = nothing
    for output, probability in here.items():
        total = total + (probability - factor * there.get(output, nothing)).max(nothing)
    return total


def approximate(left: Outcome, right: Outcome, delta: Fraction) -> Ratio:
    """The least e^epsilon with which every set of outputs is within delta.

    Solved on the sets made of the largest ratios, then verified with `excess`, which needs no order.
    """
    here, there = written_out(left), written_out(right)
    allowed = exact.ball(delta + DELTA_SLACK)
    nothing = exact.ball(0)
    low, witness = exact.ball(0), None
    mass = other_mass = nothing
    chosen: list[Any] = []
    for output in sorted(here, key=lambda one: _order(here[one], there.get(one, nothing)), reverse=True):
        mass, other_mass = mass + here[output], other_mass + there.get(output, nothing)
        chosen.append(output)
        least, _ = _quotient((mass - allowed).max(nothing), other_mass)
        if least > low:
            low, witness = least, _few(chosen)
    if not low.is_finite():
        return Ratio(low, low, witness)
    return Ratio(low, _verified(here, there, low, delta), witness)


def _verified(here: Outcome, there: Outcome, low: Ball, delta: Fraction) -> Ball:
    epsilon = Fraction(0) if low <= 1 else exact.upper(low.log())
    step = _STEP
    while step < _MOST_STEP:
        epsilon += step
        if excess(here, there, epsilon) <= exact.ball(delta + DELTA_SLACK):
            return exact.exp(epsilon).upper()
        step *= 2
    return Ball.pos_inf()


def _order(probability: Ball, other: Ball) -> float:
    if other > 0:
        return float((probability / other).mid())
    return float("inf") if probability > 0 else 0.0


def _few(outputs: list[Any]) -> tuple[Any, ...]:
    shown = tuple(outputs[:_SHOWN])
    return shown if len(outputs) <= _SHOWN else (*shown, f"and {len(outputs) - _SHOWN} more")


def written_out(outcome: Outcome) -> Mapping[Any, Ball]:
    """One table, joint where the answers are independent."""
    return outcome.joint() if isinstance(outcome, Independent) else outcome
