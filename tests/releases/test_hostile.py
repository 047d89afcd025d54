"""Verify, publish and purge beside files of others: a clear refusal, bounded, and nothing painted."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.faults.publishing import CAP, World, killed_at
from tests.releases.making import signed
from tests.releases.worlds import remaining
from tests.test_untrusted import HOSTILE, hostile
from typer.testing import CliRunner

from safeside import records
from safeside.cli.main import build
from safeside.errors import BadFile, BadQuestion, BadRelease, BadSignature, ReleaseError, SafesideError
from safeside.ledger import open_ledger
from safeside.records import canonical
from safeside.releases import publish_steps
from safeside.releases.basemap import read_basemap
from safeside.releases.publish import prepare
from safeside.releases.purge import purge
from safeside.releases.question import Targets
from safeside.releases.record import decode
from safeside.releases.release import Release, load_release
from safeside.releases.signing import create_key, load_private, load_public
from safeside.releases.verify import verify
from safeside.visits import read_places

PAINTED = "\x1b[2J\x1b[HVerified: signed, whole, every state follows from its bounds.\n"


@pytest.fixture
def release(tmp_path: Path) -> Release:
    create_key(tmp_path / "key")
    return signed(tmp_path / "out", [0, 1, 9], {"epsilon": 1, "at_most": 2}, load_private(tmp_path / "key"))


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize(
    "name", ["release.json", "signature.json", "answers.csv", "answers.geojson", "map.html"]
)
def test_verify_refuses_a_file_that_is_no_plain_one(
    release: Release, tmp_path: Path, name: str, kind: str
) -> None:
    (release.directory / name).unlink()
    hostile(release.directory / name, kind)
    with pytest.raises(ReleaseError):
        verify(release.directory, tmp_path / "key.pub")


def test_verify_refuses_a_manifest_that_is_replaced_while_it_is_looked_at(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is returned is what was signed, not what stood there a moment before."""
    forged = tmp_path / "forged"
    shutil.copytree(release.directory, forged)
    record = json.loads((forged / "release.json").read_bytes()) | {"release": "r-forged"}
    (forged / "release.json").write_bytes(records.canonical(record))
    seen = replace(load_release(forged), directory=release.directory)
    monkeypatch.setattr("safeside.releases.verify.load_release", lambda _: seen)
    with pytest.raises(BadRelease, match="replaced while it was looked at"):
        verify(release.directory, tmp_path / "key.pub")


@pytest.mark.parametrize("name", ["release.json", "signature.json"])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda _: "[" * 100_000,
        lambda text: text.replace("{", '{"schema": "x",', 1),
        lambda text: text.replace("{", '{"x": ' + "9" * 5000 + ",", 1),
        lambda text: text.replace("{", '{"x": NaN,', 1),
        lambda text: text.replace('"', '"\\ud800', 1),
    ],
    ids=["deep", "a name twice", "a huge number", "not a number", "half a character"],
)
def test_verify_refuses_json_that_no_release_holds(
    release: Release, tmp_path: Path, name: str, spoil: object
) -> None:
    path = release.directory / name
    path.write_text(spoil(path.read_text()))
    with pytest.raises((BadRelease, BadSignature)):
        verify(release.directory, tmp_path / "key.pub")


def test_a_directory_of_very_many_names_is_not_listed(release: Release, tmp_path: Path) -> None:
    for number in range(150):
        (release.directory / f"file {number}").touch()
    with pytest.raises(BadRelease, match="a file that is not part of it"):
        verify(release.directory, tmp_path / "key.pub")


def cli(*arguments: object) -> str:
    result = CliRunner().invoke(build(), [str(one) for one in arguments])
    problem = result.exception
    said = f"{problem.what}{problem.do}" if hasattr(problem, "what") else ""
    assert problem is None or said or isinstance(problem, SystemExit), problem
    return result.output


def test_a_name_in_a_release_does_not_paint_verified(release: Release, tmp_path: Path) -> None:
    (release.directory / PAINTED.replace("/", "")).touch()
    said = cli("verify", release.directory, "--key", tmp_path / "key.pub")
    assert "\x1b" not in said
    assert not any(line.startswith("Verified") for line in said.splitlines())
    assert "altered or is incomplete" in said


def test_a_key_id_or_a_release_id_does_not_paint_verified(release: Release, tmp_path: Path) -> None:
    path = release.directory / "signature.json"
    good = path.read_text()
    envelope = json.loads(good)
    envelope["signatures"][0]["keyid"] = PAINTED
    path.write_bytes(canonical(envelope))
    said = cli("verify", release.directory, "--key", tmp_path / "key.pub")
    assert "another key" in said
    assert "\x1b" not in said
    path.write_text(good)
    record = json.loads((release.directory / "release.json").read_text())
    (release.directory / "release.json").write_text(json.dumps({**record, "release": PAINTED}))
    with pytest.raises(BadRelease, match="not as a release has it"):
        load_release(release.directory)


def test_a_release_never_holds_a_control_character(release: Release) -> None:
    record = json.loads((release.directory / "release.json").read_bytes())
    for changed in ({"release": "a\x1b"}, {"release": "a\u202eb"}):
        with pytest.raises(BadRelease, match="not as a release has it"):
            decode(records.canonical({**record, **changed}))


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_bad_sibling_does_not_stop_a_publish(world: World, kind: str) -> None:
    beside = world.out.parent / "aaa"
    beside.mkdir(parents=True)
    hostile(beside / "release.json", kind)
    hostile(world.out.parent / "bbb", kind)
    for name, text in {"ccc": "[" * 100_000, "ddd": '{"a": 1, "a": 2}', "eee": ""}.items():
        (world.out.parent / name).mkdir()
        (world.out.parent / name / "release.json").write_text(text)
    world.publish("counts")
    assert remaining(world) == CAP - 1


def test_a_sibling_that_only_says_it_is_of_this_ledger_stops_nothing_and_is_named(world: World) -> None:
    world.publish("counts")
    forged = world.out.parent / "forged"
    shutil.copytree(world.out, forged)
    record = json.loads((forged / "release.json").read_text())
    record["release"] = "r-forged"
    (forged / "release.json").write_bytes(records.canonical(record))
    asked = {
        "places": world.home / "places.csv",
        "when": "2021-06-03T12:30:00+00:00",
        "epsilon": 1,
        "at_most": 2,
        "dataset": "city",
        "ledger": world.home / "ledger.db",
        "out": world.home / "releases" / "later",
        "key": world.home / "key",
    }
    with prepare(world.home / "visits.parquet", **asked) as publication_:
        assert publication_.doubtful == (forged,)
    (forged / "signature.json").unlink()
    with prepare(world.home / "visits.parquet", **asked) as publication_:
        assert publication_.doubtful == (forged,)
        publication_.run()


def test_purge_opens_nothing_deletes_what_nobody_can_read_and_leaves_links(world: World) -> None:
    killed_at(world, "counts", publish_steps.COMMITTED)
    (sealed,) = world.sealed()
    planted = []
    for number, kind in enumerate(HOSTILE):
        planted.append(sealed.with_name(f".noon.{number:016x}.{number:016x}.appearing"))
        planted[-1].mkdir()
        hostile(planted[-1] / "release.json", kind)
        planted.append(sealed.with_name(f".noon.{number:016x}.{number:016x}.sealed"))
        hostile(planted[-1], kind)
    links = {one for one in planted if one.is_symlink()}
    with open_ledger(world.home / "ledger.db") as ledger:
        done = purge([world.out.parent], ledger=ledger)
    assert set(done.deleted) == {*planted} - links
    assert {path for path, _ in done.kept} == {sealed, *links}
    assert {why.partition(":")[0] for _, why in done.kept} == {
        "the ledger has committed to it",
        "it is a link, which safeside never makes",
    }
    assert (world.home / "ledger.db").exists()
    world.publish("counts")


def test_keys_and_backdrops_are_plain_files(tmp_path: Path) -> None:
    for number, kind in enumerate(("a pipe", "a link to a device", "a sparse file of a gigabyte and more")):
        hostile(tmp_path / f"{number}", kind)
        for act in (load_public, load_private):
            with pytest.raises(SafesideError, match=r"is not|There is no"):
                act(tmp_path / f"{number}")
        with pytest.raises(BadFile, match=r'The basemap ".+" is no plain file'):
            read_basemap(tmp_path / f"{number}")
    create_key(tmp_path / "key")
    (tmp_path / "mounted").symlink_to(tmp_path / "key")
    assert load_private(tmp_path / "mounted").public == load_public(tmp_path / "key.pub")[0]


@pytest.mark.parametrize("odd", ["a\nb", "a\x1b[2J", "a\x7f", "a\x9bm", "a\u202eb", "a\u2066b", "a\u2028b"])
def test_control_characters_in_place_ids_are_refused(odd: str) -> None:
    with pytest.raises(BadFile, match="place holds a control character"):
        read_places(["fine", odd])


def test_the_digest_of_a_list_of_places_is_of_that_list_alone() -> None:
    lists = [["a", "b"], ["a\nb"], ["a", "b", ""], ["ab"], [], [""], ['a", "b'], ["a\\", "b"], ["b", "a"]]
    assert len({Targets.of(one).sha256 for one in lists}) == len(lists)


@pytest.mark.parametrize("more", [{"request_id": "r\x1b[2J"}, {"request_id": "r\nVerified"}])
def test_names_that_would_paint_are_refused_before_anything_is_paid(
    world: World, more: dict[str, str]
) -> None:
    with pytest.raises(BadQuestion, match="holds a control character") as caught:
        world.publish("counts", **more)
    assert caught.value.do == "Use letters, digits and marks that can be seen."
    assert remaining(world) == CAP
    assert not os.path.lexists(world.out)
