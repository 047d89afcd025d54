"""Figure 1: why two-sided errors will not do, on four places.

Four places, four counts, the decision "fewer than 3". With the noise of ordinary differential privacy either
answer may be wrong; with one-sided noise the answer "safe" is right whenever it is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from safeside.exact import evaluate
from safeside.mechanisms import AGeo, TwoSidedGeometric
from safeside.noise.entropy import simulated_entropy
from safeside.privacy.guarantee import Neighbours
from safeside_studies.figure_style import BLACK, BLUE, GREY, VERMILION, page, save
from safeside_studies.results import Finding, Outcome
from safeside_studies.settings import Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLACES: Final = ("a", "b", "c", "d")
COUNTS: Final = np.array([1, 4, 2, 7], dtype=np.int64)
AT_MOST: Final = 2
_SHOWN: Final = 60
_CAPTION: Final = (
    "Four places and the decision “fewer than 3 visitors” at ε = 1. Left: the truth. Middle: 60 draws of "
    "the two-sided geometric mechanism; crosses are wrong answers, and both kinds occur. Right: 60 draws "
    "of AGeo; a place below the line is safe for certain, a place above it is not judged."
)


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """Noisy counts: a row for each draw, a column for each place."""

    two_sided: NDArray[np.int64]
    one_sided: NDArray[np.int64]


def run(settings: Settings) -> Outcome:
    """Draw, count the errors, compare them with the exact probabilities."""
    drawn = _draw(settings.repeats(20_000, 4_000))
    with page(7.2, 3.1) as figure:
        left, middle, right = figure.subplots(1, 3, sharex=True, gridspec_kw={"width_ratios": [0.8, 1, 1]})
        _truth(left)
        _strip(middle, drawn.two_sided, "ε-DP: two-sided noise", one_sided=False)
        _strip(right, drawn.one_sided, "ADP: one-sided noise", one_sided=True)
        right.sharey(middle)
        picture = save(
            figure, settings.out, "figure1", title="Two-sided and one-sided errors", caption=_CAPTION
        )
    return Outcome(
        title="Figure 1: two-sided errors, and one-sided ones",
        text=(
            "The paper's motivating example, with numbers. Place b is dangerous and place c is safe. "
            "Two-sided noise calls b safe from time to time; one-sided noise never does, and pays by "
            "being silent more often."
        ),
        pictures=[picture],
        findings=_findings(drawn),
    )


def _draw(number: int) -> Drawn:
    entropy = simulated_entropy(101)
    two = TwoSidedGeometric(epsilon=1, neighbours=Neighbours.ADD_REMOVE)
    repeated = np.tile(COUNTS, number)
    shape = (number, len(COUNTS))
    return Drawn(
        two_sided=two.release(repeated, entropy=entropy).values.reshape(shape),
        one_sided=AGeo(epsilon=1).release(repeated, entropy=entropy).values.reshape(shape),
    )


def _findings(drawn: Drawn) -> list[Finding]:
    two, one = TwoSidedGeometric(epsilon=1), AGeo(epsilon=1)
    cases = (
        ("figure1.dp_wrong_safe", "ε-DP calls the dangerous place b safe", drawn.two_sided, two, 1),
        ("figure1.dp_right_safe", "ε-DP calls the safe place c safe", drawn.two_sided, two, 2),
        ("figure1.adp_wrong_safe", "ADP calls the dangerous place b safe", drawn.one_sided, one, 1),
        ("figure1.adp_right_safe", "ADP calls the safe place c safe", drawn.one_sided, one, 2),
    )
    findings = []
    for name, what, values, mechanism, place in cases:
        theory = _says_safe(mechanism, int(COUNTS[place]))
        findings.append(
            Finding(
                name=name,
                where="Figure 1",
                what=f"probability that {what}",
                ours=float(np.mean(values[:, place] <= AT_MOST)),
                theory=theory,
                standard_error=float(np.sqrt(theory * (1 - theory) / len(values))),
                why="The paper draws this figure without numbers.",
            )
        )
    return findings


def _says_safe(mechanism: AGeo | TwoSidedGeometric, count: int) -> float:
    return float(evaluate(lambda: mechanism.law.at_most(AT_MOST - count)).mid())


def _truth(axes: Axes) -> None:
    safe = COUNTS <= AT_MOST
    axes.bar(np.flatnonzero(safe), COUNTS[safe], color=BLUE, width=0.62, label="safe")
    axes.bar(
        np.flatnonzero(~safe),
        COUNTS[~safe],
        facecolor="white",
        edgecolor=VERMILION,
        hatch="////",
        linewidth=1.2,
        width=0.62,
        label="dangerous",
    )
    axes.axhline(AT_MOST + 0.5, color=BLACK, linestyle="--", linewidth=1, label="threshold")
    axes.set_title("Ground truth")
    axes.set_ylabel("infected visitors")
    axes.set_xticks(range(len(PLACES)), PLACES)
    axes.grid(axis="x", visible=False)
    axes.legend(loc="upper left")
    axes.set_ylim(0, 10.5)


def _strip(axes: Axes, values: NDArray[np.int64], title: str, *, one_sided: bool) -> None:
    for place, count in enumerate(COUNTS):
        z = values[:_SHOWN, place]
        says_safe, is_safe = z <= AT_MOST, bool(count <= AT_MOST)
        wrong = np.zeros(_SHOWN, dtype=bool) if one_sided else says_safe != is_safe
        unsaid = ~says_safe if one_sided else np.zeros(_SHOWN, dtype=bool)
        right = ~wrong & ~unsaid
        x = place + _swarm(z)
        axes.plot([place - 0.46, place + 0.46], [count, count], color=BLACK, linewidth=0.8, zorder=1)
        axes.scatter(x[right], z[right], s=8, color=BLUE, linewidths=0)
        axes.scatter(x[unsaid], z[unsaid], s=8, facecolors="white", edgecolors=GREY, linewidths=0.7, zorder=3)
        axes.scatter(x[wrong], z[wrong], s=14, marker="x", color=VERMILION, linewidths=1.1, zorder=3)
        share = float(np.mean((values[:, place] <= AT_MOST) != is_safe))
        words = f"{share:.0%}\nwrong"
        if one_sided:
            words = f"{share:.0%}\nnot said" if is_safe else "never\nwrong"
        axes.annotate(words, (place, 14.6), ha="center", va="top", fontsize=7.5)
    axes.axhline(AT_MOST + 0.5, color=BLACK, linestyle="--", linewidth=1)
    axes.set_title(title)
    axes.set_xticks(range(len(PLACES)), PLACES)
    axes.set_yticks(range(-4, 13, 2))
    axes.grid(axis="x", visible=False)
    axes.set_ylim(-5, 15)
    axes.set_xlim(-0.55, 3.55)
    axes.set_ylabel("published number")
    axes.scatter([], [], s=12, color=BLUE, label="right")
    if one_sided:
        axes.scatter([], [], s=12, facecolors="white", edgecolors=GREY, linewidths=0.7, label="not said")
    else:
        axes.scatter([], [], s=16, marker="x", color=VERMILION, linewidths=1.1, label="wrong")
    axes.legend(loc="lower right", ncols=2, handletextpad=0.1, columnspacing=0.8)


def _swarm(z: NDArray[np.int64]) -> NDArray[np.float64]:
    """Equal values side by side, centred."""
    x = np.zeros(len(z))
    for value in np.unique(z):
        here = np.flatnonzero(z == value)
        step = min(0.045, 0.76 / len(here))
        x[here] = (np.arange(len(here)) - (len(here) - 1) / 2) * step
    return x
