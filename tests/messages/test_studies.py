"""What a user of the synthetic city and the studies reads when something is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from safeside.errors import BadFile, BadNumber, BadQuestion, CannotWrite, MissingExtra
from safeside_studies import city, county
from safeside_studies.figure_style import page, save
from safeside_studies.movements import read_city
from safeside_studies.peopleflow import read_peopleflow
from safeside_studies.reproduce import reproduce


def test_too_few_places(tmp_path: Path) -> None:
    with pytest.raises(BadQuestion) as caught:
        city.generate(tmp_path, places=49)
    assert caught.value.what == "A city of 49 places has not one of every kind."
    assert caught.value.do == "Ask for at least 50 places."


def test_too_large(tmp_path: Path) -> None:
    with pytest.raises(BadQuestion) as caught:
        city.generate(tmp_path, people=1 << 31, places=60)
    assert caught.value.what == "A city has at most two thousand million people and a million places."
    assert caught.value.do == "Ask for fewer."


@pytest.mark.parametrize(
    ("name", "words"),
    [("people", "the number of people"), ("days", "the number of days"), ("places", "the number of places")],
)
def test_none_at_all(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(BadNumber) as caught:
        city.generate(tmp_path, **{name: 0})
    assert caught.value.what == f"{words} is 0."
    assert caught.value.do == f"Give {words} as a whole number of at least 1."


def test_a_city_is_there_already(tmp_path: Path) -> None:
    city.generate(tmp_path, people=10, places=60, days=1)
    with pytest.raises(CannotWrite) as caught:
        city.generate(tmp_path, people=10, places=60, days=1)
    assert caught.value.what == f"{tmp_path / 'visits.parquet'} exists already."
    assert caught.value.do == "Choose another directory, or add `overwrite=True` to replace the city."


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWrite) as caught:
        city.generate(tmp_path / "file" / "city", people=10, places=60, days=1)
    assert caught.value.what.startswith(f"The city cannot be written to {tmp_path / 'file' / 'city'}: ")
    assert caught.value.do == "Choose a directory that can be written and has room."


def test_no_third_day(tmp_path: Path) -> None:
    city.generate(tmp_path, people=200, places=60, days=2)
    with pytest.raises(BadQuestion) as caught:
        city.describe(tmp_path)
    assert caught.value.what == "The figures are those of the third day, and this city has fewer."
    assert caught.value.do == "Generate at least 3 days."


def test_no_city(tmp_path: Path) -> None:
    with pytest.raises(BadFile) as caught:
        read_city(tmp_path)
    assert caught.value.what == f"{tmp_path / 'visits.parquet'} does not exist."
    assert caught.value.do == "Write a city there first: safeside generate DIR."


def test_no_such_figure(tmp_path: Path) -> None:
    with pytest.raises(BadQuestion) as caught:
        reproduce(tmp_path, figures=["figure7"])
    assert caught.value.what == "There is no figure named figure7."
    assert caught.value.do == (
        "Choose from figure1, figure2, figure3, figure4, figure5, figure6, selection, schools, needed."
    )


def test_a_report_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWrite) as caught:
        reproduce(tmp_path / "file")
    assert caught.value.what == f"The directory {tmp_path / 'file'} cannot be made: File exists."
    assert caught.value.do == "Choose another directory with `out=`."


def test_a_figure_that_cannot_be_written(tmp_path: Path) -> None:
    with page(1, 1) as figure, pytest.raises(CannotWrite) as caught:
        save(figure, tmp_path / "none", "figure1", title="", caption="")
    assert caught.value.what.startswith(f"The figure figure1 cannot be written to {tmp_path / 'none'}: ")
    assert caught.value.do == "Choose a directory that can be written and has room."


def test_matplotlib_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(MissingExtra) as caught, page(1, 1):
        pass
    assert caught.value.what == "Figures need matplotlib, which is not installed."
    assert caught.value.do == "Run: pip install safeside-studies"


COLUMNS = "uid,latitude,longitude,placeID,state,timestamp\n"


@pytest.mark.parametrize(
    ("text", "what", "do"),
    [
        (
            None,
            "{} holds no CSV file.",
            "Give the directory with the Peopleflow files (uid, latitude, longitude, placeID, state, "
            "timestamp).",
        ),
        (COLUMNS, "The files in {} hold no rows.", "Check that the download is complete."),
        (
            COLUMNS + "1,35.6,139.7,,MOVE,2013-12-22 18:00:00\n",
            "No row in {} is a STAY at a place of category 3 to 7.",
            "Check the columns placeID and state: the paper counts STAY rows of those categories.",
        ),
        (
            COLUMNS.replace("uid,", ""),
            "{}/a.csv has no column for uid.",
            "Name it uid; the first line names the columns.",
        ),
        (
            COLUMNS + "1,35.6,139.7,3,STAY,noon\n",
            "{}/a.csv has a timestamp or placeID that cannot be read.",
            "Write timestamps as 2013-12-22 18:00:00 and placeID as a whole number or nothing.",
        ),
    ],
)
def test_peopleflow_files(tmp_path: Path, text: str | None, what: str, do: str) -> None:
    if text is not None:
        (tmp_path / "a.csv").write_text(text)
    with pytest.raises(BadFile) as caught:
        read_peopleflow(tmp_path)
    assert caught.value.what == what.format(tmp_path)
    assert caught.value.do == do


def test_a_county_that_is_too_large_or_there_already(tmp_path: Path) -> None:
    with pytest.raises(BadQuestion) as caught:
        county.county(100_001)
    assert caught.value.what == "A county has at most 100,000 schools."
    assert caught.value.do == "Ask for fewer."
    county.generate(tmp_path, schools=2)
    with pytest.raises(CannotWrite) as overwriting:
        county.generate(tmp_path, schools=2)
    assert overwriting.value.what == f"{tmp_path / 'pupils.csv'} exists already."
    assert overwriting.value.do == "Choose another directory, or add `overwrite=True` to replace the county."
