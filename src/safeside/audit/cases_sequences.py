"""The cases of sequences: SAGeo and SALap with c alarms and every kind of κ, and sparse vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Final

from safeside.audit.case import PEOPLE, Case, case
from safeside.audit.procedures import Sparse
from safeside.audit.transcripts import Verdict, audit_procedure
from safeside.audit.worlds import (
    DAY,
    INSTANT,
    PAIR,
    REGION,
    TWO_OF_THREE,
    TWO_WINDOWS,
    Question,
    Within,
    World,
    counts_of,
)
from safeside.mechanisms.paper_salap import PaperSALap
from safeside.mechanisms.sageo import SAGeo
from safeside.mechanisms.salap import SALap
from safeside.mechanisms.sequences import Order, Reply
from safeside.mechanisms.sparse import SparseQueries
from safeside.mechanisms.sparse_vector import SparseVector
from safeside.privacy.guarantee import Neighbours

_DAY_REGION: Final = World(places=("A", "B", "C"), regions=(("AB", ("A", "B")),))


def _sparse(
    kind: Callable[..., SparseQueries],
    alarms: int,
    world: World,
    setting: str,
    *,
    at_most: int = 0,
    questions: Sequence[Question] | None = None,
    order: Order | None = None,
    by_alarms_alone: bool = False,
) -> Case:
    """Priced by κ of the questions, or where nobody knows it by the alarms alone."""
    asked = world.questions if questions is None else questions
    most = None if by_alarms_alone else world.max_conditions(asked)
    mechanism = kind(epsilon_each=1, alarms=alarms, max_conditions=most)
    horizon = max(PEOPLE, at_most + 1)
    return case(
        mechanism,
        f"c = {alarms}, κ {'unknown' if most is None else f'= {most}'}; {setting}, t = {at_most}",
        counts_of(asked),
        world.asymmetric,
        answer=lambda counts: mechanism.distribution(counts, at_most, horizon, order=order),
    )


def sparse() -> Iterator[Case]:
    """Sequences that stop after c alarms, priced by what one person can cause."""
    for alarms in (1, 2, 3):
        yield _sparse(SAGeo, alarms, INSTANT, "3 places at one instant")
        yield _sparse(SAGeo, alarms, TWO_OF_THREE, "2 of 3 places each")
        yield _sparse(SAGeo, alarms, DAY, "3 places in a day")
        yield _sparse(SAGeo, alarms, REGION, "3 places and a region at one instant")
        yield _sparse(SAGeo, alarms, _DAY_REGION, "3 places and a region in a day")
        yield _sparse(SAGeo, alarms, TWO_WINDOWS, "3 places and a region in 2 windows")
    yield _sparse(SAGeo, 2, DAY, "3 places in a day", at_most=1)
    repeated = INSTANT.place_questions * 2
    yield _sparse(SAGeo, 3, INSTANT, "3 places at one instant, each asked twice", questions=repeated)
    yield _sparse(SAGeo, 2, DAY, "3 places in a day", by_alarms_alone=True)
    yield _sparse(PaperSALap, 1, DAY, "Algorithm 1 as printed", at_most=1)
    yield _sparse(SAGeo, 2, _DAY_REGION, "a region, its places only after an alarm", order=_region_first)
    yield _by_the_book()
    for alarms, world in ((1, INSTANT), (2, TWO_OF_THREE), (3, DAY)):
        yield _sparse(partial(SALap, grid="1/2"), alarms, world, "3 places, grid 1/2")


def _region_first(said: Sequence[Reply]) -> int | None:
    """Ask the region; go into its places only after an alarm there; then the third place."""
    asked = [one.query for one in said]
    wanted = [0, 3] if not said or said[0].alarm is None else [0, 2, 1, 3]
    return next((query for query in wanted if query not in asked), None)


def _by_the_book() -> Case:
    """The same procedure as a program, so that what ⊥ says is checked too."""
    world = TWO_WINDOWS
    procedure = Sparse(questions=world.questions, epsilon_each=Fraction(1), alarms=2, at_most=1)

    def run() -> Verdict:
        return audit_procedure(procedure.procedure("sageo", world), world.asymmetric, world.universe, PEOPLE)

    max_conditions = world.max_conditions(world.questions)
    setting = (
        f"eps = 2; c = 2, κ = {max_conditions}; every transcript of a program, statements checked, t = 1"
    )
    return Case(name="sageo", setting=setting, tight=True, run=run)


def vector() -> Iterator[Case]:
    """The sparse vector technique, in the variant that is private; its bound is not attained."""
    # Someone moves from a place that is asked often to one that is asked last: with less noise than the
    # variant has, for want of a factor 2 or of the number of alarms, that needs more than epsilon.
    often, last = PAIR.place_questions
    for alarms in (1, 2):
        setting = f"2 places, one asked 4 times and then the other {alarms}, replacement"
        questions = [often] * 4 + [last] * alarms
        yield _vector(SparseVector(epsilon=1, alarms=alarms), setting, questions, PAIR.ordinary)
    one_way = SparseVector(epsilon=1, same_direction=True, neighbours=Neighbours.ADD_REMOVE)
    setting = "3 places in a day, add or remove, all counts move one way"
    yield _vector(one_way, setting, DAY.place_questions, DAY.add_remove)


def _vector(svt: SparseVector, setting: str, questions: Sequence[Question], neighbours: Within) -> Case:
    return case(
        svt,
        f"c = {svt.alarms}; {setting}",
        counts_of(questions),
        neighbours,
        answer=lambda counts: svt.distribution(counts, 0),
        people=1,
        tight=False,
    )
