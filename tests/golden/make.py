"""Writes the golden files anew: `python -m tests.golden.make`."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.releases.making import DAY, INSTANT, KINDS, simulated

HERE = Path(__file__).parent
RELEASES: dict[str, tuple[str, dict[str, Any]]] = {
    "counts": (INSTANT, KINDS["ageo and public at least"]),
    "sparse": (DAY, KINDS["sparse with a limit"]),
    "decision": (INSTANT, KINDS["decision"]),
    "selection": (DAY, KINDS["selection"]),
}
"""One question for each method, by its name."""


def release(name: str) -> bytes:
    """release.json of a simulation that is always the same."""
    when, terms = RELEASES[name]
    with TemporaryDirectory() as directory:
        made = simulated(Path(directory) / "out", [0, 1, 2, 9], {"epsilon": "1/2", **terms}, when=when)
        return (made.directory / "release.json").read_bytes()


def main() -> None:
    """Every file."""
    for name in RELEASES:
        (HERE / f"release-{name}.json").write_bytes(release(name))


if __name__ == "__main__":
    main()
