"""The table of groups in a browser: sorted, filtered, searched, read at another share; nothing is fetched."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.browser.conftest import Open
from tests.browser.seeing import RECORD, texts
from tests.releases.making import states_of

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
    given = {"at_most": "5%", "where": "mmr=0", "groups": folder / "schools.csv", "epsilon": 1} | asked
    question = ask(
        as_of="2026-09-01",
        domains={"mmr": [0, 1, 2]},
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
        names, sizes["size"].to_list(), said.upper.tolist(), states_of(said), strict=True
    ):
        assert ("Certain" in shown[name]) == (quiet == "AT_MOST")
        if bound < size:
            assert f"{bound} of the {size} listed on 1 September 2026" in shown[name]
            assert at_most(bound, size) in shown[name]
            assert at_least_not(bound, size) in shown[name]
    certain = sum(one == "AT_MOST" for one in states_of(said))
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
    assert certain == sum(one == "AT_MOST" for one in states_of(release.answers))
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
    names, half = states_of(release.answers), NUMBER
    for name, part in (("no dose", names[:half]), ("one dose", names[half:])):
        page.select_option("#measure", label=name)
        assert f"Certain of {part.count('AT_MOST')} of {NUMBER} schools" in page.inner_text("#certain")
    opened.quiet()


def on_a_map(folder: Path) -> Path:
    """The list of schools with a point for each."""
    listed = pl.read_csv(folder / "schools.csv").with_row_index("at")
    placed = listed.with_columns(
        latitude=35.6 + pl.col("at") * 0.002, longitude=139.7 + (pl.col("at") * 7 % 11) * 0.004
    )
    placed.drop("at").write_csv(folder / "mapped.csv")
    return folder / "mapped.csv"


def card_of(page: Any, group: str) -> str:
    """What the card says of a group that is searched for."""
    page.fill("#search", group)
    page.press("#search", "Enter")
    said: str = page.inner_text("#place-card")
    page.fill("#search", "")
    page.wait_for_selector("#search-count:not(:has-text('match'))")
    return said


def test_the_map_says_shares_as_the_table_does(folder: Path, visit: Open) -> None:
    release = released(folder, "map", groups=on_a_map(folder), epsilon="2/3")
    opened = visit(release.map, script=RECORD)
    page = opened.page
    said, sizes = release.answers, release.to_polars()["size"].to_list()
    page.wait_for_selector("#map[data-painted]")
    shares = {f"≤{at_most(bound, size)}" for bound, size in zip(said.upper.tolist(), sizes, strict=True)}
    marked = {text for text, _ in texts(page) if text.startswith("≤")}
    assert marked
    assert marked <= shares, "a number of people would read as a share"
    quiet = states_of(said).index("AT_MOST")
    bound, size = int(said.upper[quiet]), sizes[quiet]
    listed = f"{bound} of the {size} listed on 1 September 2026 ({at_most(bound, size)})"
    card = card_of(page, said.targets[quiet])
    assert f"At most {listed}" in card
    assert (
        f"Of the {size} listed on 1 September 2026 at least {at_least_not(bound, size)} are not among those"
        in card
    )
    unclear = states_of(said).index("UNCLEAR")
    card, bound, size = card_of(page, said.targets[unclear]), int(said.upper[unclear]), sizes[unclear]
    limit = size * 5 // 100
    assert f"it may have been {limit} or fewer. Certain is only: at most {bound} of the {size}" in card
    assert "At most 5 % unvaccinated pupils" in page.inner_text("#legend")
    for tenths in (0, 20, 117):
        page.locator("#slider").fill(str(tenths))
        expected = sum(
            Fraction(bound, size) <= Fraction(tenths, 1000)
            for bound, size in zip(said.upper.tolist(), sizes, strict=True)
        )
        assert page.inner_text("#slider-count") == f"{expected} of {NUMBER} schools."
        assert f"At most {tenths // 10}.{tenths % 10} % unvaccinated pupils" in page.inner_text("#legend")
        assert f"another share: {tenths // 10}.{tenths % 10} %" in page.inner_text("#slider-label")
    page.click("#slider-reset")
    certain = states_of(said).count("AT_MOST")
    assert page.inner_text("#slider-count") == f"{certain} of {NUMBER} schools."
    page.click("#tab-table")
    page.get_by_role("button", name="Share at most").click()
    shown = [text.split("\t") for text in page.inner_text("#rows").split("\n") if "%" in text]
    shares = [Fraction(next(cell for cell in row if cell.endswith(" %"))[:-2]) for row in shown]
    assert shares == sorted(shares)
    assert len(shares) > 5
    opened.quiet()
