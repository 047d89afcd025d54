"""report.html in a browser: pictures first, nothing fetched, nothing that could run."""

from __future__ import annotations

import re

import pytest
from tests.browser.cities import mapped
from tests.browser.conftest import Open

TERMS = {
    "counts": {"epsilon": 1, "at_most": 2},
    "sparse": {"epsilon": 1, "at_most": 2, "max_alarms": 1},
    "padded": {"epsilon": 1, "delta": "1e-4", "guarantee": "dp", "at_most": 9},
}


@pytest.mark.parametrize("kind", TERMS)
def test_pictures_come_first_and_numbers_agree(visit: Open, kind: str) -> None:
    release = mapped(400, TERMS[kind])
    opened = visit(release.directory / "report.html")
    page = opened.page
    first_picture = page.locator("svg").first.bounding_box()
    first_table = page.locator("table").first.bounding_box()
    assert first_picture
    assert first_table
    assert first_picture["y"] < first_table["y"]
    answers = release.manifest["answers"]
    text = page.inner_text("body")
    assert f"{answers['AT_MOST']:,} of 400 places" in text
    assert re.search(rf"Certified at 0[^\n]*\s+{answers['certified_at_zero']:,}\b", text)
    assert "What is not promised" in text
    assert not re.search(r"\b(un)?safe\b|danger", text, re.IGNORECASE)
    assert page.locator("script").count() == 0
    opened.quiet()


@pytest.mark.parametrize(("width", "beside"), [(1280, True), (375, False)])
def test_two_pictures_stand_side_by_side_where_there_is_room(visit: Open, width: int, beside: bool) -> None:
    page = visit(mapped(400, TERMS["counts"]).directory / "report.html").page
    page.set_viewport_size({"width": width, "height": 900})
    left, right = (one.bounding_box() for one in page.locator(".pair svg").all())
    assert left
    assert right
    assert (left["width"], left["height"]) == (right["width"], right["height"])
    assert (left["y"] == right["y"]) == beside
    assert (left["x"] + left["width"] < right["x"]) == beside
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    texts = (
        "[...document.querySelectorAll('svg text, .key b')].map((one) => one.getBoundingClientRect().height)"
    )
    assert min(page.evaluate(texts)) >= 12, "as large as beside the pictures, however narrow the page"
