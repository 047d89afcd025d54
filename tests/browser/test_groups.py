"""The table of groups in a browser: sorted, filtered, searched, read at another share; nothing is fetched."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from tests.browser.conftest import Open

from safeside import Account, ask, create_key, create_ledger, publish
from safeside.groups.shares import at_least_not, at_most
from safeside.releases.release import Release
from safeside_studies.county import generate

NUMBER = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("county")
    generate(folder, schools=NUMBER)
    with create_ledger(folder / "ledger.db") as ledger:
        ledger.create_dataset("pupils", "person", epsilon=9)
    create_key(folder / "key")
    return folder


def released(folder: Path, out: str, **asked: object) -> Release:
    given = {"at_most": "5%", "where": "mmr=0"} | asked
    question = ask(
        groups=folder / "schools.csv",
        as_of="2026-09-01",
        domains={"mmr": [0, 1, 2]},
        epsilon=1,
        noun="unvaccinated pupil/unvaccinated pupils",
        group_noun="school/schools",
        **given,  # type: ignore[arg-type]
    )
    account = Account(ledger=folder / "ledger.db", dataset="pupils", key=folder / "key", out=folder / out)
    return publish(folder / "pupils.csv", question, account)


def test_every_row_says_what_was_published_and_the_slider_reads_the_same_numbers(
    folder: Path, visit: Open
) -> None:
    release = released(folder, "share")
    opened = visit(release.map)
    page = opened.page
    assert page.inner_text("h1") == "At most 5 % unvaccinated pupils"
    said, sizes = release.answers, pl.read_csv(folder / "schools.csv")
    rows = page.locator("#rows tr")
    assert rows.count() == NUMBER
    names = sizes["name"].to_list()
    shown = {row.split("\t")[0]: row for row in page.inner_text("#rows").split("\n") if "\t" in row}
    for name, size, bound, quiet in zip(
        names, sizes["size"].to_list(), said.upper.tolist(), (said.names()), strict=True
    ):
        assert ("Certain" in shown[name]) == (quiet == "AT_MOST")
        if bound < size:
            assert f"{bound} of the {size} listed on 1 September 2026" in shown[name]
            assert at_most(bound, size) in shown[name]
            assert at_least_not(bound, size) in shown[name]
    certain = sum(one == "AT_MOST" for one in said.names())
    assert f"Certain of {certain} of {NUMBER} schools" in page.inner_text("#certain")
    for tenths in (0, 20, 117):
        page.locator("#slider").fill(str(tenths))
        expected = sum(
            Fraction(bound, size) <= Fraction(tenths, 1000)
            for bound, size in zip(said.upper.tolist(), sizes["size"].to_list(), strict=True)
        )
        assert f"Certain of {expected} of {NUMBER} schools" in page.inner_text("#certain")
    page.click("#reset")
    assert f"Certain of {certain} of {NUMBER} schools" in page.inner_text("#certain")
    opened.quiet()


def test_rows_are_sorted_filtered_and_searched(folder: Path, visit: Open) -> None:
    release = released(folder, "sorted", at_most=6)
    opened = visit(release.map, width=375)
    page = opened.page
    page.select_option("#filter", "certain")
    certain = page.locator("#rows tr").count()
    assert certain == sum(one == "AT_MOST" for one in release.answers.names())
    page.select_option("#filter", "unclear")
    assert page.locator("#rows tr").count() == NUMBER - certain
    page.select_option("#filter", "all")
    page.get_by_role("button", name="Certainly at most").click()
    bounds = [
        int(text.split()[0])
        for text in page.locator("#rows td:nth-child(4)").all_inner_texts()
        if text[0].isdigit()
    ]
    assert bounds == sorted(bounds)
    page.fill("#search", "s00007")
    assert page.locator("#rows tr").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    opened.quiet()


def test_each_measure_has_its_own_answers(folder: Path, visit: Open) -> None:
    release = released(folder, "measures", where=None, measures={"no dose": "mmr=0", "one dose": "mmr=1"})
    opened = visit(release.map)
    page = opened.page
    names, half = release.answers.names(), NUMBER
    for name, part in (("no dose", names[:half]), ("one dose", names[half:])):
        page.select_option("#measure", label=name)
        assert f"Certain of {part.count('AT_MOST')} of {NUMBER} schools" in page.inner_text("#certain")
    opened.quiet()
