"""Draws against their distribution: Pearson's test, which the sampler passes and a sampler 5 % off fails.

Seeds are fixed, so an answer is the same on every run. The exactness of the tables is not left to statistics
(tests/noise enumerates them): tested here is that draws are put together, and spread, as they should be.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from safeside.exact import ball, evaluate, exp
from safeside.noise.blocks import Blocks
from safeside.noise.entropy import Entropy, simulated_entropy, system_entropy
from safeside.noise.geometric import geometric, truncated_geometric, two_sided_geometric
from safeside.noise.inversion import CELLS, bernoulli

DRAWS = 400_000
RARE, NEVER = 1e-4, 1e-15
"""How improbable a statistic must be to reject a seeded sampler, and one whose bits are new on every run."""

Draws = NDArray[np.int64]
Below = Callable[[int], float]
RATES = [Fraction(rate) for rate in ("1", "0.1", "0.01", "0.001", "2e-6", "4.5")]
SHARES = [i / 64 for i in range(1, 64)] + [0.0001, 0.001, 0.999, 0.9999]


def one_sided_below(rate: Fraction) -> Below:
    """Pr[G < k]."""
    return lambda k: float(evaluate(lambda: 1 - exp(-rate * max(k, 0))))


def two_sided_below(rate: Fraction) -> Below:
    """Pr[K < k]: r^(1-k) / (1+r) up to 0, 1 - r^k / (1+r) above."""

    def below(k: int) -> float:
        share = exp(-rate * (1 - k)) if k <= 0 else exp(-rate * k)
        return float(share / (1 + exp(-rate)) if k <= 0 else 1 - share / (1 + exp(-rate)))

    return below


def truncated_below(rate: Fraction, size: int) -> Below:
    """Pr[T < k]."""
    return lambda k: float(evaluate(lambda: (1 - exp(-rate * k)) / (1 - exp(-rate * size))))


def improbability(draws: Draws, below: Below, low: int | None, high: int | None) -> float:
    """The p-value of Pearson's test over bins of about equal mass, single values where those are few."""
    first = -(2**40) if low is None else low
    last = 2**40 if high is None else high
    assert draws.min() >= first
    assert draws.max() < last
    everywhere = range(first + 1, last)
    places = {min(bisect_left(everywhere, share, key=below), len(everywhere) - 1) for share in SHARES}
    edges = [everywhere[i] for i in sorted(places) if 1 - below(everywhere[i]) > 20 / len(draws)]
    seen = np.histogram(draws, [first, *edges, last])[0]
    expected = np.diff([0.0, *map(below, edges), 1.0]) * len(draws)
    assert expected.min() > 5
    return float(chi2.sf(((seen - expected) ** 2 / expected).sum(), len(edges)))


def geometric_draws(rate: Fraction, entropy: Entropy) -> Draws:
    return geometric(rate).draw(DRAWS, entropy)


@pytest.mark.parametrize("rate", RATES)
def test_one_sided(rate: Fraction) -> None:
    below = one_sided_below(rate)
    assert improbability(geometric_draws(rate, simulated_entropy(1)), below, 0, None) > RARE
    assert improbability(geometric_draws(rate, system_entropy()), below, 0, None) > NEVER


@pytest.mark.parametrize("rate", [Fraction(1), Fraction("0.001")])
def test_one_sided_drawn_one_at_a_time(rate: Fraction) -> None:
    noise, source = geometric(rate), simulated_entropy(8)
    draws = np.concatenate([noise.draw(1, source) for _ in range(DRAWS // 10)])
    assert improbability(draws, one_sided_below(rate), 0, None) > RARE


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("scale", [Fraction(20, 21), Fraction(21, 20)])
def test_a_one_sided_sampler_5_percent_off_is_rejected(rate: Fraction, scale: Fraction) -> None:
    draws = geometric_draws(rate * scale, simulated_entropy(1))
    assert improbability(draws, one_sided_below(rate), 0, None) < NEVER


@pytest.mark.parametrize("rate", [Fraction("0.001"), Fraction("2e-6")])
def test_blocks_and_places_of_what_the_table_of_blocks_leaves(rate: Fraction) -> None:
    """One draw in a hundred, drawn here alone, so that nothing about it drowns in the others."""
    ((_, part),) = geometric(rate).parts
    size = int(np.diff(part.table).max())
    everywhere, place_below = one_sided_below(rate), truncated_below(rate, size)

    def left_below(k: int) -> float:
        block, place = divmod(k, size)
        begin, end = (part.ends[min(i, len(part.ends) - 1)] for i in (block, block + 1))
        table = begin + (end - begin) * place / size
        return (everywhere(k) * CELLS - table) / (CELLS - part.decided)

    def left_place_below(k: int) -> float:
        return (place_below(k) * CELLS - part.decided * k / size) / (CELLS - part.decided)

    def left(other: Blocks) -> Draws:
        places = simulated_entropy(9).uint16(DRAWS)
        return other.extend(np.concatenate([np.full_like(places, CELLS - 1), places]), simulated_entropy(10))

    draws = left(part)
    assert improbability(draws, left_below, 0, None) > RARE
    assert improbability(draws % size, left_place_below, 0, size) > RARE
    off = Blocks(rate * Fraction(21, 20), size.bit_length() - 1)
    assert improbability(left(off), left_below, 0, None) < NEVER
    uniform = simulated_entropy(9).uint16(DRAWS).astype(np.int64) % size
    assert improbability(uniform, left_place_below, 0, size) < NEVER


@pytest.mark.parametrize("rate", RATES)
def test_two_sided(rate: Fraction) -> None:
    below = two_sided_below(rate)
    draws = two_sided_geometric(rate).draw(DRAWS, simulated_entropy(2))
    assert improbability(draws, below, None, None) > RARE
    off = two_sided_geometric(rate * Fraction(21, 20)).draw(DRAWS, simulated_entropy(2))
    assert improbability(off, below, None, None) < NEVER


@pytest.mark.parametrize(
    ("rate", "size"),
    [(Fraction(1), 5), (Fraction(1, 10), 30), (Fraction(1, 100), 4096), (Fraction(1, 2000), 5000)],
)
def test_truncated(rate: Fraction, size: int) -> None:
    below = truncated_below(rate, size)
    draws = truncated_geometric(rate, size).draw(DRAWS, simulated_entropy(3))
    assert improbability(draws, below, 0, size) > RARE
    off = truncated_geometric(rate * Fraction(21, 20), size).draw(DRAWS, simulated_entropy(3))
    assert improbability(off, below, 0, size) < NEVER


@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(1, 3), Fraction(999, 1000)])
def test_coins(p: Fraction) -> None:
    def coins(chance: Fraction) -> Draws:
        return bernoulli(lambda: ball(chance), DRAWS, simulated_entropy(4)).astype(np.int64)

    def below(k: int) -> float:
        return float((1 - p) * k)

    assert improbability(coins(p), below, 0, 2) > RARE
    assert improbability(coins(p * Fraction(20, 21)), below, 0, 2) < NEVER


def quarters(draws: Draws) -> NDArray[np.float64]:
    """Edges that part the draws in four, or in fewer where a value is very common."""
    inner = np.unique(np.quantile(draws, [0.25, 0.5, 0.75]))
    return np.unique([draws.min() - 0.5, *(inner + 0.5), draws.max() + 0.5])


def dependence(draws: Draws, later: Draws) -> float:
    """The p-value of Pearson's test that two aligned sequences have nothing to do with each other."""
    table = np.histogram2d(draws, later, [quarters(draws), quarters(later)])[0]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    return float(chi2.sf(((table - expected) ** 2 / expected).sum(), freedom))


@pytest.mark.parametrize("rate", RATES[:5])
@pytest.mark.parametrize("lag", [1, 2, 1 << 17])
def test_draws_have_nothing_to_do_with_each_other(rate: Fraction, lag: int) -> None:
    draws = geometric_draws(rate, simulated_entropy(5))
    assert dependence(draws[:-lag], draws[lag:]) > RARE


def test_a_sampler_that_uses_a_draw_twice_is_rejected() -> None:
    twice = np.repeat(geometric_draws(Fraction(1), simulated_entropy(6)), 2)
    assert dependence(twice[:-1], twice[1:]) < NEVER


@pytest.mark.parametrize("base", [8192, 256])
def test_the_digits_of_a_draw_have_nothing_to_do_with_each_other(base: int) -> None:
    """In the base of the blocks, and in another one."""
    draws = geometric_draws(Fraction("2e-6"), simulated_entropy(7))
    low, middle, high = draws % base, draws // base % 16, draws // base // 16
    for one, other in ((low, middle), (low, high), (middle, high)):
        assert dependence(one, other) > RARE
