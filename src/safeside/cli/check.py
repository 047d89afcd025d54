"""`safeside check`: everything that would stop a count, before anything is asked or spent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from safeside.cli import publish_options as options
from safeside.cli import visit_options as visit
from safeside.cli.console import VIOLATION, AsJson, Spinner, print_either
from safeside.cli.shared_options import options_of
from safeside.cli.wording import as_typed
from safeside.errors import BadQuestion
from safeside.groups import check_people, measures, read_groups
from safeside.visits import Expected, Report, VisitFormat, amount, check_visits, read_places


@options_of(counted=options.conditions, expected=visit.expected, declared=visit.declared)
def check(
    visits: visit.Visits,
    declared: VisitFormat,
    expected: Expected,
    counted: dict[str, Any],
    places: Annotated[Path | None, options.of_question(help="The public list of places.")] = None,
    groups: options.Groups = None,
    when: Annotated[
        str | None, options.of_question(help="An instant, or an interval A/B, to check too.")
    ] = None,
    exclude_unknown_places: visit.ExcludeUnknown = False,
    as_json: AsJson = False,
) -> None:
    """Look at visits, or people, for everything that would make a count wrong, and say on which lines."""
    if (places is None) == (groups is None):
        raise BadQuestion(
            "Nothing says what is to be checked, or two things do.",
            "Give --places for visits, or --groups for people and the groups they are in.",
        )
    with Spinner() as progress:
        if groups is not None:
            report = check_people(
                visits,
                read_groups(groups),
                measures(**counted),
                declared,
                expected=expected,
                progress=progress,
            )
        else:
            report = check_visits(
                visits,
                read_places(places),
                when,
                declared,
                exclude_unknown_places=exclude_unknown_places,
                expected=expected,
                progress=progress,
            )
    print_either(_as_json(report), _lines(report), as_json=as_json)
    if not report.fine:
        raise typer.Exit(VIOLATION)


def _lines(report: Report) -> Iterator[str]:
    about = [] if report.rows is None else [amount(report.rows, "row", "rows")]
    about += [] if report.people is None else [amount(report.people, "person", "people")]
    files = amount(report.files, "file", "files")
    yield f"Looked at {files}{': ' if about else ''}{', '.join(about)}."
    for title, findings in (("Wrong", report.errors), ("Note", report.notes)):
        for finding in findings:
            yield f"{title}: {as_typed(finding.sentence())}"
            yield f"  What to do: {as_typed(finding.do)}"
    if report.left_out is not None:
        yield from visit.examples(report.left_out)
    yield from filter(None, (report.reading, *report.exclusions))
    if report.fine:
        yield "Nothing here stops a count."
    else:
        yield f"{len(report.errors)} of these would stop a count. Nothing was counted."


def _as_json(report: Report) -> dict[str, object]:
    left_out = report.left_out
    # Numbers alone: what JSON says is kept in files, and identifiers are for the terminal.
    numbers = ("rows", "of_rows", "people", "places")
    return {
        "fine": report.fine,
        "files": report.files,
        "rows": report.rows,
        "people": report.people,
        "reading": report.reading,
        "exclusions": report.exclusions,
        "left_out": None if left_out is None else {name: getattr(left_out, name) for name in numbers},
        "findings": [
            {**asdict(one), "sentence": as_typed(one.sentence()), "do": as_typed(one.do)}
            for one in report.findings
        ],
    }
