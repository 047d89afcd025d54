"""Finds sentences that promise something: in the documentation, and in what releases say of themselves."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.promises import groups
from tests.releases.making import DAY, INSTANT, KINDS, signed

from safeside.privacy.account import Cost, Kind, standing
from safeside.releases.publish import SUPERSEDE_WARNING
from safeside.releases.signing import create_key, load_private
from safeside.releases.withdraw import WARNING, notice_sentences
from safeside.words import Words

ROOT = Path(__file__).parents[2]
ELSEWHERE = frozenset({"audit", "benchmarks", "city", "errata", "paper", "risk"})
"""Pages about studies, measurements and the paper: other tests recompute their numbers."""
PROMISES = re.compile(
    r"\b(never|always|every|everything|everybody|cannot|guarantee\w*|prove[sd]?|certain(ly)?|impossible"
    r"|times as probable)\b|at most e\^",
    re.IGNORECASE,
)
_FEW_WORDS = 4


def plain(text: str) -> str:
    """Without marks of emphasis, capitals and line breaks, so that a fragment is found however it is set."""
    return " ".join(re.sub(r"[*`_]", "", text).split()).casefold()


def sentences(text: str) -> Iterator[str]:
    """Each sentence, list item or cell of a page; not its code and not its headings."""
    text = re.sub(r"```.*?```|!\[[^\]]*\]\([^)]*\)", "", text, flags=re.DOTALL)
    for block in re.split(r"\n\s*\n|\n(?=[-|>#]|\d+\. )", text):
        whole = " ".join(block.split())
        if whole.startswith("#"):
            continue
        for cell in whole.split(" | ") if whole.startswith("|") else [whole]:
            yield from re.split(r"(?<=[.!?:;])\s+(?=[A-Z\"*`\[(])", cell)


def promising(text: str) -> list[str]:
    """Those that promise something, by their words."""
    return [one for one in sentences(text) if PROMISES.search(one) and len(one.split()) >= _FEW_WORDS]


def documents() -> dict[str, str]:
    """Every page that speaks to users, by its name."""
    pages = [one for one in sorted((ROOT / "docs").glob("*.md")) if one.stem not in ELSEWHERE]
    return {
        str(one.relative_to(ROOT)): one.read_text(encoding="utf-8") for one in [ROOT / "README.md", *pages]
    }


def artefacts(home: Path) -> Mapping[str, str]:
    """What a release of every kind says: statement, report and map, the notice, warnings and the ledger."""
    create_key(home / "key")
    key = load_private(home / "key")
    said = {
        "the notice of a withdrawal": "\n\n".join(notice_sentences("r-1", Words())),
        "the warning of `withdraw`": WARNING,
        "the warning of `publish --supersedes`": SUPERSEDE_WARNING,
        "the standing guarantee": "\n\n".join(_standing()),
    }
    for number, (kind, asked) in enumerate(KINDS.items()):
        when = DAY if "max_places_per_person" in asked else INSTANT
        made = signed(home / f"{number}", [0, 1, 9, 2], dict(epsilon=1, **asked), key, when=when)
        said[f"statement.txt ({kind})"] = (made.directory / "statement.txt").read_text()
        for page in ("report.html", "map.html"):
            said[f"{page} ({kind})"] = _words((made.directory / page).read_text())
    for name, path in groups.released(home).items():
        text = path.read_text()
        said[f"{name} (groups)"] = text if path.suffix == ".txt" else _words(text)
    return said


def _standing() -> tuple[str, ...]:
    charges = [
        Cost(kind=Kind.ADP, epsilon=1),
        Cost(kind=Kind.DP_COUNTS, epsilon=1, delta="1e-6", max_conditions=2),
    ]
    return standing(charges).sentences()


def _words(page: str) -> str:
    """What a reader sees of a page; a paragraph for each element."""
    seen = re.sub(r"<(script|style|svg)\b.*?</\1>", "", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", "\n\n", seen))
