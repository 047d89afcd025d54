"""What the ledger says of a dataset: what is left, what is promised, and what may have become known."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from safeside.ledger import questions
from safeside.ledger.account import Dataset, Group, Releases, Reservation, Stage
from safeside.ledger.chain import Chain
from safeside.ledger.money import NONE, ZERO, Budget
from safeside.ledger.periods import check_periods, word
from safeside.ledger.rules import find_dataset
from safeside.ledger.state import State
from safeside.ledger.store import Rows
from safeside.privacy.account import Cost, Kind, Standing, promise
from safeside.privacy.guarantee import Neighbours, Unit
from safeside.privacy.policy import Policy

TARGETS: Final = "targets"
"""The part of a question that lists what was asked about."""
WINDOW: Final = "window"
"""The part of a question that says when."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Period:
    """One day or week with a budget of its own, or all time."""

    name: str
    spent: Budget
    remaining: Budget


@dataclass(frozen=True, kw_only=True, slots=True)
class Leak:
    """Of everybody in the data: that they were *not* at these places then may have become known."""

    window: str
    targets: tuple[str, ...]
    releases: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """A dataset's account, for people to read."""

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
    sentences: tuple[str, ...]
    promise: str
    forgotten: int
    """Events the witness knows and this ledger does not: nothing can be published while there are any."""

    @property
    def remaining(self) -> Budget:
        """What is left, in the period that has least."""
        least = self.cap
        for period in self.periods:
            least = least.least(period.remaining)
        return least

    @property
    def policy(self) -> Policy:
        """The facts given up by all releases together."""
        together = Policy.none()
        for leak in self.leaks:
            together |= Policy.not_visited(leak.targets, leak.window)
        return together


def status(chain: Chain, dataset: str) -> Status:
    """The account of one dataset, with all that share its budget."""
    with chain.reading() as (state, rows):
        known = find_dataset(state, dataset)
        group = state.group(dataset)
        made = [one for one in state.reservations.values() if one.dataset in group.members]
        last = state.last(dataset)
        return Status(
            dataset=known,
            shares_with=tuple(one for one in group.members if one != dataset),
            cap=group.cap,
            standing=group.standing,
            periods=_periods(group),
            published=group.published,
            releases=sum(one.stage is Stage.COMMITTED for one in made),
            withdrawn=sum(one.stage is Stage.WITHDRAWN for one in made),
            unfinished=sum(one.stage is Stage.RESERVED for one in made),
            returned=sum((one.returned or ZERO for one in made), ZERO),
            last=last,
            more_like_last=None if last is None else _more(last, _room(group, last)),
            more_in_fresh_period=None
            if last is None or group.unit is Unit.PERSON
            else _more(last, group.cap),
            leaks=_leaks(rows, made),
            sentences=_sentences(group, made),
            promise=promise_of(group.standing, group.unit),
            forgotten=len(chain.lost()),
        )


def verify(chain: Chain) -> int:
    """Read every event and document from the beginning; the number of events, or LedgerTampered."""
    with chain.reading() as (_, rows):
        fresh = State()
        for row in rows.events(1):
            event = fresh.read(*row)
            questions.check(rows, event)
        return fresh.head.number


def _periods(group: Group) -> tuple[Period, ...]:
    names = sorted(group.spent) if group.unit is not Unit.PERSON else check_periods(group.unit, ())
    return tuple(
        Period(name=name, spent=group.spent.get(name, NONE), remaining=group.remaining(name))
        for name in names
    )


def _room(group: Group, last: Reservation) -> Budget:
    room = group.cap
    for period in last.cost.accounts:
        room = room.least(group.remaining(period))
    return room


def _more(last: Reservation, room: Budget) -> int:
    many = room.epsilon // last.charged.epsilon
    if last.charged.delta:
        many = min(many, room.delta // last.charged.delta)
    return max(0, int(many))


def _leaks(rows: Rows, made: list[Reservation]) -> tuple[Leak, ...]:
    """By window; a reservation without a release counts, since what was drawn may have been seen."""
    asked: dict[str, list[str]] = {}
    lists: dict[str, tuple[str, ...]] = {}
    for one in made:
        window, targets = one.question.get(WINDOW), one.question.get(TARGETS)
        key = json.dumps(targets)
        if key not in lists:
            lists[key] = _names(questions.lengthen(rows, targets))
        asked.setdefault("unknown" if window is None else str(window), []).append(key)
    return tuple(
        Leak(window=window, targets=_union([lists[key] for key in set(keys)]), releases=len(keys))
        for window, keys in sorted(asked.items())
    )


def _union(lists: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Usually the same list was asked about all along, and nothing is left to unite."""
    return lists[0] if len(lists) == 1 else tuple(sorted(set().union(*lists)))


def _names(targets: Any) -> tuple[str, ...]:
    return tuple(sorted({str(one) for one in targets})) if isinstance(targets, list) else ()


def _sentences(group: Group, made: list[Reservation]) -> tuple[str, ...]:
    """Both sentences of the standing guarantee, the first at the caps, never one total."""
    if not made:
        return ("Nothing was published from this dataset.",)
    if group.standing.delta >= 1:
        return (_BROKEN,)
    kinds = {one.cost.kind for one in made}
    neighbours = Neighbours.REPLACE if Kind.DP_REPLACE in kinds else Neighbours.ADD_REMOVE
    sentences = Standing(
        whole=Cost(epsilon=group.standing.epsilon, delta=group.standing.delta),
        alone=_alone(made, neighbours),
        alone_neighbours=neighbours,
        has_adp=Kind.ADP in kinds,
    ).sentences()
    if group.unit is Unit.PERSON:
        return sentences
    return (*sentences, f"A record here is what one person did in one {word(group.unit)}.")


def _alone(made: list[Reservation], neighbours: Neighbours) -> Cost | None:
    """What the ordinary releases add up to by themselves, in the period where they add up to most."""
    sums: dict[str, Cost] = {}
    for one in made:
        cost = one.cost.charge.alone(neighbours)
        if cost is not None:
            for period in one.cost.accounts:
                sums[period] = sums[period] + cost if period in sums else cost
    if not sums:
        return None
    return Cost(
        epsilon=max(cost.epsilon for cost in sums.values()), delta=max(cost.delta for cost in sums.values())
    )


_BROKEN: Final = "More was charged to this dataset than any promise allows: nothing is promised any more."


def promise_of(standing: Budget, unit: Unit) -> str:
    """What the people in a dataset are told, by what holds for everything published from it."""
    return _BROKEN if standing.delta >= 1 else promise(standing.epsilon, standing.delta, unit=unit)
