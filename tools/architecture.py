#!/usr/bin/env python3
"""The picture of the rooms, drawn from the imports: a row for each layer, arcs from a room to what it needs.

The order of the rows is the import contract of `pyproject.toml`; boxes and arcs are counted in the source.
Arcs to single files at the bottom, which almost everything imports, are left out.
"""

from __future__ import annotations

import argparse
import ast
import math
import tomllib
from collections import Counter
from dataclasses import dataclass
from html import escape
from pathlib import Path

HERE = Path(__file__).parent.parent
STUDIES = "safeside_studies"
_ROW, _BOX, _GAP, _SIDE, _WIDE, _TOP = 62, 40, 16, 180, 440, 24
Places = dict[str, tuple[float, float, float]]


@dataclass(frozen=True)
class Drawing:
    """Rooms row by row from the top, the lines of each, and how many files of one import another."""

    rows: tuple[tuple[str, ...], ...]
    lines: dict[str, int]
    imports: Counter[tuple[str, str]]


def read(root: Path) -> Drawing:
    """From the contract and the sources."""
    contracts = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one.get("containers") == ["safeside"])
    rows = ((STUDIES,), *(tuple(part.strip(" ()") for part in layer.split("|")) for layer in layers))
    lines: Counter[str] = Counter()
    imports: Counter[tuple[str, str]] = Counter()
    folders = {path.parent.name for path in (root / "src" / "safeside").glob("*/__init__.py")} | {STUDIES}
    for path in sorted((root / "src").rglob("*.py")):
        room = _room(path.relative_to(root / "src").with_suffix("").parts)
        text = path.read_text(encoding="utf-8")
        lines[room] += len(text.splitlines())
        for other in _imported(ast.parse(text)):
            if other != room and {room, other} <= folders:
                imports[room, other] += 1
    return Drawing(rows=rows, lines=dict(lines), imports=imports)


def _room(parts: tuple[str, ...]) -> str:
    return STUDIES if parts[0] == STUDIES else parts[min(1, len(parts) - 1)]


def _imported(tree: ast.Module) -> set[str]:
    """The rooms that a file imports from, once each."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            base = node.module.split(".")
            names = [[*base, alias.name] for alias in node.names] if base == ["safeside"] else [base]
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        else:
            continue
        found |= {_room(tuple(name)) for name in names if name[0] in ("safeside", STUDIES) and len(name) > 1}
    return found


def svg(drawing: Drawing) -> str:
    """The picture; arcs point from a room to what it imports, wider where more files do."""
    place: Places = {}
    for number, row in enumerate(drawing.rows):
        width = (_WIDE - _GAP * (len(row) - 1)) / len(row)
        for at, room in enumerate(row):
            place[room] = (_SIDE + at * (width + _GAP), _TOP + number * _ROW, width)
    height = _TOP + len(drawing.rows) * _ROW
    parts = [_arc(place, *pair, number) for pair, number in sorted(drawing.imports.items())]
    parts += [_box(room, *where, drawing.lines.get(room, 0)) for room, where in place.items()]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * _SIDE + _WIDE} {height}" '
        'font-family="sans-serif" role="img" aria-label="The rooms of safeside and what each imports">\n'
        '<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _arc(place: Places, room: str, other: str, number: int) -> str:
    """On the right where one of the two is the right one of its row, on the left otherwise."""
    (left, above, _), (other_left, below, _) = place[room], place[other]
    edge, way = (_SIDE + _WIDE, 1) if max(left, other_left) > _SIDE else (_SIDE, -1)
    start, end = above + _BOX / 2 + 6, below + _BOX / 2 - 6
    bend = edge + way * (25 + (_SIDE - 30) * abs(end - start) / (_ROW * 9))
    width = 0.6 + 0.7 * math.log2(1 + number)
    title = escape(f"{room} imports {other}: {number} files")
    return (
        f'<path d="M{edge} {start:.1f} C{bend:.1f} {start:.1f} {bend:.1f} {end:.1f} {edge} {end:.1f}" '
        f'fill="none" stroke="#0072B2" stroke-opacity="0.5" stroke-width="{width:.2f}">'
        f"<title>{title}</title></path>"
    )


def _box(room: str, left: float, top: float, width: float, lines: int) -> str:
    fill = "#fdf1d8" if room == STUDIES else "#eef4fa"
    return (
        f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{_BOX}" rx="5" fill="{fill}" '
        f'stroke="#444"/><g text-anchor="middle"><text x="{left + width / 2:.1f}" y="{top + 18}" '
        f'font-size="14">{escape(room)}</text><text x="{left + width / 2:.1f}" y="{top + 33}" '
        f'font-size="10" fill="#555">{lines:,} lines</text></g>'
    )


def main() -> None:
    """Write the picture of this repository."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="the SVG file to write")
    parser.parse_args().out.write_text(svg(read(HERE)), encoding="utf-8")


if __name__ == "__main__":
    main()
