"""The rules that are compared: for each, the probability of a right "at most t" at every true count.

`k = t + 1 - f` is the number of people who would have to come to make it false. Each value is evaluated by
the library's own formula, which its mechanisms attain; the virtual formula belongs to no mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from safeside.decisions.bounds import adp_at_most, approximate_dp, dp
from safeside.exact import Number
from safeside.mechanisms import AGeo
from safeside_studies.competitor import virtual_beta
from safeside_studies.figure_style import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, Line

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Question:
    """The parameters of one decision; the defaults are the paper's."""

    at_most: int = 5
    epsilon: Number = 1
    alpha: Number = "1e-3"
    delta: Number = "1e-4"


def _ours(ask: Question, steps: int) -> float:
    return float(AGeo(epsilon=ask.epsilon).beta(steps - 1, 0).mid()) if steps > 0 else 0.0


def _paper(ask: Question, steps: int) -> float:
    # z <= t on exponential noise throws one person away: what AGeo says for t - 1.
    return _ours(ask, steps - 1)


def _limit(ask: Question, steps: int) -> float:
    return float(adp_at_most(steps=steps, epsilon=ask.epsilon, alpha=ask.alpha).mid())


def _approximate(ask: Question, steps: int) -> float:
    return float(approximate_dp(steps=steps, epsilon=ask.epsilon, delta=ask.delta, alpha=ask.alpha).mid())


def _pure(ask: Question, steps: int) -> float:
    return float(dp(steps=steps, epsilon=ask.epsilon, alpha=ask.alpha).mid())


def _virtual(ask: Question, steps: int) -> float:
    formula = virtual_beta(steps=steps, epsilon=ask.epsilon, delta=ask.delta, alpha=ask.alpha)
    return float(formula.mid())


LIMIT, OURS, PAPER, CODE = "limit", "ours", "paper", "code"
APPROXIMATE, VIRTUAL, PURE = "approximate", "virtual", "pure"
RULES: Final[Mapping[str, Callable[[Question, int], float]]] = {
    LIMIT: _limit,
    OURS: _ours,
    PAPER: _paper,
    # The released code asks "fewer than t", whose z <= t wastes nothing: what AGeo says for t - 1, again.
    CODE: _paper,
    VIRTUAL: _virtual,
    APPROXIMATE: _approximate,
    PURE: _pure,
}
LINES: Final[Mapping[str, Line]] = {
    LIMIT: Line(label="ADP: theoretical limit", colour=BLACK, dash=":"),
    OURS: Line(label="ADP: AGeo (ours)", colour=BLUE, dash="-", marker="o"),
    PAPER: Line(label="ADP: the paper's ALap, z ≤ t", colour=SKY, dash="--", marker="s"),
    CODE: Line(label="ADP: the released code, “fewer than t”", colour=GREEN, dash="-.", marker="D"),
    VIRTUAL: Line(label="(ε,δ)-DP: the paper's virtual formula", colour=ORANGE, dash="--"),
    APPROXIMATE: Line(label="(ε,δ)-DP: best real decision", colour=VERMILION, dash="-", marker="^"),
    PURE: Line(label="ε-DP: best real decision", colour=PURPLE, dash="-.", marker="v"),
}


def by_count(rule: str, ask: Question) -> Floats:
    """beta at each true count from 0 to t."""
    return np.array([RULES[rule](ask, ask.at_most + 1 - count) for count in range(ask.at_most + 1)])


def true_counts(rule: str, ask: Question, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The counts of which "at most t" is true; of the released code's rule, "fewer than t"."""
    return counts[counts <= ask.at_most - (rule == CODE)]


def at_each(rule: str, ask: Question, counts: NDArray[np.int64]) -> Floats:
    """beta at each place of which the rule's claim is true."""
    return by_count(rule, ask)[true_counts(rule, ask, counts)]


def expected_beta(rule: str, ask: Question, counts: NDArray[np.int64]) -> float:
    """E[beta | at most t]: the mean over the places where it is true."""
    return float(at_each(rule, ask, counts).mean())
