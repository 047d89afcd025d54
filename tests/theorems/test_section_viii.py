"""The appendix of the paper: the asymmetric geometric mechanism, its optimality, and composition."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.theorems.linear import least_loss

from safeside import exact
from safeside.audit.exact import audit_mechanism
from safeside.audit.transcripts import Draw, Procedure, audit_procedure, publish
from safeside.audit.worlds import DAY, INSTANT, World, counts_of
from safeside.mechanisms.ageo import AGeo
from safeside.mechanisms.bayes import best_guess, expected_loss
from safeside.mechanisms.laws import Up
from safeside.privacy.guarantee import Direction
from safeside.privacy.records import visits
from safeside.privacy.relations import ADP

LOSSES: dict[str, Callable[[int, int], float]] = {
    "absolute": lambda guess, truth: abs(guess - truth),
    "squared": lambda guess, truth: (guess - truth) ** 2,
    "zero-one": lambda guess, truth: float(guess != truth),
}
PRIORS = [
    ["0.5", "0.5"],
    ["0.9", "0.1"],
    ["0.2", "0.5", "0.3"],
    ["0.05", "0.9", "0.05"],
    ["0.1", "0.2", "0.3", "0.4"],
]


def remapped_loss(prior: Sequence[str], loss: Any, epsilon: str) -> float:
    """AGeo's z read by the best guess for each z; all z >= n mean the same."""
    law, top = Up(exact.fraction(epsilon)), len(prior) - 1
    inner = sum(
        float(expected_loss(law, z, prior, best_guess(law, z, prior, loss), loss)) for z in range(top)
    )
    at_top = float(expected_loss(law, top, prior, best_guess(law, top, prior, loss), loss))
    return inner + at_top / (1 - math.exp(-float(exact.fraction(epsilon))))


def plain_loss(prior: Sequence[str], epsilon: float) -> float:
    """AGeo as printed, cut off at n, with no remap: its mean absolute error."""
    top = len(prior) - 1
    ratio = math.exp(-epsilon)
    return sum(
        float(share) * sum(ratio**k for k in range(1, top - count + 1)) for count, share in enumerate(prior)
    )


@pytest.mark.parametrize(("world", "sensitivity"), [(INSTANT, 1), (DAY, 3)])
def test_theorem_VIII_2_ageo_is_private(world: World, sensitivity: int) -> None:
    noise = AGeo(epsilon=1, sensitivity=sensitivity)
    finding = audit_mechanism(noise, counts_of(world.place_questions), world.asymmetric, world.universe, 2, 1)
    assert finding.holds
    assert finding.tight


def test_theorem_VIII_2_fails_without_sensitivity_1() -> None:
    """Three places in a day: the noise of sensitivity 1 costs three times as much."""
    query = counts_of(DAY.place_questions)
    finding = audit_mechanism(AGeo(epsilon=1), query, DAY.asymmetric, DAY.universe, 2, 1)
    assert finding.epsilon_low == pytest.approx(3.0)


def test_theorem_VIII_2_holds_in_the_other_two_cases() -> None:
    for direction, query in (
        (Direction.INCREASING, lambda data: sum("A" not in record for record in data)),
        (Direction.NEITHER, lambda data: sum("A" in record and "B" not in record for record in data)),
    ):
        noise = AGeo(epsilon=1, direction=direction)
        finding = audit_mechanism(noise, query, DAY.asymmetric, DAY.universe, 2, 1)
        assert finding.holds
        assert finding.tight


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("epsilon", ["0.4", "1"])
def test_theorem_VIII_3_ageo_is_optimal_after_the_best_remap(
    prior: list[str], loss: str, epsilon: str
) -> None:
    """No ADP mechanism on one count has less expected loss, for any of these priors and losses."""
    ratio = math.exp(-float(epsilon))
    best = least_loss(ratio, [float(share) for share in prior], LOSSES[loss])
    assert remapped_loss(prior, loss, epsilon) == pytest.approx(best, abs=1e-9)


def test_theorem_VIII_3_fails_without_the_remap() -> None:
    """n = 1, eps = 1, prior .9/.1: .331 as printed, where always saying 0 is private and costs .1."""
    prior = ["0.9", "0.1"]
    assert plain_loss(prior, 1.0) == pytest.approx(0.9 * math.exp(-1))
    assert plain_loss(prior, 1.0) == pytest.approx(0.331, abs=5e-4)
    assert least_loss(math.exp(-1), [0.9, 0.1], LOSSES["absolute"]) == pytest.approx(0.1)
    assert remapped_loss(prior, "absolute", "1") == pytest.approx(0.1)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_theorem_VIII_3_every_mechanism_is_ageo_read_at_random(size: int) -> None:
    """Blackwell: T_i = (M_i - r M_(i+1)) / (1-r) and T_n = M_n are distributions; AGeo and then T is M."""
    generator = np.random.default_rng(20)
    ratio = math.exp(-0.7)
    for _ in range(200):
        rows = [generator.dirichlet(np.ones(size))]
        for _ in range(size - 1):
            # From the largest count down: M_i = r M_(i+1) + (1-r) * anything is every ADP mechanism.
            rows.append(ratio * rows[-1] + (1 - ratio) * generator.dirichlet(np.ones(size) / 3))
        mechanism = np.array(rows[::-1])
        assert (ratio * mechanism[1:] <= mechanism[:-1] + 1e-12).all()
        remap = np.vstack([(mechanism[:-1] - ratio * mechanism[1:]) / (1 - ratio), mechanism[-1]])
        assert (remap >= -1e-12).all()
        assert np.allclose(remap.sum(axis=1), 1)
        noise = np.array([[_ageo(i, z, size - 1, ratio) for z in range(size)] for i in range(size)])
        assert np.allclose(noise @ remap, mechanism)


def _ageo(count: int, z: int, top: int, ratio: float) -> float:
    if z < count:
        return 0.0
    return ratio ** (top - count) if z == top else (1 - ratio) * ratio ** (z - count)


def test_lemma_VIII_4_holds_where_the_identity_is_the_best_remap() -> None:
    """Where reading z as it stands is best, requiring the upper triangle costs nothing."""
    prior, ratio = [0.5, 0.5], math.exp(-1)
    free = least_loss(ratio, prior, LOSSES["absolute"])
    triangular = least_loss(ratio, prior, LOSSES["absolute"], upper_triangular=True)
    assert free == pytest.approx(triangular)
    assert free == pytest.approx(plain_loss(["0.5", "0.5"], 1.0))


def test_lemma_VIII_4_fails_in_general() -> None:
    """Prior .9/.1: the optimum puts mass below the diagonal; an upper triangle costs three times as much."""
    ratio = math.exp(-1)
    assert least_loss(ratio, [0.9, 0.1], LOSSES["absolute"]) == pytest.approx(0.1)
    triangular = least_loss(ratio, [0.9, 0.1], LOSSES["absolute"], upper_triangular=True)
    assert triangular == pytest.approx(0.9 * ratio)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("loss", LOSSES)
def test_lemma_VIII_5_holds_also_where_lemma_VIII_4_does_not(prior: list[str], loss: str) -> None:
    """A best guess never exceeds z, so above the diagonal the optimum keeps AGeo's ratio r."""
    shares, ratio = [float(share) for share in prior], math.exp(-1)
    free = least_loss(ratio, shares, LOSSES[loss])
    equal = least_loss(ratio, shares, LOSSES[loss], lemma_equalities=True)
    assert equal == pytest.approx(free, abs=1e-9)


BOTH = visits(["A", "B"])


def _count(place: str) -> Callable[[Any], int]:
    return lambda dataset: sum(place in record for record in dataset)


def _two_counts(dataset: Any) -> tuple[int, int]:
    return _count("A")(dataset), _count("B")(dataset)


def test_theorem_VIII_6_budgets_add_and_policies_unite() -> None:
    """(1, {not A}) and (1, {not B}) are (2, {not A, not B}), on every output and not on products alone."""
    first, second = ADP.not_visited(["A"]), ADP.not_visited(["B"])
    noise = AGeo(epsilon=1)
    for place, policy in (("A", first), ("B", second)):
        assert audit_mechanism(noise, _count(place), policy, BOTH, 2, 1).holds
    together = audit_mechanism(noise, _two_counts, first | second, BOTH, 2, 2)
    assert together.holds
    assert together.tight


@pytest.mark.parametrize("joined", [any, all])
def test_theorem_VIII_6_fails_for_a_sum_that_is_one_proposition(joined: Callable[[list[bool]], bool]) -> None:
    """Neither "not A or not B" nor "not A and not B" makes both counts decreasing."""
    single: ADP[Any] = ADP({"sum": lambda record: joined([place not in record for place in ("A", "B")])})
    finding = audit_mechanism(AGeo(epsilon=1), _two_counts, single, BOTH, 2, 2)
    assert finding.epsilon_low == math.inf


def test_theorem_VIII_6_holds_adaptively_if_the_policy_unites_all_branches() -> None:
    """The second place is chosen from the first answer; its policy must name both places it might be."""
    three = visits(["A", "B", "C"])
    noise = AGeo(epsilon=1)

    def program(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        first = yield publish(noise.distribution(counts[0], 1))
        yield publish(noise.distribution(counts[1 if first == 0 else 2], 1))

    procedure = Procedure(
        name="adaptive",
        program=program,
        claimed_epsilon=2,
        view=lambda dataset: tuple(_count(place)(dataset) for place in "ABC"),
    )
    united = audit_procedure(procedure, ADP.not_visited("ABC"), three, 1)
    assert united.holds
    assert united.finding.tight
    one_branch = audit_procedure(procedure, ADP.not_visited("AB"), three, 1)
    assert one_branch.finding.epsilon_low == math.inf


def test_theorem_VIII_6_covers_sets_that_are_no_products() -> None:
    """Every set of joint outputs, one by one: the printed proof factors, which only product sets do."""
    noise = AGeo(epsilon=1)
    policy = ADP.not_visited(["A", "B"])
    outputs = list(itertools.product((0, "more"), repeat=2))

    def law(dataset: Any) -> dict[tuple[object, object], float]:
        parts = []
        for count in _two_counts(dataset):
            quiet = float(noise.pmf(0, count))
            parts.append({0: quiet, "more": 1 - quiet})
        return {(a, b): parts[0][a] * parts[1][b] for a, b in outputs}

    for left, right in policy.neighbours(BOTH, 1):
        here, there = law(left), law(right)
        for size in range(1, 5):
            for some in itertools.combinations(outputs, size):
                assert sum(here[z] for z in some) <= math.exp(2) * sum(there[z] for z in some) + 1e-12


def test_statement_of_the_appendix_that_the_geometric_mechanism_is_private() -> None:
    """With r = e^(-eps/Δ) in the normaliser too; with e^-eps there, as printed, the mass is not 1."""
    ratio, printed = math.exp(-Fraction(1, 2)), math.exp(-1)
    total = sum(ratio ** abs(k) for k in range(-200, 201))
    assert (1 - ratio) / (1 + ratio) * total == pytest.approx(1.0)
    assert (1 - printed) / (1 + printed) * total > 1.8
