"""Entropy: the system's leaves nothing behind to repeat; the seeded kind says what it is."""

from __future__ import annotations

import inspect
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB

from safeside.noise import blocks, geometric, inversion
from safeside.noise import entropy as module
from safeside.noise.entropy import DIRECT, Entropy, simulated_entropy, system_entropy


def counter_mode(key: bytes, size: int) -> bytes:
    """AES in counter mode from its definition: the encrypted block numbers."""
    blocks = b"".join(i.to_bytes(16, "big") for i in range(-(-size // 16)))
    return Cipher(AES(key), ECB()).encryptor().update(blocks)[:size]


@pytest.mark.parametrize("source", [system_entropy(), simulated_entropy(1)])
@pytest.mark.parametrize("n", [0, 1, 7, 8, DIRECT, DIRECT + 1, 300_001])
def test_as_many_numbers_as_asked_for(source: Entropy, n: int) -> None:
    numbers = source.uint16(n)
    assert numbers.dtype == np.uint16
    assert numbers.shape == (n,)
    assert numbers.flags.writeable


@pytest.mark.parametrize("source", [system_entropy(), simulated_entropy(1)])
def test_bits_fill_their_range(source: Entropy) -> None:
    assert source.bits(0) == 0
    for n in (1, 3, 8, 64, 65):
        drawn = [source.bits(n) for _ in range(300)]
        assert all(0 <= number < 2**n for number in drawn)
        assert max(drawn).bit_length() == n


def test_a_short_request_is_the_system_s_own_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", lambda n: bytes(i % 251 for i in range(n)))
    for n in (0, 1, 39, DIRECT):
        assert system_entropy().uint16(n).tobytes() == bytes(i % 251 for i in range(2 * n))


def test_a_long_request_is_a_fresh_system_key_expanded_by_aes_256(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [bytes(range(32)), bytes(range(32, 64))]
    handed_out = iter(keys)

    def urandom(n: int) -> bytes:
        assert n == 32
        return next(handed_out)

    monkeypatch.setattr(os, "urandom", urandom)
    source = system_entropy()
    for key, n in zip(keys, (DIRECT + 1, 300_001), strict=True):
        assert source.uint16(n).tobytes() == counter_mode(key, 2 * n)


def test_the_system_source_never_repeats_and_holds_no_state() -> None:
    source = system_entropy()
    assert not source.simulated
    assert not hasattr(source, "__dict__")
    for n in (16, DIRECT + 1):
        assert len({source.uint16(n).tobytes() for _ in range(100)}) == 100
    assert len({system_entropy().bits(256) for _ in range(100)}) == 100


def test_threads_that_share_the_system_source_get_bits_of_their_own() -> None:
    source = system_entropy()
    sizes = [8, DIRECT + 1] * 200
    with ThreadPoolExecutor(8) as pool:
        drawn = [numbers.tobytes()[:16] for numbers in pool.map(source.uint16, sizes)]
    assert len(set(drawn)) == len(sizes)


@pytest.mark.parametrize("n", [16, DIRECT + 16])
def test_a_forked_child_does_not_repeat_its_parent(n: int) -> None:
    source = system_entropy()
    # What either kept for later, the child would have as well.
    source.uint16(n)
    source.bits(8)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, source.uint16(n).tobytes()[:32] + source.bits(256).to_bytes(32, "big"))
        os._exit(0)
    os.close(write)
    numbers, bits = source.uint16(n).tobytes()[:32], source.bits(256).to_bytes(32, "big")
    with os.fdopen(read, "rb") as pipe:
        theirs = pipe.read()
    os.waitpid(child, 0)
    assert len(theirs) == 64
    assert theirs[:32] != numbers
    assert theirs[32:] != bits


def test_a_seed_repeats_and_says_that_it_is_simulated() -> None:
    one, same, other = simulated_entropy(7), simulated_entropy(7), simulated_entropy(8)
    assert one.simulated
    first = one.uint16(1000)
    assert np.array_equal(first, np.concatenate([same.uint16(300), same.uint16(700)]))
    assert not np.array_equal(first, other.uint16(1000))
    assert one.bits(64) == same.bits(64)


def test_a_seed_gives_the_same_stream_on_every_machine() -> None:
    source = simulated_entropy(2021)
    assert source.uint16(4).tolist() == [50843, 41973, 561, 64065]
    assert source.bits(20) == 228690


def test_the_seeded_source_cannot_be_had_without_naming_it() -> None:
    seed = inspect.signature(simulated_entropy).parameters["seed"]
    assert seed.default is inspect.Parameter.empty
    assert not inspect.signature(system_entropy).parameters
    assert "environ" not in inspect.getsource(module)
    assert "getenv" not in inspect.getsource(module)
    held = [value for value in vars(module).values() if getattr(value, "simulated", None) is True]
    assert all(inspect.isclass(value) for value in held), "an instance is lying about"


def test_no_sampler_has_a_default_source() -> None:
    takers = [
        inversion.bernoulli,
        inversion.Inversion.draw,
        inversion.Inversion.extend,
        inversion.Inversion.values,
        blocks.Blocks.extend,
        blocks.Blocks.one,
        geometric.Noise.draw,
        geometric.Noise.add_to,
    ]
    for taker in takers:
        assert inspect.signature(taker).parameters["entropy"].default is inspect.Parameter.empty
