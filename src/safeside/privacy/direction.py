"""Which way a count can move along an allowed step, and how far.

One-sided noise is private only on a count that never moves the wrong way. Whether it does is *decided* here,
never guessed: the possible truth vectors of the query's own atoms are enumerated, with the policy's
propositions written in those atoms. Propositions that speak of other atoms are left out, which only adds
neighbours and so cannot make a query look safer than it is. The vectors that occur in the data play no part.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from operator import itemgetter
from typing import Final, TypeVar

from safeside.errors import NotMonotone, NowhereElse, PrivacyError
from safeside.privacy.guarantee import Direction, one_of
from safeside.privacy.policy import NOT, Policy, require_known

R = TypeVar("R")
Truth = Mapping[str, bool]
"""What is true of one record, atom by atom."""
Formula = Callable[[Truth], int]
"""A condition (True or False), or how much one record adds to a sum of conditions."""

MOST_PAIRS: Final = 1 << 22
"""Pairs of truth vectors that are still enumerated: eleven free atoms."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CountQuery:
    """Counts the records for which `condition` holds; `possible` lists the truth vectors there can be."""

    atoms: tuple[str, ...]
    condition: Formula
    possible: InitVar[Iterable[Truth] | None] = None
    name: str = "the query"
    vectors: tuple[Truth, ...] = field(init=False, repr=False)

    def __post_init__(self, possible: Iterable[Truth] | None) -> None:
        object.__setattr__(self, "vectors", _vectors(self.atoms, possible))


def any_of(atoms: Sequence[str], possible: Iterable[Truth] | None = None) -> CountQuery:
    """People who visited at least one of the atoms: a region, distinct people and never a sum."""
    return _query("any of them", lambda v: any(v.values()), atoms, possible)


def none_of(atoms: Sequence[str], possible: Iterable[Truth] | None = None) -> CountQuery:
    """People who visited none of the atoms."""
    return _query("none of them", lambda v: not any(v.values()), atoms, possible)


def exactly_one_of(atoms: Sequence[str], possible: Iterable[Truth] | None = None) -> CountQuery:
    """People who visited just one of the atoms."""
    return _query("exactly one of them", lambda v: sum(v.values()) == 1, atoms, possible)


def number_of(atoms: Sequence[str], possible: Iterable[Truth] | None = None) -> CountQuery:
    """Visits, each person and atom once."""
    return _query("the number of them", lambda v: sum(v.values()), atoms, possible)


def _query(
    name: str, condition: Formula, atoms: Sequence[str], possible: Iterable[Truth] | None
) -> CountQuery:
    return CountQuery(atoms=tuple(atoms), condition=condition, possible=possible, name=name)


def at_most_one(atoms: Sequence[str]) -> list[Truth]:
    """The truth vectors where a record satisfies one atom or none: one place at one instant."""
    return [{atom: atom == chosen for atom in atoms} for chosen in (None, *atoms)]


def _vectors(atoms: tuple[str, ...], possible: Iterable[Truth] | None) -> tuple[Truth, ...]:
    if possible is not None:
        vectors = tuple(dict(vector) for vector in possible)
        if not vectors or any(set(vector) != set(atoms) for vector in vectors):
            raise PrivacyError(
                "The possible truth vectors are empty, or do not speak of the query's own atoms.",
                "List every combination a record can have, each with a value for every atom and no other.",
            )
    elif 4 ** len(atoms) > MOST_PAIRS:
        raise _too_many(f"all combinations of {len(atoms)} atoms")
    else:
        values = itertools.product((False, True), repeat=len(atoms))
        vectors = tuple(dict(zip(atoms, row, strict=True)) for row in values)
    if len(vectors) ** 2 > MOST_PAIRS:
        raise _too_many(f"{len(vectors):,} truth vectors")
    return vectors


def _too_many(what: str) -> PrivacyError:
    return PrivacyError(
        f"Direction cannot be decided by enumeration: {what} are too many.",
        "List the truth vectors that are possible, or use Declared with a reason and small cases of it.",
    )


def written_in(
    atoms: Iterable[str], policy: Policy, written: Mapping[str, Formula] | None = None
) -> list[Formula]:
    """The policy's propositions that can be written in these atoms; the others are left out, which is safe.

    `A` and `not A` are understood for an atom `A`; any other proposition is given in `written`, by its name,
    and must be one of the policy's: a proposition nobody gave up would hide neighbours that exist.
    """
    formulas: list[Formula] = []
    names = list(atoms)
    for atom in names:
        if atom in policy:
            formulas.append(itemgetter(atom))
        if NOT + atom in policy:
            formulas.append(_fails(atom))
    for name, formula in (written or {}).items():
        require_known(name, policy.propositions, "proposition in this policy")
        if name.removeprefix(NOT) in names:
            raise PrivacyError(
                f"The proposition {name!r} was written out, and it already says something of the atom.",
                "Give a proposition that is no atom and no atom's negation a name of its own.",
            )
        formulas.append(formula)
    return formulas


def _fails(atom: str) -> Formula:
    return lambda vector: not vector[atom]


def _signature(vector: Truth, propositions: Sequence[Formula]) -> int:
    """The propositions true of a vector, as bits: one vector steps to another when its bits are all kept."""
    return sum(1 << place for place, holds in enumerate(propositions) if holds(vector))


def counterexample(
    query: CountQuery,
    policy: Policy,
    direction: Direction,
    written: Mapping[str, Formula] | None = None,
) -> tuple[Truth, Truth] | None:
    """An allowed step along which the query moves against `direction`, as close a pair as there is."""
    wanted = one_of(Direction, direction, "direction")
    if wanted is Direction.NEITHER:
        return None
    propositions = written_in(query.atoms, policy, written)
    sign = 1 if wanted is Direction.DECREASING else -1
    low: dict[int, tuple[int, Truth]] = {}
    high: dict[int, tuple[int, Truth]] = {}
    for vector in query.vectors:
        bits = _signature(vector, propositions)
        value = sign * _value(query, vector)
        if bits not in low or value < low[bits][0]:
            low[bits] = value, vector
        if bits not in high or value > high[bits][0]:
            high[bits] = value, vector
    wrong = [
        (one, other)
        for bits, (least, one) in low.items()
        for kept, (most, other) in high.items()
        if least < most and not bits & ~kept
    ]
    return min(
        wrong, key=lambda pair: sum(pair[0][atom] != pair[1][atom] for atom in query.atoms), default=None
    )


def _value(query: CountQuery, vector: Truth) -> int:
    value = query.condition(vector)
    if int(value) != value:
        raise PrivacyError(
            f"The condition of {query.name!r} gave {value!r}, which is no whole number.",
            "Count people: give a condition that is true or false, or a whole number.",
        )
    return int(value)


def direction_of(
    query: CountQuery, policy: Policy, written: Mapping[str, Formula] | None = None
) -> Direction:
    """The query's direction under the policy; one that no step can move is called decreasing."""
    for direction in (Direction.DECREASING, Direction.INCREASING):
        if counterexample(query, policy, direction, written) is None:
            return direction
    return Direction.NEITHER


def require_monotone(
    query: CountQuery,
    policy: Policy,
    wanted: Direction | None = None,
    written: Mapping[str, Formula] | None = None,
) -> Direction:
    """The direction one-sided noise may take on this query, or a refusal that shows the offending pair."""
    directions = (Direction.DECREASING, Direction.INCREASING) if wanted is None else (wanted,)
    against = []
    for direction in directions:
        pair = counterexample(query, policy, direction, written)
        if pair is None:
            return direction
        against.append(f"not {direction}: {_step_sentence(query, *pair)}")
    raise NotMonotone(
        f"One-sided noise on {query.name!r} would not be private under this policy. It is "
        + "; and ".join(against)
        + ".",
        "Use two-sided noise, or a policy that negates exactly what is counted.",
    )


def require_direction(
    queries: Sequence[CountQuery],
    policy: Policy,
    wanted: Direction | None = None,
    written: Mapping[str, Formula] | None = None,
) -> tuple[Direction, int]:
    """The one direction of queries on the same atoms, and the most that one step can change of all of them.

    Refused where one of them has no direction, or another than the first, and the refusal shows the pair.
    """
    if not queries or any(query.vectors != queries[0].vectors for query in queries):
        raise PrivacyError(
            "There are no queries, or they do not speak of the same atoms and truth vectors.",
            "Write all queries in the same atoms, with the same possible truth vectors.",
        )
    direction = require_monotone(queries[0], policy, wanted, written)
    for query in queries[1:]:
        require_monotone(query, policy, direction, written)
    step = step_of(queries[0].atoms, policy, written)
    return direction, sensitivity_of_steps([one.condition for one in queries], queries[0].vectors, step)


def _step_sentence(query: CountQuery, one: Truth, other: Truth) -> str:
    true = [", ".join(atom for atom in vector if vector[atom]) or "nothing" for vector in (one, other)]
    return (
        f"the policy allows the step from a person with ({true[0]}) to one with ({true[1]}), which takes it "
        f"from {_value(query, one)} to {_value(query, other)}"
    )


def step_of(
    atoms: Sequence[str], policy: Policy, written: Mapping[str, Formula] | None = None
) -> Callable[[Truth, Truth], bool]:
    """Whether the policy allows replacing a record of one truth vector by one of another."""
    propositions = written_in(atoms, policy, written)
    return lambda one, other: not _signature(one, propositions) & ~_signature(other, propositions)


def max_conditions(conditions: Sequence[Callable[[R], int]], possible: Iterable[R]) -> int:
    """κ: the most of these conditions, repeats counted, that one possible record satisfies.

    The L1 sensitivity over P-neighbours where each condition has its negation in P and the record that
    satisfies none is possible; an upper bound where that record is not.
    """
    return max((sum(int(holds(record)) for holds in conditions) for record in possible), default=0)


def sensitivity_of_steps(
    conditions: Sequence[Callable[[R], int]], possible: Iterable[R], step: Callable[[R, R], bool]
) -> int:
    """The most that one allowed step can change, in all: for lists that mix directions."""
    rows = [(record, [int(holds(record)) for holds in conditions]) for record in possible]
    if len(rows) ** 2 > MOST_PAIRS:
        raise _too_many(f"{len(rows):,} records")
    return max(
        (
            sum(abs(a - b) for a, b in zip(before, after, strict=True))
            for one, before in rows
            for other, after in rows
            if step(one, other)
        ),
        default=0,
    )


def require_not_exhaustive(conditions: Sequence[Callable[[R], int]], possible: Iterable[R]) -> None:
    """Refuse targets that cover everywhere a person could be: there the guarantee would be empty."""
    if not any(all(not holds(record) for holds in conditions) for record in possible):
        raise NowhereElse(
            "Every possible person is at one of the targets, so nobody could have been elsewhere and the "
            "guarantee would protect nothing.",
            "Ask about a list of public venues that leaves everybody somewhere else to be.",
        )


@dataclass(frozen=True, kw_only=True)
class Declared:
    """A direction and sensitivity for a query that cannot be enumerated, with a reason that can be checked.

    `check` gives small finite cases of the same query, each a list of queries on the same atoms with the
    policy. They are decided on construction, so a declaration that its own cases refute cannot exist.
    """

    direction: Direction
    sensitivity: int
    reason: str
    check: Callable[[], Iterable[tuple[Sequence[CountQuery], Policy]]]

    def __post_init__(self) -> None:
        cases = list(self.check())
        if not self.reason.strip() or not cases or not all(queries for queries, _ in cases):
            raise PrivacyError(
                "A direction was declared without a reason, or without a case that checks it.",
                "Say why it holds for every record, and give small finite cases of the same query.",
            )
        for queries, policy in cases:
            _, found = require_direction(queries, policy, self.direction)
            if found > self.sensitivity:
                raise PrivacyError(
                    f"Sensitivity {self.sensitivity} was declared, and in a case given with it one person "
                    f"changes {found}.",
                    f"Declare at least {found}, or the bound that the counting rule really ensures.",
                )
