"""The map speaks from the catalogue alone, also where its script does the speaking."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Open
from tests.releases.making import signed
from tests.words.pretended import CODE, PUPILS, WIDE, left, widened
from tests.words.test_catalogue import CODES

from safeside.releases.signing import create_key, load_private
from safeside.words import LANGUAGES

KINDS = {
    "counts": {"at_most": 2, "at_least": 6, "alpha": "0.5", "publish_at_least": True},
    "sparse": {"at_most": 2, "max_alarms": 1},
    "decision": {"at_most": 9, "guarantee": "dp", "delta": "1e-3", "decision": True},
}
_SPOKEN = """() => [...document.querySelectorAll("body *")].flatMap((node) => [
    ...["aria-label", "title", "placeholder"].map((name) => node.getAttribute(name) || ""),
    ...(["SCRIPT", "STYLE", "NOSCRIPT"].includes(node.tagName) ? []
        : [...node.childNodes].filter((one) => one.nodeType === 3).map((one) => one.textContent)),
]).join("\\n")"""


def spoken(page: Page) -> str:
    """Whatever the page says now, to eyes and to screen readers."""
    text: str = page.evaluate(_SPOKEN)
    return text


@pytest.mark.parametrize("kind", KINDS)
def test_no_word_of_the_page_bypasses_the_catalogue(
    visit: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setitem(LANGUAGES, CODE, WIDE)
    create_key(tmp_path / "key")
    terms = dict(epsilon=3, language=CODE, **KINDS[kind])
    made = signed(tmp_path / "r", [0, 3, 19, 2], terms, load_private(tmp_path / "key"), subject=PUPILS)
    opened = visit(made.map)
    page = opened.page
    page.wait_for_selector("body[data-ready]")
    shown = [spoken(page)]
    assert widened("pupils") in shown[0]
    page.focus("#map")
    page.keyboard.press("Enter")
    shown.append(page.inner_text("#place-card"))
    if kind == "counts":
        page.locator("#slider").fill("4")
        shown.append(spoken(page))
    page.fill("#search", "p1")
    expect(page.locator("#search-count")).to_contain_text("1")
    shown.append(spoken(page))
    page.fill("#search", "")
    page.click("#tab-table")
    page.wait_for_selector("#rows tr:nth-child(4)")
    shown.append(spoken(page))
    assert (
        left("\n".join(shown), *CODES, r"answers\.csv", r"\bvisited\b") == []
    )  # the name of a measure is data
    opened.quiet()
