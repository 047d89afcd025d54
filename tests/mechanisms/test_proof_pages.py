"""Every mechanism says what it guarantees, what that assumes and where the proof is; the proof is there."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

from safeside import mechanisms

ROOT = Path(__file__).parents[2]
SHIPPED = mechanisms.MECHANISMS


def test_none_is_missing() -> None:
    """Everything public with a guarantee and a way to release is on the list."""
    public = {getattr(mechanisms, name) for name in mechanisms.__all__}
    able = {
        one
        for one in public
        if isinstance(one, type)
        and hasattr(one, "guarantee")
        and hasattr(one, "release")
        and one is not mechanisms.Mechanism
    }
    assert able == set(SHIPPED)


@pytest.mark.parametrize("mechanism", SHIPPED, ids=lambda one: one.__name__)
def test_each_has_a_file_that_is_named_after_it(mechanism: type) -> None:
    """`geometric` will do for TwoSidedGeometric; no file holds two mechanisms."""
    file = mechanism.__module__.rpartition(".")[2]
    assert mechanism.__name__.lower().endswith(file.replace("_", ""))
    assert [one for one in SHIPPED if one.__module__ == mechanism.__module__] == [mechanism]


@pytest.mark.parametrize("mechanism", SHIPPED, ids=lambda one: one.__name__)
def test_each_has_the_one_shape_of_a_mechanism(mechanism: type) -> None:
    members = ("name", "guarantee", "alpha", "release", "distribution")
    assert set(members) <= {name for name in dir(mechanisms.Mechanism) if not name.startswith("_")}
    fields = getattr(mechanism, "__dataclass_fields__", {})
    assert all(hasattr(mechanism, name) or name in fields for name in members)
    *_, last = inspect.signature(mechanism.release).parameters.values()
    assert (last.name, last.kind, last.default) == ("entropy", inspect.Parameter.KEYWORD_ONLY, None)


@pytest.mark.parametrize("mechanism", SHIPPED, ids=lambda one: one.__name__)
def test_the_docstring_has_its_sections_and_the_proof_exists(mechanism: type) -> None:
    text = mechanism.__doc__ or ""
    for section in ("Guarantee", "Assumes", "Proof"):
        assert re.search(rf"^    {section}\n        \S", text, re.MULTILINE), section
    page = re.search(r"docs/proofs/\w+\.md", text)
    assert page is not None
    assert (ROOT / page.group()).is_file()
    assert mechanism.name


HOW_THEY_ADD_UP = {f"docs/proofs/{name}.md" for name in ("composition", "conversions", "refunds")}


@pytest.mark.parametrize(
    "page", sorted({re.search(r"docs/proofs/\w+\.md", m.__doc__).group() for m in SHIPPED} | HOW_THEY_ADD_UP)
)
def test_the_proof_names_the_tests_that_enumerate_it(page: str) -> None:
    """Each test a proof page names exists, and each page names one that enumerates."""
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", text)
    assert any("enumerated" in test for _, test in named)
    for file, test in named:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, test
