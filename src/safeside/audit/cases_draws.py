"""What is really drawn: every law of noise, and every mechanism's own release, held against probabilities.

The exact audits read the probabilities that a mechanism states. Here its draws are held against the same
probabilities, so that a release that does something else (a threshold off by one, a stop too late, a value
cut off) is caught as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from safeside import exact
from safeside.audit.case import SAMPLER, Row
from safeside.audit.statistical import FALSE_ALARM, SamplerTest
from safeside.exact import Ball
from safeside.mechanisms.additive import Additive
from safeside.mechanisms.ageo import AGeo
from safeside.mechanisms.alap import ALap
from safeside.mechanisms.block_test import BlockTest
from safeside.mechanisms.geometric import TwoSidedGeometric
from safeside.mechanisms.grid import OnGrid
from safeside.mechanisms.ladder import Claim, Component
from safeside.mechanisms.laplace import Laplace
from safeside.mechanisms.laws import Both, Down, Integers, Law, Padded, Up
from safeside.mechanisms.mangat import Mangat
from safeside.mechanisms.mechanism import Mechanism
from safeside.mechanisms.optimal_decision import OptimalDecision
from safeside.mechanisms.paddedgeo import PaddedGeo
from safeside.mechanisms.sageo import SAGeo
from safeside.mechanisms.salap import SALap
from safeside.mechanisms.selection import Selection
from safeside.mechanisms.selection_plan import SelectionPlan
from safeside.mechanisms.sequences import Answer, Reply
from safeside.mechanisms.sparse import SparseQueries
from safeside.mechanisms.sparse_vector import SparseVector
from safeside.mechanisms.utility_optimised import UtilityOptimised
from safeside.mechanisms.warner import Warner
from safeside.mechanisms.yes_no import YesNo
from safeside.noise.entropy import system_entropy
from safeside.privacy.guarantee import Direction

_RATES: Final = (Fraction(1), Fraction(1, 10), Fraction(1, 100))
_COUNT: Final = 4
_SLOW: Final = 20_000
"""Draws of what answers one value at a time."""
_ROUNDS: Final = 2_000
"""Whole sequences run."""
_COUNTS: Final = (1, 0, 2)
_LIMITS: Final = (1, 0, 2)
_NOT_ASKED: Final = -2


@dataclass(frozen=True, kw_only=True, slots=True)
class Sampler:
    """Something that draws whole numbers, and the test they must pass."""

    name: str
    setting: str
    test: SamplerTest
    draw: Callable[[int], Integers]

    def row(self) -> Row:
        """Draw, and hold the draws against the test; `measured` above 1 is a failure."""
        found = self.test.check(self.draw(self.test.draws))
        return Row(
            name="sampler",
            kind=SAMPLER,
            setting=f"{self.name}, {self.setting}; {self.test.draws:,} draws, "
            f"false alarm {float(FALSE_ALARM):.0e}",
            claimed=1.0,
            measured=found.standing,
            witness=f"{found.worst}: {found.seen:,}, allowed {found.least:,} to {found.most:,}",
            ok=found.passed,
        )


def samplers() -> tuple[Sampler, ...]:
    """All of them, in the order in which they are shown."""
    return (*laws(), *additive(), *sequences(), *selections(), *answers())


def laws() -> Iterator[Sampler]:
    """The noise itself, at large and small rates."""
    for rate in _RATES:
        shown = f"eps/Δ = {exact.show(rate)}"
        yield of_law("geometric, upwards", shown, Up(rate))
        yield of_law("geometric, downwards", shown, Down(rate))
        yield of_law("geometric, two-sided", shown, Both(rate))
    # So small that a draw is a block of values and a place in it.
    small = Fraction(1, 1000)
    yield of_law("geometric, upwards", "eps/Δ = 0.001", Up(small))
    yield of_law("geometric, two-sided", "eps/Δ = 0.001", Both(small))
    yield of_law("padded geometric", "eps = 1, pad 5", Padded(Fraction(1), 5))


def of_law(name: str, setting: str, law: Law) -> Sampler:
    """A law of noise, drawn from the system's entropy."""
    return Sampler(
        name=name,
        setting=setting,
        test=SamplerTest.of(law),
        draw=lambda number: law.add_to(np.zeros(number, dtype=np.int64), system_entropy()),
    )


def additive() -> Iterator[Sampler]:
    """Releases of counts: whatever is public, the noise is whole and nothing is cut off."""
    yield _released(AGeo(epsilon=1, sensitivity=2, people=_COUNT), "decreasing, as many as there are people")
    yield _released(AGeo(epsilon=1, direction=Direction.INCREASING, people=_COUNT), "increasing")
    yield _released(TwoSidedGeometric(epsilon=1), "two-sided")
    yield _released(PaddedGeo(epsilon=1, delta="0.01"), "delta 0.01")
    yield _on_grid(ALap(epsilon=1, grid="1/2"))
    yield _on_grid(Laplace(epsilon=1, grid="1/2"))


def _release(mechanism: Mechanism, setting: str, test: SamplerTest, draw: Callable[[int], Any]) -> Sampler:
    """The mechanism's own release, drawn so many times at once."""
    name = f"release of {mechanism.name}"
    return Sampler(name=name, setting=setting, test=test, draw=lambda number: draw(number).astype(np.int64))


def _rounds(mechanism: Mechanism, setting: str, pmf: Mapping[int, Ball], once: Callable[[], int]) -> Sampler:
    """Whole releases, of which each gives one number."""
    test = SamplerTest(pmf=pmf, draws=_ROUNDS)
    return _release(mechanism, setting, test, lambda number: np.array([once() for _ in range(number)]))


def _released(mechanism: Additive, setting: str) -> Sampler:
    test = SamplerTest.of(mechanism.law)
    return _release(
        mechanism, setting, test, lambda number: mechanism.release(np.full(number, _COUNT)).values - _COUNT
    )


def _on_grid(mechanism: OnGrid) -> Sampler:
    """A value off the grid, which lies between 2 and 3 steps of it: rounded, it is 3 from either."""
    value, test = Fraction(4, 3), SamplerTest.of(mechanism.law, draws=_SLOW)
    return _release(
        mechanism, "a value off the grid", test, lambda number: mechanism.release([value] * number).values - 3
    )


def sequences() -> Iterator[Sampler]:
    """Releases that stop: what each query is answered, and how many are asked."""
    yield _each_query(lambda alarms: SAGeo(epsilon_each=1, alarms=alarms))
    yield _each_query(lambda alarms: SALap(epsilon_each=1, alarms=alarms, grid="1/4"))
    yield adaptive(SAGeo(epsilon_each=1, alarms=2))
    for alarms in (1, 2):
        sparse = SAGeo(epsilon_each=1, alarms=alarms)
        yield _asked(sparse, sparse.distribution(_COUNTS, _LIMITS, 3))
        vector = SparseVector(epsilon=1, alarms=alarms)
        yield _asked(vector, vector.distribution(_COUNTS, _LIMITS))


def _each_query(allow: Callable[[int], SparseQueries]) -> Sampler:
    """Every query is asked, and its alarm in steps is drawn, or -1 where it is quiet.

    Counts and thresholds differ, and their distance does not: what is drawn at another's shows.
    """
    single = allow(1)
    true, quiet = 2 * single.steps, 4 * single.steps - 1
    law = Up(single.rate())
    with exact.precision(exact.PMF_BITS):
        pmf = {-1: law.at_most(quiet - true), **dict.fromkeys(range(quiet + 1), exact.ball(0))}
        pmf |= {z: law.exactly(z - true) for z in range(quiet + 1, quiet + 60)}

    def drawn(number: int) -> Integers:
        more = np.arange(number) ** 2 % 5
        values = allow(number).release(2 + more, 3 + more).values
        return np.where(values < 0, values, values - more * single.steps)

    return _release(single, "a threshold one above the count", SamplerTest(pmf=pmf), drawn)


def _last_first(said: Sequence[Reply]) -> int | None:
    """The last query first; then, after quiet, the first, and otherwise the second; then what is left."""
    asked = {one.query for one in said}
    wanted = [2] if not said else [2, 0, 1] if said[0].alarm is None else [2, 1, 0]
    return next((query for query in (*wanted, 0, 1) if query not in asked), None)


def adaptive(mechanism: SAGeo) -> Sampler:
    """Whole transcripts in an order that follows from the answers, each as one number."""
    horizon = 3
    law = mechanism.distribution(_COUNTS, _LIMITS, horizon, order=_last_first)
    numbers: dict[tuple[int, ...], int] = {}
    pmf: dict[int, Ball] = {}
    for transcript, mass in law.items():
        values = [_NOT_ASKED] * len(_COUNTS)
        for one in transcript:
            values[one.query] = (
                -1 if one.alarm is None else one.alarm if isinstance(one.alarm, int) else horizon
            )
        pmf[numbers.setdefault(tuple(values), len(numbers))] = mass

    def drawn() -> int:
        sparse = mechanism.release(_COUNTS, _LIMITS, order=_last_first)
        asked = sparse.answers != Answer.NOT_ASKED
        values = np.where(asked, np.minimum(sparse.values, horizon), _NOT_ASKED)
        return numbers.get(tuple(values.tolist()), len(pmf))

    setting = f"an order that follows from the answers, c = {mechanism.alarms}"
    return _rounds(mechanism, setting, pmf, drawn)


def _asked(mechanism: SAGeo | SparseVector, law: Mapping[Any, Ball]) -> Sampler:
    with exact.precision(exact.PMF_BITS):
        pmf = {
            length: sum((mass for said, mass in law.items() if len(said) == length), start=exact.ball(0))
            for length in range(1, len(_COUNTS) + 1)
        }
    setting = f"queries asked until the stop, c = {mechanism.alarms}"
    return _rounds(mechanism, setting, pmf, lambda: mechanism.release(_COUNTS, _LIMITS).asked)


def selections() -> Iterator[Sampler]:
    """Tests of blocks, and claims: everything that is published of one, as one number."""
    test = BlockTest(epsilon=1)
    passes = _bits(test.distribution(_COUNTS, np.array(_LIMITS)))
    yield _rounds(test, "3 places, one margin of 1", passes, lambda: test.release(_COUNTS, _LIMITS).passed)
    components = (Component(cuts=(2, 1)), Component(cuts=(1, 1), halvings=1))
    plan = SelectionPlan(order=np.array([1, 0, 2]), blocks=(1,), components=components)
    selection = Selection(epsilon=1, plan=plan, bottom=2)
    numbers: dict[Any, int] = {}
    pmf: dict[int, Ball] = {}

    def told(passed: int, claim: Claim | None) -> Any:
        """What readers see: at the lowest level nothing is said of anything, so the set does not show."""
        return (passed, claim[:2]) if claim is not None and claim[1] == -selection.bottom else (passed, claim)

    for outcome, share in selection.distribution(_COUNTS, np.array(_LIMITS)).items():
        number = numbers.setdefault(told(*outcome), len(numbers))
        with exact.precision(exact.PMF_BITS):
            pmf[number] = pmf.get(number, exact.ball(0)) + share

    def drawn() -> int:
        one = selection.release(_COUNTS, _LIMITS)
        if one.component is None or one.level is None:
            return numbers[told(one.passed, None)]
        included = np.flatnonzero(one.bounds[plan.order][plan.tested :] >= 0).tolist()
        # Whatever cannot be said is a number without probability, and fails the test.
        return numbers.get(told(one.passed, (one.component, one.level, frozenset(included))), len(pmf))

    yield _rounds(selection, "3 places, one tested first", pmf, drawn)


def answers() -> Iterator[Sampler]:
    """Bits and reports."""
    for count in (1, 2, 4):
        yield _decided(OptimalDecision(epsilon=1, delta="0.01"), count)
    for truth in (True, False):
        yield _responded(Mangat(epsilon=1), truth)
        yield _responded(Warner(epsilon=1), truth)
    urr = UtilityOptimised(epsilon=1, sensitive=("clinic", "prison"), other=("park", "shop"))
    for value in ("clinic", "shop"):
        yield _reported(urr, value)


def _bits(law: Mapping[bool, Ball]) -> dict[int, Ball]:
    return {0: law[False], 1: law[True]}


def _decided(decision: OptimalDecision, count: int) -> Sampler:
    return _release(
        decision,
        f"{count} people, t = 3",
        SamplerTest(pmf=_bits(decision.distribution(count, 3))),
        lambda number: decision.release(np.full(number, count), 3).values,
    )


def _responded(response: YesNo, truth: bool) -> Sampler:
    return _release(
        response,
        f"truth is {'Yes' if truth else 'No'}",
        SamplerTest(pmf=_bits(response.distribution(truth))),
        lambda number: response.release(np.full(number, truth)).values,
    )


def _reported(response: UtilityOptimised, value: str) -> Sampler:
    pmf = {place: response.pmf(said, value) for place, said in enumerate(response.values)}
    test = SamplerTest(pmf=pmf, draws=_SLOW)
    return _release(
        response, f"truth is {value}", test, lambda number: response.release([value] * number).values
    )
