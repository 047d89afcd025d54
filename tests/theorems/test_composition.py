"""docs/proofs/composition.md, in exact fractions: the sum holds, is attained, and nothing less holds."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

from tests.theorems.exactly import random_law, worst

RECORDS = ("both", "first", "second", "none")
CONDITIONS = {"first": {"both", "first"}, "second": {"both", "second"}}
FACTORS = (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(4))
HALF = Fraction(1, 2)


def steps(policy: set[str]) -> list[tuple[str, str]]:
    """Every step x -> x' under which "not there", for these conditions, stays true."""
    return [
        (one, other)
        for one, other in itertools.product(RECORDS, repeat=2)
        if all(one in CONDITIONS[name] or other not in CONDITIONS[name] for name in policy)
    ]


def together(first, second):
    """The law of both outputs, the second mechanism chosen by the first output."""
    return {
        record: {
            (y, z): chance * other
            for y, chance in first[record].items()
            for z, other in second[y][record].items()
        }
        for record in RECORDS
    }


def made(dice: random.Random):
    first = {record: random_law(dice, "ab") for record in RECORDS}
    second = {y: {record: random_law(dice, "uvw") for record in RECORDS} for y in "ab"}
    return first, second


def test_two_releases_enumerated() -> None:
    dice = random.Random(13)
    for _ in range(300):
        first, second = made(dice)
        p1, p2 = ({"first"}, {"second"}) if dice.random() < HALF else ({"first", "second"}, set())
        for one, two in itertools.product(FACTORS, repeat=2):
            delta = worst(first, steps(p1), one) + max(worst(second[y], steps(p2), two) for y in "ab")
            assert worst(together(first, second), steps(p1 | p2), one * two) <= delta


def failing(delta: Fraction, factor: Fraction):
    """True with probability delta where it should not be; else the best that the factor allows."""
    base = Fraction(1, 8)
    return {
        record: {"no": base, "yes": 1 - base, "bad": Fraction(0)}
        if record == "none"
        else {"bad": delta, "no": factor * base, "yes": 1 - delta - factor * base}
        for record in RECORDS
    }


def test_the_sum_is_attained() -> None:
    """The factors multiply exactly; of two deltas only what both would fail in is counted once."""
    third = Fraction(1, 3)
    pure = {
        record: {"a": third, "b": 2 * third} if record == "none" else {"a": 2 * third, "b": third}
        for record in RECORDS
    }
    allowed = steps({"first", "second"})
    assert worst(pure, allowed, Fraction(2)) == 0
    both = together(pure, dict.fromkeys("ab", pure))
    assert worst(both, allowed, Fraction(4)) == 0
    assert all(worst(both, allowed, Fraction(4) - Fraction(1, n)) > 0 for n in (1, 10, 1000))
    delta = Fraction(1, 1000)
    bad = {
        record: {"fine": Fraction(1)} if record == "none" else {"fine": 1 - delta, "bad": delta}
        for record in RECORDS
    }
    twice = together(bad, dict.fromkeys(("fine", "bad"), bad))
    assert worst(twice, allowed, Fraction(1)) == 2 * delta - delta**2


def test_smaller_constants_are_caught() -> None:
    """One delta for two releases, or the larger factor instead of the product, does not hold."""
    first = failing(Fraction(1, 16), Fraction(2))
    second = dict.fromkeys(first["both"], first)
    allowed = steps({"first", "second"})
    delta = worst(first, allowed, Fraction(2))
    assert 0 < delta <= Fraction(1, 16)
    both = together(first, second)
    assert worst(both, allowed, Fraction(4)) <= 2 * delta
    assert worst(both, allowed, Fraction(4)) > delta
    assert worst(both, allowed, Fraction(2)) > 2 * delta


def test_the_policy_of_the_branch_alone_is_caught() -> None:
    """A coin chooses whose absence is told for certain: private only for steps of both policies."""

    def tells(name: str):
        return {
            record: {"was" if record in CONDITIONS[name] else "was not": Fraction(1)} for record in RECORDS
        }

    def hidden(name: str):
        """Says "was not" only where it is true, half of the time: (ln 2, {not name})."""
        return {
            record: {"?": Fraction(1)} if record in CONDITIONS[name] else {"?": HALF, "was not": HALF}
            for record in RECORDS
        }

    coin = {record: {"a": HALF, "b": HALF} for record in RECORDS}
    second = {"a": hidden("first"), "b": hidden("second")}
    for y, name in (("a", "first"), ("b", "second")):
        assert worst(second[y], steps({name}), Fraction(2)) == 0
    both = together(coin, second)
    assert worst(both, steps({"first", "second"}), Fraction(2)) == 0
    # The policy of one branch leaves steps in which the other branch tells what it must not, at any factor.
    for one in ("first", "second"):
        assert worst(both, steps({one}), Fraction(1000)) > 0
    assert worst(tells("first"), steps({"first"}), Fraction(1000)) > 0
