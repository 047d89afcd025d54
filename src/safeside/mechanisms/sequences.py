"""Queries asked one after another: what was said, which is asked next, how often one person counts.

The next query may depend on what was said so far and on nothing else: an order taken from the data is itself
an output, and nobody paid for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction

from safeside import exact
from safeside.errors import BadQuestion
from safeside.exact import Ball, ball
from safeside.mechanisms.published import Tail

Alarm = int | Fraction | Tail | bool


class Answer(IntEnum):
    """What became of a query."""

    NOT_ASKED = 0
    QUIET = 1
    ALARM = 2


@dataclass(frozen=True, slots=True)
class Reply:
    """One output of a sequence: which query, and its alarm, or None where it was quiet (written ⊥)."""

    query: int
    alarm: Alarm | None


Transcript = tuple[Reply, ...]
Order = Callable[[Sequence[Reply]], int | None]
"""From the outputs so far, the next query, or None to stop. It must use nothing else."""


def in_given_order(number: int) -> Order:
    """Ask the queries in the order they were given."""
    return lambda said: len(said) if len(said) < number else None


def next_query(order: Order, said: Sequence[Reply], unasked: AbstractSet[int]) -> int | None:
    """What the order asks next, if it is a query that was listed and has not been asked."""
    query = order(said)
    if query is not None and query not in unasked:
        raise BadQuestion(
            f"The order asks for query {query}, which is not in the list or was asked before.",
            "List a query once for each time it may be asked, and count every repeat in max_conditions.",
        )
    return query


def run_queries(order: Order, alarms: int, number: int, ask: Callable[[int], Alarm | None]) -> Transcript:
    """Ask `number` queries at most, as the order says, until nothing is left or the last alarm is heard."""
    said: list[Reply] = []
    unasked = set(range(number))
    left = alarms
    while left and (query := next_query(order, said, unasked)) is not None:
        alarm = ask(query)
        said.append(Reply(query, alarm))
        unasked.remove(query)
        left -= alarm is not None
    return tuple(said)


def every_transcript(
    outcomes: Sequence[Mapping[Alarm | None, Ball]], alarms: int, order: Order | None = None
) -> dict[Transcript, Ball]:
    """Every transcript with its probability, from the outcomes of each query where they are independent."""
    ask = in_given_order(len(outcomes)) if order is None else order
    found: dict[Transcript, Ball] = {}

    def walk(said: Transcript, mass: Ball, left: int) -> None:
        unasked = set(range(len(outcomes))).difference(one.query for one in said)
        query = next_query(ask, said, unasked) if left else None
        if query is None:
            found[said] = mass
            return
        for alarm, probability in outcomes[query].items():
            walk((*said, Reply(query, alarm)), mass * probability, left - (alarm is not None))

    with exact.precision(exact.PMF_BITS):
        walk((), ball(1), alarms)
    return found
