"""Figures 5 and 6: how many right answers a whole day gives for one epsilon.

The paper asks in an order it does not name and stops at the first alarm. Its released code asks at random
with replacement and counts every place asked, the alarmed one too: both readings are shown. Asked by public
popularity, the least popular first, the same mechanism goes on far longer; blocks of unpopular places, asked
together, longer still.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from safeside.exact import Number
from safeside.noise.entropy import simulated_entropy
from safeside_studies import rules, sparse
from safeside_studies.figure_style import BLACK, Picture, page, save, spoken
from safeside_studies.movements import Movements
from safeside_studies.results import Finding, Outcome
from safeside_studies.rules import LIMIT, OURS, PAPER, Floats, Question
from safeside_studies.settings import Settings
from safeside_studies.sparse import (
    BLOCKS,
    BOUNDED,
    CODE,
    DENSE,
    LINES,
    OURS_RANDOM,
    PAPER_RANDOM,
    POPULAR,
    SELECTION,
    Day,
    Theory,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Whole = NDArray[np.int64]
AT_MOST: Final = 5
_BARS: Final = (PAPER_RANDOM, OURS_RANDOM, POPULAR, BLOCKS, SELECTION)
_FEWER: Final = {SELECTION: 10}
"""One draw of it chooses among thousands of claims: so many times fewer are measured."""
_ALPHAS: Final = ("1e-5", "1e-4", "1e-3", "1e-2")
_EPSILONS: Final = ("0.25", "0.5", "1", "2", "4")
_THRESHOLDS: Final = (1, 2, 3, 5, 8, 12)


def figure5(data: Movements, settings: Settings) -> Outcome:
    """The distribution of the number of right answers on the day shown."""
    day = sparse.one_day(data, data.shown_day)
    many = settings.repeats(10_000, 300)
    measured: dict[str, Whole] = {}
    ways = [way for way in LINES if way != BOUNDED or day.most_places <= sparse.MOST_PLACES]
    for number, way in enumerate(ways):
        settings.progress(number / len(ways), f"Figure 5: {LINES[way].label}")
        measured[way] = _simulate(way, day, AT_MOST, 1, -(-many // _FEWER.get(way, 1)), 500 + number)
    expected = {way: sparse.theory(way, day, AT_MOST, 1) for way in ways}
    return Outcome(
        title="Figure 5: how many right answers a day gives",
        text=(
            f"The day shown, at most {AT_MOST} visitors, ε = 1, one alarm allowed, α = 0: every answer is "
            f"right. Mean over {many:,} runs. By popularity SAGeo gives "
            f"{expected[POPULAR].mean / expected[OURS_RANDOM].mean:.0f} times as many answers as in random "
            "order, although popularity is known to a factor of two only; in blocks (distinct people in a "
            f"group of unpopular places) {expected[BLOCKS].mean / expected[OURS_RANDOM].mean:.0f} times as "
            "many. The paper's released code draws places with replacement and counts all that were asked, "
            "the one with the alarm too: “at least 10” there is at least 9 quiet ones. Where a "
            "rule limits everybody to ten of the places a day, AGeo answers all at once, "
            "and stopping is no longer needed. Selection needs no such rule: it certifies "
            f"{expected[SELECTION].mean:,.0f} places, where no mechanism that is never wrong certifies more "
            f"than {sparse.limit(day, AT_MOST, 1):,.0f} on average."
        ),
        pictures=[_draw5(measured, expected, sparse.limit(day, AT_MOST, 1), settings)],
        findings=_findings5(measured, expected),
    )


def figure6(data: Movements, settings: Settings) -> Outcome:
    """E[beta] and the number of right answers, over the days, as alpha, epsilon and t vary."""
    days = [sparse.one_day(data, number) for number in range(min(data.days, settings.repeats(7, 2)))]
    sweeps = (
        Sweep(name="alpha", label="α", values=_ALPHAS, questions=[Question(alpha=a) for a in _ALPHAS]),
        Sweep(
            name="epsilon", label="ε", values=_EPSILONS, questions=[Question(epsilon=e) for e in _EPSILONS]
        ),
        Sweep(name="t", label="t", values=_THRESHOLDS, questions=[Question(at_most=t) for t in _THRESHOLDS]),
    )
    many = settings.repeats(150, 15)
    bars: dict[tuple[str, str, str], Bar] = {}
    total = len(sweeps) * len(_BARS)
    for number, sweep in enumerate(sweeps):
        for place, way in enumerate(_BARS):
            settings.progress((number * len(_BARS) + place) / total, f"Figure 6: varying {sweep.label}")
            for value, ask in zip(sweep.values, sweep.questions, strict=True):
                bars[sweep.name, str(value), way] = _bar(way, days, ask, many, seed=600 + 10 * number + place)
    return Outcome(
        title="Figure 6: right answers over days as α, ε and t vary",
        text=(
            f"Mean over {len(days)} days. Top: the probability of a right answer at a place that is asked "
            "and safe. Bottom: how many right answers there are before the first alarm. The top hardly "
            "differs from the low-sensitivity case; the bottom is where the order decides. α changes "
            "nothing for ADP: its answers are never wrong."
        ),
        pictures=[_draw6(sweeps, bars, days, settings)],
        findings=_findings6(sweeps, bars),
    )


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """One parameter of figure 6."""

    name: str
    label: str
    values: Sequence[Number]
    questions: Sequence[Question]


@dataclass(frozen=True, kw_only=True)
class Bar:
    """Right answers of one way at one setting: measured, expected, and how far they may be apart."""

    measured: float
    expected: float
    standard_error: float


def _simulate(way: str, day: Day, at_most: int, epsilon: Number, many: int, seed: int) -> Whole:
    entropy, dice = simulated_entropy(seed), np.random.default_rng(seed)
    return np.array([sparse.right_answers(way, day, at_most, epsilon, entropy, dice) for _ in range(many)])


def _bar(way: str, days: Sequence[Day], ask: Question, many: int, seed: int) -> Bar:
    many = -(-many // _FEWER.get(way, 1))
    found = [
        _simulate(way, day, ask.at_most, ask.epsilon, many, seed + 100 * number).mean()
        for number, day in enumerate(days)
    ]
    laws = [sparse.theory(way, day, ask.at_most, ask.epsilon) for day in days]
    variance = sum(law.deviation**2 for law in laws) / many
    return Bar(
        measured=float(np.mean(found)),
        expected=float(np.mean([law.mean for law in laws])),
        standard_error=float(np.sqrt(variance)) / len(days),
    )


def _draw5(
    measured: Mapping[str, Whole], expected: Mapping[str, Theory], limit: float, settings: Settings
) -> Picture:
    with page(7.2, 3.6) as figure:
        axes = figure.subplots()
        for way, values in measured.items():
            line, found = LINES[way], np.unique(values, return_counts=True)
            at_least = np.cumsum(found[1][::-1])[::-1] / len(values)
            label = f"{line.label}: mean {values.mean():,.1f}"
            _steps(axes, found[0], at_least, color=line.colour, linestyle=line.dash, label=label)
            law = expected[way]
            if law.survival is not None and law.size is not None:
                _steps(axes, law.size, law.survival, color=BLACK, linewidth=0.5, zorder=5)
        axes.axvline(
            limit, color=BLACK, linewidth=0.8, linestyle=(0, (1, 3)), label=f"limit of the mean: {limit:,.0f}"
        )
        axes.plot([10], [0.5], marker="*", markersize=11, color=BLACK, linestyle="", zorder=6)
        axes.annotate(
            "the paper:\n“at least 10 with\nprobability about 0.5”", (10.8, 0.52), fontsize=7.5, va="bottom"
        )
        _draw_readings(axes, expected)
        axes.set_xscale("log")
        axes.set_xlim(0.9, 7000)
        axes.set_xticks([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000])
        axes.set_xticklabels(
            ["1", "2", "5", "10", "20", "50", "100", "200", "500", "1,000", "2,000", "5,000"]
        )
        axes.minorticks_off()
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("right answers, k")
        axes.set_ylabel("P(at least k)")
        figure.legend(loc="outside lower center", ncols=2)
        return save(
            figure,
            settings.out,
            "figure5",
            title="Right answers in a day",
            caption=(
                f"The probability of at least k right answers over the day shown, t = {AT_MOST}, ε = 1, α "
                "= 0. Colours: measured; thin black: exact. Small: both readings of the paper near 10, exact."
            ),
        )


def _draw_readings(axes: Axes, expected: Mapping[str, Theory]) -> None:
    """The text's reading and the code's lie close together: the same again around k = 10, larger."""
    inset = axes.inset_axes((0.47, 0.1, 0.15, 0.36))
    near = np.arange(8, 13)
    for way in (PAPER_RANDOM, CODE):
        survival = expected[way].survival
        if survival is not None and len(survival) > near[-1]:
            line = LINES[way]
            inset.plot(near, survival[near], color=line.colour, linestyle=line.dash, marker="o", markersize=3)
    inset.plot([10], [0.5], marker="*", markersize=8, color=BLACK, linestyle="")
    inset.set_xticks([8, 10, 12])
    inset.set_yticks([0.3, 0.4, 0.5])
    inset.set_ylim(0.25, 0.55)
    inset.tick_params(labelsize=7)


def _steps(axes: Axes, size: Whole, at_least: Floats, **style: Any) -> None:
    """P(at least k): between two sizes that can occur it is the larger one's."""
    # Nothing below 0.8 fits on the logarithmic axis: zero right answers stand there.
    axes.step(np.maximum(np.append(size, size[-1]), 0.8), np.append(at_least, 0.0), where="pre", **style)


def _findings5(measured: Mapping[str, Whole], expected: Mapping[str, Theory]) -> list[Finding]:
    words = {
        DENSE: ("one", "The sensitivity is taken to be the number of places, as the paper does."),
        PAPER_RANDOM: ("about 10", "Right answers, none asked twice, the alarm not among them."),
        CODE: ("about 10", "What the released code counts: different places asked, the alarm's too."),
        OURS_RANDOM: (None, "The same as the paper's, but quiet where z < t + 1, as counts allow."),
        POPULAR: (None, "The order is public; the guarantee does not depend on it."),
        BLOCKS: (None, "Quiet on a block certifies every place in it with one draw."),
        SELECTION: (None, "One claim about many places at one epsilon, however many one person visits."),
        BOUNDED: (None, "Only where a rule, known beforehand, keeps everybody within ten places a day."),
    }
    findings = [
        _ten_or_more(
            "figure5.ten_or_more",
            "probability of at least 10 right answers, the paper's SALap in random order",
            measured[PAPER_RANDOM],
            expected[PAPER_RANDOM],
            "As the text reads: 10 quiet places, none asked twice. By the paper's numbers 492 of 5,835 "
            "places had 3 visitors or more at 6 p.m.; if those have 5 or more over the day, this reading "
            f"reaches {_most(10):.2f} at most.",
        ),
        _ten_or_more(
            "figure5.ten_or_more_code",
            "probability of at least 10 places asked, by the loop of the released code",
            measured[CODE],
            expected[CODE],
            "The code draws places with replacement and counts the alarmed one as answered, so that 9 quiet "
            f"ones are enough. With the same 492 places this reading reaches {_most(9):.2f} at most.",
        ),
    ]
    for way, values in measured.items():
        said, why = words[way]
        findings.append(
            Finding(
                name=f"figure5.{way}",
                where="Figure 5",
                what=(
                    "places asked in a day, by the loop of the released code"
                    if way == CODE
                    else f"right answers in a day, {LINES[way].label}"
                ),
                paper=said,
                ours=float(values.mean()),
                theory=expected[way].mean,
                standard_error=expected[way].deviation / np.sqrt(len(values)),
                why=why,
                form=",.1f",
            )
        )
    return findings


def _ten_or_more(name: str, what: str, values: Whole, law: Theory, why: str) -> Finding:
    ten = float(law.survival[10]) if law.survival is not None and len(law.survival) > 10 else 0.0
    return Finding(
        name=name,
        where="Figure 5",
        what=what,
        paper="about 0.5",
        ours=float(np.mean(values >= 10)),
        theory=ten,
        standard_error=float(np.sqrt(ten * (1 - ten) / len(values))),
        why=why,
    )


def _most(quiet: int) -> float:
    """P(so many quiet in a row) were the paper's 492 busy places alarms, and all others empty."""
    return float((5343 / 5835 * (1 - np.exp(-AT_MOST))) ** quiet)


def _draw6(
    sweeps: Sequence[Sweep], bars: Mapping[tuple[str, str, str], Bar], days: Sequence[Day], settings: Settings
) -> Picture:
    with page(7.2, 4.6) as figure:
        panels = figure.subplots(2, len(sweeps), sharey="row", sharex="col", height_ratios=[1, 1.35])
        for column, sweep in enumerate(sweeps):
            _draw_lines(panels[0][column], sweep, days)
            _draw_bars(panels[1][column], sweep, bars, days)
        panels[0][0].set_ylabel("E[β | at most t, asked]")
        panels[1][0].set_ylabel("right answers")
        top, bottom = (panels[row][0].get_legend_handles_labels() for row in (0, 1))
        figure.legend(top[0] + bottom[0], top[1] + bottom[1], loc="outside lower center", ncols=2)
        return save(
            figure,
            settings.out,
            "figure6",
            title="Right answers over days as the parameters vary",
            caption=(
                f"Mean over {len(days)} days; ε = 1, t = {AT_MOST} unless varied. Top: exact. Bottom: "
                "measured (bars, logarithmic) and exact (black ticks)."
            ),
        )


def _draw_lines(axes: Axes, sweep: Sweep, days: Sequence[Day]) -> None:
    x = np.arange(len(sweep.values))
    for rule in (OURS, PAPER, LIMIT):
        line = rules.LINES[rule]
        mean = [
            np.mean([rules.expected_beta(rule, ask, day.counts) for day in days]) for ask in sweep.questions
        ]
        axes.plot(x, mean, color=line.colour, linestyle=line.dash, marker=line.marker, label=line.label)
    axes.set_title(f"varying {sweep.label}")
    axes.set_ylim(0, 1.05)


def _draw_bars(
    axes: Axes, sweep: Sweep, bars: Mapping[tuple[str, str, str], Bar], days: Sequence[Day]
) -> None:
    x = np.arange(len(sweep.values))
    for at, ask in zip(x, sweep.questions, strict=True):
        most = np.mean([sparse.limit(day, ask.at_most, ask.epsilon) for day in days])
        label = "limit of any that is never wrong" if at == 0 else None
        axes.plot([at - 0.45, at + 0.45], [most] * 2, color=BLACK, linewidth=1, linestyle=":", label=label)
    width = 0.8 / len(_BARS)
    hatches = {PAPER_RANDOM: "....", OURS_RANDOM: "", POPULAR: "////", BLOCKS: "xxxx", SELECTION: ""}
    for place, way in enumerate(_BARS):
        row = [bars[sweep.name, str(value), way] for value in sweep.values]
        left = x - 0.4 + (place + 0.5) * width
        axes.bar(
            left,
            [max(bar.measured, 0.05) for bar in row],
            width,
            color=LINES[way].colour,
            hatch=hatches[way],
            edgecolor="white",
            linewidth=0,
            label=LINES[way].label,
        )
        for middle, bar in zip(left, row, strict=True):
            axes.plot([middle - width / 2, middle + width / 2], [bar.expected] * 2, color=BLACK, linewidth=1)
    axes.set_yscale("log")
    axes.set_ylim(0.5, 8000)
    axes.set_yticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
    axes.set_xticks(x, [spoken(value) for value in sweep.values])
    axes.grid(axis="x", visible=False)
    axes.set_xlabel(sweep.label)


def _findings6(sweeps: Sequence[Sweep], bars: Mapping[tuple[str, str, str], Bar]) -> list[Finding]:
    findings = []
    for sweep in sweeps:
        for value in sweep.values:
            for way in _BARS:
                bar = bars[sweep.name, str(value), way]
                findings.append(
                    Finding(
                        name=f"figure6.{sweep.name}.{value}.{way}",
                        where="Figure 6",
                        what=f"right answers in a day at {sweep.label} = {spoken(value)}, {LINES[way].label}",
                        ours=bar.measured,
                        theory=bar.expected,
                        standard_error=bar.standard_error,
                        form=",.1f",
                    )
                )
    return findings
