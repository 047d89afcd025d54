"""Publishing from visits: what is paid, what is refused, what never appears."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from tests.faults.publishing import CAP, PLACES, World, killed_at
from tests.releases.making import states_of
from tests.releases.worlds import nothing_published, remaining, truth

from safeside.errors import (
    BadRelease,
    CannotWrite,
    LedgerMissing,
    OverBudget,
    PrivacyError,
    RequestConflict,
    SimulationOnly,
)
from safeside.ledger import open_ledger
from safeside.noise.entropy import simulated_entropy
from safeside.releases import publish_steps
from safeside.releases.publish import prepare
from safeside.releases.verify import verify


def test_a_release_is_true_signed_and_paid(world: World) -> None:
    release = world.publish("counts")
    assert verify(world.out, world.home / "key.pub").digest == release.digest
    assert remaining(world) == CAP - 1
    for place, name, upper in zip(
        release.answers.places, states_of(release.answers), release.answers.upper, strict=True
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
        covers="2021-06-03",
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
    killed_at(world, "counts", publish_steps.SEALED)
    (sealed,) = world.sealed()
    assert sealed.stat().st_mode & 0o777 == 0o600
    killed_at(world, "counts", publish_steps.PLACED)
    (appearing,) = world.out.parent.glob(".noon.*.appearing")
    assert appearing.stat().st_mode & 0o777 == 0o700
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
        world.publish("counts", request_id="monday", at_most=3)
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


def test_a_person_day_is_charged_for_every_day_the_window_and_the_holding_time_touch(world: World) -> None:
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.create_dataset("days", "person-day", 1, timezone="UTC", max_places_per_person=2)
    release = world.publish(
        "counts",
        dataset="days",
        when="2021-06-02T23:00:00+00:00/2021-06-03T13:00:00+00:00",
    )
    assert release.manifest["ledger"]["cost"]["periods"] == ["2021-06-02", "2021-06-03"]
    assert "one day at a time" in (world.out / "statement.txt").read_text()


def test_time_for_which_a_sighting_is_held_is_charged_too(world: World) -> None:
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.create_dataset("days", "person-day", 1, timezone="UTC", max_places_per_person=1)
    seen = datetime(2021, 6, 2, 23, 50, tzinfo=UTC)
    pl.DataFrame({"person": ["n"], "place": ["p00"], "time": [seen]}).write_parquet(
        world.home / "visits.parquet"
    )
    release = world.publish(
        "counts", dataset="days", when="2021-06-03T00:20:00+00:00/PT1H", hold="1h", max_places_per_person=1
    )
    assert release.manifest["ledger"]["cost"]["periods"] == ["2021-06-02", "2021-06-03"]


def test_the_moment_it_speaks_from_is_the_reservation_or_declared(world: World) -> None:
    release = world.publish("counts")
    with open_ledger(world.home / "ledger.db") as ledger:
        (paid,) = ledger.reservations("city")
    assert datetime.fromisoformat(release.manifest["known_on"]) == paid.time.replace(microsecond=0)
    declared = datetime(2021, 6, 9, 8, tzinfo=UTC)
    other = world.publish("counts", known_on=declared, again=True, out=world.home / "releases" / "second")
    assert other.manifest["known_on"] == "2021-06-09T08:00:00+00:00"


def test_a_release_names_earlier_ones_by_number_and_digest_and_not_what_came_to_nothing(
    world: World,
) -> None:
    """That a question was paid for and never answered is nobody else's business."""
    killed_at(world, "sparse", publish_steps.RESERVED)
    first = world.publish("counts", out=world.home / "releases" / "first")
    assert first.manifest["guarantee"]["earlier"] == {"number": 0, "digest": "0" * 64}
    second = world.publish("sparse")
    digest = hashlib.sha256(("0" * 64 + first.manifest["ledger"]["reference"]).encode()).hexdigest()
    assert second.manifest["guarantee"]["earlier"] == {"number": 1, "digest": digest}
    assert f"1 earlier one from this dataset, which release.json names by the digest {digest[:16]}" in (
        second.directory / "statement.txt"
    ).read_text().replace("\n", " ")


def test_the_digest_of_earlier_releases_is_computed_from_the_history_of_the_ledger(world: World) -> None:
    for number in range(3):
        when = f"2021-06-03T12:{number:02}:00+00:00"
        last = world.publish("counts", when=when, out=world.home / "releases" / str(number))
    references, digest, number = {}, "0" * 64, 0
    with open_ledger(world.home / "ledger.db") as ledger:
        history = [one.to_json() for one in ledger.history()]
    for event in history:
        action = event["action"]
        if action["kind"] == "reserve":
            references[event["digest"]] = action["reference"]
        if action["kind"] == "commit" and references[action["reservation"]] != last.charged().reference:
            digest = hashlib.sha256((digest + references[action["reservation"]]).encode()).hexdigest()
            number += 1
    assert last.manifest["guarantee"]["earlier"] == {"number": 2, "digest": digest}


def test_a_release_of_a_long_history_is_no_larger_than_the_first(world: World) -> None:
    sizes = []
    for number in range(9):
        out, when = world.home / "releases" / str(number), f"2021-06-03T12:{number:02}:00+00:00"
        release = world.publish("counts", epsilon="1/10", when=when, out=out)
        sizes.append(len((release.directory / "release.json").read_bytes()))
    assert max(sizes) - min(sizes) < 100


def test_a_release_beside_is_known_by_its_digest_and_not_looked_at_further(
    world: World,
) -> None:
    world.publish("counts")
    (world.out / "signature.json").unlink()
    with prepare(
        world.home / "visits.parquet",
        places=world.home / "places.csv",
        when="2021-06-03T12:30:00+00:00",
        at_most=2,
        epsilon=1,
        dataset="city",
        ledger=world.home / "ledger.db",
        out=world.home / "releases" / "later",
        key=world.home / "key",
    ) as publication:
        assert publication.doubtful == ()


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
    assert "simulated" not in record, "a field at its default is not written"
    assert record["guarantee"]["caps"] == {"epsilon": "3"}


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
    killed_at(world, "counts", publish_steps.PLACED)
    (appearing,) = world.out.parent.glob(".noon.*.appearing")
    later = {"out": world.home / "releases" / "later"}
    with pytest.raises(BadRelease):
        world.publish("sparse", order=f"release:{appearing}", **later)
    world.publish("counts")
    table = world.out / "answers.csv"
    table.write_text(table.read_text().replace("UNCLEAR", "AT_MOST"))
    with pytest.raises(BadRelease, match="not the file that was signed"):
        world.publish("sparse", order=f"release:{world.out}", **later)
    assert remaining(world) == CAP - 1
