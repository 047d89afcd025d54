"""The map of a day: a clock over its hours, by hand, by playing and by keyboard, and what it says of each."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Page
from tests.browser.cities import HOURS, day_town
from tests.browser.conftest import Open
from tests.browser.test_map import legend, ready

from safeside.decisions.states import State
from safeside.releases.answers import CODE
from safeside.releases.release import Release


@pytest.fixture(scope="module")
def town() -> Release:
    """Every hour of a day at sixty places."""
    return day_town()


def certified(release: Release) -> list[int]:
    """At how many places "at most" is said, by hour."""
    states = release.answers.states.reshape(len(release.answers.windows), -1)
    return np.count_nonzero(states == CODE[State.AT_MOST], axis=1).tolist()


def hour(page: Page) -> str:
    return page.inner_text("#clock-time")


def test_each_hour_shows_its_own_answers(visit: Open, town: Release) -> None:
    opened = visit(town.map)
    page = opened.page
    ready(page)
    assert hour(page) == "12:00 to 13:00"
    assert "Sunday 22 December 2013" in page.inner_text("#clock")
    page.focus("#hour")
    page.keyboard.press("Home")
    for at, number in enumerate(certified(town)):
        assert hour(page).startswith(f"{at:02}:00 to ")
        assert legend(page, "AT_MOST") == number
        assert legend(page, "UNCLEAR") == 60 - number
        assert page.inner_text("#clock-share") == f"{number} of 60 places"
        assert page.get_attribute("#hour", "aria-valuetext") == f"Sunday 22 December 2013, {hour(page)}"
        page.keyboard.press("ArrowRight")
    assert page.inner_text("#legend-title") == "What the marks say, 23:00 to 00:00"
    assert len(set(certified(town))) > 3
    opened.quiet()


def test_the_chart_is_clicked_and_said_in_words(visit: Open, town: Release) -> None:
    page = visit(town.map).page
    ready(page)
    box = page.locator("#shares").bounding_box()
    assert box
    for at in (0, 7, 18, 23):
        page.mouse.click(box["x"] + box["width"] * (at + 0.5) / 24, box["y"] + 20)
        assert hour(page).startswith(f"{at:02}:00")
        assert page.input_value("#hour") == str(at)
    least = int(np.argmin(certified(town)))
    told = page.get_attribute("#shares", "aria-label") or ""
    assert (
        f"least {round(100 * certified(town)[least] / 60)} % (Sunday 22 December 2013, {least:02}:00" in told
    )


def test_the_chart_is_linear_from_nothing_to_all(visit: Open, town: Release) -> None:
    page = visit(town.map).page
    ready(page)
    filled = page.evaluate(
        """() => {
          const chart = document.getElementById("shares"), pen = chart.getContext("2d"), n = 24;
          return Array.from({ length: n }, (_, at) => {
            const x = Math.round(((at + 0.5) * chart.width) / n);
            const { data } = pen.getImageData(x, 0, 1, chart.height);
            let full = 0;
            for (let y = 0; y < chart.height; y++) full += Math.abs(data[4 * y] - 11) < 6 && Math.abs(data[4 * y + 2] - 140) < 6;
            return full;
          });
        }"""  # noqa: E501
    )
    shares = np.array(certified(town)) / 60
    others = np.arange(24) != 12  # the chosen hour has a thick frame
    assert np.abs(np.array(filled) - 44 * shares)[others].max() < 3


def test_it_plays_and_stops_at_the_end(visit: Open, town: Release) -> None:
    opened = visit(town.map)
    page = opened.page
    page.clock.install()
    page.reload()
    ready(page)
    page.focus("#hour")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    assert hour(page) == "22:00 to 23:00"
    page.focus("#play")
    page.keyboard.press("Enter")
    assert page.inner_text("#play") == "Pause"
    assert page.get_attribute("#clock-share", "aria-live") == "off"
    page.clock.run_for(1_200)
    assert hour(page) == "23:00 to 00:00"
    page.clock.run_for(1_200)
    assert page.inner_text("#play") == "Play"
    assert page.get_attribute("#clock-share", "aria-live") == "polite"
    page.keyboard.press("Enter")
    assert hour(page) == "00:00 to 01:00"
    page.clock.run_for(2_400)
    assert hour(page) == "02:00 to 03:00"
    page.keyboard.press("Enter")
    page.clock.run_for(9_000)
    assert hour(page) == "02:00 to 03:00"
    opened.quiet()


def test_nothing_moves_by_itself_for_those_who_asked_for_less_motion(visit: Open, town: Release) -> None:
    page = visit(town.map, reduced_motion="reduce").page
    ready(page)
    assert page.is_hidden("#play")
    page.click("#later")
    assert hour(page) == "13:00 to 14:00"
    page.click("#earlier")
    page.click("#earlier")
    assert hour(page) == "11:00 to 12:00"


def test_the_card_has_the_day_of_its_place(visit: Open, town: Release) -> None:
    opened = visit(town.map)
    page = opened.page
    ready(page)
    states = town.answers.states.reshape(len(town.answers.windows), -1)
    place = int(np.argmax(np.ptp(states, axis=0)))
    page.fill("#search", town.answers.targets[place])
    page.press("#search", "Enter")
    page.wait_for_selector("#place-card:not([hidden])")
    certain = int(np.count_nonzero(states[:, place] == CODE[State.AT_MOST]))
    assert 0 < certain < 24
    told = f"Of 24 hours: at most 5 in {certain}, cannot say in {24 - certain}."
    assert page.inner_text("#place-card .day-text") == told
    assert page.get_attribute("#place-card .day", "aria-label") == told
    row = page.locator("#place-card .day").bounding_box()
    assert row
    for at in (3, 20):
        page.mouse.click(row["x"] + 11 * at + 6, row["y"] + 8)
        assert hour(page).startswith(f"{at:02}:00")
        assert f"{at:02}:00 to " in page.inner_text("#place-card .when")
        says = page.inner_text("#place-card .answer")
        assert (says == "Cannot say") == (states[at, place] == CODE[State.UNCLEAR])
    opened.quiet()


def test_the_table_follows_the_clock_and_says_what_the_card_says(visit: Open, town: Release) -> None:
    page = visit(town.map).page
    ready(page)
    page.click("#tab-table")
    page.wait_for_selector("#rows tr")
    page.focus("#hour")
    page.keyboard.press("End")
    assert "23:00 to 00:00" in page.inner_text("#caption")
    bounds = np.where(town.answers.bounded, town.answers.upper, -1).reshape(len(town.answers.windows), -1)[23]
    rows = dict(zip(page.locator("#rows th button").all(), page.locator("#rows tr").all(), strict=True))
    listed = {button.get_attribute("title"): row.inner_text().split("\t") for button, row in rows.items()}
    assert len(listed) > 10
    for place, cells in listed.items():
        bound = bounds[town.answers.targets.index(str(place))]
        assert cells[-1] == ("no bound" if bound < 0 else str(bound))
        assert cells[-2].strip() == (
            "Cannot say"
            if bound < 0
            else f"At most {bound} known infected visitor{'s' if bound != 1 else ''}"
        )
    for place, cells in list(listed.items())[:6]:
        page.click(f"#rows button[title='{place}']")
        assert page.inner_text("#place-card .answer") == cells[-2].strip()
        page.keyboard.press("Escape")
        page.click("#tab-table")


def test_a_level_above_the_number_asked_about_is_said_as_it_is(visit: Open) -> None:
    """Where more people came than expected, a higher bound may be certain: it is told, and is no warning."""
    release = day_town(12)
    answers = release.answers
    above = (answers.bounded & (answers.upper > 5)).reshape(len(answers.windows), -1)
    assert set(answers.upper[above.ravel()]) == {6}
    opened = visit(release.map)
    page = opened.page
    ready(page)
    assert page.inner_text("#legend li[data-state=HIGHER] b") == "At most 6 known infected visitors"
    assert legend(page, "HIGHER") == np.count_nonzero(above[12])
    assert legend(page, "AT_MOST") == certified(release)[12]
    assert legend(page, "UNCLEAR") == 60 - certified(release)[12] - np.count_nonzero(above[12])
    page.fill("#search", answers.targets[int(np.argmax(above[12]))])
    page.press("#search", "Enter")
    page.wait_for_selector("#place-card:not([hidden])")
    assert page.inner_text("#place-card .answer") == "At most 6 known infected visitors"
    assert page.inner_text("#place-card .why").startswith("This is certain.")
    assert "at most 6 in" in page.inner_text("#place-card .day-text")
    opened.quiet()


def test_a_level_below_it_is_said_beside_it(visit: Open) -> None:
    release = day_town(4)
    bounds = np.where(release.answers.bounded, release.answers.upper, -1).reshape(
        len(release.answers.windows), -1
    )[12]
    page = visit(release.map).page
    ready(page)
    assert page.inner_text("#legend .level") == f"of these at most 3\n{np.count_nonzero(bounds == 3)}"
    assert legend(page, "AT_MOST") == np.count_nonzero(bounds >= 0)


def test_a_busier_hour_says_less(town: Release) -> None:
    """The picture is one of the data's public profile, not of chance."""
    quiet, busy = (certified(town)[at] for at in (int(np.argmin(HOURS)), int(np.argmax(HOURS))))
    assert busy < quiet
