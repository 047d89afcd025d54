"""Tests replace nothing whose name begins with an underscore: what they need to change is a parameter.

A name that a test replaces cannot be moved or dropped without reading the test; a parameter says so itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

_TESTS = Path(__file__).parent
_REPLACES = {"setattr", "replaced", "patch", "object"}


def _replaced(text: str) -> Iterator[tuple[int, str]]:
    """Every name that is replaced by its text, with the line on which that is."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "id", getattr(node.func, "attr", None))
            names = [one.value for one in node.args[:2] if isinstance(one, ast.Constant)]
            if called in _REPLACES:
                yield from ((node.lineno, name.rpartition(".")[2]) for name in names if isinstance(name, str))


def _internal(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def test_no_test_replaces_an_internal_name() -> None:
    found = [
        f"{path.relative_to(_TESTS)}:{line}: {name}"
        for path in sorted(_TESTS.rglob("*.py"))
        for line, name in _replaced(path.read_text("utf-8"))
        if _internal(name)
    ]
    assert found == [], "Give what these tests replace a parameter, or a public name"


def test_an_internal_name_would_be_found() -> None:
    text = 'monkeypatch.setattr(module, "_LIMIT", 1)\nmonkeypatch.setattr("a.b._LIMIT", 1)\n'
    assert [name for _, name in _replaced(text) if _internal(name)] == ["_LIMIT", "_LIMIT"]
