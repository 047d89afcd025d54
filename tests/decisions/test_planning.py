"""The planner names the strongest definition that is enough, certified; expected betas by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from safeside.decisions import (
    Definition,
    approximate_dp,
    beta_at_most,
    expected_beta,
    expected_beta_sparse,
    plan,
)
from safeside.decisions.planning import rounded_down
from safeside.exact import ball
from safeside.mechanisms import PaperSALap, SAGeo


@pytest.mark.parametrize(
    ("options", "recommended"),
    [
        ({"at_most": 5, "epsilon": 1, "delta": "1e-6"}, Definition.ADP),
        ({"at_most": 5, "epsilon": 1, "delta": "1e-6", "alpha": "0.001"}, Definition.ADP),
        ({"at_most": 12, "epsilon": 1, "delta": "1e-4"}, Definition.APPROXIMATE_DP),
        ({"at_most": 50, "epsilon": 1, "delta": "1e-6", "alpha": "0.01"}, Definition.DP),
        ({"at_most": 5, "epsilon": "0.1", "delta": "1e-6"}, None),
        ({"at_most": 5, "epsilon": 1, "count": 5}, None),
        ({"at_most": 5, "epsilon": 3, "count": 5}, Definition.ADP),
        ({"at_most": 12, "epsilon": 1, "delta": "1e-4", "sensitivity": 2}, Definition.ADP),
        ({"at_most": 5, "epsilon": 1, "want_beta": 1}, None),
    ],
)
def test_the_strongest_that_is_enough(options: dict[str, object], recommended: Definition | None) -> None:
    made = plan(**options)
    assert made.recommended is recommended
    for stronger in Definition:
        if stronger is recommended:
            assert made.declared.beta(stronger) >= ball(made.want_beta)
            break
        assert made.declared.beta(stronger) < ball(made.want_beta)


def test_the_table() -> None:
    made = plan(at_most=4, epsilon="0.5", delta="0.01", alpha="0.02")
    assert [row.count for row in made.rows] == [0, 1, 2, 3, 4]
    for row in made.rows:
        steps = 5 - row.count
        assert row.adp.overlaps(beta_at_most(4, row.count, "0.5"))
        assert row.dp.overlaps(approximate_dp(steps=steps, epsilon="0.5", alpha="0.02"))
        assert row.approximate_dp.overlaps(
            approximate_dp(steps=steps, epsilon="0.5", delta="0.01", alpha="0.02")
        )


def test_a_person_in_several_counts_leaves_each_a_part() -> None:
    """(max_conditions eps, max_conditions delta) for the whole: each count has its part of both."""
    made = plan(at_most=4, epsilon=1, delta="0.02", alpha="0.01", sensitivity=2)
    for row in made.rows:
        half = {"steps": 5 - row.count, "epsilon": "0.5", "alpha": "0.01"}
        assert row.adp.overlaps(beta_at_most(4, row.count, "0.5"))
        assert row.dp.overlaps(approximate_dp(**half))
        assert row.approximate_dp.overlaps(approximate_dp(**half, delta="0.01"))


def test_many_counts_are_thinned_and_keep_the_declared_one() -> None:
    made = plan(at_most=1000, epsilon="0.01", delta="1e-6", count=777)
    assert len(made.rows) <= 43
    assert {0, 777, 1000} <= {row.count for row in made.rows}
    assert made.declared.count == 777


def test_what_would_be_enough() -> None:
    made = plan(at_most=5, epsilon="0.1")
    assert made.enough_epsilon == Fraction("0.383765")
    assert plan(at_most=5, epsilon=made.enough_epsilon).recommended is Definition.ADP
    assert plan(at_most=5, epsilon="0.1", want_beta=1).enough_epsilon is None


def test_an_epsilon_that_no_noise_can_have_is_not_offered() -> None:
    assert plan(at_most=0, epsilon=1, want_beta=1 - Fraction(1, 10**30)).enough_epsilon is None
    assert plan(at_most=10**9, epsilon=1).enough_epsilon == Fraction(1, 10**6)


def test_the_sentence_names_whose_step_is_hidden() -> None:
    assert "one person added or removed" in plan(at_most=12, epsilon=1, delta="1e-4").sentence()
    assert "one person added or removed" in plan(at_most=50, epsilon=1, alpha="0.01").sentence()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("0.99999", "0.9999"),
        ("1", "1.0000"),
        ("0", "0.0000"),
        ("0.00099999", "0.0009"),
        ("0.0000129", "1.2e-5"),
    ],
)
def test_betas_are_rounded_down(value: str, shown: str) -> None:
    assert rounded_down(ball(Fraction(value))) == shown


def test_expected_beta() -> None:
    """Unsafe places do not count; thresholds may differ."""
    mean = expected_beta([0, 2, 9, 4], [3, 3, 3, 4], lambda k: beta_at_most(k - 1, 0, 1))
    by_hand = sum(1 - math.exp(-k) for k in (4, 2, 1)) / 3
    assert float(mean.mid()) == pytest.approx(by_hand)
    assert expected_beta([9], 3, lambda k: ball(k)) is None


def test_expected_beta_of_many_places_is_one_beta_for_each_distance() -> None:
    counts = np.tile(np.arange(5), 200_000)
    mean = expected_beta(counts, 3, lambda k: beta_at_most(k - 1, 0, 1))
    assert float(mean.mid()) == pytest.approx(sum(1 - math.exp(-k) for k in (4, 3, 2, 1)) / 4)


@pytest.mark.parametrize("mechanism", [SAGeo(epsilon_each=1, alarms=2), PaperSALap(epsilon_each=1)])
def test_expected_beta_of_a_sparse_release(mechanism: SAGeo | PaperSALap) -> None:
    """Against the transcripts: given that it was asked, and over all safe queries."""
    counts, limits = [1, 0, 4, 0], [2, 1, 2, 3]
    law = mechanism.distribution(counts, limits, 5)
    safe = [i for i in range(4) if counts[i] <= limits[i]]
    asked = quiet = 0.0
    for said, mass in law.items():
        asked += float(mass.mid()) * sum(s.query in safe for s in said)
        quiet += float(mass.mid()) * sum(s.query in safe and s.alarm is None for s in said)
    given = expected_beta_sparse(mechanism, counts, limits, given_asked=True)
    overall = expected_beta_sparse(mechanism, counts, limits, given_asked=False)
    assert given == pytest.approx(quiet / asked)
    assert overall == pytest.approx(quiet / 3)
    assert overall < given
    assert expected_beta_sparse(mechanism, [9], [1], given_asked=True) is None
