"""Properties that hold whatever the parameters: laws add up, margins are least, guarantees are kept."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from safeside.exact import PMF_BITS, ball, evaluate, exp, precision
from safeside.mechanisms import AGeo, OptimalDecision, PaddedGeo, SAGeo
from safeside.mechanisms.laws import Both, Down, Law, Padded, Up
from safeside.mechanisms.sequences import every_transcript
from safeside.privacy.guarantee import Direction

rates = st.fractions(min_value=Fraction(1, 1000), max_value=20, max_denominator=1000)
errors = st.fractions(min_value=Fraction(1, 10**6), max_value=Fraction(999, 1000), max_denominator=10**6)
directions = st.sampled_from(list(Direction))


@st.composite
def laws(draw: st.DrawFn) -> Law:
    rate = draw(rates)
    kind = draw(st.sampled_from([Up, Down, Both, Padded]))
    return Padded(rate, draw(st.integers(1, 30))) if kind is Padded else kind(rate)


@given(law=laws(), k=st.integers(-70, 70))
def test_a_law_adds_up(law: Law, k: int) -> None:
    with precision(PMF_BITS):
        assert (law.at_most(k - 1) + law.at_least(k)).overlaps(ball(1))
        assert (law.at_least(k) - law.at_least(k + 1)).overlaps(law.exactly(k))
        assert not law.exactly(k) < 0


@given(law=laws(), alpha=errors)
def test_margins_are_the_least(law: Law, alpha: Fraction) -> None:
    up, down = law.margin_up(alpha), law.margin_down(alpha)
    assert up is not None
    assert down is not None
    with precision(PMF_BITS):
        bound = ball(alpha)
        assert law.at_least(up) <= bound
        assert up == 1 or law.at_least(up - 1) > bound
        assert law.at_most(-down) <= bound
        assert down == 1 or law.at_most(1 - down) > bound


@given(
    epsilon=rates, sensitivity=st.integers(1, 5), direction=directions, f=st.integers(0, 5), data=st.data()
)
def test_no_output_costs_more_than_its_share(
    epsilon: Fraction, sensitivity: int, direction: Direction, f: int, data: st.DataObject
) -> None:
    """Along an allowed step that moves the count by d, every ratio is at most e^(epsilon d / sensitivity)."""
    mechanism = AGeo(epsilon=epsilon, sensitivity=sensitivity, direction=direction)
    moves = {Direction.DECREASING: (-5, 0), Direction.INCREASING: (0, 5), Direction.NEITHER: (-5, 5)}
    g = max(0, f + data.draw(st.integers(*moves[direction])))
    first, second = mechanism.distribution(f, 10), mechanism.distribution(g, 10)
    with precision(PMF_BITS):
        limit = exp(epsilon * abs(f - g) / sensitivity)
        for output, mass in first.items():
            assert mass <= limit * second[output] * (1 + ball(Fraction(1, 10**60)))


@given(
    e0=rates,
    alarms=st.integers(1, 3),
    counts=st.lists(st.integers(0, 3), min_size=1, max_size=3),
    limits=st.lists(st.integers(0, 3), min_size=3, max_size=3),
    gone=st.lists(st.booleans(), min_size=3, max_size=3),
)
@settings(max_examples=50)
def test_a_transcript_costs_its_alarmed_queries(
    e0: Fraction, alarms: int, counts: list[int], limits: list[int], gone: list[bool]
) -> None:
    """Quiet is free: the ratio is at most e^(e0 * alarms of queries the person was counted in)."""
    mechanism = SAGeo(epsilon_each=e0, alarms=alarms)
    fewer = [max(0, f - out) for f, out in zip(counts, gone, strict=False)]
    limits = limits[: len(counts)]
    first = mechanism.distribution(counts, limits, 4)
    second = mechanism.distribution(fewer, limits, 4)
    with precision(PMF_BITS):
        for said, mass in first.items():
            changed = sum(s.alarm is not None and counts[s.query] != fewer[s.query] for s in said)
            assert mass <= exp(e0 * changed) * second[said] * (1 + ball(Fraction(1, 10**60)))


@given(epsilon=rates, delta=errors, alpha=st.sampled_from([0, Fraction(1, 50)]), t=st.integers(0, 12))
@settings(max_examples=50)
def test_the_climb_keeps_both_inequalities(
    epsilon: Fraction, delta: Fraction, alpha: Fraction, t: int
) -> None:
    mechanism = OptimalDecision(epsilon=epsilon, delta=delta, alpha=alpha)
    says = [mechanism.beta(t, count) for count in range(t + 3)]
    tiny = ball(Fraction(1, 10**60))
    with precision(PMF_BITS):
        up, slack = exp(epsilon), ball(delta)
        for more, less in itertools.pairwise(says):
            assert not more < less - tiny
            assert more <= up * less + slack + tiny
            assert 1 - less <= up * (1 - more) + slack + tiny


@given(epsilon=rates, delta=errors)
@settings(max_examples=50)
def test_the_pad_is_the_least(epsilon: Fraction, delta: Fraction) -> None:
    mechanism = PaddedGeo(epsilon=epsilon, delta=delta)
    assert evaluate(lambda: Padded(epsilon, mechanism.pad).exactly(0)) <= ball(delta)
    assert evaluate(lambda: Padded(epsilon, mechanism.pad - 1).exactly(0)) > ball(delta)


@given(
    counts=st.lists(st.integers(0, 40), min_size=1, max_size=200),
    t=st.integers(0, 40),
    alarms=st.integers(1, 5),
)
def test_a_sparse_release_is_one_prefix(counts: list[int], t: int, alarms: int) -> None:
    sparse = SAGeo(epsilon_each=1, alarms=alarms).release(counts, t)
    asked = sparse.answers != 0
    assert asked[: sparse.asked].all()
    assert not asked[sparse.asked :].any()
    assert sparse.alarms <= alarms
    assert sparse.asked == len(counts) or sparse.alarms == alarms
    assert (sparse.values[sparse.answers != 2] == -1).all()
    assert (sparse.values[sparse.answers == 2] > t).all()
    assert np.count_nonzero(asked) == sparse.asked


@given(
    shares=st.lists(st.fractions(min_value=0, max_value=1), min_size=1, max_size=4), alarms=st.integers(1, 3)
)
def test_transcripts_of_any_outcomes_add_up(shares: list[Fraction], alarms: int) -> None:
    outcomes = [{None: ball(share), True: ball(1 - share)} for share in shares]
    with precision(PMF_BITS):
        assert sum(every_transcript(outcomes, alarms).values(), start=ball(0)).overlaps(ball(1))
