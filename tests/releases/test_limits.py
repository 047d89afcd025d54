"""Limits are fixed with the dataset; what stops because of one stays stopped: nothing is found by trial."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest
from tests.faults.publishing import CAP, World
from tests.releases.making import states_of
from tests.releases.worlds import BAD, LIMITS, nothing_published, remaining, spoil

from safeside.errors import BadFile, BadQuestion, LedgerError, LimitBroken
from safeside.ledger import Ledger, open_ledger, steps
from safeside.releases import publish_steps
from safeside.visits import StayRule, VisitFormat

NOON = "2021-06-03T12:00:00+00:00"
DAY = "2021-06-03T00:00:00+00:00/P1D"
NEXT_DAY = "2021-06-04T00:00:00+00:00/P1D"


def opened(world: World) -> Ledger:
    return open_ledger(world.home / "ledger.db")


def visiting(places: int) -> Any:
    """Somebody is at so many places, one after the other."""

    def change(table: pl.DataFrame) -> pl.DataFrame:
        busy = [
            table.head(1).with_columns(
                place=pl.lit(f"p{20 + at}"),
                person=pl.lit("busy"),
                start=pl.lit(datetime(2021, 6, 3, 1 + at, tzinfo=UTC)),
                end=pl.lit(datetime(2021, 6, 3, 2 + at, tzinfo=UTC)),
            )
            for at in range(places)
        ]
        return pl.concat([table, *busy])

    return change


@pytest.fixture
def limited(world: World) -> World:
    with opened(world) as ledger:
        ledger.create_dataset("three", "person", CAP, max_places_per_person=3)
        ledger.create_dataset("few", "person", CAP, people=20)
        ledger.create_dataset("other", "person", CAP)
    return world


@pytest.mark.parametrize("limit", [1, 2, 4, 5, 6])
@pytest.mark.parametrize("dataset", ["three", "city"])
def test_no_limit_can_be_tried_that_the_dataset_was_not_made_with(
    limited: World, dataset: str, limit: int
) -> None:
    spoil(limited, visiting(6))
    with pytest.raises(BadQuestion, match="was made with"):
        limited.publish("counts", when=DAY, dataset=dataset, max_places_per_person=limit)
    with opened(limited) as ledger:
        assert not ledger.reservations(), "it is refused before the data are read"


@pytest.mark.parametrize(("dataset", "people"), [("few", 21), ("city", 20)])
def test_no_number_of_people_can_be_tried_either(limited: World, dataset: str, people: int) -> None:
    with pytest.raises(BadQuestion, match="was made with"):
        limited.publish("counts", dataset=dataset, people=people)
    with opened(limited) as ledger:
        assert not ledger.reservations()


def test_the_limit_of_the_dataset_is_used_where_one_is_needed(limited: World) -> None:
    with opened(limited) as ledger:
        ledger.link("three", "few")
    release = limited.publish("counts", when=DAY, dataset="three")
    assert release.record.question.max_places_per_person == 3
    second = limited.publish("counts", dataset="few", out=limited.home / "releases" / "second")
    assert second.record.question.people == 20


def test_an_instant_and_sparse_answers_need_none(limited: World) -> None:
    spoil(limited, visiting(6))
    instant = limited.publish("counts", dataset="three")
    assert instant.record.question.max_places_per_person == 1
    sparse = limited.publish("sparse", dataset="three", out=limited.home / "releases" / "second")
    assert sparse.record.question.max_places_per_person is None


def broken(limited: World) -> str:
    """A question about a day that stops at the dataset's limit; its request."""
    spoil(limited, visiting(6))
    with pytest.raises(LimitBroken) as caught:
        limited.publish("counts", when=DAY, dataset="three", request_id="monday")
    said = str(caught.value)
    assert "more places than the declared 3" in said
    assert "6" not in said, "by how much is not said"
    return "monday"


def test_what_stops_at_a_limit_stays_charged_and_its_time_closed(limited: World) -> None:
    broken(limited)
    nothing_published(limited)
    with opened(limited) as ledger:
        assert ledger.remaining("three").epsilon == CAP - 1
        assert ledger.history()[-1].action.kind == "stop"
        ledger.verify()
    others: list[dict[str, Any]] = [
        {"when": DAY},
        {"when": DAY, "epsilon": "0.5"},
        {"when": DAY, "max_alarms": 1, "order": "random"},
        {"when": DAY, "guarantee": "dp", "delta": "1e-3", "at_most": 9},
        {"when": NOON},
        {"when": "2021-06-03T01:00:00+00:00/PT1H"},
        {"when": "2021-06-01T00:00:00+00:00/P1W"},
        {"when": "2021-06-03T23:59:59.999999+00:00"},
        {"when": "2021-06-04T00:10:00+00:00", "hold": "15min"},
        {
            "when": "2021-06-04T00:10:00+00:00",
            "visit_format": VisitFormat(radius=9, stay_rule=StayRule(minutes=10, longest_gap="1h")),
        },
    ]
    for at, other in enumerate(others):
        with pytest.raises(LedgerError, match="stays closed"):
            limited.publish("counts", dataset="three", out=limited.home / f"out{at}", **other)
    with opened(limited) as ledger:
        assert ledger.remaining("three").epsilon == CAP - 1


def test_a_time_that_does_not_meet_it_may_be_asked_about(limited: World) -> None:
    broken(limited)
    later = limited.home / "releases" / "later"
    assert limited.publish("counts", when=NEXT_DAY, dataset="three", out=later, allow_nobody=True)
    midnight = limited.home / "releases" / "midnight"
    asked = {"when": "2021-06-04T00:00:00+00:00", "allow_nobody": True}
    assert limited.publish("counts", dataset="three", out=midnight, **asked)


def test_a_linked_dataset_is_closed_for_that_time_too_and_no_other(limited: World) -> None:
    broken(limited)
    with opened(limited) as ledger:
        ledger.link("three", "other")
    with pytest.raises(LedgerError, match="stays closed"):
        limited.publish("counts", dataset="other")
    with pytest.raises(BadFile, match='belongs to "three"'):
        limited.publish("counts", dataset="city")


def sparse(limited: World) -> Any:
    """A question that no limit can stop, about the day that another one stops at."""
    out = limited.home / "releases" / "sparse"
    asked = {"when": DAY, "dataset": "three", "out": out, "request_id": "sparse"}
    return limited.publish("sparse", **asked)


@pytest.mark.parametrize("step", [publish_steps.RESERVED, publish_steps.SEALED])
def test_a_request_that_was_paid_before_a_stop_does_not_go_on_past_it(
    limited: World, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    good = (limited.home / "visits.parquet").read_bytes()

    def stop_meanwhile(name: str) -> None:
        if name == step:
            monkeypatch.setattr(steps, "reached", lambda _: None)
            broken(limited)
            if step == publish_steps.RESERVED:
                raise KeyboardInterrupt

    monkeypatch.setattr(steps, "reached", stop_meanwhile)
    with pytest.raises((LedgerError, KeyboardInterrupt)):
        sparse(limited)
    for _ in range(2):
        with pytest.raises(LedgerError, match="stays closed"):
            sparse(limited)
    assert not (limited.home / "releases" / "sparse").exists()
    (limited.home / "visits.parquet").write_bytes(good)
    assert limited.publish("counts", when=DAY, dataset="three", request_id="monday")
    assert sparse(limited), "what stopped has been answered: the rest is a matter of what was paid"
    with opened(limited) as ledger:
        ledger.verify()


@pytest.mark.parametrize("columns", [("date",), ("start", "end")])
def test_another_hour_of_a_day_whose_rows_are_dates_is_closed_with_it(
    limited: World, columns: tuple[str, ...]
) -> None:
    path = limited.home / "visits.parquet"
    busy = {"person": ["busy"] * 6, "place": [f"p{20 + at}" for at in range(6)]}
    frame = pl.DataFrame({**busy, **{name: [NOON[:10]] * 6 for name in columns}})
    frame.with_columns(pl.col(*columns).str.to_date()).write_parquet(path)
    dated = {"dataset": "three", "timezone": "UTC"}
    with pytest.raises(LimitBroken):
        limited.publish("counts", when="2021-06-03T10:00/PT1H", **dated)
    for hour in ("2021-06-03T12:00/PT1H", "2021-06-02T23:00/PT2H"):
        with pytest.raises(LedgerError, match="stays closed"):
            limited.publish(
                "sparse", **dated | {"when": hour, "out": limited.home / "second", "epsilon": "0.5"}
            )
    assert not (limited.home / "second").exists()


def test_a_release_that_stands_is_found_again_though_another_about_its_time_stopped(limited: World) -> None:
    release = sparse(limited)
    broken(limited)
    assert sparse(limited).digest == release.digest


def test_rows_that_were_wrong_are_repaired_and_the_same_request_goes_on_for_nothing(limited: World) -> None:
    good = (limited.home / "visits.parquet").read_bytes()
    request = broken(limited)
    (limited.home / "visits.parquet").write_bytes(good)
    with pytest.raises(LedgerError):
        limited.publish("counts", when=DAY, dataset="three", request_id=request, epsilon=2)
    assert limited.publish("counts", when=DAY, dataset="three", request_id=request).id == request
    with opened(limited) as ledger:
        assert ledger.remaining("three").epsilon == CAP - 1
    # What was published is no stop any more: further questions are a matter of budget.
    assert limited.publish("counts", dataset="three", out=limited.home / "releases" / "second")


@pytest.mark.parametrize("fault", LIMITS)
def test_an_instant_closes_in_the_same_way(world: World, fault: str) -> None:
    good = (world.home / "visits.parquet").read_bytes()
    spoil(world, BAD[fault])
    for _ in range(2):
        with pytest.raises(LimitBroken, match="stays reserved for the request"):
            world.publish("counts")
        nothing_published(world)
        assert remaining(world) == CAP - 1
    with pytest.raises(LedgerError, match="stays closed"):
        world.publish("counts", at_most=5)
    (world.home / "visits.parquet").write_bytes(good)
    world.publish("counts")
    assert remaining(world) == CAP - 1


def test_more_people_than_the_dataset_was_made_with_close_it_too(limited: World) -> None:
    spoil(
        limited,
        lambda table: pl.concat(
            [table, *(table.head(1).with_columns(person=pl.lit(f"x{at}")) for at in range(21))]
        ),
    )
    with pytest.raises(LimitBroken, match="larger than 20"):
        limited.publish("counts", dataset="few")
    with pytest.raises(LedgerError, match="stays closed"):
        limited.publish("sparse", dataset="few")


def test_that_nobody_was_there_is_confirmed_under_the_same_request_and_is_not_published(world: World) -> None:
    spoil(world, BAD["yesterday's file"])
    with pytest.raises(LimitBroken, match="`allow_nobody=True`"):
        world.publish("counts")
    release = world.publish("counts", allow_nobody=True)
    assert set(states_of(release.answers)) <= {"AT_MOST", "UNCLEAR"}
    assert remaining(world) == CAP - 1
    assert "nobody" not in (world.out / "release.json").read_text()


def test_a_preview_says_that_a_time_is_closed_before_anybody_is_asked(limited: World) -> None:
    from safeside.releases.publish import prepare

    broken(limited)
    with (
        prepare(
            limited.home / "visits.parquet",
            places=limited.home / "places.csv",
            when=NOON,
            epsilon=1,
            at_most=2,
            dataset="three",
            ledger=limited.home / "ledger.db",
            out=limited.out,
            key=limited.home / "key",
        ) as publication,
        pytest.raises(LedgerError, match="stays closed"),
    ):
        publication.preview(datetime.now(UTC) + timedelta(0))
