"""The figures of a report: numbers err on the safe side, and no label runs into another."""

from __future__ import annotations

import html
import re
from itertools import pairwise
from pathlib import Path

from tests.releases.making import simulated

from safeside.releases import report


def drawn(out: Path, at_most: int, chances: dict[int, float]) -> str:
    """The picture of these chances, in a report on a question about this number."""
    made = simulated(out, [0, 1], {"epsilon": 1, "at_most": at_most})
    *_, picture = re.findall(
        "<svg.*?</svg>", report.render(made.record, made.answers, chances).decode(), re.DOTALL
    )
    return str(picture)


def test_no_chance_is_shown_as_more_than_it_is(tmp_path: Path) -> None:
    shown = re.findall(
        r"<title>([\d.]+) %</title>", drawn(tmp_path / "r", 1, {0: 0.99996, 1: 0.6327, 2: 0.0})
    )
    assert shown == ["99.9", "63.2", "0.0"]


def test_labels_of_a_curve_do_not_run_into_each_other(tmp_path: Path) -> None:
    """The threshold is always told, and nothing so near that both could not be read on a phone."""
    chances = dict.fromkeys((*range(0, 46, 3), 46), 1.0) | {48: 0.0}
    picture = drawn(tmp_path / "late", 46, chances)
    told = [int(one) for one in re.findall(r">(\d+)</text>", picture)]
    assert 46 in told
    assert all(two - one >= 48 / 12 for one, two in pairwise(told))
    assert 'text-anchor="end">never beyond' in picture
    early = drawn(tmp_path / "early", 1, {0: 1.0, 1: 0.5, 9: 0.0})
    assert "never beyond" in early
    assert 'text-anchor="end">never beyond' not in early


def test_at_least_is_told_as_beyond_the_page_only_where_no_page_shows_it(tmp_path: Path) -> None:
    beyond = 'The data files also say "At least 4 known infected visitors"'
    for published in (False, True):
        terms = {"epsilon": 1, "at_most": 2, "at_least": 4, "alpha": "0.3", "publish_at_least": published}
        made = simulated(tmp_path / f"{published}", [0, 9], terms)
        for name in ("report.html", "statement.txt"):
            text = " ".join(html.unescape(made.file(name).decode()).split())
            assert (beyond in text) is not published


def test_a_share_is_never_rounded_to_all_or_nothing_when_it_is_neither(tmp_path: Path) -> None:
    made = simulated(tmp_path / "r", [0] * 1_500 + [90], {"epsilon": 20, "at_most": 9})
    page = made.file("report.html").decode()
    assert "1,500 of 1,501 places (over 99.9 %)" in page
    assert "1 of 1,501 places (under 0.1 %)" in page
