"""The definitions as relations: their ordered neighbours, their shortest paths, and the erratum to k(X)."""

from __future__ import annotations

import itertools

import pytest

from safeside.errors import PrivacyError
from safeside.privacy.records import Universe, Visits, visits
from safeside.privacy.relations import ADP, DP, OSDP, Blowfish

PLACES = visits("ab")
NONE, A, B, AB = (frozenset(s) for s in ("", "a", "b", "ab"))


def test_universes() -> None:
    assert PLACES.records == (NONE, A, B, AB)
    assert visits("ab", at_most=1).records == (NONE, A, B)
    assert visits("ab", least=1, at_most=1).records == (A, B)
    assert len(list(PLACES.datasets(3))) == 64
    with pytest.raises(PrivacyError):
        Universe(records=(1, 1))


def test_dp_compares_every_pair() -> None:
    assert len(list(DP[Visits]().neighbours(PLACES, 1))) == 12
    # 16 datasets of two, each with two places to change and three other records.
    assert len(list(DP[Visits]().neighbours(PLACES, 2))) == 16 * 2 * 3


def test_the_product_policy_is_inclusion() -> None:
    relation = ADP.not_visited("ab")
    for x, y in itertools.product(PLACES.records, repeat=2):
        assert relation.step(x, y) == (x >= y)


def test_osdp_steps_from_sensitive_records_only() -> None:
    relation = OSDP(frozenset({NONE, B}))
    pairs = {(x[0], y[0]) for x, y in relation.neighbours(PLACES, 1)}
    assert pairs == {(x, y) for x in (A, AB) for y in PLACES.records if x != y}


def test_blowfish_goes_both_ways_along_edges() -> None:
    line = Universe(records=(0, 1, 2, 3))
    relation = Blowfish(frozenset({(0, 1), (1, 2), (2, 3)}))
    assert relation.min_path(line, (0,), (3,)) == 3
    assert relation.min_path(line, (3, 0), (0, 0)) == 3
    assert not relation.is_transitive(line)
    within = Blowfish.within(line, lambda x: x % 2)
    assert within.min_path(line, (0,), (1,)) is None
    assert within.is_transitive(line)


def test_shortest_paths_of_dp_are_hamming_distances() -> None:
    for start, end in itertools.product(PLACES.datasets(2), repeat=2):
        hamming = sum(x != y for x, y in zip(start, end, strict=True))
        assert DP[Visits]().min_path(PLACES, start, end) == hamming


def test_shortest_paths_of_adp_lead_down_only() -> None:
    relation = ADP.not_visited("ab")
    for start, end in itertools.product(PLACES.datasets(2), repeat=2):
        down = all(x >= y for x, y in zip(start, end, strict=True))
        changed = sum(x != y for x, y in zip(start, end, strict=True))
        assert relation.min_path(PLACES, start, end) == (changed if down else None)


@pytest.mark.parametrize("threshold", [0, 1, 2])
def test_erratum_k_is_the_distance_from_a_false_dataset_to_this_one(threshold: int) -> None:
    """k(X) = t + 1 - f(X); as printed, from X to a false dataset, there is no path at all."""
    relation = ADP.not_visited("ab")

    def at_most(dataset: tuple[Visits, ...]) -> bool:
        return sum("a" in x for x in dataset) <= threshold

    for dataset in PLACES.datasets(3):
        if at_most(dataset):
            present = sum("a" in x for x in dataset)
            assert relation.distance_to_false(PLACES, dataset, at_most) == threshold + 1 - present
            assert relation.distance_to_false(PLACES, dataset, at_most, as_printed=True) is None


def test_erratum_neighbouring_as_printed_would_compare_nothing_useful() -> None:
    """Printed: p(x) -> p(x') is False. Then only steps that reveal the policy's fact would be compared."""
    printed = {(x, y) for x in PLACES.records for y in PLACES.records if "a" not in x and "a" in y}
    ours = {(x[0], y[0]) for x, y in ADP.not_visited("a").neighbours(PLACES, 1)}
    assert not printed & ours
    assert printed | ours == {(x, y) for x, y in itertools.permutations(PLACES.records, 2)}


def decreasing(relation: ADP[Visits], target: str) -> bool:
    return all(
        (target in x) >= (target in y)
        for x, y in itertools.product(PLACES.records, repeat=2)
        if relation.step(x, y)
    )


def test_erratum_no_single_proposition_makes_two_counts_decreasing() -> None:
    """Every one of the 16 propositions on four records fails; the set of two negations does not."""
    for truth in itertools.product((False, True), repeat=4):
        holds = dict(zip(PLACES.records, truth, strict=True))
        single = ADP[Visits]({"p": holds.__getitem__})
        assert not (decreasing(single, "a") and decreasing(single, "b"))
    assert decreasing(ADP.not_visited("ab"), "a")
    assert decreasing(ADP.not_visited("ab"), "b")


def test_erratum_the_printed_policy_condition_admits_the_constant() -> None:
    """`not c -> p` holds for p = True, under which the count is not monotone."""
    constant = ADP[Visits]({"p": lambda _: True})
    assert not decreasing(constant, "a")


def test_uniting_policies_refuses_one_name_for_two_things() -> None:
    both = ADP.not_visited("a") | ADP.not_visited("ab")
    assert sorted(both.propositions) == ["not a", "not b"]
    with pytest.raises(PrivacyError):
        ADP.not_visited("a") | ADP({"not a": lambda _: True})
