"""`safeside plan --places`: what each way of answering would certify of a list, in a table and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from rich.table import Table

from safeside import extras
from safeside.cli.console import Spinner, table
from safeside.decisions.plan_picture import save
from safeside.exact import show
from safeside.releases.choosing import PlacePlan, PlanRow, plan_places
from safeside.releases.methods import METHODS

_COLOURS: Final = dict(zip(METHODS, ("#0072B2", "#D55E00", "#CC79A7", "#009E73"), strict=True))
_SOURCES: Final = {
    "expected": "The list says how many people are expected at each place.",
    "popularity": "The list says which places are busier, not how many people are expected: averages are "
    "assumed. A column `expected` would say more.",
    "none": "The list says nothing of which places are busy: few conditions can be certified. A column "
    "`popularity` or `expected` from public knowledge helps most.",
}


def planned(*, plot: Path | None, **asked: Any) -> tuple[dict[str, Any], Table, list[str]]:
    """The comparison for machines, as a table, and what is said of it; drawn where that is wanted."""
    with Spinner() as progress:
        made = plan_places(asked.pop("places"), asked.pop("when"), **asked, progress=progress)
    if plot is not None:
        draw(made, plot)
    said = [_SOURCES[made.source], "No data was read, and nothing was spent."]
    return as_json(made), _table(made), said


def as_json(made: PlacePlan) -> dict[str, Any]:
    """The comparison for machines."""
    return {
        "places": made.places,
        "windows": made.windows,
        "forecast": made.source,
        "rows": [
            {
                "epsilon": show(row.epsilon),
                "at_most": row.at_most,
                "average": row.average,
                "forecast_off_by": row.off_by,
                "limit": row.compared.limit,
                **row.compared.expected,
            }
            for row in made.rows
        ],
    }


def _table(made: PlacePlan) -> Table:
    conditions = made.places * made.windows
    windows = f" in {made.windows:,} windows" if made.windows > 1 else ""
    title = f"Expected to be certified, of {made.places:,} places{windows} ({conditions:,} conditions)"
    headers = ("epsilon", "at most", "average count", "forecast off by", *_ways(made), "no method more than")
    rows = []
    for row in made.rows:
        off = "" if not row.off_by else f"lognormal {row.off_by:g}"
        found = [f"{row.compared.expected[way]:,.0f}" for way in _ways(made)]
        limit = f"{row.compared.limit:,.0f}"
        rows.append((show(row.epsilon), str(row.at_most), f"{row.average:.3g}", off, *found, limit))
    return table(headers, rows, left=0, title=title, title_justify="left")


def _ways(made: PlacePlan) -> list[str]:
    return list(made.rows[0].compared.expected)


def draw(made: PlacePlan, path: Path) -> None:
    """The share of the limit that each way reaches, a group of bars for each row of the table."""
    figures = extras.load("matplotlib.figure", "Drawing a picture", "plots")
    figure = figures.Figure(figsize=(7.2, 0.45 * len(made.rows) + 1.6), dpi=200, layout="constrained")
    axes = figure.add_subplot()
    ways = _ways(made)
    height = 0.8 / len(ways)
    for number, way in enumerate(ways):
        middles = [at + (number - (len(ways) - 1) / 2) * height for at in range(len(made.rows))]
        shares = [row.compared.share(way) for row in made.rows]
        axes.barh(middles, shares, height, color=_COLOURS[way], label=way)
    axes.set_yticks(range(len(made.rows)), [_label(row) for row in made.rows], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of what no method that is never wrong can exceed")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper left", frameon=False, fontsize=9, ncols=3)
    save(figure, path)


def _label(row: PlanRow) -> str:
    off = f", off by {row.off_by:g}" if row.off_by else ""
    return f"epsilon {show(row.epsilon)}, at most {row.at_most}, average {row.average:.3g}{off}"
