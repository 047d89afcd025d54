"""Section V of the paper: the asymmetric Laplace mechanism and its sanitized form.

The mechanisms live on a grid, where they can be drawn and audited exactly; the continuous ones are the limit
of finer grids.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from fractions import Fraction
from typing import Any

import pytest

from safeside import exact
from safeside.audit.exact import audit_mechanism
from safeside.audit.procedures import AT_MOST, Sparse
from safeside.audit.transcripts import Draw, Procedure, audit_procedure, publish
from safeside.audit.worlds import DAY, INSTANT, REGION, TWO_WINDOWS, Dataset, World, counts_of
from safeside.decisions.bounds import adp_at_most
from safeside.mechanisms.alap import ALap
from safeside.mechanisms.laws import Down
from safeside.mechanisms.paper_salap import PaperSALap
from safeside.mechanisms.sageo import SAGeo
from safeside.mechanisms.salap import SALap
from safeside.privacy.guarantee import Direction

ONE = Fraction(1)
FINE = Fraction(1, 2**20)


def places(world: World) -> Any:
    return counts_of(world.place_questions)


def nobody_at(dataset: Dataset) -> tuple[int, ...]:
    """Three increasing queries: how many people were not at each place."""
    return tuple(sum(place not in record for record in dataset) for place in DAY.places)


@pytest.mark.parametrize("world", [INSTANT, DAY])
@pytest.mark.parametrize("grid", ["1", "1/4"])
@pytest.mark.parametrize("epsilon", ["1", "0.3"])
def test_theorem_V_4_alap_is_private_with_noise_on_the_other_side(
    world: World, grid: str, epsilon: str
) -> None:
    """Decreasing queries: noise goes up. Attained for every sensitivity."""
    kappa = world.max_conditions(world.place_questions)
    noise = ALap(epsilon=epsilon, sensitivity=kappa, grid=grid, multiple_of=1)
    finding = audit_mechanism(noise, places(world), world.asymmetric, world.universe, 2, epsilon)
    assert finding.holds
    assert finding.tight


def test_theorem_V_4_holds_for_increasing_queries_with_noise_downwards() -> None:
    noise = ALap(epsilon=1, sensitivity=3, grid="1/4", multiple_of=1, direction=Direction.INCREASING)
    finding = audit_mechanism(noise, nobody_at, DAY.asymmetric, DAY.universe, 2, 1)
    assert finding.holds
    assert finding.tight


def test_theorem_V_4_fails_with_the_sign_as_printed() -> None:
    """Sign(decreasing) = -1 puts the noise below the count: epsilon is infinite, and it errs downwards."""
    printed = ALap(epsilon=1, grid="1/4", multiple_of=1, direction=Direction.INCREASING)
    finding = audit_mechanism(printed, places(INSTANT), INSTANT.asymmetric, INSTANT.universe, 2, 1)
    assert finding.epsilon_low == math.inf
    assert printed.upper_bound(3) is None


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(1, "1"), (3, "1"), (1, "0.1"), (2, "5")])
def test_corollary_V_5_expected_error_is_sensitivity_over_epsilon(sensitivity: int, epsilon: str) -> None:
    """The error is the noise itself, whose mean tends to Δ/eps from below as the grid gets finer."""
    exactly = sensitivity / exact.fraction(epsilon)
    errors = []
    for grid in (Fraction(1), Fraction(1, 2**10), FINE):
        noise = ALap(epsilon=epsilon, sensitivity=sensitivity, grid=grid, multiple_of=1)
        errors.append(exact.upper(noise.bias))
    assert errors == sorted(errors)
    assert errors[-1] < exactly
    assert exactly - errors[-1] < FINE


@pytest.mark.parametrize(("t", "count"), [(0, 0), (2, 0), (2, 2), (5, 3)])
def test_corollary_V_6_alap_is_one_sided_and_optimal_below_t_plus_1(t: int, count: int) -> None:
    """With z < t+1, beta is 1 - e^(-k eps), which is Proposition IV.7's bound; and it is never wrong."""
    noise = ALap(epsilon=1, grid="1/64", multiple_of=1)
    steps = t + 1 - count
    beta = noise.beta(t, count)
    assert (beta - adp_at_most(steps=steps, epsilon=1)).contains(0)
    assert float(beta) == pytest.approx(1 - math.exp(-steps))
    for wrong in (t + 1, t + 2, t + 10):
        assert noise.beta(t, wrong).is_zero()


def test_corollary_V_6_fails_with_z_at_most_t() -> None:
    """As printed, k = 1 gives beta tending to 0 where 1 - 1/e was promised."""
    for grid in (Fraction(1, 16), FINE):
        noise = ALap(epsilon=1, grid=grid, multiple_of=1)
        says = sum((noise.pmf(z, 2) for z in (2,)), start=exact.ball(0))
        assert float(says) < float(2 * grid)
    assert float(PaperSALap(epsilon_each=1).beta(2, 2)) == 0.0
    assert float(SALap(epsilon_each=1).beta(2, 2)) == pytest.approx(1 - math.exp(-1))


@pytest.mark.parametrize("world", [INSTANT, DAY, REGION, TWO_WINDOWS])
@pytest.mark.parametrize("kind", [PaperSALap, SAGeo, SALap])
def test_theorem_V_7_algorithm_1_is_private_for_decreasing_queries(world: World, kind: type[SAGeo]) -> None:
    """One alarm costs epsilon whatever the number of queries; ⊥ is free."""
    mechanism = SALap(epsilon_each=1, grid="1/2") if kind is SALap else kind(epsilon_each=1)
    finding = audit_mechanism(
        lambda counts: mechanism.distribution(counts, 1, 2),
        counts_of(world.questions),
        world.asymmetric,
        world.universe,
        2,
        mechanism.guarantee.epsilon,
    )
    assert mechanism.guarantee.epsilon == 1
    assert finding.holds
    assert finding.tight


def test_theorem_V_7_fails_for_increasing_queries() -> None:
    """Monotonic is not enough: below an increasing count each ⊥ costs, and three of them cost 3 epsilon."""
    law = Down(ONE)

    def program(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        for count in counts:
            quiet = law.at_most(-count)
            answer = yield publish({AT_MOST: quiet, "alarm": 1 - quiet})
            if answer != AT_MOST:
                return

    procedure = Procedure(name="increasing", program=program, claimed_epsilon=1, view=nobody_at)
    verdict = audit_procedure(procedure, DAY.asymmetric, DAY.universe, 2)
    assert verdict.finding.epsilon_low == pytest.approx(3.0)


def test_theorem_V_7_bounds_the_ratio_by_e_to_the_epsilon_and_not_by_epsilon() -> None:
    half = Fraction(1, 2)
    sparse = Sparse(questions=DAY.questions, epsilon_each=half, alarms=1)
    verdict = audit_procedure(sparse.procedure("salap", DAY), DAY.asymmetric, DAY.universe, 2)
    assert verdict.holds
    assert math.exp(verdict.finding.epsilon_low) > 1.6 > half
