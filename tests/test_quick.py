"""`make quick` needs no server, no Java, no browser and no package but those of requirements/quick.txt."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMES = {"python-flint": "flint", "lazy-loader": "lazy_loader", "flit-core": "flit_core"}
"""Where the name that is imported is not the name that is installed."""
OURS = {"safeside", "safeside_studies", "tests", "tools", "benchmarks", "soak"}


def listed(*, left_out: bool = False) -> list[Path]:
    """The tests of the list; or those of them that are left out because they take long."""
    lines = (ROOT / "tests" / "quick.txt").read_text().split()
    chosen = [line for line in lines if line.startswith("--") == left_out]
    return [ROOT / line.partition("=")[2] if left_out else ROOT / line for line in chosen]


def installed() -> set[str]:
    lock = (ROOT / "requirements" / "quick.txt").read_text()
    packages = re.findall(r"^([a-z0-9-]+)==", lock, re.MULTILINE)
    return {NAMES.get(name, name) for name in packages} | {"_pytest"}


@cache
def imported(path: Path) -> frozenset[str]:
    """What a test imports when it is loaded, through the helpers of the tests that it imports."""
    found: set[str] = set()
    for module in _modules(path):
        helper = ROOT / (module.replace(".", "/") + ".py")
        found |= imported(helper) if module.startswith("tests.") and helper.is_file() else {module}
    return frozenset(found)


def _modules(path: Path) -> Iterator[str]:
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names if node.module == "tests")


def test_what_is_listed_is_there_once_and_imports_only_what_is_installed() -> None:
    paths = listed()
    assert len(set(paths)) == len(paths)
    files = [file for path in paths for file in (path.rglob("*.py") if path.is_dir() else [path])]
    folders = {folder for file in files for folder in file.parents if folder.is_relative_to(ROOT / "tests")}
    files += [folder / "conftest.py" for folder in folders if (folder / "conftest.py").exists()]
    allowed = installed() | OURS | set(sys.stdlib_module_names)
    for file in files:
        assert {name.partition(".")[0] for name in imported(file)} <= allowed, file


def test_what_is_left_out_is_there() -> None:
    """A test that was renamed would run again, and nobody would know why it takes longer."""
    for one in listed(left_out=True):
        path, _, name = str(one).partition("::")
        assert f"def {name}" in Path(path).read_text(), one


def test_the_lock_file_of_the_quick_tests_pins_what_the_large_one_pins() -> None:
    pins = [
        set(re.findall(r"^[a-z0-9-]+==\S+", (ROOT / "requirements" / name).read_text(), re.MULTILINE))
        for name in ("core.txt", "quick.txt", "dev.txt")
    ]
    assert pins[0] <= pins[1] <= pins[2]
