"""docs/proofs/conversions.md, in exact fractions."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest
from tests.theorems.exactly import excess, random_law

from safeside import exact
from safeside.privacy.account import Cost, Kind

FACTOR = Fraction(2)
PLACES = (0, 1)
RECORDS = (frozenset(), frozenset({0}), frozenset({1}), frozenset({0, 1}))


DELTA = Fraction(1, 64)
SAYS = [Fraction(0), DELTA, FACTOR * DELTA + DELTA]
"""How often True is said of a count of 0, 1 and 2: as often as (ln 2, delta) allows, count by count."""


def law(counts: tuple[int, ...], says: list[Fraction]) -> dict[tuple[bool, ...], Fraction]:
    """One bit for each count, independent."""
    found: dict[tuple[bool, ...], Fraction] = {(): Fraction(1)}
    for count in counts:
        found = {
            (*bits, bit): chance * (says[count] if bit else 1 - says[count])
            for bits, chance in found.items()
            for bit in (True, False)
        }
    return found


def counted(dataset: tuple[frozenset[int], ...]) -> tuple[int, ...]:
    return tuple(sum(place in record for record in dataset) for place in PLACES)


def policy_steps(records: tuple[frozenset[int], ...], negated: tuple[int, ...]):
    """Two people; one record is replaced by one that is, of these places, at no new one."""
    for one, other, bystander in itertools.product(records, repeat=3):
        if all(place in one or place not in other for place in negated):
            yield (one, bystander), (other, bystander)


def test_one_count_is_as_private_as_it_says() -> None:
    for one, other in itertools.permutations(range(3), 2):
        if abs(one - other) == 1:
            assert excess(law((one,), SAYS), law((other,), SAYS), FACTOR) <= DELTA
    assert excess(law((1,), SAYS), law((0,), SAYS), FACTOR) == DELTA


@pytest.mark.parametrize("kappa", [1, 2])
def test_counts_enumerated(kappa: int) -> None:
    records = tuple(one for one in RECORDS if len(one) <= kappa)
    for one, other in policy_steps(records, PLACES):
        found = excess(law(counted(one), SAYS), law(counted(other), SAYS), FACTOR**kappa)
        assert found <= kappa * DELTA


def test_removing_and_adding_enumerated() -> None:
    """Random mechanisms: whatever they need for one record added or removed, twice that way is enough."""
    dice = random.Random(15)
    for _ in range(500):
        before, without, after = (random_law(dice, "uvwx") for _ in range(3))
        for factor in (Fraction(1), FACTOR, Fraction(5)):
            delta = max(excess(before, without, factor), excess(without, after, factor))
            assert excess(before, after, factor**2) <= (1 + factor) * delta


def attained(delta: Fraction) -> list[dict[str, Fraction]]:
    yes = [Fraction(0), delta, FACTOR * delta + delta]
    return [{"yes": chance, "no": 1 - chance} for chance in yes]


def test_removing_and_adding_is_attained() -> None:
    after, without, before = attained(DELTA)
    for one, other in itertools.permutations((after, without, before), 2):
        if {id(one), id(other)} != {id(after), id(before)}:
            assert excess(one, other, FACTOR) <= DELTA
    assert excess(before, after, FACTOR**2) == (1 + FACTOR) * DELTA


def test_smaller_constants_are_caught() -> None:
    """2 delta for a replacement, or the price of one count for two, does not hold."""
    after, _, before = attained(DELTA)
    assert excess(before, after, FACTOR**2) > 2 * DELTA
    assert any(
        excess(law(counted(one), SAYS), law(counted(other), SAYS), FACTOR**2) > DELTA
        for one, other in policy_steps(RECORDS, PLACES)
    )


def test_a_negation_left_out_of_the_policy_is_caught() -> None:
    """A record may then move to that place, and one count rises while another falls."""
    records = tuple(one for one in RECORDS if len(one) <= 1)
    assert any(
        excess(law(counted(one), SAYS), law(counted(other), SAYS), FACTOR) > DELTA
        for one, other in policy_steps(records, (0,))
    )


def test_the_account_charges_these_numbers() -> None:
    epsilon, delta = Fraction(1, 2), Fraction(1, 10**6)
    counts = Cost(kind=Kind.DP_COUNTS, epsilon=epsilon, delta=delta, max_conditions=3).under_policy()
    assert (counts.epsilon, counts.delta) == (3 * epsilon, 3 * delta)
    other = Cost(kind=Kind.DP_ADD_REMOVE, epsilon=epsilon, delta=delta).under_policy()
    assert other.epsilon == 2 * epsilon
    above = exact.round_up(lambda: (1 + exact.exp(epsilon)) * exact.ball(delta), 30)
    assert above <= other.delta <= above * Fraction(10001, 10000)
