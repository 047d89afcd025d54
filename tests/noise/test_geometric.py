"""Geometric noise: what it is put together from, and what it does to counts."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.noise.reference import Same, Sealed

from safeside.errors import BadCounts, BadNumber
from safeside.noise.blocks import Blocks
from safeside.noise.entropy import simulated_entropy, system_entropy
from safeside.noise.geometric import (
    LARGEST,
    Noise,
    geometric,
    ordinary,
    truncated_geometric,
    two_sided_geometric,
)
from safeside.noise.inversion import CHUNK, Inversion

KINDS = [
    geometric(1),
    geometric("0.001"),
    geometric("1e-6"),
    two_sided_geometric("0.1"),
    truncated_geometric(1, 5),
    truncated_geometric("0.0001", 10**6),
]


@pytest.mark.parametrize(
    ("rate", "block"),
    [("50", 1), ("1/150", 1), ("1/151", 4), ("1/1000", 16), ("1e-5", 1024), ("1e-6", 16384)],
)
def test_small_rates_are_drawn_in_blocks(rate: str, block: int) -> None:
    ((sign, part),) = geometric(rate).parts
    assert sign == 1
    if block == 1:
        assert isinstance(part, Inversion)
    else:
        assert isinstance(part, Blocks)
        assert np.unique(np.diff(part.table[: part.decided])).tolist() == [0, block]


def test_tables_are_built_once_for_each_rate() -> None:
    assert geometric(1) is geometric("1.0")
    assert geometric(0.1) is geometric(Fraction(1, 10))
    assert truncated_geometric(1, 9) is truncated_geometric(Fraction(1), 9)
    assert two_sided_geometric(1).parts[0][1] is geometric(1).parts[0][1]


@pytest.mark.parametrize("noise", KINDS)
@pytest.mark.parametrize("sign", [1, -1])
def test_adding_to_counts_adds_what_would_have_been_drawn(noise: Noise, sign: int) -> None:
    counts = np.arange(16 * CHUNK + 2000, dtype=np.int64).reshape(-1, 8)[:, ::2]
    counts.flags.writeable = False
    before = counts.copy()
    noisy = noise.add_to(counts, simulated_entropy(3), sign)
    drawn = noise.draw(counts.size, simulated_entropy(3))
    assert noisy.dtype == np.int64
    assert noisy.shape == counts.shape
    assert np.array_equal(noisy, counts + sign * drawn.reshape(counts.shape))
    assert np.array_equal(counts, before)
    assert not np.shares_memory(noisy, counts)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (2, 3)])
def test_counts_of_any_shape(shape: tuple[int, ...]) -> None:
    assert geometric(1).add_to(np.zeros(shape, np.int64), system_entropy()).shape == shape


@pytest.mark.parametrize("noise", KINDS)
@pytest.mark.parametrize("sign", [1, -1])
def test_one_count_gets_what_would_have_been_drawn(noise: Noise, sign: int) -> None:
    for seed in range(50):
        count = np.array([[seed]])
        noisy = noise.add_to(count, simulated_entropy(seed), sign)
        assert noisy.tolist() == [[seed + sign * noise.draw(1, simulated_entropy(seed)).item()]]
        assert count.item() == seed


@pytest.mark.parametrize("noise", KINDS)
@pytest.mark.parametrize("beyond", [-1, 0, 2, 3])
def test_a_draw_that_is_longer_than_a_chunk_goes_on_where_the_chunk_ends(noise: Noise, beyond: int) -> None:
    """The same bits give the same draws, whether two chunks are asked for together or one after the other."""
    chunk = CHUNK // sum(part.numbers for _, part in noise.parts)
    together, apart = simulated_entropy(4), simulated_entropy(4)
    drawn = noise.draw(chunk + beyond, together)
    first = noise.draw(min(chunk, chunk + beyond), apart)
    rest = noise.draw(max(0, beyond), apart)
    assert np.array_equal(drawn, np.concatenate([first, rest]))
    assert together.bits(64) == apart.bits(64), "no bit was taken that is not used"


class Counted:
    """System entropy that remembers how much was asked for at a time."""

    simulated = True

    def __init__(self) -> None:
        self.asked: list[int] = []

    def uint16(self, n: int) -> NDArray[np.uint16]:
        self.asked.append(n)
        return np.zeros(n, np.uint16)

    def bits(self, n: int) -> int:
        raise AssertionError(f"{n} bits were drawn")


@pytest.mark.parametrize("noise", [geometric(1), two_sided_geometric(1), two_sided_geometric("1e-6")])
def test_the_bits_of_all_parts_are_asked_for_at_once(noise: Noise) -> None:
    """A key is made for each long request: one for each part would cost as much as the draws."""
    entropy = Counted()
    assert not noise.draw(1000, entropy).any()
    assert entropy.asked == [1000 * sum(part.numbers for _, part in noise.parts)]


@pytest.mark.parametrize("rate", ["1", "1e-6"])
def test_each_part_of_a_draw_has_bits_of_its_own(rate: str) -> None:
    """The first half of the bits goes to what is added, the second to what is subtracted."""
    noise, entropy = two_sided_geometric(rate), simulated_entropy(5)
    (_, part), _ = noise.parts
    added, subtracted = entropy.uint16(2 * 1000 * part.numbers).reshape(2, -1)
    expected = part.extend(added, entropy) - part.extend(subtracted, entropy)
    assert np.array_equal(noise.draw(1000, simulated_entropy(5)), expected)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
def test_ordinary_numbers_are_those_of_0_to_2_62(dtype: type[np.integer]) -> None:
    most = min(int(np.iinfo(dtype).max), LARGEST - 1)
    assert ordinary(np.array([0, most], dtype))
    assert ordinary(np.array([], dtype))
    assert ordinary(np.array(most, dtype))
    if dtype in (np.int64, np.uint64):
        assert not ordinary(np.array([0, LARGEST], dtype))
        assert not ordinary(np.array([np.iinfo(dtype).max], dtype))
    if np.iinfo(dtype).min < 0:
        assert not ordinary(np.array([5, -1], dtype))


@pytest.mark.parametrize("noise", KINDS)
def test_the_largest_counts_do_not_overflow(noise: Noise) -> None:
    up = noise.add_to(np.full(1000, LARGEST), system_entropy())
    down = noise.add_to(np.full(1000, -LARGEST), system_entropy(), -1)
    assert (up > LARGEST // 2).all()
    assert (down < -LARGEST // 2).all()


@pytest.mark.parametrize(
    "counts",
    [
        np.array([0, LARGEST + 1]),
        np.array([0, -LARGEST - 1]),
        np.array([2**63 - 1]),
        np.array([-(2**63)]),
        np.array([1.0, 2.0]),
        np.array([np.nan]),
        np.array([True, False]),
        np.array([1, 2], np.int32),
        np.array([1, 2], np.uint64),
        np.array([1, 2], ">i8"),
        np.array([2**70, 1], object),
        np.array(["1"]),
        np.ma.masked_array([1, 2], [True, False]),
        [1, 2],
        [2**70],
        7,
        None,
    ],
    ids=str,
)
def test_what_is_not_a_count_is_refused_before_anything_is_drawn(counts: object) -> None:
    for noise in KINDS:
        with pytest.raises(BadCounts):
            noise.add_to(counts, Sealed())


@pytest.mark.parametrize(
    "sign", [0, 2, -2, True, np.True_, 0.5, 1.0, np.float64(-1), Fraction(1), "1"], ids=repr
)
def test_a_sign_is_one_or_minus_one(sign: object) -> None:
    with pytest.raises(BadNumber):
        geometric(1).add_to(np.full(1, 2**60 + 1), Sealed(), sign)


def test_a_truncated_geometric_with_one_value_is_certain() -> None:
    assert not truncated_geometric(1, 1).draw(1000, Same(1)).any()


def test_memory_is_the_result_and_a_few_chunks() -> None:
    counts = np.zeros(32 * CHUNK, np.int64)
    noise = geometric("0.001")
    noise.draw(1, system_entropy())
    tracemalloc.start()
    noisy = noise.add_to(counts, system_entropy())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < noisy.nbytes + 64 * CHUNK
