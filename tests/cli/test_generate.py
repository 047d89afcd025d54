"""`safeside generate` on the command line."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from typer.testing import CliRunner

from safeside.cli.main import build
from safeside.releases.basemap import read_basemap


def _run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(build(), ["generate", *arguments], env={"COLUMNS": "200"})
    return result.exit_code, result.output


def test_writes_its_files_and_says_so(tmp_path: Path) -> None:
    code, output = _run(
        str(tmp_path / "town"), "--people", "400", "--places", "120", "--days", "3", "--describe"
    )
    assert code == 0
    rows = pl.read_parquet(tmp_path / "town" / "visits.parquet")
    assert f"{len(rows):,} visits of 400 people over 3 days" in output.replace("\n", " ")
    assert "places with fewer than 3 visitors" in output
    shapes = read_basemap(tmp_path / "town" / "basemap.geojson")
    assert {"The bay", "Ring line", "Line 1"} <= {shape.tags["name"] for shape in shapes}
    assert sorted(path.name for path in (tmp_path / "town").iterdir()) == [
        "basemap.geojson",
        "covers.toml",
        "hours.csv",
        "places.csv",
        "visits.parquet",
    ]


def test_overwrites_only_when_told(tmp_path: Path) -> None:
    small = (str(tmp_path), "--people", "50", "--places", "60", "--days", "1")
    assert _run(*small)[0] == 0
    before = (tmp_path / "visits.parquet").read_bytes()
    assert _run(*small, "--seed", "2")[0] != 0
    assert (tmp_path / "visits.parquet").read_bytes() == before
    assert _run(*small, "--seed", "2", "--overwrite")[0] == 0
    assert (tmp_path / "visits.parquet").read_bytes() != before
