"""The fuzzer of the soak: it agrees with right counts, and sees each kind of wrong one."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from soak import fuzz_visits
from soak._fuzz_cases import KINDS, cut_exports, missing_days
from soak._fuzz_rows import Case, some_rows, table, truth

from safeside.visits import Counts
from safeside.visits.count import people


def _case(seed: int = 1) -> Case:
    rows = some_rows(random.Random(seed))
    return Case(kind="ordinary", form="polars", rows=rows, make=lambda given, _: table(given))


def test_right_counts_agree() -> None:
    for seed in range(5):
        assert fuzz_visits.judge(_case(seed), _case(seed).rows) == "agreed"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [(-1, "FAILED: counted less than the truth"), (1, "FAILED: counted more than the truth")],
)
def test_wrong_counts_are_seen_and_made_small(wrong: int, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = fuzz_visits.count_visits

    def bent(*given: Any, **named: Any) -> Counts:
        counts = real(*given, **named)
        return replace(counts, values=counts.values + wrong * (counts.values > 0))

    case = _case()
    assert sum(truth(case, case.rows)) > 1
    monkeypatch.setattr(fuzz_visits, "count_visits", bent)
    assert fuzz_visits.judge(case, case.rows) == said
    assert len(fuzz_visits.smaller(case, said)) == 1


def test_an_error_that_is_not_ours_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Counts:
        raise KeyError

    monkeypatch.setattr(fuzz_visits, "count_visits", broken)
    assert fuzz_visits.judge(_case(), _case().rows) == "FAILED: raised KeyError"


@pytest.mark.parametrize("kind", range(len(KINDS)))
def test_each_kind_makes_visits_that_can_be_counted(kind: int) -> None:
    dice = random.Random(kind)
    outcomes = [fuzz_visits.judge(case, case.rows) for case in (KINDS[kind](dice) for _ in range(8))]
    assert "agreed" in outcomes


@pytest.mark.parametrize("kind", [cut_exports, missing_days])
def test_counting_what_was_not_exported_is_seen(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(1)
    cases = [kind(dice) for _ in range(20)]
    outcomes = {fuzz_visits.judge(case, case.rows) for case in cases}
    assert outcomes == {"agreed", "stopped"}
    monkeypatch.setattr(people, "coverage", lambda *_, **__: [])
    outcomes = {fuzz_visits.judge(case, case.rows) for case in cases}
    assert "FAILED: counted less than the truth" in outcomes
