"""One claim about many conditions at one epsilon, however many of them one person satisfies.

What is expected of each condition is public, published as forecast.csv and hashed into the question before
any data is read. Tests and ladder follow from it by whole-number rules, so a verifier makes the same plan.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from safeside import exact, records
from safeside.decisions.compare import Outlook
from safeside.mechanisms.ladder import NO_BOUND
from safeside.mechanisms.selection import Selection
from safeside.mechanisms.selection_plan import plan_selection
from safeside.noise.entropy import Entropy
from safeside.records import PlainText
from safeside.releases.answers import Answers
from safeside.releases.methods.base import Conditions, Drawn, Forecast, Mechanism, Method, Whole
from safeside.releases.methods.forecasting import read_forecast
from safeside.visits import Places

PASSED: Final = "passed"
COMPONENT: Final = "component"
LEVEL: Final = "level"


class SelectedConditions(Method, frozen=True, kw_only=True, tag="selection"):
    """Blocks that are expected to be quiet are tested first; then one claim is made about the rest."""

    forecast_from: tuple[PlainText, ...]
    """What the forecast was made from, in words."""
    learned_from: tuple[PlainText, ...] = ()
    """The digests of the earlier releases whose answers moved it."""

    own_arguments = ("profile", "learn_from")
    by_forecast = True
    needs_limit = False
    takes_limit = False
    level = True
    file = "forecast.csv"
    outcomes = frozenset({PASSED, COMPONENT, LEVEL})

    @classmethod
    def asked(cls, places: Places, given: Mapping[str, Any]) -> tuple[Method, Whole | None]:
        made = read_forecast(places, given["windows"], given["zone"], given["profile"], given["learn_from"])
        method = cls(epsilon=given["epsilon"], forecast_from=made.sources, learned_from=made.learned)
        return method, made.scores

    @classmethod
    def certifies(cls, outlook: Outlook) -> float | None:
        plan = plan_selection(outlook.scores, int(outlook.limits.min()), outlook.epsilon)
        return float(Selection(epsilon=outlook.epsilon, plan=plan).moments(outlook.counts, outlook.limits)[0])

    @property
    def builds_on(self) -> tuple[str, ...]:
        return self.learned_from

    def forecast(self, known: Whole | None) -> Forecast | None:
        assert known is not None, "a forecast is made before the question"
        digest = records.digest(records.canonical(known.tolist()))
        return Forecast(source=" and ".join(self.forecast_from), sha256=digest)

    def mechanism(self, asked: Conditions) -> Selection:
        return Selection(epsilon=self.epsilon, plan=asked.plan, policy=asked.policy)

    def stated(self, _asked: Conditions) -> Mechanism:
        return Mechanism(name=Selection.name, rate=exact.fraction(self.epsilon))

    def draw(self, asked: Conditions, counts: Whole, entropy: Entropy | None = None) -> Drawn:
        chosen = self.mechanism(asked).release(counts, asked.at_most, entropy=entropy)
        outcome = {PASSED: chosen.passed, COMPONENT: chosen.component, LEVEL: chosen.level}
        return Drawn(
            values=chosen.bounds,
            simulated=chosen.simulated,
            outcome={name: value for name, value in outcome.items() if value is not None},
        )

    def states(self, asked: Conditions, drawn: Drawn) -> Answers:
        return asked.within(drawn.values, drawn.values != NO_BOUND)

    def values_behind(self, _asked: Conditions, answers: Answers) -> tuple[Whole, ...]:
        return (np.where(answers.bounded, answers.upper, NO_BOUND),)

    def why_impossible(self, asked: Conditions, answers: Answers, outcome: Mapping[str, int]) -> str | None:
        """Passed blocks are certified whole; a ladder was drawn if all passed, and says one thing."""
        selection = self.mechanism(asked)
        blocks, order = selection.plan.blocks, selection.plan.order
        bounds = _claimed(asked, answers)[order]
        limits, passed = asked.at_most[order], outcome.get(PASSED, -1)
        if not 0 <= passed <= len(blocks):
            return "it does not say how many blocks passed"
        tested = (0, *blocks)[passed]
        expected = np.full(bounds.size, NO_BOUND, dtype=np.int64)
        expected[:tested] = limits[:tested]
        ladder = selection.ladder if passed == len(blocks) else None
        if set(outcome) != (self.outcomes if ladder is not None else {PASSED}):
            return "it names a level without a claim, or a claim without its level"
        if ladder is not None:
            component, level = outcome[COMPONENT], outcome[LEVEL]
            if not 0 <= component < len(ladder.components) or level not in ladder.levels(limits[tested:]):
                return "the level or the component of its claim is none of the plan's"
            kept = bounds[tested:] != NO_BOUND
            if (ladder.components[component].exponents(kept.size)[kept] == 0).any():
                return "its claim holds what its component leaves out"
            expected[tested:] = ladder.bounds(kept, limits[tested:], level)
        values = np.empty_like(expected)
        values[order] = expected
        shown = _claimed(asked, self.states(asked, Drawn(values=values)))[order]
        if (expected < NO_BOUND).any() or not np.array_equal(bounds, shown):
            return "its bounds are not those of the tests and the level it names"
        return None

    def chances(self, _asked: Conditions, _threshold: int, _counts: Iterable[int]) -> dict[int, float]:
        return {}

    def expected(self, asked: Conditions) -> float:
        nobody = np.zeros(len(asked), dtype=np.int64)
        return float(self.mechanism(asked).expected(nobody, asked.at_most).mean())

    def write_known(self, asked: Conditions) -> bytes:
        """forecast.csv: the public score of each condition, a row a place and a column a window."""
        assert asked.known is not None
        columns = asked.known.reshape(-1, len(asked.targets))
        table = {
            asked.question.target: list(asked.targets),
            **dict(zip(_headings(asked), columns, strict=True)),
        }
        return pl.DataFrame(table).write_csv().encode()

    def read_known(self, asked: Conditions, data: bytes) -> Whole:
        target = asked.question.target
        schema = {target: pl.String, **dict.fromkeys(_headings(asked), pl.Int64)}
        try:
            table = pl.read_csv(io.BytesIO(data), schema=schema)
        except pl.exceptions.PolarsError:
            raise ValueError("forecast.csv cannot be read") from None
        scores = table.drop(target)
        if tuple(table[target]) != asked.targets or any(column.null_count() for column in scores):
            raise ValueError("forecast.csv does not list every place once, in order")
        return np.ascontiguousarray(scores.to_numpy().T).ravel().astype(np.int64)


def _claimed(asked: Conditions, answers: Answers) -> Whole:
    """The bounds of the claim as the answers show them; a group's size alone is none of them."""
    claimed = answers.bounded
    if asked.most is not None:
        claimed = claimed & ~(asked.certain & (answers.upper == asked.most))
    return np.where(claimed, answers.upper, NO_BOUND)


def _headings(asked: Conditions) -> list[str]:
    """The columns: the window, and the measure where there are several."""
    question = asked.question
    if len(question.measures) == 1:
        return list(question.windows)
    return [f"{window} {measure}" for window in question.windows for measure in question.measures]
