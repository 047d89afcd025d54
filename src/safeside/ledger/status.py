"""What the ledger says of a dataset: what is left, what is promised, and what may have become known."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import msgspec

from safeside import records
from safeside.ledger.account import QUESTION, Dataset, Group, Releases, Reservation, Stage, Tally
from safeside.ledger.chain import Chain
from safeside.ledger.events import DOCUMENT, digest
from safeside.ledger.periods import WORD, check_periods
from safeside.ledger.store import Rows, Unreadable
from safeside.privacy.account import NONE, WORDS, ZERO, Budget, Kind, Standing, promise
from safeside.privacy.guarantee import Neighbours, Unit
from safeside.words import LANGUAGES, Subject, Words


@dataclass(frozen=True, kw_only=True, slots=True)
class Period:
    """One day or week with a budget of its own, or all time."""

    name: str
    spent: Budget
    remaining: Budget


@dataclass(frozen=True, kw_only=True, slots=True)
class Leak:
    """Of everybody in the data: that they were *not* at these places may have become known.

    Of the time `first`, of the time `last`, and of times that were asked about between them.
    """

    first: str
    last: str
    targets: tuple[str, ...]
    questions: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """A dataset's account, for people to read.

    Example
        >>> from safeside import create_ledger
        >>> with create_ledger("ledger.db") as ledger:
        ...     made = ledger.create_dataset("city", "person", epsilon=2)
        ...     print(ledger.show("city").releases)
        0
    """

    dataset: Dataset
    shares_with: tuple[str, ...]
    cap: Budget
    """What the dataset, or all that share its budget, may spend in each period."""
    standing: Budget
    """What holds for everything published so far: the caps, unless a charge was forced."""
    periods: tuple[Period, ...]
    published: Releases
    """What was published from these people so far, withdrawn or not, by number and one digest."""
    releases: int
    withdrawn: int
    """Published and taken back: no longer among the releases, and still charged."""
    unfinished: int
    returned: Fraction
    last: Reservation | None
    more_like_last: int | None
    """How many more releases like the last would fit in the periods that it looked at."""
    more_in_fresh_period: int | None
    """And in a day or week that nothing was asked about; None where there is one budget for all time."""
    leaks: tuple[Leak, ...]
    """By list of places; `Ledger.leaks` has every single time."""
    sentences: tuple[str, ...]
    promise: str
    """To the people in the data, in the words of the last question."""
    words: Words
    forgotten: int
    """Events the witness knows and this ledger does not: nothing can be published while there are any."""

    @property
    def remaining(self) -> Budget:
        """What is left, in the period that has least."""
        return reduce(Budget.least, (period.remaining for period in self.periods), self.cap)


def status(chain: Chain, dataset: str) -> Status:
    """The account of one dataset, with all that share its budget."""
    with chain.reading() as (state, rows):
        known = state.dataset(dataset)
        group = state.group(dataset)
        tallies = [state.tallies[name] for name in group.members]
        stages = sum((Counter(one.stages) for one in tallies), Counter[str]())
        recent = state.tallies[dataset].recent
        last = state.reservation(recent[-1]) if recent else None
        fresh = None if last is None or group.unit is Unit.PERSON else _more(last, group.cap)
        words = WORDS if last is None else _words(lengthen(rows, last.question.get(QUESTION)))
        return Status(
            dataset=known,
            shares_with=tuple(one for one in group.members if one != dataset),
            cap=group.cap,
            standing=group.standing,
            periods=_periods(group),
            published=group.published,
            releases=stages[Stage.COMMITTED],
            withdrawn=stages[Stage.WITHDRAWN],
            unfinished=stages[Stage.RESERVED],
            returned=sum((one.returned for one in tallies), ZERO),
            last=last,
            more_like_last=None if last is None else _more(last, group.room(last.cost.accounts)),
            more_in_fresh_period=fresh,
            leaks=_summary(rows, tallies),
            sentences=_sentences(group, tallies),
            promise=" ".join(promise_of(group.standing, group.unit, words)),
            words=words,
            forgotten=len(chain.lost()),
        )


def leaks(chain: Chain, dataset: str) -> tuple[Leak, ...]:
    """By time; a reservation without a release counts, since what was drawn may have been seen."""
    with chain.reading() as (state, rows):
        members = state.group(dataset).members
        asked: dict[str, list[str]] = {}
        for one in state.reservations():
            if one.dataset in members:
                asked.setdefault(one.window, []).append(one.targets)
        lists = {key: _names(rows, key) for keys in asked.values() for key in set(keys)}
    return tuple(
        Leak(first=when, last=when, targets=_union([lists[key] for key in set(keys)]), questions=len(keys))
        for when, keys in sorted(asked.items())
    )


def _summary(rows: Rows, tallies: list[Tally]) -> tuple[Leak, ...]:
    """By list of places, in the order of time."""
    found = [
        Leak(first=one.first, last=one.last, targets=_names(rows, key), questions=one.questions)
        for tally in tallies
        for key, one in tally.asked.items()
    ]
    return tuple(sorted(found, key=lambda leak: (leak.first, leak.last, leak.targets)))


def lengthen(rows: Rows, value: Any) -> Any:
    """A value of a question as it was asked, if its document is there."""
    if isinstance(value, dict) and DOCUMENT in value:
        body = rows.document(value[DOCUMENT])
        if body is not None and digest(body) != value[DOCUMENT]:
            raise Unreadable
        return None if body is None else msgspec.json.decode(body)
    return value


def _words(asked: object) -> Words:
    """The nouns and the language of a question, as far as it is one that this version reads."""
    said = asked if isinstance(asked, dict) else {}
    try:
        subject = records.convert(Subject, said.get("subject", {}))
    except ValueError:
        subject = Subject()
    language = said.get("language", WORDS.language)
    return Words(subject=subject, language=language if language in LANGUAGES else WORDS.language)


def _periods(group: Group) -> tuple[Period, ...]:
    names = sorted(group.spent) if group.unit is not Unit.PERSON else check_periods(group.unit, ())
    return tuple(
        Period(name=name, spent=group.spent.get(name, NONE), remaining=group.remaining(name))
        for name in names
    )


def _more(last: Reservation, room: Budget) -> int:
    many = room.epsilon // last.charged.epsilon
    if last.charged.delta:
        many = min(many, room.delta // last.charged.delta)
    return max(0, int(many))


def _union(lists: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Usually the same list was asked about all along, and nothing is left to unite."""
    return lists[0] if len(lists) == 1 else tuple(sorted(set().union(*lists)))


def _names(rows: Rows, key: str) -> tuple[str, ...]:
    targets = lengthen(rows, msgspec.json.decode(key))
    return tuple(sorted({str(one) for one in targets})) if isinstance(targets, list) else ()


def _sentences(group: Group, tallies: list[Tally]) -> tuple[str, ...]:
    """Both sentences of the standing guarantee, the first at the caps, never one total."""
    kinds = {kind for tally in tallies for kind, many in tally.kinds.items() if many}
    if not kinds:
        return ("Nothing was published from this dataset.",)
    if group.standing.delta >= 1:
        return (WORDS("promise.broken"),)
    neighbours = Neighbours.REPLACE if Kind.DP_REPLACE in kinds else Neighbours.ADD_REMOVE
    sentences = Standing(
        whole=group.standing,
        alone=_alone(tallies, neighbours) if kinds != {Kind.ADP} else None,
        alone_neighbours=neighbours,
        has_adp=Kind.ADP in kinds,
    ).sentences()
    if group.unit is Unit.PERSON:
        return sentences
    return (*sentences, f"A record here is what one person did in one {WORD[group.unit]}.")


def _alone(tallies: list[Tally], neighbours: Neighbours) -> Budget:
    """What the ordinary releases add up to by themselves, in the period where they add up to most."""
    sums: dict[str, Budget] = {}
    for tally in tallies:
        for period, amount in tally.ordinary.get(neighbours, {}).items():
            sums[period] = sums.get(period, NONE) + amount
    return reduce(Budget.most, sums.values(), NONE)


def promise_of(standing: Budget, unit: Unit, words: Words = WORDS) -> tuple[str, ...]:
    """What the people in a dataset are told, by what holds for everything published from it."""
    if standing.delta >= 1:
        return (words("promise.broken"),)
    return promise(standing.epsilon, standing.delta, unit=unit, words=words)
