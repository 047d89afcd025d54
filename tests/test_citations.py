"""Code and tests cite pages of this repository, and each page that is cited is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
CITED = re.compile(r"\bdocs/[\w/-]+\.md\b")
ELSEWHERE = re.compile(r"\bTHE" + r"ORY\b|\(section \d|\bsections? \d+ of the theory")
"""A specification that is no part of the repository."""


def texts() -> Iterator[tuple[Path, str]]:
    for folder in ("src", "tests", "benchmarks", "soak", "tools", "docs"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".pyi", ".md", ".html", ".js"):
                yield path, path.read_text(encoding="utf-8")


def test_every_page_that_is_cited_is_there() -> None:
    cited = {(path, page) for path, text in texts() for page in CITED.findall(text)}
    assert len({page for _, page in cited}) > 20
    assert [f"{path}: {page}" for path, page in sorted(cited) if not (ROOT / page).is_file()] == []


def test_nothing_cites_what_is_not_in_the_repository() -> None:
    assert [str(path) for path, text in texts() if ELSEWHERE.search(text)] == []
