"""The synthetic county, and how many of its schools each way of publishing certifies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from safeside.errors import BadQuestion, CannotWrite
from safeside_studies import county, schools
from safeside_studies.settings import Settings


def test_the_files_hold_every_pupil_once_and_the_true_sizes(tmp_path: Path) -> None:
    files = county.generate(tmp_path, schools=30, seed=3)
    pupils, listed = pl.read_csv(files.pupils), pl.read_csv(files.schools)
    assert pupils.columns == ["person", "group", "age", "mmr"]
    assert pupils["person"].is_unique().all()
    found = pupils.group_by("group").len().sort("group")
    assert found["group"].to_list() == listed["group"].to_list()
    assert found["len"].to_list() == listed["size"].to_list()
    none = pupils.filter(pl.col("mmr") == 0).group_by("group").len()
    counts = listed.join(none, on="group", how="left")["len"].fill_null(0)
    assert counts.to_list() == files.county.unvaccinated.tolist()
    assert set(pupils["mmr"].unique()) == {0, 1, 2}


def test_one_seed_makes_one_county() -> None:
    one, two, other = county.county(40), county.county(40), county.county(40, seed=2)
    assert np.array_equal(one.doses, two.doses)
    assert not np.array_equal(one.sizes, other.sizes)


def test_a_county_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    county.generate(tmp_path, schools=2)
    with pytest.raises(CannotWrite, match="exists already"):
        county.generate(tmp_path, schools=2)
    county.generate(tmp_path, schools=2, overwrite=True)
    with pytest.raises(BadQuestion, match="at most 100,000"):
        county.county(100_001)


def test_one_sided_noise_certifies_most_schools_and_is_never_wrong(tmp_path: Path) -> None:
    outcome = schools.run(Settings(out=tmp_path, quick=True))
    said = {one.name: one for one in outcome.findings}
    assert all(one.deviation < 5 for one in outcome.findings)
    for epsilon in ("eps1", "eps0.5"):
        ours = said[f"schools.one_side.{epsilon}"].ours
        assert ours > said["schools.suppression"].ours
        assert ours > said[f"schools.optimal_decision.{epsilon}"].ours
    wrong = {row[0]: float(row[-1]) for row in outcome.sheets[0].rows}
    assert [way for way, number in wrong.items() if number] == ["geometric noise on both sides"]
    assert (tmp_path / "schools.png").stat().st_size > 10_000
