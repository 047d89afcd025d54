"""The published path, audited: from a file of visits through the ledger to every file of the release."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from safeside import exact
from safeside.audit import published_groups, published_recorded
from safeside.audit.case import Case, Check
from safeside.audit.catalogue import published
from safeside.audit.published import PAIRS, Way
from safeside.audit.published_groups import GROUPED
from safeside.audit.published_ordinary import ORDINARY
from safeside.audit.published_places import COUNTS, RECORDED, WAYS
from safeside.audit.published_recorded import recorded
from safeside.audit.published_selection import SELECTED
from safeside.audit.publishing import HOURS, Scripted, desk, replaced, words_for
from safeside.ledger.witness import STATE_VARIABLE
from safeside.mechanisms.laws import Up
from safeside.releases.methods import METHODS, Method, chosen

EVERY = published()
NOTHING = dict.fromkeys(("max_alarms", "order", "profile", "learn_from", "decision"))


@pytest.mark.parametrize("one", EVERY, ids=lambda one: f"{one.name}: {one.setting}")
def test_it_holds(one: Case | Check) -> None:
    row = one.row()
    assert row.ok, row


def method_of(way: Way) -> type[Method]:
    return chosen(way.terms.get("method"), {**NOTHING, **way.terms})


def several(way: Way) -> set[str]:
    """In what one person, or one release, has more than one."""
    return {
        *(["windows"] if way.windows > 1 else []),
        *(["places"] if way.terms.get("max_places_per_person", 1) > 1 else []),
        *(["alarms"] if way.terms.get("max_alarms", 1) > 1 else []),
        *(["thresholds"] if len({way.limit(place) for place in ("A", "B")}) > 1 else []),
        *(["sentences"] if "at_least" in way.terms else []),
    }


@pytest.mark.parametrize("ways", [RECORDED, published_groups.RECORDED], ids=["places", "groups"])
def test_every_method_is_run_on_recorded_randomness(ways: tuple[Way, ...]) -> None:
    assert {method_of(way) for way in ways} == set(METHODS.values())


def test_recorded_randomness_is_run_in_every_setting_in_which_more_is_at_stake() -> None:
    by_method: dict[type[Method], set[str]] = {}
    for way in RECORDED:
        by_method.setdefault(method_of(way), set()).update(several(way))
    windows = {"windows"} if any(way.windows > 1 for way in SELECTED) else set()
    every = {"thresholds", "places", "windows", "sentences"}
    assert by_method[METHODS["counts"]] == every
    assert by_method[METHODS["sparse"]] == {"thresholds", "places", "windows", "alarms"}
    assert by_method[METHODS["selection"]] == {"thresholds"} | windows
    assert any("people" in way.terms and "publish_at_least" in way.terms for way in RECORDED)
    assert len({way.name for way in RECORDED}) == len(RECORDED)


def test_a_row_in_which_nothing_can_be_compared_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published_recorded, "compared_answers", lambda *_: ())
    assert recorded(COUNTS) == "no two answers could be compared"


def test_every_transcript_is_listed_of_every_method_and_under_each_definition() -> None:
    every: list[Way] = [*WAYS, *ORDINARY, *SELECTED]
    ways = [method_of(way) for way in every]
    assert set(ways) == set(METHODS.values())
    standard = {method for way, method in zip(every, ways, strict=True) if way.delta}
    assert standard == {method for method in METHODS.values() if method.ordinary}


def test_one_person_satisfies_several_conditions_at_once() -> None:
    assert any(way.terms.items() >= HOURS.items() for way in SELECTED)
    falls = [
        sum(way.counts(left).values()) - sum(way.counts(right).values())
        for way in SELECTED
        for left, right in way.pairs
    ]
    assert max(falls) == 3
    assert min(falls) == 1


def test_one_person_changes_as_many_counts_as_are_paid_for() -> None:
    for way in WAYS:
        falls = [
            sum(way.counts(left).values()) - sum(way.counts(right).values()) for left, right in way.pairs
        ]
        assert max(falls) == way.conditions_of_one


def test_regions_of_randomness_are_disjoint_and_most_of_what_happens() -> None:
    for way in SELECTED:
        for dataset in {one for pair in way.pairs for one in pair}:
            listed = list(way.regions(way.counts(dataset)))
            assert len({one.words for one in listed}) == len(listed)
            mass = sum((one.mass for one in listed), exact.ball(0))
            assert mass > 0.25
            assert mass < 1.0000001


def test_all_that_can_be_drawn_of_groups_is_listed() -> None:
    for way in GROUPED:
        for left, right in way.pairs:
            before, after = way.counts(left), way.counts(right)
            assert max(before[one] - after[one] for one in before) == 1
            assert sum(before.values()) - sum(after.values()) <= way.conditions_of_one
            for dataset in (left, right):
                mass = sum((one.mass for one in way.regions(way.counts(dataset))), exact.ball(0))
                assert abs(float(mass.mid()) - 1) < 1e-12
    falls = [
        sum(way.counts(left).values()) - sum(way.counts(right).values())
        for way in GROUPED
        for left, right in way.pairs
    ]
    assert max(falls) == 4, "one person is counted in two groups, by two measures of each"


def test_all_that_can_be_drawn_under_the_standard_definition_is_listed() -> None:
    for way in ORDINARY:
        assert {(right, left) for left, right in way.pairs if len(left) != len(right)} <= {*way.pairs}
        falls = [
            abs(sum(way.counts(left).values()) - sum(way.counts(right).values())) for left, right in way.pairs
        ]
        assert max(falls) == way.conditions_of_one, "one person is counted as often as is paid for"
        for left, right in way.pairs:
            before, after = way.counts(left), way.counts(right)
            assert 1 <= sum(abs(before[one] - after[one]) for one in before) <= way.conditions_of_one
            for dataset in (left, right):
                listed = list(way.regions(way.counts(dataset)))
                assert len({one.words for one in listed}) == len(listed)
                assert abs(float(sum((one.mass for one in listed), exact.ball(0)).mid()) - 1) < 1e-12


def test_datasets_are_neighbours_and_differ() -> None:
    two_hours = next(way for way in SELECTED if way.windows == 2)
    for left, right in (*PAIRS, *(pair for way in SELECTED for pair in way.pairs)):
        changed = [(one, two) for one, two in zip(left, right, strict=True) if one != two]
        assert len(changed) == 1
        before, after = two_hours.counts(left), two_hours.counts(right)
        assert {before[one] - after[one] for one in before} == {0, 1}, "visits of one person are erased"


def test_a_word_gives_the_noise_it_stands_for() -> None:
    law = Up(COUNTS.epsilon)
    for value, word in enumerate(words_for(law, 3)):
        assert law.add_to(np.zeros(1, np.int64), Scripted([word])).tolist() == [value]


def test_the_desk_leaves_the_environment_as_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path))
    with desk(("A",), (1,)):
        assert os.environ[STATE_VARIABLE] != str(tmp_path)
    assert os.environ[STATE_VARIABLE] == str(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_was_replaced_is_put_back() -> None:
    before = os.urandom
    with pytest.raises(KeyError), replaced(os, "urandom", lambda _n: b""):
        raise KeyError
    assert os.urandom is before
