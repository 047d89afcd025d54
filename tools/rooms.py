#!/usr/bin/env python3
"""How large each room of the package is, and how tangled: now, and at a commit beside it.

A room is a folder of `src/safeside`, or a package beside it named `safeside_ROOM`. For each room: files,
lines, lines of code (not blank, no comment, no docstring), internal imports (pairs of files of the room of
which one imports the other), and import depth (files on the longest chain of internal imports; files that
import each other in a circle count as one).
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import tarfile
import tempfile
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from graphlib import CycleError, TopologicalSorter
from io import BytesIO, StringIO
from pathlib import Path

PACKAGE = "safeside"
HERE = Path(__file__).parent.parent
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


@dataclass(frozen=True)
class Room:
    """The figures of one room."""

    files: int = 0
    lines: int = 0
    code: int = 0
    imports: int = 0
    depth: int = 0


def rooms(source: Path) -> dict[str, Room]:
    """Every room below a folder of sources, and `total`: the sums, and the greatest depth."""
    folders = {path.name: path for path in (source / PACKAGE).iterdir() if any(path.rglob("*.py"))}
    folders |= {path.name.removeprefix(f"{PACKAGE}_"): path for path in source.glob(f"{PACKAGE}_*/")}
    found = {name: _room(source, folder) for name, folder in sorted(folders.items())}
    plain = list((source / PACKAGE).glob("*.py"))
    found["(no room)"] = Room(files=len(plain), lines=sum(map(_lines, plain)), code=sum(map(_code, plain)))
    columns = [astuple(room) for room in found.values()]
    *sums, depths = zip(*columns, strict=True)
    found["total"] = Room(*map(sum, sums), max(depths))
    return found


def _room(source: Path, folder: Path) -> Room:
    modules = {_module(source, path): path for path in folder.rglob("*.py")}
    needs = {name: set(_imported(name, path, modules)) for name, path in modules.items()}
    return Room(
        files=len(modules),
        lines=sum(map(_lines, modules.values())),
        code=sum(map(_code, modules.values())),
        imports=sum(map(len, needs.values())),
        depth=depth(needs),
    )


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def _code(path: Path) -> int:
    """Lines with something that is neither a comment nor a text that stands by itself."""
    text = path.read_text(encoding="utf-8")
    lines: set[int] = set()
    for token in tokenize.generate_tokens(StringIO(text).readline):
        if token.type not in _NO_CODE:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def _module(source: Path, path: Path) -> str:
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(name: str, path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    """The modules of the room that this one imports, anywhere in its text."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.rsplit(".", node.level - 1)[0] if node.level else ""
            base = ".".join(filter(None, (above, node.module)))
            # `from room import x` means the module room.x where there is one, and room itself where not.
            named = [f"{base}.{alias.name}" for alias in node.names]
            targets = [one if one in modules else base for one in named]
        else:
            continue
        yield from (one for one in targets if one in modules and one != name)


def depth(needs: Mapping[str, set[str]]) -> int:
    """How many files the longest chain of imports has; every circle counts as one file."""
    left = {name: set(others) for name, others in needs.items()}
    while True:
        try:
            order = list(TopologicalSorter(left).static_order())
            break
        except CycleError as found:
            circle = set(found.args[1])
            one = min(circle)
            merged = set().union(*(left.pop(name) for name in circle)) - circle
            left = {name: {one if other in circle else other for other in left[name]} for name in left}
            left[one] = merged
    chain: dict[str, int] = {}
    for name in order:
        chain[name] = 1 + max((chain[other] for other in left[name]), default=0)
    return max(chain.values(), default=0)


def at_commit(commit: str) -> dict[str, Room]:
    """The rooms as they were at a commit."""
    packed = subprocess.run(
        ["git", "-C", str(HERE), "archive", "--end-of-options", commit, "src"], capture_output=True
    )
    if packed.returncode:
        raise ValueError(packed.stderr.decode(errors="replace").strip())
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(packed.stdout)) as files:
            files.extractall(folder, filter="data")
        return rooms(Path(folder) / "src")


def table(now: Mapping[str, Room], before: Mapping[str, Room] | None = None) -> str:
    """One line for each room; `before -> now` where there is a before."""
    lines = [f"{'room':<12}{'files':>12}{'lines':>16}{'code':>16}{'imports':>12}{'depth':>10}"]
    names = sorted({*now, *(before or {})}, key=lambda name: (name == "total", name))
    for name in names:
        cells = [str(value) for value in astuple(now.get(name, Room()))]
        if before is not None:
            was = astuple(before.get(name, Room()))
            cells = [f"{old} -> {new}" for old, new in zip(was, cells, strict=True)]
        lines.append(f"{name:<12}{cells[0]:>12}{cells[1]:>16}{cells[2]:>16}{cells[3]:>12}{cells[4]:>10}")
    return "\n".join(lines)


def main() -> None:
    """Print the table for the working tree, beside that of the commit named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("commit", nargs="?", help="compare with this commit: before -> now")
    commit = parser.parse_args().commit
    try:
        before = None if commit is None else at_commit(commit)
    except ValueError as error:
        parser.error(f"no sources at {commit}: {error}. Give a commit of this repository.")
    sys.stdout.write(table(rooms(HERE / "src"), before) + "\n")


if __name__ == "__main__":
    main()
