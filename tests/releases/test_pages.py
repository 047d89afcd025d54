"""Pages escape what they show, ask for nothing that nobody gave, and run one script alone."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from pathlib import Path

import polars as pl
import pytest
from jinja2 import UndefinedError
from tests.releases.making import simulated

from safeside.releases import pages
from safeside.releases.map_page import regions
from safeside.visits import read_places
from safeside.words import Words

HOSTILE = '</title></style></script><script>alert(1)</script><img src=x onerror="alert(1)">'
STYLES = ("map.css", "groups.css", "report.css")


def notice(**values: str) -> str:
    filled = {"title": "t", "when_iso": "w", "when_text": "w", "notice": ["n"], **values}
    return pages.page("notice.html", Words(), style="report.css", **filled).decode()


@pytest.mark.parametrize("name", ["title", "when_iso", "when_text"])
def test_every_value_is_escaped(name: str) -> None:
    page = notice(**{name: HOSTILE})
    assert HOSTILE not in page
    assert "<script" not in page
    assert "<img" not in page


def test_a_name_that_nobody_gave_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="title"):
        pages.page("notice.html", Words(), style="report.css")


def test_data_cannot_end_the_element_it_stands_in() -> None:
    value = {"names": [HOSTILE, "\u2028\u2029 &amp;"]}
    block = pages.data_block(value)
    assert "<" not in block
    assert pages.read_data(f'<script type="application/json" id="data">{block}</script>'.encode()) == value


@pytest.mark.parametrize("name", STYLES)
def test_no_style_can_end_the_element_it_stands_in(name: str) -> None:
    assert "<" not in pages.asset(name)


def test_the_only_script_of_a_map_is_the_one_that_its_policy_names(tmp_path: Path) -> None:
    page = simulated(tmp_path / "r", [0, 1, 9], {"epsilon": 1, "at_most": 2}).map.read_text()
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", page, re.DOTALL)
    assert [kind for kind, _ in scripts] == [' type="application/json" id="data"', ""]
    digest = base64.b64encode(hashlib.sha256(scripts[1][1].encode()).digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert f"script-src 'sha256-{digest}';" in html.unescape(policy)


def test_the_script_has_the_coding_of_states_that_the_program_has() -> None:
    code = pages.script(["answers.js"])
    assert pages.states() in code
    assert "NOT_ASKED = " not in pages.asset("answers.js")


def test_districts_are_numbered_and_a_place_without_one_has_none() -> None:
    listed = pl.DataFrame({"place": ["a", "b", "c"], "region": ["West", None, "East"]})
    assert regions(read_places(listed)) == {"names": ["", "East", "West"], "index": [2, 0, 1]}
    assert regions(read_places(["a"])) is None
