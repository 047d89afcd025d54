"""A mechanism made for queries decides their direction, and refuses one-sided noise where there is none."""

from __future__ import annotations

from typing import Any

import pytest

from safeside.errors import NotMonotone, PrivacyError
from safeside.mechanisms import AGeo, ALap, BlockTest, SAGeo, SALap
from safeside.privacy.direction import CountQuery, any_of, at_most_one, exactly_one_of, none_of, number_of
from safeside.privacy.guarantee import Direction
from safeside.privacy.policy import Policy

ATOMS = ("museum", "library")
POLICY = Policy(propositions=frozenset({"not museum", "not library"}))
PLACES = tuple(CountQuery(atoms=ATOMS, condition=lambda v, a=atom: v[a], name=atom) for atom in ATOMS)
EACH: dict[Any, dict[str, Any]] = {
    AGeo: {"epsilon": 1},
    ALap: {"epsilon": 1},
    SAGeo: {"epsilon_each": 1},
    SALap: {"epsilon_each": 1},
    BlockTest: {"epsilon": 1},
}


@pytest.mark.parametrize("mechanism", EACH, ids=lambda one: one.__name__)
def test_a_query_with_no_direction_is_refused_with_the_pair_that_shows_it(mechanism: Any) -> None:
    with pytest.raises(NotMonotone, match=r"from a person with \(museum, library\) to one with"):
        mechanism.for_queries([exactly_one_of(ATOMS)], POLICY, **EACH[mechanism])


@pytest.mark.parametrize("mechanism", EACH, ids=lambda one: one.__name__)
def test_a_query_the_policy_does_not_negate_is_refused(mechanism: Any) -> None:
    """Women at the museum, while only "not at the museum" may leak."""
    women = CountQuery(atoms=("museum", "woman"), condition=lambda v: v["museum"] and v["woman"])
    with pytest.raises(NotMonotone):
        mechanism.for_queries([women], Policy(propositions=frozenset({"not museum"})), **EACH[mechanism])


def test_direction_and_sensitivity_are_decided() -> None:
    down = AGeo.for_queries([*PLACES, any_of(ATOMS)], POLICY, epsilon=1)
    assert (down.direction, down.sensitivity, down.policy) == (Direction.DECREASING, 3, POLICY)
    up = AGeo.for_queries([none_of(ATOMS)], POLICY, epsilon=1)
    assert (up.direction, up.sensitivity) == (Direction.INCREASING, 1)
    assert ALap.for_queries([number_of(ATOMS)], POLICY, epsilon=1).sensitivity == 2


def test_what_is_possible_decides_how_many_conditions_one_record_satisfies() -> None:
    assert SAGeo.for_queries(PLACES, POLICY, epsilon_each=1, alarms=9).price == 2
    instant = at_most_one(ATOMS)
    at_once = [CountQuery(atoms=ATOMS, condition=q.condition, possible=instant) for q in PLACES]
    assert SAGeo.for_queries(at_once, POLICY, epsilon_each=1, alarms=9).price == 1


def test_queries_of_opposite_directions_or_other_atoms_are_refused_together() -> None:
    with pytest.raises(NotMonotone):
        AGeo.for_queries([any_of(ATOMS), none_of(ATOMS)], POLICY, epsilon=1)
    with pytest.raises(PrivacyError, match="same atoms"):
        AGeo.for_queries([any_of(ATOMS), any_of(["museum"])], POLICY, epsilon=1)


@pytest.mark.parametrize("mechanism", [SAGeo, BlockTest], ids=lambda one: one.__name__)
def test_what_certifies_refuses_increasing_queries(mechanism: Any) -> None:
    with pytest.raises(NotMonotone, match="not decreasing"):
        mechanism.for_queries([none_of(ATOMS)], POLICY, **EACH[mechanism])
