"""`safeside audit` on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from typer.testing import CliRunner

from safeside.audit import catalogue
from safeside.cli import audit as command
from safeside.cli.main import build
from safeside_studies import planted
from safeside_studies.planted import Caught, Planted


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(build(), ["audit", *arguments], env={"COLUMNS": "220"})
    return result.exit_code, result.stdout


def one_each(every: Iterable[Any]) -> tuple[Any, ...]:
    """The first of each name."""
    found: dict[str, Any] = {}
    for one in every:
        found.setdefault(one.name, one)
    return tuple(found.values())


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the published path one row, of the planted bugs one of each list: other tests have them all."""
    rows = [one for one in catalogue.published() if one.name == "entropy"]
    monkeypatch.setattr(catalogue, "published", lambda: rows)
    for name in ("MECHANISMS", "PROCEDURES", "SELECTION", "PUBLISHED", "SAMPLERS"):
        monkeypatch.setattr(planted, name, getattr(planted, name)[:1])


@pytest.fixture
def one_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row of each mechanism, and every tenth sampler: tests/audit/test_catalogue.py has them all."""
    cases, drawn = one_each(catalogue.cases()), catalogue.samplers()[::10]
    monkeypatch.setattr(catalogue, "cases", lambda: cases)
    monkeypatch.setattr(catalogue, "samplers", lambda: drawn)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = catalogue.cases()[:3]
    drawn = catalogue.samplers()[:1]
    monkeypatch.setattr(catalogue, "cases", lambda: cases)
    monkeypatch.setattr(catalogue, "samplers", lambda: drawn)


@pytest.mark.usefixtures("one_of_each")
def test_json_is_a_list_of_rows_and_nothing_else() -> None:
    code, output = run("--json")
    rows: list[dict[str, Any]] = json.loads(output)
    assert code == 0
    for row in rows:
        assert {"name", "setting", "claimed", "measured", "worst_pair", "tight", "ok"} <= set(row)
        assert row["measured"] <= row["claimed"] + 1e-9
        assert row["measured_delta"] <= row["claimed_delta"] + 1e-9
        assert not row["tight"] or row["measured"] >= row["claimed"] - 1e-9
        assert row["ok"]
    with_delta = {row["name"] for row in rows if row["claimed_delta"]}
    assert with_delta == {"padded", "decision", "account"}


@pytest.mark.usefixtures("few")
def test_the_table_names_the_worst_pair_and_sums_up() -> None:
    code, output = run()
    assert code == 0
    assert "({}, {A, B, C}) → ({}, {})" in output
    assert "All 4 claims hold" in output
    assert "samplers drew what they should" in " ".join(output.split())


@pytest.mark.usefixtures("few")
def test_a_violation_is_shown_and_ends_with_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = catalogue.audit

    def spoilt(*arguments: Any) -> list[Any]:
        rows = honest(*arguments)
        return [replace(rows[0], measured=float("inf"), ok=False), *rows[1:]]

    monkeypatch.setattr(command, "audit_all", spoilt)
    code, output = run()
    assert code == 1
    assert "VIOLATED" in output
    assert "∞" in output
    assert "1 of 5 audits failed" in output
    code, output = run("--json")
    assert code == 1
    assert json.loads(output)[0]["measured"] == "infinity"


def test_self_test_shows_each_planted_bug_caught() -> None:
    code, output = run("--self-test", "--json")
    rows = json.loads(output)
    assert code == 0
    assert len(rows) == len(planted.planted())
    assert all(row["caught"] for row in rows)


def test_a_missed_bug_ends_with_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    bug = Planted(name="a bug", bug="Nobody sees it.", audit=lambda: missed)
    missed = Caught(caught=False, claimed=1.0, measured=1.0, how="nothing")
    monkeypatch.setattr(planted, "self_test", lambda _: [(bug, missed)])
    code, output = run("--self-test")
    assert code == 1
    assert "MISSED" in output
    assert "1 of 1 planted bugs were missed" in output
    found = replace(missed, caught=True)
    monkeypatch.setattr(planted, "self_test", lambda _: [(bug, found)])
    code, output = run("--self-test")
    assert code == 0
    assert "All 1 planted bugs were caught" in output
