"""Every sentence that promises something names the check behind it (tests/promises/registry.py)."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest
from tests.promises.collecting import ROOT, artefacts, documents, plain, promising
from tests.promises.registry import CHECKED, NO_PROMISE

FRAGMENTS = tuple(plain(one) for one in (*CHECKED, *NO_PROMISE))


def unnamed(text: str) -> list[str]:
    """Sentences of which no fragment of the registry is a part."""
    return [one for one in promising(text) if not any(fragment in plain(one) for fragment in FRAGMENTS)]


def explain(where: str, found: list[str]) -> str:
    listed = "\n".join(f"  - {one}" for one in found)
    return (
        f"{where} has sentences that promise something and name no check:\n{listed}\n"
        "For each, add a few of its words to tests/promises/registry.py: to CHECKED, with the tests that "
        "would fail if it were not true (write one if there is none), or to NO_PROMISE, with the reason why "
        "it promises nothing. If it is not true, change the sentence."
    )


@pytest.mark.parametrize("where", documents())
def test_every_promise_of_the_documentation_names_its_check(where: str) -> None:
    found = unnamed(documents()[where])
    assert not found, explain(where, found)


def test_every_promise_of_an_artefact_names_its_check(tmp_path: Path) -> None:
    for where, text in artefacts(tmp_path).items():
        found = unnamed(text)
        assert not found, explain(where, found)


@cache
def functions_in(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    named = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return frozenset(node.name for node in named if node.name.startswith("test_"))


@pytest.mark.parametrize("fragment", CHECKED)
def test_the_checks_that_are_named_exist(fragment: str) -> None:
    assert CHECKED[fragment], f'"{fragment}" names no test'
    for check in CHECKED[fragment]:
        file, _, name = check.partition("::")
        assert (ROOT / file).is_file(), (
            f'"{fragment}" names {file}, which is not there (tests/promises/registry.py)'
        )
        assert name in functions_in(file), (
            f'"{fragment}" names {check}, which is not there (tests/promises/registry.py)'
        )


@pytest.mark.parametrize("fragment", NO_PROMISE)
def test_what_is_no_promise_says_why(fragment: str) -> None:
    assert len(NO_PROMISE[fragment].split()) > 1


def test_a_promise_that_nobody_checks_is_found() -> None:
    assert unnamed("The moon is never wrong about tides.") == ["The moon is never wrong about tides."]
    assert unnamed("# Never in a heading\n\n```\nnever in code\n```\n\nNothing is said here.") == []
