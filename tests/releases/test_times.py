"""Windows in words: one of them, a series of them, and one among many."""

from __future__ import annotations

import pytest

from safeside.releases import times
from safeside.visits import split
from safeside.visits.times.window import Window
from safeside.words import Words

TOKYO, BERLIN = "Asia/Tokyo", "Europe/Berlin"
SUNDAY = "2013-12-22"


def said(when: str, every: str | None = None, zone: str | None = TOKYO, *, so_far: bool = False) -> str:
    whole = Window.parse(when, zone)
    windows = [whole] if every is None else split(whole, every, zone)
    return times.when([one.text for one in windows], zone, Words(), so_far=so_far)


@pytest.mark.parametrize(
    ("when", "words"),
    [
        ("2013-12-22T18:00", "Sunday 22 December 2013, 18:00 (Asia/Tokyo)"),
        (SUNDAY, "Sunday 22 December 2013, the whole day (Asia/Tokyo)"),
        ("2013-12-22/P7D", "Sunday 22 December 2013 to Saturday 28 December 2013 (Asia/Tokyo)"),
        ("2013-12-22T18:00/PT1H", "Sunday 22 December 2013, 18:00 to 19:00 (Asia/Tokyo)"),
        (
            "2013-12-22T18:00/PT12H",
            "Sunday 22 December 2013, 18:00 to Monday 23 December 2013, 06:00 (Asia/Tokyo)",
        ),
    ],
)
def test_one_window(when: str, words: str) -> None:
    assert said(when) == words


@pytest.mark.parametrize(
    ("when", "every", "zone", "words"),
    [
        (SUNDAY, "1h", TOKYO, "Sunday 22 December 2013, each hour (Asia/Tokyo)"),
        (SUNDAY, "2h", TOKYO, "Sunday 22 December 2013, every 2 hours (Asia/Tokyo)"),
        (SUNDAY, "30min", TOKYO, "Sunday 22 December 2013, every 30 minutes (Asia/Tokyo)"),
        (
            "2013-12-22T18:00/PT3H",
            "1h",
            TOKYO,
            "Sunday 22 December 2013, 18:00 to 21:00, each hour (Asia/Tokyo)",
        ),
        (
            "2013-12-22/P7D",
            "1d",
            TOKYO,
            "Sunday 22 December 2013 to Saturday 28 December 2013, each day (Asia/Tokyo)",
        ),
        (
            "2013-12-22/P14D",
            "7d",
            TOKYO,
            "Sunday 22 December 2013 to Saturday 4 January 2014, each week (Asia/Tokyo)",
        ),
        (
            "2013-12-22T18:00/PT150M",
            "1h",
            TOKYO,
            "Sunday 22 December 2013, 18:00 to 20:30, each hour (Asia/Tokyo)",
        ),
        # The clocks are set back on that day: it has 25 hours, and is one day of three.
        ("2013-10-27", "1h", BERLIN, "Sunday 27 October 2013, each hour (Europe/Berlin)"),
        (
            "2013-10-26/P3D",
            "1d",
            BERLIN,
            "Saturday 26 October 2013 to Monday 28 October 2013, each day (Europe/Berlin)",
        ),
    ],
)
def test_a_series_of_windows(when: str, every: str, zone: str, words: str) -> None:
    assert said(when, every, zone) == words


def test_windows_of_several_lengths_are_counted() -> None:
    windows = ["2013-12-22T00:00:00+09:00/2013-12-22T06:00:00+09:00"]
    windows += ["2013-12-22T08:00:00+09:00/2013-12-22T09:00:00+09:00"]
    assert (
        times.when(windows, None, Words()) == "Sunday 22 December 2013, 00:00 to 09:00, 2 windows (UTC+09:00)"
    )


def test_a_time_that_is_not_over_says_so() -> None:
    assert said(SUNDAY, so_far=True).endswith("the whole day (Asia/Tokyo), so far")


def test_one_window_among_many_has_a_short_name() -> None:
    hours = [one.text for one in split(Window.parse(SUNDAY, TOKYO), "1h", TOKYO)]
    named = times.on_the_map(hours, Words())
    assert [named[18][name] for name in ("time", "short")] == ["18:00 to 19:00", "18:00"]
    assert named[23]["label"] == "Sunday 22 December 2013, 23:00 to 00:00"
    assert times.units(hours, Words()) == ["hour", "hours"]


@pytest.mark.parametrize(
    ("every", "times_said"),
    [
        ("6h", ["18:00 to 00:00", "00:00 to 06:00", "06:00 to 12:00", "12:00 to 18:00"]),
        ("12h", ["18:00 to Monday 23 December 2013, 06:00", "06:00 to 18:00"]),
        ("30h", ["18:00 to Tuesday 24 December 2013, 00:00", "00:00 to Wednesday 25 December 2013, 06:00"]),
    ],
)
def test_a_window_that_ends_on_another_day_says_which(every: str, times_said: list[str]) -> None:
    whole = "2013-12-22T18:00/PT60H" if every == "30h" else "2013-12-22T18:00/PT24H"
    listed = [one.text for one in split(Window.parse(whole, TOKYO), every, TOKYO)]
    assert [one["time"] for one in times.on_the_map(listed, Words())] == times_said


def test_an_hour_that_the_clock_repeats_names_its_offset() -> None:
    hours = [one.text for one in split(Window.parse("2013-10-27", BERLIN), "1h", BERLIN)]
    listed = [one["label"] for one in times.on_the_map(hours, Words())]
    assert len(hours) == len(set(listed)) == 25
