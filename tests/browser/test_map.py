"""map.html in a browser: drawn, readable without colour, and silent on the network."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from playwright.sync_api import Page
from tests.browser.cities import mapped
from tests.browser.conftest import Open
from tests.releases.making import INSTANT, NOW

from safeside.releases.release import Release
from safeside.releases.simulate import simulate

AGEO = {"epsilon": 1, "at_most": 2}


@pytest.fixture(scope="module")
def town() -> Release:
    """A small city."""
    return mapped(400, AGEO)


def ready(page: Page) -> None:
    page.wait_for_selector("body[data-ready=yes]")
    page.wait_for_selector("#map[data-painted]")


def legend(page: Page, state: str) -> int:
    return int(page.inner_text(f"#legend li[data-state={state}] .n").replace(",", ""))


def move_slider(page: Page, value: int) -> None:
    page.eval_on_selector(
        "#slider", "(box, value) => { box.value = value; box.dispatchEvent(new Event('input')); }", value
    )


@pytest.mark.parametrize("number", [5_835, 100_000])
def test_places_are_drawn_and_the_slider_reads_the_same_bounds(visit: Open, number: int) -> None:
    release = mapped(number, AGEO)
    opened = visit(release.map)
    page = opened.page
    ready(page)
    assert int(page.get_attribute("#map", "data-painted") or 0) == number
    assert _inked(page) > 2_000
    for threshold in (2, 0, 1, 5, 2):
        move_slider(page, threshold)
        expected = int(np.count_nonzero(release.answers.upper <= threshold))
        assert legend(page, "AT_MOST") == expected
        assert legend(page, "UNCLEAR") == number - expected
        assert f"{threshold} known infected" in page.inner_text("#legend li[data-state=AT_MOST]")
    page.click("#tab-table")
    page.wait_for_selector("#rows tr")
    assert page.get_attribute("#table", "aria-rowcount") == str(number + 1)
    assert page.locator("#rows tr").count() < 100
    page.eval_on_selector("#scroller", "box => box.scrollTo(0, box.scrollHeight)")
    page.wait_for_selector(f"#rows tr[aria-rowindex='{number + 1}']")
    opened.quiet()


def _inked(page: Page) -> int:
    """How many pixels of the map have the colour of "at most"."""
    return int(
        page.evaluate(
            """() => {
              const map = document.getElementById("map"), pen = map.getContext("2d");
              const { data } = pen.getImageData(0, 0, map.width, map.height);
              let n = 0;
              for (let i = 0; i < data.length; i += 4) {
                const off = [11, 106, 140].map((part, at) => Math.abs(data[i + at] - part));
                if (off[0] + off[1] + off[2] < 12) n++;
              }
              return n;
            }"""
        )
    )


def test_nothing_can_be_fetched_even_by_the_page_itself(visit: Open, town: Release) -> None:
    page = visit(town.map).page
    ready(page)
    refused = page.evaluate("() => fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')")
    assert refused == "refused"


def test_the_marks_differ_in_shape_not_in_colour_alone(visit: Open) -> None:
    release = mapped(
        60, {"epsilon": 1, "at_most": 2, "at_least": 3, "alpha": "0.5", "publish_at_least": True}
    )
    page = visit(release.map).page
    ready(page)
    masks = page.evaluate(
        """() => [...document.querySelectorAll("#legend canvas")].map((mark) => {
          const box = document.createElement("canvas"), pen = box.getContext("2d");
          box.width = box.height = 60;
          pen.drawImage(mark, (60 - mark.width) / 2, (60 - mark.height) / 2);
          const { data } = pen.getImageData(0, 0, 60, 60), dark = [];
          for (let i = 0; i < data.length; i += 4) {
            dark.push(data[i + 3] > 128 && data[i] + data[i + 1] + data[i + 2] < 520 ? 1 : 0);
          }
          return dark;
        })"""
    )
    assert len(masks) == 3
    for one in range(3):
        for two in range(one):
            differing = sum(a != b for a, b in zip(masks[one], masks[two], strict=True))
            assert differing > 0.2 * max(sum(masks[one]), sum(masks[two]))


def test_a_sparse_release_has_no_slider_and_says_what_was_not_asked(visit: Open) -> None:
    release = mapped(400, {"epsilon": 1, "at_most": 2, "max_alarms": 1})
    opened = visit(release.map)
    ready(opened.page)
    assert opened.page.is_hidden("#slider-box")
    assert "cannot be moved" in opened.page.inner_text("#slider-absent")
    for state in ("AT_MOST", "UNCLEAR", "NOT_ASKED"):
        assert legend(opened.page, state) == release.manifest["answers"][state]
    assert "no bound" in _table_text(opened.page)
    opened.quiet()


def _table_text(page: Page) -> str:
    page.click("#tab-table")
    page.wait_for_selector("#rows tr")
    return page.inner_text("#rows")


def test_search_stays_in_the_page_and_finds_places(visit: Open, town: Release) -> None:
    opened = visit(town.map)
    page = opened.page
    ready(page)
    before = list(opened.requests)
    page.fill("#search", "restaurant 17")
    page.wait_for_selector("#search-count:has-text('match')")
    assert re.match(r"\d+ of 400 places match", page.inner_text("#search-count"))
    page.press("#search", "Enter")
    page.fill("#search", "no such place")
    page.wait_for_selector("#search-count:has-text('0 of 400')")
    assert opened.requests == before
    opened.quiet()


def test_the_keyboard_reaches_everything(visit: Open, town: Release) -> None:
    page = visit(town.map).page
    ready(page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.wait_for_selector("#rows tr")
    assert page.evaluate("document.activeElement.id") == "scroller"
    page.focus("#tab-table")
    page.keyboard.press("ArrowLeft")
    assert page.is_visible("#map")
    page.focus("#map")
    page.keyboard.press("+")
    page.keyboard.press("Enter")
    page.wait_for_selector("#place-card:not([hidden])")
    assert page.inner_text("#place-card h3")
    page.keyboard.press("Escape")
    page.wait_for_selector("#place-card", state="hidden")
    page.focus("#slider")
    page.keyboard.press("ArrowRight")
    assert "3 known infected" in page.inner_text("#legend")


def test_a_row_of_the_table_leads_to_its_place_on_the_map(visit: Open, town: Release) -> None:
    page = visit(town.map).page
    ready(page)
    page.click("#tab-table")
    page.wait_for_selector("#rows th button")
    name = page.inner_text("#rows th button >> nth=0")
    page.click("#rows th button >> nth=0")
    page.wait_for_selector("#place-card:not([hidden])")
    assert page.inner_text("#place-card h3") == name


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1440])
def test_it_fits_phones_and_screens_in_light_and_dark(
    visit: Open, town: Release, width: int, scheme: str
) -> None:
    opened = visit(town.map, width=width, color_scheme=scheme)
    ready(opened.page)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    opened.page.click("#tab-table")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    opened.quiet()


def test_it_says_when_from_when_and_what_is_promised_in_plain_words(visit: Open, town: Release) -> None:
    page = visit(town.map).page
    ready(page)
    text = page.inner_text("body")
    assert "Thursday 3 June 2021, 18:00 (Asia/Tokyo)" in text
    assert "known on 10 June 2021, 18:00" in text
    assert re.search(r"\([\d,]+ days ago\)", text)
    assert "Simulation" in text
    assert page.is_visible(".watermark")
    assert "Nothing is promised to anybody" in page.inner_text("#promise")
    page.click("#promise a")
    page.wait_for_url("**/report.html#promise")
    assert "Nothing is promised to anybody" in page.inner_text("#promise")
    assert not re.search(r"\b(un)?safe\b|danger", text, re.IGNORECASE)


def test_names_are_text_and_never_markup(visit: Open, tmp_path: Path) -> None:
    evil = "<img src=x onerror=document.title='owned'></script><script>document.title='owned'</script>"
    frame = pl.DataFrame(
        {
            "place": [evil, "b"],
            "name": [evil, "fine"],
            "region": [evil, evil],
            "latitude": [1.0, 1.1],
            "longitude": [2.0, 2.2],
        }
    )
    release = simulate(
        {evil: 0, "b": 0}, **AGEO, out=tmp_path / "out", places=frame, when=INSTANT, seed=1, known_on=NOW
    )
    opened = visit(release.map)
    ready(opened.page)
    assert "<img" in _table_text(opened.page)
    opened.page.click("#rows th button >> nth=0")
    assert opened.page.title() != "owned"
    assert opened.page.locator("img").count() == 0
    opened.quiet()
    report = visit(release.directory / "report.html")
    assert report.page.locator("img, script").count() == 0
    report.quiet()


@pytest.mark.parametrize("limit", [1_000_000, 3_000_000_000])
def test_a_large_threshold_leaves_the_page_whole(visit: Open, tmp_path: Path, limit: int) -> None:
    frame = pl.DataFrame({"place": ["a", "b"], "at_most": [limit, limit - 1]})
    terms = {"epsilon": 1}
    counts = {"a": limit - 50, "b": 9}
    release = simulate(counts, **terms, out=tmp_path / "out", places=frame, seed=1)
    opened = visit(release.map)
    opened.page.wait_for_selector("body[data-ready]")
    assert f"At most {release.answers.upper[0]:,} known infected visitors" in _table_text(opened.page)
    assert opened.page.input_value("#slider") == str(limit)
    opened.quiet()


def test_without_coordinates_there_is_a_table(visit: Open, tmp_path: Path) -> None:
    release = simulate({"a": 0, "b": 9}, **AGEO, out=tmp_path / "out", seed=1, known_on=NOW)
    opened = visit(release.map)
    opened.page.wait_for_selector("#rows tr")
    assert opened.page.is_hidden("#map-view")
    opened.quiet()


def test_a_basemap_is_drawn_beneath(visit: Open, tmp_path: Path) -> None:
    backdrop = tmp_path / "base.geojson"
    backdrop.write_text(
        '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"natural":"water"},"geometry":'
        '{"type":"Polygon","coordinates":[[[139,35],[141,35],[141,36.5],[139,36.5],[139,35]]]}}]}'
    )
    opened = visit(mapped(60, AGEO, basemap=backdrop).map)
    ready(opened.page)
    corner = opened.page.evaluate(
        "() => [...document.getElementById('map').getContext('2d').getImageData(3, 3, 1, 1).data]"
    )
    assert corner[:3] == [0xCF, 0xE3, 0xEC]
    opened.quiet()
