"""The published path, audited: from a file of visits through the ledger to every file of the release."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from safeside.audit.case import Case, Check
from safeside.audit.published import ALL_TERMS, PAIRS, WAYS, counts_at, published
from safeside.audit.publishing import Scripted, desk, replaced, words_for
from safeside.ledger.witness import STATE_VARIABLE
from safeside.mechanisms.laws import Up


@pytest.mark.parametrize("one", list(published()), ids=lambda one: f"{one.name}: {one.setting}")
def test_it_holds(one: Case | Check) -> None:
    row = one.row()
    assert row.ok, row


def test_every_method_is_run_on_recorded_randomness() -> None:
    """Every way to answer: counts, with at least, sparse by either kind of order, padded, one bit."""
    methods = {
        (
            terms.get("guarantee", "adp"),
            "max_alarms" in terms,
            bool(terms.get("decision")),
            "at_least" in terms,
        )
        for terms in ALL_TERMS.values()
    }
    assert methods == {
        ("adp", False, False, False),
        ("adp", False, False, True),
        ("adp", True, False, False),
        ("dp", False, False, False),
        ("dp", False, True, False),
    }
    for terms in ALL_TERMS.values():
        dict(**terms)


def test_datasets_are_neighbours_and_differ() -> None:
    for left, right in PAIRS:
        changed = [(one, two) for one, two in zip(left, right, strict=True) if one != two]
        assert len(changed) == 1
        assert changed[0][1] < changed[0][0]
        assert counts_at(left) != counts_at(right)


def test_a_word_gives_the_noise_it_stands_for() -> None:
    law = Up(WAYS[0].epsilon)
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
