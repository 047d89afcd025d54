"""Keys: only their owner can read them, rotation forgets nothing, and a signature is of one message."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from safeside.errors import BadSignature, CannotWrite
from safeside.releases import signing

NOON = datetime(2021, 6, 3, 12, tzinfo=UTC)


def test_only_the_owner_can_read_the_private_key(tmp_path: Path) -> None:
    signing.create_key(tmp_path / "key", now=NOON)
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "key.pub").stat().st_mode & 0o777 == 0o644


def test_a_signature_is_of_one_message_by_one_key(tmp_path: Path) -> None:
    public = signing.create_key(tmp_path / "key", now=NOON)
    other = signing.create_key(tmp_path / "other", now=NOON)
    signature = signing.load_private(tmp_path / "key").sign(b"a message")
    assert public.signed(b"a message", signature)
    assert not public.signed(b"another message", signature)
    assert not other.signed(b"a message", signature)


def test_signing_twice_gives_the_same_signature(tmp_path: Path) -> None:
    signing.create_key(tmp_path / "key", now=NOON)
    key = signing.load_private(tmp_path / "key")
    assert key.sign(b"a") == key.sign(b"a")


def test_rotation_keeps_every_public_key_newest_first(tmp_path: Path) -> None:
    first = signing.create_key(tmp_path / "key", now=NOON)
    second = signing.rotate_key(tmp_path / "key", now=NOON)
    third = signing.rotate_key(tmp_path / "key", now=NOON)
    assert signing.load_public(tmp_path / "key.keyring") == (third, second, first)
    assert signing.load_public(tmp_path / "key.pub") == (third,)
    assert signing.load_private(tmp_path / "key").public == third
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600


def test_the_private_key_is_in_no_representation(tmp_path: Path) -> None:
    signing.create_key(tmp_path / "key", now=NOON)
    key = signing.load_private(tmp_path / "key")
    assert repr(key) == f"PrivateKey({key.public.id})"


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    signing.create_key(tmp_path / "key", now=NOON)
    before = (tmp_path / "key").read_bytes()
    with pytest.raises(CannotWrite):
        signing.create_key(tmp_path / "key", now=NOON)
    assert (tmp_path / "key").read_bytes() == before


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644])
def test_a_key_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    signing.create_key(tmp_path / "key", now=NOON)
    (tmp_path / "key").chmod(mode)
    with pytest.raises(BadSignature):
        signing.load_private(tmp_path / "key")


def test_a_public_key_is_not_a_private_key_and_the_other_way_round(tmp_path: Path) -> None:
    signing.create_key(tmp_path / "key", now=NOON)
    (tmp_path / "key.pub").chmod(0o600)
    with pytest.raises(BadSignature):
        signing.load_private(tmp_path / "key.pub")
    with pytest.raises(BadSignature):
        signing.load_public(tmp_path / "key")


def test_a_key_under_a_passphrase_opens_with_it_and_with_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = signing.create_key(tmp_path / "key", passphrase="right horse", now=NOON)
    assert b"ENCRYPTED" in (tmp_path / "key").read_bytes()
    assert signing.load_private(tmp_path / "key", ask=lambda: "right horse").public == public
    with pytest.raises(BadSignature, match="does not open"):
        signing.load_private(tmp_path / "key", ask=lambda: "wrong horse")
    for nobody in (None, lambda: None):
        with pytest.raises(BadSignature, match="nobody to ask"):
            signing.load_private(tmp_path / "key", ask=nobody)
    monkeypatch.setenv(signing.PASSPHRASE_VARIABLE, "right horse")
    assert signing.load_private(tmp_path / "key").public == public


def test_the_passphrase_of_a_key_without_one_is_not_asked_for(tmp_path: Path) -> None:
    public = signing.create_key(tmp_path / "key", now=NOON)
    asked = signing.load_private(tmp_path / "key", ask=lambda: pytest.fail("it was asked for"))
    assert asked.public == public
    with pytest.raises(BadSignature, match="is empty"):
        signing.create_key(tmp_path / "other", passphrase="")


def test_rotation_keeps_the_passphrase(tmp_path: Path) -> None:
    first = signing.create_key(tmp_path / "key", passphrase="right horse", now=NOON)
    with pytest.raises(BadSignature, match="does not open"):
        signing.rotate_key(tmp_path / "key", ask=lambda: "wrong horse")
    assert signing.load_private(tmp_path / "key", ask=lambda: "right horse").public == first
    second = signing.rotate_key(tmp_path / "key", ask=lambda: "right horse", now=NOON)
    assert b"ENCRYPTED" in (tmp_path / "key").read_bytes()
    assert signing.load_private(tmp_path / "key", ask=lambda: "right horse").public == second
    assert signing.load_public(tmp_path / "key.keyring") == (second, first)
