"""`safeside reproduce` on the command line."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from safeside.cli.main import build
from safeside.errors import BadQuestion


def test_one_figure(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        build(),
        ["reproduce", "--out", str(tmp_path), "--quick", "--figure", "needed", "--figure", "figure1"],
        env={"COLUMNS": "200"},
    )
    assert result.exit_code == 0
    assert "8.5172" in result.output
    assert str(tmp_path / "report.html") in result.output.replace("\n", "")
    assert (tmp_path / "needed.svg").exists()
    assert (tmp_path / "figure1.png").exists()
    assert not (tmp_path / "figure2.png").exists()


def test_an_unknown_figure(tmp_path: Path) -> None:
    result = CliRunner().invoke(build(), ["reproduce", "--out", str(tmp_path), "--figure", "figure9"])
    assert isinstance(result.exception, BadQuestion)
    assert result.exception.what == "There is no figure named figure9."
    assert result.exception.do.startswith("Choose from figure1, figure2")
