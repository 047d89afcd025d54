"""Selection with one thing spoilt: levels that leak, sums that miss a part, sets and forecasts of others."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from safeside import exact
from safeside.audit.cases_selection import (
    COMPONENTS,
    FAIL,
    LADDER,
    ONE,
    block_test,
    charged_once,
    claim_of,
)
from safeside.audit.transcripts import (
    Draw,
    Procedure,
    Program,
    Statement,
    Transcript,
    announce,
    audit_procedure,
    publish,
)
from safeside.audit.worlds import DAY, PAIR, World, counts_of
from safeside.exact import Ball
from safeside.mechanisms.ageo import AGeo
from safeside.mechanisms.ladder import Claim, Component, Ladder
from safeside_studies.planted.mechanisms import Caught, named
from safeside_studies.planted.procedures import caught

_PEOPLE: Final = 2
_QUESTIONS: Final = DAY.place_questions
_ZEROS: Final = (0, 0, 0)


def _run(program: Program, charge: Any = None, view: Any = None, world: World = DAY) -> Caught:
    procedure = Procedure(
        name="spoilt",
        program=program,
        claimed_epsilon=ONE,
        view=counts_of(world.place_questions) if view is None else view,
        charge=charge,
    )
    return caught(audit_procedure(procedure, world.asymmetric, world.universe, _PEOPLE))


def level_shown_after_a_test() -> Caught:
    """Each test that passes shows how near it was, and still counts as free."""
    noise = AGeo(epsilon=ONE)

    def program(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        for count in counts:
            z = yield publish(noise.distribution(count, _PEOPLE))
            if not isinstance(z, int) or z > 1:
                return

    return _run(program)


def component_left_out_of_the_sum() -> Caught:
    """A component that would have to leave out something busy is dropped before the draw."""

    def program(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        useful = tuple(
            one
            for one in COMPONENTS
            if not any(s and count > 1 for s, count in zip(one.exponents(3), counts, strict=True))
        )
        if not useful:
            yield announce("nothing")
            return
        yield _claim(Ladder(epsilon=ONE, components=useful, bottom=3).distribution(counts, np.array(_ZEROS)))

    return _run(program)


def _claim(spread: Mapping[Claim, Ball]) -> Draw:
    """A claim in public, by what it says: the level and the places."""
    told: dict[tuple[int, frozenset[int]], Ball] = {}
    for (_, level, ranks), share in spread.items():
        told[level, ranks] = told[level, ranks] + share if (level, ranks) in told else share
    return publish(told)


def levels_without_their_base() -> Caught:
    """The lowest level has the weight of an ordinary one, so that nothing holds the sum up."""

    class Cut(Ladder):
        def _rungs(self, levels: Sequence[int]) -> list[Ball]:
            rungs = super()._rungs(levels)
            return [rungs[0] * (1 - exact.exp(-exact.fraction(self.epsilon))), *rungs[1:]]

    cut = Cut(epsilon=ONE, components=(Component(cuts=(3,) * 8),), bottom=1)

    def program(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        yield publish(cut.distribution(counts, np.array(_ZEROS)))

    return _run(program)


def ladder_refunded() -> Caught:
    """What a ladder cost is given back where its level certifies nothing."""

    def program(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        yield claim_of(LADDER, PAIR.place_questions, (0, 0), counts)

    def charge(transcript: Transcript) -> Fraction:
        _, level, _ = transcript[0]
        return ONE if level >= 1 else Fraction(0)

    return _run(program, charge, world=PAIR)


def block_said_of_its_distinct_people() -> Caught:
    """A block passes by its largest count, and is said to hold at most t different people."""
    together = Statement(
        "at most 1 person at A, B and C together",
        lambda dataset: sum(bool(record) for record in dataset) <= 1,
    )

    def program(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        yield block_test(_QUESTIONS, (1, 1, 1), counts, says=together)

    return _run(program)


def sets_from_the_day_before() -> Caught:
    """Which places are quiet enough for a level is taken from older counts: the first person's alone."""
    before = counts_of(PAIR.place_questions)

    def program(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        yield claim_of(LADDER, PAIR.place_questions, (0, 0), counts)

    return _run(program, view=lambda dataset: before(dataset[:1]), world=PAIR)


def forecast_from_the_data() -> Caught:
    """The busiest place is ranked last by its true count."""
    one = Ladder(epsilon=ONE, components=(Component(cuts=(3, 2, 1)),), bottom=2)

    def program(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        order = sorted(range(3), key=lambda place: counts[place])
        spread = one.distribution([counts[i] for i in order], np.array(_ZEROS))
        placed = {(h, j, frozenset(order[rank] for rank in ranks)): p for (h, j, ranks), p in spread.items()}
        yield publish(placed)

    return _run(program)


def block_tested_again_after_a_failure() -> Caught:
    """A block that failed is tested once more for nothing."""

    def program(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        for _ in range(2):
            answer = yield block_test(_QUESTIONS, (1, 1, 1), counts)
            if answer != FAIL:
                return

    return _run(program, charged_once)


SELECTION: Final = named(
    level_shown_after_a_test,
    component_left_out_of_the_sum,
    levels_without_their_base,
    ladder_refunded,
    block_said_of_its_distinct_people,
    sets_from_the_day_before,
    forecast_from_the_data,
    block_tested_again_after_a_failure,
)
