"""The planner names the strongest definition that is enough, certified."""

from __future__ import annotations

from fractions import Fraction

import pytest

from safeside.decisions.bounds import approximate_dp
from safeside.decisions.planning import Definition, plan, rounded_down
from safeside.exact import ball
from safeside.mechanisms import AGeo


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
        assert row.adp.overlaps(AGeo(epsilon="0.5").beta(4, row.count))
        assert row.dp.overlaps(approximate_dp(steps=steps, epsilon="0.5", alpha="0.02"))
        assert row.approximate_dp.overlaps(
            approximate_dp(steps=steps, epsilon="0.5", delta="0.01", alpha="0.02")
        )


def test_a_person_in_several_counts_leaves_each_a_part() -> None:
    """(max_conditions eps, max_conditions delta) for the whole: each count has its part of both."""
    made = plan(at_most=4, epsilon=1, delta="0.02", alpha="0.01", sensitivity=2)
    for row in made.rows:
        half = {"steps": 5 - row.count, "epsilon": "0.5", "alpha": "0.01"}
        assert row.adp.overlaps(AGeo(epsilon="0.5").beta(4, row.count))
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
    assert made.sentence().endswith("; asymmetric differential privacy would from epsilon 0.383765 on.")
    never = plan(at_most=5, epsilon="0.1", want_beta=1)
    assert never.enough_epsilon is None
    assert "would from epsilon" not in never.sentence()


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
