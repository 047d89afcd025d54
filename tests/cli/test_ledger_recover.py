"""`safeside ledger recover --release`: a release is believed once signature and claims are checked."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.cli.test_ledger import here, read, run, spend
from tests.faults.publishing import CAP, World
from tests.releases.worlds import remaining

import safeside
from safeside.errors import BadRelease, BadSignature, LedgerDamaged, LedgerForked
from safeside.ledger.witness import STATE_VARIABLE
from safeside.records import canonical
from safeside.releases.record import FILE, SIGNATURE
from safeside.releases.signature import sign
from safeside.releases.signing import create_key, load_private, rotate_key

__all__ = ["here"]


@pytest.fixture
def lost(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A ledger restored from before its one release, without any witness."""
    old = (world.home / "ledger.db").read_bytes()
    world.publish("counts")
    (world.home / "ledger.db").write_bytes(old)
    (world.home / "ledger.db.witness").unlink()
    monkeypatch.setenv(STATE_VARIABLE, str(world.home / "empty"))
    monkeypatch.chdir(world.home)
    (world.home / "safeside.toml").write_text('key = "key"\n')
    return world


def recover(*more: str) -> None:
    run("ledger", "recover", "--ledger", "ledger.db", "--release", "releases/noon", *more)


def cheapen(world: World) -> bytes:
    """The price of the release becomes a millionth; returns release.json as it then is."""
    path = world.out / FILE
    record = json.loads(path.read_bytes())
    record["ledger"]["cost"]["epsilon"] = "1/1000000"
    path.write_bytes(canonical(record))
    return path.read_bytes()


def test_a_signed_release_is_charged_at_its_own_price(lost: World) -> None:
    found = read(
        "ledger", "recover", "--ledger", "ledger.db", "--release", "releases/noon", "--key", "key.pub"
    )
    assert [one["charged"]["epsilon"] for one in found["recharged"]] == ["1"]
    assert remaining(lost) == CAP - 1


def test_the_keyring_of_the_settings_is_used_where_no_key_is_given(lost: World) -> None:
    rotate_key(lost.home / "key")
    recover()
    assert remaining(lost) == CAP - 1


def test_an_edited_price_is_refused(lost: World) -> None:
    cheapen(lost)
    with pytest.raises(BadSignature):
        recover()
    assert remaining(lost) == CAP


def test_an_edited_price_is_refused_though_it_is_signed(lost: World) -> None:
    """Whoever has the key still cannot claim a price that the mechanism does not have."""
    receipt = json.loads((lost.out / FILE).read_bytes())["ledger"]
    data = cheapen(lost)
    (lost.out / SIGNATURE).write_bytes(
        sign(
            data,
            load_private(lost.home / "key"),
            file=FILE,
            ledger=receipt["id"],
            reference=receipt["reference"],
        )
    )
    with pytest.raises(BadRelease):
        recover()
    assert remaining(lost) == CAP


def test_an_unsigned_release_and_that_of_a_stranger_are_refused(lost: World) -> None:
    create_key(lost.home / "stranger")
    with pytest.raises(BadSignature):
        recover("--key", "stranger.pub")
    (lost.out / SIGNATURE).unlink()
    with pytest.raises(BadSignature):
        recover()
    assert remaining(lost) == CAP


def test_nothing_is_recovered_where_one_of_several_releases_is_refused(lost: World) -> None:
    shutil.copytree(lost.out, lost.home / "copy")
    (lost.home / "copy" / "answers.csv").write_text("place\n")
    with pytest.raises(BadRelease):
        recover("--release", "copy")
    assert remaining(lost) == CAP


def test_a_ledger_that_is_gone_is_made_anew(here: Path) -> None:
    run("ledger", "create", "--dataset", "visits", "--epsilon", "10", "--ledger", "l.db")
    spend("l.db")
    Path("l.db").write_text("not a database any more" * 100)
    with pytest.raises(LedgerDamaged):
        run("ledger", "show", "--ledger", "l.db")
    said = run("ledger", "recover", "--ledger", "l.db")
    assert "Made the ledger anew from its witness: 6 events" in said
    assert 'What was there is kept as "l.db.damaged-1".' in said
    Path("l.db").unlink()
    with pytest.raises(LedgerForked, match="There was a ledger here before"):
        run("ledger", "create", "--dataset", "visits", "--epsilon", "10", "--ledger", "l.db")
    assert read("ledger", "recover", "--ledger", "l.db")["rebuilt"] == {"events": 6, "kept": None}
    assert "6 events" in run("ledger", "verify", "--ledger", "l.db")


@pytest.fixture
def gone(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A publisher whose ledger, witnesses and state directory are gone; key and release are there."""
    world.publish("counts")
    shutil.rmtree(world.home / "state")
    for name in ("ledger.db", "ledger.db.witness"):
        (world.home / name).unlink()
    monkeypatch.chdir(world.home)
    (world.home / "safeside.toml").write_text('key = "key"\n')
    return world


def create(name: str = "ledger.db") -> str:
    return run("ledger", "create", "--dataset", "city", "--epsilon", "3", "--ledger", name)


def test_a_key_and_a_release_show_that_there_was_a_ledger(gone: World) -> None:
    with pytest.raises(LedgerForked, match=r'"key\.ledgers" and "releases/noon" are still there'):
        create()
    Path("key.ledgers").unlink()
    with pytest.raises(LedgerForked, match='"releases/noon" is still there'):
        create()
    (gone.out / SIGNATURE).unlink()
    create()


def test_the_memory_of_a_key_is_enough_and_is_of_one_place(gone: World) -> None:
    shutil.rmtree(gone.home / "releases")
    assert Path("key.ledgers").stat().st_mode & 0o077 == 0
    with pytest.raises(LedgerForked, match=r'"key\.ledgers" is still there'):
        create()
    create("another.db")


def test_python_looks_at_the_same_traces(gone: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for named in ({"key": gone.home / "key"}, {}):
        with pytest.raises(LedgerForked, match=r"There was a ledger here before.+key\.ledgers"):
            safeside.create_ledger(gone.home / "ledger.db", **named)
    monkeypatch.chdir("/")
    with pytest.raises(LedgerForked, match=r"key\.ledgers"):
        safeside.create_ledger(f"sqlite:///{gone.home}/ledger.db")
    (gone.home / "key.ledgers").unlink()
    with pytest.raises(LedgerForked, match=r"releases/noon"):
        safeside.create_ledger(gone.home / "ledger.db", key=gone.home / "key")


def test_releases_of_a_ledger_that_is_kept_elsewhere_stop_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.publish("counts")
    monkeypatch.chdir(world.home)
    (world.home / "safeside.toml").write_text('key = "key"\n')
    create("second.db")


def test_show_does_not_offer_what_a_rolled_back_ledger_has_forgotten_without_a_word(here: Path) -> None:
    run("ledger", "create", "--dataset", "visits", "--epsilon", "10", "--ledger", "l.db")
    old = Path("l.db").read_bytes()
    assert read("ledger", "show", "--ledger", "l.db")["forgotten"] == 0
    spend("l.db")
    Path("l.db").write_bytes(old)
    assert read("ledger", "show", "--ledger", "l.db")["forgotten"] > 0
    for named in ([], ["visits"]):
        assert run("ledger", "show", *named, "--ledger", "l.db").count("This ledger has forgotten") == 1


def test_verify_names_a_witness_that_was_rolled_back_or_deleted(here: Path, state: Path) -> None:
    run("ledger", "create", "--dataset", "visits", "--epsilon", "10", "--ledger", "l.db")
    spend("l.db")
    assert read("ledger", "verify", "--ledger", "l.db")["witnesses_lack_from"] == {}
    beside, elsewhere = Path("l.db.witness"), next(state.glob("*.witness"))
    beside.unlink()
    lines = elsewhere.read_text().splitlines(keepends=True)
    elsewhere.write_text("".join(one for one in lines if not one.startswith("event 4 ")))
    lacking = {str(beside): 1, str(elsewhere): 4}
    assert read("ledger", "verify", "--ledger", "l.db")["witnesses_lack_from"] == lacking
    assert f'The witness "{elsewhere}" does not hold event 4' in run("ledger", "verify", "--ledger", "l.db")
    run("ledger", "create", "--dataset", "more", "--epsilon", "1", "--ledger", "l.db")
    assert read("ledger", "verify", "--ledger", "l.db")["witnesses_lack_from"] == {}
