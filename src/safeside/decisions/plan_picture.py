"""A plan as a picture, and the words it shares with the table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from safeside import extras
from safeside.decisions.planning import Definition, Plan
from safeside.errors import CannotWrite
from safeside.exact import float_down, show

# Okabe and Ito's colours, told apart with any colour vision; dashes and markers tell them apart in print, and
# the square is large and hollow so that a curve which runs along another is still seen.
_STYLES: Final[dict[Definition, dict[str, Any]]] = {
    Definition.ADP: {"color": "#0072B2", "marker": "o", "linestyle": "-", "markersize": 6},
    Definition.APPROXIMATE_DP: {
        "color": "#D55E00",
        "marker": "s",
        "linestyle": "--",
        "markersize": 10,
        "markerfacecolor": "none",
        "markeredgewidth": 1.6,
    },
    Definition.DP: {"color": "#000000", "marker": "^", "linestyle": ":", "markersize": 5},
}


def labels(made: Plan) -> dict[Definition, str]:
    """What each definition is called in the table and the picture."""
    epsilon = show(made.epsilon)
    return {
        Definition.ADP: f"ADP, epsilon {epsilon}",
        Definition.APPROXIMATE_DP: f"({epsilon}, {show(made.delta)})-DP",
        Definition.DP: f"{epsilon}-DP",
    }


def errors(made: Plan) -> dict[Definition, str]:
    """How often each is wrong; what is never wrong only because it is never said is called that."""
    dp = "never wrong" if made.alpha == 0 else f"wrong ≤ {show(made.alpha)}"
    says = {one: any(row.beta(one) != 0 for row in made.rows) for one in Definition}
    words = {Definition.ADP: "never wrong", Definition.APPROXIMATE_DP: dp, Definition.DP: dp}
    return {one: word if says[one] else "never said" for one, word in words.items()}


def draw(made: Plan, path: Path) -> None:
    """The table as a picture that is legible in print and with any colour vision."""
    counts = [row.count for row in made.rows]
    with chart(path, figsize=(6.4, 4.2), grid="y", ncols=2, handlelength=3.2) as axes:
        from matplotlib.ticker import MaxNLocator

        for definition, style in _STYLES.items():
            axes.plot(
                counts,
                [float_down(row.beta(definition)) for row in made.rows],
                label=f"{labels(made)[definition]}: {errors(made)[definition]}",
                linewidth=1.8,
                markevery=max(1, len(counts) // 12),
                clip_on=False,
                zorder=3,
                **style,
            )
        wanted = float(made.want_beta)
        axes.axhline(wanted, color="#777777", linewidth=0.9, label=f"wanted: {show(made.want_beta)}")
        axes.set_xlabel("true count")
        axes.set_ylabel(f'probability of saying "at most {made.at_most}"')
        axes.set_ylim(0, 1)
        axes.set_xlim(min(counts) - 0.2, max(counts) + 0.2)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))


@contextmanager
def chart(path: Path, *, figsize: tuple[float, float], grid: str, **legend: Any) -> Iterator[Any]:
    """Axes to draw on; then the picture is written, or it is said why that is not possible."""
    figures = extras.load("matplotlib.figure", "Drawing a picture", "plots")
    figure = figures.Figure(figsize=figsize, dpi=200, layout="constrained")
    axes = figure.add_subplot()
    yield axes
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis=grid, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper left", frameon=False, fontsize=9, **legend)
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise CannotWrite(
            f"The picture cannot be written to {path}: {error}.",
            "Give a file in a directory that exists, ending in .png, .pdf or .svg.",
        ) from None
