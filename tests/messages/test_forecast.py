"""What is said of a profile of the hours, or of popularity, that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from safeside.decisions.forecast import read_profile, scores
from safeside.errors import BadFile, BadQuestion

HOURS = [f"{hour},1" for hour in range(24)]
PROFILES = {
    "hour;weight\n": (
        "The profile of the hours has other columns than hour and weight, and day where days differ.",
        "Name the columns day, hour and weight, separated by commas.",
    ),
    "hour,weight\n24,1\n": (
        "The profile of the hours, line 2: hour is no whole number from 0 to 23.",
        "Correct the row.",
    ),
    "day,hour,weight\nxyz,0,1\n": (
        "The profile of the hours, line 2: day is none of mon, tue, wed, thu, fri, sat, sun.",
        "Correct the row.",
    ),
    "\n".join(["hour,weight", *HOURS[1:]]): (
        "The profile of the hours does not have every hour.",
        "Give every hour from 0 to 23 once (of every day, mon to sun, where there is a column day).",
    ),
    "\n".join(["hour,weight", *(one.replace(",1", ",0") for one in HOURS)]): (
        "Every weight of the profile is 0.",
        "Give the hours that are busy a larger weight.",
    ),
}


@pytest.mark.parametrize("text", PROFILES)
def test_profiles(tmp_path: Path, text: str) -> None:
    (tmp_path / "profile.csv").write_text(text)
    with pytest.raises(BadFile) as caught:
        read_profile(tmp_path / "profile.csv")
    assert (caught.value.what, caught.value.do) == PROFILES[text]


def test_a_profile_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadFile) as caught:
        read_profile(tmp_path / "profile.csv")
    assert caught.value.what == "The profile of the hours cannot be read."
    assert caught.value.do == "Give a small CSV file in UTF-8 that you may read."


def test_popularity() -> None:
    with pytest.raises(BadQuestion) as caught:
        scores([1, -1])
    assert caught.value.what == "The popularity of the places is not a list of numbers from 0."
    assert caught.value.do == "Give every place a number from 0, larger where more people come."
