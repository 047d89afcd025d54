"""The picture of the rooms is drawn from the contract and the imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import architecture

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    contract = (
        '[[tool.importlinter.contracts]]\ncontainers = ["safeside"]\nlayers = ["top", "left | right"]\n'
    )
    files = {
        "pyproject.toml": "[[tool.importlinter.contracts]]\n" + contract,
        "src/safeside/__init__.py": "",
        "src/safeside/top/__init__.py": "from safeside.left.some import a\nfrom safeside import right\n",
        "src/safeside/left/__init__.py": "",
        "src/safeside/left/some.py": "a = 1\n",
        "src/safeside/right/__init__.py": "",
        "src/safeside_studies/__init__.py": "import safeside.top\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_rows_are_the_layers_and_arcs_the_imports(tree: Path) -> None:
    drawing = architecture.read(tree)
    assert drawing.rows == (("safeside_studies",), ("top",), ("left", "right"))
    assert drawing.lines["left"] == 1
    assert drawing.imports == {
        ("top", "left"): 1,
        ("top", "right"): 1,
        ("safeside_studies", "top"): 1,
    }
    picture = architecture.svg(drawing)
    assert picture.count("<path") == 3
    assert picture.count("<rect") == 5
    assert "top imports left: 1 files" in picture


def test_every_folder_of_the_package_has_its_box() -> None:
    drawing = architecture.read(ROOT)
    rooms = {path.parent.name for path in (ROOT / "src" / "safeside").glob("*/__init__.py")}
    assert rooms <= {room for row in drawing.rows for room in row}
