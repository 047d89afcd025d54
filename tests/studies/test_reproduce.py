"""The paper reproduced: every number within its error of theory, every figure there and not blank."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from safeside_studies import selection
from safeside_studies.city import generate
from safeside_studies.movements import read_city
from safeside_studies.reproduce import FIGURES, Reproduction, reproduce

pytestmark = pytest.mark.xdist_group("reproduce")  # one run of the experiments serves every test

MOST_DEVIATIONS = 4.5
"""Some two hundred numbers are drawn, with fixed seeds: one beyond this would be one in a thousand runs."""
PICTURES = (
    "figure1",
    "figure2",
    "figure3",
    "figure4",
    "figure5",
    "figure6",
    "selection",
    "schools",
    "needed",
    "risk",
)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return reproduce(tmp_path_factory.mktemp("paper"), quick=True)


@pytest.fixture(scope="module")
def results(done: Reproduction) -> dict[str, Any]:
    def refuse(text: str) -> None:
        raise AssertionError(f"{text} is not JSON")

    loaded: dict[str, Any] = json.loads(done.results.read_text(encoding="utf-8"), parse_constant=refuse)
    return loaded


@pytest.fixture(scope="module")
def numbers(results: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for entry in results["numbers"]}


def test_every_number_agrees_with_theory(results: dict[str, Any]) -> None:
    held = [entry for entry in results["numbers"] if entry["theory"] is not None]
    assert len(held) > 150
    for entry in held:
        gap = abs(entry["ours"] - entry["theory"])
        allowed = MOST_DEVIATIONS * entry["standard_error"] + 1e-9 * max(1.0, abs(entry["theory"]))
        assert gap <= allowed, entry


def test_the_errors_are_as_large_as_they_say(results: dict[str, Any]) -> None:
    """Standard errors that were too large would let anything pass."""
    seen = {}
    for entry in results["numbers"]:
        if entry["theory"] is not None and entry["standard_error"] > 0:
            seen[entry["ours"], entry["theory"]] = (entry["ours"] - entry["theory"]) / entry["standard_error"]
    assert 0.75 < math.sqrt(np.mean(np.square(list(seen.values())))) < 1.3


@pytest.mark.parametrize(
    ("name", "paper"),
    [
        ("figure2.people", "10,338"),
        ("figure2.places", "5,835"),
        ("figure2.safe", "5,343"),
        ("figure2.adp", "5,031 of 5,343 (94.2 %)"),
        ("figure2.approximate", "4 of 5,343"),
        ("figure4.t.1.paper", "about 0.4"),
        ("figure4.t.1.code", "about 0.4"),
        ("figure4.errors", "50 in 5,000"),
        ("figure4.laplace_error", "√2 = 1.414"),
        ("figure5.ten_or_more", "about 0.5"),
        ("figure5.ten_or_more_code", "about 0.5"),
        ("figure5.code", "about 10"),
        ("figure5.dense", "one"),
        ("needed.epsilon", "8.4"),
        ("needed.delta_3", "0.12"),
    ],
)
def test_every_printed_number_is_there(numbers: dict[str, dict[str, Any]], name: str, paper: str) -> None:
    assert numbers[name]["paper"] == paper


def test_our_numbers(numbers: dict[str, dict[str, Any]]) -> None:
    assert round(numbers["needed.epsilon"]["ours"], 2) == 8.52
    assert round(numbers["needed.delta_3"]["ours"], 3) == 0.045
    assert round(numbers["needed.delta_6"]["ours"], 4) == 0.0021
    assert round(numbers["needed.delta_10"]["ours"], 6) == 3.9e-5
    assert numbers["risk.adp_set"]["ours"] == 297
    assert numbers["figure2.pure"]["ours"] == 0
    assert numbers["figure4.t.1.ours"]["ours"] >= 0.632
    assert numbers["figure5.popular"]["ours"] >= 20 * numbers["figure5.random"]["ours"]
    assert numbers["figure5.blocks"]["theory"] > numbers["figure5.popular"]["theory"]


def test_both_readings_of_the_paper_are_shown(numbers: dict[str, dict[str, Any]]) -> None:
    """The text: quiet places, none twice. The code: places asked, drawn with replacement, the alarm's too."""
    text, code = numbers["figure5.ten_or_more"], numbers["figure5.ten_or_more_code"]
    assert round(text["theory"], 2) == 0.37
    assert round(code["theory"], 2) == 0.41
    assert numbers["figure5.code"]["theory"] == pytest.approx(
        numbers["figure5.paper"]["theory"] + 1, abs=0.01
    )
    assert "0.39 at most" in text["why"]
    assert "0.43 at most" in code["why"]


def test_the_page_gives_the_numbers_of_figure_5(numbers: dict[str, dict[str, Any]]) -> None:
    """Their theory is the same in a quick run and a full one."""
    page = (Path(__file__).parents[2] / "docs" / "paper.md").read_text(encoding="utf-8")
    rows = {line.split(" | ")[0].removeprefix("| "): line.split(" | ") for line in page.splitlines()}
    for name, form in (
        ("ten_or_more", ".3f"),
        ("ten_or_more_code", ".3f"),
        ("paper", ".1f"),
        ("code", ".1f"),
    ):
        entry = numbers[f"figure5.{name}"]
        _what, paper, _ours, theory, why = rows[entry["what"]]
        assert (paper, theory) == (entry["paper"], format(entry["theory"], form))
        assert why.removesuffix(" |") == entry["why"]


def test_fewer_than_one_is_said_of_empty_places_alone(numbers: dict[str, dict[str, Any]]) -> None:
    """Whatever the data, so no cap on visits explains 0.4; "at most 1" is another question."""
    assert numbers["figure4.t.1.code"]["theory"] == pytest.approx(1 - math.exp(-1), abs=1e-12)
    assert numbers["figure4.t.1.paper"]["theory"] < numbers["figure4.t.1.code"]["theory"]
    assert numbers["figure4.t.1.ours"]["paper"] is None
    for t in range(2, 11):
        before = numbers[f"figure4.t.{t - 1}.ours"]["theory"]
        assert numbers[f"figure4.t.{t}.code"]["theory"] == pytest.approx(before, abs=1e-12)


def test_adp_is_never_wrong(numbers: dict[str, dict[str, Any]]) -> None:
    wrong = [
        entry
        for name, entry in numbers.items()
        if name.endswith("ours.wrong_safe") or name == "figure2.wrong"
    ]
    assert len(wrong) == 3
    assert all(entry["ours"] == 0 for entry in wrong)


def test_a_difference_has_its_reason(results: dict[str, Any]) -> None:
    for entry in results["numbers"]:
        same = str(entry["paper"]).replace(",", "") in (f"{entry['ours']:.0f}", "none")
        if entry["paper"] is not None and not same and not entry["paper"].startswith("at most"):
            assert entry["why"], entry["name"]


@pytest.mark.parametrize("name", PICTURES)
def test_figures_are_drawn(done: Reproduction, name: str) -> None:
    directory = done.report.parent
    with Image.open(directory / f"{name}.png") as image:
        pixels = np.asarray(image.convert("L"))
    assert pixels.shape[1] >= 1400
    ink = float(np.mean(pixels < 200))
    assert 0.01 < ink < 0.7
    drawing = (directory / f"{name}.svg").read_text(encoding="utf-8")
    assert drawing.rstrip().endswith("</svg>")
    assert len(re.findall(r"<(?:path|use|image) ", drawing)) > 30


def test_the_list_of_figures_is_the_list_of_files(done: Reproduction, results: dict[str, Any]) -> None:
    assert [entry["name"] for entry in results["figures"]] == list(PICTURES)
    for entry in results["figures"]:
        assert (done.report.parent / entry["png"]).exists()
        assert (done.report.parent / entry["svg"]).exists()
        assert entry["caption"]


def test_the_report_stands_alone(done: Reproduction) -> None:
    page = done.report.read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == len(PICTURES)
    assert not re.search(r"(?:src|href)=\"(?!data:|#)", page)
    assert "http://" not in page
    assert "https://" not in page
    for outcome in done.outcomes:
        for one in outcome.findings:
            if one.paper is not None:
                assert f">{one.paper}<" in page
                assert one.ours_shown in page


def test_one_figure_runs_alone_and_the_same_again(tmp_path: Path) -> None:
    told: list[float | None] = []
    runs = [
        reproduce(
            tmp_path / name, figures=["figure1"], quick=True, progress=lambda done, _what: told.append(done)
        )
        for name in ("one", "two")
    ]
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == [
        "figure1.png",
        "figure1.svg",
        "report.html",
        "results.json",
    ]
    for name in ("figure1.svg", "report.html", "results.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert runs[0].outcomes[0].findings == runs[1].outcomes[0].findings
    assert told[-1] == 1.0


def test_selection_certifies_most_of_a_day_at_one_epsilon(numbers: dict[str, dict[str, Any]]) -> None:
    """By what is expected, which the draws are held against above; docs/selection.md has the full run."""
    limit = {"places.t5": 5_187, "place-hours.t5": 136_596}
    for name, spread, least in (
        ("places.t5", "0", 0.75),
        ("places.t5", "0.6", 0.65),
        ("places.t5", "1", 0.5),
        ("place-hours.t5", "0", 0.7),
    ):
        assert numbers[f"selection.{name}.sigma{spread}"]["theory"] > least * limit[name]
    assert numbers["selection.times_salap"]["ours"] > 300


def test_the_second_count_of_the_study_is_the_first(tmp_path: Path) -> None:
    generate(tmp_path, people=300, places=60, days=2)
    data = read_city(tmp_path)
    for what in (selection.PLACES, selection.PLACE_HOURS):
        for day in range(2):
            assert np.array_equal(selection.counts_of(data, what, day), selection.recounted(data, what, day))


def test_every_figure_has_a_name() -> None:
    assert list(FIGURES) == [
        "figure1",
        "figure2",
        "figure3",
        "figure4",
        "figure5",
        "figure6",
        "selection",
        "schools",
        "needed",
    ]
