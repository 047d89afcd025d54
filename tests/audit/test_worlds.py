"""The small worlds hold what they say."""

from __future__ import annotations

import pytest

from safeside.audit.worlds import DAY, INSTANT, REGION, TWO_WINDOWS, AddRemove, World, counts_of
from safeside.privacy.relations import ADP


def test_the_world_of_the_transcript_audit() -> None:
    """Two people, three places, one region, two windows."""
    assert len(TWO_WINDOWS.universe.records) == 64
    assert len(TWO_WINDOWS.questions) == 8
    assert len({left for left, _ in TWO_WINDOWS.asymmetric.neighbours(TWO_WINDOWS.universe, 2)}) == 4096 - 1


@pytest.mark.parametrize(
    ("world", "places", "everything"), [(INSTANT, 1, 1), (DAY, 3, 3), (REGION, 1, 2), (TWO_WINDOWS, 6, 8)]
)
def test_max_conditions_counts_regions_and_windows(world: World, places: int, everything: int) -> None:
    assert world.max_conditions(world.place_questions) == places
    assert world.max_conditions(world.questions) == everything
    assert world.max_conditions(world.questions * 2) == 2 * everything


def test_a_region_counts_distinct_people() -> None:
    region = REGION.question("AB")
    assert region.count((frozenset({"A", "B"}), frozenset({"B"}), frozenset({"C"}))) == 2
    assert counts_of([region, REGION.question("C")])((frozenset({"C"}),)) == (0, 1)


def test_cached_neighbours_are_the_relation_s_own() -> None:
    own = ADP.not_visited(DAY.targets)
    assert list(DAY.asymmetric.neighbours(DAY.universe, 2)) == list(own.neighbours(DAY.universe, 2))
    other = INSTANT.universe
    assert list(DAY.asymmetric.neighbours(other, 1)) == list(own.neighbours(other, 1))


def test_add_remove_goes_both_ways_from_nobody_up() -> None:
    pairs = list(AddRemove().neighbours(INSTANT.universe, 2))
    assert {abs(len(a) - len(b)) for a, b in pairs} == {1}
    assert len(pairs) == 2 * (4 + 4 * 4)
    assert all((b, a) in pairs for a, b in pairs)
