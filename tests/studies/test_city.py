"""The synthetic city: calibrated, frozen, possible to live in."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.visits.making import count_visits

from safeside.progress import quiet
from safeside.visits import Window, read_places
from safeside_studies import city
from safeside_studies.city.describe import SIX_PM, measure
from safeside_studies.city.people import BLOCK, DAY
from safeside_studies.movements import read_city

FROZEN_VISITS = "fb566f2fcc7158443aa26642b666838da985d50ba3b19730b9e8ba67c0e0f26d"
FROZEN_PLACES = "2a696d4197a1b54a5e331ab6d7201c70dd54da8e0f36dd65f4a5eb5fd9e44cc5"


@pytest.fixture(scope="module")
def default(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("city")
    city.generate(directory)
    return directory


@pytest.fixture(scope="module")
def visits(default: Path) -> pl.DataFrame:
    return pl.read_parquet(default / "visits.parquet")


def _digest(frame: pl.DataFrame) -> str:
    """Of the decoded content: how a file is packed may change, what it says may not."""
    digest = hashlib.sha256()
    for name in frame.columns:
        column = frame[name]
        values = column.dt.epoch("s").to_list() if column.dtype == pl.Datetime else column.to_list()
        digest.update("\n".join([name, *map(repr, values)]).encode())
    return digest.hexdigest()


def test_default_city_is_frozen(default: Path, visits: pl.DataFrame) -> None:
    assert _digest(visits) == FROZEN_VISITS
    assert _digest(pl.read_csv(default / "places.csv")) == FROZEN_PLACES


def test_calibration_of_the_default_city(default: Path) -> None:
    figures = city.describe(default)
    assert (figures.people, figures.places) == (10_338, 5_835)
    assert abs(figures.fewer_than_three - 5_343) <= 30
    assert abs(figures.expected_beta - 5_031 / 5_343) < 0.004
    assert 9.0 < figures.right_answers < 11.0
    assert 0.35 < figures.ten_or_more < 0.55
    assert round(figures.ten_or_more_asked, 2) == 0.41
    assert figures.places_asked > figures.right_answers + 0.99
    assert figures.by_popularity > 30 * figures.random_order


def test_calibration_does_not_hang_on_the_seed(tmp_path: Path) -> None:
    city.generate(tmp_path, seed=20, days=3)
    figures = measure(read_city(tmp_path))
    assert abs(figures.fewer_than_three - 5_343) <= 50
    assert abs(figures.expected_beta - 5_031 / 5_343) < 0.005
    assert 8.5 < figures.right_answers < 11.5
    assert figures.by_popularity > 25 * figures.random_order


def test_the_documented_figures_are_the_measured_ones(default: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "city.md").read_text(encoding="utf-8")
    for what, ours, paper in city.describe(default).lines():
        assert f"| {what} | {ours} | {paper} |" in page


def test_nobody_is_in_two_places(visits: pl.DataFrame) -> None:
    ordered = visits.sort("person", "start")
    assert (ordered["end"] > ordered["start"]).all()
    gap = ordered.select(pl.col("start") - pl.col("end").shift(1).over("person")).to_series().drop_nulls()
    assert gap.dt.total_minutes().min() > 0


def test_every_visit_is_to_a_listed_place(default: Path, visits: pl.DataFrame) -> None:
    places = pl.read_csv(default / "places.csv")
    assert places.columns == ["place", "name", "latitude", "longitude", "region", "popularity", "kind"]
    assert places["place"].is_unique().all()
    assert places["place"].is_sorted()
    assert visits["place"].is_in(places["place"].to_list()).all()
    assert places["latitude"].is_between(35.4, 35.9).all()
    assert places["longitude"].is_between(139.5, 140.1).all()
    assert (places["popularity"] > 0).all()
    assert places["region"].n_unique() == 24


def test_moments_are_zoned_and_whole_minutes(visits: pl.DataFrame) -> None:
    assert visits.schema["start"] == pl.Datetime("us", "Asia/Tokyo")
    assert visits.schema["end"] == pl.Datetime("us", "Asia/Tokyo")
    assert visits["start"].min().isoformat() >= "2013-12-20T00:00:00+09:00"
    assert visits["start"].max().isoformat() < "2013-12-27T00:00:00+09:00"
    assert (visits["start"].dt.second() == 0).all()


def test_schools_and_offices_rest_on_sunday(default: Path, visits: pl.DataFrame) -> None:
    places = pl.read_csv(default / "places.csv")
    sunday = visits.filter(pl.col("start").dt.date() == pl.date(2013, 12, 22)).join(places, on="place")
    assert set(sunday["kind"]) == {"shop", "grocery", "restaurant", "entertainment"}
    assert set(visits.join(places, on="place")["kind"]) == {kind.name for kind in city.KINDS}


def test_popularity_is_the_truth_within_a_factor_of_two(default: Path, visits: pl.DataFrame) -> None:
    places = pl.read_csv(default / "places.csv")
    counted = visits.group_by("place").len().join(places, on="place").filter(pl.col("len") >= 30)
    ratio = np.log(counted["popularity"].to_numpy()) - np.log(1000 * counted["len"].to_numpy() / 10_338)
    # Poisson noise of the counts adds a little to the error that was put in.
    assert abs(ratio.mean()) < 0.1
    assert 0.62 < ratio.std() < 0.78


def test_popularity_is_heavy_tailed(default: Path) -> None:
    popularity = np.sort(read_city(default).popularity)[::-1]
    assert popularity[:58].sum() > 0.2 * popularity.sum()


def test_counts_agree_with_plain_python(default: Path, visits: pl.DataFrame) -> None:
    moment = pl.lit("2013-12-22T18:00:00+09:00").str.to_datetime(time_zone="Asia/Tokyo")
    here = visits.filter((pl.col("start") <= moment) & (pl.col("end") > moment))
    plain: dict[str, set[str]] = {}
    for person, place in here.select("person", "place").iter_rows():
        plain.setdefault(place, set()).add(person)
    counts = read_city(default).at(SIX_PM)
    ids = pl.read_csv(default / "places.csv")["place"].to_list()
    assert [len(plain.get(place, ())) for place in ids] == counts.tolist()


def test_the_studies_count_as_releases_do(default: Path) -> None:
    """The quick counting of the studies and the checked counting of the product agree on every place."""
    movements, places = read_city(default), read_places(default / "places.csv")
    windows = {
        "2013-12-22T18:00:00+09:00": movements.at(SIX_PM),
        "2013-12-22T00:00:00+09:00/2013-12-23T00:00:00+09:00": movements.day(2),
    }
    for text, counts in windows.items():
        counted = count_visits(default / "visits.parquet", places, Window.parse(text))
        assert counted.values.tolist() == counts.tolist()
        assert counted.findings == ()


def test_a_full_block_does_not_depend_on_the_people_after_it() -> None:
    venues = city.found(60, 3)
    few = city.City(people=BLOCK + 10, days=2, seed=3, venues=venues)
    more = city.City(people=3 * BLOCK, days=2, seed=3, venues=venues)
    assert (few.blocks, more.blocks) == (2, 3)
    assert np.array_equal(few.stays(0).place, more.stays(0).place)
    assert np.array_equal(few.stays(0).start, more.stays(0).start)
    assert set(few.stays(1).person) <= set(range(BLOCK, BLOCK + 10))
    assert not np.array_equal(more.stays(0).place, more.stays(1).place)


def test_homes_fill_the_gaps_and_are_not_listed(tmp_path: Path) -> None:
    city.generate(tmp_path, people=300, places=100, days=3, homes=True)
    frame = pl.read_parquet(tmp_path / "visits.parquet")
    at_home = frame.filter(pl.col("place").str.starts_with("home-"))
    assert (at_home["place"].str.strip_prefix("home-") == at_home["person"].str.strip_prefix("p")).all()
    gap = frame.select(pl.col("start") - pl.col("end").shift(1).over("person")).to_series().drop_nulls()
    assert gap.dt.total_minutes().min() > 0
    assert not set(at_home["place"]) & set(pl.read_csv(tmp_path / "places.csv")["place"])
    away = frame.filter(~pl.col("place").str.starts_with("home-"))
    city.generate(tmp_path / "plain", people=300, places=100, days=3)
    assert away.equals(pl.read_parquet(tmp_path / "plain" / "visits.parquet"))


def test_integer_ids_are_the_same_city(tmp_path: Path) -> None:
    city.generate(tmp_path / "text", people=200, places=80, days=3)
    city.generate(tmp_path / "whole", people=200, places=80, days=3, integer_ids=True)
    text, whole = (read_city(tmp_path / name) for name in ("text", "whole"))
    assert np.array_equal(text.at(SIX_PM), whole.at(SIX_PM))
    assert np.array_equal(text.between(0, 3 * DAY), whole.between(0, 3 * DAY))
    assert pl.read_parquet(tmp_path / "whole" / "visits.parquet").schema["person"] == pl.Int64


def test_progress_is_told_and_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    told: list[float | None] = []

    def listen(done: float | None, what: str) -> None:
        told.append(done)
        assert "people" in what

    city.generate(tmp_path / "one", people=2 * BLOCK, places=60, days=1, progress=listen)
    assert told == [0.0, 0.5]

    def interrupt(done: float | None, what: str) -> None:
        quiet(done, what)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        city.generate(tmp_path / "two", people=10, places=60, days=1, progress=interrupt)
    assert list((tmp_path / "two").iterdir()) == []
