"""Noise that is known: every answer of a list is its own count, noise and threshold.

The lists are longer than the blocks in which the code works; or are asked about in two hours, with everything
that can be asked beside. One place has a crowd, and some of the noise is large.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from safeside import exact
from safeside.audit.published_files import says_otherwise
from safeside.audit.published_ordinary import bits_of, words_of
from safeside.audit.publishing import HOURS, STEADY, Scripted, desk, just_above, words_for
from safeside.errors import ReleaseError
from safeside.mechanisms.ladder import NO_BOUND
from safeside.mechanisms.laws import Padded, Up
from safeside.mechanisms.optimal_decision import OptimalDecision
from safeside.mechanisms.paddedgeo import PaddedGeo
from safeside.mechanisms.selection import Selection
from safeside.mechanisms.selection_plan import plan_selection

Whole = NDArray[np.int64]
BORDER: Final = 4096
"""The first block of sparse answers: a border that every long list crosses."""
_CROWD: Final = 300
"""More people than fit into a byte."""
_HIGHEST: Final = 61
"""The most noise that a place gets."""
_SMALL: Final = 3
"""The most that others get, so that they are near their thresholds."""
_NO_BOUND: Final = -1
_DELTA: Final = Fraction(1, 10)
_LIMITS: Final = {"max_places_per_person": 2}
_WITH_HOURS: Final[Mapping[str, Any]] = {**HOURS, **_LIMITS}
_BESIDE: Final[Mapping[str, Any]] = {
    **{"at_least": 50, "alpha": "0.3", "publish_at_least": True, "people": 1000}
}


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """The conditions of a list, window by window, in the order of the answers: the steady place first."""

    counts: Whole
    limits: Whole
    windows: int

    @property
    def places(self) -> int:
        return self.counts.size // self.windows

    def some(self, number: int) -> Whole:
        """For each condition one of so many numbers, in no order that a block could share."""
        at = np.arange(self.counts.size)
        return (5 * at + at // 7 + 1) % number


Known = tuple[Sequence[int], Whole]
"""Random numbers in the order in which they are taken, and the bounds that follow; -1 where there is none."""


def _counts(asked: _Asked) -> Known:
    often = np.arange(asked.counts.size) % 3 > 0
    noise = np.where(often, asked.some(_SMALL + 1), asked.some(_HIGHEST + 1))
    # One more than its threshold, and less than that of the first place.
    noise[-1] = 1
    words = words_for(Up(Fraction(1, 10) / asked.windows), _HIGHEST)
    return [words[one] for one in noise], asked.counts + noise


def _sparse(asked: _Asked) -> Known:
    words, values = _counts(asked)
    # Each place is asked about all hours before the next, and the first of the answers last of all.
    order = np.roll(np.arange(asked.counts.size).reshape(asked.windows, -1).T, -1, axis=0).ravel()
    return [words[at] for at in order.tolist()], np.where(values <= asked.limits, asked.limits, values)


def _padded(asked: _Asked) -> Known:
    law = PaddedGeo(epsilon=Fraction(1, asked.windows), delta=_DELTA / asked.windows).law
    assert isinstance(law, Padded)
    words, noise = words_of(law), asked.some(2 * law.pad + 1)
    sides, above, below = zip(*(words[value] for value in noise.tolist()), strict=True)
    return [*itertools.chain.from_iterable(sides), *above, *below], asked.counts + noise


def _decision(asked: _Asked) -> Known:
    decision = OptimalDecision(epsilon=Fraction(1, asked.windows), delta=_DELTA / asked.windows)
    steps = np.maximum(0, asked.limits + 1 - asked.counts)
    says = {k: decision.beta(int(k), 1) for k in np.unique(steps).tolist()}
    true = (asked.some(2) == 1) & (steps > 0)
    order = np.argsort(steps, kind="stable")
    words = (bits_of(says[int(steps[at])], bool(true[at])) for at in order)
    return [*itertools.chain.from_iterable(words)], np.where(true, asked.limits, _NO_BOUND)


def _selection(asked: _Asked) -> Known:
    # Where nothing is expected, claims are about the first 2^k of the list: with one of so many, about all.
    plan = plan_selection(np.ones(asked.counts.size, np.int64), int(asked.limits.min()), 1)
    ladder = Selection(epsilon=1, plan=plan).ladder
    assert ladder is not None
    shares, above = ladder.probabilities(asked.counts, asked.limits), exact.ball(0)
    likely = max(shares, key=lambda one: float(shares[one].mid()))
    for one, share in shares.items():
        if one == likely:
            break
        with exact.precision(exact.PMF_BITS):
            above = above + share
    component, level = likely
    halvings = ladder.components[component].exponents(asked.counts.size)
    kept = asked.some(3) > 0
    # A word leaves a condition out where its last bits, so many as there are halvings, are all 0.
    own = np.where(kept, 1, 0).tolist()
    included = kept & (halvings > 0) & (asked.limits + 1 - asked.counts >= level)
    words = [*just_above(above, shares[likely]), *itertools.chain.from_iterable((one, 0) for one in own)]
    bounds = ladder.bounds(included, asked.limits, level)
    return words, np.where(bounds == NO_BOUND, _NO_BOUND, bounds)


_STANDARD: Final = {"epsilon": 1, "guarantee": "dp"}
_METHODS: Final[Mapping[str, tuple[Callable[[_Asked], Known], Mapping[str, Any]]]] = {
    "counts": (_counts, {"epsilon": "1/10"}),
    "sparse": (_sparse, {"epsilon": "1/10", "order": "popularity"}),
    "padded": (_padded, {**_STANDARD, "delta": _DELTA}),
    "decision": (_decision, {**_STANDARD, "delta": _DELTA, "decision": True}),
    "selection": (_selection, {"epsilon": 1, "method": "selection"}),
}
WAYS: Final = tuple(_METHODS)


def long_list(number: int, name: str, windows: int = 1) -> str | None:
    """A list with noise that is known: every answer is its own count, noise and threshold."""
    known, terms = _METHODS[name]
    places = [f"p{at:05}" for at in range(number)]
    # So that the first place beyond the block has a lower threshold than the first of all.
    limits = [(2 - at) % 3 for at in range(number)]
    # One person at each of a few places, at the border and at both ends; and a crowd.
    busy = sorted({0, 1, number // 2, *({BORDER - 2, BORDER - 1} if number > BORDER else ()), number - 1})
    people = [places[at] for at in busy] + [places[3]] * _CROWD
    counts = [people.count(place) if place in people else 0 for place in places]
    asked = _Asked(
        counts=np.tile(np.array([1, *counts]), windows),
        limits=np.tile(np.array([1, *limits]), windows),
        windows=windows,
    )
    words, bounds = known(asked)
    of_dataset: dict[str, int] = {}
    if windows > 1:
        of_dataset = {**_LIMITS, **({"people": 1000} if name == "counts" else {})}
        limited = name != "selection"
        terms = {**terms, **(_WITH_HOURS if limited else HOURS), **(_BESIDE if name == "counts" else {})}
    if name == "sparse":
        # Fewer alarms than conditions, so that they are asked in turn, and enough for all but one.
        terms = {**terms, "max_alarms": asked.counts.size - 1}
    popularity = None if name == "selection" else range(number + 1)
    with desk(places, limits, popularity, of_dataset) as table:
        try:
            drawn = Scripted(np.array(words, np.uint16))
            said = table.publish([frozenset({one}) for one in people], drawn, terms)
        except ReleaseError:
            return "publish refuses its own release"
    answers = said.answers()
    conditions = itertools.product(range(windows), (STEADY, *places))
    for (window, place), bound, limit in zip(conditions, bounds.tolist(), asked.limits.tolist(), strict=True):
        state, upper = answers[place, window]
        expected = None if bound == _NO_BOUND else bound
        quiet = expected is not None and expected <= limit
        if upper != expected or (state == "AT_MOST") != quiet:
            here = f"place {place} of {number:,}"
            return f"{here} is answered {state}, {upper} where the bound is {expected}"
    return says_otherwise(said, {STEADY: 1, **dict(zip(places, limits, strict=True))}.get)
