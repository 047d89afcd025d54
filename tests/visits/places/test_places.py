"""The public list: read as written, in one order."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from safeside.errors import BadFile, BadQuestion
from safeside.visits import Places, read_places
from safeside.visits.places.places import KNOWN

FULL = (
    "place,latitude,longitude,name,region,popularity,at_most\n"
    "010,35.7,139.7,Bar Tanaka,ward 1,12.5,3\n"
    "009,35.6,139.8,,ward 2,0,0\n"
)


def test_everything_a_list_can_say(tmp_path: Path) -> None:
    path = tmp_path / "places.csv"
    path.write_text(FULL)
    places = read_places(path)
    assert places.ids == ("009", "010")
    assert places.latitude is not None
    assert places.latitude.tolist() == [35.6, 35.7]
    assert places.longitude is not None
    assert places.longitude.tolist() == [139.8, 139.7]
    assert places.name == ("", "Bar Tanaka")
    assert places.region == ("ward 2", "ward 1")
    assert places.popularity is not None
    assert places.popularity.tolist() == [0, 12.5]
    assert places.at_most is not None
    assert places.at_most.tolist() == [0, 3]
    assert len(places) == 2


def test_columns_become_arrays_once(tmp_path: Path) -> None:
    """Whoever goes through the places one by one does not pay for all of them each time."""
    path = tmp_path / "places.csv"
    path.write_text(FULL)
    places = read_places(path)
    for column in ("latitude", "longitude", "popularity"):
        assert getattr(places, column) is getattr(places, column)


def test_what_is_not_said_is_none(tmp_path: Path) -> None:
    path = tmp_path / "places.csv"
    path.write_text("place\nb\na")
    places = read_places(path)
    assert places.ids == ("a", "b")
    assert all(getattr(places, role) is None for role in KNOWN if role != "place")


def test_from_anything() -> None:
    frame = pl.DataFrame({"place": ["b", "a", "é", "Z"], "popularity": [1, 2, 3, 4]})
    expected = ("Z", "a", "b", "é")
    for source in (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow()):
        places = read_places(source)
        assert places.ids == expected
        assert places.popularity is not None
        assert places.popularity.tolist() == [4, 2, 1, 3]
    assert read_places(["b", "a"]).ids == ("a", "b")
    assert read_places(pd.DataFrame({"place": [10, 9]})).ids == ("10", "9")
    assert read_places(pa.table({"venue": ["x"]}), columns={"place": "venue"}).ids == ("x",)


def test_a_column_called_like_one_role_may_play_another() -> None:
    frame = pl.DataFrame(
        {"id": ["2", "1"], "place": ["Bar", "Inn"], "kind": ["bar", "inn"], "region": [7, 5]}
    )
    roles = {"place": "id", "name": "place", "region": "kind", "at_most": "region"}
    places = read_places(frame, columns=roles)
    assert (places.ids, places.name, places.region) == (("1", "2"), ("Inn", "Bar"), ("inn", "bar"))
    assert places.at_most is not None
    assert places.at_most.tolist() == [5, 7]


def test_numbers_may_be_text_that_is_kept_as_categories() -> None:
    frame = pl.DataFrame({"place": ["b", "a"], "at_most": ["7", " 5"]})
    for source in (frame, frame.with_columns(pl.col("at_most").cast(pl.Categorical))):
        places = read_places(source)
        assert places.at_most is not None
        assert places.at_most.tolist() == [5, 7]


def test_other_separators(tmp_path: Path) -> None:
    path = tmp_path / "places.csv"
    path.write_text("place;name\na;A, the bar\n")
    assert read_places(path, separator=";").name == ("A, the bar",)
    with pytest.raises(BadFile, match="has one column when split at ,"):
        read_places(path, separator=",")


@pytest.mark.parametrize(
    ("mark", "name"), [(",", "A; the bar"), (";", "A, the bar"), ("\t", "A"), ("|", "A")]
)
def test_the_separator_of_a_list_is_seen(tmp_path: Path, mark: str, name: str) -> None:
    """A list of places is public and small: nobody has to declare how it is written."""
    path = tmp_path / "places.csv"
    path.write_text(f"place{mark}name\na{mark}{name}\n")
    assert read_places(path).name == (name,)


def test_a_first_line_that_leaves_doubt_is_split_at_commas(tmp_path: Path) -> None:
    path = tmp_path / "places.csv"
    path.write_text("place;note|a\nx;1|2\n")
    with pytest.raises(BadFile, match="has one column when split at ,"):
        read_places(path)


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ({"place": ["a", None]}, "place is missing"),
        ({"place": ["a", "  "]}, "place is missing"),
        ({"place": ["a", " b"]}, "has blanks around it"),
        ({"place": ["a", "b", "a"]}, "is there twice"),
        ({"place": ["a"], "latitude": [91.0], "longitude": [0.0]}, "latitude of 'a' is not between"),
        ({"place": ["a"], "latitude": [1.0], "longitude": [181.0]}, "longitude of 'a' is not between"),
        ({"place": ["a", "b"], "latitude": [1.0, None], "longitude": [1.0, 1.0]}, "latitude of 'b'"),
        ({"place": ["a"], "latitude": [float("nan")], "longitude": [1.0]}, "latitude of 'a'"),
        ({"place": ["a"], "popularity": ["many"]}, "popularity of 'a' is not a number"),
        ({"place": ["a"], "popularity": [-1]}, "popularity of 'a' is not a number from 0"),
        ({"place": ["a"], "at_most": [1.5]}, "at_most of 'a' is not a whole number"),
        ({"place": ["a"], "at_most": [-1]}, "at_most of 'a' is not a whole number"),
    ],
)
def test_what_is_wrong_with_a_list(table: dict[str, list[object]], complaint: str) -> None:
    with pytest.raises(BadFile, match=complaint):
        read_places(pl.DataFrame(table))


def test_what_is_no_list(tmp_path: Path) -> None:
    for wrong in ([], pl.DataFrame({"venue": ["a"]}), pl.DataFrame({"place": [1.0]}), 7):
        with pytest.raises(BadQuestion):
            read_places(wrong)
    with pytest.raises(BadQuestion, match="one of latitude and longitude"):
        read_places(pl.DataFrame({"place": ["a"], "latitude": [1.0]}))
    with pytest.raises(BadFile, match="no file"):
        read_places(tmp_path / "nowhere.csv")
    with pytest.raises(BadFile, match="cannot be opened or read"):
        read_places(tmp_path / ("x" * 300))
    with pytest.raises(BadQuestion, match="no role 'popularty'"):
        read_places(pl.DataFrame({"place": ["a"]}), columns={"popularty": "place"})
    with pytest.raises(BadQuestion, match="no column 'venues'"):
        read_places(pl.DataFrame({"venue": ["a"]}), columns={"place": "venues"})
    with pytest.raises(BadQuestion, match="not in order"):
        Places.of(("b", "a"))
