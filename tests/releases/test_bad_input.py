"""Input that cannot be counted for certain: nothing is published, and what is paid can be used again."""

from __future__ import annotations

import polars as pl
import pytest
from tests.faults.publishing import CAP, World, killed_at
from tests.releases.worlds import BAD, LIMITS, nothing_published, remaining, spoil

from safeside.errors import (
    BadFile,
    BadQuestion,
)
from safeside.ledger import open_ledger
from safeside.releases import publish_steps
from safeside.visits import Expected, LeftOut


@pytest.mark.parametrize("fault", [name for name in BAD if name not in LIMITS])
def test_bad_input_publishes_nothing_and_is_free_to_repair(world: World, fault: str) -> None:
    good = (world.home / "visits.parquet").read_bytes()
    spoil(world, BAD[fault])
    with pytest.raises((BadFile, BadQuestion)) as caught:
        world.publish("counts")
    assert "Nothing was published" in caught.value.do
    for _ in range(2):
        nothing_published(world)
        assert remaining(world) == CAP, "bad input costs nothing"
        with open_ledger(world.home / "ledger.db") as ledger:
            assert ledger.history()[-1].action.kind == "refuse"
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
    spoil(world, BAD["nobody known"])
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
    spoil(world, BAD["a place that is not listed"])
    release = world.publish("counts", exclude_unknown_places=True)
    assert "not on the list" in (world.out / "statement.txt").read_text()
    assert any("not on the list" in text for text in release.record.counted)


def _unlisted(table: pl.DataFrame) -> pl.DataFrame:
    """Every other visit is to a place that is not listed."""
    where = pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.lit("SECRET home")).otherwise("place")
    return table.with_columns(place=where)


def test_much_left_out_publishes_nothing_until_it_was_expected_and_is_published_nowhere(world: World) -> None:
    spoil(world, _unlisted)
    with pytest.raises(BadFile, match="are left out, more than 5 %") as caught:
        world.publish("counts", exclude_unknown_places=True)
    assert "nothing was spent" in caught.value.do
    assert "SECRET" not in str(caught.value)
    nothing_published(world)
    assert remaining(world) == CAP
    shown: list[LeftOut] = []
    release = world.publish(
        "counts",
        exclude_unknown_places=True,
        expected=Expected(unlisted="50.7%"),
        confirm=lambda found: bool(shown.append(found)),
    )
    assert "not on the list are not counted" in (world.out / "statement.txt").read_text()
    assert shown[0].examples == ("SECRET home",)
    share = f"{shown[0].rows} of {shown[0].of_rows}"
    for path in (*release.directory.iterdir(), *world.home.glob("ledger.db*")):
        for private in (b"SECRET", b"50.7", b"507/1000", share.encode()):
            assert private not in path.read_bytes(), path


def test_what_is_left_out_may_be_confirmed_while_it_is_counted(world: World) -> None:
    spoil(world, _unlisted)
    world.publish("counts", exclude_unknown_places=True, confirm=lambda _: True)
    assert remaining(world) == CAP - 1


def test_a_file_that_ends_before_the_window_publishes_nothing_until_somebody_declares_it_whole(
    world: World,
) -> None:
    """And what was declared is published nowhere, not even that it was."""
    (world.home / "covers.toml").unlink()
    with pytest.raises(BadFile, match="Nothing shows that the visits cover") as caught:
        world.publish("sparse")
    assert "nothing was spent" in caught.value.do
    nothing_published(world)
    assert remaining(world) == CAP
    with pytest.raises(BadFile, match="are declared to cover less"):
        world.publish("sparse", covers="2021-06-03T00:00Z/2021-06-03T13:37Z")
    release = world.publish("sparse", covers="2021-06-02T13:37Z/2021-06-04T13:37Z")
    for path in (*release.directory.iterdir(), *world.home.glob("ledger.db*")):
        assert b"13:37" not in path.read_bytes(), path
        assert b"covers" not in path.read_bytes(), path


def test_more_people_than_declared_stop_the_release(world: World) -> None:
    with pytest.raises(BadFile):
        world.publish("counts", expected=Expected(people=3))
    nothing_published(world)


@pytest.mark.parametrize("step", [publish_steps.DRAWN, publish_steps.WRITTEN])
def test_what_was_drawn_stays_charged_though_the_input_is_bad_the_next_time(world: World, step: str) -> None:
    killed_at(world, "counts", step)
    good = (world.home / "visits.parquet").read_bytes()
    spoil(world, BAD["nobody known"])
    with pytest.raises(BadFile, match="once the input is right spends nothing more"):
        world.publish("counts")
    assert remaining(world) == CAP - 1
    (world.home / "visits.parquet").write_bytes(good)
    world.publish("counts")
    assert remaining(world) == CAP - 1
