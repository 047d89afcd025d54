"""What shows only where several settings meet, at unusual sizes, by one method alone, or in one file.

Each of these passed an audit that runs every setting by itself, with few people at few places.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import msgspec
import numpy as np

from safeside.audit.published import Way, exactly, too_bold
from safeside.audit.published_groups import GROUPED
from safeside.audit.published_long import long_list
from safeside.audit.published_ordinary import ORDINARY
from safeside.audit.published_places import (
    ALARMS_IN_TWO_HOURS,
    ALL_AT_ONCE,
    COUNTS,
    LEFT_OUT,
    TWO_WINDOWS,
    beyond_the_caps,
    stopped,
)
from safeside.audit.published_recorded import recorded
from safeside.audit.published_source import DRAWN, published_from_the_system
from safeside.audit.publishing import replaced
from safeside.mechanisms.additive import Additive
from safeside.mechanisms.ageo import AGeo
from safeside.mechanisms.counts import published_values
from safeside.noise.entropy import Entropy, simulated_entropy
from safeside.privacy.account import Budget
from safeside.releases import map_page, publication, rules
from safeside.releases.files import answers as data
from safeside.releases.methods import Conditions, Drawn, counts, decision
from safeside.releases.methods.counts import NoisyCounts
from safeside.releases.methods.selection import SelectedConditions
from safeside.releases.methods.sparse import SparseCounts
from safeside.releases.question import Question
from safeside.releases.record import Promised
from safeside.visits import Counts, count_visits
from safeside_studies.planted.mechanisms import Caught, named
from safeside_studies.planted.procedures import caught
from safeside_studies.planted.published import said

_PADDED, _DECISION_TWICE = ORDINARY[0], ORDINARY[3]
_IN_TWO_GROUPS: Final = GROUPED[2]
_DRAW: Final = NoisyCounts.draw


def _drawn(change: Callable[[NoisyCounts, Conditions, Any, Any], Any]) -> Any:
    """Noisy counts that are changed before anything is said of them."""

    def draw(self: NoisyCounts, asked: Conditions, counted: Any, source: Any = None) -> Drawn:
        drawn = _DRAW(self, asked, counted, source)
        return replace(drawn, values=change(self, asked, counted, drawn.values))

    return replaced(NoisyCounts, "draw", draw)


def _by_long_list(name: str, number: int = 4097, hours: int = 1) -> Caught:
    return said(long_list(number, name, hours))


def alarms_of_one_place_counted_once() -> Caught:
    """Of alarms at one place in several hours one is charged."""
    draw = SparseCounts.draw

    def once(self: SparseCounts, asked: Conditions, counted: Any, source: Any = None) -> Drawn:
        drawn = draw(self, asked, counted, source)
        loud = (drawn.values > asked.at_most).reshape(-1, len(asked.targets)).any(axis=0)
        return replace(drawn, alarms=int(loud.sum()))

    with replaced(SparseCounts, "draw", once):
        return caught(exactly(ALARMS_IN_TWO_HOURS))


def _sharp_where(when: Callable[[Question], bool]) -> Any:
    mechanism = NoisyCounts.mechanism

    def sharp(self: NoisyCounts, asked: Conditions) -> Any:
        used = mechanism(self, asked)
        return replace(used, sensitivity=1) if when(asked.question) else used

    return replaced(NoisyCounts, "mechanism", sharp)


def one_place_where_a_number_of_people_is_public() -> Caught:
    """The noise is that of people who are at one place each, wherever a number of people is public."""
    with _sharp_where(lambda question: question.people is not None):
        return _by_long_list("counts", 12, 2)


def one_place_where_at_least_is_asked() -> Caught:
    """The same wherever "at least" is asked."""
    with _sharp_where(lambda question: question.at_least is not None):
        return _by_long_list("counts", 12, 2)


def noise_a_little_less() -> Caught:
    """The release draws its noise at a twentieth more epsilon than is charged."""
    release = AGeo.release

    def sharp(self: AGeo, counted: Any, **more: Any) -> Any:
        return release(replace(self, epsilon=Fraction(21, 20) * Fraction(str(self.epsilon))), counted, **more)

    with replaced(AGeo, "release", sharp):
        return caught(exactly(COUNTS))


def no_more_conditions_than_places() -> Caught:
    """A limit is cut to the number of places, although one person is at each of them in several hours."""
    limit = counts.require_limit

    def cut(question: Question) -> int:
        return min(limit(question), question.targets.number)

    with replaced(counts, "require_limit", cut):
        return caught(exactly(TWO_WINDOWS))


def decided_for_one_place_where_a_person_is_at_two() -> Caught:
    """Decisions are drawn as if a person could be at one place only."""
    with replaced(decision, "require_limit", lambda _question: 1):
        return caught(exactly(_DECISION_TWICE))


def error_of_any_place_taken_for_each() -> Caught:
    """The error rate that is published for all places together is allowed to each of them."""
    with replaced(Question, "alpha_each", property(lambda self: self.alpha)):
        return said(too_bold(ALL_AT_ONCE))


def error_shared_by_places_and_not_by_hours() -> Caught:
    """It is divided by the number of places, and allowed in every hour."""
    with replaced(Question, "alpha_each", property(lambda self: self.alpha / self.targets.number)):
        return said(too_bold(ALL_AT_ONCE))


def most_in_groups_the_larger_and_not_the_product() -> Caught:
    """One person in two groups, and in two measures of each, is paid for as two and not as four."""

    def larger(self: Question) -> int | None:
        most = self.max_places_per_person
        of_one = 1 if self.groups is None else self.groups.counted.most_of_a_person
        return None if most is None else max(most, of_one)

    with replaced(Question, "max_conditions", property(larger)):
        return caught(exactly(replace(_IN_TWO_GROUPS, each=Fraction(1, 2))))


def _of_map(way: Way, name: str, bug: Any) -> Caught:
    with replaced(map_page, name, bug):
        return said(recorded(way))


def common_threshold_on_a_map() -> Caught:
    """The map says "at most" of every place at the threshold that most places have."""
    return _of_map(COUNTS, "_thresholds", lambda question, _answers: question.at_most)


def bounds_of_a_map_in_a_byte() -> Caught:
    """The map has bounds in the smallest type that holds the thresholds."""
    packed = map_page._packed

    def small(given: Any, published: bool) -> Any:
        return packed(replace(given, upper=given.upper.astype(np.int8).astype(np.int64)), published)

    with replaced(map_page, "_packed", small):
        return _by_long_list("counts")


def bounds_one_lower_in_geojson() -> Caught:
    """The GeoJSON has each bound one below what was drawn."""
    rows = data.said

    def lower(*given: Any) -> Any:
        for row in rows(*given):
            yield {**row, "upper_bound": row["upper_bound"] and row["upper_bound"] - 1}

    with replaced(data, "said", lower):
        return said(recorded(COUNTS))


def hours_the_other_way_round() -> Caught:
    """Answers stand beside the wrong hour, in every file."""
    frame = data.frame

    def turned(given: Any) -> Any:
        return frame(replace(given, windows=given.windows[::-1]))

    with replaced(data, "frame", turned):
        return caught(exactly(TWO_WINDOWS))


def left_out_told() -> Caught:
    """The statement tells how many people were left out with places that are not listed."""

    def told(*given: Any, **more: Any) -> Counts:
        found = count_visits(*given, **more)
        left = found.left_out
        return found if left is None else replace(found, exclusions=(f"{left.people} people were left out.",))

    with replaced(publication, "count_visits", told):
        return said(recorded(LEFT_OUT))


def crowds_without_noise() -> Caught:
    """A place with many people gets no noise: it is far above every threshold anyway."""
    with _drawn(lambda _self, _asked, counted, values: np.where(counted > 100, counted, values)):
        return _by_long_list("counts")


def counts_in_a_byte() -> Caught:
    """Counts are kept in the smallest type that holds the thresholds."""

    def draw(self: NoisyCounts, asked: Conditions, counted: Any, source: Any = None) -> Drawn:
        return _DRAW(self, asked, counted.astype(np.uint8), source)

    with replaced(NoisyCounts, "draw", draw):
        return _by_long_list("counts")


def noise_cut_off() -> Caught:
    """There is never more noise than seems plausible."""
    with _drawn(lambda _self, _asked, counted, values: np.minimum(values, counted + 16)):
        return _by_long_list("counts")


def padded_noise_of_the_first_hour_in_all() -> Caught:
    """Under ordinary differential privacy the noise of the first hour serves the others, too."""

    def again(self: NoisyCounts, asked: Conditions, counted: Any, values: Any) -> Any:
        noise = (values - counted)[: len(asked.targets)]
        return counted + np.resize(noise, counted.size) if self.delta else values

    with _drawn(again):
        return _by_long_list("padded", 12, 2)


class _Repeating:
    """Randomness of which a long request gets the beginning again and again."""

    simulated = False

    def __init__(self, source: Entropy) -> None:
        self._source, self.bits = source, source.bits

    def uint16(self, n: int) -> Any:
        return np.resize(self._source.uint16(min(n, 4096)), n)


def words_of_a_claim_repeated() -> Caught:
    """In a long list the words of the first conditions are used again for the others."""
    draw = SelectedConditions.draw

    def again(self: SelectedConditions, asked: Conditions, counted: Any, source: Any = None) -> Drawn:
        return draw(self, asked, counted, _Repeating(source))

    with replaced(SelectedConditions, "draw", again):
        return _by_long_list("selection")


def padded_sides_repeated() -> Caught:
    """The same of the noise under ordinary differential privacy."""
    with replaced(
        NoisyCounts,
        "draw",
        lambda self, asked, counted, source=None: _DRAW(self, asked, counted, _Repeating(source)),
    ):
        return _by_long_list("padded")


def selection_seeded_by_a_variable() -> Caught:
    """Where no source is given, a variable of the environment seeds what is selected."""
    draw = SelectedConditions.draw

    def seeded(self: SelectedConditions, asked: Conditions, counted: Any, source: Any = None) -> Drawn:
        if source is None and "SAFESIDE_SEED" in os.environ:
            source = simulated_entropy(int(os.environ["SAFESIDE_SEED"]))
        return replace(draw(self, asked, counted, source), simulated=False)

    with replaced(SelectedConditions, "draw", seeded):
        return said(published_from_the_system(DRAWN["selection"]))


def noise_seeded_by_the_reference() -> Caught:
    """So that a retry draws the same, noise follows from the reference, which is published."""
    commit, paid = publication.Publication._draw, [""]

    def noted(self: Any, reservation: Any, *given: Any) -> Any:
        paid[0] = reservation.reference
        return commit(self, reservation, *given)

    def seeded(self: NoisyCounts, asked: Conditions, counted: Any, source: Any = None) -> Drawn:
        own = source or simulated_entropy(int(paid[0], 16))
        return replace(_DRAW(self, asked, counted, own), simulated=False)

    with ExitStack() as both:
        both.enter_context(replaced(publication.Publication, "_draw", noted))
        both.enter_context(replaced(NoisyCounts, "draw", seeded))
        return said(published_from_the_system(DRAWN["counts"]))


def limit_not_held_against_sparse_answers() -> Caught:
    """Alarms are priced by a limit that nobody counts by."""

    counted = publication.Publication._counts

    def without(*given: Any, **more: Any) -> Counts:
        return count_visits(*given, **{**more, "max_places_per_person": None})

    def unlimited(self: Any, *given: Any) -> Counts:
        sparse = isinstance(self.question.method, SparseCounts)
        with replaced(publication, "count_visits", without if sparse else count_visits):
            return counted(self, *given)

    with replaced(publication.Publication, "_counts", unlimited):
        return said(stopped())


def stop_at_the_number_of_people_given_back() -> Caught:
    """More people than the dataset was made with are taken for rows that cannot be read."""
    within = rules.require_within

    def unlimited(counted: Any, question: Question, **more: Any) -> None:
        within(counted if question.people is None else np.minimum(counted, question.people), question, **more)

    with replaced(rules, "require_within", unlimited):
        return said(stopped())


def lower_bound_that_is_only_probable() -> Caught:
    """Under ordinary differential privacy a lower bound is published that may be false."""

    def probable(self: Additive, z: Any) -> Any:
        return None if self.law.most is None else np.maximum(0, published_values(z) - self.law.most // 2)

    with replaced(Additive, "lower_bound", probable):
        return caught(exactly(_PADDED))


def half_of_the_price_promised() -> Caught:
    """The release says that it guarantees twice as much privacy as was charged for."""
    whole = Promised.of

    def half(asked: Conditions, **more: Any) -> Promised:
        told = whole(asked, **more)
        return msgspec.structs.replace(told, epsilon=told.epsilon / 2)

    with replaced(Promised, "of", half):
        return caught(exactly(COUNTS))


def delta_beyond_the_cap() -> Caught:
    """There is room for whatever epsilon there is room for."""
    with replaced(Budget, "fits", lambda self, room: self.epsilon <= room.epsilon):
        return said(beyond_the_caps())


COMBINATIONS: Final = named(
    alarms_of_one_place_counted_once,
    one_place_where_a_number_of_people_is_public,
    one_place_where_at_least_is_asked,
    noise_a_little_less,
    no_more_conditions_than_places,
    decided_for_one_place_where_a_person_is_at_two,
    error_of_any_place_taken_for_each,
    error_shared_by_places_and_not_by_hours,
    most_in_groups_the_larger_and_not_the_product,
    common_threshold_on_a_map,
    bounds_of_a_map_in_a_byte,
    bounds_one_lower_in_geojson,
    hours_the_other_way_round,
    left_out_told,
    crowds_without_noise,
    counts_in_a_byte,
    noise_cut_off,
    padded_noise_of_the_first_hour_in_all,
    words_of_a_claim_repeated,
    padded_sides_repeated,
    selection_seeded_by_a_variable,
    noise_seeded_by_the_reference,
    limit_not_held_against_sparse_answers,
    stop_at_the_number_of_people_given_back,
    lower_bound_that_is_only_probable,
    half_of_the_price_promised,
    delta_beyond_the_cap,
)
