"""The cases of selection: tests of blocks, the ladder, both together, and sequences of them.

Every one is priced at one epsilon however many places a person may visit: the worlds go from one place each
to all of them, with thresholds that differ.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from safeside.audit.case import PEOPLE, Case, case
from safeside.audit.transcripts import (
    Draw,
    Procedure,
    Statement,
    Transcript,
    Verdict,
    audit_procedure,
    publish,
)
from safeside.audit.worlds import DAY, INSTANT, Question, World, counts_of
from safeside.mechanisms.block_test import BlockTest
from safeside.mechanisms.ladder import MOST_EXPONENT, Claim, Component, Ladder
from safeside.mechanisms.selection import Selection
from safeside.mechanisms.selection_plan import SelectionPlan

ONE: Final = Fraction(1)
TWO_OF_THREE: Final = World(places=("A", "B", "C"), most=2)
PAIR: Final = World(places=("A", "B"))
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
            yield _case("block-test", text, BlockTest(epsilon=1), world, limits, tight=True)
            yield _case("ladder", text, LADDER, world, limits)
    low = Ladder(epsilon=1, components=COMPONENTS, bottom=1, top=1)
    yield _case("ladder", "3 places in a day, levels -1 to 1, t = 1", low, DAY, (1, 1, 1))
    deep = Ladder(epsilon=1, components=COMPONENTS, bottom=64)
    yield _case("ladder", "2 places in a day, levels -64 to 2, t = 1", deep, PAIR, (1, 1))
    # Hardly anything is left out at random here, so that next to nothing less than epsilon would do.
    whole = Ladder(epsilon=1, components=(Component(cuts=(3,) * MOST_EXPONENT),), bottom=2)
    yield _case("ladder", "3 places in a day, all or nothing, t = 0", whole, DAY, (0, 0, 0), tight=True)
    for blocks in ((1,), (1, 2)):
        plan = SelectionPlan(order=np.arange(3), blocks=blocks, components=COMPONENTS[1:])
        both = Selection(epsilon=1, plan=plan, bottom=3)
        text = f"3 places in a day, {len(blocks)} tested first, t = 0, 1, 1"
        yield _case("selection", text, both, DAY, (0, 1, 1), tight=True)
    yield _tests_in_turn()
    yield _next_forecast_from_outputs()


def _shown(limits: Sequence[int]) -> str:
    return str(limits[0]) if len(set(limits)) == 1 else ", ".join(map(str, limits))


def _case(
    name: str,
    setting: str,
    mechanism: BlockTest | Ladder | Selection,
    world: World,
    limits: Sequence[int],
    *,
    tight: bool = False,
) -> Case:
    def answer(counts: Sequence[int]) -> dict[Any, Any]:
        return {**mechanism.distribution(counts, np.array(limits))}

    return case(
        name,
        setting,
        answer,
        mechanism.guarantee,
        counts_of(world.place_questions),
        world.asymmetric,
        world.universe,
        tight=tight,
    )


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


def _run(
    name: str, program: Callable[[Any], Generator[Draw, Any, None]], claimed: Fraction, world: World
) -> Verdict:
    procedure = Procedure(
        name=name,
        program=program,
        claimed_epsilon=claimed,
        view=counts_of(world.place_questions),
        charge=charged_once if claimed == ONE else None,
    )
    return audit_procedure(procedure, world.asymmetric, world.universe, PEOPLE)


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

    return Case(
        name="selection",
        setting="eps = 1; tests in turn and a ladder, each transcript, statements and charge checked, t = 1",
        tight=False,
        run=lambda: _run("selection", program, ONE, DAY),
    )


def _next_forecast_from_outputs() -> Case:
    """Two days; what the first certified decides in which order the second is asked."""
    questions = PAIR.place_questions
    ladder = Ladder(epsilon=ONE, components=(Component(cuts=(2, 1)),), bottom=2)

    def program(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        first: Claim = yield claim_of(ladder, questions, (0, 0), counts)
        order = [1, 0] if first[1] >= 1 and 1 in first[2] else [0, 1]
        yield claim_of(ladder, [questions[i] for i in order], (0, 0), [counts[i] for i in order])

    return Case(
        name="selection",
        setting="eps = 2; two ladders, the first one's claim orders the second, t = 0",
        tight=False,
        run=lambda: _run("two ladders", program, 2 * ONE, PAIR),
    )
