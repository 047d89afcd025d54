"""An accessibility engine (axe) looks at every page of a release, light and dark, wide and narrow."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page
from tests.browser.cities import day_town, mapped
from tests.browser.conftest import Open

from safeside.releases.release import Release

PAGES: dict[str, Callable[[], Release]] = {
    "a moment": lambda: mapped(400, {"epsilon": 1, "at_most": 2}),
    "sparse answers": lambda: mapped(400, {"epsilon": 1, "at_most": 2, "max_alarms": 1}),
    "a day": day_town,
}


def grave(page: Page) -> list[str]:
    """What axe calls serious or critical, and where."""
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['help']}: {[node['target'] for node in one['nodes']][:3]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize(
    ("kind", "scheme", "width"),
    [
        *[("a day", scheme, width) for scheme in ("light", "dark") for width in (390, 1280)],
        ("a moment", "light", 390),
        ("a moment", "dark", 1280),
        ("sparse answers", "light", 1280),
    ],
)
def test_axe_finds_nothing_grave_on_map_card_table_and_report(
    visit: Open, kind: str, scheme: str, width: int
) -> None:
    release = PAGES[kind]()
    opened = visit(release.map, width=width, height=844, color_scheme=scheme)
    page = opened.page
    page.wait_for_selector("#map[data-painted]")
    assert grave(page) == []
    page.focus("#map")
    page.keyboard.press("Enter")
    page.wait_for_selector("#place-card:not([hidden])")
    assert grave(page) == []
    page.click("#tab-table")
    page.wait_for_selector("#rows tr")
    assert grave(page) == []
    report = visit(release.directory / "report.html", width=width, height=844, color_scheme=scheme)
    assert grave(report.page) == []
    opened.quiet()
    report.quiet()


def test_the_engine_would_notice(visit: Open) -> None:
    """A check that finds nothing is worth as much as what it finds where something is wrong."""
    page = visit(mapped(400, {"epsilon": 1, "at_most": 2}).map).page
    page.evaluate("document.querySelector('label[for=search]').remove()")
    page.evaluate("document.querySelector('.as-of').style.color = '#e8e8e8'")
    assert {line.partition(":")[0] for line in grave(page)} >= {"color-contrast"}
