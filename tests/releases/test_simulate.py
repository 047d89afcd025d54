"""Simulations: the whole pipeline without a ledger. Never wrong, always marked."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.releases.making import DAY, INSTANT, KINDS, counts, over_a_day, places, simulated, states_of, terms

from safeside.decisions.states import State
from safeside.errors import BadRelease
from safeside.releases.answers import CODE
from safeside.releases.signing import create_key
from safeside.releases.verify import check_files, verify


@settings(max_examples=150)
@given(terms=terms(), counts=counts, seed=st.integers(0, 2**32))
def test_at_most_is_never_wrong_and_states_follow_from_bounds(
    terms: dict[str, Any], counts: list[int], seed: int
) -> None:
    with TemporaryDirectory() as directory:
        when = DAY if over_a_day(terms) else INSTANT
        release = simulated(Path(directory) / "out", counts, terms, when=when, seed=seed)
        check_files(release)
        said, truth = release.answers, np.array(counts)
        limits = release.conditions.at_most
        quiet = said.states == CODE[State.AT_MOST]
        assert (truth[quiet] <= limits[quiet]).all()
        assert (truth[said.bounded] <= said.upper[said.bounded]).all()


def test_the_certain_lower_bound_of_padded_noise(tmp_path: Path) -> None:
    counts = [0, 3, 9, 15, 40, 200]
    release = simulated(tmp_path / "out", counts, dict(epsilon=1, **KINDS["padded"]))
    assert (np.array(counts) >= release.answers.lower).all()
    assert release.answers.lower.max() > 0


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_question_makes_a_whole_release(tmp_path: Path, kind: str) -> None:
    terms = dict(epsilon=1, **KINDS[kind])
    release = simulated(
        tmp_path / "out", [0, 1, 2, 5, 0, 8], terms, when=DAY if over_a_day(terms) else INSTANT
    )
    check_files(release)
    assert sum(release.answers.counted()[state.name] for state in State) == 6
    files = {path.name for path in release.directory.iterdir()}
    assert files == set(release.manifest["files"]) | {"release.json"}
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_seed_repeats_a_simulation_and_its_absence_does_not(tmp_path: Path) -> None:
    terms = {"epsilon": "0.01", "at_most": 2}
    bounds = [
        simulated(tmp_path / name, [5] * 12, terms, seed=seed).answers.upper.tolist()
        for name, seed in (("a", 7), ("b", 7), ("c", 8), ("d", None))
    ]
    assert bounds[0] == bounds[1]
    assert len({tuple(one) for one in bounds}) == 3


def test_every_file_says_that_it_is_a_simulation(tmp_path: Path) -> None:
    release = simulated(tmp_path / "out", [0, 1, 2, 3, 4, 5], {"epsilon": 1, "at_most": 2})
    assert json.loads((release.directory / "release.json").read_text())["simulated"] is True
    assert json.loads((release.directory / "answers.geojson").read_text())["safeside"]["simulated"] is True
    for name in ("map.html", "report.html", "statement.txt"):
        assert "simulation" in (release.directory / name).read_text().lower()
    assert not (release.directory / "signature.json").exists()


def test_verify_refuses_a_simulation(tmp_path: Path) -> None:
    release = simulated(tmp_path / "out", [0, 1, 2, 3, 4, 5], {"epsilon": 1, "at_most": 2})
    create_key(tmp_path / "key")
    with pytest.raises(BadRelease, match="simulation"):
        verify(release.directory, tmp_path / "key.pub")


def test_the_files_hold_the_columns_they_should_and_no_count(tmp_path: Path) -> None:
    release = simulated(tmp_path / "out", [0, 1, 2, 3, 4, 5], {"epsilon": 1, "at_most": 2})
    table = pl.read_csv(release.directory / "answers.csv")
    assert table.columns == ["place", "window", "state", "upper_bound", "lower_bound"]
    assert table["place"].to_list() == sorted(table["place"].to_list())
    assert set(table["state"].to_list()) <= {"AT_MOST", "AT_LEAST", "UNCLEAR", "NOT_ASKED"}
    assert pl.read_parquet(release.directory / "answers.parquet").equals(table)


@pytest.mark.parametrize("public", [False, True])
def test_at_least_is_on_public_maps_only_where_that_was_asked_for(tmp_path: Path, public: bool) -> None:
    """A false alarm can harm a shop: by default no public file has the state, the words or a lower bound."""
    terms = {"epsilon": 5, "at_most": 2, "at_least": 10, "alpha": "0.1", "publish_at_least": public}
    release = simulated(tmp_path / "out", [0, 90, 0], terms)
    assert states_of(release.answers)[1] == "AT_LEAST"
    features = json.loads((release.directory / "answers.geojson").read_text())["features"]
    assert features[1]["properties"]["state"] == ("AT_LEAST" if public else "UNCLEAR")
    assert ("lower_bound" in features[1]["properties"]) == public
    page = (release.directory / "map.html").read_text()
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    listed, codes = data["answers"]["said"], base64.b64decode(data["answers"]["codes"])
    state, upper, *lower = listed[codes[1]]
    assert (state, upper) == (CODE[State.AT_LEAST if public else State.UNCLEAR], release.answers.upper[1])
    assert lower == ([release.answers.lower[1]] if public else [])
    assert data["has_lower"] == (data["at_least"] is not None) == public
    assert ("AT_LEAST" in data["legend"]) == public
    report = (release.directory / "report.html").read_text()
    assert ('class="AT_LEAST"' in report) == public


def test_a_price_is_divided_by_the_places_a_person_can_be_at(tmp_path: Path) -> None:
    asked = {"at_most": 30, "guarantee": "dp", "delta": "1e-3", "max_places_per_person": 2}
    for decision in (False, True):
        terms = dict(epsilon=1, decision=decision, **asked)
        made = simulated(tmp_path / f"out {decision}", [0, 1], terms, when=DAY).manifest
        assert made["mechanism"]["rate"] == "1/2"
        assert (made["guarantee"]["epsilon"], made["guarantee"]["delta"]) == ("1", "1/1000")


def test_popularity_asks_the_quiet_places_first(tmp_path: Path) -> None:
    # p0 is the most popular of the list, so it comes last.
    release = simulated(tmp_path / "out", [50, 0, 0, 0, 0, 0], {"epsilon": 5, "at_most": 2, "max_alarms": 1})
    assert states_of(release.answers) == ["UNCLEAR", *["AT_MOST"] * 5]
    order = (release.directory / "order.csv").read_text().split()
    assert order == ["place", "p5", "p4", "p3", "p2", "p1", "p0"]


def test_an_order_may_come_from_an_earlier_release_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "order.txt").write_text("p2\np1\np0\np3\n")
    terms = {"epsilon": 5, "at_most": 2, "max_alarms": 1, "order": f"file:{tmp_path / 'order.txt'}"}
    release = simulated(tmp_path / "out", [0, 0, 0, 0], terms)
    assert (release.directory / "order.csv").read_text().split()[1:] == ["p2", "p1", "p0", "p3"]
    assert release.manifest["question"]["method"]["order"]["kind"] == "file"


def test_thresholds_may_differ_from_place_to_place(tmp_path: Path) -> None:
    from safeside.releases.simulate import simulate

    listed = places(4)
    counts = dict.fromkeys(listed.ids, 1)
    frame = pl.DataFrame({"place": list(listed.ids), "at_most": [0, 5, 5, 40]})
    release = simulate(counts, epsilon=3, out=tmp_path / "out", places=frame, seed=1)
    check_files(release)
    assert release.manifest["question"]["at_most"] == 5
    assert release.manifest["question"]["at_most_of"] == {"p0": 0, "p3": 40}
    assert states_of(release.answers)[0] == "UNCLEAR"
    assert states_of(release.answers)[3] == "AT_MOST"
