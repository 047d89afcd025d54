"""`safeside reproduce`: the paper's experiments, run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from safeside.cli.console import Spinner, table
from safeside.cli.console import out as console
from safeside.cli.installed import needs_studies


def reproduce(
    out: Annotated[Path, typer.Option(help="Directory for figures, results.json and report.html.")],
    figure: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this one: figure1 to figure6, selection, schools or needed; several times for several."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer draws: under half a minute.")] = False,
    peopleflow: Annotated[
        Path | None, typer.Option(help="Directory of the Peopleflow files, instead of the city.")
    ] = None,
) -> None:
    """Run every experiment of the paper and say where its numbers differ from ours, and why."""
    with needs_studies("reproduce"):
        from safeside_studies.reproduce import reproduce as run

    with Spinner() as progress:
        done = run(out, figures=figure or (), quick=quick, peopleflow=peopleflow, progress=progress)
    findings = [one for outcome in done.outcomes for one in outcome.findings]
    rows = [(one.what, one.paper, one.ours_shown) for one in findings if one.paper is not None]
    console.print(table(("what", "the paper", "ours"), rows))
    console.print(f"Report: {done.report}")
    console.print(f"Numbers: {done.results}")
