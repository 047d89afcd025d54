"""Directions and sensitivities of docs/definitions.md, each decided by enumeration."""

from __future__ import annotations

import itertools

import pytest

from safeside.errors import NotMonotone, NowhereElse, PrivacyError, UnknownPolicy
from safeside.privacy import direction as d
from safeside.privacy.direction import CountQuery, Declared, direction_of, require_monotone
from safeside.privacy.guarantee import Direction
from safeside.privacy.policy import NOT, Policy, visited

ATOMS = tuple(visited(target, "T") for target in ("1", "2", "3"))
PRODUCT = Policy.not_visited(["1", "2", "3"], "T")
ONE, TWO, THREE = ATOMS


def count(condition: d.Formula, atoms: tuple[str, ...] = ATOMS) -> CountQuery:
    return CountQuery(atoms=atoms, condition=condition)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        *((count(lambda v, atom=atom: v[atom]), Direction.DECREASING) for atom in ATOMS),
        (d.any_of(ATOMS), Direction.DECREASING),
        (d.number_of(ATOMS), Direction.DECREASING),
        (d.none_of(ATOMS), Direction.INCREASING),
        (d.exactly_one_of(ATOMS), Direction.NEITHER),
        (count(lambda v: v[ONE] and not v[TWO]), Direction.NEITHER),
        (count(lambda v: v[ONE] and v[TWO]), Direction.DECREASING),
        (count(lambda _: False), Direction.DECREASING),
    ],
)
def test_directions_under_the_product_policy(query: CountQuery, expected: Direction) -> None:
    assert direction_of(query, PRODUCT) is expected


def test_the_policy_must_negate_exactly_what_is_counted() -> None:
    """Under {not c_1} the count "c_1 and woman" moves both ways."""
    woman = CountQuery(atoms=(ONE, "woman"), condition=lambda v: v[ONE] and v["woman"], name="c_1 and woman")
    policy = Policy(propositions=frozenset({NOT + ONE}))
    assert direction_of(woman, policy) is Direction.NEITHER
    with pytest.raises(NotMonotone, match="woman"):
        require_monotone(woman, policy)


def test_the_empty_policy_lets_everything_move() -> None:
    assert direction_of(d.any_of(ATOMS), Policy.none()) is Direction.NEITHER


def test_the_offending_pair_is_a_real_step() -> None:
    query = d.exactly_one_of(ATOMS)
    step = d.step_of(ATOMS, PRODUCT)
    for wanted, sign in ((Direction.DECREASING, 1), (Direction.INCREASING, -1)):
        pair = d.counterexample(query, PRODUCT, wanted)
        assert pair is not None
        before, after = pair
        assert step(before, after)
        assert sign * int(query.condition(before)) < sign * int(query.condition(after))
        with pytest.raises(NotMonotone):
            require_monotone(query, PRODUCT, wanted)


def test_possible_vectors_decide_and_not_those_that_occur() -> None:
    """Where a person is at one place at most, "exactly one" is "any" and so has a direction."""
    possible = d.at_most_one(ATOMS)
    assert direction_of(d.exactly_one_of(ATOMS, possible), PRODUCT) is Direction.DECREASING
    assert direction_of(d.exactly_one_of(ATOMS), PRODUCT) is Direction.NEITHER


def test_leaving_propositions_out_is_safe() -> None:
    """A policy with more propositions on other atoms never changes the verdict for the worse side."""
    wide = PRODUCT | Policy.not_visited([str(i) for i in range(50_000)], "T")
    for query in (d.any_of(ATOMS), d.none_of(ATOMS), d.exactly_one_of(ATOMS)):
        assert direction_of(query, wide) is direction_of(query, PRODUCT)


def test_a_proposition_written_out_must_belong_to_the_policy() -> None:
    disjunction = Policy(propositions=frozenset({"not 1 or not 2"}))
    written = {"not 1 or not 2": lambda v: not v[ONE] or not v[TWO]}
    for atom in (ONE, TWO):
        query = count(lambda v, atom=atom: v[atom], (ONE, TWO))
        assert direction_of(query, disjunction, written) is Direction.NEITHER
    with pytest.raises(UnknownPolicy):
        direction_of(query, PRODUCT, written)


def test_a_thousand_disjoint_places_are_decided() -> None:
    atoms = [visited(str(i), "T") for i in range(1000)]
    policy = Policy.not_visited([str(i) for i in range(1000)], "T")
    assert direction_of(d.any_of(atoms, d.at_most_one(atoms)), policy) is Direction.DECREASING


def test_too_many_free_atoms_are_not_guessed_at() -> None:
    with pytest.raises(PrivacyError, match="too many"):
        d.any_of([str(i) for i in range(12)])
    with pytest.raises(PrivacyError, match="own atoms"):
        CountQuery(atoms=("a",), condition=lambda v: v["a"], possible=[{"b": True}])


RECORDS = [frozenset(s) for size in range(3) for s in itertools.combinations("123", size)]
"""People who visited at most two of three places."""


def test_max_conditions_is_the_most_conditions_one_record_satisfies() -> None:
    places = [lambda r, t=t: t in r for t in "123"]
    region = [lambda r: bool(r)]
    assert d.max_conditions(places, RECORDS) == 2
    assert d.max_conditions(places + region, RECORDS) == 3
    assert d.max_conditions(places + places, RECORDS) == 4
    assert d.max_conditions(places, [frozenset(), *(frozenset(t) for t in "123")]) == 1


def test_max_conditions_is_the_sensitivity_where_none_is_possible() -> None:
    """The same number, checked against every step; and no more than it where nobody can be elsewhere."""
    conditions = [*(lambda r, t=t: t in r for t in "123"), lambda r: bool(r)]
    max_conditions = d.max_conditions(conditions, RECORDS)
    assert d.sensitivity_of_steps(conditions, RECORDS, frozenset.__ge__) == max_conditions
    crowded = [r for r in RECORDS if r]
    assert d.sensitivity_of_steps(conditions, crowded, frozenset.__ge__) < d.max_conditions(
        conditions, crowded
    )


def test_covering_everything_makes_the_sensitivity_zero() -> None:
    places = [lambda r, t=t: t in r for t in "123"]
    everywhere = [frozenset(t) for t in "123"]
    assert d.sensitivity_of_steps(places, everywhere, frozenset.__ge__) == 0
    with pytest.raises(NowhereElse):
        d.require_not_exhaustive(places, everywhere)
    d.require_not_exhaustive(places, RECORDS)


def test_bounded_dp_doubles_up_to_the_number_of_counts() -> None:
    for most in (1, 2, 3):
        records = [frozenset(s) for size in range(most + 1) for s in itertools.combinations("123", size)]
        places = [lambda r, t=t: t in r for t in "123"]
        exact = d.sensitivity_of_steps(places, records, lambda _x, _y: True)
        assert min(2 * d.max_conditions(places, records), len(places)) == min(2 * most, 3) == exact


def test_mixed_directions_count_the_most_one_step_changes() -> None:
    mixed = [lambda r: "1" in r, lambda r: "1" not in r, lambda r: "2" in r]
    assert d.sensitivity_of_steps(mixed, RECORDS, frozenset.__ge__) == 3
    assert d.max_conditions(mixed, RECORDS) == 2


def cases() -> list[tuple[list[CountQuery], Policy]]:
    return [
        ([d.any_of([visited(t, "T") for t in names])], Policy.not_visited(names, "T"))
        for names in ("1", "12", "123")
    ]


def test_a_declaration_is_checked_on_small_cases() -> None:
    Declared(
        direction=Direction.DECREASING,
        sensitivity=1,
        reason="one who visited any of them can only lose visits",
        check=cases,
    )
    with pytest.raises(NotMonotone):
        Declared(direction=Direction.INCREASING, sensitivity=1, reason="wrong", check=cases)
    with pytest.raises(PrivacyError, match="changes 1"):
        Declared(direction=Direction.DECREASING, sensitivity=0, reason="wrong", check=cases)
    with pytest.raises(PrivacyError, match="without a reason"):
        Declared(direction=Direction.DECREASING, sensitivity=1, reason=" ", check=cases)
    with pytest.raises(PrivacyError, match="without a reason"):
        Declared(direction=Direction.DECREASING, sensitivity=1, reason="none", check=list)


def test_a_direction_given_by_its_text_is_that_direction() -> None:
    query, policy = d.none_of(("a",)), Policy(propositions=frozenset({"not a"}))
    assert d.require_monotone(query, policy, "increasing") == Direction.INCREASING
    with pytest.raises(NotMonotone):
        d.require_monotone(query, policy, "decreasing")
