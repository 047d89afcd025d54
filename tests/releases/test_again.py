"""A question that was answered before is not paid for twice by mistake."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.faults.publishing import CAP, World, killed_at
from tests.releases.worlds import remaining

from safeside.errors import BadQuestion
from safeside.ledger import open_ledger
from safeside.releases import publish_steps
from safeside.releases.preview import Preview
from safeside.releases.publish import prepare
from safeside.releases.signing import load_private
from safeside.releases.withdraw import withdraw


def second(world: World) -> Path:
    return world.home / "releases" / "second"


def previewed(world: World, **more: Any) -> Preview:
    asked = {
        "places": world.home / "places.csv",
        "when": "2021-06-03T12:00:00+00:00",
        "epsilon": 1,
        "at_most": 2,
        "dataset": "city",
        "ledger": world.home / "ledger.db",
        "out": second(world),
        "key": world.home / "key",
        **more,
    }
    with prepare(world.home / "visits.parquet", **asked) as made:
        return made.preview(datetime.now(UTC))


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"request_id": "tuesday"},
        {"known_on": datetime(2021, 6, 9, tzinfo=UTC)},
        {"when": "2021-06-03T21:00:00+09:00"},
        {"when": "2021-06-03T12:00Z", "epsilon": "1.0"},
        {"noun": "guest/guests"},
    ],
)
def test_the_same_question_for_another_directory_is_refused_until_it_is_meant(
    world: World, more: dict[str, Any]
) -> None:
    first = world.publish("counts")
    with pytest.raises(BadQuestion, match=f'release "{first.id}".+answers the same question'):
        world.publish("counts", out=second(world), **more)
    assert remaining(world) == CAP - 1
    world.publish("counts", out=second(world), again=True, **more)
    assert remaining(world) == CAP - 2


def test_the_preview_names_the_release_that_answers_it(world: World) -> None:
    assert previewed(world).answered is None
    first = world.publish("counts")
    said = previewed(world)
    assert said.answered is not None
    assert first.id in said.answered
    assert str(world.out) in said.answered
    assert "Answered before" in said.text()


def test_another_question_is_another_question(world: World) -> None:
    world.publish("counts")
    world.publish("counts", out=second(world), at_most=3)
    world.publish("counts", out=world.home / "third", when="2021-06-03T12:30:00+00:00")
    assert remaining(world) == CAP - 3


def test_a_retry_is_not_asked_about(world: World) -> None:
    killed_at(world, "counts", publish_steps.RESERVED)
    first = world.publish("counts")
    assert world.publish("counts").digest == first.digest
    assert previewed(world, out=world.out).answered is None
    assert remaining(world) == CAP - 1


def test_what_supersedes_is_not_asked_about(world: World) -> None:
    first = world.publish("counts")
    world.publish("counts", out=second(world), supersedes=first.id, scheduled=True)
    assert remaining(world) == CAP - 2


def test_a_request_that_was_paid_and_not_finished_is_named_with_its_directory(world: World) -> None:
    killed_at(world, "counts", publish_steps.RESERVED)
    with pytest.raises(
        BadQuestion, match=r"has paid for the same question.+finishes it and spends nothing more"
    ):
        world.publish("counts", out=second(world))
    assert remaining(world) == CAP - 1


def test_a_withdrawn_release_answers_nothing(world: World) -> None:
    world.publish("counts")
    with open_ledger(world.home / "ledger.db") as ledger:
        withdraw(world.out, reason="software-fault", ledger=ledger, key=load_private(world.home / "key"))
    world.publish("counts", out=second(world))
    assert remaining(world) == CAP - 2


def test_a_linked_dataset_has_answered_it_too(world: World) -> None:
    world.publish("counts")
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.create_dataset("town", "person", CAP)
        ledger.link("city", "town")
    with pytest.raises(BadQuestion, match="answers the same question"):
        world.publish("counts", dataset="town", out=second(world))
