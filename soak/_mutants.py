"""Small changes to a source file, found in its syntax tree: each is one piece of text put for another."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_COMPARED = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
_COMPUTED = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
_WORDS = {ast.And: ("and", "or"), ast.Or: ("or", "and")}


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """The text from `start` to `end`, counted in bytes, becomes `after`."""

    file: str
    room: str
    line: int
    text: str
    """The line it stands in, without its indentation."""
    column: int
    """Where in that text."""
    start: int
    end: int
    before: str
    after: str
    nth: int = 1
    """The how manieth of this name in its room: one line may stand there more than once."""

    @property
    def name(self) -> str:
        """The same from run to run while the line stays in its room, wherever it stands there."""
        return f"{self.room}: {self.text} [{self.column}: {self.before!r} -> {self.after!r}]"

    @property
    def place(self) -> str:
        """Where to look."""
        return f"{self.file}:{self.line}"

    def applied(self, source: str) -> str:
        """The changed file."""
        data = source.encode()
        return (data[: self.start] + self.after.encode() + data[self.end :]).decode()


def of_file(path: Path, room: str, root: Path) -> list[Mutant]:
    """Every mutant of a file, in order."""
    source = path.read_text()
    tree = ast.parse(source)
    lines = [0]
    for line in source.encode().splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    data = source.encode()

    def at(line: int, column: int) -> int:
        return lines[line - 1] + column

    found = []
    for start, end, after in _changes(tree, at, data):
        line = bisect_right(lines, start)
        written = data[lines[line - 1] : lines[line]]
        found.append(
            Mutant(
                file=str(path.relative_to(root)),
                room=room,
                line=line,
                text=written.decode().strip(),
                column=start - lines[line - 1] - (len(written) - len(written.lstrip())),
                start=start,
                end=end,
                before=data[start:end].decode(),
                after=after,
            )
        )
    return sorted(found, key=lambda one: (one.start, one.after))


def _changes(tree: ast.Module, at: object, data: bytes) -> Iterator[tuple[int, int, str]]:
    assert callable(at)
    skipped = _not_code(tree)
    for node in ast.walk(tree):
        if id(node) in skipped or not isinstance(node, ast.expr):
            continue
        if isinstance(node, ast.Compare):
            left = node.left
            for operator, right in zip(node.ops, node.comparators, strict=True):
                yield from _between(left, right, _COMPARED[type(operator)], at, data)
                left = right
        elif isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
            yield from _between(node.left, node.right, _COMPUTED[type(node.op)], at, data)
        elif isinstance(node, ast.BoolOp):
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield from _between(left, right, _WORDS[type(node.op)], at, data)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            start = at(node.lineno, node.col_offset)
            yield start, start + len("not "), ""
        elif isinstance(node, ast.Constant) and type(node.value) in (int, bool):
            after = str(not node.value) if isinstance(node.value, bool) else str(node.value + 1)
            yield at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset), after


def _between(
    left: ast.expr, right: ast.expr, swap: tuple[str, str], at: object, data: bytes
) -> Iterator[tuple[int, int, str]]:
    """The operator between two operands, where it stands once."""
    assert callable(at)
    first, last = at(left.end_lineno, left.end_col_offset), at(*_begin(right))
    gap = data[first:last].decode()
    if gap.count(swap[0]) == 1:
        start = first + gap.index(swap[0])
        yield start, start + len(swap[0]), swap[1]


def _begin(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _not_code(tree: ast.Module) -> set[int]:
    """Annotations, and how a class is declared (frozen, keyword-only): no behaviour depends on them."""
    notes: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign):
            notes.append(node.annotation)
        elif isinstance(node, ast.FunctionDef):
            notes += [one.annotation for one in _arguments(node.args) if one.annotation is not None]
            notes += [node.returns] if node.returns is not None else []
        elif isinstance(node, ast.ClassDef):
            notes += [*node.decorator_list, *node.keywords]
        elif isinstance(node, ast.Assign) and _is_union(node.value):
            notes.append(node.value)
    return {id(inner) for note in notes for inner in ast.walk(note)}


def _is_union(value: ast.expr) -> bool:
    """Types that are given a name, such as `Number = int | str` or `Order = Callable[[int], int | None]`."""
    union = isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr)
    return union or (isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Tuple))


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    more = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *more]
