"""`safeside plan`: the table, the sentence, the picture, and JSON that rounds down."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from safeside.cli.main import build
from safeside.errors import SafesideError
from safeside.exact import ball
from safeside.mechanisms import AGeo

ARGUMENTS = ["plan", "--at-most", "5", "--epsilon", "1"]


def run(*more: str) -> str:
    result = CliRunner().invoke(build(), [*ARGUMENTS, *more], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_the_table_and_the_sentence() -> None:
    shown = run("--delta", "1e-6", "--alpha", "0.001", "--want-beta", "0.9")
    assert 'How often "at most 5" is said' in shown
    assert "0.9975" in shown
    assert "0.4036" in shown
    assert "0.4034" in shown
    assert 'Use asymmetric differential privacy (AGeo) at epsilon 1: it says "at most 5"' in shown


def test_at_alpha_0_dp_never_says_it() -> None:
    assert "never said" in run()


def test_json() -> None:
    made = json.loads(run("--json", "--delta", "1e-4"))
    assert made["recommended"] == "adp"
    assert made["delta"] == "0.0001"
    assert [row["count"] for row in made["rows"]] == list(range(6))
    for row in made["rows"]:
        exact = AGeo(epsilon=1).beta(5, row["count"])
        assert ball(0) + row["adp"] <= exact
        assert float(exact.mid()) == pytest.approx(row["adp"], abs=1e-15)
        assert row["dp"] == 0
    assert made["sentence"].startswith("Use asymmetric")


@pytest.mark.parametrize("name", ["plan.png", "plan.pdf", "plan.svg"])
def test_the_picture(tmp_path: Path, name: str) -> None:
    shown = run("--plot", str(tmp_path / name))
    assert f"Picture: {tmp_path / name}" in shown
    assert (tmp_path / name).stat().st_size > 5_000


def test_the_picture_is_told_apart_without_colour(tmp_path: Path) -> None:
    """The three lines differ in brightness, so that a grey print still shows them."""
    run("--plot", str(tmp_path / "plan.png"), "--alpha", "0.01")
    grey = Image.open(tmp_path / "plan.png").convert("L")
    counts = grey.histogram()
    assert grey.width >= 1200
    assert counts[0] > 1000
    assert sum(counts[85:115]) > 1000
    assert sum(counts[125:145]) > 500


def test_refused_numbers_reach_the_reader() -> None:
    with pytest.raises(SafesideError, match="epsilon is 0"):
        CliRunner().invoke(
            build(),
            ["plan", "--at-most", "5", "--epsilon", "0"],
            catch_exceptions=False,
            standalone_mode=False,
        )


def test_it_leads_to_what_needs_no_limit() -> None:
    said = " ".join(run("--at-most", "2", "--epsilon", "1").split())
    assert "publish with --max-alarms, which needs no limit on the places of a person" in said


@pytest.fixture
def venues(tmp_path: Path) -> Path:
    path = tmp_path / "places.csv"
    rows = [f"venue {number:03},{1 + number}" for number in range(60)]
    path.write_text("\n".join(["place,popularity", *rows]) + "\n")
    return path


def test_a_plan_for_a_list_compares_the_ways_of_answering(venues: Path, tmp_path: Path) -> None:
    day = ["--places", str(venues), "--when", "2024-03-03", "--timezone", "UTC", "--every", "6h"]
    shown = run(*day, "--plot", str(tmp_path / "plan.png"))
    assert "of 60 places in 4 windows (240 conditions)" in shown
    assert "No data was read" in shown
    assert Image.open(tmp_path / "plan.png").size[0] > 1000
    made = json.loads(run(*day, "--json"))
    assert (made["places"], made["windows"], made["forecast"]) == (60, 4, "popularity")
    for row in made["rows"]:
        assert 0 <= row["sparse"] <= row["limit"] + 1e-6
        assert 0 <= row["selection"] <= row["limit"] + 1e-6
    first, half = made["rows"][0], made["rows"][2]
    assert (first["epsilon"], half["epsilon"]) == ("1", "0.5")
    assert half["selection"] < first["selection"]
    assert {row["forecast_off_by"] for row in made["rows"]} == {0.0, 0.6, 1.0}


def test_what_plans_for_a_list_needs_one(venues: Path) -> None:
    for more, says in (
        (["--when", "2024-03-03"], "What to do: Give `places=` as well, or leave them out"),
        (["--places", str(venues)], "Nothing says which time"),
    ):
        with pytest.raises(SafesideError, match=says):
            run(*more)


def test_a_plan_for_groups_says_what_is_certified_if_so_many_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "schools.csv"
    path.write_text("group,size\nnorth,310\nsouth,80\nwest,19\nhut,3\n")
    asked = ["plan", "--groups", str(path), "--epsilon", "1"]

    def planned(*more: str) -> str:
        result = CliRunner().invoke(build(), [*asked, *more], catch_exceptions=False)
        assert result.exit_code == 0
        return result.output

    shown = planned("--at-most", "5%")
    assert 'Groups of which "at most" is expected to be said, of 4' in shown
    assert "No data was read, and nothing was spent." in shown
    made = json.loads(planned("--at-most", "5%", "--json"))
    sizes, limits = [310, 80, 19, 3], [15, 4, 0, 0]
    for row in made["rows"]:
        counts = [math.ceil(Fraction(row["share"]) * size) for size in sizes]
        assert row["true"] == sum(n <= t for n, t in zip(counts, limits, strict=True))
        for epsilon, number in row["certified"].items():
            chances = [
                1 - math.exp(-float(epsilon) * max(0, t + 1 - n)) for n, t in zip(counts, limits, strict=True)
            ]
            assert number == pytest.approx(sum(chances))
    assert [row["share"] for row in made["rows"]] == ["0", "0.01", "0.02", "0.03", "0.04", "0.05"]
    # Noise for two, and a number: of three people at most 5 is true by their number alone.
    made = json.loads(planned("--at-most", "5", "--sensitivity", "2", "--json"))
    assert made["true_by_size_alone"] == 1
    assert [row["count"] for row in made["rows"]] == [0, 1, 2, 3, 4, 5]
    assert made["rows"][5]["certified"]["1"] == pytest.approx(1 + 3 * (1 - math.exp(-0.5)))
    assert "Of 1 it is true by its size alone." in planned("--at-most", "5")


def test_a_share_needs_groups() -> None:
    with pytest.raises(SafesideError, match="is no whole number, and a share is of the sizes") as caught:
        invoke("--at-most", "5%")
    assert "or `groups=`, a list with sizes, for a share (5%)" in caught.value.do
    with pytest.raises(SafesideError, match="A plan for groups has no picture, no places and no") as caught:
        invoke("--at-most", "5%", "--groups", "schools.csv", "--plot", "plan.png")
    assert "Leave `plot=`, `places=`, `when=`, `every=`, `timezone=` and `profile=` out." in caught.value.do


def invoke(*more: str) -> None:
    given = ["plan", "--epsilon", "1", *more]
    CliRunner().invoke(build(), given, catch_exceptions=False, standalone_mode=False)
