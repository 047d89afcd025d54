"""`safeside plan`: before anything is spent, how often "at most t" is said, and under which definition."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.table import Table

from safeside.cli.console import AsJson, out, print_json, table
from safeside.cli.shared_options import threshold
from safeside.decisions.plan_picture import draw, errors, labels
from safeside.decisions.planning import Definition, Plan, rounded_down
from safeside.decisions.planning import plan as plan_counts
from safeside.errors import BadQuestion
from safeside.exact import float_down

_of_list = partial(typer.Option, rich_help_panel="A list of places")
LIMITS: Final = (
    "At an instant one person changes one count. Over an interval, publish with --max-alarms, which needs no "
    "limit on the places of a person; a limit K (--sensitivity K here) is for datasets that were made with "
    "`ledger create --max-places-per-person K`, and whoever was at more places stops the release for good."
)


def plan(
    at_most: Annotated[str, typer.Option(help='The t of "at most t"; of groups a share, too: 5%.')],
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
    groups: Annotated[
        Path | None, _of_list(help="Plan for this list of groups; --at-most may be a share: 5%.")
    ] = None,
    places: Annotated[Path | None, _of_list(help="Plan for this list: what each method certifies.")] = None,
    when: Annotated[str | None, _of_list(help="With --places: an interval.")] = None,
    every: Annotated[str | None, _of_list(help="With --places: cut it into windows, such as 1h.")] = None,
    timezone: Annotated[str | None, _of_list(help="With --places: for example Asia/Tokyo.")] = None,
    profile: Annotated[Path | None, _of_list(help="With --places: how busy each hour usually is.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw the table, as PNG, PDF or SVG.")] = None,
    json: AsJson = False,
) -> None:
    """Show how often "at most t" is said at each true count, and the strongest definition that is enough.

    With --places: how many places (and hours) each method is expected to certify, on the public forecast.
    With --groups: how many groups are expected to be certified, if so many people of each are counted.
    """
    if groups is not None:
        from safeside.cli.plan_lists import planned_groups

        if plot is not None or any(one is not None for one in (places, when, every, timezone, profile)):
            raise BadQuestion(
                "A plan for groups has no picture, no places and no time.",
                "Leave `plot=`, `places=`, `when=`, `every=`, `timezone=` and `profile=` out.",
            )
        shown = planned_groups(
            groups, at_most=threshold(at_most), epsilon=epsilon, max_conditions=sensitivity
        )
    elif places is not None:
        from safeside.cli.plan_lists import planned_places

        if when is None:
            raise BadQuestion("Nothing says which time the plan is for.", "Give `when=`, such as 2024-03-03.")
        shown = planned_places(
            places,
            when,
            every=every,
            timezone=timezone,
            profile=profile,
            at_most=_number(at_most),
            epsilon=epsilon,
            max_conditions=sensitivity if sensitivity > 1 else None,
            plot=plot,
        )
    elif any(one is not None for one in (when, every, timezone, profile)):
        raise BadQuestion(
            "`when=`, `every=`, `timezone=` and `profile=` plan for a list, and none was given.",
            "Give `places=` as well, or leave them out.",
        )
    else:
        made = plan_counts(
            at_most=_number(at_most),
            epsilon=epsilon,
            delta=delta,
            alpha=alpha,
            want_beta=want_beta,
            count=true_count,
            sensitivity=sensitivity,
        )
        if plot is not None:
            draw(made, plot)
        shown = _as_json(made), _table(made), [made.sentence(), LIMITS]
    document, listed, sentences = shown
    if json:
        print_json(document)
        return
    out.print(listed)
    # On a terminal wrapped between words; piped, one line.
    out.print(*sentences, sep="\n", soft_wrap=not out.is_terminal)
    if plot is not None:
        out.print(f"Picture: {plot}")


def _number(at_most: str) -> int:
    given = threshold(at_most)
    if not isinstance(given, int):
        raise BadQuestion(
            "`at_most=` is no whole number, and a share is of the sizes of groups.",
            "Give `at_most=` as a whole number; or `groups=`, a list with sizes, for a share (5%).",
        )
    return given


def _as_json(made: Plan) -> dict[str, Any]:
    """The plan for machines: parameters as exact strings, betas as floats rounded down."""
    return {
        "at_most": made.at_most,
        "epsilon": made.epsilon,
        "delta": made.delta,
        "alpha": made.alpha,
        "want_beta": made.want_beta,
        "true_count": made.count,
        "sensitivity": made.sensitivity,
        "rows": [
            {"count": row.count, **{one: float_down(row.beta(one)) for one in Definition}}
            for row in made.rows
        ],
        "recommended": made.recommended,
        "enough_epsilon_adp": made.enough_epsilon,
        "sentence": made.sentence(),
    }


def _table(made: Plan) -> Table:
    title = f'How often "at most {made.at_most}" is said (beta, rounded down), by true count'
    named = [f"{label}\n{errors(made)[definition]}" for definition, label in labels(made).items()]
    rows = [(str(row.count), *(rounded_down(row.beta(one)) for one in labels(made))) for row in made.rows]
    return table(("true count", *named), rows, left=0, title=title)
