"""Ways to answer "at most t" for a whole day, where one person may be at many places.

Every way costs the same epsilon. Sparse ones stop at the first alarm, so the order in which places are asked
is what matters; an order is taken from public knowledge or from chance, never from the counts. `CODE` is the
loop of the paper's released code, which counts something else: the places asked, the alarmed one included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from safeside import exact
from safeside.decisions.compare import certified_by_counts
from safeside.decisions.forecast import scores
from safeside.exact import Number
from safeside.mechanisms import AGeo, PaperSALap, SAGeo, Selection, plan_selection
from safeside.mechanisms.sequences import Answer
from safeside.mechanisms.sparse import SparseQueries
from safeside.noise.entropy import Entropy
from safeside_studies.figure_style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, Line
from safeside_studies.movements import DAY, Movements
from safeside_studies.orders import Probabilities, fixed_order, random_order, with_replacement

Whole = NDArray[np.int64]
PAPER_RANDOM, CODE, OURS_RANDOM, POPULAR, BLOCKS, SELECTION, DENSE, BOUNDED = (
    "paper",
    "code",
    "random",
    "popular",
    "blocks",
    "selection",
    "dense",
    "bounded",
)
LINES: Final[Mapping[str, Line]] = {
    DENSE: Line(label="the paper's ALap, Δ = all places", colour=ORANGE, dash="-."),
    PAPER_RANDOM: Line(label="the paper's SALap, random order", colour=SKY, dash="--"),
    CODE: Line(label="its code: places asked, the alarm's too", colour=VERMILION, dash=":"),
    OURS_RANDOM: Line(label="SAGeo, random order", colour=BLUE, dash="-"),
    POPULAR: Line(label="SAGeo, by public popularity", colour=GREEN, dash="-"),
    BLOCKS: Line(label="SAGeo, by popularity, in blocks", colour=PURPLE, dash="--"),
    SELECTION: Line(label="Selection, by public popularity", colour=GREY, dash="-"),
    BOUNDED: Line(label="AGeo, at most 10 places each declared", colour=BLACK, dash=":"),
}
MOST_PLACES: Final = 10
"""Declared for `BOUNDED`: a rule known beforehand, which the study checks and would stop at."""
_BLOCK_VISITORS: Final = 0.25
"""A block is closed when public popularity lets expect this many visitors in it."""
_DAYS_A_WEEK: Final = 7
_AT_A_TIME: Final = 64
"""Questions of the released code's loop that are drawn together; the first alarm ends it."""


@dataclass(frozen=True, kw_only=True)
class Day:
    """One day: counts for each place, and what the public knew beforehand."""

    counts: Whole
    by_popularity: Whole
    block: Whole
    """The block of each place; blocks follow popularity, the least popular first."""
    block_counts: Whole
    scores: Whole
    """The public popularity in whole numbers, of which only ratios matter."""
    most_places: int
    """How many of the places one person visited at most: for the curator's eyes."""


@dataclass(frozen=True, kw_only=True)
class Theory:
    """The exact law of the number of right answers."""

    mean: float
    deviation: float
    survival: Probabilities | None = None
    """P(at least k right answers), where the answers stop at an alarm."""
    size: Whole | None = None
    """How many right answers each step of `survival` adds up to."""


def one_day(data: Movements, number: int) -> Day:
    """The counts of a day, by place and by block."""
    order = np.argsort(data.popularity, kind="stable")
    block = np.empty(data.places, dtype=np.int64)
    block[order] = _blocks(data.popularity[order] * data.people / 1000 / _DAYS_A_WEEK)
    begin, end = number * DAY, (number + 1) * DAY
    here = (data.start < end) & (data.end > begin)
    pairs = np.unique(data.person[here] * data.places + data.place[here])
    return Day(
        counts=data.between(begin, end),
        by_popularity=order,
        block=block,
        block_counts=data.in_groups(begin, end, block),
        scores=scores(data.popularity),
        most_places=int(np.bincount(pairs // data.places).max()) if len(pairs) else 0,
    )


def _blocks(expected: Probabilities) -> Whole:
    """Numbers of blocks along the order; a place that is too popular for company stands alone."""
    block, number, full = np.empty(len(expected), dtype=np.int64), 0, 0.0
    for place, visitors in enumerate(expected.tolist()):
        if place and full + visitors > _BLOCK_VISITORS:
            number, full = number + 1, 0.0
        block[place], full = number, full + visitors
    return block


def right_answers(
    way: str, day: Day, at_most: int, epsilon: Number, entropy: Entropy, dice: np.random.Generator
) -> int:
    """Answer the day once; how many places were rightly said to have at most t visitors (`CODE`: asked)."""
    if way in (DENSE, BOUNDED):
        sensitivity = len(day.counts) if way == DENSE else MOST_PLACES
        z = AGeo(epsilon=epsilon, sensitivity=sensitivity).release(day.counts, entropy=entropy).values
        return int(np.count_nonzero(z <= at_most - (way == DENSE)))
    if way == SELECTION:
        chosen = _selection(day, at_most, epsilon).release(day.counts, at_most, entropy=entropy)
        return int(np.count_nonzero(chosen.certified))
    mechanism = _mechanism(way, epsilon)
    if way == CODE:
        return _places_asked(mechanism, day.counts, at_most, entropy, dice)
    if way == BLOCKS:
        answers = mechanism.release(day.block_counts, at_most, entropy=entropy).answers
        return int(np.isin(day.block, np.flatnonzero(answers == Answer.QUIET)).sum())
    order = day.by_popularity if way == POPULAR else dice.permutation(len(day.counts))
    answers = mechanism.release(day.counts[order], at_most, entropy=entropy).answers
    return int(np.count_nonzero(answers == Answer.QUIET))


def _places_asked(
    mechanism: SparseQueries, counts: Whole, at_most: int, entropy: Entropy, dice: np.random.Generator
) -> int:
    """The released code's loop: any place, again and again, up to an alarm; how many different ones."""
    asked: set[int] = set()
    while True:
        places = dice.integers(0, len(counts), _AT_A_TIME)
        run = mechanism.release(counts[places], at_most, entropy=entropy)
        asked.update(places[: run.asked].tolist())
        if (run.answers == Answer.ALARM).any():
            return len(asked)


def theory(way: str, day: Day, at_most: int, epsilon: Number) -> Theory:
    """What to expect, exactly."""
    if way in (DENSE, BOUNDED):
        sensitivity = len(day.counts) if way == DENSE else MOST_PLACES
        mechanism, limit = AGeo(epsilon=epsilon, sensitivity=sensitivity), at_most - (way == DENSE)
        chance = np.array([float(mechanism.beta(limit, count).mid()) for count in range(limit + 1)])
        right = chance[day.counts[day.counts <= limit]]
        return Theory(mean=float(right.sum()), deviation=float(np.sqrt((right * (1 - right)).sum())))
    if way == SELECTION:
        mean, deviation = _selection(day, at_most, epsilon).moments(day.counts, at_most)
        return Theory(mean=mean, deviation=deviation)
    counts = day.block_counts if way == BLOCKS else day.counts
    alarm = _alarm(_mechanism(way, epsilon), at_most, counts)
    if way == POPULAR:
        survival = fixed_order(alarm[day.by_popularity])
    elif way == BLOCKS:
        survival = fixed_order(alarm)
    elif way == CODE:
        survival = with_replacement(alarm)
    else:
        survival = random_order(alarm)
    size = np.arange(len(survival))
    if way == BLOCKS:
        size = np.concatenate([[0], np.cumsum(np.bincount(day.block))])
    ends = survival - np.append(survival[1:], 0.0)
    mean = float(ends @ size)
    return Theory(
        mean=mean,
        deviation=float(np.sqrt(ends @ (size - mean) ** 2)),
        survival=survival,
        size=size,
    )


def limit(day: Day, at_most: int, epsilon: Number) -> float:
    """What no mechanism that is never wrong can exceed on average."""
    return certified_by_counts(day.counts, np.full_like(day.counts, at_most), exact.fraction(epsilon))


def _selection(day: Day, at_most: int, epsilon: Number) -> Selection:
    return Selection(epsilon=epsilon, plan=plan_selection(day.scores, at_most, epsilon))


def _mechanism(way: str, epsilon: Number) -> SparseQueries:
    kind = PaperSALap if way in (PAPER_RANDOM, CODE) else SAGeo
    return kind(epsilon_each=epsilon, alarms=1)


def _alarm(mechanism: SparseQueries, at_most: int, counts: Whole) -> Probabilities:
    table = [1.0 - float(mechanism.beta(at_most, count).mid()) for count in range(int(counts.max()) + 1)]
    return np.array(table)[counts]
