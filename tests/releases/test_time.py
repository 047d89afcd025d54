"""An answer is about a time that has come: of one that is not over it is given only as "so far"."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.faults.publishing import CAP, World
from tests.releases.making import simulated

from safeside.errors import BadFile, BadQuestion
from safeside.ledger import open_ledger
from safeside.ledger.witness import STATE_VARIABLE
from safeside.releases import publication, publish_steps
from safeside.releases.publish import prepare
from safeside.releases.verify import verify

NOON = "2021-06-03T12:00:00+00:00"
DAY = "2021-06-03T00:00:00+00:00/P1D"
AFTERNOON = datetime(2021, 6, 3, 15, tzinfo=UTC)
MIDNIGHT = datetime(2021, 6, 4, tzinfo=UTC)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    return World.made(tmp_path, max_places_per_person=1)


def untouched(world: World) -> None:
    with open_ledger(world.home / "ledger.db") as ledger:
        assert ledger.remaining("city").epsilon == CAP
        assert [event.action.kind for event in ledger.history()] == ["ledger", "dataset"]
    assert not world.out.exists()


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        ({"when": NOON, "known_on": datetime(2021, 6, 3, 11, 59, 59, tzinfo=UTC)}, "had not come"),
        ({"when": DAY, "known_on": AFTERNOON - timedelta(days=1)}, "had not come"),
        ({"when": DAY, "known_on": AFTERNOON - timedelta(days=1), "so_far": True}, "had not come"),
        ({"when": DAY, "known_on": AFTERNOON}, "was not over"),
        ({"when": DAY, "known_on": MIDNIGHT - timedelta(microseconds=1)}, "was not over"),
        ({"when": DAY, "known_on": MIDNIGHT, "so_far": True}, "so `so_far=True` would not be true"),
        ({"when": DAY, "so_far": True}, "so `so_far=True` would not be true"),
        ({"when": NOON, "so_far": True}, "there is no `so_far=True` of it"),
        ({"when": (datetime.now(UTC) + timedelta(hours=1)).isoformat()}, "had not come"),
        ({"when": (datetime.now(UTC) + timedelta(days=9)).isoformat() + "/P1D", "so_far": True}, "not come"),
        ({"when": (datetime.now(UTC) - timedelta(hours=1)).isoformat() + "/P2D"}, "was not over"),
    ],
)
def test_a_time_that_is_not_over_is_refused_before_anything_is_paid(
    world: World, asked: dict[str, Any], what: str
) -> None:
    with pytest.raises(BadQuestion, match=what):
        world.publish("counts", **{"max_places_per_person": 1, **asked})
    untouched(world)


@pytest.mark.parametrize(
    "asked",
    [
        {"when": NOON, "known_on": datetime(2021, 6, 3, 12, tzinfo=UTC)},
        {"when": DAY, "known_on": MIDNIGHT},
        {"when": DAY},
        {"when": (datetime.now(UTC) - timedelta(seconds=5)).isoformat(), "allow_nobody": True},
    ],
)
def test_a_time_that_is_just_over_can_be_asked_about(world: World, asked: dict[str, Any]) -> None:
    release = world.publish("counts", **{"max_places_per_person": 1, **asked})
    assert release.record.question.so_far is False
    verify(world.out, world.home / "key.pub")


def test_of_a_day_that_is_not_over_the_part_that_has_passed_must_be_covered(world: World) -> None:
    asked = {"when": DAY, "known_on": AFTERNOON, "so_far": True, "max_places_per_person": 1}
    early = AFTERNOON - timedelta(minutes=1)
    with pytest.raises(BadFile, match="declared to cover less") as caught:
        world.publish("counts", **asked, covers=f"2021-06-03T00:00Z/{early.isoformat()}")
    assert "`known_on=`" in caught.value.do
    world.publish("counts", **asked, covers=f"2021-06-03T00:00Z/{AFTERNOON.isoformat()}")


def test_what_is_said_of_a_day_that_is_not_over_says_so_everywhere(world: World) -> None:
    release = world.publish("counts", when=DAY, known_on=AFTERNOON, so_far=True, max_places_per_person=1)
    assert release.record.question.so_far is True
    assert "the whole day (UTC), so far" in release.summary()
    for name in ("statement.txt", "map.html", "report.html"):
        text = " ".join((world.out / name).read_text().split())
        assert "so far" in text, name
        assert "was not over at that moment" in text, name
    assert "so far" in (world.out / "answers.geojson").read_text()
    verify(world.out, world.home / "key.pub")
    with open_ledger(world.home / "ledger.db") as ledger:
        (paid,) = ledger.reservations("city")
        assert ledger.question(paid)["question"]["so_far"] is True


def test_what_was_begun_before_the_end_is_finished_after_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A retry speaks from the moment at which it was paid for, so it stays the same request."""
    start = datetime.now(UTC) - timedelta(hours=1)
    end = datetime.now(UTC) + timedelta(hours=1)
    asked = {"when": f"{start.isoformat()}/{end.isoformat()}", "so_far": True, "max_places_per_person": 1}

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # noqa: ARG003
            return end + timedelta(days=1)

    def stop(name: str) -> None:
        if name == publish_steps.SEALED:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("safeside.ledger.steps.reached", stop)
        with pytest.raises(KeyboardInterrupt):
            world.publish("counts", allow_nobody=True, **asked)
    monkeypatch.setattr(publication, "datetime", Later)
    release = world.publish("counts", allow_nobody=True, **asked)
    assert release.record.question.so_far is True
    verify(world.out, world.home / "key.pub")


def test_a_day_that_ends_while_somebody_thinks_it_over_is_not_called_so_far(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the price and the answer to "Publish?" the day may end."""
    end = datetime.now(UTC) + timedelta(hours=1)
    when = f"{(end - timedelta(hours=2)).isoformat()}/{end.isoformat()}"

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # noqa: ARG003
            return end

    with prepare(
        world.home / "visits.parquet",
        places=world.home / "places.csv",
        when=when,
        epsilon=1,
        at_most=2,
        so_far=True,
        max_places_per_person=1,
        dataset="city",
        ledger=world.home / "ledger.db",
        out=world.out,
        key=world.home / "key",
    ) as ready:
        monkeypatch.setattr(publication, "datetime", Later)
        with pytest.raises(BadQuestion, match="so `so_far=True` would not be true"):
            ready.run()
    untouched(world)


def test_a_simulation_may_be_about_any_time(tmp_path: Path) -> None:
    release = simulated(
        tmp_path / "out", [0, 1], {"epsilon": 1, "at_most": 2}, when="2199-01-01T18:00:00+00:00"
    )
    assert release.record.question.so_far is False
