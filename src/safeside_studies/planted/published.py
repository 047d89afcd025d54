"""The published path with one thing spoilt, while the mechanism's probabilities stay as they are.

Each bug is put into the running program for as long as its audit lasts.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import msgspec
import numpy as np

from safeside.audit.cases_draws import adaptive
from safeside.audit.published import Way, exactly
from safeside.audit.published_long import long_list
from safeside.audit.published_ordinary import ORDINARY
from safeside.audit.published_places import COUNTS, RANDOM, SELECTION, SPARSE
from safeside.audit.published_recorded import recorded
from safeside.audit.published_selection import SELECTED
from safeside.audit.published_source import only_from_the_system
from safeside.audit.publishing import replaced
from safeside.mechanisms.ageo import AGeo
from safeside.mechanisms.ladder import Climbed, Ladder
from safeside.mechanisms.sageo import SAGeo
from safeside.mechanisms.sparse import SparseQueries
from safeside.noise import entropy
from safeside.noise.choice import choose
from safeside.noise.entropy import simulated_entropy
from safeside.privacy.account import Cost
from safeside.releases import files, publication
from safeside.releases.methods import Conditions, Drawn
from safeside.releases.methods.counts import NoisyCounts
from safeside.releases.methods.decision import OneBitDecisions
from safeside.releases.methods.selection import LEVEL, PASSED, SelectedConditions
from safeside.releases.methods.sparse import SparseCounts
from safeside.visits import Counts, count_visits
from safeside_studies.planted.mechanisms import Caught, named
from safeside_studies.planted.procedures import caught

_TESTED, _UNKNOWN, _HOURS = SELECTED
_PADDED, _DECISION = ORDINARY[0], ORDINARY[2]


def said(wrong: str | None) -> Caught:
    """Caught, if something was found to be wrong."""
    return Caught(
        caught=wrong is not None,
        claimed=0.0,
        measured=0.0 if wrong is None else math.inf,
        how=wrong or "nothing was found",
    )


def _exactly(way: Way, owner: Any, name: str, bug: Callable[..., Any]) -> Caught:
    with replaced(owner, name, bug):
        return caught(exactly(way))


def order_by_counts_within_random_buckets() -> Caught:
    """A random order in which, within buckets drawn by chance, the busier place is asked first."""
    seen: list[Any] = []
    settled = SparseCounts.settled

    def keep_counts(*given: Any, **more: Any) -> Any:
        counts = count_visits(*given, **more)
        seen.append(counts.values)
        return counts

    def by_counts(self: SparseCounts, asked: Conditions, source: Any = None) -> Any:
        by_chance = settled(self, asked, source)
        return by_chance[np.argsort(-seen[-1][by_chance], kind="stable")]

    with replaced(publication, "count_visits", keep_counts), replaced(SparseCounts, "settled", by_counts):
        return said(recorded(RANDOM))


def thresholds_of_the_first_block() -> Caught:
    """Sparse answers take the thresholds of later blocks from the first."""
    in_turn = SparseQueries._in_turn

    def shifted(self: SparseQueries, counts: Any, limits: Any, moves: Any, source: Any) -> Any:
        repeated = np.resize(limits[:4096], limits.size)
        return in_turn(self, counts, repeated, moves, source)

    with replaced(SparseQueries, "_in_turn", shifted):
        return said(long_list(4097, "sparse"))


def quiet_answers_share_a_draw() -> Caught:
    """Where the order follows from the answers, a draw that was quiet serves the next query as well."""
    draw, last = SparseQueries._draw, [-1]

    def shared(self: SparseQueries, counts: Any, moves: Any, source: Any) -> Any:
        noisy = draw(self, counts, moves, source)
        if last[0] == 0:
            noisy = counts + last[0]
        last[0] = int(noisy[0] - counts[0]) if last[0] != 0 else -1
        return noisy

    with replaced(SparseQueries, "_draw", shared):
        row = adaptive(SAGeo(epsilon_each=1, alarms=2)).row()
    return Caught(caught=not row.ok, claimed=row.claimed, measured=row.measured, how=row.witness)


def entropy_seeded_by_a_variable() -> Caught:
    """A variable of the environment, meant for tests, seeds the system's source."""

    class Seeded(entropy._System):
        def uint16(self, n: int) -> Any:
            seed = os.environ.get("SAFESIDE_SEED")
            return super().uint16(n) if seed is None else simulated_entropy(int(seed)).uint16(n)

    with replaced(entropy, "_System", Seeded):
        return said(only_from_the_system())


def drawn_again_where_it_is_unclear() -> Caught:
    """A release that says too little is drawn once more, and the smaller bounds are published."""
    draw = NoisyCounts.draw

    def again(self: NoisyCounts, asked: Conditions, counts: Any, source: Any = None) -> Drawn:
        first, second = draw(self, asked, counts, source), draw(self, asked, counts, source)
        return replace(first, values=np.minimum(first.values, second.values))

    return _exactly(COUNTS, NoisyCounts, "draw", again)


def half_the_price() -> Caught:
    """The ledger is told half of what the noise needs."""
    cost = NoisyCounts.cost

    def cheap(self: NoisyCounts, asked: Conditions, periods: tuple[str, ...]) -> Cost:
        whole = cost(self, asked, periods)
        return msgspec.structs.replace(whole, epsilon=whole.epsilon / 2)

    with replaced(NoisyCounts, "cost", cheap), replaced(publication, "check_claims", lambda _release: None):
        return caught(exactly(COUNTS))


def alarm_given_back() -> Caught:
    """What an alarm cost goes back to the ledger with the rest."""
    return _exactly(SPARSE, Cost, "unused", lambda self, _alarms: self.epsilon)


def noise_left_out_of_a_bound() -> Caught:
    """The bound of an alarm is published without its noise."""
    draw = SparseCounts.draw

    def plain(self: SparseCounts, asked: Conditions, counts: Any, source: Any = None) -> Drawn:
        drawn = draw(self, asked, counts, source)
        loud = drawn.values > asked.at_most
        return replace(drawn, values=np.where(loud, np.maximum(counts, asked.at_most + 1), drawn.values))

    return _exactly(SPARSE, SparseCounts, "draw", plain)


def total_in_a_page() -> Caught:
    """A page that is published tells how many people were counted in all."""
    draw, seen = NoisyCounts.draw, [0]

    def drawn(self: NoisyCounts, asked: Conditions, counts: Any, source: Any = None) -> Drawn:
        seen[0] = int(counts.sum())
        return draw(self, asked, counts, source)

    def composed(record: Any, *given: Any) -> Any:
        said = (*record.counted, f"People counted: {seen[0]}.")
        return files.compose(msgspec.structs.replace(record, counted=said), *given)

    with replaced(NoisyCounts, "draw", drawn), replaced(publication, "compose", composed):
        return caught(exactly(COUNTS))


def noise_of_half_the_scale() -> Caught:
    """The release draws its noise at twice the epsilon that is charged."""
    release = AGeo.release

    def sharp(self: AGeo, counts: Any, **more: Any) -> Any:
        return release(replace(self, epsilon=2 * Fraction(str(self.epsilon))), counts, **more)

    return _exactly(COUNTS, AGeo, "release", sharp)


def forecast_from_the_counts() -> Caught:
    """The forecast is made from the very counts it is about, and published as if it had been public."""
    seen: list[Any] = []

    def keep_counts(*given: Any, **more: Any) -> Counts:
        counts = count_visits(*given, **more)
        seen.append(counts.values)
        return counts

    def from_counts(_self: SelectedConditions, _asked: Conditions, _source: Any = None) -> Any:
        return seen[-1] + 1

    with (
        replaced(publication, "count_visits", keep_counts),
        replaced(SelectedConditions, "settled", from_counts),
        replaced(publication, "check_claims", lambda _release: None),
    ):
        return said(recorded(SELECTION))


def level_published_although_a_test_failed() -> Caught:
    """A release that ends at a failed test says how near it was."""
    draw = SelectedConditions.draw

    def told(self: SelectedConditions, asked: Conditions, counts: Any, source: Any = None) -> Drawn:
        drawn = draw(self, asked, counts, source)
        if LEVEL in drawn.outcome:
            return drawn
        near = int((asked.at_most + 1 - counts).min())
        return replace(drawn, outcome={**drawn.outcome, LEVEL: near})

    with (
        replaced(SelectedConditions, "draw", told),
        replaced(SelectedConditions, "why_impossible", lambda *_given: None),
    ):
        return caught(exactly(_TESTED))


def claim_refunded() -> Caught:
    """Where every test passes, the ledger gives the price back, although a claim was drawn after them."""
    draw, cost = SelectedConditions.draw, SelectedConditions.cost

    def priced(self: SelectedConditions, asked: Conditions, periods: tuple[str, ...]) -> Cost:
        whole = cost(self, asked, periods)
        return msgspec.structs.replace(whole, epsilon_each=whole.epsilon)

    def alarmed(self: SelectedConditions, asked: Conditions, counts: Any, source: Any = None) -> Drawn:
        drawn = draw(self, asked, counts, source)
        return replace(drawn, alarms=int(drawn.outcome[PASSED] < len(asked.plan.blocks)))

    with replaced(SelectedConditions, "cost", priced), replaced(SelectedConditions, "draw", alarmed):
        return caught(exactly(_UNKNOWN))


def words_for_the_included_only() -> Caught:
    """A random word is drawn only for the conditions that are quiet enough for the level."""

    def sparing(self: Ladder, counts: Any, limits: Any, *, entropy: Any = None) -> Climbed:
        _, levels, margins = self._asked(counts, limits)
        busy = self.exponents_of_busy(margins, levels)
        chosen = choose(lambda: self._weights(levels, busy), busy.size, entropy)
        component, step = divmod(chosen, len(levels))
        included = margins >= levels[step]
        words = entropy.uint16(2 * int(included.sum())).view("<u4")
        halvings = self.components[component].exponents(counts.size).astype(np.uint64)
        included[included] = words & ((np.uint64(1) << halvings[included]) - np.uint64(1)) != 0
        return Climbed(
            component=component,
            level=levels[step],
            bounds=self.bounds(included, limits, levels[step]),
            guarantee=self.guarantee,
            mechanism=self.name,
            simulated=False,
        )

    with replaced(Ladder, "release", sparing):
        return caught(exactly(_TESTED))


def day_counted_for_an_hour() -> Caught:
    """The first of two hours is answered with the people of both."""

    def whole_time(visits: Any, places: Any, windows: Any, *given: Any, **more: Any) -> Counts:
        counts = count_visits(visits, places, windows, *given, **more)
        both = replace(windows[0], end=windows[-1].end)
        together = count_visits(visits, places, both, *given, **more).values
        return replace(counts, values=np.concatenate([together, counts.values[len(together) :]]))

    with replaced(publication, "count_visits", whole_time):
        return caught(exactly(_HOURS))


def half_the_delta() -> Caught:
    """The ledger is told half of the delta that a padded count needs."""
    cost = NoisyCounts.cost

    def cheap(self: NoisyCounts, asked: Conditions, periods: tuple[str, ...]) -> Cost:
        whole = cost(self, asked, periods)
        return msgspec.structs.replace(whole, delta=whole.delta / 2)

    with replaced(NoisyCounts, "cost", cheap), replaced(publication, "check_claims", lambda _release: None):
        return caught(exactly(_PADDED))


def decided_at_the_next_threshold() -> Caught:
    """A decision is drawn as if the threshold were one higher than the one that it is said of."""
    draw = OneBitDecisions.draw

    def later(self: OneBitDecisions, asked: Conditions, counts: Any, source: Any = None) -> Drawn:
        return draw(self, replace(asked, at_most=asked.at_most + 1), counts, source)

    with replaced(OneBitDecisions, "draw", later):
        return caught(exactly(_DECISION))


PUBLISHED: Final = named(
    order_by_counts_within_random_buckets,
    thresholds_of_the_first_block,
    quiet_answers_share_a_draw,
    entropy_seeded_by_a_variable,
    drawn_again_where_it_is_unclear,
    half_the_price,
    alarm_given_back,
    noise_left_out_of_a_bound,
    total_in_a_page,
    noise_of_half_the_scale,
    forecast_from_the_counts,
    level_published_although_a_test_failed,
    claim_refunded,
    words_for_the_included_only,
    day_counted_for_an_hour,
    half_the_delta,
    decided_at_the_next_threshold,
)
