"""The cases of mechanisms that answer once: additive, local, and the two for ordinary (eps, delta)-DP."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Final

from safeside.audit.case import PEOPLE, Case, case
from safeside.audit.channel import Independent
from safeside.audit.worlds import DAY, INSTANT, PAIR, REGION, Dataset, Within, World, counts_of
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
_ONE_OF_TWO: Final = World(places=("A", "B"), most=1)


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
    return tuple(Fraction(count, 3) for count in DAY.counts(dataset))


def additive() -> Iterator[Case]:
    """Counts plus noise, one-sided and two-sided."""
    increasing, neither = Direction.INCREASING, Direction.NEITHER
    instant = "3 places at one instant"
    settings: list[tuple[AGeo | ALap, str, World, Callable[[Any], Any]]] = [
        (AGeo(epsilon=1), instant, INSTANT, INSTANT.counts),
        (AGeo(epsilon="0.1"), instant, INSTANT, INSTANT.counts),
        (AGeo(epsilon=1, sensitivity=3), "3 places in a day, sensitivity 3", DAY, DAY.counts),
        (
            AGeo(epsilon=1, sensitivity=2),
            "3 places and a region, sensitivity 2",
            REGION,
            counts_of(REGION.questions),
        ),
        (
            AGeo(epsilon=1, direction=increasing),
            "people at neither of two places (increasing)",
            DAY,
            _at_neither,
        ),
        (AGeo(epsilon=1, direction=neither), "at A, not at B (neither)", DAY, _at_a_not_b),
        (ALap(epsilon=1, grid="1/4", multiple_of=1), "counts, grid 1/4", INSTANT, INSTANT.counts),
        (ALap(epsilon=1, grid="1/4"), "real values, grid 1/4", DAY, _hours),
        (ALap(epsilon=1, coordinates=3), "3 real values, grid 1", DAY, _hours_at_each),
        (
            ALap(epsilon=1, grid="1/2", multiple_of=1, direction=increasing),
            "counts, grid 1/2 (increasing)",
            DAY,
            _at_neither,
        ),
    ]
    for noise, setting, world, query in settings:
        yield case(noise, setting, query, world.asymmetric)
    for how, sensitivity, neighbours, compared in (
        ("replacement", 2, Neighbours.REPLACE, INSTANT.ordinary),
        ("add or remove", 1, Neighbours.ADD_REMOVE, INSTANT.add_remove),
    ):
        plain = TwoSidedGeometric(epsilon=1, sensitivity=sensitivity, neighbours=neighbours)
        laplace = Laplace(
            epsilon=1, sensitivity=sensitivity, neighbours=neighbours, grid="1/4", multiple_of=1
        )
        yield case(plain, f"{instant}, {how}", INSTANT.counts, compared)
        yield case(laplace, f"{instant}, {how}", INSTANT.counts, compared)


def local() -> Iterator[Case]:
    """Randomised response: two people, each with the own coin."""
    yes_no = Universe(records=(False, True))
    no_may_leak = Within(ADP({"answers No": lambda truth: not truth}), yes_no)
    for epsilon in (1, "0.1"):
        for response, compared in (
            (Mangat(epsilon=epsilon), no_may_leak),
            (Warner(epsilon=epsilon), Within(DP(), yes_no)),
        ):
            yield case(response, "two people", tuple, compared, answer=_each(response))
    urr = UtilityOptimised(epsilon=1, sensitive=("clinic", "prison"), other=("park", "shop"))
    is_value: ADP[Any] = ADP({f"is {value}": partial(operator.eq, value) for value in urr.other})
    values = Within(is_value, Universe(records=urr.values))
    yield case(urr, "2 sensitive and 2 other values", tuple, values, answer=_each(urr))


def _each(response: Mangat | Warner | UtilityOptimised) -> Callable[[tuple[Any, ...]], Independent]:
    return lambda truths: Independent(tuple(response.distribution(truth) for truth in truths))


def approximate() -> Iterator[Case]:
    """Never wrong under ordinary (eps, delta)-DP, and the same releases in the ADP account."""
    loose = partial(case, tight=False)
    for delta in ("0.01", "1e-6"):
        padded = PaddedGeo(epsilon=1, delta=delta)
        yield loose(padded, "1 place, add or remove", _one_place, INSTANT.add_remove)
    both = PaddedGeo(epsilon=1, delta="0.05", max_conditions=2)
    counts = PAIR.counts
    yield loose(both, "2 places, κ = 2, add or remove", counts, PAIR.add_remove)
    yield loose(both, "2 places, κ = 2, in the ADP account", counts, PAIR.asymmetric)
    single, setting = PaddedGeo(epsilon=1, delta="0.05"), "2 places at one instant, κ = 1, replacement"
    yield loose(single, setting, _ONE_OF_TWO.counts, _ONE_OF_TWO.ordinary, times=2)
    for delta, at_most in (("0.01", 4), ("1e-4", 9)):
        decision = OptimalDecision(epsilon=1, delta=delta)
        yield case(
            decision,
            f"at most {at_most}, add or remove, up to {at_most + 1} people",
            _one_place,
            _ONE_PLACE.add_remove,
            answer=lambda count, one=decision, t=at_most: one.distribution(count, t),
            people=at_most + 1,
        )


@dataclass(frozen=True)
class _Together:
    """Releases of three kinds, each of every count, with what they cost in the ledger."""

    guarantee: Guarantee
    releases: tuple[AGeo | PaddedGeo | TwoSidedGeometric, ...]
    name: ClassVar[str] = "account"

    def __call__(self, counts: tuple[int, ...]) -> Independent:
        return Independent(
            tuple(
                {**one.distribution(count, PEOPLE + (one.law.most or 0))}
                for one in self.releases
                for count in counts
            )
        )


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
    together = _Together(Guarantee(epsilon=whole.epsilon, delta=whole.delta), (ageo, padded, noise))
    setting = "1 place: ageo, padded (κ = 1) and geometric, under the policy"
    first = counts_of(_ONE_OF_TWO.place_questions[:1])
    yield case(together, setting, first, _ONE_OF_TWO.asymmetric, tight=False)
