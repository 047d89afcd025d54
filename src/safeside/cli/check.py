"""`safeside check`: everything that would stop a count, before anything is asked or spent."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from safeside.cli import group_options as group
from safeside.cli import publish_options as options
from safeside.cli import visit_options as visit
from safeside.cli.console import VIOLATION, AsJson, Spinner, out, print_json
from safeside.cli.shared_options import options_of
from safeside.cli.wording import as_typed
from safeside.errors import BadQuestion
from safeside.groups import check_people, measures, read_groups
from safeside.visits import (
    Expected,
    Finding,
    LeftOut,
    Report,
    VisitFormat,
    Window,
    amount,
    check_visits,
    read_places,
)


@options_of("declared", visit.declared)
@options_of("expected", visit.expected)
@options_of("counted", group.conditions)
def check(
    visits: visit.Visits,
    declared: VisitFormat,
    expected: Expected,
    counted: dict[str, Any],
    places: Annotated[Path | None, options.of_question(help="The public list of places.")] = None,
    groups: group.Groups = None,
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
                visit.given(visits),
                read_groups(groups),
                measures(**counted),
                declared,
                expected=expected,
                progress=progress,
            )
        else:
            report = check_visits(
                visit.given(visits),
                read_places(places),
                None if when is None else Window.parse(when, declared.timezone),
                declared,
                exclude_unknown_places=exclude_unknown_places,
                expected=expected,
                progress=progress,
            )
    if as_json:
        print_json(_plain(report))
    else:
        _show(report)
    if not report.fine:
        raise typer.Exit(VIOLATION)


def _show(report: Report) -> None:
    about = [] if report.rows is None else [amount(report.rows, "row", "rows")]
    about += [] if report.people is None else [amount(report.people, "person", "people")]
    files = amount(report.files, "file", "files")
    out.print(f"Looked at {files}{': ' if about else ''}{', '.join(about)}.")
    for title, findings in (("Wrong", report.errors), ("Note", report.notes)):
        for finding in findings:
            out.print(f"{title}: {as_typed(finding.sentence())}")
            out.print(f"  What to do: {as_typed(finding.do)}")
    for line in () if report.left_out is None else visit.examples(report.left_out):
        out.print(line)
    for sentence in filter(None, (report.reading, *report.exclusions)):
        out.print(sentence)
    if report.fine:
        out.print("Nothing here stops a count.")
    else:
        out.print(f"{len(report.errors)} of these would stop a count. Nothing was counted.")


def _plain(report: Report) -> dict[str, object]:
    return {
        "fine": report.fine,
        "files": report.files,
        "rows": report.rows,
        "people": report.people,
        "reading": report.reading,
        "exclusions": list(report.exclusions),
        "left_out": None if report.left_out is None else _left_out(report.left_out),
        "findings": [_finding(finding) for finding in report.findings],
    }


def _finding(finding: Finding) -> dict[str, object]:
    typed = {"sentence": as_typed(finding.sentence()), "do": as_typed(finding.do)}
    return {**asdict(finding), "doubt": finding.doubt.value, **typed}


def _left_out(found: LeftOut) -> dict[str, int]:
    """Numbers alone: what JSON says is kept in files, and identifiers are for the terminal."""
    return {"rows": found.rows, "of_rows": found.of_rows, "people": found.people, "places": found.places}
