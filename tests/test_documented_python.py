"""The Python that the README and the first pages show runs as it stands, beside the files they speak of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import safeside
from safeside.cli.main import build
from safeside.ledger.witness import STATE_VARIABLE
from safeside_studies.city import generate

ROOT = Path(__file__).parents[1]
PAGES = {
    "README.md": (),
    "docs/start.md": ("key create", "ledger create --dataset city --ledger ledger.db --epsilon 2"),
}
"""Each page, with the commands that stand before its Python."""


def blocks(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(), flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("city")
    generate(folder, people=200, places=60)
    return folder


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_shows_runs_as_it_stands(
    page: str, city: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    for file in city.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    for command in PAGES[page]:
        assert CliRunner().invoke(build(), command.split()).exit_code == 0
    names: dict[str, object] = {}
    for block in blocks(page):
        exec(compile(block, page, "exec"), names)
    assert "import safeside" in "".join(blocks(page))
    assert (tmp_path / "release" / "map.html").is_file()
    release = names["release"]
    assert isinstance(release, safeside.Release)
    assert "At most 2 known infected visitors" in release.summary()
