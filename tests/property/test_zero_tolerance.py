"""Never once: "at most t" is not wrong and an upper bound is not below the truth, over ten million draws.

This is a property of the support and not of probabilities, so a single exception fails it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from safeside.decisions.sanitizers import decide, decide_by_law, decide_sparse
from safeside.decisions.states import State
from safeside.mechanisms import AGeo, ALap, OptimalDecision, PaddedGeo, SAGeo, SALap
from safeside.mechanisms.sequences import Answer
from safeside.noise.entropy import system_entropy
from safeside.privacy.guarantee import Direction

DRAWS: Final = 150_000
EXAMPLES: Final = 100
ENOUGH: Final = 10_000_000

epsilons = st.one_of(
    st.fractions(min_value=Fraction(1, 1000), max_value=20, max_denominator=1000),
    st.sampled_from([Fraction(1), Fraction(1, 10), Fraction(1, 100), Fraction(1, 10**5)]),
)
sensitivities = st.integers(1, 10)
patterns = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 60))
    | st.tuples(st.integers(0, 2**40), st.integers(0, 2**40)),
    min_size=1,
    max_size=40,
)


def spread(pattern: list[tuple[int, int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Chosen pairs of count and threshold, repeated over all the places."""
    pairs = np.resize(np.array(pattern, dtype=np.int64), (DRAWS, 2))
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def wrong(mechanism: AGeo, z: NDArray[np.int64], counts: NDArray[np.int64], limits: NDArray[np.int64]) -> int:
    """How many upper bounds lie below the truth, plus how many "at most t" are false."""
    said = decide(z, limits, mechanism.rate) == State.AT_MOST
    return np.count_nonzero(z < counts) + np.count_nonzero(said & (counts > limits))


def test_a_wrong_side_would_be_seen() -> None:
    """The check is alive: noise of the paper's sign, and a count that lost one person, both fail it."""
    counts, limits = spread([(3, 2), (0, 5), (7, 7)])
    mechanism = AGeo(epsilon=1)
    down = AGeo(epsilon=1, direction=Direction.INCREASING).release(counts).values
    assert wrong(mechanism, down, counts, limits)
    undercounted = mechanism.release(np.maximum(0, counts - 1)).values
    assert wrong(mechanism, undercounted, counts, limits)


def test_ageo_is_never_on_the_wrong_side() -> None:
    drawn = 0

    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
    @given(
        epsilon=epsilons, sensitivity=sensitivities, pattern=patterns, alpha=st.sampled_from([None, "0.01"])
    )
    def check(epsilon: Fraction, sensitivity: int, pattern: list[tuple[int, int]], alpha: str | None) -> None:
        nonlocal drawn
        counts, limits = spread(pattern)
        mechanism = AGeo(epsilon=epsilon, sensitivity=sensitivity)
        z = mechanism.release(counts).values
        drawn += z.size
        assert wrong(mechanism, z, counts, limits) == 0
        assert (mechanism.upper_bound(z) >= counts).all()
        assert not ((decide(z, limits, mechanism.rate, alpha) == State.AT_MOST) & (counts > limits)).any()

    check()
    assert drawn >= ENOUGH


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(epsilon=epsilons, sensitivity=sensitivities, pattern=patterns)
def test_increasing_counts_are_never_overstated(
    epsilon: Fraction, sensitivity: int, pattern: list[tuple[int, int]]
) -> None:
    counts, limits = spread(pattern)
    mechanism = AGeo(epsilon=epsilon, sensitivity=sensitivity, direction=Direction.INCREASING)
    z = mechanism.release(counts).values
    assert (mechanism.lower_bound(z) <= counts).all()
    said = decide(z, limits, mechanism.rate, direction=Direction.INCREASING) == State.AT_LEAST
    assert not (said & (counts <= limits)).any()


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(
    epsilon=epsilons,
    pattern=patterns,
    alarms=st.sampled_from([1, 7, DRAWS]),
    grid=st.sampled_from(["1", "1/4", "1/1024"]),
)
def test_quiet_is_never_wrong(
    epsilon: Fraction, pattern: list[tuple[int, int]], alarms: int, grid: str
) -> None:
    counts, limits = spread(pattern)
    for mechanism in (
        SAGeo(epsilon_each=epsilon, alarms=alarms),
        SALap(epsilon_each=max(epsilon, Fraction(1, 50)), alarms=alarms, grid=grid),
    ):
        sparse = mechanism.release(counts, limits)
        loud = sparse.answers == Answer.ALARM
        assert (sparse.values[loud] >= counts[loud] * mechanism.steps).all()
        states = decide_sparse(sparse, epsilon)
        assert not ((states == State.AT_MOST) & (counts > limits)).any()


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(epsilon=epsilons, delta=st.sampled_from(["0.3", "0.01", "1e-6"]), pattern=patterns)
def test_ordinary_privacy_with_a_pad_is_never_wrong(
    epsilon: Fraction, delta: str, pattern: list[tuple[int, int]]
) -> None:
    counts, limits = spread(pattern)
    padded = PaddedGeo(epsilon=epsilon, delta=delta)
    z = padded.release(counts).values
    assert (padded.upper_bound(z) >= counts).all()
    assert (padded.lower_bound(z) <= counts).all()
    states = decide_by_law(z, limits, padded.law)
    assert not ((states == State.AT_MOST) & (counts > limits)).any()
    assert not ((states == State.AT_LEAST) & (counts <= limits)).any()


@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(
    epsilon=st.fractions(min_value=Fraction(1, 20), max_value=5, max_denominator=100),
    delta=st.sampled_from(["0.3", "0.001"]),
    pattern=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=20),
)
def test_the_optimal_decision_is_never_wrong(
    epsilon: Fraction, delta: str, pattern: list[tuple[int, int]]
) -> None:
    counts, limits = spread(pattern)
    said = OptimalDecision(epsilon=epsilon, delta=delta).release(counts, limits).values
    assert not (said & (counts > limits)).any()


@settings(max_examples=40)
@given(
    epsilon=epsilons,
    grid=st.sampled_from(["1", "1/8", "4"]),
    values=st.lists(
        st.fractions(min_value=-100, max_value=100, max_denominator=1000), min_size=1, max_size=30
    ),
    t=st.integers(-100, 100),
)
def test_exact_values_are_never_above_z(epsilon: Fraction, grid: str, values: list[Fraction], t: int) -> None:
    mechanism = ALap(epsilon=max(epsilon, Fraction(1, 50)), grid=grid)
    for true, shown in zip(values, mechanism.release(values, entropy=system_entropy()).exact(), strict=True):
        assert shown >= true
        assert true <= t or not mechanism.says_at_most(shown, t)
