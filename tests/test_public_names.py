"""The public face: small, explicit, and the same version everywhere."""

from __future__ import annotations

import inspect
import subprocess
import sys
import tomllib
from pathlib import Path

import safeside
from safeside import errors

ROOT = Path(__file__).parents[1]
HEAVY = ("scipy", "matplotlib", "pandas", "pyarrow", "duckdb", "pyspark", "psycopg", "h3", "trackintel")


def test_every_public_name_is_there_and_is_sorted() -> None:
    assert safeside.__all__ == sorted(safeside.__all__)
    assert all(getattr(safeside, name) is not None for name in safeside.__all__)


def test_every_error_is_exported() -> None:
    raised = {
        name for name, one in vars(errors).items() if inspect.isclass(one) and issubclass(one, Exception)
    }
    assert len(raised) > 25
    assert raised <= set(safeside.__all__)


def test_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == safeside.__version__
    assert f"version: {safeside.__version__}" in (ROOT / "CITATION.cff").read_text()


def test_the_core_imports_no_extra() -> None:
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            "import safeside.cli.main as m, sys; [m.load(one) for one in m.COMMANDS]; print(*sys.modules)",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert not set(HEAVY) & set(loaded)


def test_no_file_names_a_registry_host() -> None:
    names = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    hosts = ["py" + "pi.org", "python" + "hosted.org", "deb." + "debian.org", "registry." + "npmjs"]
    for name in names:
        text = (ROOT / name).read_bytes()
        assert not any(host.encode() in text for host in hosts), name
