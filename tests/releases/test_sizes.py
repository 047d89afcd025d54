"""Public sizes of groups: no bound is above one, and what they say alone is said, by every method."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.releases.making import states_of

from safeside import ask, simulate
from safeside.decisions.states import State
from safeside.errors import BadCounts, BadQuestion, LimitBroken
from safeside.releases.answers import CODE
from safeside.releases.methods.base import Drawn
from safeside.releases.preview import to_expect
from safeside.releases.verify import check_files

METHODS: dict[str, dict[str, Any]] = {
    "ageo": {},
    "ageo and at least": {"at_least": 12, "alpha": "0.3"},
    "ageo and public at least": {"at_least": 12, "alpha": "0.5", "publish_at_least": True},
    "padded": {"guarantee": "dp", "delta": "1e-2"},
    "padded and at least": {"guarantee": "dp", "delta": "1e-2", "at_least": 12, "alpha": "0.2"},
    "decision": {"guarantee": "dp", "delta": "1e-2", "decision": True},
    "in turn": {"max_alarms": 2},
    "in turn at random": {"max_alarms": 1, "order": "random"},
    "selection": {"method": "selection"},
}
LISTED = pl.DataFrame({"group": ["a", "b", "c"], "size": [3, 40, 100]})


@st.composite
def counted(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Sizes, and counts that do not exceed them; one size is above every threshold."""
    sizes = [25, *draw(st.lists(st.integers(1, 30), min_size=1, max_size=8))]
    return sizes, [draw(st.integers(0, size)) for size in sizes]


@given(of=counted(), name=st.sampled_from(list(METHODS)), at_most=st.integers(0, 11))
def test_every_bound_is_true_and_no_larger_than_the_size(
    of: tuple[list[int], list[int]], name: str, at_most: int
) -> None:
    sizes, counts = map(np.array, of)
    listed = pl.DataFrame({"group": [f"g{i}" for i in range(len(sizes))], "size": sizes})
    inquiry = ask(groups=listed, as_of="2026-09-01", at_most=at_most, epsilon="1/3", **METHODS[name])
    method = inquiry.question.method
    asked = replace(inquiry.conditions, known=method.settled(inquiry.conditions))
    drawn = method.draw(asked, counts)
    answers = method.states(asked, drawn)
    assert (answers.upper[answers.bounded] >= counts[answers.bounded]).all()
    assert (answers.upper[answers.bounded] <= sizes[answers.bounded]).all()
    assert (answers.lower <= sizes).all()
    quiet = answers.states == CODE[State.AT_MOST]
    assert quiet[sizes <= at_most].all(), "true without any data"
    assert (counts[quiet] <= at_most).all()
    assert not (answers.states[sizes < 12] == CODE[State.AT_LEAST]).any(), "no group has so many people"
    # A verifier finds that they follow, each by itself and all together.
    assert method.follows(asked, answers, drawn.outcome).all()
    assert method.why_impossible(asked, answers, drawn.outcome) is None


def test_a_group_that_is_certain_by_its_size_is_not_asked_in_turn() -> None:
    inquiry = ask(groups=LISTED, as_of="2026-09-01", at_most=5, epsilon="1/100", max_alarms=1)
    method, asked = inquiry.question.method, inquiry.conditions
    asked = replace(asked, known=np.array([0, 2, 1]))
    for _ in range(50):
        drawn = method.draw(asked, np.array([3, 0, 90]))
        names = states_of(method.states(asked, drawn))
        assert names[0] == "AT_MOST"
        assert names[1:] == ["NOT_ASKED", "UNCLEAR"], "the one alarm is that of the large group"
        assert drawn.alarms == 1


def test_a_larger_bound_than_the_size_is_found() -> None:
    inquiry = ask(groups=LISTED, as_of="2026-09-01", at_most=5, epsilon=1)
    method, asked = inquiry.question.method, inquiry.conditions
    answers = method.states(asked, Drawn(values=np.array([4, 7, 300])))
    assert answers.upper.tolist() == [3, 7, 100]
    for at, upper in ((0, 4), (2, 101)):
        forged = answers.upper.copy()
        forged[at] = upper
        assert not method.follows(asked, replace(answers, upper=forged), {})[at]


def test_where_every_group_is_small_nothing_is_asked() -> None:
    with pytest.raises(BadQuestion, match="No group has more people than the number asked about") as caught:
        ask(groups=LISTED, as_of="2026-09-01", at_most=100, epsilon=1)
    assert "is true of each without any data" in caught.value.what
    assert caught.value.do == "Ask about a smaller number, or about a share (5%)."


@pytest.mark.parametrize("name", METHODS)
def test_a_simulation_of_groups_has_their_sizes_and_shares_in_every_file(tmp_path: Path, name: str) -> None:
    terms = {"groups": LISTED, "at_most": 5, "epsilon": 1, **METHODS[name]}
    made = simulate({"a": 3, "b": 2, "c": 70}, out=tmp_path / "out", seed=3, **terms)
    check_files(made)
    table = made.to_polars()
    assert table.columns[:2] == ["group", "as_of"]
    assert table["size"].to_list() == [3, 40, 100]
    for answer in made:
        assert answer.size is not None
        if answer.upper_bound is not None:
            assert answer.upper_percent is not None
            exact = 100 * answer.upper_bound / answer.size
            assert exact <= float(answer.upper_percent) < exact + 0.1
    assert pl.read_parquet(made.directory / "answers.parquet").equals(table)
    assert '"size":40' in (made.directory / "answers.geojson").read_text()
    assert '"At most 3 of the 3 listed on 1 January 2000 (100.0 %)"' in made.file("answers.geojson").decode()
    assert "says nothing about anybody" in made.file("report.html").decode()


def test_a_spoilt_share_is_found(tmp_path: Path) -> None:
    terms: dict[str, Any] = {"groups": LISTED, "at_most": 5, "epsilon": 1}
    made = simulate({"a": 3, "b": 2, "c": 70}, out=tmp_path / "out", seed=3, **terms)
    text = made.file("answers.csv").decode()
    held = dict(made.held or {})
    for spoilt in (text.replace("5.0", "4.9"), text.replace(",40,", ",41,"), text.replace("5.0", "5.00")):
        assert spoilt != text
        with pytest.raises(Exception, match=r"answers\.csv does not list"):
            _ = replace(made, held={**held, "answers.csv": spoilt.encode()}).answers


def test_simulations_of_groups_that_cannot_be_made(tmp_path: Path) -> None:
    terms: dict[str, Any] = {"groups": LISTED, "at_most": 5, "epsilon": 1, "out": tmp_path / "out"}
    with pytest.raises(LimitBroken, match="than its listed size"):
        simulate({"a": 4, "b": 2, "c": 70}, **terms)
    with pytest.raises(BadCounts, match="The counts are not those of the groups") as caught:
        simulate({"a": 3, "b": 2}, **terms)
    assert "every group of the groups file (by every measure, where there are several)" in caught.value.do
    (tmp_path / "counts.csv").write_text("group,measure,count\na,x,1\na,y,0\nb,x,2\nb,y,3\nc,x,4\nc,y,5\n")
    both = {"measures": {"x": "mmr=0", "y": "mmr=1"}, "domains": {"mmr": [0, 1, 2]}}
    made = simulate(tmp_path / "counts.csv", **terms, **both, seed=1)
    assert made.answers.measures == ("x", "y")
    assert (made.answers.upper >= [1, 2, 4, 0, 3, 5]).all()


def test_the_report_speaks_of_shares_where_a_share_is_asked(tmp_path: Path) -> None:
    terms: dict[str, Any] = {"groups": LISTED, "at_most": "50%", "epsilon": 1, "group_noun": "school/schools"}
    report = simulate({"a": 0, "b": 2, "c": 70}, out=tmp_path / "shares", seed=3, **terms).file("report.html")
    page = " ".join(report.decode().split())
    assert "Schools by the share of those listed that their upper bound is, in per cent, rounded up." in page
    assert "of the largest schools, where 50 % are 50 people" in page
    assert "As of 1 January 2000" in page
    numbers = simulate({"a": 0, "b": 2, "c": 70}, out=tmp_path / "numbers", seed=3, **terms | {"at_most": 5})
    assert "Schools by the upper bound published for them." in numbers.file("report.html").decode()


def test_the_preview_promises_what_the_smallest_threshold_keeps() -> None:
    """5 % of 19 people are none: nobody counted is then not noticed with a probability of 1 - 1/e."""
    listed = pl.DataFrame({"group": ["a", "b"], "size": [19, 310]})
    said = to_expect(ask(groups=listed, as_of="2026-09-01", at_most="5%", epsilon=1))
    assert "A group gets it with a probability of at least 63.2 % with 0 people counted." in said
