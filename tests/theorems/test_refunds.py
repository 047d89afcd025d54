"""docs/proofs/refunds.md: every history of a filter with refunds and deltas, in exact fractions.

Prices are powers of 2: a release that costs 1 has a factor of 2 at most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import pytest
from tests.theorems.exactly import excess

TWO = Fraction(2)
ONE = Fraction(1)
BAD = Fraction(1, 8)


@dataclass(frozen=True)
class Release:
    """What it reserves, its law under X and under X', and what each output gives back."""

    name: str
    price: int
    delta: Fraction
    laws: tuple[dict[str, Fraction], dict[str, Fraction]]
    back: dict[str, int]
    delta_back: Fraction = Fraction(0)


SPARSE = Release(
    "sparse",
    1,
    Fraction(0),
    # Quiet is at most as probable under X; an alarm at most twice as probable.
    ({"quiet": Fraction(1, 4), "alarm": Fraction(3, 4)}, {"quiet": Fraction(5, 8), "alarm": Fraction(3, 8)}),
    {"quiet": 1, "alarm": 0},
)
ORDINARY = Release(
    "ordinary",
    1,
    BAD,
    (
        {"bad": BAD, "yes": Fraction(1, 2), "no": Fraction(3, 8)},
        {"yes": Fraction(1, 4), "no": Fraction(3, 4)},
    ),
    {},
)
FREE = Release("post", 0, Fraction(0), ({"x": ONE}, {"x": ONE}), {})
Choice = Callable[[tuple[str, ...]], Release]


def histories(choose: Choice, total: int, delta: Fraction, longest: int):
    """The laws of all that is published, under X and under X', by the rules of the filter."""
    done: list[dict[tuple[str, ...], Fraction]] = [{}, {}]

    def go(
        history: tuple[str, ...], chances: tuple[Fraction, ...], left: int, rest: Fraction, n: int
    ) -> None:
        release = choose(history)
        if n == 0 or release.price > left or release.delta > rest:
            for law, chance in zip(done, chances, strict=True):
                law[history] = chance
            return
        for output in sorted({*release.laws[0], *release.laws[1]}):
            after = tuple(
                chance * law.get(output, Fraction(0))
                for chance, law in zip(chances, release.laws, strict=True)
            )
            kept = release.delta - (release.delta_back if output != "bad" else 0)
            go(
                (*history, output),
                after,
                left - release.price + release.back.get(output, 0),
                rest - kept,
                n - 1,
            )

    go((), (ONE, ONE), total, delta, longest)
    return done


def by_turns(history: tuple[str, ...]) -> Release:
    return (SPARSE, ORDINARY)[len(history) % 2]


def after_quiet(history: tuple[str, ...]) -> Release:
    """An ordinary release once something was quiet; the next is chosen from what was published."""
    return ORDINARY if history[-1:] == ("quiet",) else SPARSE


def all_sparse(_: tuple[str, ...]) -> Release:
    return SPARSE


@pytest.mark.parametrize("choose", [by_turns, after_quiet, all_sparse])
@pytest.mark.parametrize(("total", "deltas"), [(1, 0), (1, 1), (2, 1), (2, 2), (3, 1), (4, 3)])
def test_histories_enumerated(choose: Choice, total: int, deltas: int) -> None:
    law, other = histories(choose, total, deltas * BAD, longest=6)
    assert sum(law.values()) == sum(other.values()) == 1
    assert excess(law, other, TWO**total) <= deltas * BAD


def test_a_single_release_needs_what_it_reserves() -> None:
    law, other = SPARSE.laws
    assert law["alarm"] == TWO * other["alarm"]
    assert law["quiet"] <= other["quiet"]
    assert excess(*ORDINARY.laws, TWO) == BAD


def test_a_refund_of_alarms_is_caught() -> None:
    wrong = Release("wrong", 1, Fraction(0), SPARSE.laws, {"quiet": 1, "alarm": 1})
    law, other = histories(lambda _: wrong, 1, Fraction(0), longest=3)
    assert excess(law, other, TWO) > 0


def test_a_refunded_delta_is_caught() -> None:
    """Given back where nothing bad was seen, one delta pays for several releases."""
    wrong = Release("wrong", 0, BAD, ({"bad": BAD, "fine": 1 - BAD}, {"fine": ONE}), {}, delta_back=BAD)
    law, other = histories(lambda _: wrong, 0, BAD, longest=2)
    assert excess(law, other, ONE) == 2 * BAD - BAD**2 > BAD
    right = Release("right", 0, BAD, wrong.laws, {})
    law, other = histories(lambda _: right, 0, BAD, longest=2)
    assert excess(law, other, ONE) == BAD
