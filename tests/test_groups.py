"""That tests of one group share a worker: else each worker would start servers of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_TESTS = """
import os
import time
import pytest

@pytest.mark.xdist_group("server")
@pytest.mark.parametrize("number", range(6))
def test_with_a_server(number):
    write("grouped")

@pytest.mark.parametrize("number", range(12))
def test_without(number):
    time.sleep(0.2)
    write("free")

def write(kind):
    with open(f"{kind}-{os.environ['PYTEST_XDIST_WORKER']}", "a") as file:
        file.write("x")
"""


def test_a_group_runs_on_one_worker_and_the_rest_on_all(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(Path(__file__).with_name("conftest.py").read_text())
    (tmp_path / "test_some.py").write_text(_TESTS)
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "2",
        "--dist",
        "loadgroup",
        "-p",
        "no:cacheprovider",
    ]
    subprocess.run(command, cwd=tmp_path, env=plain, check=True, capture_output=True)
    ran = {path.name: len(path.read_text()) for path in tmp_path.glob("*-gw*")}
    assert [number for name, number in ran.items() if name.startswith("grouped")] == [6]
    assert sorted(name for name in ran if name.startswith("free")) == ["free-gw0", "free-gw1"]
    assert sum(ran.values()) == 18
