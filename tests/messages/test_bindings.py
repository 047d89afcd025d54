"""Every message about days, limits and files that bind a dataset: what happened, and what to do next."""

from __future__ import annotations

import pytest
from tests.faults.publishing import World
from tests.messages.saying import says
from tests.releases.worlds import BAD, spoil

from safeside.errors import SafesideError
from safeside.ledger import open_ledger


def test_an_instant_at_which_sightings_of_two_days_hold(world: World) -> None:
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.create_dataset("days", "person-day", 1, timezone="UTC")
    with pytest.raises(SafesideError) as caught:
        world.publish("counts", dataset="days", when="2021-06-03T00:02:00+00:00", hold="15min")
    says(
        caught,
        "sightings of the day before still hold: .+ counted where they were the day before",
        "at least the holding time after the day begins, or about an interval, .+ a shorter holding time",
    )


DAY = "2021-06-03T00:00:00+00:00/P1D"


def test_limits_that_the_dataset_was_not_made_with(world: World) -> None:
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.create_dataset("limited", "person", 1, max_places_per_person=3, people=100)
    for more, what, do in [
        (
            {"when": DAY, "max_places_per_person": 2},
            '`max_places_per_person=` is 2, and the dataset "city" was made without `max_places_per_person=`',
            "found by trial.+fixed when the dataset is made.+an instant, or with `max_alarms=`",
        ),
        (
            {"when": DAY, "max_places_per_person": 2, "dataset": "limited"},
            'is 2, and the dataset "limited" was made with `max_places_per_person=3`',
            "Leave `max_places_per_person=` out",
        ),
        (
            {"people": 99, "dataset": "limited"},
            '`people=` is 99, and the dataset "limited" was made with `people=100`',
            "Leave `people=` out.+It only sharpens",
        ),
    ]:
        with pytest.raises(SafesideError) as caught:
            world.publish("counts", **more)
        says(caught, what, do)


def test_a_stop_at_a_limit_and_what_it_closes(world: World) -> None:
    spoil(world, BAD["yesterday's file"])
    with pytest.raises(SafesideError) as caught:
        world.publish("counts", request_id="monday")
    says(
        caught,
        "Nobody in these visits was at any of the places",
        "confirm it with `allow_nobody=True`; that is not published. Nothing was published. The budget stays "
        'reserved for the request "monday".+closed to every other question, value and method: once rows that '
        "were wrong are repaired, running the same command again finishes it and spends nothing more",
    )
    with pytest.raises(SafesideError) as caught:
        world.publish("counts", at_most=3)
    says(
        caught,
        "stopped at a limit of the dataset, and that time stays closed",
        'repair them and run the request "monday" again, unchanged; it is paid for. Any other time can be',
    )


def test_a_file_of_another_dataset_and_names_that_look_alike(world: World) -> None:
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.create_dataset("town", "person", 3)
    world.publish("counts")
    with pytest.raises(SafesideError) as caught:
        world.publish("counts", dataset="town", out=world.home / "second")
    says(
        caught,
        'A file of these visits belongs to "city": from "town" it would be published a second time',
        "Publish it from that dataset; or, .+`ledger.link\\(...\\)`: they then share the smaller budget",
    )
    for name, what, do in [
        (
            "City",
            'The dataset "City" cannot be told from "city", which exists',
            "Use it as it is, or choose",
        ),
        ("сity", "a letter that is not plain ASCII", "the letters a to z, digits, blanks, dots"),
    ]:
        with open_ledger(world.home / "ledger.db") as ledger, pytest.raises(SafesideError) as caught:
            ledger.create_dataset(name, "person", 1)
        says(caught, what, do)


def test_a_question_that_was_answered_before(world: World) -> None:
    world.publish("counts", request_id="monday")
    with pytest.raises(SafesideError) as caught:
        world.publish("counts", out=world.home / "second")
    says(
        caught,
        'The release "monday" .+ answers the same question. Asking again is charged again',
        "Use that one. To supersede it on a schedule, give `supersedes=`; .+ all the same, `again=True`",
    )
