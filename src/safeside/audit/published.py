"""Every transcript of tiny releases, through the real `publish`, against what the ledger charged.

A mechanism that is right can be published wrongly. So releases about tiny datasets are made for every number
that can be drawn, from a file of visits through the ledger to every file, and held against the guarantee, the
charge, the truth and the answers. How places, groups and the rest are asked about is in the files beside.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final

from safeside import exact, records
from safeside.audit.channel import ELSEWHERE
from safeside.audit.exact import Finding, audit_channel
from safeside.audit.published_files import says_otherwise, too_much
from safeside.audit.publishing import LATER, STEADY, Condition, Desk, Made, Scripted, desk, words_for
from safeside.audit.short_text import show_pair
from safeside.audit.transcripts import Verdict, undercharged
from safeside.exact import Ball
from safeside.mechanisms.laws import Up

Dataset = tuple[frozenset[str], ...]
PLACES: Final = ("A", "B")
Pairs = tuple[tuple[Dataset, Dataset], ...]
NOBODY, AT_A, AT_B = frozenset[str](), frozenset({"A"}), frozenset({"B"})
AT_BOTH: Final = AT_A | AT_B
PAIRS: Final[Pairs] = (
    ((AT_A, AT_A), (NOBODY, AT_A)),
    ((AT_A, AT_B), (NOBODY, AT_B)),
    ((AT_A, AT_B), (AT_A, NOBODY)),
)
POPULARITY: Final = (0, 1, 999)
"""Of A, B and the steady place."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way to publish: its terms, what it must be charged, and the neighbours it is asked about."""

    name: str
    terms: Mapping[str, Any]
    epsilon: Fraction = Fraction(1)
    delta: Fraction = Fraction(0)
    each: Fraction | None = None
    """The epsilon of one draw, where it is not that of the whole."""
    limits: tuple[int, int] = (1, 0)
    popularity: tuple[int, int, int] | None = POPULARITY
    pairs: Pairs = PAIRS
    orders: tuple[tuple[int, ...], ...] = ((),)
    """Words that settle a random order, each equally likely."""

    whole: bool = False
    """Whether all that can be drawn is enumerated, and nothing is left for an event elsewhere."""
    highest: int = 2
    """The largest bound that is told apart; everything above it is one event."""
    of_dataset: Mapping[str, int] = field(default_factory=dict)
    """The limits with which the dataset was made."""
    shows_noise: bool = False
    """Whether every bound is the count and its noise, whatever they are."""
    own_numbers: bool = True
    """Whether each condition has its own random numbers, whatever the counts are."""
    by_place: bool = False
    """Whether a place is asked about in every window before the next place is."""

    @property
    def windows(self) -> int:
        """How many these terms ask about."""
        return 2 if "every" in self.terms else 1

    def desk(self) -> AbstractContextManager[Desk]:
        """Where it is published."""
        return desk(PLACES, self.limits, self.popularity, self.of_dataset)

    @property
    def conditions_of_one(self) -> int:
        """How many counts the price allows one person to change."""
        return int(self.epsilon / (self.each or self.epsilon))

    def limit(self, target: str) -> int | None:
        """What "at most" says of a place."""
        return dict(zip((*PLACES, STEADY), (*self.limits, 1), strict=True))[target]

    def threshold(self, target: str) -> int | None:
        """The number of people that this is."""
        return self.limit(target)

    def counts(self, dataset: Dataset) -> dict[Condition, int]:
        """How many people are at each place in each window, counted here, in the order of the answers."""
        return {
            (place, window): int(place == STEADY)
            + sum(place in person or (window > 0 and place + LATER in person) for person in dataset)
            for window in range(self.windows)
            for place in (*PLACES, STEADY)
        }

    def regions(self, true: Mapping[Condition, int]) -> Iterator[Region]:
        """What can be drawn: noise at A and B, none at the steady place, in the order the keys settle."""
        law, places = Up(self.each or self.epsilon), (*PLACES, STEADY)
        words = words_for(law, self.highest)
        moving = [condition for condition in true if condition[0] != STEADY]
        values = itertools.product(range(self.highest + 1), repeat=len(moving))
        for keys, noise in itertools.product(self.orders, values):
            drawn = {**dict.fromkeys(true, 0), **dict(zip(moving, noise, strict=True))}
            asked = sorted(true, key=lambda one: keys[-3:][places.index(one[0])]) if keys else [*true]
            asked = sorted(asked, key=lambda one: places.index(one[0])) if self.by_place else asked
            with exact.precision(exact.PMF_BITS):
                mass = exact.ball(Fraction(1, len(self.orders)))
                for value in noise:
                    mass = mass * law.exactly(value)
            bounds = {one: true[one] + drawn[one] for one in true} if self.shows_noise else None
            yield Region(words=(*keys, *(words[drawn[one]] for one in asked)), mass=mass, bounds=bounds)

    def complete(self, made: Made) -> bool:
        """Whether nothing else leads to this: more noise than was enumerated shows a larger bound."""
        bounds = [upper for _, upper in made.answers().values()]
        return self.whole or all(upper is None or upper <= self.highest for upper in bounds)

    def claims(self, made: Made) -> dict[Condition, tuple[str, int | None]]:
        """What is said of each condition beyond what is public anyway."""
        return made.answers()

    def false_answer(self, dataset: Dataset, made: Made) -> str | None:
        """An answer that is not true of the dataset, or not the same in every file, if there is one."""
        true, certain = self.counts(dataset), "alpha" not in self.terms
        for condition in too_much(made, true) if certain else ():
            return f"says too much at {condition[0]} of {show_pair((dataset, dataset))}: false"
        for condition, (state, upper) in made.answers().items():
            limit = self.limit(condition[0]) if state == "AT_MOST" else None
            for number in (upper, limit):
                if number is not None and true[condition] > number:
                    claim = f"says at most {number} at {condition[0]} ({state})"
                    return f"{claim} of {show_pair((dataset, dataset))}: false"
        return says_otherwise(made, self.threshold)


@dataclass(frozen=True, kw_only=True)
class Region:
    """Randomness that leads to one outcome: the 16-bit numbers of a point inside, and its mass."""

    words: tuple[int, ...]
    mass: Ball
    bounds: Mapping[Condition, int | None] | None = None
    """What it leads to, as far as that is known."""

    def other_than_drawn(self, dataset: Dataset, made: Made, source: Scripted) -> str | None:  # noqa: ARG002
        """What was published although this was not drawn."""
        if self.bounds is None:
            return None
        said = {condition: upper for condition, (_, upper) in made.answers().items()}
        other = next((one for one, upper in self.bounds.items() if said[one] != upper), None)
        if other is None:
            return None
        shown = show_pair((dataset, dataset))
        return f"says {said[other]} at {other[0]} where {self.bounds[other]} was drawn, of {shown}"


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
            drawn: list[tuple[Ball, Made]] = []
            for region in way.regions(way.counts(dataset)):
                source = Scripted(region.words)
                made = table.publish(dataset, source, way.terms)
                false = false or way.false_answer(dataset, made)
                other = other or region.other_than_drawn(dataset, made, source)
                seen = tuple(sorted(made.files.items()))
                charges[seen] = max(made.charged, charges.get(seen, made.charged))
                wrong = wrong or _other_price(way, made)
                drawn.append((region.mass, made))
                if way.complete(made):
                    with exact.precision(exact.PMF_BITS):
                        listed[seen] = listed.get(seen, exact.ball(0)) + region.mass
            false = false or _wrong_too_often(way, dataset, drawn)
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


def _wrong_too_often(way: Way, dataset: Dataset, drawn: Sequence[tuple[Ball, Made]]) -> str | None:
    """ "At least" and a lower bound that are wrong with more than the probability that was allowed."""
    if "alpha" not in way.terms:
        return None
    true, allowed = way.counts(dataset), Fraction(way.terms["alpha"])
    with exact.precision(exact.PMF_BITS):
        wrong = dict.fromkeys(true, 1 - sum((mass for mass, _ in drawn), exact.ball(0)))
        for mass, made in drawn:
            for condition in too_much(made, true):
                wrong[condition] += mass
        for condition, mass in wrong.items():
            if exact.upper(mass) > allowed:
                says = f"says too much at {condition[0]} with probability {float(mass):.3g}"
                return f"{says} of {show_pair((dataset, dataset))}"
    return None


def too_bold(way: Way) -> str | None:
    """ "At least" and lower bounds where every condition has the most noise that the error rate allows for.

    More of it is as improbable as the rate says, of one condition or, where it is of any, of all of them; and
    less of it says less. So with this much nothing may be said that is not true.
    """
    law, datasets = Up(way.each or way.epsilon), dict.fromkeys(itertools.chain.from_iterable(way.pairs))
    with way.desk() as table:
        for dataset in datasets:
            true = way.counts(dataset)
            of = len(true) if way.terms.get("publish_at_least") else 1
            allowed = Fraction(way.terms["alpha"]) / of
            with exact.precision(exact.PMF_BITS):
                margin = next(m for m in itertools.count(1) if exact.upper(law.at_least(m)) <= allowed)
            words = words_for(law, margin - 1)[-1:] * len(true)
            made = table.publish(dataset, Scripted(words), way.terms)
            for condition in too_much(made, true):
                return f"says too much at {condition[0]} of {show_pair((dataset, dataset))}"
    return None


def _other_price(way: Way, made: Made) -> str | None:
    """What is promised is the whole price; where there is a delta, every transcript is charged it, too."""
    promised = made.release.record.guarantee
    if (promised.epsilon, promised.delta) != (way.epsilon, way.delta):
        return f"promises {exact.show(promised.epsilon)} and delta {exact.show(promised.delta)}"
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
