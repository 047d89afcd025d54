"""The most that any mechanism of a definition can tell: what the definition protects, and what it does not.

One mechanism may be kinder than its definition asks. Here the greatest Risk is taken over *every* mechanism
that satisfies the definition on a finite universe, exactly, and a mechanism that attains it is written out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Generic

from safeside import exact
from safeside.errors import BadNumber, PrivacyError
from safeside.exact import Number
from safeside.privacy.records import Universe
from safeside.privacy.relations import Predicate, R, Relation
from safeside.privacy.risk import Z, prior_weights

SPOKEN: Final = "z"
"""The output that attains the worst case."""
SILENT: Final = "anything else"
MOST_COLUMNS: Final = 200_000


@dataclass(frozen=True, kw_only=True)
class Worst(Generic[R]):
    """The greatest Risk, and a mechanism of the definition whose output `SPOKEN` attains it."""

    value: Fraction | float
    channel: Mapping[R, Mapping[str, Fraction]]
    before: Fraction
    after: Fraction


def worst_risk(
    relation: Relation[R],
    universe: Universe[R],
    e_to_eps: Number,
    prior: Mapping[R, Number],
    event: Predicate[R],
) -> Worst[R]:
    """The greatest Risk over all mechanisms that satisfy the definition, attained by one with two outputs.

    Only the column v(x) = Pr[z | x] of one output matters. The columns a definition allows form the cone
    v(x) <= F v(x') for steps x -> x', v >= 0, where F = e^eps. A ratio of sums is at most the greatest of the
    ratios, so the maximum lies on an extreme ray of it. There the tight constraints join all records with
    v > 0, so v takes the values 0 and powers of F only: those few columns are enumerated.
    """
    ratio = require_ratio(e_to_eps)
    weights = prior_weights(prior)
    before = sum((p for x, p in weights.items() if event(x)), Fraction(0))
    best: Fraction | float = Fraction(0)
    chosen = dict.fromkeys(universe.records, Fraction(1))
    if 0 < before < 1:
        for column in columns(relation, universe, ratio):
            true, false = _split(weights, column, event)
            if true == 0:
                continue
            rise = math.inf if false == 0 else true / false * (1 - before) / before
            if rise > best:
                best, chosen = rise, column
    true, false = _split(weights, chosen, event)
    return Worst(
        value=best,
        channel=channel_of(relation, chosen, ratio),
        before=before,
        after=true / (true + false),
    )


def _split(
    weights: Mapping[R, Fraction], column: Mapping[R, Fraction], event: Predicate[R]
) -> tuple[Fraction, Fraction]:
    true = sum((p * column[x] for x, p in weights.items() if event(x)), Fraction(0))
    return true, sum((p * column[x] for x, p in weights.items()), Fraction(0)) - true


def columns(relation: Relation[R], universe: Universe[R], ratio: Fraction) -> Iterator[dict[R, Fraction]]:
    """Every extreme way in which one output may depend on the record, and some that are not extreme."""
    records = universe.records
    # Along a transitive relation two tight steps in a row would break the step that joins their ends.
    depth = 1 if relation.is_transitive(universe) else len(records) - 1
    if (depth + 2) ** len(records) > MOST_COLUMNS:
        raise PrivacyError(
            f"{len(records)} records are too many to enumerate every mechanism on them.",
            "Ask about a smaller universe.",
        )
    levels = [Fraction(0), *(1 / ratio**power for power in range(depth + 1))]
    steps = [
        (i, j)
        for i, x in enumerate(records)
        for j, x2 in enumerate(records)
        if i != j and relation.step(x, x2)
    ]
    for values in itertools.product(levels, repeat=len(records)):
        if max(values) == 1 and all(values[i] <= ratio * values[j] for i, j in steps):
            yield dict(zip(records, values, strict=True))


def channel_of(
    relation: Relation[R], column: Mapping[R, Fraction], ratio: Fraction
) -> dict[R, dict[str, Fraction]]:
    """A mechanism of the definition with this column, scaled until the other output obeys it too."""
    gaps = [
        ratio * column[x2] - column[x] for x, x2 in itertools.permutations(column, 2) if relation.step(x, x2)
    ]
    scale = min([Fraction(1), *((ratio - 1) / gap for gap in gaps if gap > 0)])
    return {x: {SPOKEN: scale * value, SILENT: 1 - scale * value} for x, value in column.items()}


def worst_risk_at_any_prior(
    relation: Relation[R], universe: Universe[R], e_to_eps: Number, event: Predicate[R]
) -> Fraction | float:
    """The greatest Risk over all mechanisms and all priors.

    A prior on two records, one with the event and one without, is the worst: any other is a mixture of such
    pairs. Between two records the most is F to the number of steps from the first to the second, and
    infinite where no path leads there.
    """
    ratio = require_ratio(e_to_eps)
    paths = [
        relation.min_path(universe, (x,), (x2,))
        for x in universe.records
        for x2 in universe.records
        if event(x) and not event(x2)
    ]
    steps = [path for path in paths if path is not None]
    if len(steps) < len(paths):
        return math.inf
    return ratio ** max(steps) if steps else Fraction(0)


def tells_the_truth_about(
    universe: Universe[R], told: Predicate[R], e_to_eps: Number
) -> dict[R, dict[R | None, Fraction]]:
    """Publishes the whole record of whoever `told` holds for with probability 1 - 1/F, else nothing (None).

    OSDP allows it for the non-sensitive records, and so may leak everything about those who were not there.
    """
    ratio = require_ratio(e_to_eps)
    return {
        x: {x: 1 - 1 / ratio, None: 1 / ratio} if told(x) else {None: Fraction(1)} for x in universe.records
    }


def tells_exactly(universe: Universe[R], what: Callable[[R], Z]) -> dict[R, dict[Z, Fraction]]:
    """Publishes a fact about the record with no noise at all; Blowfish allows it between components."""
    return {x: {what(x): Fraction(1)} for x in universe.records}


def tells_sometimes(
    universe: Universe[R], holds: Predicate[R], e_to_eps: Number
) -> dict[R, dict[bool, Fraction]]:
    """Says True with probability 1 - 1/F where the proposition holds, and never where it does not.

    ADP with that proposition as its policy allows it, and so may leak the proposition itself.
    """
    ratio = require_ratio(e_to_eps)
    return {
        x: {True: 1 - 1 / ratio, False: 1 / ratio} if holds(x) else {False: Fraction(1)}
        for x in universe.records
    }


def require_ratio(e_to_eps: Number) -> Fraction:
    """e^epsilon as a rational above 1, so that everything here stays exact."""
    ratio = exact.fraction(e_to_eps, "e^epsilon")
    if ratio <= 1:
        raise BadNumber(f"e^epsilon is {exact.show(ratio)}.", "Give e^epsilon above 1.")
    return ratio
