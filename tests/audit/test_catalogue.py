"""The catalogue: every mechanism that is shipped, its claim kept, and tight where it says so."""

from __future__ import annotations

import importlib
import inspect
import json
import math
import pkgutil

import pytest

import safeside.mechanisms
from safeside.audit import catalogue
from safeside.audit.case import Case, Row, as_plain, case
from safeside.audit.cases_draws import Sampler, samplers
from safeside.audit.worlds import INSTANT
from safeside.mechanisms.ageo import AGeo

ELSEWHERE = {"paper-salap", "ladder"}
"""Drawn by the code of SAGeo, and as a part of a selection."""
REQUIRED = {one.name for one in safeside.mechanisms.MECHANISMS} - ELSEWHERE


@pytest.mark.parametrize("one", catalogue.cases(), ids=lambda one: f"{one.name}: {one.setting}")
def test_claim_is_kept(one: Case) -> None:
    row = one.row()
    assert row.ok, row
    assert row.measured <= row.claimed + 1e-9
    assert row.measured_delta <= row.claimed_delta + 1e-9
    if row.tight:
        assert row.measured >= row.claimed - 1e-9


def test_every_required_mechanism_is_listed() -> None:
    assert {one.name for one in catalogue.cases()} >= REQUIRED


def test_sageo_is_listed_for_each_number_of_alarms_and_each_max_conditions() -> None:
    settings = [one.setting for one in catalogue.cases() if one.name == "sageo"]
    for alarms in (1, 2, 3):
        for max_conditions in (1, 2, 3):
            assert any(f"c = {alarms}, κ = {max_conditions};" in setting for setting in settings)
        assert any(f"c = {alarms}," in setting and "region" in setting for setting in settings)


def test_every_mechanism_that_is_shipped_is_audited() -> None:
    """A new mechanism with a guarantee and a name cannot be forgotten here."""
    audited = {one.name for one in catalogue.cases()}
    abstract = {"additive", "grid", "sparse", "yes-no"}
    for module in pkgutil.iter_modules(safeside.mechanisms.__path__, "safeside.mechanisms."):
        for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            name = vars(kind).get("name")
            if isinstance(name, str) and hasattr(kind, "guarantee") and name not in abstract:
                assert name in audited, name


def test_every_release_is_drawn_and_held_against_its_probabilities() -> None:
    assert {one.name.removeprefix("release of ") for one in samplers()} >= REQUIRED


@pytest.mark.parametrize("sampler", samplers(), ids=lambda sampler: f"{sampler.name}, {sampler.setting}")
def test_samplers_draw_what_they_should(sampler: Sampler) -> None:
    row = sampler.row()
    assert row.ok, row
    assert row.kind == "sampler"


def test_a_claim_that_is_too_small_or_called_tight_in_vain_is_not_ok() -> None:
    honest = AGeo(epsilon=1)
    rows = []
    for mechanism in (AGeo(epsilon=2), AGeo(epsilon="0.5")):
        rows.append(case(honest, "instant", INSTANT.counts, INSTANT.asymmetric, answer=mechanism).row())
    assert [row.ok for row in rows] == [False, False]
    assert [round(row.measured, 6) for row in rows] == [2.0, 0.5]


def test_rows_are_json_even_where_infinite() -> None:
    row = Row(
        name="x",
        kind="exact",
        setting="",
        claimed=1.0,
        claimed_delta=0.0,
        measured=math.inf,
        measured_delta=0.0,
        worst_pair="",
        witness="",
        tight=False,
        ok=False,
    )
    assert json.loads(json.dumps(as_plain(row), allow_nan=False))["measured"] == "infinity"


def test_progress_is_told_from_start_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    few = catalogue.cases()[:5]
    monkeypatch.setattr(catalogue, "cases", lambda: few)
    told: list[float] = []

    def listen(done: float | None, what: str) -> None:
        assert done is not None
        told.append(done)

    drawn = samplers()[:3]
    monkeypatch.setattr(catalogue, "samplers", lambda: drawn)
    quick = [one for one in catalogue.published() if one.name == "entropy"]
    monkeypatch.setattr(catalogue, "published", lambda: quick)
    rows = catalogue.audit(listen)
    assert len(rows) == len(told) == 5 + 1 + 3
    assert told[0] == 0
    assert told == sorted(set(told))
