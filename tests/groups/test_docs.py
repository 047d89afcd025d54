"""What docs/groups.md shows runs as it stands: the commands, and the Python."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from safeside import Release
from safeside.cli.main import build
from safeside_studies.county import generate

PAGE = Path(__file__).parents[2] / "docs" / "groups.md"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    generate(tmp_path, schools=15)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commands() -> list[str]:
    """The commands of the page, each on one line."""
    text = PAGE.read_text().replace("\\\n", " ")
    return [line.strip() for line in re.findall(r"^    safeside (.*)$", text, flags=re.MULTILINE)]


def test_every_command_of_the_page_runs(folder: Path) -> None:
    asked = [one for one in commands() if not one.startswith("generate")]
    assert [one.split()[0] for one in asked] == [
        "plan",
        "init",
        "key",
        "ledger",
        "check",
        "publish",
        "verify",
    ]
    for command in asked:
        words = shlex.split(command) + (["--yes"] if command.startswith(("publish", "init")) else [])
        result = CliRunner().invoke(build(), words, env={"COLUMNS": "200"})
        assert result.exit_code == 0, (command, result.output, result.exception)
    assert (folder / "release" / "map.html").is_file()


def test_the_python_of_the_page_runs(folder: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    release = names["release"]
    assert isinstance(release, Release)
    assert "At most 5 % unvaccinated pupils" in release.summary()
