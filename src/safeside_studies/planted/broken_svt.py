"""The sparse vector technique as several papers printed it, and as it does not hold.

Lyu, Su and Li (PVLDB 2017) took six published variants apart; those that are not private are here, with
integer noise of the same scales, as procedures that claim epsilon and need more. Noise on the threshold is a
hidden draw; it is listed far enough out that what is left over cannot change a verdict.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from safeside import exact
from safeside.audit.transcripts import Draw, Procedure, announce, hide, publish
from safeside.audit.worlds import INSTANT, counts_of
from safeside.mechanisms.laws import Both

ABOVE: Final = "⊤"
BELOW: Final = "⊥"
_REACH: Final = 32
"""How far threshold noise is listed, in multiples of its scale: beyond lies less than e^-32."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One way to answer "above the threshold?" a number of times."""

    name: str
    source: str
    asked: str
    """One letter for each question, in order: a place of the small world."""
    threshold_rate: Fraction | None
    """epsilon_1 over Δ; None where the threshold gets no noise."""
    query_rate: Fraction | None
    """The rate of the noise on each query; None where it gets none."""
    stop_after: int | None
    """After how many ⊤ it stops; None where it never does."""
    numeric: bool = False
    """Whether the noisy count itself is shown instead of ⊤. The audit shows only whether it is 0."""
    at: int = 1

    def program(self, counts: Sequence[int]) -> Generator[Draw, Any, None]:
        """The variant as a program."""
        moved = self.at if self.threshold_rate is None else (yield _hidden(self.threshold_rate, self.at))
        above = 0
        for count in counts:
            answer = yield self._answer(count, moved)
            above += answer != BELOW
            if above == self.stop_after:
                return

    def _answer(self, count: int, threshold: int) -> Draw:
        if self.query_rate is None:
            return announce(ABOVE if count >= threshold else BELOW)
        return _noisy(self.query_rate, threshold - count, -count if self.numeric else None)

    def procedure(self, epsilon: Fraction) -> Procedure:
        """Claims `epsilon`, as its paper did."""
        questions = [INSTANT.question(place) for place in self.asked]
        return Procedure(
            name=self.name, program=self.program, claimed_epsilon=epsilon, view=counts_of(questions)
        )


@lru_cache(maxsize=64)
def _hidden(rate: Fraction, at: int) -> Draw:
    law, reach = Both(rate), int(_REACH / rate)
    with exact.precision(exact.PMF_BITS):
        listed = {at + k: law.exactly(k) for k in range(-reach, reach + 1)}
        return hide(listed, beyond=2 * law.at_least(reach + 1))


@lru_cache(maxsize=4096)
def _noisy(rate: Fraction, needed: int, zero: int | None) -> Draw:
    """⊤ where the noise reaches what is needed; where the value is shown, whether it was exactly zero."""
    law = Both(rate)
    with exact.precision(exact.PMF_BITS):
        answer = {BELOW: law.at_most(needed - 1), ABOVE: law.at_least(needed)}
        if zero is not None and zero >= needed:
            at_zero = law.exactly(zero)
            answer = {**answer, ABOVE: answer[ABOVE] - at_zero, "0": at_zero}
        return publish(answer)


def variants(epsilon: Fraction) -> tuple[Variant, ...]:
    """The broken ones, each asked just enough to be caught."""
    half = epsilon / 2
    return (
        Variant(
            name="svt without noise on the queries",
            source="As in Stoddard et al. 2014 (variant 5).",
            asked="AB",
            threshold_rate=half,
            query_rate=None,
            stop_after=None,
        ),
        Variant(
            name="svt that never stops",
            source="As in Chen et al. 2015 (variant 6).",
            asked="AAABBB",
            threshold_rate=half,
            query_rate=half,
            stop_after=None,
        ),
        Variant(
            name="svt whose noise ignores the number of alarms",
            source="As in Lee and Clifton 2014 (variant 4).",
            asked="AABB",
            threshold_rate=epsilon / 4,
            query_rate=3 * epsilon / 4,
            stop_after=2,
        ),
        Variant(
            name="svt that shows the noisy count",
            source="As in lecture notes of 2011 (variant 3).",
            asked="AAAAAB",
            threshold_rate=half,
            query_rate=half,
            stop_after=1,
            numeric=True,
            at=0,
        ),
        Variant(
            name="svt without noise on the threshold",
            source="A shortcut: nothing is drawn for the threshold.",
            asked="AAAAA",
            threshold_rate=None,
            query_rate=half / 2,
            stop_after=1,
        ),
    )
