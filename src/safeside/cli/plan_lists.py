"""`safeside plan --places` and `--groups`: of how much of a list "at most" would be said."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from rich.table import Table

from safeside.cli.console import Spinner, table
from safeside.decisions.plan_picture import chart
from safeside.exact import show
from safeside.releases.choosing import PlacePlan, PlanRow, plan_places
from safeside.releases.group_plan import plan_groups
from safeside.releases.methods import METHODS
from safeside.releases.wording import FLOAT_ERROR, rounded_down

Shown = tuple[dict[str, Any], Table, list[str]]
"""A plan for machines, as a table, and what is said of it."""
_COLOURS: Final = dict(zip(METHODS, ("#0072B2", "#D55E00", "#CC79A7", "#009E73"), strict=True))
_SOURCES: Final = {
    "expected": "The list says how many people are expected at each place.",
    "popularity": "The list says which places are busier, not how many people are expected: averages are "
    "assumed. A column `expected` would say more.",
    "none": "The list says nothing of which places are busy: few conditions can be certified. A column "
    "`popularity` or `expected` from public knowledge helps most.",
}


def planned_groups(groups: Path, **asked: Any) -> Shown:
    """Of how many groups it is expected to be said; epsilons and shares as exact strings for machines."""
    made = plan_groups(groups, **asked)
    document = {
        "groups": made.groups,
        "true_by_size_alone": made.by_size_alone,
        "rows": [
            {
                "share": row.share,
                "count": row.count,
                "true": row.true,
                "certified": {show(epsilon): number for epsilon, number in row.certified.items()},
            }
            for row in made.rows
        ],
    }

    def certain(number: float) -> str:
        return f"{int(max(0, number - made.groups * FLOAT_ERROR)):,} ({rounded_down(number / made.groups)})"

    title = f'Groups of which "at most" is expected to be said, of {made.groups:,}'
    headers = ("counted in each", "true of", *(f"epsilon {show(one)}" for one in made.rows[0].certified))
    rows = [
        (
            str(row.count) if row.share is None else f"{show(row.share * 100)} %",
            f"{row.true:,}",
            *map(certain, row.certified.values()),
        )
        for row in made.rows
    ]
    alone = f"Of {made.by_size_alone:,} it is true by its size alone. " if made.by_size_alone else ""
    said = f"{alone}Never of a group of which it is not true. No data was read, and nothing was spent."
    return document, table(headers, rows, left=0, title=title), [said]


def planned_places(places: Path, when: str, *, plot: Path | None, **asked: Any) -> Shown:
    """What each way of answering would certify of the list; drawn where that is wanted."""
    with Spinner() as progress:
        made = plan_places(places, when, **asked, progress=progress)
    if plot is not None:
        draw(made, plot)
    document = {
        "places": made.places,
        "windows": made.windows,
        "forecast": made.source,
        "rows": [
            {
                "epsilon": row.epsilon,
                "at_most": row.at_most,
                "average": row.average,
                "forecast_off_by": row.off_by,
                "limit": row.compared.limit,
                **row.compared.expected,
            }
            for row in made.rows
        ],
    }
    windows = f" in {made.windows:,} windows" if made.windows > 1 else ""
    conditions = f"{made.places * made.windows:,} conditions"
    title = f"Expected to be certified, of {made.places:,} places{windows} ({conditions})"
    headers = ("epsilon", "at most", "average count", "forecast off by", *_ways(made), "no method more than")
    rows = [
        (
            show(row.epsilon),
            str(row.at_most),
            f"{row.average:.3g}",
            f"lognormal {row.off_by:g}" if row.off_by else "",
            *(f"{row.compared.expected[way]:,.0f}" for way in _ways(made)),
            f"{row.compared.limit:,.0f}",
        )
        for row in made.rows
    ]
    said = [_SOURCES[made.source], "No data was read, and nothing was spent."]
    return document, table(headers, rows, left=0, title=title), said


def _ways(made: PlacePlan) -> list[str]:
    return list(made.rows[0].compared.expected)


def draw(made: PlacePlan, path: Path) -> None:
    """The share of the limit that each way reaches, a group of bars for each row of the table."""
    ways = _ways(made)
    height = 0.8 / len(ways)
    with chart(path, figsize=(7.2, 0.45 * len(made.rows) + 1.6), grid="x", ncols=3) as axes:
        for number, way in enumerate(ways):
            middles = [at + (number - (len(ways) - 1) / 2) * height for at in range(len(made.rows))]
            shares = [row.compared.share(way) for row in made.rows]
            axes.barh(middles, shares, height, color=_COLOURS[way], label=way)
        axes.set_yticks(range(len(made.rows)), [_label(row) for row in made.rows], fontsize=8)
        axes.invert_yaxis()
        axes.set_xlim(0, 1)
        axes.set_xlabel("share of what no method that is never wrong can exceed")


def _label(row: PlanRow) -> str:
    off = f", off by {row.off_by:g}" if row.off_by else ""
    return f"epsilon {show(row.epsilon)}, at most {row.at_most}, average {row.average:.3g}{off}"
