"""`safeside plan --groups`: of how many groups "at most" would be said, in a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.table import Table

from safeside.cli.console import table
from safeside.exact import show
from safeside.releases.group_plan import GroupPlan, GroupPlanRow, plan_groups
from safeside.releases.wording import FLOAT_ERROR, rounded_down


def planned_groups(groups: Path, **asked: Any) -> tuple[dict[str, Any], Table, list[str]]:
    """The plan for machines, as a table, and what is said of it."""
    made = plan_groups(groups, **asked)
    alone = f"Of {made.by_size_alone:,} it is true by its size alone. " if made.by_size_alone else ""
    said = f"{alone}Never of a group of which it is not true. No data was read, and nothing was spent."
    return as_json(made), _table(made), [said]


def as_json(made: GroupPlan) -> dict[str, Any]:
    """The plan for machines: epsilons and shares as exact strings."""
    return {
        "groups": made.groups,
        "true_by_size_alone": made.by_size_alone,
        "rows": [
            {
                "share": None if row.share is None else show(row.share),
                "count": row.count,
                "true": row.true,
                "certified": {show(epsilon): number for epsilon, number in row.certified.items()},
            }
            for row in made.rows
        ],
    }


def _table(made: GroupPlan) -> Table:
    title = f'Groups of which "at most" is expected to be said, of {made.groups:,}'
    headers = ("counted in each", "true of", *(f"epsilon {show(one)}" for one in made.rows[0].certified))
    rows = [
        (_label(row), f"{row.true:,}", *(_of(number, made.groups) for number in row.certified.values()))
        for row in made.rows
    ]
    return table(headers, rows, left=0, title=title, title_justify="left")


def _of(number: float, groups: int) -> str:
    """How many, and of a hundred how many: rounded down."""
    return f"{int(max(0, number - groups * FLOAT_ERROR)):,} ({rounded_down(number / groups)})"


def _label(row: GroupPlanRow) -> str:
    return str(row.count) if row.share is None else f"{show(row.share * 100)} %"
