"""The cases of sequences: SAGeo and SALap with c alarms and every kind of κ, and sparse vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

from safeside.audit.case import PEOPLE, Case, case
from safeside.audit.procedures import Sparse
from safeside.audit.transcripts import Verdict, audit_procedure
from safeside.audit.worlds import DAY, INSTANT, REGION, TWO_WINDOWS, Question, World, counts_of
from safeside.mechanisms.paper_salap import PaperSALap
from safeside.mechanisms.sageo import SAGeo
from safeside.mechanisms.salap import SALap
from safeside.mechanisms.sequences import Reply
from safeside.mechanisms.sparse import SparseQueries
from safeside.mechanisms.sparse_vector import SparseVector
from safeside.privacy.guarantee import Neighbours

_TWO_OF_THREE: Final = World(places=("A", "B", "C"), most=2)
_TWO_PLACES: Final = World(places=("A", "B"))
_DAY_REGION: Final = World(places=("A", "B", "C"), regions=(("AB", ("A", "B")),))


def _run_of(mechanism: SparseQueries, at_most: int) -> Callable[[tuple[int, ...]], dict[Any, Any]]:
    horizon = max(PEOPLE, at_most + 1)
    return lambda counts: dict(mechanism.distribution(counts, at_most, horizon))


def _sparse(
    kind: type[SAGeo] | type[PaperSALap],
    alarms: int,
    world: World,
    setting: str,
    at_most: int = 0,
    questions: Sequence[Question] | None = None,
) -> Case:
    asked = world.questions if questions is None else questions
    max_conditions = world.max_conditions(asked)
    mechanism = kind(epsilon_each=1, alarms=alarms, max_conditions=max_conditions)
    return case(
        mechanism.name,
        f"c = {alarms}, κ = {max_conditions}; {setting}, t = {at_most}",
        _run_of(mechanism, at_most),
        mechanism.guarantee,
        counts_of(asked),
        world.asymmetric,
        world.universe,
    )


def sparse() -> Iterator[Case]:
    """Sequences that stop after c alarms, priced by what one person can cause."""
    for alarms in (1, 2, 3):
        yield _sparse(SAGeo, alarms, INSTANT, "3 places at one instant")
        yield _sparse(SAGeo, alarms, _TWO_OF_THREE, "2 of 3 places each")
        yield _sparse(SAGeo, alarms, DAY, "3 places in a day")
        yield _sparse(SAGeo, alarms, REGION, "3 places and a region at one instant")
        yield _sparse(SAGeo, alarms, _DAY_REGION, "3 places and a region in a day")
        yield _sparse(SAGeo, alarms, TWO_WINDOWS, "3 places and a region in 2 windows")
    yield _sparse(SAGeo, 2, DAY, "3 places in a day", at_most=1)
    repeated = INSTANT.place_questions * 2
    yield _sparse(SAGeo, 3, INSTANT, "3 places at one instant, each asked twice", questions=repeated)
    yield _by_alarms_alone()
    yield _sparse(PaperSALap, 1, DAY, "Algorithm 1 as printed", at_most=1)
    yield _adaptive()
    yield _by_the_book()
    for alarms, world in ((1, INSTANT), (2, _TWO_OF_THREE), (3, DAY)):
        max_conditions = world.max_conditions(world.questions)
        salap = SALap(epsilon_each=1, alarms=alarms, max_conditions=max_conditions, grid="1/2")
        yield case(
            "salap",
            f"c = {alarms}, κ = {max_conditions}; 3 places, grid 1/2, t = 0",
            _run_of(salap, 0),
            salap.guarantee,
            counts_of(world.questions),
            world.asymmetric,
            world.universe,
        )


def _by_alarms_alone() -> Case:
    """Nobody knows how many places one person can be at: priced by the alarms."""
    mechanism = SAGeo(epsilon_each=1, alarms=2)
    return case(
        "sageo",
        "c = 2, κ unknown; 3 places in a day, t = 0",
        _run_of(mechanism, 0),
        mechanism.guarantee,
        counts_of(DAY.place_questions),
        DAY.asymmetric,
        DAY.universe,
    )


def _region_first(said: Sequence[Reply]) -> int | None:
    """Ask the region; go into its places only after an alarm there; then the third place."""
    asked = [one.query for one in said]
    wanted = [0, 3] if not said or said[0].alarm is None else [0, 2, 1, 3]
    return next((query for query in wanted if query not in asked), None)


def _adaptive() -> Case:
    max_conditions = _DAY_REGION.max_conditions(_DAY_REGION.questions)
    mechanism = SAGeo(epsilon_each=1, alarms=2, max_conditions=max_conditions)
    return case(
        "sageo",
        f"c = 2, κ = {max_conditions}; a region, its places only after an alarm, t = 0",
        lambda counts: dict(mechanism.distribution(counts, 0, PEOPLE, order=_region_first)),
        mechanism.guarantee,
        counts_of(_DAY_REGION.questions),
        _DAY_REGION.asymmetric,
        _DAY_REGION.universe,
    )


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
    often, last = _TWO_PLACES.place_questions
    for alarms in (1, 2):
        svt = SparseVector(epsilon=1, alarms=alarms)
        yield case(
            "svt",
            f"c = {alarms}; 2 places, one asked 4 times and then the other {alarms}, replacement",
            _svt_run(svt),
            svt.guarantee,
            counts_of([often] * 4 + [last] * alarms),
            _TWO_PLACES.ordinary,
            _TWO_PLACES.universe,
            people=1,
            tight=False,
        )
    moved = SparseVector(epsilon=1, alarms=1, same_direction=True, neighbours=Neighbours.ADD_REMOVE)
    yield case(
        "svt",
        "c = 1; 3 places in a day, add or remove, all counts move one way",
        _svt_run(moved),
        moved.guarantee,
        counts_of(DAY.place_questions),
        DAY.add_remove,
        DAY.universe,
        people=1,
        tight=False,
    )


def _svt_run(svt: SparseVector) -> Callable[[tuple[int, ...]], dict[Any, Any]]:
    return lambda counts: dict(svt.distribution(counts, 0))
