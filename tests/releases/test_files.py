"""One file, one budget: the files of a dataset are not published from another that is not linked to it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.faults.publishing import CAP, World
from tests.releases.worlds import BAD, nothing_published, spoil

from safeside.errors import BadFile, LimitBroken
from safeside.ledger import open_ledger
from safeside.releases.publish import publish
from safeside.releases.release import Release
from safeside.visits.read.files import open_files
from safeside.visits.read.fingerprint import Fingerprint


def said(world: World) -> list[str]:
    with open_ledger(world.home / "ledger.db") as ledger:
        return [event.action.kind for event in ledger.history()]


@pytest.fixture
def two(world: World) -> World:
    with open_ledger(world.home / "ledger.db") as ledger:
        ledger.create_dataset("town", "person", CAP)
    return world


def publish_from(world: World, visits: Any, dataset: str, out: str, **more: Any) -> Release:
    return publish(
        visits,
        places=world.home / "places.csv",
        when="2021-06-03T12:00:00+00:00",
        epsilon=1,
        dataset=dataset,
        ledger=world.home / "ledger.db",
        out=world.home / "releases" / out,
        key=world.home / "key",
        **{"at_most": 2, **more},
    )


def test_the_same_file_under_a_second_dataset_is_refused_for_nothing(two: World) -> None:
    file = two.home / "visits.parquet"
    publish_from(two, file, "city", "first")
    renamed = file.rename(two.home / "renamed.parquet")
    with pytest.raises(BadFile, match=r'belongs to "city"[\s\S]+nothing was spent'):
        publish_from(two, renamed, "town", "second")
    assert [path.name for path in (two.home / "releases").iterdir()] == ["first"]
    with open_ledger(two.home / "ledger.db") as ledger:
        assert ledger.remaining("town").epsilon == CAP
        assert not ledger.reservations("town")


def test_datasets_that_are_linked_share_files_and_budget(two: World) -> None:
    file = two.home / "visits.parquet"
    publish_from(two, file, "city", "first")
    with open_ledger(two.home / "ledger.db") as ledger:
        ledger.link("city", "town")
    publish_from(two, file, "town", "second", at_most=3)
    with open_ledger(two.home / "ledger.db") as ledger:
        assert ledger.remaining("town").epsilon == CAP - 2


def parts(world: World) -> list[Path]:
    """The visits in three files."""
    table = pl.read_parquet(world.home / "visits.parquet")
    size = table.height // 3 + 1
    made = []
    for at in range(3):
        made.append(world.home / f"part{at}.parquet")
        table.slice(at * size, size).write_parquet(made[-1])
    return made


def test_sets_of_files_that_overlap_in_part_are_refused(two: World) -> None:
    first, second, third = parts(two)
    publish_from(two, [first, second], "city", "first")
    with pytest.raises(BadFile, match='belongs to "city"'):
        publish_from(two, [second, third], "town", "second")
    publish_from(two, third, "town", "second")
    with pytest.raises(BadFile, match='belongs to "town"'):
        publish_from(two, [first, second, third], "city", "third", at_most=3)


def test_files_without_rows_belong_to_nobody(two: World) -> None:
    """The same empty file may lie beside the files of any dataset."""
    empty = two.home / "empty.csv"
    empty.write_text("person,place,start,end\n")
    one = two.home / "one.csv"
    one.write_text("person,place,start,end\na,p00,2021-06-03T12:00:00Z,2021-06-03T13:00:00Z\n")
    opened = open_files([one, empty], ",", Fingerprint(b"k" * 16), lambda *_: None)
    alone = open_files([one], ",", Fingerprint(b"k" * 16), lambda *_: None)
    assert opened.fingerprints == alone.fingerprints
    assert opened.fingerprint != alone.fingerprint


def test_a_file_is_bound_once_and_before_anything_is_drawn(two: World) -> None:
    file = two.home / "visits.parquet"
    publish_from(two, file, "city", "first")
    publish_from(two, file, "city", "second", at_most=3)
    kinds = said(two)
    assert kinds.count("read") == 1
    assert kinds.index("reserve") < kinds.index("read") < kinds.index("commit")


def test_a_file_that_stopped_at_a_limit_cannot_be_tried_under_another_dataset(two: World) -> None:
    spoil(two, BAD["somebody at two places at once"])
    with pytest.raises(LimitBroken):
        two.publish("counts")
    with pytest.raises(BadFile, match='belongs to "city"'):
        two.publish("sparse", dataset="town")
    nothing_published(two)


def test_a_file_with_wrong_rows_is_bound_to_nothing(two: World) -> None:
    spoil(two, BAD["nobody known"])
    with pytest.raises(BadFile):
        two.publish("counts")
    assert "read" not in said(two)


def test_a_dataframe_has_no_file_and_is_not_compared(two: World) -> None:
    """What is known of it is its counts, and those may agree by chance; docs/known-limits.md says so."""
    table = pl.read_parquet(two.home / "visits.parquet")
    publish_from(two, table, "city", "first", covers="2021-06-03T00:00Z/2021-06-04T00:00Z")
    shifted = table.with_columns(pl.col("start", "end") + timedelta(minutes=1))
    publish_from(two, shifted, "town", "second", covers="2021-06-03T00:00Z/2021-06-04T00:00Z")
    assert "read" not in said(two)
