"""Mechanisms and samplers with one thing spoilt."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from safeside import exact
from safeside.audit.channel import Independent
from safeside.audit.exact import Finding, Relation, audit_mechanism
from safeside.audit.short_text import show, show_pair
from safeside.audit.statistical import SamplerTest
from safeside.audit.worlds import DAY, INSTANT, Dataset, World, counts_of
from safeside.exact import Ball
from safeside.mechanisms.ageo import AGeo
from safeside.mechanisms.geometric import TwoSidedGeometric
from safeside.mechanisms.laws import Padded, Up
from safeside.mechanisms.mangat import Mangat
from safeside.mechanisms.paddedgeo import PaddedGeo
from safeside.noise.entropy import Entropy, system_entropy
from safeside.privacy.guarantee import Direction
from safeside.privacy.records import Universe
from safeside.privacy.relations import ADP

ONE: Final = Fraction(1)
_PEOPLE: Final = 2
_MISSCALED: Final = Fraction(105, 100)
_BLOCK: Final = 1 << 17


@dataclass(frozen=True, kw_only=True, slots=True)
class Caught:
    """What an audit said of a planted bug; `measured` may be infinite, and for samplers is surprise."""

    claimed: float
    measured: float
    how: str
    caught: bool

    @classmethod
    def by(cls, finding: Finding) -> Caught:
        """From an exact audit."""
        return cls(
            caught=finding.broken,
            claimed=float(finding.claimed_epsilon),
            measured=finding.measured,
            how=f"{show_pair(finding.worst)}: {show(finding.witness)}",
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Planted:
    """A bug, why it is one, and the audit that must catch it."""

    name: str
    bug: str
    audit: Callable[[], Caught]


def _audit(
    mechanism: object,
    query: Callable[[Any], Any],
    world: World,
    *,
    relation: Relation | None = None,
    claimed: Fraction = ONE,
    delta: Fraction = Fraction(0),
) -> Caught:
    compared = world.asymmetric if relation is None else relation
    return Caught.by(audit_mechanism(mechanism, query, compared, world.universe, _PEOPLE, claimed, delta))


def _all_places(world: World) -> Callable[[Dataset], tuple[int, ...]]:
    return counts_of(world.place_questions)


def paper_sign() -> Caught:
    """One-sided noise on the wrong side."""
    return _audit(AGeo(epsilon=1, direction=Direction.INCREASING), _all_places(INSTANT), INSTANT)


def half_the_noise() -> Caught:
    """Noise of half the scale."""
    return _audit(AGeo(epsilon=2), _all_places(INSTANT), INSTANT)


def disjunctive_policy() -> Caught:
    """One proposition "not A or not B or not C" where three are needed."""
    somewhere_absent: ADP[Any] = ADP({"not everywhere": lambda record: len(record) < len(DAY.places)})
    return _audit(AGeo(epsilon=1, sensitivity=3), _all_places(DAY), DAY, relation=somewhere_absent)


def not_monotone() -> Caught:
    """A count that a step can move either way."""

    def but_not_b(dataset: Dataset) -> int:
        return sum("A" in record and "B" not in record for record in dataset)

    return _audit(AGeo(epsilon=1), but_not_b, DAY)


def attribute_not_negated() -> Caught:
    """The policy negates "visited", the query counts "visited and is a woman"."""
    universe = Universe(records=tuple((here, woman) for here in (False, True) for woman in (False, True)))
    policy: ADP[tuple[bool, bool]] = ADP({"not there": lambda record: not record[0]})
    return Caught.by(audit_mechanism(AGeo(epsilon=1), _women_there, policy, universe, _PEOPLE, ONE))


def _women_there(dataset: tuple[tuple[bool, bool], ...]) -> int:
    return sum(here and woman for here, woman in dataset)


def capped_contributions() -> Caught:
    """Only the first place of each person is counted, so that one person moves one count."""

    def capped(dataset: Dataset) -> tuple[int, ...]:
        first = [min(record) for record in dataset if record]
        return tuple(first.count(place) for place in DAY.places)

    return _audit(AGeo(epsilon=1), capped, DAY)


def sensitivity_of_one_place() -> Caught:
    """Noise for one place a person, where a person can be at three."""
    return _audit(AGeo(epsilon=1), _all_places(DAY), DAY)


def a_move_is_two_changes() -> Caught:
    """Two-sided noise for one change under replacement, where a move is two."""
    mechanism = TwoSidedGeometric(epsilon=1)
    return _audit(mechanism, _all_places(INSTANT), INSTANT, relation=INSTANT.ordinary)


def noise_shared_by_all_places() -> Caught:
    """One draw added to every count."""

    def shared(counts: tuple[int, ...]) -> dict[Any, Ball]:
        law = Up(ONE)
        rows = {tuple(count + k for count in counts): law.exactly(k) for k in range(_PEOPLE)}
        far = tuple(count - counts[0] for count in counts)
        return {**rows, ("far", far): law.at_least(_PEOPLE)}

    return _audit(shared, _all_places(INSTANT), INSTANT)


def only_visited_places_are_answered() -> Caught:
    """A place without visits is left out of the table."""
    noise = AGeo(epsilon=1)

    def listed(counts: tuple[int, ...]) -> Independent:
        absent: dict[Any, Ball] = {"not listed": exact.ball(1)}
        return Independent(
            tuple(dict(noise.distribution(count, _PEOPLE)) if count else absent for count in counts)
        )

    return _audit(listed, _all_places(INSTANT), INSTANT)


def clipped_to_the_number_of_rows() -> Caught:
    """A noisy count cut off at the number of rows in the file."""
    noise = TwoSidedGeometric(epsilon=1)

    def clipped(result: tuple[int, int]) -> dict[Any, Ball]:
        count, rows = result
        law = noise.law
        inner = {z: law.exactly(z - count) for z in range(1, rows)}
        ends = {0: law.at_most(-count), rows: law.at_least(rows - count)} if rows else {0: exact.ball(1)}
        return {**inner, **ends}

    def count_and_rows(dataset: Dataset) -> tuple[int, int]:
        return sum("A" in record for record in dataset), len(dataset)

    return _audit(clipped, count_and_rows, INSTANT, relation=INSTANT.add_remove)


def pad_too_short() -> Caught:
    """PaddedGeo with the pad one step shorter than its delta needs."""
    claimed = PaddedGeo(epsilon=1, delta="0.01")
    law = Padded(claimed.rate, claimed.pad - 1)

    def short(count: int) -> dict[Any, Ball]:
        return {count + k: law.exactly(k) for k in range(2 * law.pad + 1)}

    def at_a(dataset: Dataset) -> int:
        return sum("A" in record for record in dataset)

    return _audit(short, at_a, INSTANT, relation=INSTANT.add_remove, delta=Fraction(1, 100))


def response_that_hides_the_wrong_answer() -> Caught:
    """Mangat's coins with Yes and No exchanged."""
    response = Mangat(epsilon=1)

    def exchanged(truth: bool) -> dict[Any, Ball]:
        return {not report: chance for report, chance in response.distribution(not truth).items()}

    may_leak_no: ADP[bool] = ADP({"answers No": lambda truth: not truth})
    universe = Universe(records=(False, True))
    return Caught.by(audit_mechanism(exchanged, lambda dataset: dataset[0], may_leak_no, universe, 1, ONE))


Spoil = Callable[[int, Entropy], NDArray[np.int64]]


def _sampler(spoil: Spoil) -> Caught:
    test = SamplerTest.of(Up(ONE))
    found = test.check(spoil(test.draws, system_entropy()))
    return Caught(
        caught=not found.passed,
        claimed=1.0,
        measured=found.standing,
        how=f"{found.worst}: {found.seen:,} of {test.draws:,}, allowed {found.least:,} to {found.most:,}",
    )


def _fair(rate: Fraction, number: int, entropy: Entropy) -> NDArray[np.int64]:
    return Up(rate).add_to(np.zeros(number, dtype=np.int64), entropy)


def sampler_five_percent_wide() -> Caught:
    """A scale 5 % too large."""
    return _sampler(lambda number, entropy: _fair(ONE / _MISSCALED, number, entropy))


def sampler_five_percent_narrow() -> Caught:
    """A scale 5 % too small."""
    return _sampler(lambda number, entropy: _fair(ONE * _MISSCALED, number, entropy))


def sampler_one_impossible_value() -> Caught:
    """One value below the truth among a quarter of a million."""

    def spoil(number: int, entropy: Entropy) -> NDArray[np.int64]:
        values = _fair(ONE, number, entropy)
        values[number // 2] = -1
        return values

    return _sampler(spoil)


def sampler_draws_used_twice() -> Caught:
    """Every draw handed out twice."""
    return _sampler(lambda number, entropy: np.repeat(_fair(ONE, math.ceil(number / 2), entropy), 2)[:number])


def sampler_blocks_used_twice() -> Caught:
    """What is drawn beyond the first block is what was drawn in it."""
    return _sampler(lambda number, entropy: np.resize(_fair(ONE, _BLOCK, entropy), number))


def named(*bugs: Callable[[], Caught]) -> tuple[Planted, ...]:
    """Each bug under its function's name and first line."""
    return tuple(
        Planted(name=bug.__name__.replace("_", " "), bug=(bug.__doc__ or "").strip(), audit=bug)
        for bug in bugs
    )


MECHANISMS: Final = named(
    paper_sign,
    half_the_noise,
    disjunctive_policy,
    not_monotone,
    attribute_not_negated,
    capped_contributions,
    sensitivity_of_one_place,
    a_move_is_two_changes,
    noise_shared_by_all_places,
    only_visited_places_are_answered,
    clipped_to_the_number_of_rows,
    pad_too_short,
    response_that_hides_the_wrong_answer,
)
SAMPLERS: Final = named(
    sampler_five_percent_wide,
    sampler_five_percent_narrow,
    sampler_one_impossible_value,
    sampler_draws_used_twice,
    sampler_blocks_used_twice,
)
