"""The exact audit on mechanisms small enough to check by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from safeside import exact
from safeside.audit.channel import ELSEWHERE, Independent
from safeside.audit.exact import Finding, audit_channel, audit_mechanism
from safeside.audit.worlds import DAY, INSTANT, counts_of
from safeside.mechanisms.ageo import AGeo
from safeside.mechanisms.geometric import TwoSidedGeometric
from safeside.mechanisms.paddedgeo import PaddedGeo
from safeside.mechanisms.warner import Warner
from safeside.privacy.records import Universe
from safeside.privacy.relations import DP

BITS = Universe(records=(False, True))
PAIRS = [(False, True), (True, False)]


def coin(truth: bool) -> dict[str, Fraction]:
    share = Fraction(3, 4) if truth else Fraction(1, 4)
    return {"yes": share, "no": 1 - share}


def test_the_far_end_of_bounded_noise_is_seen() -> None:
    """A step can only lower the count, so only the largest value shows that it did."""
    padded = PaddedGeo(epsilon=1, delta="0.05")
    at_a = counts_of(INSTANT.place_questions[:1])
    finding = audit_mechanism(padded, at_a, INSTANT.asymmetric, INSTANT.universe, 2, 1)
    assert finding.measured == math.inf
    assert finding.broken


def test_a_coin_costs_the_logarithm_of_its_odds() -> None:
    finding = audit_channel({truth: coin(truth) for truth in (False, True)}, PAIRS, 2)
    assert finding.epsilon_low <= math.log(3) <= finding.epsilon_high
    assert finding.epsilon_high - finding.epsilon_low < 1e-15
    assert finding.measured == finding.epsilon_high
    assert finding.holds
    assert not finding.tight
    assert not finding.broken
    assert finding.pairs == 2


def test_a_claim_below_what_is_needed_is_broken() -> None:
    finding = audit_channel({truth: coin(truth) for truth in (False, True)}, PAIRS, 1)
    assert finding.broken
    assert not finding.holds


def test_only_the_ordered_pairs_that_are_given_count() -> None:
    never_no_when_true = {True: {"yes": Fraction(1)}, False: {"yes": Fraction(1, 2), "no": Fraction(1, 2)}}
    one_way = audit_channel(never_no_when_true, [(True, False)], "0.7")
    assert one_way.measured == pytest.approx(math.log(2))
    other_way = audit_channel(never_no_when_true, [(False, True)], "0.7")
    assert other_way.epsilon_low == math.inf
    assert other_way.witness == "no"
    assert other_way.worst == (False, True)


@pytest.mark.parametrize("given", [0.75, "3/4"])
def test_probabilities_may_be_floats_or_fractions(given: float | str) -> None:
    share = exact.fraction(given)
    channel = {
        False: {"a": 1 - share, "b": share},
        True: {"a": given if isinstance(given, float) else share, "b": 0.25},
    }
    finding = audit_channel(channel, PAIRS, 2)
    assert finding.measured == pytest.approx(math.log(3))


def test_a_user_may_give_a_function_an_object_or_a_pmf() -> None:
    warner = Warner(epsilon=1)

    def query(dataset: tuple[bool, ...]) -> bool:
        return dataset[0]

    as_function = audit_mechanism(warner.distribution, query, DP(), BITS, 1, 1)
    as_pmf = audit_mechanism(warner, query, DP(), BITS, 1, 1, outputs=[True, False])
    as_bare_pmf = audit_mechanism(warner.pmf, query, DP(), BITS, 1, 1, outputs=[True, False])
    for finding in (as_function, as_pmf, as_bare_pmf):
        assert finding.holds
        assert finding.tight


def test_outputs_that_are_not_listed_are_one_event() -> None:
    finding = audit_mechanism(
        AGeo(epsilon=1), counts_of(INSTANT.place_questions[:1]), INSTANT.asymmetric, INSTANT.universe, 2, 1,
        outputs=range(3),
    )  # fmt: skip
    assert finding.holds
    assert finding.tight
    wrong_way = audit_mechanism(
        AGeo(epsilon=1), counts_of(INSTANT.place_questions[:1]), INSTANT.ordinary, INSTANT.universe, 2, 1,
        outputs=[7],
    )  # fmt: skip
    assert wrong_way.measured < math.inf
    assert wrong_way.witness in ((7,), (ELSEWHERE,))


def test_a_bounded_law_is_listed_to_its_end() -> None:
    """The horizon of a bounded law lies beyond its largest value: no tail hides its upper end."""
    padded = PaddedGeo(epsilon=1, delta="0.01")
    finding = audit_mechanism(
        padded, lambda dataset: sum(dataset), DP(), BITS, 2, 2 * padded.guarantee.epsilon, "0.02"
    )
    assert finding.holds
    assert finding.delta_low > 0
    alone = audit_mechanism(padded, lambda dataset: sum(dataset), DP(), BITS, 2, 1)
    assert alone.epsilon_low == math.inf


def test_the_worst_pair_is_a_pair_of_datasets() -> None:
    finding = audit_mechanism(
        TwoSidedGeometric(epsilon=1, sensitivity=2),
        counts_of(INSTANT.place_questions),
        INSTANT.ordinary,
        INSTANT.universe,
        2,
        1,
    )
    left, right = finding.worst
    assert len(left) == len(right) == 2
    assert sum(x != y for x, y in zip(left, right, strict=True)) == 1
    assert isinstance(finding, Finding)


def test_a_vector_is_audited_without_writing_its_joint_table() -> None:
    """Fifty counts: the joint table would have more rows than atoms in the world."""
    law = AGeo(epsilon=1, sensitivity=50)
    outcome = [Independent(tuple(law.distribution(count, 1) for _ in range(50))) for count in (0, 1)]
    finding = audit_channel({0: outcome[0], 1: outcome[1]}, [(1, 0)], 1)
    assert finding.holds
    assert finding.tight


def test_with_a_delta_both_numbers_are_measured() -> None:
    padded = PaddedGeo(epsilon=1, delta="0.01")
    finding = audit_mechanism(
        padded,
        lambda dataset: sum("A" in record for record in dataset),
        DAY.add_remove,
        DAY.universe,
        2,
        1,
        "0.01",
    )
    bottom = float(padded.pmf(0, 0))
    assert finding.delta_low <= bottom <= finding.delta_high
    assert finding.holds
    assert not finding.tight
    too_much = audit_mechanism(
        padded,
        lambda dataset: sum("A" in record for record in dataset),
        DAY.add_remove,
        DAY.universe,
        2,
        1,
        "0.001",
    )
    assert too_much.broken
    assert too_much.epsilon_low == math.inf
