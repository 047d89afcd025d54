"""`safeside explain`: computed numbers, a readable page, the same page in the docs."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import safeside.cli.console
from safeside.cli.main import build
from safeside.errors import UnknownPolicy
from safeside.privacy.account import promise
from safeside.privacy.worked import DEFINITIONS, PEOPLE, PRIORS, QUESTIONS, explain

DOCS = Path(__file__).parents[2] / "docs"


def printed(monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    page = io.StringIO()
    console = Console(file=page, width=96, highlight=False)
    monkeypatch.setattr(safeside.cli.console, "out", console)
    result = CliRunner().invoke(build(), ["explain", *words])
    assert result.exit_code == 0, result.output
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())


@pytest.mark.parametrize(
    ("name", "protects", "leaks"),
    [
        ("dp", set(QUESTIONS), set()),
        ("osdp", {"at the clinic", "at both"}, set(QUESTIONS) - {"at the clinic", "at both"}),
        ("blowfish", set(), {"at the clinic", "not at the clinic", "at one of them at least"}),
        ("adp", {"at the clinic", "at both", "at one of them at least"}, {"not at the clinic"}),
        (
            "adp-set",
            {"at both", "at one of them at least"},
            {"not at the clinic", "not at the café", "at neither"},
        ),
    ],
)
def test_what_each_definition_protects_and_leaks(name: str, protects: set[str], leaks: set[str]) -> None:
    found = explain(name)
    assert set(found.protects) == protects
    assert set(found.leaks) == leaks
    assert {*found.protects, *found.leaks, *found.depends} == set(QUESTIONS)


def test_no_prior_exceeds_the_worst_one() -> None:
    for name in DEFINITIONS:
        for row in explain(name, "1.5").rows:
            assert all(value <= row.any_prior for value in row.by_prior.values())


def test_the_witnesses() -> None:
    values = {name: explain(name).witness.value for name in DEFINITIONS}
    assert values == {"dp": 3, "osdp": math.inf, "blowfish": math.inf, "adp": math.inf, "adp-set": 297}
    assert explain("adp-set").without_room == math.inf
    assert explain("dp").without_room == 3


def test_priors_are_distributions_on_the_same_people() -> None:
    for prior in PRIORS.values():
        assert sum(prior.values()) == 1
        assert set(prior) <= set(PEOPLE.records)


def test_json_has_the_numbers_and_nothing_else_is_printed() -> None:
    result = CliRunner().invoke(build(), ["explain", "adp-set", "--json"])
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["witness"]["risk"] == "297"
    assert found["risk_without_room"] == "infinite"
    assert len(found["risk"]) == len(QUESTIONS)
    names = json.loads(CliRunner().invoke(build(), ["explain", "list", "--json"]).stdout)
    assert list(names) == list(DEFINITIONS)


def test_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    page = printed(monkeypatch, "list")
    assert all(name in page for name in DEFINITIONS)


def test_another_factor(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "by 2:" in printed(monkeypatch, "dp", "--factor", "2")


def test_an_unknown_definition_is_refused() -> None:
    result = CliRunner().invoke(build(), ["explain", "osd"])
    assert isinstance(result.exception, UnknownPolicy)
    assert result.exception.do == 'Did you mean "osdp"?'
    result = CliRunner().invoke(build(), ["explain", "xyz"])
    assert isinstance(result.exception, UnknownPolicy)
    assert result.exception.do == "Use a declared name: 'adp', 'adp-set', 'blowfish', 'dp', 'osdp'."


@pytest.mark.parametrize("name", DEFINITIONS)
def test_the_docs_show_what_is_printed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (DOCS / "risk.md").read_text(encoding="utf-8")
    assert f"```text\n$ safeside explain {name}\n{printed(monkeypatch, name)}\n```" in page


def test_the_docs_show_the_promise() -> None:
    page = (DOCS / "promise.md").read_text(encoding="utf-8")
    assert f"> {' '.join(promise(1))}\n" in page
    assert f"> {' '.join(promise(1, '1e-6'))}\n" in page
