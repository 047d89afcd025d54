"""Section III of the paper: what the existing definitions need in order to be one-sided.

Each statement is enumerated on a small universe, with every mechanism a definition allows where it says
"every": a linear program. What does not hold as printed is in docs/errata.md.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from tests.theorems.linear import best_beta, chain_beta

from safeside import exact
from safeside.decisions.bounds import needed_delta, needed_epsilon_dp
from safeside.decisions.onesided import sanitizer
from safeside.mechanisms.ageo import AGeo
from safeside.privacy.records import Universe
from safeside.privacy.relations import DP, OSDP, Blowfish
from safeside.privacy.risk import risk
from safeside.privacy.worst import tells_exactly, tells_the_truth_about, worst_risk_at_any_prior

Person = tuple[bool, str]
"""Whether somebody was at the place, and something else about them."""
PEOPLE: Universe[Person] = Universe(records=tuple(itertools.product((False, True), ("man", "woman"))))
EPSILON, ALPHA, BETA = 0.5, 0.01, 0.2
"""0.5 lies below ln(beta/alpha) = 3.0, and AGeo reaches this beta one step from the edge."""


def at_most(t: int):  # type: ignore[no-untyped-def]
    return lambda dataset: sum(there for there, _ in dataset) <= t


def reached(relation, t: int = 0, people: int = 2) -> float:  # type: ignore[no-untyped-def]
    """The largest beta that holds on every true dataset, over all mechanisms of the definition."""
    datasets = list(PEOPLE.datasets(people))
    pairs = list(relation.neighbours(PEOPLE, people))
    return best_beta(datasets, pairs, at_most(t), EPSILON, alpha=ALPHA)


def laws(shares: list[Fraction]) -> list[dict[str, Fraction]]:
    return [{"a": a, "b": b, "c": 1 - a - b} for a, b in itertools.product(shares, repeat=2) if a + b <= 1]


def subsets(outputs: str) -> list[tuple[str, ...]]:
    return [some for size in range(len(outputs) + 1) for some in itertools.combinations(outputs, size)]


def mass(law: dict[str, Fraction], some: tuple[str, ...]) -> Fraction:
    return sum((law[z] for z in some), Fraction(0))


def test_proposition_III_1_necessary_condition_holds_where_alpha_is_positive() -> None:
    """If some sanitizer errs with less than alpha, the printed inequality has a solution S."""
    shares = [Fraction(k, 5) for k in range(6)]
    checked = 0
    for true, false in itertools.product(laws(shares), repeat=2):
        for alpha, beta in ((Fraction(1, 4), Fraction(1, 2)), (Fraction(1, 2), Fraction(4, 5))):
            good = [s for s in subsets("abc") if mass(false, s) < alpha and mass(true, s) >= beta]
            if good:
                checked += 1
                assert any(alpha * mass(true, s) > beta * mass(false, s) for s in subsets("abc"))
    assert checked > 100


def test_proposition_III_1_says_nothing_at_alpha_0_and_is_repaired_by_two_inequalities() -> None:
    """AGeo errs with probability 0, yet 0 * Pr > beta * Pr has no solution; the repaired condition has."""
    noise = AGeo(epsilon=1)
    true, false = noise.distribution(0, 3), [noise.distribution(count, 3) for count in (2, 3)]
    says = sanitizer(true, false, 0, "0.8")
    assert says is not None
    assert says >= {0, 1}
    alpha, beta = Fraction(0), Fraction(4, 5)
    for law in false:
        for output in true:
            assert not exact.lower(exact.ball(alpha) * true[output]) > exact.upper(
                exact.ball(beta) * law.get(output, exact.ball(0))
            )
        assert sanitizer(true, [law], alpha, beta) is not None
    assert sanitizer(true, false, 0, "0.9") is None


def test_inequality_of_dp_holds_with_at_least() -> None:
    """eps-DP reaches beta only if eps >= ln(beta/alpha)/k, and at alpha = 0 never."""
    for k, alpha, beta in ((1, "0.01", "0.5"), (3, "0.01", "0.5"), (2, "0.1", "0.9")):
        needed = float(needed_epsilon_dp(steps=k, alpha=alpha, beta=beta))
        assert needed == pytest.approx(math.log(float(beta) / float(alpha)) / k)
        assert chain_beta(k, 0.999 * needed, alpha=float(alpha)) < float(beta)
    assert chain_beta(3, 5.0, alpha=0.0) == pytest.approx(0.0, abs=1e-12)


def test_inequality_of_approximate_dp_holds_with_at_least() -> None:
    """(eps, delta)-DP at alpha = 0 needs delta >= beta / (1 + e^eps + ... + e^((k-1) eps)), and no more."""
    for k in (1, 3, 6):
        delta = float(needed_delta(steps=k, epsilon=1, beta="0.5"))
        assert chain_beta(k, 1.0, alpha=0.0, delta=delta) == pytest.approx(0.5, abs=1e-9)


def test_proposition_III_2_blowfish_allows_no_edge_across_the_condition() -> None:
    """With ln(beta/alpha), one-sided for every true X: of all graphs, those without such an edge remain."""
    every_edge = list(itertools.combinations(PEOPLE.records, 2))
    for number in range(2 ** len(every_edge)):
        edges = frozenset(edge for bit, edge in enumerate(every_edge) if number >> bit & 1)
        crosses = any(x[0] != y[0] for x, y in edges)
        assert (reached(Blowfish(edges)) >= BETA) == (not crosses)
    assert math.log(BETA / ALPHA) > EPSILON


def test_proposition_III_2_fails_for_a_single_x() -> None:
    """One edge across, and a true X that it does not touch: exact on X, Blowfish-private, one-sided for X."""
    crossing = Blowfish(frozenset({((False, "man"), (True, "man"))}))
    datasets = list(PEOPLE.datasets(2))
    pairs = list(crossing.neighbours(PEOPLE, 2))
    women = ((False, "woman"), (False, "woman"))
    assert best_beta(datasets, pairs, at_most(0), EPSILON, alpha=ALPHA, at=women) == pytest.approx(1.0)
    assert reached(crossing) < BETA


def test_proposition_III_3_osdp_needs_everybody_who_was_not_there_to_be_non_sensitive() -> None:
    """Of all 16 sets N, one-sidedness allows those that hold every record of which c is *False*."""
    absent = {record for record in PEOPLE.records if not record[0]}
    for size in range(5):
        for some in itertools.combinations(PEOPLE.records, size):
            assert (reached(OSDP(frozenset(some))) >= BETA) == (absent <= set(some))


def test_proposition_III_3_fails_with_true_as_printed() -> None:
    """N = {not there} holds none of those for whom c is True, and AGeo is one-sided and private under it."""
    absent = OSDP(frozenset(record for record in PEOPLE.records if not record[0]))
    assert reached(absent) == pytest.approx(1 - (1 - ALPHA) * math.exp(-EPSILON))
    present = OSDP(frozenset(record for record in PEOPLE.records if record[0]))
    assert reached(present) < BETA


def test_statement_of_section_III_that_dp_bounds_every_risk() -> None:
    for bits in itertools.product((False, True), repeat=len(PEOPLE.records)):
        chosen = {x for x, bit in zip(PEOPLE.records, bits, strict=True) if bit}
        most = worst_risk_at_any_prior(DP(), PEOPLE, 3, lambda x, chosen=chosen: x in chosen)
        assert most == (3 if 0 < len(chosen) < len(PEOPLE.records) else 0)


def test_statement_of_section_III_that_blowfish_may_leak_both_answers() -> None:
    graph = Blowfish.within(PEOPLE, lambda record: record[0])
    mechanism = tells_exactly(PEOPLE, lambda record: record[0])
    prior = {record: Fraction(1, 4) for record in PEOPLE.records}
    assert all(
        mechanism[x] == mechanism[y] for x in PEOPLE.records for y in PEOPLE.records if graph.step(x, y)
    )
    assert risk(mechanism, prior, lambda record: record[0]).infinite
    assert risk(mechanism, prior, lambda record: not record[0]).infinite


def test_statement_of_section_III_that_osdp_may_leak_everything_about_the_absent() -> None:
    mechanism = tells_the_truth_about(PEOPLE, lambda record: not record[0], 3)
    prior = {record: Fraction(1, 4) for record in PEOPLE.records}
    assert risk(mechanism, prior, lambda record: record == (False, "woman")).infinite
    absent = OSDP(frozenset(record for record in PEOPLE.records if not record[0]))
    assert worst_risk_at_any_prior(absent, PEOPLE, 3, lambda record: record == (False, "woman")) == math.inf
