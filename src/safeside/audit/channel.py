"""A mechanism as an auditor sees it: for each input, the probability of each output.

A probability may be a ball, a fraction, a decimal or a float. Several independent answers to one input are an
`Independent`: their joint distribution is never written out where the parts alone decide.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from safeside import exact
from safeside.errors import BadNumber, BadQuestion
from safeside.exact import Ball

Probability = Ball | Fraction | Decimal | float
Distribution = Mapping[Any, Ball]
ELSEWHERE: Final = "anything else"
"""The name of the event "none of the outputs that were listed"."""
_TOTAL_SLACK: Final = Fraction(1, 10**9)
"""How far from 1 a distribution given in floats may add up."""


@dataclass(frozen=True, slots=True)
class Independent:
    """Answers that are independent given the input, one distribution each."""

    parts: tuple[Distribution, ...]

    def joint(self) -> dict[tuple[Any, ...], Ball]:
        """The distribution of all answers together, written out."""
        joint: dict[tuple[Any, ...], Ball] = {}
        for outcome in itertools.product(*(part.items() for part in self.parts)):
            probability = exact.ball(1)
            for _, share in outcome:
                probability = probability * share
            joint[tuple(output for output, _ in outcome)] = probability
        return joint


Outcome = Distribution | Independent
Channel = Mapping[Hashable, Outcome]


def as_ball(probability: Probability) -> Ball:
    """A probability as a ball; a float is taken as the decimal it prints as."""
    if isinstance(probability, Ball):
        return probability
    return exact.ball(exact.fraction(probability, "a probability"))


def distribution(given: Mapping[Any, Probability], what: object) -> dict[Any, Ball]:
    """A distribution whose probabilities are balls, not negative, and add up to one."""
    balls = {output: as_ball(probability) for output, probability in given.items()}
    total = exact.ball(0)
    for output, probability in balls.items():
        if not probability.is_finite() or exact.upper(probability) < 0:
            raise BadNumber(
                f"The probability of {output!r} for the input {what!r} is not a probability.",
                "Give every output a probability of at least 0 and at most 1.",
            )
        total = total + probability
    if exact.lower(total) > 1 + _TOTAL_SLACK or exact.upper(total) < 1 - _TOTAL_SLACK:
        raise BadNumber(
            f"The probabilities for the input {what!r} add up to {float(total.mid()):.12g}, not to 1.",
            "List every output; where there are infinitely many, put those whose probability ratio no longer "
            "changes into one event.",
        )
    return balls


def outcome_of(given: Mapping[Any, Probability] | Independent, what: object) -> Outcome:
    """What a mechanism answered for one input, checked."""
    if isinstance(given, Independent):
        return Independent(tuple(distribution(part, what) for part in given.parts))
    return distribution(given, what)


def respond(
    mechanism: object, results: Collection[Any], outputs: Iterable[Any] | None = None
) -> Callable[[Any], Outcome]:
    """How `mechanism` answers each of these query results.

    It may be a function from the result to its distribution; an object with `distribution(count, horizon)`,
    as every additive mechanism here has; or, with `outputs` listed, an object or function with
    `pmf(output, result)`. What is not listed is compared as one event, so list until the ratio no longer
    changes. A tuple of counts is answered coordinate by coordinate, independently, unless by a function.
    """
    if outputs is not None:
        listed = list(outputs)
        pmf = getattr(mechanism, "pmf", mechanism)
        if not callable(pmf):
            raise _not_a_mechanism(mechanism)
        return lambda result: _each(lambda count: _listed(pmf, listed, count), result)
    spread = getattr(mechanism, "distribution", None)
    if callable(spread):
        horizon = _horizon(mechanism, results)
        return lambda result: _each(lambda count: distribution(spread(count, horizon), count), result)
    if callable(mechanism):
        return lambda result: outcome_of(mechanism(result), result)
    raise _not_a_mechanism(mechanism)


def _each(answer: Callable[[Any], Distribution], result: Any) -> Outcome:
    return Independent(tuple(map(answer, result))) if isinstance(result, tuple) else answer(result)


def _horizon(mechanism: object, results: Iterable[Any]) -> int:
    """From where on the ratio of two additive distributions no longer changes, in steps of the noise."""
    counts = [count for result in results for count in (result if isinstance(result, tuple) else (result,))]
    step = exact.fraction(getattr(mechanism, "step", 1))
    furthest = max((abs(exact.fraction(count)) for count in counts), default=Fraction(0))
    widest = getattr(getattr(mechanism, "law", None), "most", None) or 0
    return math.ceil(furthest / step) + widest + 1


def _listed(pmf: Callable[..., Probability], outputs: list[Any], result: Any) -> Distribution:
    listed = {output: as_ball(pmf(output, result)) for output in outputs}
    rest = exact.ball(1)
    for probability in listed.values():
        rest = rest - probability
    if exact.upper(rest) > _TOTAL_SLACK:
        listed[ELSEWHERE] = rest
    return distribution(listed, result)


def _not_a_mechanism(mechanism: object) -> BadQuestion:
    return BadQuestion(
        f"A {type(mechanism).__name__} cannot be audited: it has no probabilities.",
        "Give a function from a query result to {output: probability}, an object with "
        "distribution(count, horizon), or a pmf(output, result) together with outputs=...",
    )
