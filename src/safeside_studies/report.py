"""report.html: one file with every figure inside it, the paper's numbers first."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Final

from safeside_studies.figure_style import Picture
from safeside_studies.results import Finding, Outcome, Sheet

_STYLE: Final = """
:root { color-scheme: light; }
body { font: 16px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; color: #1a1a1a; background: #fff;
       max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.3rem; margin: 3rem 0 .5rem; padding-top: 1rem; border-top: 2px solid #0072B2; }
h3 { font-size: 1rem; margin: 1.5rem 0 .4rem; }
nav { margin: 1rem 0 0; display: flex; flex-wrap: wrap; gap: .2rem 1rem; }
a { color: #0072B2; }
figure { margin: 1.25rem 0; } figure img { width: 100%; height: auto; }
figcaption { font-size: .88rem; color: #444; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .86rem; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .35rem .7rem .35rem 0;
         border-bottom: 1px solid #ddd; }
th { border-bottom: 2px solid #555; }
td.number { white-space: nowrap; text-align: right; } th.number { text-align: right; }
.note { font-size: .88rem; color: #444; }
details { margin: 1rem 0; } summary { cursor: pointer; color: #0072B2; }
@media print { body { max-width: none; font-size: 11pt; } h2 { break-after: avoid; }
               figure, tr { break-inside: avoid; } details > summary { display: none; } }
"""


def write_report(path: Path, about: str, outcomes: Sequence[Outcome]) -> None:
    """The whole report; nothing in it is fetched from anywhere."""
    printed = [one for outcome in outcomes for one in outcome.findings if one.paper is not None]
    links = "".join(
        f'<a href="#s{number}">{escape(outcome.title.split(":")[0])}</a>'
        for number, outcome in enumerate(outcomes)
    )
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; img-src data:; base-uri 'none'\">",
        "<title>Asymmetric Differential Privacy, reproduced</title>",
        f"<style>{_STYLE}</style></head><body>",
        "<h1>Asymmetric Differential Privacy, reproduced</h1>",
        "<p>The experiments of Takagi, Kato, Cao and Yoshikawa (arXiv 2103.00996), run by safeside. Where a "
        "number differs from the printed one, the reason stands beside it.</p>",
        f'<p class="note">{escape(about)}</p>',
        f"<nav>{links}</nav>",
        "<h2>Every number the paper prints, and ours</h2>",
        _numbers(printed, why=True),
        *(_section(number, outcome) for number, outcome in enumerate(outcomes)),
        "</body></html>",
    ]
    path.write_text("\n".join(parts) + "\n", encoding="utf-8")


def _section(number: int, outcome: Outcome) -> str:
    rest = [one for one in outcome.findings if one.theory is not None]
    parts = [f'<h2 id="s{number}">{escape(outcome.title)}</h2>', f"<p>{escape(outcome.text)}</p>"]
    parts += [_picture(picture) for picture in outcome.pictures]
    parts += [_sheet(sheet) for sheet in outcome.sheets]
    if rest:
        parts.append(
            f"<details><summary>All {len(rest)} numbers of this section against theory</summary>"
            f"{_numbers(rest, why=False)}</details>"
        )
    return "\n".join(parts)


def _picture(picture: Picture) -> str:
    data = base64.b64encode(picture.png.read_bytes()).decode()
    return (
        f'<figure><img alt="{escape(picture.title)}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(picture.caption)}</figcaption></figure>"
    )


def _sheet(sheet: Sheet) -> str:
    note = f'<p class="note">{escape(sheet.note)}</p>' if sheet.note else ""
    return f"<h3>{escape(sheet.title)}</h3>{_table(sheet.head, sheet.rows)}{note}"


def _numbers(findings: Iterable[Finding], *, why: bool) -> str:
    head = (
        "what",
        "where",
        "the paper",
        "ours",
        "theory",
        "standard error",
        *(("why they differ",) if why else ()),
    )
    rows = []
    for one in findings:
        exact = one.theory is not None and one.standard_error == 0
        error = "exact" if exact else "" if one.theory is None else f"{one.standard_error:.2g}"
        row = (one.what, one.where, one.paper or "", one.ours_shown, one.theory_shown, error)
        rows.append((*row, one.why) if why else row)
    return _table(head, rows, numbers=(3, 4, 5))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    def cells(tag: str, row: Sequence[str]) -> str:
        marks = (' class="number"' if place in numbers else "" for place in range(len(row)))
        return "".join(f"<{tag}{mark}>{escape(cell)}</{tag}>" for mark, cell in zip(marks, row, strict=True))

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    top = f"<thead><tr>{cells('th', head)}</tr></thead>"
    return f'<div class="wide"><table>{top}<tbody>{body}</tbody></table></div>'
