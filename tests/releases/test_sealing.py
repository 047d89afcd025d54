"""A sealed draw opens with its own key, for its own question, unaltered, and in no other way."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.faults.publishing import World

from safeside.ledger import Reservation, open_ledger
from safeside.releases.sealing import bound_to, room, seal, unseal

FILES = st.dictionaries(st.text(st.characters(codec="utf-8")), st.binary(max_size=50), max_size=5)


@given(files=FILES, bound=st.binary(max_size=20))
def test_what_was_sealed_comes_out(files: dict[str, bytes], bound: bytes) -> None:
    key = AESGCM.generate_key(256)
    for length in (1, 7, 1000):
        assert unseal(seal(files, key, bound, length), key, bound) == files


@given(files=FILES, at=st.integers(0), flip=st.integers(1, 255), cut=st.integers(0, 3))
def test_what_was_altered_stays_shut(files: dict[str, bytes], at: int, flip: int, cut: int) -> None:
    key = AESGCM.generate_key(256)
    data = bytearray(seal(files, key, b"for this", 100))
    assert unseal(bytes(data), AESGCM.generate_key(256), b"for this") is None
    assert unseal(bytes(data), key, b"for that") is None
    data[at % len(data)] ^= flip
    assert unseal(bytes(data[cut:]), key, b"for this") is None
    assert unseal(b"", key, b"for this") is None


@given(files=FILES, other=FILES)
def test_the_length_of_what_was_sealed_says_nothing_of_it(
    files: dict[str, bytes], other: dict[str, bytes]
) -> None:
    enough = room(10, "public")
    assert len(seal(files, AESGCM.generate_key(256), b"", enough)) == len(
        seal(other, AESGCM.generate_key(256), b"", enough)
    )


OTHER: dict[str, Callable[[Reservation], Reservation]] = {
    "another ledger": lambda one: replace(one, ledger_id="0" * 32),
    "another reservation": lambda one: replace(one, digest="0" * 64),
    "another request": lambda one: replace(one, request="another"),
    "another dataset": lambda one: replace(one, dataset="town"),
}


@pytest.mark.parametrize("what", OTHER)
def test_a_draw_is_bound_to_what_paid_for_it(world: World, what: str) -> None:
    world.publish("counts")
    with open_ledger(world.home / "ledger.db") as ledger:
        (paid,) = ledger.reservations()
    assert bound_to(OTHER[what](paid)) != bound_to(paid)


def test_a_draw_is_bound_to_every_part_of_its_question(world: World) -> None:
    world.publish("counts")
    with open_ledger(world.home / "ledger.db") as ledger:
        (paid,) = ledger.reservations()
    asked = {"question", "asks", "targets", "window", "looked_at", "known_on", "supersedes", "out"}
    assert asked <= paid.question.keys()
    for name in paid.question:
        other = replace(paid, question={**paid.question, name: "something else"})
        assert bound_to(other) != bound_to(paid)
