"""Publishing by selection, audited: every transcript of tiny questions through the real `publish`.

A test of a block reads one uniform number, the ladder another, and each condition one word of its own. For
each outcome a number is taken from the region that leads to it on the true counts, near its edge, so that
other counts would lead elsewhere; it counts for as much as the region is wide. What is not listed, such as
levels far down, is one event.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np

from safeside import exact
from safeside.audit.case import Case
from safeside.audit.published import AT_A, AT_B, NOBODY, PLACES, Dataset, Region, Way, exactly
from safeside.audit.publishing import HOURS, LATER, Condition, Made, Scripted, just_above, just_below
from safeside.audit.short_text import show_pair
from safeside.decisions.forecast import scores
from safeside.mechanisms.block_test import BlockTest, smallest_margin
from safeside.mechanisms.ladder import NO_BOUND
from safeside.mechanisms.selection import Selection
from safeside.mechanisms.selection_plan import plan_selection

_SELDOM: Final = 16
"""What needs an event of probability 2^-16 or less is not listed."""
_EVERYWHERE, _AT_A_LATER = frozenset({"A", "B"}), frozenset({"A" + LATER})


@dataclass(frozen=True, kw_only=True)
class Selecting(Way):
    """One question, and which of the ladder's choices are listed."""

    components: tuple[int, ...]
    lowest: int = 0
    """The lowest level that is listed."""
    tight: bool = True

    def complete(self, _made: Made) -> bool:
        return True

    def regions(self, true: Mapping[Condition, int]) -> Iterator[Selects]:
        """What can be drawn on these counts, as far as it is listed; by the rules of the mechanism alone."""
        named = list(true)
        limits = np.tile([*self.limits, 1], self.windows)
        known = scores(self.popularity or [1] * (len(PLACES) + 1), [1] * self.windows)
        selection = Selection(
            epsilon=self.epsilon, plan=plan_selection(known, int(limits.min()), self.epsilon)
        )
        order = selection.plan.order
        counts, ranked = np.array(list(true.values()))[order], limits[order]
        bounds: dict[Condition, int | None] = dict.fromkeys(named)
        words: tuple[int, ...] = ()
        reached, test = exact.ball(1), BlockTest(epsilon=self.epsilon)
        for number, (start, end) in enumerate(itertools.pairwise((0, *selection.plan.blocks))):
            passes = test.beta(smallest_margin(counts[start:end], ranked[start:end]))
            with exact.precision(exact.PMF_BITS):
                fails = 1 - passes
                failed = reached * fails
            if fails > 0:
                yield Selects(
                    words=(*words, *just_below(fails, fails)),
                    mass=failed,
                    outcome={"passed": number},
                    bounds=dict(bounds),
                )
            if not passes > 0:
                return
            words = (*words, *just_above(fails, passes))
            with exact.precision(exact.PMF_BITS):
                reached = reached * passes
            bounds |= {named[at]: int(limits[at]) for at in order[start:end]}
        tested = selection.plan.tested
        rest = [named[at] for at in order[tested:]]
        for region in _claims(selection, self, rest, counts[tested:], ranked[tested:]):
            with exact.precision(exact.PMF_BITS):
                mass = reached * region.mass
            outcome = {"passed": len(selection.plan.blocks), **region.outcome}
            yield Selects(
                words=(*words, *region.words), mass=mass, outcome=outcome, bounds=bounds | dict(region.bounds)
            )


@dataclass(frozen=True, kw_only=True)
class Selects(Region):
    """A region, and what must be published there."""

    outcome: Mapping[str, int]
    bounds: Mapping[Condition, int | None]

    def other_than_drawn(self, dataset: Dataset, made: Made, source: Scripted) -> str | None:
        """What else is published, or how much else is drawn, than must be."""
        bounds = {condition: upper for condition, (_, upper) in made.answers().items()}
        if (made.outcome(), bounds) != (self.outcome, self.bounds):
            return f"publishes other than what was drawn on the counts of {show_pair((dataset, dataset))}"
        if source.taken != len(self.words):
            return "how much randomness is taken depends on the data"
        return None


SELECTED: Final = (
    Selecting(
        name="a test, then the ladder",
        terms={"epsilon": 1, "method": "selection"},
        limits=(1, 1),
        popularity=(1, 4, 8),
        pairs=(((AT_A, AT_A), (NOBODY, AT_A)), ((AT_A, AT_B), (AT_A, NOBODY))),
        components=(2,),
    ),
    Selecting(
        name="no forecast",
        terms={"epsilon": 1, "method": "selection"},
        limits=(1, 2),
        popularity=None,
        pairs=(((AT_A, AT_B), (NOBODY, AT_B)), ((AT_A, AT_B), (AT_A, NOBODY))),
        components=(0, 1),
        tight=False,
    ),
    Selecting(
        name="two hours, one person at both places in both",
        terms={"epsilon": 1, "method": "selection", **HOURS},
        limits=(1, 2),
        popularity=(1, 4, 8),
        pairs=(((_EVERYWHERE, AT_B), (_AT_A_LATER, AT_B)), ((_AT_A_LATER, AT_B), (NOBODY, AT_B))),
        components=(4,),
        lowest=1,
    ),
)


def selected() -> Iterator[Case]:
    """Every row about publishing by selection."""
    for one in SELECTED:
        setting = f"eps = {exact.show(one.epsilon)}; selection, {one.name}: every transcript through publish"
        yield Case(name="published", setting=setting, tight=one.tight, run=partial(exactly, one))


def _claims(
    selection: Selection, way: Selecting, named: Sequence[Condition], counts: Any, limits: Any
) -> Iterator[Selects]:
    """What the ladder can say of the rest."""
    ladder = selection.ladder
    assert ladder is not None
    above = exact.ball(0)
    for (component, level), share in ladder.probabilities(counts, limits).items():
        with exact.precision(exact.PMF_BITS):
            below, above = above, above + share
        halvings = ladder.components[component].exponents(len(named)).tolist()
        quiet = limits + 1 - counts >= level
        listed = component in way.components and level >= way.lowest
        if not listed or any(number >= _SELDOM for number in np.array(halvings)[~quiet]):
            continue
        # From both sides of the border between an odd level and the even one above it.
        chosen = just_below(above, share) if level % 2 else just_above(below, share)
        for kept in itertools.product(*map(_choices, halvings, quiet)):
            included = np.array(kept) & quiet & (np.array(halvings) > 0)
            with exact.precision(exact.PMF_BITS):
                mass = share * exact.ball(_odds(halvings, quiet, kept))
            yield Selects(
                words=(*chosen, *itertools.chain.from_iterable(map(_own_word, halvings, kept))),
                mass=mass,
                outcome={"component": component, "level": level},
                bounds={
                    one: None if bound == NO_BOUND else int(bound)
                    for one, bound in zip(named, ladder.bounds(included, limits, level), strict=True)
                },
            )


def _choices(halvings: int, quiet: bool) -> tuple[bool, ...]:
    """Whether the word of a condition may say to include it, and to leave it out, where that matters."""
    return (True, False) if quiet and 0 < halvings < _SELDOM else (True,)


def _odds(halvings: Sequence[int], quiet: Sequence[bool], kept: Sequence[bool]) -> Fraction:
    """The probability of these words among all that are told apart."""
    odds = Fraction(1)
    for number, matters, included in zip(halvings, quiet, kept, strict=True):
        if matters and number:
            odds *= 1 - Fraction(1, 1 << number) if included else Fraction(1, 1 << number)
    return odds


def _own_word(halvings: int, kept: bool) -> tuple[int, int]:
    """A word of 32 bits of which exactly one is set: the last that counts, or the first that does not."""
    word = 1 << (halvings - 1 if kept and halvings else halvings)
    return word & 0xFFFF, word >> 16
