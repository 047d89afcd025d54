"""Run benchmarks and keep what they print below benchmarks/results.

    python -m benchmarks                           every benchmark in turn (`make bench`)
    python -m benchmarks publish --window hour     one, with its options

Each compares with its peers in one run and prints ratios. A file of results begins with the command that
made it, the day, the machine and its load, and ends with the seconds it took and whether all limits were met.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results"
LIBRARIES = ("polars", "duckdb", "numpy", "opendp")


def names() -> list[str]:
    """Every benchmark."""
    return sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))


def head(command: str) -> str:
    """What made the results, when and where."""
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return (
        f"$ {command}\n"
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
        " before,"
        f" Python {platform.python_version()}, {versions}\n"
    )


def run(name: str, options: list[str]) -> bool:
    """Run one benchmark, print what it prints and keep it; whether it met its limits."""
    words = re.sub(r"[^a-z0-9]+", "-", " ".join(options).lower()).strip("-")
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}{f'-{words}' if words else ''}.txt"
    begin = time.perf_counter()
    said = [head(" ".join(["python -m benchmarks", name, *options]))]
    print(said[0], end="", flush=True)
    command = [sys.executable, "-m", f"benchmarks.{name}", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            said.append(line)
    met = process.returncode == 0
    said.append(f"{time.perf_counter() - begin:.0f} s; {'all limits met' if met else 'a limit was MISSED'}\n")
    print(said[-1], end="", flush=True)
    path.write_text("".join(said))
    return met


def main() -> int:
    """The number of benchmarks that missed a limit."""
    if len(sys.argv) > 1:
        name, *options = sys.argv[1:]
        if name not in names():
            raise SystemExit(f"There is no benchmark {name}. There are: {', '.join(names())}.")
        return int(not run(name, options))
    missed = [name for name in names() if not run(name, [])]
    print("all limits met" if not missed else f"missed: {', '.join(missed)}")
    return len(missed)


if __name__ == "__main__":
    sys.exit(main())
