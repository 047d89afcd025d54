"""Nothing beats AGeo on one count, after the reader's remap: by linear programs over every ADP mechanism."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from safeside.errors import BadNumber
from safeside.mechanisms import AGeo
from safeside.mechanisms.bayes import best_guess, expected_loss, loss_table
from safeside.mechanisms.laws import Up
from safeside.privacy.guarantee import Direction

PRIORS = [
    ["0.9", "0.1", "0", "0"],
    ["0.25", "0.25", "0.25", "0.25"],
    ["0.05", "0.15", "0.3", "0.5"],
]
LOSSES = [
    "absolute",
    "squared",
    "zero-one",
    [[0, 5, 1, 2], [1, 0, 3, 3], [4, 1, 0, 1], ["0.5", 2, 2, 0]],
]


def best_adp_mechanism(cost: np.ndarray, epsilon: float) -> tuple[float, np.ndarray]:
    """Minimise sum of cost * M over every mechanism M[count, output] that is ADP for a decreasing count."""
    counts, outputs = cost.shape
    rows = []
    for i in range(counts - 1):
        for j in range(outputs):
            row = np.zeros((counts, outputs))
            row[i + 1, j], row[i, j] = 1, -math.exp(epsilon)
            rows.append(row.ravel())
    sums = np.kron(np.eye(counts), np.ones(outputs))
    found = linprog(cost.ravel(), np.array(rows), np.zeros(len(rows)), sums, np.ones(counts), bounds=(0, 1))
    assert found.success
    return found.fun, found.x.reshape(counts, outputs)


def remap(mechanism: np.ndarray, epsilon: float) -> np.ndarray:
    """The reading of AGeo's z that gives any ADP mechanism on one decreasing count (docs/proofs/ageo.md).

    Row z is the law of its output given z, (M_z - r M_{z+1}) / (1 - r); the last, for every z >= n, is M_n.
    """
    r = math.exp(-epsilon)
    return np.vstack([(mechanism[:-1] - r * mechanism[1:]) / (1 - r), mechanism[-1:]])


def remapped_loss(epsilon: str, prior: list[str], loss: object) -> float:
    """The expected loss of AGeo followed by the best guess, summed over z; the tail is one geometric sum."""
    mechanism = AGeo(epsilon=epsilon)
    n = len(prior) - 1
    total = 0.0
    for z in range(n):
        guess = mechanism.bayes_estimate(z, prior, loss)
        total += float(expected_loss(mechanism.law, z, prior, guess, loss).mid())
    guess = mechanism.bayes_estimate(n, prior, loss)
    tail = float(expected_loss(mechanism.law, n, prior, guess, loss).mid())
    return total + tail / (1 - math.exp(-float(epsilon)))


@pytest.mark.parametrize("epsilon", ["0.3", "1"])
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("loss", LOSSES, ids=["absolute", "squared", "zero-one", "table"])
def test_remapped_ageo_is_optimal(epsilon: str, prior: list[str], loss: object) -> None:
    table = np.array(loss_table(loss, 4), dtype=float)
    cost = np.array(prior, dtype=float)[:, None] * table.T
    optimum, _ = best_adp_mechanism(cost, float(epsilon))
    assert remapped_loss(epsilon, prior, loss) == pytest.approx(optimum, abs=1e-7)


def test_unmapped_ageo_is_not_optimal() -> None:
    """n = 1, epsilon = 1, prior .9/.1: 0.331 as it is, 0.1 after the remap."""
    as_it_is = 0.9 * math.exp(-1)
    assert as_it_is == pytest.approx(0.331, abs=5e-4)
    assert remapped_loss("1", ["0.9", "0.1"], "absolute") == pytest.approx(0.1, abs=1e-12)


def test_every_adp_mechanism_is_a_remap_of_ageo() -> None:
    """Remaps of corners of the polytope of ADP mechanisms are row-stochastic and give the mechanism back."""
    dice = np.random.default_rng(5)
    for epsilon, counts, outputs in [(0.5, 4, 3), (1.0, 5, 5), (0.1, 3, 6)]:
        ageo = np.zeros((counts, counts))
        for i in range(counts):
            for z in range(i, counts - 1):
                ageo[i, z] = (1 - math.exp(-epsilon)) * math.exp(-epsilon * (z - i))
            ageo[i, counts - 1] = math.exp(-epsilon * (counts - 1 - i))
        for _ in range(12):
            _, mechanism = best_adp_mechanism(dice.normal(size=(counts, outputs)), epsilon)
            rows = remap(mechanism, epsilon)
            assert rows.min() > -1e-9
            assert np.allclose(rows.sum(axis=1), 1)
            assert np.allclose(ageo @ rows, mechanism)


def test_a_mechanism_that_is_not_adp_has_no_remap() -> None:
    assert remap(np.eye(3), 1).min() < 0


@pytest.mark.parametrize("epsilon", [0.4, 1.0])
@pytest.mark.parametrize("alpha", [0.0, 0.05])
def test_ageo_decision_is_optimal(epsilon: float, alpha: float) -> None:
    """Of all ADP decisions that err with at most alpha, none says "at most t" more often than the bound."""
    people, t = 6, 3
    for count in range(t + 1):
        rows, limits = [], []
        for f in range(people):
            row = np.zeros(people + 1)
            row[f + 1], row[f] = 1, -math.exp(epsilon)
            rows.append(row)
            limits.append(0.0)
            rows.append(-row)
            limits.append(math.exp(epsilon) - 1)
        goal = np.zeros(people + 1)
        goal[count] = -1
        wrong = [(0, 1) if f <= t else (0, alpha) for f in range(people + 1)]
        found = linprog(goal, np.array(rows), limits, bounds=wrong)
        bound = 1 - (1 - alpha) * math.exp(-epsilon * (t + 1 - count))
        assert -found.fun == pytest.approx(bound, abs=1e-8)
        if alpha == 0:
            assert float(AGeo(epsilon=epsilon).beta(t, count).mid()) == pytest.approx(bound, abs=1e-12)


def test_posterior() -> None:
    """Bayes by hand: prior halves, z = 1, so 0 gets r and 1 gets 1."""
    r = math.exp(-1)
    low, high = AGeo(epsilon=1).posterior(1, ["1/2", "1/2"])
    assert float(low.mid()) == pytest.approx(r / (1 + r))
    assert float(high.mid()) == pytest.approx(1 / (1 + r))
    assert AGeo(epsilon=1).posterior(0, ["1/2", "1/2"])[1] == 0


def test_estimates_by_direction_and_ties() -> None:
    """Exact ties, also those of the two-sided law at equal distance, go to the smaller guess and end."""
    even = ["1/5"] * 5
    assert AGeo(epsilon=1, direction=Direction.NEITHER).bayes_estimate(2, even, "squared") == 2
    tie = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert AGeo(epsilon=1, direction=Direction.NEITHER).bayes_estimate(1, ["1/2", "0", "1/2"], tie) == 0
    both = AGeo(epsilon=1, direction=Direction.NEITHER)
    assert both.bayes_estimate(1, ["1/2", "0", "1/2"], "absolute") == 0
    assert AGeo(epsilon=5, direction=Direction.INCREASING).bayes_estimate(-7, even, "zero-one") == 0
    assert AGeo(epsilon=5).bayes_estimate(90, even, "zero-one") == 4
    assert best_guess(Up(Fraction(1, 100)), 4, ["0.6", "0", "0", "0", "0.4"], "absolute") == 0


def test_a_prior_that_excludes_z_is_refused() -> None:
    with pytest.raises(BadNumber):
        AGeo(epsilon=1).bayes_estimate(0, ["0", "1"], "absolute")
