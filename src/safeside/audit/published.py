"""The audit of the published path: from a file of visits through `publish` and the ledger to every file.

A mechanism that is right can be published wrongly. So the real `publish` is run on neighbouring datasets:
with all randomness enumerated, every transcript (all files of the release) against what the ledger charged;
with the same recorded randomness, every choice against its neighbour's; and across the borders of the blocks
in which the code works, every answer against the truth.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np

from safeside import exact, records
from safeside.audit.case import Case, Check
from safeside.audit.channel import ELSEWHERE
from safeside.audit.exact import Finding, audit_channel
from safeside.audit.publishing import (
    HOURS,
    LATER,
    STEADY,
    Condition,
    Desk,
    Made,
    Scripted,
    desk,
    replaced,
    words_for,
)
from safeside.audit.short_text import show_pair
from safeside.audit.transcripts import Verdict, undercharged
from safeside.errors import ReleaseError
from safeside.exact import Ball
from safeside.mechanisms.laws import Up
from safeside.noise.entropy import system_entropy

Dataset = tuple[frozenset[str], ...]
PLACES: Final = ("A", "B")
Pairs = tuple[tuple[Dataset, Dataset], ...]
NOBODY, AT_A, AT_B = frozenset[str](), frozenset({"A"}), frozenset({"B"})
PAIRS: Final[Pairs] = (
    ((AT_A, AT_A), (NOBODY, AT_A)),
    ((AT_A, AT_B), (NOBODY, AT_B)),
    ((AT_A, AT_B), (AT_A, NOBODY)),
)
POPULARITY: Final = (0, 1, 999)
"""Of A, B and the steady place."""
_HIGHEST: Final = 2
"""The largest bound that is told apart; everything above it is one event."""
_SEEDS: Final = (1, 2)
_BORDER: Final = 4096
"""The first block of sparse answers: a border that every long list crosses."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way to publish: its terms, what it must be charged, and the neighbours it is asked about."""

    name: str
    terms: Mapping[str, Any]
    epsilon: Fraction = Fraction(1)
    delta: Fraction = Fraction(0)
    limits: tuple[int, int] = (1, 1)
    popularity: tuple[int, int, int] | None = POPULARITY
    pairs: Pairs = PAIRS
    orders: tuple[tuple[int, ...], ...] = ((),)
    """Words that settle a random order, each equally likely."""

    whole: bool = False
    """Whether all that can be drawn is enumerated, and nothing is left for an event elsewhere."""

    @property
    def windows(self) -> int:
        """How many these terms ask about."""
        return 2 if "every" in self.terms else 1

    def desk(self) -> AbstractContextManager[Desk]:
        """Where it is published."""
        return desk(PLACES, self.limits, self.popularity)

    def counts(self, dataset: Dataset) -> dict[Condition, int]:
        """How many people are at each place in each window, counted here, in the order of the answers."""
        return {
            (place, window): int(place == STEADY)
            + sum(place in person or (window > 0 and place + LATER in person) for person in dataset)
            for window in range(self.windows)
            for place in (*PLACES, STEADY)
        }

    def regions(self, _true: Mapping[Condition, int]) -> Iterator[Region]:
        """What can be drawn: noise at A and B, none at the steady place, in the order the keys settle."""
        law, places = Up(self.epsilon), (*PLACES, STEADY)
        words = words_for(law, _HIGHEST)
        noises = itertools.product(range(_HIGHEST + 1), repeat=len(PLACES))
        for keys, noise in itertools.product(self.orders, noises):
            by_place = dict(zip(places, (*noise, 0), strict=True))
            asked = sorted(places, key=lambda place: keys[-3:][places.index(place)]) if keys else places
            with exact.precision(exact.PMF_BITS):
                mass = exact.ball(Fraction(1, len(self.orders)))
                for value in noise:
                    mass = mass * law.exactly(value)
            yield Region(words=(*keys, *(words[by_place[place]] for place in asked)), mass=mass)

    def complete(self, made: Made) -> bool:
        """Whether nothing else leads to this: more noise than was enumerated shows a larger bound."""
        bounds = [upper for _, upper in made.answers().values()]
        return self.whole or all(upper is None or upper <= _HIGHEST for upper in bounds)

    def claims(self, made: Made) -> dict[Condition, tuple[str, int | None]]:
        """What is said of each condition beyond what is public anyway."""
        return made.answers()

    def false_answer(self, dataset: Dataset, made: Made) -> str | None:
        """An answer that is not true of the dataset, if there is one."""
        true = self.counts(dataset)
        for condition, (state, upper) in made.answers().items():
            if upper is not None and true[condition] > upper:
                said = f"says at most {upper} at {condition[0]} ({state})"
                return f"{said} of {show_pair((dataset, dataset))}: false"
        return None


@dataclass(frozen=True, kw_only=True)
class Region:
    """Randomness that leads to one outcome: the 16-bit numbers of a point inside, and its mass."""

    words: tuple[int, ...]
    mass: Ball

    def other_than_drawn(self, dataset: Dataset, made: Made, source: Scripted) -> str | None:  # noqa: ARG002
        """What was published although this was not drawn; by itself a region does not know."""
        return None


def _keys(order: Sequence[int]) -> tuple[int, ...]:
    """Eight random keys for each place; the last decides, and the smallest is asked first."""
    return (0,) * (7 * len(order)) + tuple(order)


ORDERS: Final = (_keys((0, 1, 2)), _keys((1, 0, 2)))
"""Both orders of A and B; the steady place, whose answer never changes, comes last."""
WAYS: Final = (
    Way(name="counts", terms={"epsilon": 1}),
    Way(name="sparse, by popularity", terms={"epsilon": 1, "max_alarms": 1, "order": "popularity"}),
    Way(
        name="sparse, random order",
        terms={"epsilon": 1, "max_alarms": 1, "order": "random"},
        orders=ORDERS,
    ),
)
ALL_TERMS: Final[Mapping[str, Mapping[str, Any]]] = {
    **{way.name: way.terms for way in WAYS},
    "at least": {"epsilon": 1, "at_least": 3, "alpha": "0.3"},
    "padded": {"epsilon": 1, "guarantee": "dp", "delta": "0.01"},
    "decision": {"epsilon": 1, "guarantee": "dp", "delta": "0.01", "decision": True},
    "selection": {"epsilon": 1, "method": "selection"},
    "selection, two hours": {"epsilon": 1, "method": "selection", **HOURS},
}
"""Every method there is."""


def places() -> Iterator[Case | Check]:
    """Every row about places, and about where the randomness comes from."""
    for way in WAYS:
        setting = f"eps = {exact.show(way.epsilon)}; {way.name}: every transcript through publish and ledger"
        yield Case(name="published", setting=setting, tight=True, run=partial(exactly, way))
    for name, terms in ALL_TERMS.items():
        yield Check(
            name="published",
            setting=f"{name}: the same randomness on neighbours",
            run=partial(frozen, Way(name=name, terms=terms)),
        )
    yield Check(
        name="entropy",
        setting="the system's source, with every environment variable set",
        run=only_from_the_system,
    )
    for number in (_BORDER, _BORDER + 1):
        yield Check(
            name="published",
            setting=f"sparse: {number:,} places with thresholds that differ, no noise",
            run=partial(borders, number),
        )


def exactly(way: Way) -> Verdict:
    """All transcripts against the charge, every bound against the truth, every draw against its region.

    Whatever is not enumerated on the true counts, or not complete, is one event.
    """
    channel: dict[Dataset, dict[Any, Ball]] = {}
    charges: dict[Any, Fraction] = {ELSEWHERE: way.epsilon}
    false: str | None = None
    other: str | None = None
    wrong: str | None = None
    with way.desk() as table:
        for dataset in dict.fromkeys(itertools.chain.from_iterable(way.pairs)):
            listed: dict[Any, Ball] = {}
            for region in way.regions(way.counts(dataset)):
                source = Scripted(region.words)
                made = table.publish(dataset, source, way.terms)
                false = false or way.false_answer(dataset, made)
                other = other or region.other_than_drawn(dataset, made, source)
                seen = tuple(sorted(made.files.items()))
                charges[seen] = max(made.charged, charges.get(seen, made.charged))
                wrong = wrong or _other_price(way, made)
                if way.complete(made):
                    with exact.precision(exact.PMF_BITS):
                        listed[seen] = listed.get(seen, exact.ball(0)) + region.mass
            with exact.precision(exact.PMF_BITS):
                left = 1 - sum(listed.values(), exact.ball(0))
            channel[dataset] = listed if way.whole else {**listed, ELSEWHERE: left}
    if not way.delta:
        with exact.precision(exact.PMF_BITS):
            both = ((channel[here], channel[there]) for here, there in way.pairs)
            less = undercharged(both, charges.__getitem__, way.epsilon)
        wrong = wrong or (None if less is None else less[0])
    return Verdict(
        name=way.name,
        finding=_shortened(audit_channel(channel, way.pairs, way.epsilon, way.delta)),
        false_statement=false or _more_than_answers(channel) or other,
        undercharged=wrong,
    )


def _other_price(way: Way, made: Made) -> str | None:
    """Where there is a delta, nothing comes back: every transcript is charged the whole price."""
    whole = not way.delta or made.charged == way.epsilon
    if whole and made.charged_delta == way.delta:
        return None
    booked, price = (
        (exact.show(e), exact.show(d))
        for e, d in ((made.charged, made.charged_delta), (way.epsilon, way.delta))
    )
    return f"books {booked[0]} and delta {booked[1]} of {price[0]} and {price[1]}"


def _more_than_answers(channel: Mapping[Dataset, Mapping[Any, Ball]]) -> str | None:
    """Two transcripts with the same answers, order and outcome are the same in every other file."""
    files: dict[tuple[bytes, bytes, bytes], Any] = {}
    for seen in dict.fromkeys(itertools.chain.from_iterable(channel.values())):
        if seen == ELSEWHERE:
            continue
        made = dict(seen)
        outcome = json.loads(made["release.json"]).get("outcome")
        key = made["answers.csv"], made.get("order.csv", b""), records.canonical(outcome)
        other = dict(files.setdefault(key, seen))
        for name, data in made.items():
            if other.get(name) != data:
                return f"{name} says more than the answers do"
    return None


def _shortened(finding: Finding) -> Finding:
    """The witness by its answers: a transcript is whole files. With a delta it is several, of which one."""
    seen = finding.witness
    first = seen[0] if finding.claimed_delta and seen else seen
    if first is None or first == ELSEWHERE:
        return finding
    return replace(finding, witness=dict(first)["answers.csv"].decode().splitlines()[1:])


def frozen(way: Way) -> str | None:
    """The same recorded randomness on neighbours: choices are the same, and answers move with the counts."""
    with way.desk() as table:
        for (left, right), seed in itertools.product(way.pairs, _SEEDS):
            sources = Scripted(seed=seed), Scripted(seed=seed)
            one = table.publish(left, sources[0], way.terms)
            two = table.publish(right, sources[1], way.terms)
            wrong = way.false_answer(left, one) or way.false_answer(right, two) or _choices(one, two)
            after = way.counts(right)
            fell = {condition: n - after[condition] for condition, n in way.counts(left).items()}
            if not one.outcome():
                wrong = wrong or _moved(one, two, fell)
            elif one.outcome() == two.outcome():
                wrong = wrong or _grown(way.claims(one), way.claims(two), fell)
                if sources[0].taken != sources[1].taken:
                    wrong = wrong or "how much randomness is taken depends on the data"
            if wrong:
                return f"{wrong}; {show_pair((left, right))}"
    return None


def _choices(one: Made, two: Made) -> str | None:
    """Whatever is published beside the answers must not depend on the data."""
    for name in ("order.csv", "forecast.csv"):
        if one.files.get(name) != two.files.get(name):
            return f"{name} depends on the data"
    if one.files.keys() != two.files.keys():
        return "which files there are depends on the data"
    written = [json.loads(made.files["release.json"]) for made in (one, two)]
    for record in written:
        del record["answers"], record["files"]
        # An output of the draw, as the answers are.
        record.pop("outcome", None)
    return None if written[0] == written[1] else "release.json depends on the data beyond its answers"


def _moved(one: Made, two: Made, falls: Mapping[Condition, int]) -> str | None:
    """Where a count is the same so is the answer; where it fell, the bound fell by no more."""
    here, there = one.answers(), two.answers()
    stopped = {state for state, _ in (*here.values(), *there.values())} & {"NOT_ASKED"}
    for condition, (state, upper) in here.items():
        fell, place = falls[condition], condition[0]
        other_state, other = there[condition]
        if stopped or upper is None or other is None:
            continue
        if fell == 0 and (state, upper) != (other_state, other):
            return f"the answer at {place} changes although its count does not"
        if not upper - fell <= other <= upper:
            return f"the bound at {place} moves by other than its count"
    return None


def _grown(
    here: Mapping[Condition, Any], there: Mapping[Condition, Any], falls: Mapping[Condition, int]
) -> str | None:
    """Of one claim, with the same level and component: whoever leaves can only add to what it is about."""
    for condition, said in here.items():
        if said != there[condition] and (falls[condition] == 0 or said[1] is not None):
            return f"the answer at {condition[0]} changes although its count does not, or is withdrawn"
    return None


class EveryVariable(dict[str, str]):
    """An environment in which every variable is set."""

    def __contains__(self, key: object) -> bool:
        return True

    def __getitem__(self, key: str) -> str:
        return super().__getitem__(key) if super().__contains__(key) else "1"

    def get(self, key: str, _default: Any = None) -> Any:
        return self[key]


def only_from_the_system() -> str | None:
    """What the system's source gives follows from the system's bytes, whatever variables are set."""
    for size in (8, 5000):
        drawn = []
        for filler in (1, 2, 1):
            with (
                replaced(os, "environ", EveryVariable(os.environ)),
                replaced(os, "urandom", lambda n, filler=filler: bytes([filler]) * n),
            ):
                source = system_entropy()
                drawn.append((source.uint16(size).tobytes(), source.bits(64)))
        if drawn[0][0] == drawn[1][0] or drawn[0][1] == drawn[1][1]:
            return "the system's source gives the same bits although the system's bytes differ"
        if drawn[0] != drawn[2]:
            return "the system's source takes bits from elsewhere than the system"
    return None


def borders(number: int) -> str | None:
    """A long list without noise: every place is answered by its own threshold, on both sides of a border."""
    places = [f"p{at:05}" for at in range(number)]
    limits = [1 if at < _BORDER else 0 for at in range(number)]
    # One person at each of a few places, at the border and at both ends.
    busy = {0, 1, number // 2, _BORDER - 2, _BORDER - 1, number - 1}
    dataset = tuple(frozenset({places[at]}) for at in sorted(busy) if at < number)
    # Randomness that makes no noise: for each place the word in the middle of the cells of 0.
    silent = Scripted(np.full(number + 1, words_for(Up(Fraction(1)), 0)[0]))
    with desk(places, limits, [*range(number), number]) as table:
        terms = {"epsilon": 1, "max_alarms": number, "order": "popularity"}
        try:
            answers = table.publish(dataset, silent, terms).answers()
        except ReleaseError:
            return "publish refuses its own release"
    for at, place in enumerate(places):
        state, upper = answers[place, 0]
        true = 1 if at in busy else 0
        expected = "AT_MOST" if true <= limits[at] else "UNCLEAR"
        if state != expected or upper is None or upper < true:
            return f"place {at + 1:,} of {number:,} is answered {state} where it is {expected}"
    return None
