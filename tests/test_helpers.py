"""Helpers that every room needs stand once, below all of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import safeside
from safeside import extras
from safeside.errors import BadQuestion, MissingExtra
from safeside.names import did_you_mean
from safeside.zones import find_zone

SOURCES = Path(safeside.__file__).parent


@pytest.mark.parametrize(
    ("what", "home"),
    [
        (r"\bdifflib\b", "names.py"),
        (r"\bZoneInfoNotFoundError\b", "zones.py"),
        (r"raise MissingExtra\((?!\s*f?\"(Text in this dataframe|`safeside))", "extras.py"),
        (r"\bO_DIRECTORY\b.*\n.*\n.*fsync", "disk.py"),
    ],
    ids=["did you mean", "time zones", "extras", "flushing a directory"],
)
def test_there_is_one_of_each(what: str, home: str) -> None:
    having = [path for path in SOURCES.rglob("*.py") if re.search(what, path.read_text())]
    assert [str(path.relative_to(SOURCES)) for path in having] == [home]


def test_a_package_that_is_not_there_is_named_with_what_needs_it() -> None:
    assert extras.load("json", "Reading", "none").loads("1") == 1
    with pytest.raises(MissingExtra) as caught:
        extras.load("no_such_package.inside", "Flying", "wings")
    assert caught.value.what == "Flying needs the package no_such_package."
    assert caught.value.do == "Run: pip install 'safeside[wings]'"


def test_zones_are_found_by_name_and_others_answered_with_the_nearest() -> None:
    assert find_zone("Asia/Tokyo").key == "Asia/Tokyo"
    for name in ("Asia/Tokio", "../../etc/passwd", "Europe", ""):
        with pytest.raises(BadQuestion, match="There is no time zone"):
            find_zone(name)
    with pytest.raises(BadQuestion, match='Did you mean "Asia/Tokyo"'):
        find_zone("Asia/Tokio")


def test_names_are_offered_whatever_their_case_and_at_most_three() -> None:
    assert did_you_mean("Persn", ["person", "place"]) == ' Did you mean "person"?'
    assert did_you_mean("xyz", ["person", "place"]) == ""
    assert did_you_mean("aaaa", ["aaab", "aaac", "aaad", "aaae"]).count('"') == 6
