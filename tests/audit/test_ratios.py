"""Two distributions compared: against every set of outputs, by brute force."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safeside import exact
from safeside.audit import ratios
from safeside.audit.channel import Independent, Outcome
from safeside.audit.ratios import Ratio
from safeside.exact import Ball


def pure(here: Outcome, there: Outcome) -> Ratio:
    with exact.precision(exact.PMF_BITS):
        return ratios.pure(here, there)


def approximate(here: Outcome, there: Outcome, delta: Fraction) -> Ratio:
    with exact.precision(exact.PMF_BITS):
        return ratios.approximate(here, there, delta)


def excess(here: Outcome, there: Outcome, epsilon: Fraction) -> Ball:
    with exact.precision(exact.PMF_BITS):
        return ratios.excess(here, there, epsilon)


def ball(share: Fraction | int) -> Ball:
    return exact.evaluate(lambda: exact.ball(share))


@st.composite
def distributions(draw: st.DrawFn, size: int = 4) -> dict[int, Fraction]:
    weights = draw(st.lists(st.integers(0, 6), min_size=size, max_size=size).filter(any))
    return {output: Fraction(weight, sum(weights)) for output, weight in enumerate(weights)}


def balls(law: dict[int, Fraction]) -> dict[int, Ball]:
    return {output: ball(share) for output, share in law.items()}


def every_set(law: dict[int, Fraction], other: dict[int, Fraction]) -> list[tuple[Fraction, Fraction]]:
    outputs = sorted(set(law) | set(other))
    subsets = itertools.chain.from_iterable(
        itertools.combinations(outputs, size) for size in range(1, len(outputs) + 1)
    )
    return [(sum(law[z] for z in some), sum(other[z] for z in some)) for some in subsets]


@given(distributions(), distributions())
@settings(max_examples=150)
def test_pure_is_the_largest_ratio_over_all_sets(
    here: dict[int, Fraction], there: dict[int, Fraction]
) -> None:
    sets = every_set(here, there)
    found = pure(balls(here), balls(there))
    if any(p > 0 and q == 0 for p, q in sets):
        assert not found.low.is_finite()
        return
    largest = max(p / q for p, q in sets if q > 0)
    assert exact.lower(found.low) <= largest <= exact.upper(found.high)
    assert float(found.high) - float(found.low) < 1e-30


@given(distributions(), distributions(), st.fractions(0, 2, max_denominator=20))
@settings(max_examples=150)
def test_excess_is_the_largest_difference_over_all_sets(
    here: dict[int, Fraction], there: dict[int, Fraction], epsilon: Fraction
) -> None:
    factor = float(exact.exp(epsilon))
    largest = max(0.0, *(float(p) - factor * float(q) for p, q in every_set(here, there)))
    assert float(excess(balls(here), balls(there), epsilon)) == pytest.approx(largest, abs=1e-14)


@given(distributions(), distributions(), st.sampled_from([Fraction(1, 100), Fraction(1, 7), Fraction(1, 3)]))
@settings(max_examples=150)
def test_approximate_is_the_least_that_every_set_allows(
    here: dict[int, Fraction], there: dict[int, Fraction], delta: Fraction
) -> None:
    sets = every_set(here, there)
    found = approximate(balls(here), balls(there), delta)
    if any(q == 0 and p > delta for p, q in sets):
        assert not found.low.is_finite()
        assert not found.high.is_finite()
        return
    needed = max((p - delta) / q for p, q in sets if q > 0)
    assert exact.lower(found.low) <= max(needed, 0)
    assert float(found.low) == pytest.approx(max(float(needed), 0.0), abs=1e-12)
    assert exact.upper(found.high) >= needed
    assert float(found.high) <= max(1.0, float(needed)) * (1 + 1e-11)


@given(distributions(3), distributions(3), distributions(2), distributions(2))
@settings(max_examples=60)
def test_independent_answers_multiply_as_their_joint_table_does(
    a: dict[int, Fraction], b: dict[int, Fraction], c: dict[int, Fraction], d: dict[int, Fraction]
) -> None:
    here, there = Independent((balls(a), balls(c))), Independent((balls(b), balls(d)))
    fast, slow = pure(here, there), pure(here.joint(), there.joint())
    assert fast.low.is_finite() == slow.low.is_finite()
    if slow.low.is_finite():
        assert float(fast.low) == pytest.approx(float(slow.low))
        assert float(fast.high) == pytest.approx(float(slow.high))


def test_an_uncertain_zero_is_an_infinite_upper_and_a_finite_lower_bound() -> None:
    small = Ball(0).union(ball(Fraction(1, 1000)))
    found = pure({"a": ball(Fraction(1, 2))}, {"a": small})
    assert not found.high.is_finite()
    assert math.isclose(float(found.low), 500.0, rel_tol=1e-8)
    assert found.witness == "a"


def test_an_output_that_neither_can_give_costs_nothing() -> None:
    one, none = ball(1), ball(0)
    found = pure({"a": one, "b": none}, {"a": one, "b": none})
    assert float(found.high) == 1.0


def test_an_event_of_probability_exactly_delta_costs_nothing() -> None:
    delta = Fraction(1, 10)
    here = {"a": ball(delta), "b": ball(1 - delta)}
    found = approximate(here, {"b": ball(1)}, delta)
    assert float(found.high) == pytest.approx(1.0)


def test_many_witnesses_are_shortened() -> None:
    here = {z: ball(Fraction(1, 10)) for z in range(10)}
    there = {z: ball(Fraction(1, 20)) for z in range(20)}
    found = approximate(here, there, Fraction(1, 100))
    assert found.witness[-1] == "and 4 more"
