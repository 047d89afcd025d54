"""The conversions of the account, tried on arbitrary small mechanisms in exact arithmetic."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction

from hypothesis import assume, given
from hypothesis import strategies as st

from safeside import exact

Row = Mapping[object, Fraction]
RATIOS = st.fractions(min_value=1, max_value=6, max_denominator=8)
rows = (
    st.lists(st.integers(0, 6), min_size=3, max_size=3)
    .filter(any)
    .map(lambda parts: {z: Fraction(part, sum(parts)) for z, part in enumerate(parts)})
)


def failing(one: Row, other: Row, ratio: Fraction) -> Fraction:
    """The least delta with Pr[one in Z] <= ratio Pr[other in Z] + delta for every set Z."""
    zero = Fraction(0)
    return sum((max(zero, one.get(z, zero) - ratio * other.get(z, zero)) for z in {*one, *other}), zero)


def product(one: Row, other: Row) -> dict[object, Fraction]:
    return {(a, b): p * q for a, p in one.items() for b, q in other.items()}


@given(st.lists(rows, min_size=3, max_size=3), RATIOS)
def test_replacing_is_removing_and_adding(chain: list[Row], ratio: Fraction) -> None:
    """(eps, delta) under add/remove is (2 eps, (1 + e^eps) delta) under replacement."""
    steps = list(itertools.pairwise(chain)) + [(b, a) for a, b in itertools.pairwise(chain)]
    delta = max(failing(a, b, ratio) for a, b in steps)
    assert failing(chain[0], chain[2], ratio**2) <= (1 + ratio) * delta


@given(st.lists(rows, min_size=2, max_size=5), RATIOS)
def test_people_who_go_about_together(chain: list[Row], ratio: Fraction) -> None:
    """h steps of (E, D): e^(hE), and D (1 + e^E + ... + e^((h-1)E)), as the promise says."""
    delta = max(failing(a, b, ratio) for a, b in itertools.pairwise(chain))
    people = len(chain) - 1
    together = sum(ratio**power for power in range(people)) * delta
    assert failing(chain[0], chain[-1], ratio**people) <= together


@given(st.lists(st.tuples(rows, rows), min_size=1, max_size=3), RATIOS)
def test_counts_charged_one_by_one(counts: list[tuple[Row, Row]], ratio: Fraction) -> None:
    """max_conditions counts that each move by one are (max_conditions eps, max_conditions delta)."""
    delta = max(failing(high, low, ratio) for high, low in counts)
    before: Row = {(): Fraction(1)}
    after: Row = {(): Fraction(1)}
    for high, low in counts:
        before, after = product(before, high), product(after, low)
    assert failing(before, after, ratio ** len(counts)) <= len(counts) * delta


@given(rows, rows, rows, rows, RATIOS)
def test_a_history_of_both_kinds(adp: Row, adp_after: Row, dp: Row, dp_after: Row, ratio: Fraction) -> None:
    """An adp release at (E1, 0) and a dp release at (E2, D2) are (E1 + E2, D2) in either order."""
    pairs = [(adp[z], adp_after[z]) for z in adp if adp[z]]
    assume(all(q for _, q in pairs))
    first = max(p / q for p, q in pairs)
    delta = failing(dp, dp_after, ratio)
    assert failing(product(adp, dp), product(adp_after, dp_after), first * ratio) <= delta
    assert failing(product(dp, adp), product(dp_after, adp_after), first * ratio) <= delta


@given(st.fractions(min_value=0, max_value=3000, max_denominator=1000))
def test_factors_are_shown_rounded_up_and_hardly(epsilon: Fraction) -> None:
    leading, _, power = exact.exp_up(epsilon).partition(" x 10^")
    shown = Fraction(leading) * Fraction(10) ** int(power or 0)
    true = exact.evaluate(lambda: exact.exp(epsilon))
    assert exact.lower(true) <= shown
    assert shown <= exact.upper(true) * (1 + Fraction(1, 10**4))


def test_the_whole_of_a_mixture_is_not_dp_for_any_epsilon() -> None:
    """One-sided noise alone: an output that is possible without the visit and impossible with it."""
    without = {0: Fraction(2, 3), 1: Fraction(1, 3)}
    with_visit = {1: Fraction(1)}
    noise = {0: Fraction(1, 2), 1: Fraction(1, 2)}
    for power in range(1, 40, 13):
        ratio = Fraction(3) ** power
        assert failing(product(with_visit, noise), product(without, noise), Fraction(3)) == 0
        assert failing(product(without, noise), product(with_visit, noise), ratio) >= Fraction(2, 3)
