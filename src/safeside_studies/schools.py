"""Schools: of how many can it be said that at most 5 % are unvaccinated, by each way of publishing?

Suppression of small cells as agencies do it, noise on both sides, the best decision under ordinary
differential privacy, and one-sided noise. One pupil is in one school, so one pupil changes one count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from safeside.errors import BadCounts
from safeside.mechanisms import AGeo, OptimalDecision, TwoSidedGeometric
from safeside.noise.entropy import simulated_entropy
from safeside_studies.county import County, county
from safeside_studies.figure_style import BLACK, BLUE, GREY, ORANGE, VERMILION, Picture, page, save
from safeside_studies.results import Finding, Outcome, Sheet
from safeside_studies.settings import Settings

Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]
EPSILONS: Final = (1.0, 0.5)
PERCENT: Final = 5
SUPPRESSED_BELOW: Final = 10
_DELTA: Final = "1e-6"
SUPPRESSION, BOTH_SIDES, DECISION, ONE_SIDE = "suppression", "both sides", "optimal decision", "one side"
_COLOURS: Final = {SUPPRESSION: GREY, BOTH_SIDES: ORANGE, DECISION: VERMILION, ONE_SIDE: BLUE}
_LABELS: Final = {
    SUPPRESSION: f"cells below {SUPPRESSED_BELOW}\nsuppressed",
    BOTH_SIDES: "noise on\nboth sides",
    DECISION: f"best (ε, {_DELTA})-DP\ndecision",
    ONE_SIDE: "one-sided\nnoise (AGeo)",
}


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One way at one epsilon, as a mean over draws: schools said to be at most 5 %, and wrongly so."""

    way: str
    epsilon: float | None
    said: float
    expected: float
    standard_error: float
    wrong: float


def limits_of(made: County) -> Whole:
    """5 % of each school, rounded down: the safe side."""
    limits: Whole = made.sizes * PERCENT // 100
    return limits


def run(settings: Settings) -> Outcome:
    """Every way on one county, drawn many times."""
    made = county()
    counts, limits = made.unvaccinated, limits_of(made)
    true = int((counts <= limits).sum())
    many = settings.repeats(400, 10)
    found = [_suppression(counts, limits)]
    for number, epsilon in enumerate(EPSILONS):
        settings.progress(number / len(EPSILONS), f"Schools: epsilon {epsilon:g}")
        found += [
            _drawn(way, epsilon, counts, limits, many, 800 + number) for way in _COLOURS if way != SUPPRESSION
        ]
    return Outcome(
        title="Schools: at most 5 % unvaccinated",
        text=(
            f"A synthetic county of {counts.size:,} schools with {made.school.size:,} pupils; of {true:,} "
            f"schools it is true that at most {PERCENT} % have no dose. One pupil is in one school. Mean "
            f"over {many} draws. A cell below {SUPPRESSED_BELOW} that is suppressed still says "
            f'"at most {SUPPRESSED_BELOW - 1}", and protects nobody against a reader who knows the others.'
        ),
        pictures=[_draw(found, true, counts.size, settings)],
        findings=_findings(found, true, counts.size),
        sheets=[_sheet(found, true)],
    )


def _suppression(counts: Whole, limits: Whole) -> Measured:
    shown = np.where(counts < SUPPRESSED_BELOW, SUPPRESSED_BELOW - 1, counts)
    said = float((shown <= limits).sum())
    return Measured(way=SUPPRESSION, epsilon=None, said=said, expected=said, standard_error=0.0, wrong=0.0)


def _chances(way: str, epsilon: float, counts: Whole, limits: Whole) -> NDArray[np.float64]:
    """Pr["at most 5 %"] of each school, from the mechanism's own law."""
    steps = limits + 1 - counts
    values, which = np.unique(np.clip(steps, -400, 400), return_inverse=True)
    table = [_chance(way, epsilon, int(step)) for step in values]
    return np.array(table)[which]


def _chance(way: str, epsilon: float, step: int) -> float:
    limit, count = max(step - 1, 0), max(1 - step, 0)
    if way == BOTH_SIDES:
        return float(TwoSidedGeometric(epsilon=epsilon).law.at_most(limit - count).mid())
    mechanism = AGeo(epsilon=epsilon) if way == ONE_SIDE else OptimalDecision(epsilon=epsilon, delta=_DELTA)
    return float(mechanism.beta(limit, count).mid())


def _drawn(way: str, epsilon: float, counts: Whole, limits: Whole, many: int, seed: int) -> Measured:
    entropy = simulated_entropy(seed)
    said, wrong = [], []
    for _ in range(many):
        yes: Flags
        if way == DECISION:
            yes = (
                OptimalDecision(epsilon=epsilon, delta=_DELTA).release(counts, limits, entropy=entropy).values
            )
        else:
            mechanism = AGeo(epsilon=epsilon) if way == ONE_SIDE else TwoSidedGeometric(epsilon=epsilon)
            yes = np.asarray(mechanism.release(counts, entropy=entropy).values <= limits)
        said.append(int(yes.sum()))
        wrong.append(int((yes & (counts > limits)).sum()))
    if way != BOTH_SIDES and any(wrong):
        raise BadCounts("A school was wrongly certified.", "Report it: the mechanism is wrong.")
    chances = _chances(way, epsilon, counts, limits)
    return Measured(
        way=way,
        epsilon=epsilon,
        said=float(np.mean(said)),
        expected=float(chances.sum()),
        standard_error=float(np.sqrt((chances * (1 - chances)).sum() / many)),
        wrong=float(np.mean(wrong)),
    )


def _name(one: Measured) -> str:
    return one.way.replace(" ", "_") + ("" if one.epsilon is None else f".eps{one.epsilon:g}")


def _findings(found: Sequence[Measured], true: int, schools: int) -> list[Finding]:
    return [
        Finding(
            name=f"schools.{_name(one)}",
            where="Schools",
            what=f"schools said to have at most {PERCENT} % unvaccinated ({_NAMED[one.way]}"
            + ("" if one.epsilon is None else f", ε = {one.epsilon:g}")
            + ")",
            ours=one.said,
            theory=one.expected,
            standard_error=one.standard_error,
            why=f"{one.said / true:.1%} of those of which it is true; wrong of {one.wrong:,.1f} schools.",
            form=",.0f",
            out_of=schools,
        )
        for one in found
    ]


_NAMED: Final = {
    SUPPRESSION: f"cells below {SUPPRESSED_BELOW} suppressed",
    BOTH_SIDES: "geometric noise on both sides",
    DECISION: f"the best decision under (ε, {_DELTA})-DP",
    ONE_SIDE: "one-sided noise, AGeo",
}


def _sheet(found: Sequence[Measured], true: int) -> Sheet:
    rows = [
        (
            _NAMED[one.way],
            "none" if one.epsilon is None else f"{one.epsilon:g}",
            f"{one.said:,.0f}",
            f"{(one.said - one.wrong) / true:.1%}",
            f"{one.wrong:,.1f}",
        )
        for one in found
    ]
    return Sheet(
        title=f"Schools said to have at most {PERCENT} % unvaccinated",
        head=("published with", "epsilon", "schools said", "of those of which it is true", "wrong schools"),
        rows=rows,
        note=f"It is true of {true:,} schools.",
    )


def _draw(found: Sequence[Measured], true: int, schools: int, settings: Settings) -> Picture:
    with page(7.2, 3.2) as figure:
        axes = figure.subplots()
        labels = []
        for place, one in enumerate(found):
            right = one.said - one.wrong
            axes.bar(place, right, 0.7, color=_COLOURS[one.way])
            if one.wrong:
                axes.bar(
                    place, one.wrong, 0.7, bottom=right, color="white", edgecolor=BLACK, hatch="////", lw=0.7
                )
                axes.annotate(
                    f"{one.wrong:,.0f} wrong", (place, true * 1.01), ha="center", va="bottom", fontsize=7
                )
            small = right < schools / 10
            axes.annotate(
                f"{right:,.0f}",
                (place, right if small else right / 2),
                ha="center",
                va="bottom" if small else "center",
                color=BLACK if small else "white",
                fontsize=8,
            )
            labels.append(_LABELS[one.way] + ("" if one.epsilon is None else f"\nε = {one.epsilon:g}"))
        axes.axhline(true, color=BLACK, linestyle="--", linewidth=1)
        axes.annotate(f"true of {true:,}", (len(found) - 0.55, true), ha="right", va="bottom", fontsize=7.5)
        axes.set_xticks(range(len(found)), labels, fontsize=6.5)
        axes.set_ylim(0, true * 1.2)
        axes.set_ylabel(f'schools said "at most {PERCENT} %"')
        axes.grid(axis="x", visible=False)
        return save(
            figure,
            settings.out,
            "schools",
            title=f"Schools with at most {PERCENT} % unvaccinated",
            caption=(
                f"{schools:,} schools of a synthetic county; the dashed line is how many it is true of. "
                "Hatched: schools of which it was said and is false."
            ),
        )
