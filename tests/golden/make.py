"""Writes the golden files anew: `python -m tests.golden.make`."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from safeside import simulate
from tests.releases.making import DAY, INSTANT, KINDS, NOW, simulated

HERE = Path(__file__).parent
RELEASES: dict[str, tuple[str, dict[str, Any]]] = {
    "counts": (INSTANT, KINDS["ageo and public at least"]),
    "sparse": (DAY, KINDS["sparse with a limit"]),
    "decision": (INSTANT, KINDS["decision"]),
    "selection": (DAY, KINDS["selection"]),
}
"""One question for each method, by its name."""
DOSES: dict[str, Any] = {"measures": ["no dose: mmr=0", "one dose: mmr=1"], "domains": ["mmr=0..2"]}
GROUPS: dict[str, dict[str, Any]] = {
    "groups": {"at_most": "5%", "where": "mmr=0", "domains": ["mmr=0..2"]},
    "groups-measures": {"at_most": 3, "method": "selection", **DOSES},
}
"""Questions about groups of people, with shares of their sizes and by several measures."""


def release(name: str) -> bytes:
    """release.json of a simulation that is always the same."""
    when, terms = RELEASES[name]
    with TemporaryDirectory() as directory:
        made = simulated(Path(directory) / "out", [0, 1, 2, 9], {"epsilon": "1/2", **terms}, when=when)
        return (made.directory / "release.json").read_bytes()


def grouped(name: str) -> dict[str, bytes]:
    """release.json and answers.csv of a simulation of groups that is always the same."""
    listed = {"group": ["east", "north", "south"], "size": [310, 19, 3], "name": ["East", "North", "South"]}
    terms, groups = GROUPS[name], list(map(str, listed["group"]))
    counts: dict[Any, int] = dict(zip(groups, [12, 0, 1], strict=True))
    if "measures" in terms:
        counts = {(group, one): n for one in ("no dose", "one dose") for group, n in counts.items()}
    with TemporaryDirectory() as directory:
        made = simulate(
            counts,
            groups=pl.DataFrame(listed),
            epsilon="1/2",
            **terms,
            out=Path(directory) / "out",
            seed=1,
            known_on=NOW,
        )
        return {
            f"release-{name}.json": made.file("release.json"),
            f"answers-{name}.csv": made.file("answers.csv"),
        }


def main() -> None:
    """Every file."""
    for name in RELEASES:
        (HERE / f"release-{name}.json").write_bytes(release(name))
    for name in GROUPS:
        for file, data in grouped(name).items():
            (HERE / file).write_bytes(data)


if __name__ == "__main__":
    main()
