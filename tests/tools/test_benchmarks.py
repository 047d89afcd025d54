"""Whoever takes part in a benchmark of counting runs, and counts what the others count."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import visits


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A city that is small but for its list of places."""
    store: Path = tmp_path_factory.mktemp("bench")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(visits, "STORE", store)
        return visits.city(30_000, "integer")


@pytest.mark.parametrize("window", ["day", "hour"])
def test_every_contestant_counts_the_same(folder: Path, window: str) -> None:
    names = [*visits.RAW["integer"], "safeside", "safeside first", "safeside repeated"]
    counts = {name: visits.run(name, folder, window)["counts"] for name in names}
    assert len(set(counts.values())) == 1


@pytest.mark.parametrize("name", [*visits.SCANS, "safeside check", "safeside places"])
def test_what_is_measured_beside_them_runs(folder: Path, name: str) -> None:
    assert visits.run(name, folder, "day")["seconds"] > 0
