"""Every message of the audit room: what happened and what to do."""

from __future__ import annotations

from collections.abc import Generator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from safeside import exact
from safeside.audit import transcripts as transcript_room
from safeside.audit.exact import audit_channel, audit_mechanism
from safeside.audit.statistical import SamplerTest
from safeside.audit.transcripts import Draw, publish, transcripts
from safeside.errors import BadCounts, BadNumber, BadQuestion, SafesideError
from safeside.mechanisms.laws import Up
from safeside.privacy.records import Universe
from safeside.privacy.relations import DP, Blowfish

HALF = Fraction(1, 2)


def says(error: SafesideError, what: str, do: str) -> None:
    assert what in error.what
    assert do in error.do


def test_probabilities_that_do_not_add_up() -> None:
    with pytest.raises(BadNumber) as caught:
        audit_channel({0: {"a": HALF}, 1: {"a": 1}}, [(0, 1)], 1)
    says(caught.value, "The probabilities for the input 0 add up to 0.5, not to 1.", "List every output;")


def test_a_negative_probability() -> None:
    with pytest.raises(BadNumber) as caught:
        audit_channel({0: {"a": Fraction(-1, 2), "b": Fraction(3, 2)}}, [(0, 0)], 1)
    says(
        caught.value,
        "The probability of 'a' for the input 0 is not a probability.",
        "Give every output a probability of at least 0 and at most 1.",
    )


def test_no_neighbours() -> None:
    with pytest.raises(BadQuestion) as caught:
        audit_mechanism(lambda count: {count: 1}, sum, Blowfish(frozenset()), Universe(records=(0, 1)), 1, 1)
    says(
        caught.value,
        "No dataset of this universe has a neighbour, so there is nothing to audit.",
        "Use a universe with at least two records that the relation connects.",
    )


@pytest.mark.parametrize("outputs", [None, [1]])
def test_not_a_mechanism(outputs: list[int] | None) -> None:
    with pytest.raises(BadQuestion) as caught:
        audit_mechanism(3, sum, DP(), Universe(records=(0, 1)), 1, 1, outputs=outputs)
    says(
        caught.value,
        "A int cannot be audited: it has no probabilities.",
        "Give a function from a query result",
    )


def test_too_many_transcripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript_room, "MOST_TRANSCRIPTS", 3)

    def program(view: object) -> Generator[Draw, Any, None]:
        for _ in range(2):
            yield publish({0: HALF, 1: HALF})

    with pytest.raises(BadQuestion) as caught:
        transcripts(program, None)
    says(caught.value, "The procedure has more than 3 transcripts.", "Ask fewer questions")


def test_a_procedure_that_changes_when_it_is_run_again() -> None:
    runs: list[int] = []

    def program(view: object) -> Generator[Draw, Any, None]:
        runs.append(1)
        if len(runs) == 1:
            yield publish({0: HALF, 1: HALF})
        else:
            yield from ()

    with pytest.raises(BadQuestion) as caught:
        transcripts(program, None)
    says(
        caught.value,
        "The procedure ended earlier when it was run again with the same outcomes.",
        "Let it depend on its view and on what its draws gave back, and on nothing else.",
    )


def test_gaps_in_the_values_of_a_sampler() -> None:
    with pytest.raises(BadNumber) as caught:
        SamplerTest(pmf={0: exact.ball(HALF), 2: exact.ball(HALF)})
    says(caught.value, "a run of consecutive whole numbers", "with probability 0 where it cannot come")


def test_a_test_without_false_alarms() -> None:
    with pytest.raises(BadNumber) as caught:
        SamplerTest.of(Up(Fraction(1)), false_alarm=0)
    says(caught.value, "A test that never gives a false alarm finds nothing.", "Give false_alarm above 0.")


def test_another_number_of_draws() -> None:
    with pytest.raises(BadCounts) as caught:
        SamplerTest.of(Up(Fraction(1)), draws=100).check(np.zeros(99, dtype=np.int64))
    says(caught.value, "The test was made for 100 draws and got 99.", "Draw as many as the test was made for")


def test_a_claim_that_is_not_a_number() -> None:
    with pytest.raises(BadNumber) as caught:
        audit_channel({0: {"a": 1}}, [(0, 0)], float("nan"))
    says(caught.value, "the claimed epsilon is nan.", "Give the claimed epsilon as a finite number.")
