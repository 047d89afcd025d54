"""What an agency's server might do wrongly in one setting alone: planted where that setting is audited.

Each of these passed, or would have passed, an audit that runs every method once: the bug shows only with
several places or windows of one person, several alarms, thresholds that differ, a list of some length, or no
source of randomness given.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import msgspec
import numpy as np

from safeside.audit.published import exactly
from safeside.audit.published_groups import GROUPED
from safeside.audit.published_long import long_list
from safeside.audit.published_ordinary import ORDINARY
from safeside.audit.published_places import (
    A_THIRD,
    AT_LEAST,
    COUNTS,
    TWO_ALARMS,
    TWO_PLACES,
    TWO_WINDOWS,
    stopped,
)
from safeside.audit.published_recorded import recorded
from safeside.audit.published_source import DRAWN, published_from_the_system
from safeside.audit.publishing import replaced
from safeside.decisions import sanitizers
from safeside.ledger import Ledger, Reservation
from safeside.mechanisms.ageo import AGeo
from safeside.mechanisms.sageo import SAGeo
from safeside.noise.entropy import simulated_entropy
from safeside.privacy.account import Cost
from safeside.releases import map_page, publication, report
from safeside.releases.methods import Conditions, Drawn, counts
from safeside.releases.methods.counts import NoisyCounts
from safeside.releases.methods.decision import OneBitDecisions
from safeside.releases.methods.sparse import SparseCounts
from safeside_studies.planted.mechanisms import Caught, named
from safeside_studies.planted.procedures import caught
from safeside_studies.planted.published import said

_PADDED_TWICE, _DECISION = ORDINARY[1], ORDINARY[2]
_DRAW: Final = NoisyCounts.draw


def said_at_the_next_threshold() -> Caught:
    """Noise is held against a threshold one above the one that "at most" is said of."""
    states = NoisyCounts.states

    def later(self: NoisyCounts, asked: Conditions, drawn: Drawn) -> Any:
        return states(self, replace(asked, at_most=asked.at_most + 1), drawn)

    with replaced(NoisyCounts, "states", later):
        return caught(exactly(COUNTS))


def decided_at_sorted_thresholds() -> Caught:
    """Decisions are drawn at the thresholds in ascending order, and said of the places in theirs."""
    draw = OneBitDecisions.draw

    def ascending(self: OneBitDecisions, asked: Conditions, counted: Any, source: Any = None) -> Drawn:
        return draw(self, replace(asked, at_most=np.sort(asked.at_most)), counted, source)

    with replaced(OneBitDecisions, "draw", ascending):
        return caught(exactly(_DECISION))


def no_noise_where_nobody_is_counted() -> Caught:
    """A shortcut for empty data: there is nobody to protect."""

    def shortcut(self: NoisyCounts, asked: Conditions, counted: Any, source: Any = None) -> Drawn:
        return _DRAW(self, asked, counted, source) if counted.any() else Drawn(values=counted.copy())

    with replaced(NoisyCounts, "draw", shortcut):
        return caught(exactly(GROUPED[0]))


def one_noise_for_all_windows() -> Caught:
    """The noise of the first window serves the others, too."""

    def once(self: NoisyCounts, asked: Conditions, counted: Any, source: Any = None) -> Drawn:
        drawn = _DRAW(self, asked, counted, source)
        noise = (drawn.values - counted)[: len(asked.targets)]
        return replace(drawn, values=counted + np.resize(noise, counted.size))

    with replaced(NoisyCounts, "draw", once):
        return caught(exactly(TWO_WINDOWS))


def no_noise_in_the_second_alarm() -> Caught:
    """Where several alarms are allowed, they are published without their noise."""
    draw = SparseCounts.draw

    def plain(self: SparseCounts, asked: Conditions, counted: Any, source: Any = None) -> Drawn:
        drawn = draw(self, asked, counted, source)
        loud = (drawn.values > asked.at_most) & (self.alarms > 1)
        return replace(drawn, values=np.where(loud, np.maximum(counted, asked.at_most + 1), drawn.values))

    with replaced(SparseCounts, "draw", plain):
        return caught(exactly(TWO_ALARMS))


def _telling(page: Any) -> ExitStack:
    """A page ends with a number that was left behind by the count."""
    draw, render, left = NoisyCounts.draw, page.render, [0]

    def drawn(self: NoisyCounts, asked: Conditions, counted: Any, source: Any = None) -> Drawn:
        left[0] = int(counted.sum())
        return draw(self, asked, counted, source)

    with ExitStack() as both:
        both.enter_context(replaced(NoisyCounts, "draw", drawn))
        both.enter_context(replaced(page, "render", lambda *given: render(*given) + b"<!-- %d -->" % left[0]))
        return both.pop_all()


def total_in_a_report() -> Caught:
    """The report of a release that says "at least" ends with the number of people in all."""
    with _telling(report):
        return said(recorded(AT_LEAST))


def total_on_a_map() -> Caught:
    """The map ends with the number of people in all."""
    with _telling(map_page):
        return said(recorded(COUNTS))


def publish_seeded_by_a_variable() -> Caught:
    """Where no source is given, a variable of the environment seeds the noise of a release."""

    class Seeded:
        simulated = False

        def __init__(self, seed: int) -> None:
            self.uint16, self.bits = simulated_entropy(seed).uint16, simulated_entropy(seed).bits

    def seeded(self: NoisyCounts, asked: Conditions, counted: Any, source: Any = None) -> Drawn:
        if source is None and "SAFESIDE_SEED" in os.environ:
            source = Seeded(int(os.environ["SAFESIDE_SEED"]))
        return _DRAW(self, asked, counted, source)

    with replaced(NoisyCounts, "draw", seeded):
        return said(published_from_the_system(DRAWN["counts"]))


def later_places_get_the_noise_of_the_first() -> Caught:
    """Beyond the first block of a long list the noise begins anew."""

    def again(self: NoisyCounts, asked: Conditions, counted: Any, source: Any = None) -> Drawn:
        drawn = _DRAW(self, asked, counted, source)
        return replace(drawn, values=counted + np.resize((drawn.values - counted)[:4096], counted.size))

    with replaced(NoisyCounts, "draw", again):
        return said(long_list(4097, "counts"))


def clipped_to_the_largest_count() -> Caught:
    """Bounds far above every threshold are cut down to the largest count."""

    def clipped(self: NoisyCounts, asked: Conditions, counted: Any, source: Any = None) -> Drawn:
        drawn = _DRAW(self, asked, counted, source)
        return replace(drawn, values=np.minimum(drawn.values, max(counted.max(), asked.at_most.max() + 3)))

    with replaced(NoisyCounts, "draw", clipped):
        return said(long_list(4096, "counts"))


def at_least_one_too_low() -> Caught:
    """ "At least" is said one noisy count too early, and so more often wrong than was allowed."""
    decide = sanitizers.decide_by_law

    def early(values: Any, limit: Any, law: Any, *error: Any, **more: Any) -> Any:
        return decide(values, limit - 1 if error else limit, law, *error, **more)

    with replaced(counts, "decide_by_law", early):
        return caught(exactly(AT_LEAST))


def lower_bound_at_twice_the_error() -> Caught:
    """A lower bound may be wrong twice as often as was allowed."""
    interval = AGeo.interval

    def bold(self: AGeo, z: Any, confidence: Any) -> Any:
        return interval(self, z, 1 - 2 * (1 - confidence))

    with replaced(AGeo, "interval", bold):
        return caught(exactly(AT_LEAST))


def one_place_where_a_person_is_at_two() -> Caught:
    """The noise is that of people who are at one place each."""
    with replaced(counts, "require_limit", lambda _question: 1):
        return caught(exactly(TWO_PLACES))


def padded_for_one_place_where_a_person_is_at_two() -> Caught:
    """The same under ordinary differential privacy."""
    with replaced(counts, "require_limit", lambda _question: 1):
        return caught(exactly(_PADDED_TWICE))


def several_alarms_at_the_price_of_one() -> Caught:
    """Each of several alarms is drawn at the epsilon of the whole."""
    mechanism = SparseCounts.mechanism

    def sharp(self: SparseCounts, asked: Conditions) -> SAGeo:
        return replace(mechanism(self, asked), epsilon_each=self.epsilon)

    def cost(self: SparseCounts, _asked: Conditions, periods: tuple[str, ...]) -> Cost:
        each = self.epsilon / self.alarms
        return Cost(kind=self.kind, epsilon=self.epsilon, periods=periods, epsilon_each=each)

    with (
        replaced(SparseCounts, "mechanism", sharp),
        replaced(SparseCounts, "cost", cost),
        replaced(publication, "check_claims", lambda _release: None),
    ):
        return caught(exactly(TWO_ALARMS))


def price_rounded_down() -> Caught:
    """The ledger is told the epsilon to two digits."""
    cost = NoisyCounts.cost

    def rounded(self: NoisyCounts, asked: Conditions, periods: tuple[str, ...]) -> Cost:
        whole = cost(self, asked, periods)
        return msgspec.structs.replace(whole, epsilon=Fraction(int(whole.epsilon * 100), 100))

    with replaced(NoisyCounts, "cost", rounded), replaced(publication, "check_claims", lambda _release: None):
        return caught(exactly(A_THIRD))


def second_alarm_given_back() -> Caught:
    """Of several alarms one is charged."""
    unused = Cost.unused

    with replaced(Cost, "unused", lambda self, alarms: unused(self, min(alarms, 1))):
        return caught(exactly(TWO_ALARMS))


def stop_given_back() -> Caught:
    """A release that stops at a limit costs nothing, as if the data had been unreadable."""

    def refused(self: Ledger, paid: Reservation) -> None:
        self.refuse(paid.dataset, paid.request, paid.question, "LimitBroken", unused=paid)

    with replaced(Ledger, "stop", refused):
        return said(stopped())


SETTINGS: Final = named(
    said_at_the_next_threshold,
    decided_at_sorted_thresholds,
    no_noise_where_nobody_is_counted,
    one_noise_for_all_windows,
    no_noise_in_the_second_alarm,
    total_in_a_report,
    total_on_a_map,
    publish_seeded_by_a_variable,
    later_places_get_the_noise_of_the_first,
    clipped_to_the_largest_count,
    at_least_one_too_low,
    lower_bound_at_twice_the_error,
    one_place_where_a_person_is_at_two,
    padded_for_one_place_where_a_person_is_at_two,
    several_alarms_at_the_price_of_one,
    price_rounded_down,
    second_alarm_given_back,
    stop_given_back,
)
