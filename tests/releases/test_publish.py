"""Publishing from visits: what is paid, what is refused, what never appears."""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.faults.publishing import CAP, PLACES, World, killed_at

from safeside.errors import (
    BadFile,
    BadQuestion,
    BadRelease,
    CannotWrite,
    LedgerForked,
    LedgerMissing,
    OverBudget,
    PrivacyError,
    RequestConflict,
    SimulationOnly,
)
from safeside.ledger import open_ledger
from safeside.ledger.witness import STATE_VARIABLE
from safeside.noise.entropy import simulated_entropy
from safeside.releases import publication
from safeside.releases.release import load
from safeside.releases.signing import load_private, load_public
from safeside.releases.staging import Staging
from safeside.releases.verify import verify
from safeside.releases.withdraw import read_notice, withdraw
from safeside.visits import Manifest


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    return World.made(tmp_path)


def remaining(world: World) -> Fraction:
    with open_ledger(world.home / "ledger.db") as ledger:
        return ledger.remaining("city").epsilon


def nothing_published(world: World) -> None:
    """No directory, hidden or not, and nothing on the account."""
    left = list(world.out.parent.iterdir()) if world.out.parent.exists() else []
    assert left == []


def truth() -> dict[str, int]:
    return {f"p{place:02}": place % 5 if place % 3 else 0 for place in range(PLACES)}


def test_a_release_is_true_signed_and_paid(world: World) -> None:
    release = world.publish("counts")
    assert verify(world.out, world.home / "key.pub").digest == release.digest
    assert remaining(world) == CAP - 1
    for place, name, upper in zip(
        release.answers.places, release.answers.names(), release.answers.upper, strict=True
    ):
        assert truth()[place] <= upper
        assert name in ("AT_MOST", "UNCLEAR")
        assert name != "AT_MOST" or truth()[place] <= 2
    with open_ledger(world.home / "ledger.db") as ledger:
        (paid,) = ledger.reservations("city")
        assert paid.manifest == release.digest
        assert paid.fingerprint
        assert ledger.question(paid)["targets"] == list(release.answers.places)
    said = "".join(path.read_text() for path in world.out.iterdir() if path.suffix != ".parquet")
    assert paid.fingerprint not in said


def test_visits_may_be_a_dataframe(world: World) -> None:
    import safeside

    frame = pl.read_parquet(world.home / "visits.parquet")
    release = safeside.publish(
        frame,
        places=[f"p{place:02}" for place in range(PLACES)],
        when="2021-06-03T12:00",
        timezone="UTC",
        at_most=2,
        epsilon=1,
        dataset="city",
        ledger=world.home / "ledger.db",
        out=world.out,
        key=world.home / "key",
    )
    assert "At most 2 known infected visitors" in release.summary()
    assert safeside.verify(release.directory, world.home / "key.pub").id == release.id


def test_the_same_command_again_is_the_same_release_paid_once(world: World) -> None:
    first = world.publish("counts")
    before = {path.name: path.read_bytes() for path in world.out.iterdir()}
    assert world.publish("counts").digest == first.digest
    assert {path.name: path.read_bytes() for path in world.out.iterdir()} == before
    assert remaining(world) == CAP - 1


def test_nobody_else_can_look_into_a_draw_that_is_not_committed(world: World) -> None:
    killed_at(world, "counts", publication.STAGED)
    (staged,) = world.out.parent.glob(".noon.*.staged")
    assert staged.stat().st_mode & 0o777 == 0o700
    world.publish("counts")
    assert world.out.stat().st_mode & 0o777 == 0o755
    assert {path.stat().st_mode & 0o777 for path in world.out.iterdir()} == {0o644}


def test_unused_alarms_come_back(world: World) -> None:
    release = world.publish("sparse")
    alarms = release.manifest["answers"]["UNCLEAR"]
    assert remaining(world) == CAP - Fraction(alarms, 60)
    assert release.manifest["guarantee"]["epsilon"] == "1", "no release is printed as stronger than its price"


def test_the_same_id_with_another_question_is_refused(world: World) -> None:
    world.publish("counts", request_id="monday")
    with pytest.raises(RequestConflict):
        world.publish("counts", request_id="monday", people=500)
    assert remaining(world) == CAP - 1


def test_over_budget_is_refused_exactly_and_nothing_appears(world: World) -> None:
    with pytest.raises(OverBudget) as caught:
        world.publish("counts", epsilon="3.0000001")
    assert caught.value.difference == Fraction(1, 10_000_000)
    nothing_published(world)
    assert remaining(world) == CAP


def test_publishing_never_makes_a_ledger_or_a_dataset(world: World) -> None:
    with pytest.raises(LedgerMissing):
        world.publish("counts", ledger=world.home / "another.db")
    assert not (world.home / "another.db").exists()
    with pytest.raises(LedgerMissing):
        world.publish("counts", dataset="town")


def test_a_seed_and_another_policy_are_refused_before_anything(world: World) -> None:
    with pytest.raises(SimulationOnly):
        world.publish("counts", entropy=simulated_entropy(1))
    with pytest.raises(PrivacyError):
        world.publish("counts", policy="visited")
    nothing_published(world)
    assert remaining(world) == CAP


def test_a_directory_that_is_taken_is_refused_before_anything_is_paid(world: World) -> None:
    world.out.mkdir(parents=True)
    (world.out / "mine.txt").write_text("x")
    with pytest.raises(CannotWrite, match="exists already"):
        world.publish("counts")
    assert remaining(world) == CAP
    assert [path.name for path in world.out.iterdir()] == ["mine.txt"]


def _spoil(world: World, change: Any) -> None:
    path = world.home / "visits.parquet"
    change(pl.read_parquet(path)).write_parquet(path)


BAD = {
    "a place that is not listed": lambda t: t.with_columns(
        place=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("elsewhere 9")).otherwise("place")
    ),
    "somebody at two places at once": lambda t: pl.concat([t, t.head(1).with_columns(place=pl.lit("p39"))]),
    "a stay that ends before it starts": lambda t: t.with_columns(end=pl.col("start") - timedelta(hours=1)),
    "nobody known": lambda t: t.with_columns(person=pl.lit(None, dtype=pl.String)),
    "times without a zone": lambda t: t.with_columns(pl.col("start", "end").dt.replace_time_zone(None)),
    "yesterday's file": lambda t: t.with_columns(pl.col("start", "end") - timedelta(days=1)),
}


@pytest.mark.parametrize("fault", BAD)
def test_bad_input_publishes_nothing_and_is_free_to_repair(world: World, fault: str) -> None:
    good = (world.home / "visits.parquet").read_bytes()
    _spoil(world, BAD[fault])
    with pytest.raises((BadFile, BadQuestion)) as caught:
        world.publish("counts")
    assert "Nothing was published" in caught.value.do
    for _ in range(2):
        nothing_published(world)
        assert remaining(world) == CAP, "bad input costs nothing"
        with open_ledger(world.home / "ledger.db") as ledger:
            assert ledger.history()[-1].what.kind == "refuse"
            assert ledger.reservations("city") == ()
            ledger.verify()
        with pytest.raises((BadFile, BadQuestion), match="nothing was spent"):
            world.publish("counts")
    (world.home / "visits.parquet").write_bytes(good)
    world.publish("counts")
    assert remaining(world) == CAP - 1


def test_where_outsiders_see_the_balance_a_stopped_release_stays_charged(world: World) -> None:
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.create_dataset("seen", "person", CAP, public_balance=True)
    good = (world.home / "visits.parquet").read_bytes()
    _spoil(world, BAD["yesterday's file"])
    with pytest.raises(BadFile, match="once the input is right spends nothing more"):
        world.publish("counts", dataset="seen")
    nothing_published(world)
    with open_ledger(world.home / "ledger.db") as ledger:
        assert ledger.remaining("seen").epsilon == CAP - 1
    (world.home / "visits.parquet").write_bytes(good)
    world.publish("counts", dataset="seen")
    with open_ledger(world.home / "ledger.db") as ledger:
        assert ledger.remaining("seen").epsilon == CAP - 1


def test_an_unknown_place_may_be_excluded_and_then_every_statement_says_so(world: World) -> None:
    _spoil(world, BAD["a place that is not listed"])
    release = world.publish("counts", exclude_unknown_places=True)
    assert "not on the list" in (world.out / "statement.txt").read_text()
    assert any("not on the list" in text for text in release.manifest["question"]["counted"])


def test_nobody_anywhere_must_be_declared_to_be_possible(world: World) -> None:
    _spoil(world, BAD["yesterday's file"])
    release = world.publish("counts", allow_nobody=True)
    assert set(release.answers.names()) <= {"AT_MOST", "UNCLEAR"}


def test_more_people_than_declared_stop_the_release(world: World) -> None:
    with pytest.raises(BadFile):
        world.publish("counts", manifest=Manifest(people=3))
    nothing_published(world)


def test_a_person_day_is_charged_for_every_day_the_window_and_the_holding_time_touch(world: World) -> None:
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.create_dataset("days", "person-day", 1, timezone="UTC")
    release = world.publish(
        "counts",
        dataset="days",
        when="2021-06-02T23:00:00+00:00/2021-06-03T13:00:00+00:00",
        max_places_per_person=2,
    )
    assert release.manifest["ledger"]["cost"]["periods"] == ["2021-06-02", "2021-06-03"]
    assert "one day at a time" in (world.out / "statement.txt").read_text()


def test_time_for_which_a_sighting_is_held_is_charged_too(world: World) -> None:
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.create_dataset("days", "person-day", 1, timezone="UTC")
    seen = datetime(2021, 6, 2, 23, 50, tzinfo=UTC)
    pl.DataFrame({"person": ["n"], "place": ["p00"], "time": [seen]}).write_parquet(
        world.home / "visits.parquet"
    )
    release = world.publish("counts", dataset="days", when="2021-06-03T00:20:00+00:00", hold="1h")
    assert release.manifest["ledger"]["cost"]["periods"] == ["2021-06-02", "2021-06-03"]


@pytest.mark.parametrize("kind", ["counts", "sparse"])
def test_a_person_at_more_places_than_declared_stops_the_release(world: World, kind: str) -> None:
    _spoil(
        world,
        lambda t: pl.concat(
            [
                t,
                *(
                    t.head(1).with_columns(place=pl.lit(f"p{at}"), person=pl.lit("busy"))
                    for at in (20, 21, 22)
                ),
            ]
        ),
    )
    day = "2021-06-03T00:00:00+00:00/P1D"
    with pytest.raises((BadFile, BadQuestion), match="nothing was spent"):
        world.publish(kind, when=day, max_places_per_person=2)
    nothing_published(world)
    assert remaining(world) == CAP
    world.publish(kind, when=day, max_places_per_person=3)


def test_a_forked_ledger_publishes_nothing_until_it_is_mended(world: World) -> None:
    old = (world.home / "ledger.db").read_bytes()
    world.publish("counts")
    (world.home / "ledger.db").write_bytes(old)
    with pytest.raises(LedgerForked):
        world.publish("counts", when="2021-06-03T12:30:00+00:00", out=world.home / "releases" / "later")
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.recover()
    assert remaining(world) == CAP - 1
    world.publish("counts", when="2021-06-03T12:30:00+00:00", out=world.home / "releases" / "later")
    assert remaining(world) == CAP - 2


def test_a_fork_is_seen_by_the_releases_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both witnesses are lost with the ledger; the release on the disk still knows."""
    old = (world.home / "ledger.db").read_bytes()
    world.publish("counts")
    (world.home / "ledger.db").write_bytes(old)
    (world.home / "ledger.db.witness").unlink()
    monkeypatch.setenv(STATE_VARIABLE, str(world.home / "empty"))
    with pytest.raises(LedgerForked):
        world.publish("counts", when="2021-06-03T12:30:00+00:00", out=world.home / "releases" / "later")
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.recover([load(world.out).published()])
    assert remaining(world) == CAP - 1


def test_superseding_is_whole_fresh_and_charged(world: World) -> None:
    first = world.publish("counts")
    again = world.publish("counts", supersedes=world.out, out=world.home / "releases" / "second")
    assert again.manifest["supersedes"] == first.id
    assert again.digest != first.digest
    assert remaining(world) == CAP - 2
    assert "supersedes the release" in (again.directory / "statement.txt").read_text()
    with pytest.raises(BadQuestion, match="other places or another time"):
        world.publish(
            "counts",
            when="2021-06-03T12:30:00+00:00",
            supersedes=world.out,
            out=world.home / "releases" / "x",
        )
    with pytest.raises(LedgerMissing):
        world.publish("counts", supersedes="nothing", out=world.home / "releases" / "x")
    with open_ledger(world.home / "ledger.db") as ledger:
        withdraw(world.out, reason="software-fault", ledger=ledger, key=load_private(world.home / "key"))
    with pytest.raises(LedgerMissing):
        world.publish("counts", supersedes=first.id, out=world.home / "releases" / "x")
    assert remaining(world) == CAP - 2


def test_a_release_that_was_altered_is_not_withdrawn_in_the_name_of_another(world: World) -> None:
    world.publish("counts")
    path = world.out / "release.json"
    path.write_text(path.read_text().replace('"at_most": 2', '"at_most": 3'))
    with open_ledger(world.home / "ledger.db") as ledger, pytest.raises(BadRelease, match="committed to"):
        withdraw(world.out, reason="software-fault", ledger=ledger, key=load_private(world.home / "key"))
    assert path.exists()


def test_withdrawing_takes_back_everything_and_stays_charged(world: World) -> None:
    release = world.publish("counts")
    key = load_private(world.home / "key")
    with open_ledger(world.home / "ledger.db") as ledger:
        for _ in range(2):
            withdraw(world.out, reason="software-fault", ledger=ledger, key=key)
        assert ledger.reservation(release.id).stage == "withdrawn"
    assert {path.name for path in world.out.iterdir()} == {
        "withdrawn.json",
        "statement.txt",
        "signature.json",
    }
    notice = read_notice(world.out, load_public(world.home / "key.pub"))
    assert notice["release"] == release.id
    assert remaining(world) == CAP - 1
    with pytest.raises(BadRelease, match="withdrawn"):
        load(world.out)
    with pytest.raises(CannotWrite):
        world.publish("counts")
    assert [path.name for path in world.out.parent.iterdir()] == ["noon"]


def test_the_moment_it_speaks_from_is_the_reservation_or_declared(world: World) -> None:
    release = world.publish("counts")
    with open_ledger(world.home / "ledger.db") as ledger:
        (paid,) = ledger.reservations("city")
    assert datetime.fromisoformat(release.manifest["known_on"]) == paid.time.replace(microsecond=0)
    declared = datetime(2021, 6, 9, 8, tzinfo=UTC)
    other = world.publish("counts", known_on=declared, out=world.home / "releases" / "second")
    assert other.manifest["known_on"] == "2021-06-09T08:00:00+00:00"


def test_a_release_lists_what_was_published_and_not_what_came_to_nothing(world: World) -> None:
    """That a question was paid for and never answered is nobody else's business."""
    killed_at(world, "sparse", publication.RESERVED)
    release = world.publish("counts", out=world.home / "releases" / "first")
    assert release.manifest["guarantee"]["published"] == ["2021-06-03T12:00:00+00:00: 40 places"]
    world.publish("sparse")
    assert len(load(world.out).manifest["guarantee"]["published"]) == 2


def test_an_order_from_an_earlier_release_asks_its_quiet_places_first(world: World) -> None:
    first = world.publish("counts")
    release = world.publish("sparse", order=f"release:{world.out}", out=world.home / "releases" / "second")
    order = (release.directory / "order.csv").read_text().split()[1:]
    bound = dict(zip(first.answers.places, first.answers.upper.tolist(), strict=True))
    assert [bound[place] for place in order] == sorted(bound.values())
    verify(release.directory, world.home / "key.pub")


def test_release_json_is_plain_json_that_anybody_can_read(world: World) -> None:
    world.publish("counts")
    record = json.loads((world.out / "release.json").read_text())
    assert record["schema"] == "safeside-release/1"
    assert record["simulated"] is False
    assert record["guarantee"]["caps"] == {"epsilon": "3", "delta": "0"}


@pytest.mark.parametrize("step", [publication.DRAWN, publication.WRITTEN])
def test_what_was_drawn_stays_charged_though_the_input_is_bad_the_next_time(world: World, step: str) -> None:
    killed_at(world, "counts", step)
    good = (world.home / "visits.parquet").read_bytes()
    _spoil(world, BAD["yesterday's file"])
    with pytest.raises(BadFile, match="once the input is right spends nothing more"):
        world.publish("counts")
    assert remaining(world) == CAP - 1
    (world.home / "visits.parquet").write_bytes(good)
    world.publish("counts")
    assert remaining(world) == CAP - 1


def test_the_files_of_a_stranger_are_not_signed(world: World, tmp_path: Path) -> None:
    """The hidden name can be guessed; the event that paid for the draw cannot."""
    killed_at(world, "counts", publication.RESERVED)
    with open_ledger(world.home / "ledger.db") as ledger:
        (paid,) = ledger.reservations()
    stranger = World.made(tmp_path / "stranger")
    stranger.publish("counts", request_id=paid.request)
    os.environ[STATE_VARIABLE] = str(world.home / "state")
    staged = Staging(out=world.out, request=paid.request).staged
    shutil.copytree(stranger.out, staged)
    (staged / "signature.json").unlink()
    (staged / ".private.json").write_text('{"alarms": null, "fingerprint": null, "simulated": false}')
    with pytest.raises(LedgerForked, match="not drawn under a reservation"):
        world.publish("counts")
    assert not world.out.exists()
    # Nor is a draw of this ledger that was made for another request.
    shutil.rmtree(staged)
    killed_at(world, "sparse", publication.STAGED)
    (other,) = world.out.parent.glob(".noon.*.staged")
    other.rename(staged)
    with pytest.raises(LedgerForked, match="not drawn under a reservation"):
        world.publish("counts")


def test_a_staged_draw_that_was_altered_after_the_commit_never_appears(world: World) -> None:
    killed_at(world, "counts", publication.COMMITTED)
    (staged,) = world.out.parent.glob(".noon.*.staged")
    path = staged / "release.json"
    path.write_text(path.read_text().replace('"simulated": false', '"simulated": true'))
    with pytest.raises(BadRelease, match="not those the ledger has committed to"):
        world.publish("counts")
    assert not world.out.exists()


def test_a_draw_under_a_reservation_that_was_charged_again_is_finished(world: World) -> None:
    old = (world.home / "ledger.db").read_bytes()
    killed_at(world, "counts", publication.STAGED)
    staged = world.staged()
    # Somebody went on with a copy from before, so that nothing can be put back as it was.
    (world.home / "ledger.db").write_bytes(old)
    lost = (world.home / "ledger.db.witness").read_bytes()
    for path in (world.home / "ledger.db.witness", *(world.home / "state").iterdir()):
        path.unlink()
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.create_dataset("another", "person", 1)
    with (world.home / "ledger.db.witness").open("ab") as file:
        file.write(lost)
    with open_ledger(world.home / "ledger.db") as ledger:
        assert len(ledger.recover().recharged) == 1
    assert world.publish("counts").digest == staged
    assert remaining(world) == CAP - 1


def test_a_release_of_which_the_ledger_forgot_the_commit_is_not_drawn_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_at(world, "counts", publication.COUNTED)
    old = (world.home / "ledger.db").read_bytes()
    first = world.publish("counts")
    (world.home / "ledger.db").write_bytes(old)
    (world.home / "ledger.db.witness").unlink()
    monkeypatch.setenv(STATE_VARIABLE, str(world.home / "empty"))
    with pytest.raises(LedgerForked):
        world.publish("counts")
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.recover([load(world.out).published()])
    assert world.publish("counts").digest == first.digest
    world.out.rename(world.home / "moved")
    with pytest.raises(BadRelease, match="noise is never drawn twice"):
        world.publish("counts")
    assert remaining(world) == CAP - 1


def test_a_release_of_the_same_name_from_elsewhere_is_refused_before_anything_is_paid(
    world: World, tmp_path: Path
) -> None:
    other = World.made(tmp_path / "other")
    other.publish("counts", request_id="mine")
    os.environ[STATE_VARIABLE] = str(world.home / "state")
    shutil.copytree(other.out, world.out)
    with pytest.raises(CannotWrite, match="is not the release asked for"):
        world.publish("counts", request_id="mine")
    assert remaining(world) == CAP


@pytest.mark.parametrize("out", [".", "to a directory", "to nothing", "a/../b", "ünïcode ☃ 'quoted'"])
def test_wherever_a_path_leads_the_release_is_there(
    world: World, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    (world.home / "empty").mkdir()
    monkeypatch.chdir(world.home / "empty")
    Path(world.home / "target").mkdir()
    if out.startswith("to "):
        Path(out).symlink_to(world.home / ("target" if out == "to a directory" else "new"))
    release = world.publish("counts", out=out)
    assert verify(release.directory, world.home / "key.pub").digest == release.digest
    assert world.publish("counts", out=release.directory).digest == release.digest
    assert remaining(world) == CAP - 1


def test_an_order_may_not_come_from_a_release_that_was_altered_or_never_published(world: World) -> None:
    killed_at(world, "counts", publication.STAGED)
    (staged,) = world.out.parent.glob(".noon.*.staged")
    later = {"out": world.home / "releases" / "later"}
    with pytest.raises(BadRelease):
        world.publish("sparse", order=f"release:{staged}", **later)
    world.publish("counts")
    table = world.out / "answers.csv"
    table.write_text(table.read_text().replace("UNCLEAR", "AT_MOST"))
    with pytest.raises(BadRelease, match="not the file that was signed"):
        world.publish("sparse", order=f"release:{world.out}", **later)
    assert remaining(world) == CAP - 1
