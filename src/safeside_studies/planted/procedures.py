"""Procedures with one thing spoilt: prices that forget something, private choices, refunds, undercounts.

Each is run through every transcript for two people and three places, and where it matters a region of two of
them and two windows. Some break privacy, some say what is false, some book less than they reveal.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final

from safeside.audit.procedures import AT_MOST, Sparse
from safeside.audit.short_text import show, show_pair
from safeside.audit.transcripts import (
    Draw,
    Procedure,
    Program,
    Transcript,
    Verdict,
    announce,
    audit_procedure,
    publish,
)
from safeside.audit.worlds import DAY, INSTANT, REGION, TWO_WINDOWS, Dataset, Question, World, counts_of
from safeside.exact import Ball, ball, evaluate
from safeside.mechanisms.ageo import AGeo
from safeside_studies.planted import broken_svt
from safeside_studies.planted.mechanisms import ONE, Caught, Planted, named

_PEOPLE: Final = 2


def caught(verdict: Verdict) -> Caught:
    """What the transcript audit said of a procedure."""
    finding = verdict.finding
    how = verdict.false_statement or verdict.undercharged
    if how is None or not finding.holds:
        how = f"{show_pair(finding.worst)}: {show(finding.witness)}"
    return Caught(
        caught=verdict.broken,
        claimed=float(finding.claimed_epsilon),
        measured=finding.measured,
        how=how,
    )


def _run(procedure: Procedure, world: World) -> Caught:
    return caught(audit_procedure(procedure, world.asymmetric, world.universe, _PEOPLE))


def _sparse(questions: Sequence[Question], alarms: int, at_most: int = 0, largest: int = _PEOPLE) -> Sparse:
    return Sparse(
        questions=tuple(questions), epsilon_each=ONE, alarms=alarms, at_most=at_most, people=largest
    )


def price_without_regions() -> Caught:
    """Priced by the places alone, while a person in a place is also in its region."""
    sparse = _sparse(REGION.questions, alarms=2)
    places_only = ONE * min(2, REGION.max_conditions(REGION.place_questions))
    return _run(sparse.procedure("price without regions", REGION, places_only), REGION)


def price_without_windows() -> Caught:
    """Priced by one window, while the same people are asked about in two."""
    windows = [TWO_WINDOWS.question("AB", window) for window in TWO_WINDOWS.windows]
    one_window = ONE * TWO_WINDOWS.max_conditions(windows[:1])
    return _run(_sparse(windows, alarms=2).procedure("windows", TWO_WINDOWS, one_window), TWO_WINDOWS)


def price_without_repeats() -> Caught:
    """Priced as if a question asked twice were asked once."""
    twice = _sparse(INSTANT.place_questions + INSTANT.place_questions, alarms=2)
    once = ONE * min(2, INSTANT.max_conditions(INSTANT.place_questions))
    return _run(twice.procedure("price without repeats", INSTANT, once), INSTANT)


def charged_for_each_window() -> Caught:
    """Booked once for each window, whatever the number of alarms in it."""
    half = len(TWO_WINDOWS.questions) // 2
    monday = _sparse(TWO_WINDOWS.questions[:half], alarms=2)
    tuesday = _sparse(TWO_WINDOWS.questions[half:], alarms=2)

    def both(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        yield from monday.program(counts[:half])
        yield announce("tuesday")
        yield from tuesday.program(counts[half:])

    view = counts_of(TWO_WINDOWS.questions)
    return _run(
        Procedure(name="charged for each window", program=both, claimed_epsilon=2 * ONE, view=view),
        TWO_WINDOWS,
    )


def order_from_the_data() -> Caught:
    """The places with most visits are asked first."""
    sparse = _sparse(INSTANT.place_questions, alarms=1)

    def busiest_first(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        for place in sorted(range(len(counts)), key=lambda place: -counts[place]):
            yield announce(sparse.questions[place].name)
            answer = yield sparse.draws[place][counts[place]]
            if answer != AT_MOST:
                return

    return _spoilt(sparse, busiest_first, INSTANT)


def _spoilt(sparse: Sparse, program: Program, world: World, view: Any = None) -> Caught:
    """The price of the honest procedure, claimed for another program or another way to count."""
    return _run(
        Procedure(
            name="spoilt",
            program=program,
            claimed_epsilon=sparse.price(world),
            view=counts_of(sparse.questions) if view is None else view,
        ),
        world,
    )


def _region_counted_by(rule: Callable[[Dataset], int], largest: int = _PEOPLE, at_most: int = 1) -> Caught:
    """The region's count by another rule; what is said about it stays the same."""
    world = World(places=("A", "B", "C"), regions=REGION.regions)
    sparse = _sparse([world.question("AB")], alarms=1, at_most=at_most, largest=largest)
    return _spoilt(sparse, sparse.program, world, view=lambda dataset: (rule(dataset),))


def _visits(dataset: Dataset) -> list[int]:
    return [sum(place in record for record in dataset) for place in ("A", "B")]


def region_as_its_busiest_place() -> Caught:
    """A region is given the largest count of its places."""
    return _region_counted_by(lambda dataset: max(_visits(dataset)))


def region_as_a_capped_sum() -> Caught:
    """A region is given the sum of its places, cut off at one."""
    return _region_counted_by(lambda dataset: min(1, sum(_visits(dataset))))


def region_from_a_sample() -> Caught:
    """A region is counted on every second person."""
    return _region_counted_by(
        lambda dataset: sum(bool(record & {"A", "B"}) for record in dataset[::2]), at_most=0
    )


def region_as_a_sum() -> Caught:
    """A region is given the sum of its places, which counts a person more than once."""
    return _region_counted_by(lambda dataset: sum(_visits(dataset)), largest=2 * _PEOPLE)


def alarm_refunded() -> Caught:
    """One alarm of each transcript is given back to the ledger."""
    sparse = _sparse(DAY.place_questions, alarms=2)

    def charge(transcript: Transcript) -> Fraction:
        return ONE * max(0, len(sparse.alarmed(transcript)) - 1)

    procedure = Procedure(
        name="alarm refunded",
        program=sparse.program,
        claimed_epsilon=sparse.price(DAY),
        view=counts_of(sparse.questions),
        charge=charge,
    )
    return _run(procedure, DAY)


def total_less_refunds() -> Caught:
    """What the first release gave back pays for a second, and the claim is the total less what came back."""
    first = _sparse(DAY.place_questions[:2], alarms=2)
    second = _sparse(DAY.place_questions[2:], alarms=1)

    def spend_again(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        raised = 0
        for place, count in enumerate(counts[:2]):
            answer = yield first.draws[place][count]
            raised += answer != AT_MOST
        if raised < 2:
            yield from second.program(counts[2:])

    view = counts_of(DAY.place_questions)
    return _run(
        Procedure(name="total less refunds", program=spend_again, claimed_epsilon=ONE, view=view), DAY
    )


def _alarm(sparse: Sparse, count: int) -> Ball:
    """The probability of an alarm at this true count."""
    return evaluate(lambda: 1 - sparse.table[count].get(AT_MOST, ball(0)))


def alarm_withdrawn_and_not_charged() -> Caught:
    """The first alarm is withdrawn, its price given back, and the release goes on."""
    sparse = _sparse(DAY.place_questions, alarms=1)

    def withdraw(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        withdrawn = False
        for count in counts:
            loud = _alarm(sparse, count)
            if not withdrawn:
                answer = yield publish({AT_MOST: 1 - loud, "withdrawn": loud})
                withdrawn = answer == "withdrawn"
                continue
            answer = yield publish(sparse.table[count])
            if answer != AT_MOST:
                return

    return _spoilt(sparse, withdraw, DAY)


def drawn_again_after_an_alarm() -> Caught:
    """A retried task draws once more, and the smaller value is shown."""
    sparse = _sparse(INSTANT.place_questions[:1], alarms=1)

    def again(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        loud = _alarm(sparse, counts[0])
        yield publish({AT_MOST: 1 - loud * loud, "alarm": loud * loud})

    return _spoilt(sparse, again, INSTANT)


def stopped_by_a_record() -> Caught:
    """The release stops, visibly, when a record holds more places than were declared."""
    sparse = _sparse(DAY.place_questions[:1], alarms=1)

    def stop(dataset: Dataset) -> Generator[Draw, Any, None]:
        if any(len(record) > 1 for record in dataset):
            yield announce("stopped: a record exceeds the declared number of places")
            return
        yield from sparse.program([question.count(dataset) for question in sparse.questions])

    return _spoilt(sparse, stop, DAY, view=lambda dataset: dataset)


def corrected_by_later_data() -> Caught:
    """An answer is withdrawn once later data show that it no longer holds."""
    world = World(places=("A",), windows=("early", "late"))
    early = world.question("A", "early")
    sparse = _sparse([early], alarms=1)

    def correct(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        answer = yield sparse.draws[0][counts[0]]
        if answer == AT_MOST and counts[1] > 0:
            yield announce("withdrawn")

    view = counts_of([early, world.question("A", "late")])
    return _spoilt(sparse, correct, world, view=view)


def exact_count_after_an_alarm() -> Caught:
    """An alarm is followed by the true count."""
    sparse = _sparse(INSTANT.place_questions, alarms=1)

    def tell(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        for place, count in enumerate(counts):
            answer = yield sparse.draws[place][count]
            if answer != AT_MOST:
                yield announce(count)
                return

    return _spoilt(sparse, tell, INSTANT)


def one_price_for_two_releases() -> Caught:
    """The same counts are released twice, with fresh noise, for the price of once."""
    noise = AGeo(epsilon=ONE)

    def twice(counts: Sequence[int]) -> Generator[Draw, Any, None]:
        for _ in range(2):
            yield publish(noise.distribution(counts[0], _PEOPLE))

    view = counts_of(INSTANT.place_questions[:1])
    return _run(Procedure(name="twice", program=twice, claimed_epsilon=ONE, view=view), INSTANT)


def _variant(variant: broken_svt.Variant) -> Caught:
    world = INSTANT
    return caught(audit_procedure(variant.procedure(ONE), world.ordinary, world.universe, 1))


PROCEDURES: Final = (
    *named(
        price_without_regions,
        price_without_windows,
        price_without_repeats,
        charged_for_each_window,
        order_from_the_data,
        region_as_its_busiest_place,
        region_as_a_capped_sum,
        region_from_a_sample,
        region_as_a_sum,
        alarm_refunded,
        total_less_refunds,
        alarm_withdrawn_and_not_charged,
        drawn_again_after_an_alarm,
        stopped_by_a_record,
        corrected_by_later_data,
        exact_count_after_an_alarm,
        one_price_for_two_releases,
    ),
    *(
        Planted(name=variant.name, bug=variant.source, audit=partial(_variant, variant))
        for variant in broken_svt.variants(ONE)
    ),
)
