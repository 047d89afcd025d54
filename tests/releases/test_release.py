"""A release in Python: as a dataframe, answer by answer, in one line, and in a notebook."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from tests.releases.making import NOW, simulated, states_of

from safeside import Answer, load_release, simulate
from safeside.releases.files.answers import read_csv
from safeside.releases.release import Release

TERMS = {"epsilon": 1, "at_most": 2, "max_alarms": 1}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return simulated(tmp_path_factory.mktemp("r") / "out", [0, 1, 60, 0, 2], TERMS)


def test_a_release_is_read_back_as_it_was_made(made: Release) -> None:
    read = load_release(made.directory)
    assert read.digest == made.digest
    assert read.to_polars().equals(made.to_polars())


def test_its_dataframe_is_the_file_of_answers(made: Release) -> None:
    table = made.to_polars()
    read = pl.read_csv(made.directory / "answers.csv", schema_overrides=dict(table.schema))
    assert table.equals(read)


@pytest.mark.parametrize("column", ["place", "window", "state", "lower_bound"])
def test_an_answer_in_which_something_is_missing_is_none(made: Release, column: str) -> None:
    question = made.record.question
    table = pl.read_csv(made.file("answers.csv"))
    assert read_csv(table.write_csv().encode(), question).targets
    gap = pl.when(pl.int_range(pl.len()) > 0).then(pl.col(column)).alias(column)
    with pytest.raises(ValueError):
        read_csv(table.with_columns(gap).write_csv().encode(), question)


def test_for_pandas_bounds_stay_whole_numbers_that_may_be_missing(made: Release) -> None:
    table = made.to_pandas()
    assert list(table.columns) == made.to_polars().columns
    assert table["upper_bound"].dtype == pd.Int64Dtype()
    missing = made.to_polars()["upper_bound"].is_null().to_list()
    assert table["upper_bound"].isna().tolist() == missing
    assert True in missing


def test_answers_come_one_after_another(made: Release) -> None:
    listed = list(made)
    assert len(listed) == len(made) == 5
    assert [one.place for one in listed] == list(made.answers.places)
    assert isinstance(listed[0], Answer)
    assert [one.state.name for one in listed] == states_of(made.answers)


def test_its_repr_is_one_short_line(made: Release) -> None:
    text = repr(made)
    assert "\n" not in text
    assert "At most 2 known infected visitors, Thursday 3 June 2021" in text
    assert len(text) < 200 + len(str(made.directory))


def framed(release: Release) -> str:
    """The page in the notebook's frame."""
    (page,) = re.findall(r'<iframe sandbox="allow-scripts" srcdoc="([^"]*)"', release._repr_html_())
    return html.unescape(page)


def test_a_notebook_shows_the_summary_and_the_map(made: Release) -> None:
    shown = made._repr_html_()
    assert html.escape(made.summary().splitlines()[1]) in shown
    assert framed(made) == made.map.read_text()


def test_a_notebook_runs_no_script_of_the_release(tmp_path: Path) -> None:
    release = simulated(tmp_path / "out", [0, 1], TERMS)
    page = release.map.read_text()
    release.map.write_text(
        page.replace("start();", "fetch('https://example.org');").replace("default-src", "")
    )
    assert "example.org" not in framed(load_release(release.directory))
    assert framed(load_release(release.directory)) == page


def test_a_notebook_shows_groups_without_coordinates_as_the_table_they_are(tmp_path: Path) -> None:
    terms = {"groups": pl.DataFrame({"group": ["east", "north"], "size": [310, 19]}), "at_most": 3}
    made = simulate({"east": 12, "north": 0}, **terms, epsilon=1, out=tmp_path / "out", seed=1, known_on=NOW)
    assert framed(load_release(made.directory)) == made.map.read_text()


def test_a_notebook_takes_no_words_from_the_page(tmp_path: Path) -> None:
    release = simulated(tmp_path / "out", [0, 1], TERMS)
    page = release.map.read_text()
    release.map.write_text(page.replace('"answer.cannot-say":"Cannot say"', '"answer.cannot-say":"Nobody"'))
    assert release.map.read_text() != page
    assert framed(load_release(release.directory)) == page


def test_a_notebook_shows_no_map_that_says_something_else(tmp_path: Path) -> None:
    release = simulated(tmp_path / "out", [0, 1], TERMS)
    release.map.write_text(release.map.read_text().replace('"ids":["p0"', '"ids":["p9"'))
    shown = load_release(release.directory)._repr_html_()
    assert "iframe" not in shown
    assert "At most 2" in shown


def test_a_notebook_shows_no_map_where_there_is_none(tmp_path: Path) -> None:
    release = simulated(tmp_path / "out", [0, 1], TERMS)
    release.map.unlink()
    assert "iframe" not in load_release(release.directory)._repr_html_()
