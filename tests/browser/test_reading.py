"""What a first look at the map tells: bounds with their sign, no warning, nothing covered or cut off."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.browser.cities import city, day_town, mapped
from tests.browser.conftest import Open
from tests.browser.seeing import RECORD, marks, texts
from tests.browser.test_map import AGEO, move_slider, ready
from tests.releases.making import INSTANT, NOW

from safeside.releases.release import Release
from safeside.releases.simulate import simulate

BARS = """window.bars = [];
  wrap("fillRect", (pen, [x, y, wide, high]) => {
    window.bars.push(high);"""
"""Keeps the heights of a chart's bars."""


@pytest.fixture(scope="module")
def town() -> Release:
    """A small city."""
    return mapped(400, AGEO)


def test_marks_carry_bounds_with_their_sign(visit: Open) -> None:
    """A circle with "1" reads as one infected person; "≤1" does not."""
    release = mapped(60, AGEO)
    page = visit(release.map, script=RECORD).page
    ready(page)
    told = Counter(text for text, _ in texts(page))
    known = Counter(f"≤{bound}" if bound <= 2 else "?" for bound in release.answers.upper.tolist())
    assert known.keys() <= told.keys()
    assert all(told[text] <= n for text, n in known.items())
    assert not [text for text in told if re.fullmatch(r"\d+|≤.*", text) and text not in known]


def test_no_number_is_half_hidden_under_another_mark(visit: Open) -> None:
    """What is left of "≤14" is "4": marks that cover one another carry no text."""
    page = visit(mapped(60, AGEO).map, script=RECORD).page
    ready(page)
    boxes = [box for text, box in texts(page) if text == "?" or text.startswith("≤")]
    assert 20 < len(boxes) < 60
    for box in boxes:
        assert sum(box.covers(mark) for mark in marks(page)) == 1


@pytest.mark.parametrize(("number", "width"), [(60, 1280), (60, 390), (400, 1280), (5_835, 1280)])
def test_names_cover_no_mark_and_no_other_name(visit: Open, number: int, width: int) -> None:
    page = visit(mapped(number, AGEO).map, width=width, script=RECORD).page
    ready(page)
    names = [(text, box) for text, box in texts(page) if not re.match(r"[≤≥?]", text)]
    assert names
    covered = [text for text, box in names for mark in marks(page) if box.covers(mark)]
    assert covered == []
    assert not [(a, b) for n, (a, one) in enumerate(names) for b, two in names[:n] if one.covers(two)]


def test_where_there_are_few_places_their_names_stand_beside_them(visit: Open) -> None:
    release = mapped(60, AGEO)
    page = visit(release.map, script=RECORD).page
    ready(page)
    named = {text for text, _ in texts(page)} & set(city(60)["name"])
    assert len(named) > 20


@pytest.mark.parametrize("release", [lambda: mapped(400, AGEO), day_town], ids=["moment", "day"])
def test_a_phone_shows_the_legend_and_the_map_without_scrolling(
    visit: Open, release: Callable[[], Release]
) -> None:
    page = visit(release().map, width=390, height=844, has_touch=True).page
    ready(page)
    for line in page.locator("#legend li").all():
        box = line.bounding_box()
        assert box
        assert box["y"] + box["height"] <= 844
    shown = page.locator("#map").bounding_box()
    assert shown
    assert shown["height"] > 250
    assert shown["y"] + 250 < 844


def test_on_a_phone_the_card_hides_neither_its_place_nor_the_way_out(visit: Open) -> None:
    page = visit(day_town().map, width=390, height=844, script=RECORD).page
    ready(page)
    page.focus("#map")
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_selector("#place-card:not([hidden])")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    ring, card = marks(page)[-1], page.locator("#place-card").bounding_box()
    stage = page.locator("#map").bounding_box()
    assert card
    assert stage
    assert ring.bottom <= card["y"] - stage["y"]
    page.click("#place-card .close")
    page.wait_for_selector("#place-card", state="hidden")


def test_the_text_follows_the_slider_and_comes_back(visit: Open, town: Release) -> None:
    page = visit(town.map).page
    ready(page)
    reading = page.locator(".prose p").first
    assert reading.inner_text().startswith('"At most 2 known infected visitors" is certain')
    move_slider(page, 5)
    assert reading.inner_text().startswith('"At most 5 known infected visitors" is certain')
    assert page.inner_text("#slider-reset") == "As asked: 2"
    page.click("#slider-reset")
    assert reading.inner_text().startswith('"At most 2 known infected visitors" is certain')


def test_the_card_says_what_the_table_says(visit: Open, town: Release) -> None:
    page = visit(town.map).page
    ready(page)
    page.click("#tab-table")
    page.wait_for_selector("#rows tr")
    for threshold in (2, 0, 4):
        move_slider(page, threshold)
        for at in (0, 3, 5, 8):
            row = page.locator("#rows tr").nth(at)
            *_, answer, bound = row.inner_text().split("\t")
            row.locator("button").click()
            assert page.inner_text("#place-card .answer") == answer.strip()
            why = page.inner_text("#place-card .why")
            if answer.strip() == "Cannot say":
                assert why.endswith(f"at most {bound}.")
            else:
                assert f"At most {bound} known" in answer
                assert why == "This is certain."
            page.click("#tab-table")


def test_the_histogram_is_linear_and_says_its_numbers(visit: Open, town: Release) -> None:
    script = RECORD.replace('pen.canvas.id === "map"', 'pen.canvas.id === "histogram"')
    script = script.replace('wrap("fillRect", (pen, [x, y, wide, high]) => {', BARS)
    page = visit(town.map, script=script).page
    ready(page)
    most = int(page.get_attribute("#slider", "max") or 0)
    counts = np.bincount(town.answers.upper, minlength=most + 1)[: most + 1]
    filled = counts[counts > 0]
    drawn = np.array(page.evaluate("window.bars")[-len(filled) :])
    assert np.allclose(drawn, np.maximum(drawn.max() * filled / filled.max(), 1.5))
    told = [text for text, _ in texts(page)]
    assert f"{counts.max():,}" in told
    assert {"≤0", "≤5"} <= set(told)


def test_long_names_wrap_and_are_read_whole(visit: Open, tmp_path: Path) -> None:
    long = "The very long name of a community centre with a library, a swimming pool and a theatre " * 3
    many = [f"p{at:03}" for at in range(300)]
    names = [long if at % 3 else "short" for at in range(300)]
    frame = pl.DataFrame({"place": many, "name": names})
    release = simulate(
        dict.fromkeys(many, 0), **AGEO, out=tmp_path / "out", places=frame, when=INSTANT, seed=1, known_on=NOW
    )
    opened = visit(release.map, width=390)
    page = opened.page
    page.wait_for_selector("#rows tr")
    for button in page.locator("#rows th button").all()[:8]:
        whole = button.evaluate(
            """(box) => {
              const cell = box.parentElement.getBoundingClientRect(), own = box.getBoundingClientRect();
              const cut = box.scrollWidth > box.clientWidth + 1;
              return own.height <= cell.height && own.width <= cell.width && !cut;
            }"""
        )
        assert whole
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.eval_on_selector("#scroller", "box => box.scrollTo(0, box.scrollHeight)")
    page.wait_for_selector("#rows tr[aria-rowindex='301']")
    opened.quiet()


def test_what_cannot_be_said_looks_like_no_warning(visit: Open, town: Release) -> None:
    """Empty and grey, in both schemes: no red, orange or yellow, no triangle, no exclamation mark."""
    for scheme in ("light", "dark"):
        page = visit(town.map, color_scheme=scheme, script=RECORD).page
        ready(page)
        colours = page.evaluate(
            "() => ['unclear', 'unclear-fill', 'higher'].map((name) => "
            "getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim())"
        )
        for colour in colours:
            red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
            assert red <= green <= blue, colour
        assert "!" not in page.inner_text("#legend")
        page.focus("#map")
        page.click("#tab-table")
        move_slider(page, 0)
        page.locator("#rows tr", has_text="Cannot say").first.locator("button").click()
        assert page.inner_text("#place-card .why").startswith("No warning")
