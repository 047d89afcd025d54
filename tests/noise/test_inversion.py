"""Inversion: every cell and every bound against independent arithmetic, and bits on either side of a cut."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.noise.reference import SOME, Same, Script, Sealed, cut, decimal, many_digits, scaled_cuts, words

from safeside.exact import ball, exp
from safeside.noise.entropy import simulated_entropy, system_entropy
from safeside.noise.geometric import geometric, truncated_geometric
from safeside.noise.inversion import CELLS, UNDECIDED, Inversion, bernoulli

RATES = [Fraction(50), Fraction(7, 3), Fraction(1), Fraction(1, 10), Fraction(1, 100), Fraction(1, 150)]
TRUNCATED = [
    (Fraction(1, 151), 256),
    (Fraction(1, 10**6), 256),
    (Fraction(256, 10**6), 256),
    (Fraction(1, 1000), 256),
    (Fraction(2), 3),
    (Fraction(50), 4096),
    (Fraction(1, 3), 1),
]
LEVELS = [(rate, None) for rate in RATES] + TRUNCATED


def sampler(rate: Fraction, size: int | None) -> Inversion:
    """The one table behind a rate that needs one only."""
    noise = geometric(rate) if size is None else truncated_geometric(rate, size)
    ((_, part),) = noise.parts
    return part


def expected_table(rate: Fraction, size: int | None) -> NDArray[np.int64]:
    """Each value fills the cells wholly between its two cut points; nothing else is decided."""
    table = np.full(CELLS, UNDECIDED, np.int64)
    begin = 0
    value = 0
    for end in scaled_cuts(rate, 16, size):
        table[begin:end] = value
        begin, value = end + 1, value + 1
    if value + 1 == size:  # there is no cut point after the last value
        table[begin:] = value
    return table


@pytest.mark.parametrize(("rate", "size"), LEVELS)
def test_every_cell_of_the_table_is_right(rate: Fraction, size: int | None) -> None:
    table = sampler(rate, size).table
    assert table.shape == (CELLS,)
    wrong = np.flatnonzero(table != expected_table(rate, size))
    assert not wrong.size
    assert table.max() < np.iinfo(table.dtype).max


def test_the_enumeration_would_catch_one_wrong_cell() -> None:
    table = sampler(Fraction(1), None).table.astype(np.int64)
    undecided = np.flatnonzero(table == UNDECIDED)
    table[undecided[0]] = 0
    assert (table != expected_table(Fraction(1), None)).sum() == 1


@pytest.mark.parametrize(("rate", "size"), LEVELS)
def test_the_cells_of_a_value_hold_its_mass_but_for_the_undecided(rate: Fraction, size: int | None) -> None:
    table = sampler(rate, size).table
    decided = np.bincount(table[table != UNDECIDED])
    undecided = int((table == UNDECIDED).sum())
    assert decided.sum() + undecided == CELLS
    with many_digits(SOME):
        for value, cells in enumerate(decided.tolist()):
            end = decimal(Fraction(1)) if value + 1 == size else cut(rate, value + 1, size)
            mass = (end - cut(rate, value, size)) * CELLS
            assert cells <= mass < cells + min(undecided, 2) + Fraction(1, 10**9)


@pytest.mark.parametrize(("rate", "size"), LEVELS)
def test_the_64_bit_bounds_are_the_nearest_whole_numbers(rate: Fraction, size: int | None) -> None:
    floors, ceilings = sampler(rate, size).bounds
    expected = list(scaled_cuts(rate, 64, size))
    assert floors[: len(expected)].tolist() == expected
    assert ceilings.tolist() == [floor + 1 for floor in expected if floor + 1 < 2**64]
    assert len(floors) == len(ceilings) + 1


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(1, 10), Fraction(1, 100)])
@pytest.mark.parametrize("k", [1, 2, 17])
def test_a_word_that_meets_a_cut_point_gets_more_bits_until_they_decide(rate: Fraction, k: int) -> None:
    part = sampler(rate, None)
    bits = 64 * 4
    with many_digits():
        exact_cut = int(cut(rate, k) * 2**bits)
    word, rest = exact_cut >> 192, exact_cut & (2**192 - 1)
    below_and_above = part.values(words([word - 1, word + 1]), Sealed())
    assert below_and_above.tolist() == [k - 1, k]
    # The same as the cut point in 64, in 128 and in 192 bits, and then on either side of it.
    for same in (0, 64, 128):
        last = (exact_cut >> (128 - same)) & (2**64 - 1)
        assert 0 < last < 2**64 - 1
        before = rest >> (192 - same)
        for nudge, value in ((-1, k - 1), (1, k)):
            script = Script((before << 64) | (last + nudge), same + 64)
            assert part.values(words([word]), script).tolist() == [value]


def test_the_first_16_bits_are_kept() -> None:
    """In an undecided cell the value follows from the cell and the bits added, whichever cell it is."""
    part = sampler(Fraction(1, 10), None)
    expected = list(scaled_cuts(Fraction(1, 10), 64))
    for cell in np.flatnonzero(part.table == UNDECIDED)[:-1].tolist():
        for low in (0, 2**47, 2**48 - 1):
            word = cell << 48 | low
            drawn = part.draw(1, Script(word, 64))
            assert drawn.tolist() == [sum(floor < word for floor in expected)]


def test_each_of_several_undecided_draws_keeps_its_own_first_bits() -> None:
    """Cells in order have values in order, whatever bits are added to each."""
    part = sampler(Fraction(1, 100), None)
    cells = np.arange(CELLS).astype(np.uint16)
    drawn = part.extend(cells, system_entropy())
    assert (np.diff(drawn[:-1]) >= 0).all()
    assert (part.table == UNDECIDED).sum() > 500


@pytest.mark.parametrize(("rate", "size"), LEVELS)
def test_a_single_draw_is_what_an_array_of_one_is(rate: Fraction, size: int | None) -> None:
    """Whatever the first 16 bits, decided or not: the same value from the same bits."""
    part = sampler(rate, size)
    undecided = np.flatnonzero(part.table == UNDECIDED)[:-1].tolist()
    for cell in [*range(0, CELLS, 97), *undecided[:40]]:
        word = cell << 48 | 0x5A5A5A5A5A5A
        assert part.one(Script(word, 64)) == part.draw(1, Script(word, 64)).item()


def test_a_tail_beyond_64_bits_is_drawn_exactly() -> None:
    """At rate 50 any noise at all has probability 2^-72: seventy-three ones are needed to see a 1."""
    part = sampler(Fraction(50), None)
    ones = 2**64 - 1
    assert part.table[-1] == UNDECIDED
    assert (part.table[:-1] == 0).all()
    assert part.values(words([ones - 1]), Sealed()).tolist() == [0]
    assert part.values(words([ones]), Script(0, 64)).tolist() == [0]
    assert part.values(words([ones]), Script(ones << 56 & ones, 64)).tolist() == [0]
    assert part.values(words([ones]), Script(ones << 55 & ones, 64)).tolist() == [1]
    assert part.values(words([ones]), Script(ones << 64, 128)).tolist() == [1]
    assert part.values(words([ones]), Script((ones << 64) | (ones << 32 & ones), 128)).tolist() == [2]


def test_cut_points_that_are_cells_ends_and_values_without_mass() -> None:
    """Cut points 1/2, 1/2, 3/4: the value 1 never comes, however the bits fall."""
    points = [Fraction(0), Fraction(1, 2), Fraction(1, 2), Fraction(3, 4)]
    part = Inversion(lambda k: ball(points[k]), 4)
    halves = words([0, 2**63 - 1, 2**63, 3 * 2**62 - 1, 3 * 2**62, 2**64 - 1])
    assert part.values(halves, simulated_entropy(1)).tolist() == [0, 0, 2, 2, 3, 3]
    drawn = np.bincount(part.draw(100_000, simulated_entropy(2)), minlength=4)
    assert drawn[1] == 0
    assert abs(drawn[0] - 50_000) < 1000


def test_balls_that_overlap_are_put_in_order() -> None:
    """Cut points computed with error, so that a later ball begins before an earlier one ends."""
    wide = ball(Fraction(1, 2)) + ball(0).union(ball(Fraction(1, 2**60)))
    part = Inversion(lambda k: wide if k == 1 else ball(Fraction(1, 2)), 3)
    floors, ceilings = part.bounds
    assert (np.diff(floors.astype(object)) >= 0).all()
    assert (np.diff(ceilings.astype(object)) >= 0).all()


def test_a_distribution_of_the_callers_own() -> None:
    """Poisson with mean 2, from its cut points: nothing here is special to the geometric."""

    def cumulative(k: int) -> object:
        total, term = ball(0), exp(-2)
        for i in range(k):
            total += term
            term = term * 2 / (i + 1)
        return total

    drawn = Inversion(cumulative).draw(200_000, simulated_entropy(5))
    assert drawn.min() == 0
    assert abs(drawn.mean() - 2) < 0.02
    assert abs(drawn.var() - 2) < 0.05


def test_a_coin_that_is_certain() -> None:
    for entropy in (system_entropy(), Same(0), Same(1)):
        assert bernoulli(lambda: ball(1), 1000, entropy).all()
        assert not bernoulli(lambda: ball(0), 1000, entropy).any()


def test_a_coin_is_exact_to_the_last_bit() -> None:
    """One third is 0.010101...: the words on either side of it, and the word it begins with."""
    third = (2**64 - 1) // 3
    coin = Inversion(lambda _: ball(Fraction(1, 3)), 2)
    assert coin.values(words([third - 1, third + 1]), Sealed()).tolist() == [0, 1]
    assert coin.values(words([third]), Script(third - 1, 64)).tolist() == [0]
    assert coin.values(words([third]), Script(third + 1, 64)).tolist() == [1]
    assert coin.values(words([third]), Script(third << 64 | (third + 1), 128)).tolist() == [1]


def test_no_coins_and_no_draws() -> None:
    assert bernoulli(lambda: ball(Fraction(1, 3)), 0, system_entropy()).shape == (0,)
    part = sampler(Fraction(1), None)
    assert part.draw(0, system_entropy()).shape == (0,)
    assert part.extend(np.zeros(0, np.uint16), Sealed()).shape == (0,)


def test_a_table_that_is_shared_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        sampler(Fraction(1), None).table[0] = 1
