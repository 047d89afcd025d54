"""Superseding and withdrawing: whole, charged, and never chosen answers."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime

import pytest
from tests.faults.publishing import CAP, World
from tests.releases.worlds import remaining

from safeside.errors import (
    BadQuestion,
    BadRelease,
    BadSignature,
    CannotWrite,
    LedgerForked,
    LedgerMissing,
)
from safeside.ledger import create_ledger, open_ledger
from safeside.releases import wording
from safeside.releases.release import load_release
from safeside.releases.signing import load_private, load_public
from safeside.releases.staging import Staging
from safeside.releases.withdraw import REASONS, notice_sentences, read_notice, withdraw
from safeside.words import Words

LATER = datetime(2030, 1, 1, tzinfo=UTC)


def test_superseding_is_whole_fresh_and_charged(world: World) -> None:
    first = world.publish("counts")
    again = world.publish(
        "counts", supersedes=world.out, scheduled=True, out=world.home / "releases" / "second"
    )
    assert again.manifest["supersedes"] == first.id
    assert again.digest != first.digest
    assert remaining(world) == CAP - 2
    assert "supersedes the release" in (again.directory / "statement.txt").read_text()
    with pytest.raises(BadQuestion, match="other places or another time"):
        world.publish(
            "counts",
            when="2021-06-03T12:30:00+00:00",
            supersedes=world.out,
            scheduled=True,
            out=world.home / "releases" / "x",
        )
    with pytest.raises(LedgerMissing):
        world.publish("counts", supersedes="nothing", scheduled=True, out=world.home / "releases" / "x")
    with open_ledger(world.home / "ledger.db") as ledger:
        withdraw(world.out, reason="software-fault", ledger=ledger, key=load_private(world.home / "key"))
    with pytest.raises(LedgerMissing):
        world.publish("counts", supersedes=first.id, scheduled=True, out=world.home / "releases" / "x")
    assert remaining(world) == CAP - 2


def test_a_release_that_was_altered_is_not_withdrawn_in_the_name_of_another(world: World) -> None:
    world.publish("counts")
    path = world.out / "release.json"
    path.write_text(path.read_text().replace('"at_most":2', '"at_most":3'))
    with open_ledger(world.home / "ledger.db") as ledger, pytest.raises(BadRelease, match="committed to"):
        withdraw(world.out, reason="software-fault", ledger=ledger, key=load_private(world.home / "key"))
    assert path.exists()


def test_a_withdrawal_that_was_cut_off_between_its_two_renames_goes_on(world: World) -> None:
    """The release stands beside under its hidden name, the notice too, and the directory is not there."""
    world.publish("counts")
    whole = world.home / "whole"
    shutil.copytree(world.out, whole)
    key = load_private(world.home / "key")
    with open_ledger(world.home / "ledger.db") as ledger:
        withdraw(world.out, reason="software-fault", ledger=ledger, key=key)
        staging = Staging(out=world.out, request=f"withdraw {world.out.resolve()}")
        world.out.rename(staging.beside("notice"))
        whole.rename(staging.beside("old"))
        assert withdraw(world.out, reason="software-fault", ledger=ledger, key=key) == world.out
    read_notice(world.out, [key.public])
    assert not staging.beside("notice").exists()
    assert not staging.beside("old").exists()


@pytest.mark.parametrize("reason", REASONS)
def test_the_public_notice_reads_the_same_for_every_reason_and_the_ledger_keeps_it(
    world: World, reason: str
) -> None:
    release = world.publish("counts", request_id="mine")
    with open_ledger(world.home / "ledger.db") as ledger:
        withdraw(world.out, reason=reason, ledger=ledger, key=load_private(world.home / "key"), now=LATER)
        (kept,) = [one.action for one in ledger.history() if one.action.kind == "withdraw"]
        status = ledger.show("city")
    assert kept.reason == reason
    assert (status.releases, status.withdrawn, status.unfinished) == (0, 1, 0)
    public = b"".join(path.read_bytes() for path in sorted(world.out.iterdir()))
    assert reason.encode() not in public
    said = notice_sentences(release.id, Words())
    page = (world.out / "map.html").read_text()
    assert page == (world.out / "report.html").read_text()
    for sentence in said:
        assert sentence in page
        assert sentence in " ".join((world.out / "statement.txt").read_text().split())
    # Two notices differ in what the releases are called, and in nothing else.
    assert set(json.loads((world.out / "withdrawn.json").read_text())) == {
        "schema",
        "release",
        "manifest",
        "withdrawn",
        "ledger",
        "software",
        "files",
    }


def test_a_notice_whose_pages_were_altered_is_refused(world: World) -> None:
    world.publish("counts")
    with open_ledger(world.home / "ledger.db") as ledger:
        withdraw(world.out, reason="wrong-file", ledger=ledger, key=load_private(world.home / "key"))
    (world.out / "map.html").write_text("because somebody was there")
    with pytest.raises(BadRelease, match=r"map.html is not the notice that was signed"):
        read_notice(world.out, load_public(world.home / "key.pub"))


def test_withdrawing_takes_back_everything_and_stays_charged(world: World) -> None:
    release = world.publish("counts")
    key = load_private(world.home / "key")
    with open_ledger(world.home / "ledger.db") as ledger:
        for _ in range(2):
            withdraw(world.out, reason="software-fault", ledger=ledger, key=key)
        assert ledger.reservation(release.id).stage == "withdrawn"
    assert {path.name for path in world.out.iterdir()} == {
        "withdrawn.json",
        "map.html",
        "report.html",
        "statement.txt",
        "signature.json",
    }
    notice = read_notice(world.out, load_public(world.home / "key.pub"))
    assert notice.release == release.id
    assert remaining(world) == CAP - 1
    with pytest.raises(BadRelease, match=r'The release in ".+" was withdrawn') as caught:
        load_release(world.out)
    assert caught.value.do == "Use a later release, if there is one."
    with pytest.raises(CannotWrite):
        world.publish("counts")
    assert [path.name for path in world.out.parent.iterdir()] == ["noon"]


def test_a_notice_that_somebody_put_there_is_not_taken_for_a_withdrawal(world: World) -> None:
    release = world.publish("counts")
    other = world.publish("counts", at_most=3, out=world.home / "releases" / "other")
    key, aside = load_private(world.home / "key"), world.home / "aside"
    world.out.rename(aside)
    world.out.mkdir()
    (world.out / "withdrawn.json").write_text("{}")
    with open_ledger(world.home / "ledger.db") as ledger:
        with pytest.raises(BadSignature):
            withdraw(world.out, reason="wrong-file", ledger=ledger, key=key)
        assert ledger.reservation(release.id).stage == "committed"
    with create_ledger(world.home / "elsewhere.db") as empty:
        with open_ledger(world.home / "ledger.db") as ledger:
            withdraw(other.directory, reason="wrong-file", ledger=ledger, key=key)
        with pytest.raises(LedgerForked, match="was not withdrawn in"):
            withdraw(other.directory, reason="wrong-file", ledger=empty, key=key)


def test_superseding_is_refused_unless_its_schedule_is_declared(world: World) -> None:
    first = world.publish("counts")
    second = world.home / "releases" / "second"
    with pytest.raises(BadQuestion, match="nobody declared") as caught:
        world.publish("counts", supersedes=world.out, out=second)
    assert "`scheduled=True`" in caught.value.do
    assert remaining(world) == CAP - 1
    said = wording.making(world.publish("counts", supersedes=world.out, scheduled=True, out=second).record)
    assert any(f"supersedes the release {first.id}" in one and "publisher declared" in one for one in said)


def test_what_a_release_says_of_itself_is_about_itself_alone(world: World) -> None:
    made = world.publish("counts")
    assert made.manifest["guarantee"]["sentence"].startswith("This release by itself is at most 2.7183 ")
    assert "Whatever is published" not in (world.out / "statement.txt").read_text()
