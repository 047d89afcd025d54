"""Facts that hold for every relation, policy and mechanism, tried on many small ones by enumeration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.privacy.factors import factor

from safeside.privacy.records import Universe, Visits, visits
from safeside.privacy.relations import ADP, DP, Relation
from safeside.privacy.risk import risk
from safeside.privacy.worst import worst_risk, worst_risk_at_any_prior

PLACES = visits("12")
RECORDS = PLACES.records
ALL_PAIRS = list(itertools.permutations(range(4), 2))
NUMBERS = Universe(records=(0, 1, 2, 3))
FACTORS = st.fractions(min_value=Fraction(11, 10), max_value=8, max_denominator=10)

predicates = st.tuples(*[st.booleans()] * 4).map(lambda truth: dict(zip(RECORDS, truth, strict=True)))
policies = st.lists(predicates, max_size=4).map(
    lambda held: ADP[Visits]({str(sorted(p.values())) + str(i): p.__getitem__ for i, p in enumerate(held)})
)
weights = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


def distribution(parts: list[int]) -> list[Fraction]:
    return [Fraction(part, sum(parts)) for part in parts]


@st.composite
def channels(draw: st.DrawFn, outputs: int = 3) -> dict[Visits, dict[int, Fraction]]:
    """Any mechanism: four rows, zeros allowed."""
    row = st.lists(st.integers(0, 6), min_size=outputs, max_size=outputs).filter(any)
    return {x: dict(enumerate(distribution(draw(row)))) for x in RECORDS}


@dataclass(frozen=True)
class Arrows(Relation[int]):
    """Any relation at all."""

    arrows: frozenset[tuple[int, int]]

    def step(self, x: int, x2: int) -> bool:
        return (x, x2) in self.arrows


@given(policies)
def test_a_policy_is_a_preorder(policy: ADP[Visits]) -> None:
    for x, y, z in itertools.product(RECORDS, repeat=3):
        assert policy.step(x, x)
        assert policy.step(x, z) or not (policy.step(x, y) and policy.step(y, z))


@given(policies, policies, channels())
def test_more_propositions_are_weaker(
    p: ADP[Visits], q: ADP[Visits], channel: dict[Visits, dict[int, Fraction]]
) -> None:
    """P is part of P and Q together: every step of both is a step of P, and eps can only shrink."""
    united = ADP(
        {**{f"p{k}": v for k, v in p.propositions.items()}, **{f"q{k}": v for k, v in q.propositions.items()}}
    )
    for x, y in itertools.product(RECORDS, repeat=2):
        assert united.step(x, y) == (p.step(x, y) and q.step(x, y))
    assert factor(channel, united) <= factor(channel, p) <= factor(channel, DP())


@given(policies, policies, channels(), st.lists(channels(2), min_size=3, max_size=3))
def test_theorem_VIII_6_budgets_add_and_policies_unite(
    p: ADP[Visits],
    q: ADP[Visits],
    first: dict[Visits, dict[int, Fraction]],
    seconds: list[dict[Visits, dict[int, Fraction]]],
) -> None:
    """Adaptively: the second mechanism is chosen by the first output, its policy fixed beforehand.

    Checked on complete histories, so for every set of them and not only for products, as in the paper.
    """
    both = ADP(
        {**{f"p{k}": v for k, v in p.propositions.items()}, **{f"q{k}": v for k, v in q.propositions.items()}}
    )
    history = {
        x: {(a, b): first[x][a] * seconds[a][x][b] for a in range(3) for b in range(2)} for x in RECORDS
    }
    later = max(factor(second, q) for second in seconds)
    assert factor(history, both) <= factor(first, p) * later


@given(channels(), st.lists(st.integers(0, 2), min_size=3, max_size=3), policies)
def test_post_processing_is_free(
    channel: dict[Visits, dict[int, Fraction]], merged: list[int], policy: ADP[Visits]
) -> None:
    after: dict[Visits, dict[int, Fraction]] = {}
    for x, row in channel.items():
        after[x] = dict.fromkeys(range(3), Fraction(0))
        for z, p in row.items():
            after[x][merged[z]] += p
    assert factor(after, policy) <= factor(channel, policy)


@given(channels(), policies, weights, predicates)
def test_risk_is_bounded_by_what_the_definition_bounds(
    channel: dict[Visits, dict[int, Fraction]],
    policy: ADP[Visits],
    parts: list[int],
    truth: Mapping[Visits, bool],
) -> None:
    """docs/risk.md: where every record of A in the support steps to every one outside, Risk <= e^eps."""
    prior = dict(zip(RECORDS, distribution(parts), strict=True))
    support = [x for x in RECORDS if prior[x]]
    found = risk(channel, prior, truth.__getitem__)
    if all(policy.step(x, y) for x in support for y in support if truth[x] and not truth[y]):
        assert found.at_most(factor(channel, policy))
    assert found.at_most(factor(channel, DP()))


@given(FACTORS, weights.filter(lambda parts: parts[0] > 0))
def test_one_target_under_the_product_policy(ratio: Fraction, parts: list[int]) -> None:
    """Risk(c_i) <= e^eps / Pr[visited none | not c_i] over all mechanisms; attained if none has both."""
    policy = ADP.not_visited("12")
    none, one, two, _ = RECORDS
    prior = dict(zip(RECORDS, distribution(parts), strict=True))
    outside = prior[none] + prior[two]
    bound = ratio * outside / prior[none]
    found = worst_risk(policy, PLACES, ratio, prior, lambda x: "1" in x).value
    assert found <= bound
    if prior[one] and not prior[RECORDS[3]]:
        assert found == bound


arrows = st.sets(st.sampled_from(ALL_PAIRS)).map(lambda pairs: Arrows(frozenset(pairs)))
events = st.sets(st.integers(0, 3), min_size=1, max_size=3)


@settings(max_examples=60)
@given(arrows, FACTORS, weights, events)
def test_the_worst_mechanism_is_the_optimum_of_a_linear_program(
    relation: Arrows, ratio: Fraction, parts: list[int], event: set[int]
) -> None:
    """The enumeration of extreme columns against a solver that knows nothing of them."""
    prior = distribution(parts)
    before = sum((prior[x] for x in event), Fraction(0))
    found = worst_risk(relation, NUMBERS, ratio, dict(enumerate(prior)), event.__contains__).value
    if before in (0, 1):
        assert found == 0
        return
    inside = np.array([float(prior[x]) if x in event else 0.0 for x in range(4)])
    outside = np.array([float(prior[x]) if x not in event else 0.0 for x in range(4)])
    rows = [[(x == i) - float(ratio) * (x == j) for x in range(4)] for i, j in relation.arrows]
    solved = linprog(
        -inside,
        A_ub=rows or None,
        b_ub=[0.0] * len(rows) if rows else None,
        A_eq=[outside],
        b_eq=[1.0],
        bounds=[(0, None)] * 4,
    )
    if found == math.inf:
        assert solved.status == 3  # unbounded
    else:
        assert solved.status == 0
        best = -solved.fun * float((1 - before) / before)
        assert math.isclose(best, float(found), rel_tol=1e-7)


@settings(max_examples=60)
@given(arrows, FACTORS, events)
def test_the_worst_prior_stands_on_two_records(relation: Arrows, ratio: Fraction, event: set[int]) -> None:
    half = Fraction(1, 2)
    pairs = [
        worst_risk(relation, NUMBERS, ratio, {x: half, y: half}, event.__contains__).value
        for x in range(4)
        for y in range(4)
        if x in event and y not in event
    ]
    assert worst_risk_at_any_prior(relation, NUMBERS, ratio, event.__contains__) == max(pairs)
