"""Every refusal of the decisions and of `safeside plan`, with what it says and what it advises."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from safeside.decisions.bounds import needed_epsilon_adp, needed_epsilon_dp
from safeside.decisions.bounds import smallest_epsilon as smallest
from safeside.decisions.onesided import sanitizer
from safeside.decisions.plan_picture import draw
from safeside.decisions.planning import plan
from safeside.decisions.sanitizers import decide, decide_sparse, margin
from safeside.errors import BadCounts, BadNumber, BadQuestion, CannotWrite, MissingExtra, SafesideError
from safeside.mechanisms import SparseVector
from safeside.privacy.guarantee import Direction

LAW = {z: Fraction(1, 21) for z in range(21)}


@pytest.mark.parametrize(
    ("call", "error", "what", "do"),
    [
        (
            lambda: needed_epsilon_dp(steps=1, alpha=0, beta="0.5"),
            BadNumber,
            "alpha is 0, and then no epsilon is enough: epsilon-DP is never certain.",
            "Allow an alpha above 0, or use (epsilon, delta)-DP or asymmetric differential privacy.",
        ),
        (
            lambda: needed_epsilon_adp(steps=1, beta=1),
            BadNumber,
            "beta is 1, and no epsilon reaches that",
            "Ask for a beta below 1, for instance 0.99.",
        ),
        (lambda: smallest(at_most=5, beta=1), BadNumber, "beta is 1, and no epsilon reaches that", "below 1"),
        (
            lambda: smallest(at_most=5, beta="0.5", count=6),
            BadNumber,
            "At a true count of 6, 'at most 5' would be wrong, and it is never said.",
            "Declare a true count of at most the threshold.",
        ),
        (
            lambda: sanitizer(LAW, [LAW], "0.1", "0.5"),
            BadNumber,
            "21 outputs can be given both where the decision is true and where it is false.",
            "Search over at most 20: put tails together, or use a coarser output.",
        ),
        (
            lambda: plan(at_most=5, epsilon=1, count=6),
            BadQuestion,
            'The declared count 6 is above 5: there "at most 5" is false and must not be said.',
            "Declare a count of at most the threshold; 0 is the usual choice.",
        ),
        (lambda: plan(at_most=-1, epsilon=1), BadNumber, "`at_most=` is -1.", "of at least 0"),
        (lambda: plan(at_most=1, epsilon=1, alpha=1), BadNumber, "alpha is 1.", "at least 0 and below 1"),
        (lambda: plan(at_most=1, epsilon=1, want_beta=0), BadNumber, "beta is 0.", "above 0 and at most 1"),
        (
            lambda: decide([1], [1, 2], 1),
            BadNumber,
            "at_most has 2 values for 1 places.",
            "Give at_most once",
        ),
        (
            lambda: decide(np.array([2**63 + 5], dtype=np.uint64), 5, 1),
            BadCounts,
            "The published values are not whole numbers that a count and its noise could be.",
            "Give them as they were published",
        ),
        (lambda: decide(np.array([np.nan]), 5, 1), BadCounts, "are not whole numbers", "Give them"),
        (lambda: decide([5.9], 5, 1), BadCounts, "are not whole numbers", "Give them"),
        (
            lambda: decide([5], 5, 1, "0.1", direction=Direction.INCREASING, coins=np.array([True])),
            BadNumber,
            "Coins were given that do not belong to these values.",
            "Give one coin of boundary_coins for each value of a decreasing count, or none.",
        ),
        (
            lambda: decide([5, 6], 5, 1, "0.1", coins=np.array([True])),
            BadNumber,
            "Coins were given",
            "Give one",
        ),
        (
            lambda: decide_sparse(SparseVector(epsilon=1).release([3], 40), 1),
            BadQuestion,
            "Quiet answers of svt may be wrong and cannot be called certain.",
            "Read decisions from SAGeo or SALap",
        ),
        (
            lambda: plan(at_most=5, epsilon=60),
            BadNumber,
            "The rate epsilon/sensitivity is 60.",
            "Give at most 50",
        ),
        (lambda: margin(0, "0.1"), BadNumber, "rate is 0.", "Give rate above zero."),
    ],
)
def test_refusals(call: Callable[[], Any], error: type[SafesideError], what: str, do: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert what in caught.value.what
    assert do in caught.value.do


@pytest.mark.parametrize("name", ["missing/plan.png", "plan.unknown"])
def test_a_picture_that_cannot_be_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(CannotWrite) as caught:
        draw(plan(at_most=1, epsilon=1), tmp_path / name)
    assert "The picture cannot be written to" in caught.value.what
    assert "ending in .png, .pdf or .svg" in caught.value.do


def test_a_picture_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra) as caught:
        draw(plan(at_most=1, epsilon=1), tmp_path / "plan.png")
    assert caught.value.what == "Drawing a picture needs the package matplotlib."
    assert caught.value.do == "Run: pip install 'safeside[plots]'"
