"""The transcript audit: programs run through every outcome."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from fractions import Fraction
from typing import Any

import pytest

from safeside import exact
from safeside.audit.procedures import AT_MOST, Sparse
from safeside.audit.transcripts import (
    Draw,
    Procedure,
    Statement,
    Transcript,
    announce,
    audit_procedure,
    hide,
    publish,
    transcripts,
)
from safeside.audit.worlds import DAY, INSTANT, REGION, TWO_WINDOWS, World, counts_of
from safeside.mechanisms.sageo import SAGeo
from safeside.mechanisms.sequences import Reply
from safeside.mechanisms.sparse_vector import SparseVector
from safeside_studies.planted import broken_svt

ONE = Fraction(1)
HALF = Fraction(1, 2)


def total(probabilities: Any) -> float:
    return float(exact.evaluate(lambda: sum(probabilities.values(), start=exact.ball(0))))


def test_what_is_hidden_is_added_up_and_what_is_shown_is_kept() -> None:
    def program(view: object) -> Generator[Draw, Any, None]:
        first = yield hide({0: HALF, 1: HALF})
        second = yield publish({"a": HALF, "b": HALF})
        yield announce(first if second == "a" else "nothing")

    run = transcripts(program, None)
    shown = {transcript: float(p) for transcript, p in run.probabilities.items()}
    assert shown == {("a", 0): 0.25, ("a", 1): 0.25, ("b", "nothing"): 0.5}
    assert float(run.unlisted) == 0.0


def test_a_program_that_says_nothing_has_one_empty_transcript() -> None:
    def silent(view: object) -> Generator[Draw, Any, None]:
        yield from ()

    assert list(transcripts(silent, None).probabilities) == [()]


def test_what_is_not_listed_widens_every_probability() -> None:
    def program(view: int) -> Generator[Draw, Any, None]:
        drawn = yield hide({0: Fraction(9, 10)}, beyond=Fraction(1, 10))
        yield announce(drawn)

    procedure = Procedure(
        name="half seen", program=program, claimed_epsilon=0, view=lambda data: "A" in data[0]
    )
    verdict = audit_procedure(procedure, INSTANT.asymmetric, INSTANT.universe, 1)
    assert verdict.finding.epsilon_low == 0.0
    assert verdict.finding.epsilon_high == pytest.approx(math.log(10 / 9))
    assert not verdict.holds
    assert not verdict.broken


def test_a_statement_is_checked_on_every_dataset_on_which_it_can_be_made() -> None:
    def says_nobody(view: object) -> Generator[Draw, Any, None]:
        nobody = Statement("nobody was at A", lambda data: not any("A" in record for record in data))
        yield publish({"quiet": Fraction(1, 1000), "loud": Fraction(999, 1000)}, says={"quiet": nobody})

    procedure = Procedure(name="rash", program=says_nobody, claimed_epsilon=1, view=len)
    verdict = audit_procedure(procedure, INSTANT.asymmetric, INSTANT.universe, 1)
    assert verdict.finding.holds
    assert verdict.false_statement is not None
    assert "'nobody was at A' of ({A})" in verdict.false_statement
    assert verdict.broken
    assert verdict.sentence() == verdict.false_statement


def test_an_honest_charge_passes_and_must_stay_within_the_total() -> None:
    sparse = Sparse(questions=DAY.place_questions, epsilon_each=ONE, alarms=2)

    def heard(transcript: Transcript) -> Fraction:
        return ONE * len(sparse.alarmed(transcript))

    honest = Procedure(
        name="refund",
        program=sparse.program,
        claimed_epsilon=2,
        view=counts_of(sparse.questions),
        charge=heard,
    )
    verdict = audit_procedure(honest, DAY.asymmetric, DAY.universe, 2)
    assert verdict.holds
    assert verdict.sentence() == "keeps what it claims"
    greedy = Procedure(
        name="more than reserved",
        program=sparse.program,
        claimed_epsilon=2,
        view=counts_of(sparse.questions),
        charge=lambda transcript: heard(transcript) + 1,
    )
    assert "books 3 of 2 reserved" in (
        audit_procedure(greedy, DAY.asymmetric, DAY.universe, 2).undercharged or ""
    )


def test_the_refund_by_the_max_conditions_of_the_alarmed_questions_is_enough() -> None:
    """A transcript reveals at most e0 times the κ of the questions that raised an alarm."""
    sparse = Sparse(questions=REGION.questions, epsilon_each=ONE, alarms=3)

    def charge(transcript: Transcript) -> Fraction:
        return ONE * REGION.max_conditions(sparse.alarmed(transcript))

    procedure = Procedure(
        name="refund by max_conditions",
        program=sparse.program,
        claimed_epsilon=sparse.price(REGION),
        view=counts_of(sparse.questions),
        charge=charge,
    )
    assert audit_procedure(procedure, REGION.asymmetric, REGION.universe, 2).holds


@pytest.mark.parametrize("world", [INSTANT, DAY, REGION, TWO_WINDOWS])
@pytest.mark.parametrize("alarms", [1, 2])
def test_sparse_answers_by_the_book_hold_and_are_tight(world: World, alarms: int) -> None:
    sparse = Sparse(questions=world.questions, epsilon_each=HALF, alarms=alarms)
    verdict = audit_procedure(sparse.procedure("sageo", world), world.asymmetric, world.universe, 2)
    assert verdict.holds
    assert verdict.finding.tight


@pytest.mark.parametrize("at_most", [0, 1])
def test_the_program_and_the_mechanism_that_is_shipped_agree_transcript_by_transcript(at_most: int) -> None:
    counts = (0, 2, 1, 1)
    book = Sparse(questions=REGION.questions, epsilon_each=ONE, alarms=2, at_most=at_most)
    by_program = transcripts(book.program, counts).probabilities
    shipped = SAGeo(epsilon_each=1, alarms=2).distribution(counts, at_most, 2)
    named = {tuple(_written(said) for said in transcript): p for transcript, p in shipped.items()}
    assert set(named) == set(by_program)
    assert all(abs(float(named[one] - by_program[one])) < 1e-15 for one in named)
    assert total(named) == pytest.approx(1.0)


def _written(said: Reply) -> str:
    return AT_MOST if said.alarm is None else str(said.alarm)


def test_an_order_that_follows_from_outputs_costs_nothing_more() -> None:
    world = World(places=("A", "B", "C"), regions=(("AB", ("A", "B")),))
    sparse = Sparse(questions=world.questions, epsilon_each=ONE, alarms=2)

    def region_first(seen: Sequence[Any]) -> int | None:
        if not seen:
            return 0
        wanted = [3] if seen[1] == AT_MOST else [1, 2, 3]
        return next((place for place in wanted if world.questions[place].name not in seen[0::2]), None)

    def program(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        """Each question is named before it is answered."""
        seen: list[Any] = []
        while sum(answer != AT_MOST for answer in seen[1::2]) < sparse.alarms:
            place = region_first(seen)
            if place is None:
                return
            name = yield announce(sparse.questions[place].name)
            answer = yield sparse.draws[place][counts[place]]
            seen += [name, answer]

    procedure = Procedure(
        name="adaptive",
        program=program,
        claimed_epsilon=2,
        view=counts_of(sparse.questions),
    )
    verdict = audit_procedure(procedure, world.asymmetric, world.universe, 2)
    assert verdict.holds
    assert verdict.finding.tight


def test_the_sparse_vector_technique_that_is_shipped_agrees_with_a_program_of_it() -> None:
    """The same variant written as a hidden draw and fresh noise: Lyu, Su and Li's first algorithm."""
    shipped = SparseVector(epsilon=1, alarms=1)
    variant = broken_svt.Variant(
        name="private",
        source="",
        asked="AB",
        threshold_rate=shipped.threshold_law.rate,
        query_rate=shipped.query_law.rate,
        stop_after=1,
    )
    run = transcripts(variant.program, (0, 1))
    exact_ones = shipped.distribution((0, 1), 0)
    for transcript, probability in exact_ones.items():
        seen = tuple(broken_svt.BELOW if said.alarm is None else broken_svt.ABOVE for said in transcript)
        assert float(run.probabilities[seen]) == pytest.approx(float(probability), abs=1e-12)
    verdict = audit_procedure(variant.procedure(ONE), INSTANT.ordinary, INSTANT.universe, 1)
    assert verdict.holds


def test_the_broken_variants_differ_from_the_private_one_in_what_they_are_named_for() -> None:
    """With the scale that stopping needs, the same questions no longer break the claim."""
    fixed = broken_svt.Variant(
        name="repaired",
        source="",
        asked="AABB",
        threshold_rate=Fraction(1, 4),
        query_rate=Fraction(3, 4) / (2 * 2),
        stop_after=2,
    )
    assert audit_procedure(fixed.procedure(ONE), INSTANT.ordinary, INSTANT.universe, 1).holds
