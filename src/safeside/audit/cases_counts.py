"""The cases of mechanisms that answer once: additive, local, and the two for ordinary (eps, delta)-DP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any, Final

from safeside.audit.case import PEOPLE, Case, case
from safeside.audit.channel import Independent
from safeside.audit.exact import Relation
from safeside.audit.worlds import DAY, INSTANT, REGION, Dataset, World, counts_of
from safeside.exact import Ball
from safeside.mechanisms.ageo import AGeo
from safeside.mechanisms.alap import ALap
from safeside.mechanisms.geometric import TwoSidedGeometric
from safeside.mechanisms.laplace import Laplace
from safeside.mechanisms.mangat import Mangat
from safeside.mechanisms.optimal_decision import OptimalDecision
from safeside.mechanisms.paddedgeo import PaddedGeo
from safeside.mechanisms.utility_optimised import UtilityOptimised
from safeside.mechanisms.warner import Warner
from safeside.privacy.account import Cost, Kind, standing
from safeside.privacy.guarantee import Direction, Guarantee, Neighbours
from safeside.privacy.records import Universe
from safeside.privacy.relations import ADP, DP

_ONE_PLACE: Final = World(places=("A",))
_TWO_PLACES: Final = World(places=("A", "B"))
_ONE_OF_TWO: Final = World(places=("A", "B"), most=1)


def _places(world: World) -> Callable[[Dataset], tuple[int, ...]]:
    return counts_of(world.place_questions)


def _one_place(dataset: Dataset) -> int:
    return sum("A" in record for record in dataset)


def _at_neither(dataset: Dataset) -> int:
    return sum(not record & {"A", "B"} for record in dataset)


def _at_a_not_b(dataset: Dataset) -> int:
    return sum("A" in record and "B" not in record for record in dataset)


def _hours(dataset: Dataset) -> Fraction:
    """A query that is not on the grid: a third of an hour at each place visited."""
    return sum((Fraction(len(record), 3) for record in dataset), Fraction(0))


def _hours_at_each(dataset: Dataset) -> tuple[Fraction, ...]:
    """The same for each place by itself: three thirds move by one in all, and by three steps when rounded."""
    return tuple(Fraction(count, 3) for count in _places(DAY)(dataset))


def additive() -> Iterator[Case]:
    """Counts plus noise, one-sided and two-sided."""
    settings: list[tuple[str, AGeo, World, Callable[[Any], Any]]] = [
        ("3 places at one instant", AGeo(epsilon=1), INSTANT, _places(INSTANT)),
        ("3 places at one instant", AGeo(epsilon="0.1"), INSTANT, _places(INSTANT)),
        ("3 places in a day, sensitivity 3", AGeo(epsilon=1, sensitivity=3), DAY, _places(DAY)),
        (
            "3 places and a region, sensitivity 2",
            AGeo(epsilon=1, sensitivity=2),
            REGION,
            counts_of(REGION.questions),
        ),
        (
            "people at neither of two places (increasing)",
            AGeo(epsilon=1, direction=Direction.INCREASING),
            DAY,
            _at_neither,
        ),
        ("at A, not at B (neither)", AGeo(epsilon=1, direction=Direction.NEITHER), DAY, _at_a_not_b),
    ]
    for setting, ageo, world, query in settings:
        yield case("ageo", setting, ageo, ageo.guarantee, query, world.asymmetric, world.universe)
    grids: list[tuple[str, ALap, World, Callable[[Any], Any]]] = [
        ("counts, grid 1/4", ALap(epsilon=1, grid="1/4", multiple_of=1), INSTANT, _places(INSTANT)),
        ("real values, grid 1/4", ALap(epsilon=1, grid="1/4"), DAY, _hours),
        ("3 real values, grid 1", ALap(epsilon=1, coordinates=3), DAY, _hours_at_each),
        (
            "counts, grid 1/2 (increasing)",
            ALap(epsilon=1, grid="1/2", multiple_of=1, direction=Direction.INCREASING),
            DAY,
            _at_neither,
        ),
    ]
    for setting, alap, world, query in grids:
        yield case("alap", setting, alap, alap.guarantee, query, world.asymmetric, world.universe)
    for mechanism, name in (
        (TwoSidedGeometric(epsilon=1, sensitivity=2), "geometric"),
        (Laplace(epsilon=1, sensitivity=2, grid="1/4", multiple_of=1), "laplace"),
    ):
        yield _ordinary(name, "replacement", mechanism, INSTANT.ordinary)
    for mechanism, name in (
        (TwoSidedGeometric(epsilon=1, neighbours=Neighbours.ADD_REMOVE), "geometric"),
        (Laplace(epsilon=1, grid="1/4", multiple_of=1, neighbours=Neighbours.ADD_REMOVE), "laplace"),
    ):
        yield _ordinary(name, "add or remove", mechanism, INSTANT.add_remove)


def _ordinary(name: str, how: str, mechanism: TwoSidedGeometric | Laplace, relation: Relation) -> Case:
    setting = f"3 places at one instant, {how}"
    return case(name, setting, mechanism, mechanism.guarantee, _places(INSTANT), relation, INSTANT.universe)


def local() -> Iterator[Case]:
    """Randomised response: two people, each with the own coin."""
    yes_no = Universe(records=(False, True))
    no_may_leak: ADP[bool] = ADP({"answers No": lambda truth: not truth})
    for epsilon in (1, "0.1"):
        mangat, warner = Mangat(epsilon=epsilon), Warner(epsilon=epsilon)
        yield case("mangat", "two people", _each(mangat), mangat.guarantee, tuple, no_may_leak, yes_no)
        yield case("warner", "two people", _each(warner), warner.guarantee, tuple, DP(), yes_no)
    urr = UtilityOptimised(epsilon=1, sensitive=("clinic", "prison"), other=("park", "shop"))
    is_value: ADP[Any] = ADP({f"is {value}": _is(value) for value in urr.other})
    values = Universe(records=urr.values)
    yield case("urr", "2 sensitive and 2 other values", _each(urr), urr.guarantee, tuple, is_value, values)


def _is(value: object) -> Callable[[object], bool]:
    return lambda record: record == value


def _each(response: Mangat | Warner | UtilityOptimised) -> Callable[[tuple[Any, ...]], Independent]:
    return lambda truths: Independent(tuple(response.distribution(truth) for truth in truths))


def approximate() -> Iterator[Case]:
    """Never wrong under ordinary (eps, delta)-DP, and the same releases in the ADP account."""
    for delta in ("0.01", "1e-6"):
        padded = PaddedGeo(epsilon=1, delta=delta)
        yield case(
            "padded",
            "1 place, add or remove",
            padded,
            padded.guarantee,
            _one_place,
            INSTANT.add_remove,
            INSTANT.universe,
            tight=False,
        )
    both = PaddedGeo(epsilon=1, delta="0.05", max_conditions=2)
    for how, relation in (
        ("add or remove", _TWO_PLACES.add_remove),
        ("in the ADP account", _TWO_PLACES.asymmetric),
    ):
        yield case(
            "padded",
            f"2 places, κ = 2, {how}",
            both,
            both.guarantee,
            _places(_TWO_PLACES),
            relation,
            _TWO_PLACES.universe,
            tight=False,
        )
    single = PaddedGeo(epsilon=1, delta="0.05")
    yield case(
        "padded",
        "2 places at one instant, κ = 1, replacement",
        single,
        single.guarantee,
        _places(_ONE_OF_TWO),
        _ONE_OF_TWO.ordinary,
        _ONE_OF_TWO.universe,
        tight=False,
        times=2,
    )
    for delta, at_most in (("0.01", 4), ("1e-4", 9)):
        decision = OptimalDecision(epsilon=1, delta=delta)
        yield case(
            "decision",
            f"at most {at_most}, add or remove, up to {at_most + 1} people",
            partial(_decide, decision, at_most),
            decision.guarantee,
            _one_place,
            _ONE_PLACE.add_remove,
            _ONE_PLACE.universe,
            people=at_most + 1,
        )


def _decide(decision: OptimalDecision, at_most: int, count: int) -> dict[bool, Ball]:
    return decision.distribution(count, at_most)


def account() -> Iterator[Case]:
    """One dataset, releases of three kinds, added up as the ledger adds them."""
    ageo, padded = AGeo(epsilon=1), PaddedGeo(epsilon=1, delta="0.05")
    noise = TwoSidedGeometric(epsilon="0.5", neighbours=Neighbours.ADD_REMOVE)
    whole = standing(
        [
            Cost(kind=Kind.ADP, epsilon=Fraction(1)),
            Cost(kind=Kind.DP_COUNTS, epsilon=Fraction(1), delta=Fraction(1, 20)),
            Cost(kind=Kind.DP_ADD_REMOVE, epsilon=Fraction(1, 2)),
        ]
    ).whole

    def everything(counts: tuple[int, ...]) -> Independent:
        reach = 2 * padded.pad + PEOPLE + 1
        return Independent(
            tuple(
                {**mechanism.distribution(count, reach if mechanism is padded else PEOPLE)}
                for mechanism in (ageo, padded, noise)
                for count in counts
            )
        )

    yield case(
        "account",
        "1 place: ageo, padded (κ = 1) and geometric, under the policy",
        everything,
        Guarantee(epsilon=whole.epsilon, delta=whole.delta),
        counts_of(_ONE_OF_TWO.place_questions[:1]),
        _ONE_OF_TWO.asymmetric,
        _ONE_OF_TWO.universe,
        tight=False,
    )
