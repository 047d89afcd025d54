"""`safeside plan`: before anything is spent, how often "at most t" is said, and under which definition."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.table import Table

from safeside import extras
from safeside.cli.console import out, print_json
from safeside.decisions.planning import Definition, Plan, plan, rounded_down
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

LIMITS: Final = (
    "At an instant one person changes one count. Over an interval, publish with --max-alarms, which needs no "
    "limit on the places of a person; a limit K (--sensitivity K here) is for datasets that were made with "
    "`ledger create --max-places-per-person K`, and whoever was at more places stops the release for good."
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plan")(command)


def command(
    at_most: Annotated[int, typer.Option(help='The t of "at most t".')],
    epsilon: Annotated[str, typer.Option(help="The privacy budget, written exactly: 1, 0.1 or 1/3.")],
    delta: Annotated[str, typer.Option(help="The delta of (epsilon, delta)-DP.")] = "1e-6",
    alpha: Annotated[
        str, typer.Option(help="How often the DP decisions may be wrong. AGeo's is never wrong.")
    ] = "0",
    want_beta: Annotated[
        str, typer.Option(help='How often "at most t" should be said where it is true.')
    ] = "0.9",
    true_count: Annotated[
        int, typer.Option(help="The declared count at which that is wanted; never taken from the data.")
    ] = 0,
    sensitivity: Annotated[int, typer.Option(help="How many of the counts one person can change.")] = 1,
    plot: Annotated[Path | None, typer.Option(help="Also draw the table, as PNG, PDF or SVG.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Show how often "at most t" is said at each true count, and the strongest definition that is enough."""
    made = plan(
        at_most=at_most,
        epsilon=epsilon,
        delta=delta,
        alpha=alpha,
        want_beta=want_beta,
        count=true_count,
        sensitivity=sensitivity,
    )
    if plot is not None:
        draw(made, plot)
    if json:
        print_json(as_json(made))
        return
    out.print(_table(made))
    # On a terminal wrapped between words; piped, one line.
    out.print(made.sentence(), markup=False, soft_wrap=not out.is_terminal)
    out.print(LIMITS, markup=False, soft_wrap=not out.is_terminal)
    if plot is not None:
        out.print(f"Picture: {plot}", markup=False)


def as_json(made: Plan) -> dict[str, Any]:
    """The plan for machines: parameters as exact strings, betas as floats rounded down."""
    return {
        "at_most": made.at_most,
        "epsilon": show(made.epsilon),
        "delta": show(made.delta),
        "alpha": show(made.alpha),
        "want_beta": show(made.want_beta),
        "true_count": made.count,
        "sensitivity": made.sensitivity,
        "rows": [
            {"count": row.count, **{one.value: float_down(row.beta(one)) for one in Definition}}
            for row in made.rows
        ],
        "recommended": None if made.recommended is None else made.recommended.value,
        "enough_epsilon_adp": None if made.enough_epsilon is None else show(made.enough_epsilon),
        "sentence": made.sentence(),
    }


def _labels(made: Plan) -> dict[Definition, str]:
    epsilon = show(made.epsilon)
    return {
        Definition.ADP: f"ADP, epsilon {epsilon}",
        Definition.APPROXIMATE_DP: f"({epsilon}, {show(made.delta)})-DP",
        Definition.DP: f"{epsilon}-DP",
    }


def _errors(made: Plan) -> dict[Definition, str]:
    """How often each is wrong; what is never wrong only because it is never said is called that."""
    dp = "never wrong" if made.alpha == 0 else f"wrong ≤ {show(made.alpha)}"
    says = {one: any(row.beta(one) != 0 for row in made.rows) for one in Definition}
    words = {Definition.ADP: "never wrong", Definition.APPROXIMATE_DP: dp, Definition.DP: dp}
    return {one: word if says[one] else "never said" for one, word in words.items()}


def _table(made: Plan) -> Table:
    table = Table(
        title=f'How often "at most {made.at_most}" is said (beta, rounded down), by true count',
        title_justify="left",
    )
    table.add_column("true count", justify="right")
    for definition, label in _labels(made).items():
        table.add_column(f"{label}\n{_errors(made)[definition]}", justify="right")
    for row in made.rows:
        table.add_row(str(row.count), *(rounded_down(row.beta(definition)) for definition in _STYLES))
    return table


def draw(made: Plan, path: Path) -> None:
    """The table as a picture that is legible in print and with any colour vision."""
    figures = extras.load("matplotlib.figure", "Drawing a picture", "plots")
    from matplotlib.ticker import MaxNLocator

    figure = figures.Figure(figsize=(6.4, 4.2), dpi=200, layout="constrained")
    axes = figure.add_subplot()
    counts = [row.count for row in made.rows]
    for definition, style in _STYLES.items():
        axes.plot(
            counts,
            [float_down(row.beta(definition)) for row in made.rows],
            label=f"{_labels(made)[definition]}: {_errors(made)[definition]}",
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
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper left", frameon=False, fontsize=9, ncols=2, handlelength=3.2)
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise CannotWrite(
            f"The picture cannot be written to {path}: {error}.",
            "Give a file in a directory that exists, ending in .png, .pdf or .svg.",
        ) from None
