"""Section IV of the paper: what asymmetric differential privacy leaks, protects and allows.

The relation is the one its sections use, "p(x) implies p(x') is *True*"; as printed it says False.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import pytest
from tests.theorems.linear import chain_beta

from safeside.audit.exact import audit_mechanism
from safeside.decisions.bounds import adp_at_most, needed_epsilon_adp
from safeside.mechanisms.ageo import AGeo
from safeside.privacy.records import Universe, visits
from safeside.privacy.relations import ADP
from safeside.privacy.risk import risk
from safeside.privacy.worst import tells_sometimes, worst_risk, worst_risk_at_any_prior

Person = tuple[bool, str]
PEOPLE: Universe[Person] = Universe(records=tuple(itertools.product((False, True), ("man", "woman"))))
POLICY: ADP[Person] = ADP({"not there": lambda record: not record[0]})
FACTOR = 3
EPSILON = Fraction(1)


def absent(record: Person) -> bool:
    return not record[0]


def every_event() -> Iterator[frozenset[Person]]:
    for size in range(len(PEOPLE.records) + 1):
        yield from map(frozenset, itertools.combinations(PEOPLE.records, size))


def test_proposition_IV_3_the_policy_itself_may_leak() -> None:
    """The proof's mechanism, on datasets: audited, and with an infinite Risk."""
    everybody_absent = AGeo(epsilon=EPSILON)

    def mechanism(present: int) -> dict[bool, object]:
        """True only where nobody was there, and then with probability 1 - 1/e^eps."""
        quiet = everybody_absent.pmf(0, 0)
        return {True: quiet, False: 1 - quiet} if present == 0 else {False: 1}

    def present(dataset: tuple[Person, ...]) -> int:
        return sum(there for there, _ in dataset)

    finding = audit_mechanism(mechanism, present, POLICY, PEOPLE, 2, EPSILON)
    assert finding.holds
    assert finding.tight
    alone = tells_sometimes(PEOPLE, absent, FACTOR)
    even = {record: Fraction(1, 4) for record in PEOPLE.records}
    assert risk(alone, even, absent).infinite
    assert worst_risk_at_any_prior(POLICY, PEOPLE, FACTOR, absent) == math.inf


def test_proposition_IV_4_whatever_else_is_protected_of_those_who_were_there() -> None:
    """Over every mechanism, every prior and every p': Risk(not p and p') <= e^eps, and it is attained."""
    for some in every_event():
        event = frozenset(record for record in some if not absent(record))
        most = worst_risk_at_any_prior(POLICY, PEOPLE, FACTOR, lambda record, event=event: record in event)
        assert most == (FACTOR if event else 0)


@pytest.mark.parametrize(("man", "woman"), [(1, 1), (1, 9), (99, 1)])
def test_proposition_IV_5_to_one_who_knows_p_nothing_else_leaks(man: int, woman: int) -> None:
    """Over every mechanism and every p', with a prior on those of whom p is true."""
    prior = {(False, "man"): Fraction(man, man + woman), (False, "woman"): Fraction(woman, man + woman)}
    for event in every_event():
        found = worst_risk(POLICY, PEOPLE, FACTOR, prior, lambda record, event=event: record in event)
        inside = sum(record in event for record in prior)
        assert found.value == (FACTOR if inside == 1 else 0)


def test_proposition_IV_7_is_attained_by_ageo_and_by_nothing_better() -> None:
    """Over every ADP mechanism, beta <= 1 - (1-alpha) e^(-k eps), with k counted from a false X' to X."""
    for k, alpha, epsilon in itertools.product((1, 2, 4), (0.0, 0.05, 0.3), (0.5, 1.0)):
        bound = float(adp_at_most(steps=k, epsilon=epsilon, alpha=alpha))
        assert bound == pytest.approx(1 - (1 - alpha) * math.exp(-k * epsilon))
        assert chain_beta(k, epsilon, alpha=alpha, ways=(-1,)) == pytest.approx(bound, abs=1e-9)
        assert float(needed_epsilon_adp(steps=k, beta=bound, alpha=alpha)) == pytest.approx(epsilon)
    for count in (0, 1, 2):
        assert float(AGeo(epsilon=1).beta(2, count)) == pytest.approx(1 - math.exp(-(3 - count)))


def test_proposition_IV_7_is_empty_with_the_distance_as_printed() -> None:
    """From X to a false X' no path leads: a step can only lower the count. From X' to X it is t + 1 - f."""
    universe = visits(["A"])
    policy = ADP.not_visited(["A"])
    for t in (0, 1):
        for dataset in universe.datasets(2):
            count = sum("A" in record for record in dataset)
            if count > t:
                continue

            def decision(other: tuple[frozenset[str], ...], t: int = t) -> bool:
                return sum("A" in record for record in other) <= t

            assert policy.distance_to_false(universe, dataset, decision) == t + 1 - count
            assert policy.distance_to_false(universe, dataset, decision, as_printed=True) is None


def test_statement_of_section_IV_that_sensitivity_is_masked() -> None:
    """Risk(not p) <= e^eps: whether somebody is one of the sensitive records does not leak."""
    assert worst_risk_at_any_prior(POLICY, PEOPLE, FACTOR, lambda record: not absent(record)) == FACTOR
