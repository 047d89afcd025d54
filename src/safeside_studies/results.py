"""What a study found: the paper's number, ours beside it, what theory says, and why they differ."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safeside_studies.figure_style import Picture


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One number.

    `theory` is what `ours` must come near: within its `standard_error` where it was drawn, exactly where that
    is 0. It is None for a number that is a property of the data, about which theory says nothing.
    """

    name: str
    where: str
    what: str
    ours: float
    paper: str | None = None
    theory: float | None = None
    standard_error: float = 0.0
    why: str = ""
    form: str = ".3f"
    out_of: int | None = None
    """Where ours is a part of something, of how many."""

    @property
    def deviation(self) -> float:
        """How many standard errors lie between ours and theory; infinite for an exact number that is off."""
        if self.theory is None:
            return 0.0
        gap = abs(self.ours - self.theory)
        if self.standard_error > 0:
            return gap / self.standard_error
        return 0.0 if gap <= 1e-9 * max(1.0, abs(self.theory)) else math.inf

    @property
    def ours_shown(self) -> str:
        """Ours in the number's own form."""
        whole = "" if self.out_of is None else f" of {self.out_of:,}"
        return format(self.ours, self.form) + whole

    @property
    def theory_shown(self) -> str:
        """Theory in the same form; an expected count has a decimal, for it is seldom whole."""
        if self.theory is None:
            return ""
        return format(self.theory, ",.1f" if self.form == ",.0f" and self.standard_error else self.form)

    def as_json(self) -> dict[str, Any]:
        """The entry of results.json."""
        return {
            "name": self.name,
            "where": self.where,
            "what": self.what,
            "paper": self.paper,
            "ours": self.ours,
            "out_of": self.out_of,
            "theory": self.theory,
            "standard_error": self.standard_error,
            "why": self.why,
        }


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A table of the report."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Everything one study gives to the report."""

    title: str
    text: str
    pictures: Sequence[Picture] = ()
    findings: Sequence[Finding] = ()
    sheets: Sequence[Sheet] = field(default=())


def write_results(path: Path, about: dict[str, Any], outcomes: Iterable[Outcome]) -> None:
    """results.json: every number of every study, and where its pictures are."""
    outcomes = list(outcomes)
    content = {
        **about,
        "numbers": [finding.as_json() for outcome in outcomes for finding in outcome.findings],
        "figures": [
            {
                "name": picture.name,
                "title": picture.title,
                "caption": picture.caption,
                "png": picture.png.name,
                "svg": picture.svg.name,
            }
            for outcome in outcomes
            for picture in outcome.pictures
        ],
        "tables": [
            {"title": sheet.title, "head": list(sheet.head), "rows": [list(row) for row in sheet.rows]}
            for outcome in outcomes
            for sheet in outcome.sheets
        ],
    }
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
