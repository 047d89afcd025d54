"""The signature is a DSSE envelope: others check it with their own tools, and it cannot be altered."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.faults.publishing import World
from tests.releases.making import RECEIPT, signed

from safeside import records
from safeside.errors import BadRelease, BadSignature, MadeByNewer, ReleaseError
from safeside.ledger import open_ledger
from safeside.releases import signature
from safeside.releases.release import Release
from safeside.releases.signing import PrivateKey, create_key, load_private
from safeside.releases.verify import verify
from safeside.releases.withdraw import read_notice, withdraw

DOCUMENT = Path(__file__).parents[2] / "docs" / "releases.md"


@pytest.fixture
def release(tmp_path: Path, key: PrivateKey) -> Release:
    return signed(tmp_path / "out", [0, 1, 9], {"epsilon": 1, "at_most": 2}, key)


def by_a_stranger(directory: Path, key: Path) -> bool:
    """Whether the script that the documentation gives to strangers accepts it; it cannot import safeside."""
    (script,) = re.findall(r"```python\n(# check\.py.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    alone = f"import sys; sys.modules['safeside'] = None\n{script}"
    run = subprocess.run(
        [sys.executable, "-c", alone, directory, key], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0 or re.search("InvalidSignature|AssertionError", run.stderr), run.stderr
    return run.returncode == 0


def test_a_stranger_checks_a_release_and_a_notice_without_safeside(world: World) -> None:
    world.publish("counts")
    public = world.home / "key.pub"
    assert by_a_stranger(world.out, public)
    statement = (world.out / "statement.txt").read_bytes()
    (world.out / "statement.txt").write_bytes(statement + b"!")
    assert not by_a_stranger(world.out, public)
    (world.out / "statement.txt").write_bytes(statement)
    create_key(world.home / "other")
    assert not by_a_stranger(world.out, world.home / "other.pub")
    with open_ledger(world.home / "ledger.db") as ledger:
        withdraw(world.out, reason="wrong-file", ledger=ledger, key=load_private(world.home / "key"))
    assert by_a_stranger(world.out, public)
    assert not by_a_stranger(world.out, world.home / "other.pub")


def test_the_signature_is_small_typed_and_in_one_spelling(release: Release) -> None:
    data = (release.directory / "signature.json").read_bytes()
    envelope = json.loads(data)
    assert records.canonical(envelope) == data
    assert envelope["payloadType"] == signature.PAYLOAD_TYPE
    payload = base64.b64decode(envelope["payload"])
    assert records.decode(signature.Signature, payload) == signature.Signature(
        file="release.json", sha256=release.digest, ledger=RECEIPT["ledger"], reference=RECEIPT["reference"]
    )


def payload_of(envelope: dict[str, Any]) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(base64.b64decode(envelope["payload"]))
    return value


def put_payload(envelope: dict[str, Any], **changed: Any) -> None:
    envelope["payload"] = base64.b64encode(records.canonical({**payload_of(envelope), **changed})).decode()


SPOILT: dict[str, Callable[[dict[str, Any]], Any]] = {
    "another receipt": lambda one: put_payload(one, ledger="another"),
    "another digest": lambda one: put_payload(one, sha256="0" * 64),
    "another file": lambda one: put_payload(one, file="withdrawn.json"),
    "another type": lambda one: one.update(payloadType="application/json"),
    "a field more": lambda one: one.update(extra=1),
    "no payload": lambda one: one.pop("payload"),
    "a payload that is no text": lambda one: one.update(payload=1),
    "a payload that is not base64": lambda one: one.update(payload="!" + one["payload"]),
    "no signature": lambda one: one.update(signatures=[]),
    "a second signature": lambda one: one["signatures"].append(one["signatures"][0]),
    "an empty signature": lambda one: one["signatures"][0].update(sig=""),
    "a signature with spaces": lambda one: one["signatures"][0].update(
        sig=one["signatures"][0]["sig"] + "\n"
    ),
    "the signature of something else": lambda one: one["signatures"][0].update(sig="AAAA" * 21 + "AA=="),
    "another key": lambda one: one["signatures"][0].update(keyid="0" * 16),
}


@pytest.mark.parametrize("what", SPOILT)
def test_whatever_is_changed_in_the_envelope_is_refused(tmp_path: Path, release: Release, what: str) -> None:
    path = release.directory / "signature.json"
    verify(release.directory, tmp_path / "key.pub")
    envelope = json.loads(path.read_bytes())
    SPOILT[what](envelope)
    path.write_bytes(records.canonical(envelope))
    with pytest.raises((BadSignature, BadRelease)):
        verify(release.directory, tmp_path / "key.pub")


def test_another_spelling_of_the_envelope_is_refused(tmp_path: Path, release: Release) -> None:
    path = release.directory / "signature.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()), indent=2))
    with pytest.raises(BadRelease, match="cannot be read"):
        verify(release.directory, tmp_path / "key.pub")
    path.write_text("not json")
    with pytest.raises(BadSignature, match="The release has no signature that can be read"):
        verify(release.directory, tmp_path / "key.pub")


def signed_payload(payload: bytes, key: PrivateKey) -> bytes:
    sig = key.sign(signature.pre_authentication_encoding(payload))
    return records.canonical(
        {
            "payload": base64.b64encode(payload).decode(),
            "payloadType": signature.PAYLOAD_TYPE,
            "signatures": [{"keyid": key.public.id, "sig": base64.b64encode(sig).decode()}],
        }
    )


def test_a_payload_that_is_no_signature_record_is_refused_even_when_signed(
    tmp_path: Path, key: PrivateKey, release: Release
) -> None:
    path = release.directory / "signature.json"
    true = payload_of(json.loads(path.read_bytes()))
    for payload in (
        b"[]",
        records.canonical({**true, "head": 7}),
        records.canonical({**true, "ledger": [0]}),
        records.canonical({name: value for name, value in true.items() if name != "reference"}),
        json.dumps(true).encode(),
    ):
        path.write_bytes(signed_payload(payload, key))
        with pytest.raises(BadRelease, match="cannot be read"):
            verify(release.directory, tmp_path / "key.pub")


def test_a_signature_of_a_newer_version_is_refused_by_name(
    tmp_path: Path, key: PrivateKey, release: Release
) -> None:
    path = release.directory / "signature.json"
    newer = {**payload_of(json.loads(path.read_bytes())), "schema": "safeside-signature/2", "more": 1}
    path.write_bytes(signed_payload(records.canonical(newer), key))
    with pytest.raises(MadeByNewer, match="made by a newer safeside"):
        verify(release.directory, tmp_path / "key.pub")


def test_the_signature_of_a_release_is_not_one_of_a_notice(
    tmp_path: Path, key: PrivateKey, release: Release
) -> None:
    """The name of the file is signed: bytes that were signed as one thing cannot stand as another."""
    data = (release.directory / "release.json").read_bytes()
    (release.directory / "withdrawn.json").write_bytes(data)
    with pytest.raises(BadSignature, match="altered"):
        read_notice(release.directory, [key.public])
    (release.directory / "signature.json").write_bytes(
        signature.sign(data, key, file="withdrawn.json", **RECEIPT)
    )
    with pytest.raises(ReleaseError, match="cannot be read"):
        read_notice(release.directory, [key.public])
