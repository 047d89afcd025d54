"""What is shipped: a core without studies and planted bugs that works alone, and the studies beside it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import safeside

ROOT = Path(__file__).parents[1]
STUDIES = "safeside_studies"
ALONE = f"""
import importlib, pkgutil, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "{STUDIES}":
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
import safeside
assert safeside.__file__.startswith(sys.argv[1]), safeside.__file__
for module in pkgutil.walk_packages(safeside.__path__, "safeside."):
    importlib.import_module(module.name)
for name in safeside.__all__:
    getattr(safeside, name)
from safeside.cli.main import main
sys.argv[1:] = sys.argv[2:]
main()
"""


def built(project: Path, where: Path) -> Path:
    """The wheel of a project, built as pip builds it."""
    code = "import sys; from flit_core.buildapi import build_wheel; print(build_wheel(sys.argv[1]))"
    name = subprocess.run(
        [sys.executable, "-c", code, str(where)], cwd=project, capture_output=True, text=True, check=True
    ).stdout.strip()
    return where / name


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The core's wheel, unpacked."""
    home = tmp_path_factory.mktemp("core")
    with zipfile.ZipFile(built(ROOT, home)) as wheel:
        wheel.extractall(home / "unpacked")
    return home / "unpacked"


def run_alone(core: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line of the unpacked wheel, where the studies are not installed."""
    return subprocess.run(
        [sys.executable, "-c", ALONE, str(core), *arguments],
        env={**os.environ, "PYTHONPATH": str(core), "COLUMNS": "200"},
        capture_output=True,
        text=True,
    )


def test_the_wheel_of_the_core_holds_no_study_and_no_planted_bug(core: Path) -> None:
    files = {path.relative_to(core).as_posix() for path in core.rglob("*") if path.is_file()}
    assert "safeside/mechanisms/ageo.py" in files
    assert not [name for name in files if any(word in name for word in ("studies", "planted", "broken"))]
    tops = {name.partition("/")[0] for name in files}
    assert tops == {"safeside", f"safeside-{safeside.__version__}.dist-info"}


def test_the_core_imports_and_answers_without_the_studies(core: Path) -> None:
    done = run_alone(core, "plan", "--at-most", "2", "--epsilon", "1")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [("generate", "city"), ("reproduce", "--out", "report"), ("audit", "--self-test")],
    ids=lambda arguments: arguments[0],
)
def test_commands_of_the_studies_say_what_to_install(core: Path, arguments: tuple[str, ...]) -> None:
    done = run_alone(core, *arguments)
    assert done.returncode == 2
    assert "needs the package safeside-studies, which is not installed." in done.stderr
    assert "Run: pip install safeside-studies" in done.stderr


def test_the_studies_are_a_distribution_of_the_same_version_that_requires_the_core(tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "src" / "pyproject.toml").read_text())["project"]
    assert project["version"] == safeside.__version__
    assert f"safeside=={safeside.__version__}" in project["dependencies"]
    with zipfile.ZipFile(built(ROOT / "src", tmp_path)) as wheel:
        names = wheel.namelist()
    assert f"{STUDIES}/planted/mechanisms.py" in names
    assert not [name for name in names if name.startswith("safeside/")]
