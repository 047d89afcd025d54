"""The cases of selection: tests of blocks, the ladder, both together, and sequences of them.

Every one is priced at one epsilon however many places a person may visit: the worlds go from one place each
to all of them, with thresholds that differ.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from safeside.audit.case import PEOPLE, Case, case
from safeside.audit.transcripts import (
    Draw,
    Procedure,
    Program,
    Statement,
    Transcript,
    audit_procedure,
    publish,
)
from safeside.audit.worlds import DAY, INSTANT, PAIR, TWO_OF_THREE, Question, World
from safeside.mechanisms.block_test import BlockTest
from safeside.mechanisms.ladder import MOST_EXPONENT, Claim, Component, Ladder
from safeside.mechanisms.selection import Selection
from safeside.mechanisms.selection_plan import SelectionPlan

ONE: Final = Fraction(1)
WORLDS: Final = (
    (INSTANT, "1 of 3 places each"),
    (TWO_OF_THREE, "2 of 3 places each"),
    (DAY, "3 places in a day"),
)
COMPONENTS: Final = (
    Component(cuts=(3, 2, 1)),
    Component(cuts=(2, 2), halvings=1),
    Component(cuts=(1,), halvings=3),
)
"""Exponents 3, 2, 1; 2, 2, 0; and 1, 0, 0: something is never included, something seldom left out."""
LADDER: Final = Ladder(epsilon=1, components=COMPONENTS, bottom=3)
PASS, FAIL = "pass", "fail"


def selection() -> Iterator[Case]:
    """One epsilon whatever the number of places one person may visit."""
    for world, setting in WORLDS:
        for limits in ((0, 0, 0), (0, 1, 1)):
            text = f"{setting}, t = {_shown(limits)}"
            yield _case(BlockTest(epsilon=1), text, world, limits, tight=True)
            yield _case(LADDER, text, world, limits)
    low = Ladder(epsilon=1, components=COMPONENTS, bottom=1, top=1)
    yield _case(low, "3 places in a day, levels -1 to 1, t = 1", DAY, (1, 1, 1))
    deep = Ladder(epsilon=1, components=COMPONENTS, bottom=64)
    yield _case(deep, "2 places in a day, levels -64 to 2, t = 1", PAIR, (1, 1))
    # Hardly anything is left out at random here, so that next to nothing less than epsilon would do.
    whole = Ladder(epsilon=1, components=(Component(cuts=(3,) * MOST_EXPONENT),), bottom=2)
    yield _case(whole, "3 places in a day, all or nothing, t = 0", DAY, (0, 0, 0), tight=True)
    for blocks in ((1,), (1, 2)):
        plan = SelectionPlan(order=np.arange(3), blocks=blocks, components=COMPONENTS[1:])
        both = Selection(epsilon=1, plan=plan, bottom=3)
        text = f"3 places in a day, {len(blocks)} tested first, t = 0, 1, 1"
        yield _case(both, text, DAY, (0, 1, 1), tight=True)
    yield _tests_in_turn()
    yield _next_forecast_from_outputs()


def _shown(limits: Sequence[int]) -> str:
    return str(limits[0]) if len(set(limits)) == 1 else ", ".join(map(str, limits))


def _case(
    mechanism: BlockTest | Ladder | Selection,
    setting: str,
    world: World,
    limits: Sequence[int],
    *,
    tight: bool = False,
) -> Case:
    def answer(counts: Sequence[int]) -> Mapping[Any, Any]:
        return mechanism.distribution(counts, np.array(limits))

    return case(mechanism, setting, world.counts, world.asymmetric, answer=answer, tight=tight)


def says_each(questions: Sequence[Question], limits: Sequence[int]) -> Statement:
    """What a claim says of the dataset."""
    text = ", ".join(f"at most {t} at {one.name}" for one, t in zip(questions, limits, strict=True))
    return Statement(
        text or "nothing",
        lambda dataset: all(one.count(dataset) <= t for one, t in zip(questions, limits, strict=True)),
    )


def block_test(
    block: Sequence[Question], limits: Sequence[int], counts: Sequence[int], says: Statement | None = None
) -> Draw:
    """A block tested in public; a pass says that each of its places is at most its threshold."""
    both = BlockTest(epsilon=ONE).distribution(counts, np.array(limits))
    statement = says_each(block, limits) if says is None else says
    return publish({PASS: both[True], FAIL: both[False]}, says={PASS: statement})


def claim_of(
    ladder: Ladder, questions: Sequence[Question], limits: Sequence[int], counts: Sequence[int]
) -> Draw:
    """A ladder's claim in public, with what it says of the dataset."""
    spread = ladder.distribution(counts, np.array(limits))
    return publish(spread, says={claim: said_by(ladder, claim, questions, limits) for claim in spread})


def said_by(ladder: Ladder, claim: Claim, questions: Sequence[Question], limits: Sequence[int]) -> Statement:
    """Each of the set is at most t + 1 - level; nothing at the lowest level."""
    _, level, ranks = claim
    told = sorted(ranks) if level > -ladder.bottom else []
    return says_each([questions[rank] for rank in told], [limits[rank] + 1 - level for rank in told])


def charged_once(transcript: Transcript) -> Fraction:
    """Passes are free; a failure, or a ladder, costs epsilon."""
    return ONE if any(one != PASS for one in transcript) else Fraction(0)


def _procedure(setting: str, program: Program, epsilon: Fraction, world: World) -> Case:
    """A program of tests and ladders; where it costs one epsilon, what it books is checked as well."""
    procedure = Procedure(
        name="selection",
        program=program,
        claimed_epsilon=epsilon,
        view=world.counts,
        charge=charged_once if epsilon == ONE else None,
    )
    return Case(
        name="selection",
        setting=f"eps = {epsilon}; {setting}",
        tight=False,
        run=lambda: audit_procedure(procedure, world.asymmetric, world.universe, PEOPLE),
    )


def _tests_in_turn() -> Case:
    """Each place tested in turn until one fails, then nothing; a ladder on the last where none did."""
    questions = DAY.place_questions

    def program(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        for place in range(2):
            answer = yield block_test(questions[place : place + 1], (1,), counts[place : place + 1])
            if answer == FAIL:
                return
        one = Ladder(epsilon=ONE, components=(Component(cuts=(1,)),), bottom=2)
        yield claim_of(one, questions[2:], (1,), counts[2:])

    setting = "tests in turn and a ladder, each transcript, statements and charge checked, t = 1"
    return _procedure(setting, program, ONE, DAY)


def _next_forecast_from_outputs() -> Case:
    """Two days; what the first certified decides in which order the second is asked."""
    questions = PAIR.place_questions
    ladder = Ladder(epsilon=ONE, components=(Component(cuts=(2, 1)),), bottom=2)

    def program(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        first: Claim = yield claim_of(ladder, questions, (0, 0), counts)
        order = [1, 0] if first[1] >= 1 and 1 in first[2] else [0, 1]
        yield claim_of(ladder, [questions[i] for i in order], (0, 0), [counts[i] for i in order])

    setting = "two ladders, the first one's claim orders the second, t = 0"
    return _procedure(setting, program, 2 * ONE, PAIR)
