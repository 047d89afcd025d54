"""No message is left out: what each error says, and what it advises, is quoted by a test.

Errors are looked for in the source of every room. A message counts as quoted where a text of these tests is a
part of it, or holds all that stands between two of its gaps, or is the message itself with its gaps filled.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set
from functools import cache
from pathlib import Path

import pytest

from safeside import errors

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
ERRORS = {
    name
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.SafesideError)
}
CARRIERS = frozenset({"Finding", "RowCheck"})
"""Records of visits that hold a message until an error is made of it."""
GAP = "\0"
"""Stands for what is put into a message when it is raised."""
_FEW, _MANY, _PART = 8, 18, 12
"""Shorter texts could be a part of anything: in this folder, in tests of other things, between two gaps."""
HARD_TO_REACH = {
    "A claim is wrong.": "a study that meets it has found that the mechanism is broken",
    "Report it: the mechanism or one of the counts is.": "the same",
    "A school was wrongly certified.": "the same",
    "Report it: the mechanism is wrong.": "the same",
    "Export it again as CSV or Parquet.": "said of a fault of another package, which a test could only fake",
    "Text in this dataframe can be read only with the package pyarrow.": "the same",
    "Run pip install pyarrow.": "the same",
}
ROOMS = [
    *sorted(path for path in (SOURCE / "safeside").iterdir() if (path / "__init__.py").exists()),
    *sorted((SOURCE / "safeside").glob("*.py")),
    SOURCE / "safeside_studies",
]


def flat(text: str) -> str:
    """Without what lines of source and beginnings of sentences change."""
    return " ".join(text.split()).casefold()


@cache
def quoted() -> tuple[frozenset[str], str, tuple[re.Pattern[str], ...]]:
    """Every text of the tests, one by one and a line each; those with marks of a pattern as patterns, too."""
    texts = {
        text
        for path in HERE.parent.rglob("*.py")
        if path != Path(__file__)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant | ast.JoinedStr)
        and len(text := "".join(pieces(node))) >= (_FEW if path.parent == HERE else _MANY)
    }
    patterns = [text for text in texts if re.search(r"\.[+*]|\\|\(", text) and "\n" not in text]
    known = frozenset(map(flat, texts))
    return known, "\n".join(known), tuple(filter(None, map(_pattern, patterns)))


def _pattern(text: str) -> re.Pattern[str] | None:
    try:
        return re.compile(text)
    except re.error:
        return None


def pieces(node: ast.expr) -> Iterator[str]:
    """The parts of a message that are always the same, and gaps between them."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            for part in parts:
                yield from pieces(part)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from pieces(left)
            yield from pieces(right)
        case _:
            yield GAP


def messages(room: Path) -> Iterator[tuple[str, str]]:
    """Where each message of a room stands, and its text with gaps."""
    for path in sorted(room.rglob("*.py")) if room.is_dir() else [room]:
        tree = ast.parse(path.read_text())
        carriers = CARRIERS if {"visits", "groups"} & set(path.parts) else frozenset()
        makers = ERRORS | carriers | set(helpers(tree, carriers))
        for call in calls(tree, makers):
            for part in (*call.args, *(one.value for one in call.keywords)):
                text = "".join(pieces(part))
                if len(text.replace(GAP, "").strip()) >= 4:
                    yield f"{path.relative_to(SOURCE)}:{call.lineno}", text


def calls(tree: ast.AST, names: Set[str]) -> Iterator[ast.Call]:
    """The calls of functions or classes of these names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield node


def helpers(tree: ast.AST, carriers: Set[str]) -> Iterator[str]:
    """Functions of a file that put text they are given into the message of an error."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            given = {
                one.arg
                for one in (*node.args.args, *node.args.kwonlyargs)
                if isinstance(one.annotation, ast.Name) and one.annotation.id == "str"
            }
            for call in calls(node, ERRORS | carriers):
                if given & {one.id for one in ast.walk(call) if isinstance(one, ast.Name)}:
                    yield node.name


def is_quoted(message: str) -> bool:
    """Whether a test quotes the message."""
    texts, together, patterns = quoted()
    said = flat(message)
    fixed = [
        part for one in said.split(GAP) for part in (one.strip(), one.strip(" .(")) if len(part) >= _PART
    ]
    if any(part in together for part in fixed) or any(text in said for text in texts):
        return True
    if re.search(".*".join(map(re.escape, said.split(GAP))), together):
        return True
    return any(pattern.search(message) for pattern in patterns)


@pytest.mark.parametrize("room", ROOMS, ids=lambda path: path.stem)
def test_every_message_is_quoted(room: Path) -> None:
    left_out = [
        f"{where}: {text.replace(GAP, '...')}"
        for where, text in messages(room)
        if text not in HARD_TO_REACH and not is_quoted(text)
    ]
    assert left_out == [], "\n".join(["Assert these in tests/messages:", *left_out])


def test_a_message_that_nobody_quotes_is_noticed() -> None:
    assert is_quoted("No such thing as this was ever said before.") is False
    assert is_quoted(f"{GAP} is a {GAP}, which no test of this folder would say.") is False
