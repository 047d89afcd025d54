"""Nothing of the paper is left out: its numbered statements, the tests, and docs/errata.md agree.

The numbers follow from its LaTeX: one counter for theorems, propositions, lemmas, corollaries and
definitions, started again in each section; the appendix is section VIII.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ERRATA = HERE.parents[1] / "docs" / "errata.md"
STATEMENTS = (
    "Proposition III.1",
    "Proposition III.2",
    "Proposition III.3",
    "Proposition IV.3",
    "Proposition IV.4",
    "Proposition IV.5",
    "Proposition IV.7",
    "Theorem V.4",
    "Corollary V.5",
    "Corollary V.6",
    "Theorem V.7",
    "Theorem VIII.2",
    "Theorem VIII.3",
    "Lemma VIII.4",
    "Lemma VIII.5",
    "Theorem VIII.6",
)
DEFINITIONS = (
    *(f"Definition II.{number}" for number in range(1, 7)),
    *(f"Definition IV.{number}" for number in (1, 2, 6)),
    *(f"Definition V.{number}" for number in (1, 2, 3)),
    "Definition VIII.1",
)


def names_in(pattern: str) -> set[str]:
    names = set()
    for path in HERE.glob(pattern):
        tree = ast.parse(path.read_text())
        names |= {
            node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name[:5] == "test_"
        }
    return names


def prefix(statement: str) -> str:
    kind, number = statement.split()
    return f"test_{kind.lower()}_{number.replace('.', '_')}_"


@pytest.mark.parametrize("statement", STATEMENTS)
def test_each_statement_has_a_test_named_after_it(statement: str) -> None:
    assert any(name.startswith(prefix(statement)) for name in names_in("test_section_*.py"))


def test_each_test_is_named_after_a_statement_that_exists() -> None:
    kinds = ("theorem", "proposition", "corollary", "lemma")
    named = [name for name in names_in("test_section_*.py") if name.split("_")[1] in kinds]
    known = tuple(prefix(statement) for statement in STATEMENTS)
    assert all(name.startswith(known) for name in named)


def test_the_counters_leave_no_gap() -> None:
    """Statements and definitions together number each section from 1 on."""
    for section in ("II", "III", "IV", "V", "VIII"):
        numbers = sorted(
            int(one.split(".")[1])
            for one in (*STATEMENTS, *DEFINITIONS)
            if one.split()[1].split(".")[0] == section
        )
        assert numbers == list(range(1, len(numbers) + 1))


def test_the_page_lists_every_statement_and_names_tests_that_exist() -> None:
    page = ERRATA.read_text()
    listed = re.findall(
        r"^\| ((?:Theorem|Proposition|Corollary|Lemma|Definition) [IVX]+\.\d+) \|", page, re.M
    )
    assert sorted(listed) == sorted((*STATEMENTS, *DEFINITIONS))
    named = set(re.findall(r"`(test_[A-Za-z0-9_]+)`", page))
    assert named <= names_in("test_*.py")
    assert names_in("test_section_*.py") <= named, "a statement's test is missing from the page"


def test_every_erratum_has_an_entry_and_a_test_that_shows_it() -> None:
    page = ERRATA.read_text()
    entries = re.findall(r"^### E(\d\d)\. ", page, re.M)
    tests = names_in("test_errata.py")
    assert entries == [f"{number:02}" for number in range(1, 27)]
    assert len(tests) == len(entries)
    for number in entries:
        (name,) = [test for test in tests if test.startswith(f"test_erratum_{number}_")]
        body = page.split(f"### E{number}. ")[1].split("\n### ")[0].split("\n## ")[0]
        assert f"`{name}`" in body
        assert "Printed:" in body
        assert "Must be:" in body
        assert "Shown by" in body
