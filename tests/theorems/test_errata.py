"""docs/errata.md, entry by entry: each shows what is printed failing and what it must be holding."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.theorems.linear import best_beta, chain_beta, least_loss

from safeside import exact
from safeside.audit.exact import Finding, audit_mechanism
from safeside.audit.procedures import AT_MOST, Sparse
from safeside.audit.transcripts import transcripts
from safeside.audit.worlds import DAY, INSTANT, counts_of
from safeside.decisions.bounds import adp_at_least, approximate_dp, dp, needed_delta, needed_epsilon_dp
from safeside.decisions.onesided import sanitizer
from safeside.decisions.sanitizers import beta_at_least
from safeside.mechanisms.ageo import AGeo
from safeside.mechanisms.alap import ALap
from safeside.mechanisms.geometric import TwoSidedGeometric
from safeside.mechanisms.laplace import Laplace
from safeside.mechanisms.laws import Both
from safeside.mechanisms.paper_salap import PaperSALap
from safeside.mechanisms.sageo import SAGeo
from safeside.mechanisms.salap import SALap
from safeside.mechanisms.sequences import Reply
from safeside.privacy.direction import max_conditions, sensitivity_of_steps
from safeside.privacy.guarantee import Direction
from safeside.privacy.records import Universe, visits
from safeside.privacy.relations import ADP, OSDP, Blowfish, Relation
from safeside_studies.competitor import virtual_beta
from safeside_studies.planted.mechanisms import capped_contributions

ONE_PLACE = visits(["A"])
TWO_PLACES = visits(["A", "B"])


def at(place: str) -> Callable[[Any], int]:
    return lambda dataset: sum(place in record for record in dataset)


def both(dataset: Any) -> tuple[int, int]:
    return at("A")(dataset), at("B")(dataset)


def measured(query: Callable[[Any], Any], relation: Any, universe: Any = TWO_PLACES) -> Finding:
    """AGeo with noise upwards, as it should be for decreasing counts, at epsilon = 1 for each count."""
    return audit_mechanism(AGeo(epsilon=1), query, relation, universe, 2, 1)


class AsPrinted(Relation[Any]):
    """Neighbouring where "p(x) implies p(x')" is False."""

    def step(self, x: Any, x2: Any) -> bool:
        return "A" not in x and "A" in x2


def test_erratum_01_neighbours_where_the_implication_is_true() -> None:
    printed = list(AsPrinted().neighbours(ONE_PLACE, 2))
    assert all(at("A")(right) == at("A")(left) + 1 for left, right in printed)
    assert measured(at("A"), AsPrinted(), ONE_PLACE).epsilon_low == math.inf
    assert measured(at("A"), ADP.not_visited(["A"]), ONE_PLACE).holds


def test_erratum_02_noise_takes_the_sign_opposite_to_the_query() -> None:
    policy = ADP.not_visited(["A"])
    printed = ALap(epsilon=1, grid="1/4", multiple_of=1, direction=Direction.INCREASING)
    right = ALap(epsilon=1, grid="1/4", multiple_of=1, direction=Direction.DECREASING)
    assert audit_mechanism(printed, at("A"), policy, ONE_PLACE, 2, 1).epsilon_low == math.inf
    assert audit_mechanism(right, at("A"), policy, ONE_PLACE, 2, 1).tight
    assert float(printed.pmf(0, 1)) > 0
    assert right.pmf(0, 1).is_zero()


def test_erratum_03_a_set_of_propositions_one_for_each_place() -> None:
    always: ADP[Any] = ADP({"True": lambda _: True})
    assert measured(at("A"), always).epsilon_low == math.inf
    outcomes = list(itertools.product((False, True), repeat=len(TWO_PLACES.records)))
    for truth in outcomes:
        table = dict(zip(TWO_PLACES.records, truth, strict=True))
        single: ADP[Any] = ADP({"p": table.__getitem__})
        assert measured(both, single).epsilon_low == math.inf, "no single proposition serves two places"
    assert measured(at("A"), ADP.not_visited(["A", "B"])).holds


def test_erratum_04_the_sum_of_policies_is_their_union() -> None:
    for joined in (any, all):
        single: ADP[Any] = ADP({"p": lambda x, joined=joined: joined(place not in x for place in "AB")})
        assert measured(both, single).epsilon_low == math.inf
    united = ADP.not_visited("A") | ADP.not_visited("B")
    assert audit_mechanism(AGeo(epsilon=1), both, united, TWO_PLACES, 2, 2).tight


def test_erratum_05_slips_that_change_nothing_once_read_as_meant() -> None:
    # The L1 norm, not the largest change: with three places one step moves three counts by 1.
    noise = AGeo(epsilon=1)
    finding = audit_mechanism(noise, counts_of(DAY.questions), DAY.asymmetric, DAY.universe, 2, 1)
    assert finding.epsilon_low == pytest.approx(3.0)
    # Once aborted, nothing is answered any more: both sides of the printed ratio are 0.
    sparse = Sparse(questions=INSTANT.questions, epsilon_each=Fraction(1), alarms=1)
    after = [seen for seen in transcripts(sparse.program, (1, 0, 0)).probabilities if AT_MOST not in seen[0]]
    assert all(len(seen) == 1 for seen in after)
    # A sum over {x : p(x)} gives the mass of p for b = True only.
    prior = {False: Fraction(1, 4), True: Fraction(3, 4)}
    assert sum(share for x, share in prior.items() if not x) != sum(share for x, share in prior.items() if x)


def test_erratum_06_one_sanitizer_that_errs_with_at_most_alpha() -> None:
    half, one = Fraction(1, 2), Fraction(1)
    true, false = {"a": half, "b": half}, [{"a": one}, {"b": one}]
    for law in false:
        assert sanitizer(true, [law], 0, half) is not None
    assert sanitizer(true, false, 0, half) is None, "no sanitizer serves both, and it cannot know which it is"
    noise = AGeo(epsilon=1)
    assert sanitizer(noise.distribution(0, 3), [noise.distribution(1, 3)], 0, "0.6") is not None
    assert not any(Fraction(k, 10) < 0 for k in range(11)), "less than alpha = 0 is never met"


def test_erratum_07_the_necessary_condition_is_two_inequalities() -> None:
    noise, beta = AGeo(epsilon=1), exact.ball(Fraction(3, 5))
    true, false = noise.distribution(0, 3), noise.distribution(1, 3)
    subsets = [s for size in range(5) for s in itertools.combinations(true, size)]
    for some in subsets:
        other = sum((false.get(z, exact.ball(0)) for z in some), start=exact.ball(0))
        assert not beta * other < 0, "0 * Pr > beta * Pr has no solution, though AGeo is one-sided"
    assert sanitizer(true, [false], 0, "0.6") == {0}


def test_erratum_08_the_distance_is_counted_from_the_false_dataset() -> None:
    policy = ADP.not_visited(["A"])
    for dataset in ONE_PLACE.datasets(3):
        if at("A")(dataset) <= 1:
            k = policy.distance_to_false(ONE_PLACE, dataset, lambda data: at("A")(data) <= 1)
            assert k == 2 - at("A")(dataset)
            assert policy.min_path(ONE_PLACE, dataset, (frozenset("A"),) * 3) is None


def test_erratum_09_at_most_t_is_z_below_t_plus_1() -> None:
    for t, count in ((1, 0), (1, 1), (3, 2)):
        printed = float(PaperSALap(epsilon_each=1).beta(t, count))
        right = float(SALap(epsilon_each=1, grid="1/4").beta(t, count))
        assert printed == pytest.approx(1 - math.exp(-(t - count)))
        assert right == pytest.approx(1 - math.exp(-(t + 1 - count)))
        assert right == pytest.approx(float(AGeo(epsilon=1).beta(t, count)))
        assert SALap(epsilon_each=1, grid="1/4").beta(t, t + 1).is_zero()
        # The released code asks "fewer than t": there z <= t is the best rule, and never wrong.
        assert printed == pytest.approx(float(AGeo(epsilon=1).beta(t - 1, count)))
        assert PaperSALap(epsilon_each=1).beta(t, t).is_zero()


def test_erratum_10_laplace_and_alap_have_the_same_mean_absolute_error() -> None:
    growing = [math.exp(+abs(k)) for k in range(50)]
    assert growing == sorted(growing), "exp(+...) has no finite mass"
    grid = Fraction(1, 64)
    rate = Laplace(epsilon=1, grid=grid, multiple_of=1).rate
    steps = range(-64 * 40, 64 * 40 + 1)
    mean = sum(abs(k) * float(Both(rate).exactly(k)) for k in steps) * float(grid)
    assert mean == pytest.approx(1.0, rel=1e-3)
    assert float(ALap(epsilon=1, grid=grid, multiple_of=1).bias) == pytest.approx(1.0, rel=1e-2)
    assert math.sqrt(float(Laplace(epsilon=1, grid=grid, multiple_of=1).variance)) == pytest.approx(
        math.sqrt(2), rel=1e-3
    )


def test_erratum_11_a_move_changes_two_counts() -> None:
    conditions = [question.holds for question in INSTANT.place_questions]
    records = INSTANT.universe.records
    assert sensitivity_of_steps(conditions, records, lambda _one, _other: True) == 2
    assert sensitivity_of_steps(conditions[:1], records, lambda _one, _other: True) == 1
    assert max_conditions(conditions, records) == 1
    query = counts_of(INSTANT.place_questions)
    printed = audit_mechanism(TwoSidedGeometric(epsilon=1), query, INSTANT.ordinary, INSTANT.universe, 2, 1)
    assert printed.epsilon_low == pytest.approx(2.0)


def test_erratum_12_the_quotient_in_the_logarithm_is_beta_over_alpha() -> None:
    alpha, beta = 0.01, 0.2
    assert math.log(alpha / beta) < 0, "no epsilon lies below it: as printed nothing is assumed or refused"
    limit = math.log(beta / alpha)
    assert chain_beta(1, 0.999 * limit, alpha=alpha) < beta
    assert chain_beta(1, 1.001 * limit, alpha=alpha) > beta


Person = tuple[bool, str]
PEOPLE: Universe[Person] = Universe(records=tuple(itertools.product((False, True), ("man", "woman"))))


def _reached(relation: Relation[Person], where: Any = None) -> float:
    pairs = list(relation.neighbours(PEOPLE, 2))
    nobody = lambda data: not any(there for there, _ in data)  # noqa: E731
    return best_beta(list(PEOPLE.datasets(2)), pairs, nobody, 0.5, alpha=0.01, at=where)


def test_erratum_13_osdp_needs_the_absent_to_be_non_sensitive() -> None:
    absent = frozenset(record for record in PEOPLE.records if not record[0])
    assert _reached(OSDP(absent)) > 0.2
    assert _reached(OSDP(frozenset(PEOPLE.records) - absent)) < 0.2


def test_erratum_14_the_necessary_conditions_need_every_true_x() -> None:
    crossing = Blowfish(frozenset({((False, "man"), (True, "man"))}))
    women = ((False, "woman"), (False, "woman"))
    assert _reached(crossing, where=women) == pytest.approx(1.0), "one-sided for this X, with an edge across"
    assert _reached(crossing) < 0.2
    some = OSDP(frozenset({(False, "woman")}))
    assert _reached(some, where=women) > 0.2
    assert _reached(some) < 0.2


def test_erratum_15_the_delta_that_is_needed() -> None:
    for steps, stated in ((3, 0.045), (6, 0.0021), (10, 3.9e-5)):
        needed = needed_delta(steps=steps, epsilon=1, beta="0.5")
        assert float(needed) == pytest.approx(stated, rel=0.02)
        enough = approximate_dp(steps=steps, epsilon=1, delta=exact.float_up(needed))
        assert float(enough) == pytest.approx(0.5)
        assert chain_beta(steps, 1.0, alpha=0.0, delta=float(needed)) == pytest.approx(0.5, abs=1e-6)


def test_erratum_16_the_epsilon_that_is_needed() -> None:
    needed = float(needed_epsilon_dp(steps=1, alpha="1e-4", beta="0.5"))
    assert needed == pytest.approx(math.log(5000))
    assert round(needed, 2) == 8.52


def test_erratum_17_the_competitor_ignores_the_complement() -> None:
    values = {"steps": 5, "epsilon": 1, "alpha": "0.01"}
    assert float(virtual_beta(**values)) == 1.0
    assert float(approximate_dp(**values)) == pytest.approx(0.833, abs=5e-4)
    assert float(dp(**values)) == pytest.approx(float(approximate_dp(**values)))
    assert chain_beta(5, 1.0, alpha=0.01) == pytest.approx(float(dp(**values)), abs=1e-9)


def test_erratum_18_at_least_is_answered_better_than_under_dp() -> None:
    steps, alpha = 5, "0.01"
    assert float(adp_at_least(steps=steps, epsilon=1, alpha=alpha)) == 1.0
    assert float(dp(steps=steps, epsilon=1, alpha=alpha)) == pytest.approx(0.833, abs=5e-4)
    for k in (1, 2, 3):
        bound = float(adp_at_least(steps=k, epsilon=1, alpha=alpha))
        assert chain_beta(k, 1.0, alpha=0.01, ways=(1,)) == pytest.approx(bound, abs=1e-9)
        assert float(beta_at_least(0, k, 1, alpha, coin=True)) == pytest.approx(bound)
        assert bound > float(dp(steps=k, epsilon=1, alpha=alpha)) - 1e-12


def test_erratum_19_alpha_is_not_the_probability_of_being_wrong_when_true_is_seen() -> None:
    alpha, beta, true = Fraction(1, 100), Fraction(1, 2), Fraction(1, 100)
    wrong = (1 - true) * alpha / ((1 - true) * alpha + true * beta)
    assert wrong == Fraction(99, 149)
    assert round(float(wrong), 2) == 0.66


def test_erratum_20_only_the_unsafe_can_be_wrongly_called_safe() -> None:
    places, safe, alpha = 5835, 5343, Fraction(1, 100)
    assert float((places - safe) * alpha) == pytest.approx(4.92)
    assert 5000 * alpha == 50


def test_erratum_21_salap_is_optimal_only_while_it_has_not_stopped() -> None:
    run = SAGeo(epsilon_each=1).distribution([0, 0], 1, 2)
    second = run[(Reply(0, None), Reply(1, None))]
    asked = sum((p for seen, p in run.items() if len(seen) == 2), start=exact.ball(0))
    optimum = 1 - math.exp(-2)
    assert float(second / asked) == pytest.approx(optimum)
    assert float(second) == pytest.approx(optimum**2)


def test_erratum_22_salap_is_for_decreasing_queries_with_a_threshold_each() -> None:
    noise = AGeo(epsilon=1, direction=Direction.INCREASING)
    quiet = [noise.law.at_most(-count) for count in (0, 1)]
    assert float(quiet[0] / quiet[1]) == pytest.approx(math.e), "⊥ below an increasing count is not free"
    decreasing = AGeo(epsilon=1)
    assert decreasing.beta(0, 1).is_zero()
    assert math.exp(0.5) > 0.5, "the ratio is bounded by e^eps, not by eps"
    released = SAGeo(epsilon_each=1).distribution([0, 0, 0], np.array([0, 1, 2]), 3)
    assert max(map(len, released)) == 3, "three queries take three thresholds"


def test_erratum_23_ageo_is_optimal_after_the_best_remap() -> None:
    ratio = math.exp(-1)
    best = least_loss(ratio, [0.9, 0.1], lambda guess, truth: abs(guess - truth))
    assert best == pytest.approx(0.1)
    assert 0.9 * ratio == pytest.approx(0.331, abs=5e-4)
    assert AGeo(epsilon=1).bayes_estimate(1, ["0.9", "0.1"]) == 0


def test_erratum_24_the_cases_of_ageo_overlap_as_printed() -> None:
    top, ratio = 4, math.exp(-1)
    for count in range(top + 1):
        inside = [(1 - ratio) * ratio ** (z - count) for z in range(count, top + 1)]
        at_top = ratio ** (top - count)
        assert sum(inside) + at_top > 1 + 1e-3
        assert sum(inside[:-1]) + at_top == pytest.approx(1.0)
    query = counts_of(DAY.place_questions)
    finding = audit_mechanism(AGeo(epsilon=1), query, DAY.asymmetric, DAY.universe, 2, 1)
    assert finding.epsilon_low == pytest.approx(3.0), "the theorem needs sensitivity 1"
    half = math.exp(-0.5)
    total = sum(half ** abs(k) for k in range(-200, 201))
    assert (1 - ratio) / (1 + ratio) * total == pytest.approx(1.887, abs=1e-3), "Δ = 2: not a distribution"


def test_erratum_25_a_dp_mechanism_may_be_one_sided_but_then_never_says_true() -> None:
    for k, epsilon in itertools.product((1, 2, 5), (0.5, 2.0)):
        assert chain_beta(k, epsilon, alpha=0.0) == pytest.approx(0.0, abs=1e-12)
        assert dp(steps=k, epsilon=epsilon).is_zero()
    constant = audit_mechanism(lambda _: {False: 1}, at("A"), DAY.ordinary, DAY.universe, 2, "1e-9")
    assert constant.holds, "always False is private and its True is never wrong: it is not two-sided"


def test_erratum_26_thresholds_between_text_and_captions() -> None:
    safe = 5343
    assert float(AGeo(epsilon=1).beta(1, 1)) == pytest.approx(0.632, abs=5e-4)
    # "Fewer than 1" is true of empty places only: 0.632 for each, whatever was capped before.
    assert float(PaperSALap(epsilon_each=1).beta(1, 0)) == pytest.approx(0.632, abs=5e-4)
    fewer_than_3 = [safe * float(AGeo(epsilon=1).beta(2, count)) for count in range(3)]
    assert fewer_than_3[1] < 5031 < fewer_than_3[0]
    by_dp = safe * float(approximate_dp(steps=3, epsilon=1, delta="1e-4"))
    assert 4 < by_dp < 6
    t_is_5 = safe * float(approximate_dp(steps=6, epsilon=1, delta="1e-4"))
    assert t_is_5 / 2 > 60, "were half the safe places empty and t = 5, sixty would be right, not 4"
    assert capped_contributions().measured == math.inf
    capped = [sum(place == min(record) for record in ({"A", "B"}, {"B"})) for place in "AB"]
    assert capped == [1, 1], "a cap loses a visit to B: 'at most 1' would be said of 2"
