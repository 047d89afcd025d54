"""Policies are sets: they unite, compare, stay small in print, and know only declared names."""

from __future__ import annotations

import sys

from safeside.privacy.policy import Policy, visited


def test_the_empty_policy_is_the_strongest() -> None:
    some = Policy.not_visited(["a", "b"], "2020-03-01")
    assert Policy.none() <= some
    assert not some <= Policy.none()
    assert len(Policy.none()) == 0
    assert Policy.none()
    assert Policy.none() | some == some


def test_one_proposition_for_each_condition_counted_windows_included() -> None:
    march, april = (Policy.not_visited(["a", "b"], window) for window in ("March", "April"))
    assert len(march | april) == 4
    assert not march <= april
    assert 'not "a" in March' in march


def test_no_two_pairs_of_target_and_window_share_a_name() -> None:
    """Two propositions taken for one would make the promise look stronger than it is."""
    pairs = [
        ("a", "b in c"),
        ("a in b", "c"),
        ('a" in b', "c"),
        ("a", 'b" in c'),
        ("a in", "b"),
        ("a", "in b"),
    ]
    assert len({visited(target, window) for target, window in pairs}) == len(pairs)


def test_a_hundred_thousand_targets_make_a_short_sentence() -> None:
    policy = Policy.not_visited((f"place {i}" for i in range(100_000)), "2020-03-01")
    assert len(policy) == 100_000
    assert len(policy.sentence()) < 300
    assert "100,000 facts" in policy.sentence()
    assert len(repr(policy)) < 300


def test_uniting_with_a_part_copies_nothing() -> None:
    policy = Policy.not_visited((f"place {i}" for i in range(1000)), "now")
    part = Policy.not_visited(["place 3"], "now")
    assert (policy | part) is policy
    assert (part | policy) is policy
    assert sys.getsizeof(policy) < 100


def test_sentences_in_full_where_there_are_few() -> None:
    assert Policy.none().sentence() == "No fact about a person is given up."
    assert Policy.not_visited(["bar"], "noon").sentence() == (
        '1 fact about a person may become known where it is true: not "bar" in noon.'
    )
