"""Blocks: every cell and bound against independent arithmetic, and numbers on either side of a border."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from tests.noise.reference import SOME, Numbers, Sealed, decimal, floor, many_digits

from safeside.noise.blocks import Blocks
from safeside.noise.entropy import simulated_entropy
from safeside.noise.geometric import geometric
from safeside.noise.inversion import CELLS

RATES = [Fraction(1, 151), Fraction(1, 399), Fraction(1, 1000), Fraction(1, 10**5), Fraction(1, 10**6)]
FLAT, LINEAR, CURVED = range(3)
LAST = 2**16 - 1


@dataclass(frozen=True)
class Shares:
    """How the first block is shared among its parts, added up value by value; and r^size."""

    size: int
    curved: list[Decimal]
    masses: tuple[Decimal, Decimal, Decimal]
    """Of the flat, the linear and the curved part of the first block."""
    ratio: Decimal


def sampler(rate: Fraction) -> Blocks:
    ((_, part),) = geometric(rate).parts
    assert isinstance(part, Blocks)
    return part


@cache
def shares(rate: Fraction) -> Shares:
    """What lies above the line through the last two values is curved; below it, the steps are linear."""
    size = int(np.diff(sampler(rate).table).max())
    with many_digits(SOME):
        r = (-decimal(rate)).exp()
        values = [(1 - r) * (-decimal(rate) * place).exp() for place in range(size)]
        step = values[-2] - values[-1]
        line = [values[-1] + step * (size - 1 - place) for place in range(size)]
        # Of size^2 pairs of places, 2 (size - place) - 1 have this place as the smaller.
        linear = [step / 2 * (2 * (size - place) - 1) for place in range(size)]
        flat = line[-1] - linear[-1]
        assert all(
            abs(one - other - flat) < Decimal(10) ** -50 for one, other in zip(line, linear, strict=True)
        )
        curved = [value - below for value, below in zip(values, line, strict=True)]
        assert min(curved) > -(Decimal(10) ** -50)
        masses = flat * size, sum(linear, Decimal(0)), sum(curved, Decimal(0))
        return Shares(size, curved, masses, r**size)


@cache
def expected_cells(rate: Fraction) -> list[int]:
    """As many as fit in each block's flat part."""
    cells = []
    with many_digits(SOME):
        flat = shares(rate).masses[FLAT] * CELLS
        while flat >= 1:
            cells.append(floor(flat))
            flat *= shares(rate).ratio
    return cells


@pytest.mark.parametrize("rate", RATES)
def test_every_block_has_as_many_cells_as_fit_in_its_flat_part(rate: Fraction) -> None:
    assert np.diff(sampler(rate).ends).tolist() == expected_cells(rate)
    assert sampler(rate).decided == sum(expected_cells(rate)) > 0.97 * CELLS


@pytest.mark.parametrize("rate", RATES)
def test_every_cell_leads_to_its_block_and_every_place_to_a_value_of_it(rate: Fraction) -> None:
    part, size = sampler(rate), shares(rate).size
    blocks = np.repeat(np.arange(len(expected_cells(rate))), expected_cells(rate))
    cells = np.arange(part.decided, dtype=np.uint16)
    for place in (0, LAST):
        numbers = np.concatenate([cells, np.full_like(cells, place)])
        drawn = part.extend(numbers, Sealed())
        assert np.array_equal(drawn, blocks * size + place * size // CELLS)
    places = np.arange(CELLS).astype(np.uint16)
    drawn = part.extend(np.concatenate([np.zeros_like(places), places]), Sealed())
    assert np.bincount(drawn).tolist() == [CELLS // size] * size


@pytest.mark.parametrize("rate", RATES)
def test_the_bounds_of_what_the_table_leaves_are_the_nearest_whole_numbers(rate: Fraction) -> None:
    floors, ceilings = sampler(rate).left.bounds
    expected: list[int] = []
    cells = [*expected_cells(rate)]
    with many_digits(SOME):
        below, beyond = Decimal(0), Decimal(1)
        left = CELLS - sum(cells)
        block = 0
        while not expected or expected[-1] < 2**64 - 1:
            own = cells[block] if block < len(cells) else 0
            for part, mass in enumerate(shares(rate).masses):
                below += mass * beyond * CELLS - (own if part == FLAT else 0)
                if not expected or expected[-1] < 2**64 - 1:
                    expected.append(floor(below / left * 2**64))
            beyond *= shares(rate).ratio
            block += 1
    assert floors.tolist() == expected
    assert ceilings.tolist() == [bound + 1 for bound in expected[:-1]]


@pytest.mark.parametrize("rate", RATES)
def test_the_bounds_of_the_curve_are_the_nearest_whole_numbers(rate: Fraction) -> None:
    floors, ceilings = sampler(rate).curve.bounds
    with many_digits(SOME):
        below, expected = Decimal(0), []
        # The last two values lie on the line and have nothing above it.
        for value in shares(rate).curved[:-3]:
            below += value
            expected.append(floor(below / shares(rate).masses[CURVED] * 2**64))
    assert floors[: len(expected)].tolist() == expected
    assert ceilings[: len(expected)].tolist() == [bound + 1 for bound in expected]
    assert len(ceilings) == len(expected)


def probability(part: Blocks, size: int, value: int) -> Decimal:
    """Pr[draw = value], from the sampler's own cells and bounds."""
    block, place = divmod(value, size)
    floors = [0, *map(int, part.left.bounds[0])]
    curve = [0, *map(int, part.curve.bounds[1]), *[2**64] * size]
    cells = part.ends[block + 1] - part.ends[block] if block + 1 < len(part.ends) else 0
    flat, linear, curved = (
        Decimal(floors[3 * block + i + 1] - floors[3 * block + i]) / 2**64 for i in range(3)
    )
    within = (
        flat / size
        + linear * (2 * (size - place) - 1) / size**2
        + curved * Decimal(curve[place + 1] - curve[place]) / 2**64
    )
    return Decimal(cells) / CELLS / size + within * (CELLS - part.decided) / CELLS


@pytest.mark.parametrize("rate", RATES)
def test_cells_parts_and_places_add_up_to_the_geometric(rate: Fraction) -> None:
    """To 2^-60, the width of the bounds; a rate that is off by one in a million is noticed."""
    part, size = sampler(rate), shares(rate).size
    blocks = [
        0,
        1,
        7,
        len(part.ends) - 2,
        len(part.ends) - 1,
        len(part.ends),
        len(part.left.bounds[0]) // 3 - 1,
    ]
    values = [
        size * block + place for block in blocks for place in (0, 1, size // 3, size - 3, size - 2, size - 1)
    ]
    with many_digits(SOME):

        def furthest(off: Decimal) -> Decimal:
            power = -decimal(rate) * off
            return max(
                abs(probability(part, size, value) - (1 - power.exp()) * (power * value).exp())
                for value in values
            )

        assert furthest(Decimal(1)) < Decimal(2) ** -60
        assert furthest(1 + Decimal(10) ** -6) > Decimal(2) ** -42


@pytest.mark.parametrize("rate", RATES)
def test_the_last_cell_that_decides_and_the_first_that_does_not(rate: Fraction) -> None:
    part, size = sampler(rate), shares(rate).size
    block = len(expected_cells(rate)) - 1
    assert part.one(Numbers(part.decided - 1, LAST)) == block * size + size - 1
    for cell in (part.decided, LAST):
        # A word of zeros is in the flat part of the first block: the place that was drawn first stays.
        numbers = Numbers(cell, LAST, 0, 0, 0, 0, 0)
        assert part.one(numbers) == size - 1
        assert numbers.used


def word_of(word: int) -> list[int]:
    """The numbers that make a word, lowest first as the sampler reads them."""
    return [word >> shift & LAST for shift in (0, 16, 32, 48)]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("block", [0, 1, 40, 700])
def test_words_on_either_side_of_a_border_go_to_block_and_part(rate: Fraction, block: int) -> None:
    part, size = sampler(rate), shares(rate).size
    unit = CELLS // size
    place, other = (size - 1) * unit, (size - 2) * unit + unit - 1

    def check(word: int, more: list[int], drawn: int) -> None:
        numbers = Numbers(part.decided, place, *word_of(word), other, *more)
        assert part.one(numbers) == drawn
        assert numbers.used

    floors, ceilings = (bound.tolist() for bound in part.left.bounds)
    zeros, ones = [0] * 4, [LAST] * 4
    # What is drawn in the three parts and in the next flat one, and the numbers taken beyond the word.
    drawn = [(block * size + size - 1, []), (block * size + size - 2, []), (block * size, zeros)]
    drawn.append(((block + 1) * size + size - 1, []))
    for kind in (FLAT, LINEAR, CURVED):
        k = 3 * block + kind
        (here, more), (beyond, more_beyond) = drawn[kind : kind + 2]
        check(ceilings[k - 1] if k else 0, more, here)
        check(floors[k] - 1, more, here)
        # The border lies within this word, which therefore gets 64 bits more.
        check(floors[k], zeros + more, here)
        check(floors[k], ones + more_beyond, beyond)
        check(ceilings[k], more_beyond, beyond)
    last_place = word_of(part.curve.bounds[1].tolist()[-1])
    check(ceilings[3 * block + LINEAR], last_place, block * size + size - 3)


def test_a_linear_place_is_the_smaller_of_two() -> None:
    """All sixteen pairs of places of a block of four."""
    part = sampler(Fraction(1, 151))
    word = word_of(part.left.bounds[1].tolist()[0])
    drawn = [
        part.one(Numbers(part.decided, one << 14, *word, other << 14))
        for one in range(4)
        for other in range(4)
    ]
    assert np.bincount(drawn).tolist() == [7, 5, 3, 1]


def test_each_of_several_linear_places_has_two_of_its_own() -> None:
    """The same sixteen pairs, all that are left drawn at once."""
    part = sampler(Fraction(1, 151))
    word = word_of(part.left.bounds[1].tolist()[0])
    pairs = [(one, other) for one in range(4) for other in range(4)]
    cells = np.full(len(pairs), part.decided, np.uint16)
    places = np.array([one << 14 for one, _ in pairs], np.uint16)
    seconds = [other << 14 for _, other in pairs]
    drawn = part.extend(np.concatenate([cells, places]), Numbers(*[*word] * len(pairs), *seconds))
    assert np.bincount(drawn).tolist() == [7, 5, 3, 1]


@pytest.mark.parametrize("rate", RATES)
def test_each_of_several_flat_places_stays_with_its_draw(rate: Fraction) -> None:
    part, size = sampler(rate), shares(rate).size
    places = np.array([LAST, 0, CELLS // 2, CELLS // 4, LAST, CELLS // 2], np.uint16)
    cells = np.full_like(places, LAST)
    zeros = [0] * (5 * places.size)
    drawn = part.extend(np.concatenate([cells, places]), Numbers(*zeros))
    assert drawn.tolist() == (places.astype(np.int64) * size // CELLS).tolist()


@pytest.mark.parametrize("rate", RATES)
def test_draws_that_the_table_leaves_do_not_disturb_the_others(rate: Fraction) -> None:
    part = sampler(rate)
    numbers = simulated_entropy(1).uint16(200_001 * 2)
    drawn = part.extend(numbers.copy(), simulated_entropy(2))
    cells, places = numbers.reshape(2, -1)
    decided = cells < part.decided
    assert np.array_equal(
        drawn[decided], part.extend(np.concatenate([cells[decided], places[decided]]), Sealed())
    )
    (left,) = (~decided).nonzero()
    assert 0 < left.size < 0.03 * drawn.size
    again = part.extend(np.concatenate([cells[left], places[left]]), simulated_entropy(2))
    assert np.array_equal(drawn[left], again)


def test_a_table_of_blocks_that_is_shared_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        sampler(RATES[0]).table[0] = 1
